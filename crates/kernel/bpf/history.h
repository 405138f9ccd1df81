/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Earlier windows. If a packet was held before its retransmission, its loss counts from one round
 * trip after its transmission. The window of that time is reduced, and the reduction covers the
 * losses up to that time. Otherwise holding would be an unfair advantage: the window would grow
 * while a loss waits, and one reduction would cover more losses than without holding.
 */
#pragma once
#include "connection.h"
#include "lateness.h"

static __always_inline struct moment *moment_at(struct connection *c, __u32 i)
{
	return &c->rings.moment[i & (MOMENTS - 1)];
}

static __always_inline void record_window(struct tcp_sock *tp, struct connection *c)
{
	struct history *h = &c->history;
	__u32 now = tp->tcp_mstamp;
	__u32 interval = (c->lateness.on_time + c->lateness.hold) / (MOMENTS - 4);
	struct moment *m = moment_at(c, h->latest);

	if (m->at && now - m->at < interval)
		return;
	m = moment_at(c, ++h->latest);
	m->at = now;
	m->next = tp->snd_nxt;
	m->window = c->cwnd;
	m->queue = queueing(c);
}

/*
 * Corrects the history after a reduction at `since` is undone: from then on the window was at
 * least `window`.
 */
static __always_inline void amend_history(struct connection *c, __u32 since, __u32 window)
{
	for (__u32 i = 0; i < MOMENTS; i++) {
		struct moment *m = &c->rings.moment[i];

		if (!before(m->at, since))
			m->window = max(m->window, window);
	}
}

/*
 * Returns the moment at which the packet `seq`, sent at `sent`, would have been deemed lost
 * without holding. Moments are recorded with ACKs. After a time without ACKs, as in an outage, the
 * latest one may be from before the packet was sent. Then the next one counts, so that the
 * reduction covers at least this packet.
 */
static __always_inline struct moment moment_of_loss(struct tcp_sock *tp, struct connection *c,
						    __u32 seq, __u32 sent)
{
	struct history *h = &c->history;
	struct moment then = {
		.at = tp->tcp_mstamp,
		.next = tp->snd_nxt,
		.window = c->cwnd,
		.queue = queueing(c),
	};
	__u32 due = sent + c->lateness.on_time;

	for (__u32 i = 0; i < MOMENTS && before(due, then.at); i++) {
		struct moment *m = moment_at(c, h->latest - i);

		if (!m->at || !before(seq, m->next))
			break;
		then = *m;
	}
	/*
	 * A queue that was full at that moment overflows until the reduction. All its losses are
	 * one event, since a timely reduction would have ended them.
	 */
	if (then.queue)
		then.next = tp->snd_nxt;
	else if (before(then.next, tp->snd_una))
		then.next = tp->snd_una;
	/* A reduction since that moment stays in force. */
	then.window = min(then.window, c->cwnd);
	return then;
}
