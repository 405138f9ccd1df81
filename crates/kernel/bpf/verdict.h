/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What counts as a loss event, and the verdict on each. A segment that is sent again although its number is not answered for yet
 * opens an event: the window is cut as by CUBIC. If DSACKs then report all its retransmissions as duplicates, the event was spurious
 * and its cut is undone; if one of them is not reported in time, it was needed. Where events are often spurious, the cut waits for
 * the verdict, unless many segments are missing at once; it answers for the losses of one round trip all the same. What few ACKs
 * need is not inlined: the others then have half the code to load.
 */
#pragma once
#include "connection.h"
#include "growth.h"
#include "history.h"
#include "lateness.h"
#include "reports.h"

#define OFTEN 300 /* of 1024 */

/* How long a report may take: to the receiver and back, and what is late. */
static __always_inline __u32 patience(struct tcp_sock *tp, struct connection *c)
{
	return 2 * srtt_us(tp) + lateness(c);
}

/* How long a cut that was made waits to be undone: packets may be later than any yet, and waiting does no harm. */
static __always_inline __u32 long_patience(struct tcp_sock *tp, struct connection *c)
{
	return max(patience(tp, c), rto_us(tp));
}

/* Whether losses from `first` on and before `covered` are of one round trip with those of another cut. */
static __always_inline bool overlap(__u32 first, __u32 covered, __u32 others, __u32 others_covered)
{
	return before(first, others_covered) && before(others, covered);
}

/* A cut for these losses was made, or undone: it does, or does not, answer for the canaries of its round trip. */
static __always_inline void answer_canaries(struct connection *c, __u32 first, __u32 covered, __u8 answered)
{
	for (__u32 i = 0; i < 4; i++) {
		struct canary *canary = &c->canaries.out[i];

		if (overlap(first, covered, canary->seq, canary->next))
			canary->answered = answered;
	}
}

/* Cuts the window, from what it was when the losses happened that this answers for: those from `first` on and before `covered`. */
static __noinline void reduce(struct tcp_sock *tp, struct connection *c, __u32 from, __u32 first, __u32 covered)
{
	answer_canaries(c, first, covered, 1);
	c->ssthresh = cubic_ssthresh(c, from);
	c->cwnd = min(c->cwnd, c->ssthresh);
	c->covered = before(covered, c->covered) ? c->covered : covered;
	tp->snd_ssthresh = c->ssthresh;
}

/* A cut for a loss that was believed when its round trip was over: it rests for one all the same. */
static __always_inline void rest(struct tcp_sock *tp, struct connection *c)
{
	c->rest = tp->snd_nxt;
}

/* After a timeout the window grows at once. */
static __always_inline bool resting(struct tcp_sock *tp, struct connection *c)
{
	return ca_state(tp) != TCP_CA_Loss && before(tp->snd_una, c->rest);
}

/* A loss whose evidence cannot be a packet that is late. */
static __always_inline void reduce_at_once(struct tcp_sock *tp, struct connection *c)
{
	c->counters.events++;
	reduce(tp, c, c->cwnd, tp->snd_una, tp->snd_nxt);
}

/*
 * CWR on the next new segment (tcp_ecn_queue_cwr), or the peer goes on echoing: the kernel says so only where a recovery begins, and
 * where packets are often late one may last.
 */
