/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Wakes the daemon of `attach --all` when a network namespace was created or has ended. The
 * events have no content: the daemon lists the namespaces itself. So an event that finds the
 * buffer full may be dropped.
 */
#include "linux.h"

char _license[] SEC("license") = "Dual MIT/GPL";

enum {
	BPF_MAP_TYPE_RINGBUF = 27,
	BUFFER_OCTETS = 4096,
	CLONE_NEWNET = 0x40000000,
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, BUFFER_OCTETS);
} events SEC(".maps");

static __always_inline int wake(void)
{
	__u32 event = 0;

	bpf_ringbuf_output(&events, &event, sizeof event, 0);
	return 0;
}

/* The first argument of copy_net_ns has the flags of clone or unshare. */
SEC("fexit/copy_net_ns")
int created(__u64 *ctx)
{
	return ctx[0] & CLONE_NEWNET ? wake() : 0;
}

SEC("fexit/cleanup_net")
int ended(__u64 *ctx)
{
	return wake();
}
