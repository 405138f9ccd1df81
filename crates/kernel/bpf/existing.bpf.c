/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Switches open connections of one network namespace to the congestion control, and back. A
 * connection whose program has chosen another congestion control than the default keeps it.
 */
#include "linux.h"
#include "chosen.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* Name of the congestion control, and cgroup of the connections (0: any). The loader sets both. */
SET_BY_LOADER char control[16] = "unruffled";
SET_BY_LOADER __u64 cgroup = 0;

/*
 * Default of the namespace before it was attached. A connection that was switched back counts as
 * one whose program has chosen the default. The loader sets it before each run.
 */
char former_default[16] = "cubic";

enum { MAX_DEPTH = 64 }; /* of cgroups */

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
} __attribute__((preserve_access_index));

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self; /* the first member in every kernel */
	struct kernfs_node *kn;
};

#pragma clang attribute pop

/* Congestion control of a connection before it was switched. */
struct former {
	char name[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct former);
} unruffled_prev SEC(".maps");

/* Returns the socket of an open connection, or NULL. */
static __always_inline struct tcp_sock *connection(struct sock_common *common)
{
	__u8 state = common->skc_state;

	if (state == TCP_CLOSE || state == TCP_LISTEN)
		return NULL;
	return bpf_skc_to_tcp_sock(common);
}

static __always_inline bool is_in_cgroup(struct tcp_sock *tp)
{
	struct cgroup *at = BPF_CORE_READ((struct sock *)tp, sk_cgrp_data.cgroup);

	for (int depth = 0; at && depth < MAX_DEPTH; depth++) {
		if (BPF_CORE_READ(at, kn, id) == cgroup)
			return true;
		at = (struct cgroup *)BPF_CORE_READ(at, self.parent);
	}
	return false;
}

/* Returns whether the program of a connection has chosen another one than the default. */
static __always_inline bool has_choice(struct tcp_sock *tp)
{
	const struct tcp_congestion_ops *ops = BPF_CORE_READ(tp, inet_conn.icsk_ca_ops);
	char name[16] = {};

	if (!BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_setsockopt))
		return false;
	BPF_CORE_READ_INTO(&name, ops, name);
	for (__u32 i = 0; i < sizeof name; i++)
		if (name[i] != former_default[i])
			return true;
	return false;
}

/* Sets the congestion control of a connection and writes an octet. Returns whether it was set. */
static __always_inline bool change(struct bpf_iter__tcp *ctx, struct tcp_sock *tp, char name[16])
{
	__u8 one = 1;

	if (bpf_setsockopt(tp, IPPROTO_TCP, TCP_CONGESTION, name, 16))
		return false;
	bpf_seq_write(ctx->meta->seq, &one, sizeof one);
	return true;
}

/* Writes an octet for each connection that is switched. */
SEC("iter/tcp")
int switch_over(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	const struct tcp_congestion_ops *ops;
	struct former *former;
	struct tcp_sock *tp;
	char name[16];

	if (!common)
		return 0;
	tp = connection(common);
	if (!tp || is_unruffled(tp) || has_choice(tp) || (cgroup && !is_in_cgroup(tp)))
		return 0;
	former = bpf_sk_storage_get(&unruffled_prev, tp, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!former)
		return 0;
	ops = BPF_CORE_READ(tp, inet_conn.icsk_ca_ops);
	BPF_CORE_READ_INTO(&former->name, ops, name);
	for (__u32 i = 0; i < sizeof name; i++)
		name[i] = control[i];
	if (!change(ctx, tp, name))
		bpf_sk_storage_delete(&unruffled_prev, tp);
	return 0;
}

/*
 * Switches connections back that `switch_over` has switched, except those that have chosen another
 * congestion control since. Writes an octet for each.
 */
SEC("iter/tcp")
int switch_back(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct former *former;
	struct tcp_sock *tp;
	char name[16];

	if (!common)
		return 0;
	tp = connection(common);
	if (!tp)
		return 0;
	former = bpf_sk_storage_get(&unruffled_prev, tp, 0, 0);
	if (!former)
		return 0;
	__builtin_memcpy(name, former->name, sizeof name);
	bpf_sk_storage_delete(&unruffled_prev, tp);
	if (is_unruffled(tp))
		change(ctx, tp, name);
	return 0;
}
