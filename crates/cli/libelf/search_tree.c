/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Functions that libelf.a of elfutils 0.192 lacks
 * (https://sourceware.org/bugzilla/show_bug.cgi?id=32293), with the declarations of its lib/eu-search.h:
 * the trees of search.h. They need no lock, since libbpf uses an Elf in one thread at a time.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

typedef int compare(const void *, const void *);

/* Only the first member. libelf has memory for a lock behind it. */
struct search_tree {
	void *root;
};

void *eu_tsearch(const void *key, struct search_tree *tree, compare *order)
{
	return tsearch(key, &tree->root, order);
}

void *eu_tdelete(const void *key, struct search_tree *tree, compare *order)
{
	return tdelete(key, &tree->root, order);
}

void eu_search_tree_init(struct search_tree *tree) { tree->root = NULL; }

void eu_search_tree_fini(struct search_tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}
