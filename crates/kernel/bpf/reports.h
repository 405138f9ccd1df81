/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Assignment of DSACKs to retransmissions. The kernel counts DSACKs without the segments that
 * they report. The first one that can be a canary's is assigned to it, and the others to the
 * oldest retransmissions.
 */
#pragma once
#include "connection.h"

/* Time, in us, for which a packet that the network duplicated counts. */
#define REPLICATION_TIMEOUT (16 * USEC_PER_SEC)

static __always_inline struct canary *canary_at(struct connection *c, __u32 i)
{
	return &c->rings.canary[i & (CANARIES - 1)];
}

/* Returns the number of retransmissions, without canaries. */
static __always_inline __u32 made(struct tcp_sock *tp, struct connection *c)
{
	return tp->total_retrans - c->canaries.made;
}

/* Returns the number of retransmissions that were reported or needed. */
static __always_inline __u32 settled(struct tcp_sock *tp, struct connection *c)
{
	return tp->dsack_dups - c->canaries.reported + c->verdict.needed;
}

/*
 * Withdraws a canary that the kernel has not sent. Pacing or small queues may delay it, and an
 * ACK may then clear the loss mark.
 */
static __always_inline void withdraw_canary(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;

	if (k->requested && k->at == tp->total_retrans) {
		k->made--;
		k->next -= k->kept;
	}
	k->requested = 0;
}

/*
 * Returns the number of DSACKs of the current ACK, excluding one for a canary. A DSACK takes at
 * least a round trip, so one that arrives earlier after a canary belongs to another
 * retransmission. If it were assigned to the canary, it would be missing for that retransmission,
 * and a series of canaries could take every DSACK.
 */
static __always_inline __u32 reports(struct tcp_sock *tp, struct connection *c)
{
	struct lateness *l = &c->lateness;
	struct canaries *k = &c->canaries;
	__u32 n = tp->dsack_dups - k->dsacks;
	__u32 min_rtt = min(l->lowest[0], l->lowest[1]);
	__s32 beyond;
	bool due, surplus;

	withdraw_canary(tp, c);
	if (!n)
		return 0;
	k->dsacks = tp->dsack_dups;
	due = (__u32)tp->tcp_mstamp - canary_at(c, k->first)->sent >= min_rtt;
	surplus = (__s32)(settled(tp, c) - made(tp, c)) > 0;
	if (k->first != k->next && (due || surplus)) {
		k->first++;
		k->reported++;
		n--;
	}
	/*
	 * If there are more DSACKs than open retransmissions, either the network duplicates
	 * packets, or a DSACK comes after its verdict. Such DSACKs must not count for later
	 * retransmissions, because they would undo the reductions for them.
	 */
	beyond = settled(tp, c) - made(tp, c);
	if (beyond > 0)
		c->verdict.needed -= beyond;
	/*
	 * DSACKs beyond all retransmissions report duplicates of the network (tcp_dsack_seen).
	 * Those of earlier periods do not count.
	 */
	if (excess(tp) > k->excess[1]) {
		k->replicated = tp->tcp_mstamp;
		return 0;
	}
	k->refuted += n;
	return n;
}

/*
 * Returns whether the network duplicates packets. Then a DSACK does not make a retransmission
 * spurious (RFC 3708, section 3).
 */
static __always_inline bool network_duplicates(struct tcp_sock *tp, struct connection *c)
{
	return c->canaries.replicated &&
	       (__u32)tp->tcp_mstamp - c->canaries.replicated < REPLICATION_TIMEOUT;
}

/* Starts a new period. Clears an old time, since the clock wraps after 72 minutes. */
static __always_inline void update_replication(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;

	k->excess[1] = k->excess[0];
	k->excess[0] = excess(tp);
	if (!network_duplicates(tp, c))
		k->replicated = 0;
}
