/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Selects the congestion control for the connections of one cgroup, before their handshake where
 * that is possible.
 */
#include "linux.h"

/* Name of the congestion control. The loader sets it. */
SET_BY_LOADER char control[16] = "unruffled";

char _license[] SEC("license") = "Dual MIT/GPL";

/* include/uapi/linux/bpf.h */
struct bpf_sock_ops {
	__u32 op;
};

enum {
	BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
	BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
	BPF_SOCK_OPS_TCP_LISTEN_CB = 11,
};

SEC("sockops")
int choose(struct bpf_sock_ops *ops)
{
	char name[16];

	for (__u32 i = 0; i < sizeof name; i++)
		name[i] = control[i];

	/*
	 * Accepted connections inherit it from their listener. A listener may be older than this
	 * program, so established connections get it, too.
	 */
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, name, sizeof name);
	}
	return 1;
}
