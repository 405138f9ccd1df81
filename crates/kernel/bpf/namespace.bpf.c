/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Reads the cookie of the caller's network namespace: the unique number that sockets return as
 * SO_NETNS_COOKIE.
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

SEC("syscall")
int read_cookie(__u64 *cookie)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	*cookie = BPF_CORE_READ(task, nsproxy, net_ns, net_cookie);
	return 0;
}
