/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Resets listeners of one network namespace that have the congestion control to the namespace's
 * default. Accepted connections inherit the congestion control of their listener, even one that
 * is not registered any more.
 */
#include "linux.h"
#include "chosen.h"

char _license[] SEC("license") = "Dual MIT/GPL";

struct bpf_iter__tcp {
	struct sock_common *sk_common;
} __attribute__((preserve_access_index));

SEC("iter/tcp")
int reset_listener(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	const struct tcp_congestion_ops *ops;
	struct tcp_sock *tp;
	char name[16] = {};

	if (!common || common->skc_state != TCP_LISTEN)
		return 0;
	tp = bpf_skc_to_tcp_sock(common);
	if (!tp || !is_unruffled(tp))
		return 0;
	ops = BPF_CORE_READ(common, skc_net.net, ipv4.tcp_congestion_control);
	BPF_CORE_READ_INTO(&name, ops, name);
	bpf_setsockopt(tp, IPPROTO_TCP, TCP_CONGESTION, name, sizeof name);
	return 0;
}
