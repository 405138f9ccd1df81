/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What counts as a loss event, and the verdict on it. A segment that is sent again although its number is not answered for yet opens
 * an event: the window is cut as by CUBIC. If DSACKs then report all its retransmissions as duplicates, the event was spurious and
 * the window is restored; if one of them is not reported in time, it was needed. Where events are often spurious, the cut waits for
 * the verdict, unless many segments are missing at once.
 */
#pragma once
#include "connection.h"
#include "growth.h"
#include "history.h"
#include "lateness.h"

enum phase { NONE, OPEN, CLOSED }; /* of an event: retransmissions still join it; they no longer do */

#define OFTEN 300 /* of 1024 */

/* DSACKs are taken to report the oldest retransmissions first: the kernel tells only how many were reported. */
static __always_inline __u32 made(struct tcp_sock *tp, struct connection *c) { return tp->total_retrans - c->canaries.made; }
static __always_inline __u32 settled(struct tcp_sock *tp, struct connection *c)
{
	return tp->dsack_dups - c->canaries.reported + c->verdict.needed;
}

/* How long a report may take: to the receiver and back, and what is late. */
static __always_inline __u32 patience(struct tcp_sock *tp, struct connection *c)
{
	return 2 * srtt_us(tp) + lateness(c);
}

/* Cuts the window, from what it was when the loss happened. */
static __always_inline void reduce(struct tcp_sock *tp, struct connection *c, __u32 from, __u32 covered)
{
	c->ssthresh = cubic_ssthresh(c, from);
	c->cwnd = min(c->cwnd, c->ssthresh);
	c->covered = covered;
	tp->snd_ssthresh = c->ssthresh;
}

static __always_inline bool uncovered(struct tcp_sock *tp, struct connection *c)
{
	return !before(tp->snd_una, c->covered);
}

/* A loss whose evidence cannot be a packet that is late. */
static __always_inline void reduce_at_once(struct tcp_sock *tp, struct connection *c)
{
	c->counters.events++;
	reduce(tp, c, c->cwnd, tp->snd_nxt);
}

/* `n` segments are about to be sent again, the first of them `seq`, which was sent at `sent`. */
static __always_inline void suspect(struct tcp_sock *tp, struct connection *c, __u32 seq, __u32 sent, __u32 n)
{
	struct verdict *v = &c->verdict;
	struct moment then;
	bool many = c->lateness.hold && n >= 4 + (c->cwnd >> 4);

	if (before(seq, c->covered) || (v->open && !v->reduced && !many))
		return;
	then = moment_of_loss(tp, c, sent);
	if (!v->open) {
		c->counters.events++;
		v->reduced = v->refuted = 0;
		v->window = c->cwnd;
		v->ssthresh = c->ssthresh;
		v->last_max = c->cubic.last_max;
		v->first = made(tp, c);
	}
	v->open = OPEN;
	v->opened = tp->tcp_mstamp;
	if (v->reduced || many || v->spurious <= OFTEN) {
		reduce(tp, c, then.window, then.next);
		v->reduced = 1;
	}
}

/* A packet is deemed lost now, and nothing is held. */
static __always_inline void suspect_now(struct tcp_sock *tp, struct connection *c)
{
	suspect(tp, c, tp->snd_una, (__u32)tp->tcp_mstamp - c->lateness.on_time, 0);
}

static __always_inline void restore(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;

	c->counters.restored++;
	c->cwnd = max(c->cwnd, v->window);
	/* A slow start that was left because the delay rose is not begun again. */
	c->ssthresh = max(c->ssthresh, c->cubic.left ? min(v->ssthresh, c->cwnd) : v->ssthresh);
	/* RFC 9438, section 4.9: W_max as well; the curve begins anew at this window. */
	c->cubic.last_max = v->last_max;
	c->cubic.epoch = 0;
	/* Nothing of this window is answered for, and what else it lost counts anew. */
	c->covered = tp->snd_una;
}

/* Retransmissions that nobody reported in time were needed. */
static __always_inline void settle(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	__u32 now = tp->tcp_mstamp;
	__s32 late;

	if (now - v->stepped <= patience(tp, c) / STEPS)
		return;
	v->stepped = now;
	v->made[++v->step & (STEPS - 1)] = made(tp, c);
	late = v->made[(v->step + 1) & (STEPS - 1)] - settled(tp, c);
	if (late <= 0)
		return;
	v->needed += late;
	if (v->open && (__s32)(settled(tp, c) - v->first) > 0)
		v->refuted = 1;
}

/* A canary that nobody reported was needed: a packet was lost. */
static __always_inline void settle_canaries(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;
	struct canary *canary = &k->out[k->first & 3];

	if (k->first == k->next || (__u32)tp->tcp_mstamp - canary->sent <= patience(tp, c))
		return;
	k->first++;
	if (!before(canary->seq, c->covered)) {
		struct moment then = moment_of_loss(tp, c, canary->sent - c->lateness.on_time);

		c->counters.events++;
		reduce(tp, c, min(canary->window, c->cwnd), then.next);
	}
}

static __always_inline void judge(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	__u32 now = tp->tcp_mstamp;
	bool all;

	settle(tp, c);
	settle_canaries(tp, c);
	if (v->open == OPEN && now - v->opened > srtt_us(tp) / 2) {
		v->open = CLOSED;
		v->last = made(tp, c);
	}
	if (v->open != CLOSED)
		return;
	all = (__s32)(v->last - v->first) > 0 && (__s32)(settled(tp, c) - v->last) >= 0;
	if (all && !v->refuted) {
		v->spurious += (1024 - v->spurious) >> 3;
		v->open = NONE;
		c->counters.spurious++;
		if (v->reduced)
			restore(tp, c);
	} else if (v->refuted || now - v->opened > patience(tp, c) + srtt_us(tp) / 2) {
		v->spurious -= v->spurious >> 3;
		v->open = NONE;
		if (!v->reduced && v->last != v->first)
			reduce(tp, c, min(v->window, c->cwnd), tp->snd_nxt);
	}
}
