/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sums over the connections of this registration that have ended, or left for another congestion
 * control. With the counts of the open connections added, they never decrease. They are written
 * once for each connection.
 */
#pragma once
#include "connection.h"

enum {
	BPF_MAP_TYPE_ARRAY = 2,
	TOTALS_ENDED = 0,
	TOTALS_REPORTED = 1, /* written by status: the totals that it last reported */
};

/* totals.rs parses it. */
struct totals {
	__u64 connections;
	__u64 events, spurious, restored, timeouts;
	__u64 resent, acked;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct totals);
} unruffled_ended SEC(".maps");

/* Adds the counts of a connection that leaves. A second call for it adds nothing. */
static __always_inline void add_to_totals(struct tcp_sock *tp, struct connection *c)
{
	__u32 slot = TOTALS_ENDED;
	struct totals *t = bpf_map_lookup_elem(&unruffled_ended, &slot);

	if (!t || !c->start.at)
		return;
	c->start.at = 0;
	__sync_fetch_and_add(&t->connections, 1);
	__sync_fetch_and_add(&t->events, c->counters.events);
	__sync_fetch_and_add(&t->spurious, c->counters.spurious);
	__sync_fetch_and_add(&t->restored, c->counters.restored);
	__sync_fetch_and_add(&t->timeouts, c->counters.timeouts);
	__sync_fetch_and_add(&t->resent, tp->total_retrans - c->start.resent);
	__sync_fetch_and_add(&t->acked, tp->bytes_acked - c->start.acked);
}
