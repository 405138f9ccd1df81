/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Gives the congestion control to the connections of one cgroup, before their handshake where that is possible. */
#include "linux.h"

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
	char name[] = "unruffled";

	/* A listener hands it on to what it accepts; one that listened before is why the established are asked, too. */
	switch (ops->op) {
	case BPF_SOCK_OPS_TCP_CONNECT_CB:
	case BPF_SOCK_OPS_TCP_LISTEN_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		bpf_setsockopt(ops, IPPROTO_TCP, TCP_CONGESTION, name, sizeof name);
	}
	return 1;
}
