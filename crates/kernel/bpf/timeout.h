/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Timeouts: what the expiry of the retransmission timer does to the window, and how the window comes back when it was for nothing.
 */
#pragma once
#include "backoff.h"
#include "connection.h"
#include "growth.h"
#include "hold.h"
#include "verdict.h"

/*
 * The kernel is about to enter state Loss, not because the timer expired, but to send again in pieces what was too big for the path
 * (tcp_simple_retransmit): that says nothing of congestion, and it leaves the window alone. A timeout has noted what an undo needs or,
 * where it comes while CWR is under way, left room for one segment.
 */
static __always_inline bool were_too_big(struct tcp_sock *tp)
{
	return !tp->prior_ssthresh && !tp->undo_marker && tp->snd_cwnd != in_flight(tp) + 1;
}

/* The retransmission timer expired. */
static __always_inline void timeout(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hold *h = &c->hold;
	__u32 window = tp->snd_cwnd;
	bool acked = (__u32)tp->tcp_mstamp - c->last_ack < (tp->srtt_us >> 3) + 10000;
	bool again = ca_state(tp) == TCP_CA_Loss && !c->gentle;

	c->counters.timeouts++;
	c->gentle = c->lateness.hold && tp->sacked_out && (h->silent || acked);
	h->held = h->silent = 0;
	if (c->gentle) {
		if (c->rto_most)
			unbound_rto(sk, c);
		/* ACKs still come: one packet is later than the timer, and the path has not collapsed. */
		suspect(tp, c, tp->snd_una, head_sent(sk, c), 0);
		tp->snd_cwnd = max(window, 1);
		return;
	}
	bound_rto(sk, c);
	if (!again) {
		c->rto_cwnd = c->cwnd;
		c->rto_ssthresh = c->ssthresh;
		c->rto_cut = uncovered(tp, c);
	}
	/* One cut answers for all that was sent before, however often the timer expires, and be it one that was made before. */
	if (uncovered(tp, c))
		reduce_at_once(tp, c);
	c->covered = c->rto_next = tp->snd_nxt;
	c->returns = 0;
	c->verdict.oldest = c->verdict.next;
	cubic_reset(c);
	c->cwnd = min(window, c->cwnd);
	tp->snd_cwnd = max(c->cwnd, 1);
}

/* The timeout was for nothing: by slow start, and no burst, for nothing may have come for long (RFC 4015, section 3.3). */
static __always_inline void undo_timeout(struct tcp_sock *tp, struct connection *c)
{
	c->ssthresh = max(c->ssthresh, max(c->rto_ssthresh, c->rto_cwnd));
	c->cwnd = max(c->cwnd, min(c->rto_cwnd, in_flight(tp) + TCP_INIT_CWND));
	c->cubic.left = 1;
	c->returns = 1;
	c->rto_cwnd = 0;
	/* Nothing of this window is answered for. */
	if (c->rto_cut)
		c->covered = tp->snd_una;
	c->counters.restored++;
}

/* Whether the window is on its way back: what was sent before the timeout is not all acknowledged. */
static __always_inline bool returning(struct tcp_sock *tp, struct connection *c)
{
	c->returns = c->returns && before(tp->snd_una, c->rto_next);
	return c->returns;
}
