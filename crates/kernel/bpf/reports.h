/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which retransmissions were reported as duplicates (DSACK). The kernel tells only how many were reported: a canary's report is the
 * first that can be, and the others are taken to report the oldest first.
 */
#pragma once
#include "connection.h"

#define REPLICATES_FOR (16 * USEC_PER_SEC)

static __always_inline __u32 made(struct tcp_sock *tp, struct connection *c) { return tp->total_retrans - c->canaries.made; }
static __always_inline __u32 settled(struct tcp_sock *tp, struct connection *c)
{
	return tp->dsack_dups - c->canaries.reported + c->verdict.needed;
}

/* The kernel may not send a canary at once, for pacing or small queues, nor after: an ACK may have un-marked what was missing. */
static __always_inline void withdraw_canary(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;

	if (k->asked && k->at == tp->total_retrans) {
		k->made--;
		k->next -= k->kept;
	}
	k->asked = 0;
}

/*
 * Those of the ACK being processed, without a canary's. A report takes a round trip at least: one that comes sooner after the canary
 * is another's, which would wait for it in vain where one canary follows another.
 */
static __always_inline __u32 reports(struct tcp_sock *tp, struct connection *c)
{
	struct lateness *l = &c->lateness;
	struct canaries *k = &c->canaries;
	__u32 n = tp->dsack_dups - k->heard, fastest = min(l->lowest[0], l->lowest[1]);
	__s32 beyond;
	bool due, surplus;

	withdraw_canary(tp, c);
	if (!n)
		return 0;
	k->heard = tp->dsack_dups;
	due = (__u32)tp->tcp_mstamp - k->out[k->first & 3].sent >= fastest;
	surplus = (__s32)(settled(tp, c) - made(tp, c)) > 0;
	if (k->first != k->next && (due || surplus)) {
		k->first++;
		k->reported++;
		n--;
	}
	/* More than wait for a report: the network duplicates packets, or a report comes after its verdict. Neither is one of later
	 * retransmissions, whose cuts would be undone for it. */
	beyond = settled(tp, c) - made(tp, c);
	if (beyond > 0)
		c->verdict.needed -= beyond;
	/* More than were ever sent again are the network's (tcp_dsack_seen); those of long ago say nothing of this one. */
	if (excess(tp) > k->excess[1]) {
		k->replicated = tp->tcp_mstamp;
		return 0;
	}
	return n;
}

/* Whether the network duplicates packets: then a DSACK clears no retransmission (RFC 3708, section 3). */
static __always_inline bool replicates(struct tcp_sock *tp, struct connection *c)
{
	return c->canaries.replicated && (__u32)tp->tcp_mstamp - c->canaries.replicated < REPLICATES_FOR;
}

/* A period is over; the clock wraps in 72 minutes. */
static __always_inline void forget_replicates(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;

	k->excess[1] = k->excess[0];
	k->excess[0] = excess(tp);
	if (!replicates(tp, c))
		k->replicated = 0;
}
