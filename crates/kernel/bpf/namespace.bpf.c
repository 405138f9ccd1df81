/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads the cookies of network namespaces: the unique numbers that sockets return as
 * SO_NETNS_COOKIE. Lists all network namespaces of the machine with their default congestion
 * controls, including those without a process or a mount.
 */
#include "linux.h"

char _license[] SEC("license") = "Dual MIT/GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

#pragma clang attribute pop

enum {
	BPF_MAP_TYPE_ARRAY = 2,
	PAGE_ENTRIES = 256, /* namespaces per element of the map; live.rs has the same number */
	PAGES = 256,
};

struct namespace {
	__u64 cookie;
	__u32 inode;
	__u8 is_first; /* the one in which the machine was booted */
	__u8 is_default; /* 1 + the growth, if one of our congestion controls is its default */
	__u16 unused;
};

struct page {
	struct namespace entry[PAGE_ENTRIES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PAGES);
	__type(key, __u32);
	__type(value, struct page);
} live SEC(".maps");

SEC("syscall")
int read_cookie(__u64 *cookie)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	*cookie = BPF_CORE_READ(task, nsproxy, net_ns, net_cookie);
	return 0;
}

/* State of a walk through the kernel's list of network namespaces. */
struct walk {
	struct net *at, *start;
	const void *ops; /* distinguishes a namespace from the head of the list */
	__u32 found;
	bool after_head;
};

/* Returns whether the namespace has ended, and only the kernel has not removed it yet. */
static __always_inline bool has_ended(struct net *net)
{
	struct ns_common___before_6_18 *ns = (void *)net + bpf_core_field_offset(struct net, ns);

	if (bpf_core_field_exists(struct ns_common, __ns_ref))
		return !BPF_CORE_READ(net, ns.__ns_ref.refs.counter);
	return !BPF_CORE_READ(ns, count.refs.counter);
}

/* Returns 1 + the growth, if one of our congestion controls is the default. */
static __always_inline __u8 default_growth(struct net *net)
{
	static const char cubic[] = "unruffled", bbr[] = "unruffled_bbr";
	char name[16] = {};

	BPF_CORE_READ_STR_INTO(&name, net, ipv4.tcp_congestion_control, name);
	if (!bpf_strncmp(name, sizeof name, cubic))
		return 1;
	return bpf_strncmp(name, sizeof name, bbr) ? 0 : 2;
}

static long visit(__u32 index, struct walk *w)
{
	struct net *net = w->at;
	const struct list_head *next;

	if (BPF_CORE_READ(net, ns.ops) != w->ops) {
		w->after_head = true;
	} else if (!has_ended(net)) {
		__u32 number = w->found / PAGE_ENTRIES;
		struct page *page = bpf_map_lookup_elem(&live, &number);
		struct namespace *entry;

		if (!page)
			return 1;
		entry = &page->entry[w->found % PAGE_ENTRIES];
		entry->cookie = BPF_CORE_READ(net, net_cookie);
		entry->inode = BPF_CORE_READ(net, ns.inum);
		entry->is_first = w->after_head;
		entry->is_default = default_growth(net);
		w->found++;
		w->after_head = false;
	}
	next = BPF_CORE_READ(net, list.next);
	w->at = (void *)next - bpf_core_field_offset(struct net, list);
	return !next || w->at == w->start;
}

/*
 * Writes all network namespaces to the map, and their number to the context. The walk begins at
 * the caller's namespace, because the symbol of the list's head is not in every kernel's
 * kallsyms. The head is the one element that is not part of a namespace. It precedes the first
 * namespace.
 */
SEC("syscall")
int list_live(__u64 *number)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct net *own = BPF_CORE_READ(task, nsproxy, net_ns);
	struct walk w = { .at = own, .start = own, .ops = BPF_CORE_READ(own, ns.ops) };

	bpf_loop(PAGES * PAGE_ENTRIES + 1, visit, &w, 0);
	*number = w.found;
	return 0;
}