static __always_inline void answer_echo(struct tcp_sock *tp)
{
	if (!(tp->ecn_flags & TCP_ECN_MODE_ACCECN))
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

static __always_inline struct event *event_at(struct verdict *v, __u32 i) { return &v->event[i & (EVENTS - 1)]; }

/* Whether an event has no verdict yet. */
static __always_inline bool pending(struct verdict *v) { return v->oldest != v->next; }
static __always_inline struct event *latest(struct verdict *v) { return event_at(v, v->next - 1); }
static __always_inline bool reduced(struct verdict *v) { return pending(v) && latest(v)->reduced; }

static __always_inline void close_event(struct tcp_sock *tp, struct connection *c, struct event *e)
{
	e->closed = 1;
	e->last = made(tp, c);
}

static __always_inline struct event *open_event(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	struct event *e = latest(v);

	if (pending(v) && !e->closed)
		close_event(tp, c, e);
	/* More cannot wait: the oldest is believed. */
	if (v->next - v->oldest == EVENTS)
		v->oldest++;
	e = event_at(v, v->next++);
	__builtin_memset(e, 0, sizeof *e);
	e->first = made(tp, c);
	e->window = c->cwnd;
	e->ssthresh = c->ssthresh;
	e->last_max = c->cubic.last_max;
	c->counters.events++;
	return e;
}

/* `n` segments are about to be sent again, the first of them `seq`, which was sent at `sent`. */
static __noinline void suspect(struct tcp_sock *tp, struct connection *c, __u32 seq, __u32 sent, __u32 n)
{
	struct verdict *v = &c->verdict;
	struct event *e = latest(v);
	struct moment then;
	bool waits = pending(v) && !e->reduced, full = v->next - v->oldest == EVENTS;
	bool same = waits && (e->overflow || full || before(seq, e->covered));
	bool many = c->lateness.hold && n >= 4 + (c->cwnd >> 4);

	if (before(seq, c->covered) || (same && !many))
		return;
	then = moment_of_loss(tp, c, seq, sent);
	if (!same) {
		e = open_event(tp, c);
		e->from = seq;
	}
	e->closed = 0;
	e->opened = tp->tcp_mstamp;
	e->covered = then.next;
	e->overflow = then.queue > 0;
	if (many || v->spurious <= OFTEN) {
		reduce(tp, c, then.window, e->from, then.next);
		e->reduced = 1;
	}
}

/* A packet is deemed lost now, and nothing is held. */
static __always_inline void suspect_now(struct tcp_sock *tp, struct connection *c)
{
	suspect(tp, c, tp->snd_una, (__u32)tp->tcp_mstamp - c->lateness.on_time, 0);
}

/* Undoes the cut of event `i`: the window is what those that stand would have made of the one before it. */
static __noinline void restore(struct tcp_sock *tp, struct connection *c, __u32 i)
{
	struct verdict *v = &c->verdict;
	struct event *e = event_at(v, i);
	__u32 window = e->window, ssthresh = e->ssthresh, last_max = e->last_max, since = e->opened;
	bool standing = false;

	answer_canaries(c, e->from, e->covered, 0);
	for (__u32 n = 1; n < EVENTS; n++) {
		if ((__s32)(v->next - i - n) <= 0)
			break;
		e = event_at(v, i + n);
		if (!e->reduced)
			continue;
		e->window = max(e->window, window);
		e->ssthresh = max(e->ssthresh, ssthresh);
		e->last_max = last_max;
		last_max = window;
		ssthresh = window = window * BETA / 1024;
		answer_canaries(c, e->from, e->covered, 1);
		standing = true;
	}
	c->counters.restored++;
	c->cwnd = max(c->cwnd, window);
	amend(c, since, window);
	/* A slow start that was left because the delay rose is not begun again. */
	c->ssthresh = max(c->ssthresh, c->cubic.left ? min(ssthresh, c->cwnd) : ssthresh);
	/* RFC 9438, section 4.9: W_max as well; the curve begins anew at this window. */
	c->cubic.last_max = last_max;
	c->cubic.epoch = 0;
	/* Nothing of this window is answered for, and what else it lost counts anew. */
	if (!standing)
		c->covered = tp->snd_una;
}

/* The `n` retransmissions from the one of that number on were needed: those of the events that they are of. */
static __noinline void refute(struct verdict *v, __u32 from, __u32 n)
{
	v->needed += n;
	for (__u32 i = 0; i < EVENTS; i++) {
		struct event *e = event_at(v, v->oldest + i);

		if ((__s32)(v->next - v->oldest - i) <= 0 || (__s32)(from + n - e->first) <= 0)
			break;
		if (!e->closed || (__s32)(e->last - from) > 0)
			e->refuted = 1;
	}
}

/* Retransmissions that nobody reported in time were needed. */
static __always_inline void settle(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	__u32 now = tp->tcp_mstamp, from;
	__s32 late;

	if (now - v->stepped <= long_patience(tp, c) / STEPS)
		return;
	from = settled(tp, c);
	v->stepped = now;
	v->made[++v->step & (STEPS - 1)] = made(tp, c);
	late = v->made[(v->step + 1) & (STEPS - 1)] - from;
	if (late > 0)
		refute(v, from, late);
}

/* The cut of a canary answers for the events of its round trip that wait for their verdict. */
static __always_inline void answer_events(struct connection *c, __u32 first, __u32 covered)
{
	struct verdict *v = &c->verdict;

	for (__u32 n = 0; n < EVENTS; n++) {
		struct event *e = event_at(v, v->oldest + n);

		if ((__s32)(v->next - v->oldest - n) <= 0)
			break;
		if (overlap(first, covered, e->from, e->covered))
			e->answered = 1;
	}
}

/* A canary that nobody reported was needed: a packet was lost. */
static __noinline void settle_canary(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;
	struct canary *canary = &k->out[k->first++ & 3];
	struct moment then;
	__u32 covered = canary->next;

	barrier_var(covered);
	if (canary->answered)
		return;
	then = moment_of_loss(tp, c, canary->seq, canary->sent - c->lateness.on_time);
	if (then.queue)
		covered = then.next;
	c->counters.events++;
	reduce(tp, c, min(canary->window, c->cwnd), canary->seq, covered);
	answer_events(c, canary->seq, covered);
	rest(tp, c);
}

static __always_inline void settle_canaries(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;

	if (k->first != k->next && (__u32)tp->tcp_mstamp - k->out[k->first & 3].sent > patience(tp, c))
		settle_canary(tp, c);
}

/* The losses that a cut answers for that was not made at once. */
static __always_inline __u32 answered(struct tcp_sock *tp, struct event *e)
{
	__u32 next = tp->snd_nxt, covered = e->covered;

	/* The verifier takes no load that may be of the map's memory or of the kernel's. */
	barrier_var(next);
	barrier_var(covered);
	return e->overflow ? next : covered;
}

/* Whether what this event suspected arrived before anything was sent again: pacing or small queues kept that back. */
static __always_inline bool came_by_itself(struct tcp_sock *tp, struct connection *c, struct event *e)
{
	return made(tp, c) == e->first && before(e->from, tp->snd_una);
}

/* The verdicts that can be given, the oldest event's first. */
static __noinline void judge_events(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	struct event *e = latest(v);
	__u32 now = tp->tcp_mstamp;

	if (!e->closed && (came_by_itself(tp, c, e) || (made(tp, c) != e->first && now - e->opened > srtt_us(tp) / 2)))
		close_event(tp, c, e);
	for (__u32 n = 0; n < EVENTS; n++) {
		bool late;

		e = event_at(v, v->oldest);
		if (!pending(v) || !e->closed)
			break;
		late = (__s32)(e->last - e->first) > 0 && (__s32)(settled(tp, c) - e->last) >= 0 && !e->refuted && !replicates(tp, c);
		if (late || came_by_itself(tp, c, e)) {
			v->spurious += (1024 - v->spurious) >> 3;
			c->counters.spurious++;
			if (e->reduced)
				restore(tp, c, v->oldest);
		} else if (e->refuted || now - e->opened > (e->reduced ? long_patience(tp, c) : patience(tp, c)) + srtt_us(tp) / 2) {
			v->spurious -= v->spurious >> 3;
			if (!e->reduced && !e->answered && e->last != e->first) {
				reduce(tp, c, min(e->window, c->cwnd), e->from, answered(tp, e));
				rest(tp, c);
			}
		} else {
			break;
		}
		v->oldest++;
	}
}

static __always_inline void judge(struct tcp_sock *tp, struct connection *c)
{
	/* Behind by half of all numbers it would be ahead; but a canary is judged when its packet has long been acknowledged. */
	if ((__s32)(tp->snd_una - c->covered) > (1 << 30))
		c->covered = tp->snd_una - (1 << 30);
	if (before(c->rest, tp->snd_una))
		c->rest = tp->snd_una;
	settle(tp, c);
	settle_canaries(tp, c);
	if (pending(&c->verdict))
		judge_events(tp, c);
}
