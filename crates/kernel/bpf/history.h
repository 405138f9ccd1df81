/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the window was. A packet that waited before it was sent again counts as one that was deemed lost a round trip after it was
 * sent: the window that is cut is the one of that time, and so are the losses that the cut answers for. Else waiting would pay: the
 * window would grow on while a loss waits, and one cut would answer for more losses than in order.
 */
#pragma once
#include "connection.h"
#include "lateness.h"

static __always_inline void remember(struct tcp_sock *tp, struct connection *c)
{
	struct history *h = &c->history;
	__u32 now = tp->tcp_mstamp, interval = (c->lateness.on_time + c->lateness.hold) / (MOMENTS - 4);
	struct moment *m = &h->moment[h->latest & (MOMENTS - 1)];

	if (m->at && now - m->at < interval)
		return;
	m = &h->moment[++h->latest & (MOMENTS - 1)];
	m->at = now;
	m->next = tp->snd_nxt;
	m->window = c->cwnd;
	m->queue = queueing(c);
}

/* A cut made at `since` was undone: the window has been `window` since then. */
static __always_inline void amend(struct connection *c, __u32 since, __u32 window)
{
	for (__u32 i = 0; i < MOMENTS; i++) {
		struct moment *m = &c->history.moment[i];

		if (!before(m->at, since))
			m->window = max(m->window, window);
	}
}

/*
 * When the packet `seq`, sent at `sent`, would have been deemed lost in order. Moments are of ACKs: where none came, as in an outage,
 * the last one may be of before it was sent, and it is the next that counts, lest a cut not even answer for its own packet.
 */
static __always_inline struct moment moment_of_loss(struct tcp_sock *tp, struct connection *c, __u32 seq, __u32 sent)
{
	struct history *h = &c->history;
	struct moment then = { .at = tp->tcp_mstamp, .next = tp->snd_nxt, .window = c->cwnd, .queue = queueing(c) };
	__u32 due = sent + c->lateness.on_time;

	for (__u32 i = 0; i < MOMENTS && before(due, then.at); i++) {
		struct moment *m = &h->moment[(h->latest - i) & (MOMENTS - 1)];

		if (!m->at || !before(seq, m->next))
			break;
		then = *m;
	}
	/* A queue that was full then overflows until the cut: all that is one event, which a cut in time would have ended. */
	if (then.queue)
		then.next = tp->snd_nxt;
	else if (before(then.next, tp->snd_una))
		then.next = tp->snd_una;
	/* A cut since then was not undone by it. */
	then.window = min(then.window, c->cwnd);
	return then;
}
