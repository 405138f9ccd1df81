/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Tests whether a socket has one of the congestion controls. */
#pragma once
#include "linux.h"

/* Both names begin in the same way. */
static __always_inline bool is_unruffled(struct tcp_sock *tp)
{
	const struct tcp_congestion_ops *ops = BPF_CORE_READ(tp, inet_conn.icsk_ca_ops);
	char name[10] = {};

	BPF_CORE_READ_INTO(&name, ops, name);
	return !bpf_strncmp(name, sizeof name - 1, "unruffled");
}
