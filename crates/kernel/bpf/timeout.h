/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Timeouts: the reduction of the window when the retransmission timer expires, and its
 * restoration after a spurious timeout.
 */
#pragma once
#include "backoff.h"
#include "connection.h"
#include "growth.h"
#include "hold.h"
#include "lateness.h"
#include "verdict.h"

/*
 * Returns whether the kernel enters state Loss to resegment packets that were too big for the
 * path (tcp_simple_retransmit), and not because the timer expired. That is no sign of congestion,
 * and the kernel does not change the window. At a timeout, in contrast, the kernel has saved state
 * for an undo or, during CWR, left room for one segment.
 */
static __always_inline bool were_resegmented(struct tcp_sock *tp)
{
	return !tp->prior_ssthresh && !tp->undo_marker && tp->snd_cwnd != in_flight(tp) + 1;
}

/* Handles the expiry of the retransmission timer. */
static __always_inline void timeout(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct hold *h = &c->hold;
	__u32 window = tp->snd_cwnd;
	bool acked = (__u32)tp->tcp_mstamp - c->last_ack < (tp->srtt_us >> 3) + 10000;
	bool again = ca_state(tp) == TCP_CA_Loss && !c->path_alive;

	c->counters.timeouts++;
	c->path_alive = c->lateness.hold && tp->sacked_out && (h->silent || acked);
	h->held = h->silent = 0;
	if (c->path_alive) {
		if (c->rto_max_ms)
			restore_rto_max(sk, c);
		/*
		 * ACKs still arrive, so the path works and one packet is later than the timer.
		 */
		suspect(tp, c, tp->snd_una, head_sent(sk, c), 0);
		tp->snd_cwnd = max(window, 1);
		return;
	}
	/* Without an ACK for a round trip, the path was interrupted. */
	if (!acked)
		hide_all(tp, &c->lateness);
	bound_rto(sk, c);
	if (!again) {
		c->rto_cwnd = c->cwnd;
		c->rto_ssthresh = c->ssthresh;
		c->rto_cut = uncovered(tp, c);
	}
	/* One reduction covers all data sent before, even if the timer expires again. */
	if (uncovered(tp, c))
		reduce_at_once(tp, c);
	c->covered = c->rto_next = tp->snd_nxt;
	c->restoring = 0;
	c->verdict.oldest = c->verdict.next;
	cubic_reset(c);
	c->cwnd = min(window, c->cwnd);
	tp->snd_cwnd = max(c->cwnd, 1);
	if (grows_by_bbr())
		bbr_timeout(sk, c, tp->snd_cwnd);
}

/*
 * Undoes a spurious timeout. Under CUBIC, slow start restores the window without a burst, because
 * the last ACK may have arrived long ago (RFC 4015, section 3.3).
 */
static __always_inline void undo_timeout(struct tcp_sock *tp, struct connection *c)
{
	if (grows_by_bbr()) {
		/* BBR restores its window when the state is no longer Loss, and paces it. */
		bbr_undo_cwnd((struct sock *)tp);
	} else {
		c->ssthresh = max(c->ssthresh, max(c->rto_ssthresh, c->rto_cwnd));
		c->cwnd = max(c->cwnd, min(c->rto_cwnd, in_flight(tp) + TCP_INIT_CWND));
		c->cubic.left = 1;
		c->restoring = 1;
	}
	c->rto_cwnd = 0;
	/* No reduction covers the losses of this window any more. */
	if (c->rto_cut)
		c->covered = tp->snd_una;
	c->counters.restored++;
}

/*
 * Returns whether the window is being restored: not all data from before the timeout is
 * acknowledged.
 */
static __always_inline bool is_restoring(struct tcp_sock *tp, struct connection *c)
{
	c->restoring = c->restoring && before(tp->snd_una, c->rto_next);
	return c->restoring;
}
