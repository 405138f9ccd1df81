/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Loss events, and the verdict on each. A retransmission of a segment that no reduction covers
 * opens an event, for which the window is reduced (growth.h). If DSACKs then report all its
 * retransmissions as duplicates, the event was spurious, and its reduction is undone. If one of
 * them is not reported in time, it was needed.
 *
 * If events are often spurious, the reduction waits for the verdict, unless many segments are
 * missing at once. It covers the losses of one round trip in either case.
 *
 * Functions that few ACKs need are not inlined, so that the other ACKs load half as much code.
 */
#pragma once
#include "connection.h"
#include "growth.h"
#include "history.h"
#include "lateness.h"
#include "reports.h"

/* Share of spurious events above which reductions wait for the verdict, in 1024ths. */
#define SPURIOUS_THRESHOLD 300

/* Returns the time in which a DSACK must arrive: two round trips and the lateness. */
static __always_inline __u32 report_timeout(struct tcp_sock *tp, struct connection *c)
{
	return 2 * srtt_us(tp) + lateness(c);
}

/*
 * Returns the time in which a reduction may be undone. It is at least as long as report_timeout(),
 * because packets may be later than any before, and a long wait does no harm.
 */
static __always_inline __u32 undo_period(struct tcp_sock *tp, struct connection *c)
{
	return max(report_timeout(tp, c), rto_us(tp));
}

/*
 * Returns whether losses from `first` up to `covered` (exclusive) share a round trip with those
 * of another reduction.
 */
static __always_inline bool overlap(__u32 first, __u32 covered, __u32 others, __u32 others_covered)
{
	return before(first, others_covered) && before(others, covered);
}

/*
 * Records whether a reduction for these losses, just made or undone, covers the canaries of its
 * round trip.
 */
static __always_inline void cover_canaries(struct connection *c, __u32 first, __u32 covered,
					   __u8 is_covered)
{
	for (__u32 i = 0; i < CANARIES; i++) {
		struct canary *canary = &c->rings.canary[i];

		if (overlap(first, covered, canary->seq, canary->next))
			canary->is_covered = is_covered;
	}
}

/*
 * Reduces the window for the losses from `first` up to `covered` (exclusive). `from` is the
 * window at the time of the losses.
 */
static __noinline void reduce(struct tcp_sock *tp, struct connection *c, __u32 from, __u32 first,
			      __u32 covered)
{
	cover_canaries(c, first, covered, 1);
	reduce_window(tp, c, from);
	c->covered = before(covered, c->covered) ? c->covered : covered;
}

/* Stops growth for a round trip after a late reduction, whose own round trip has passed already. */
static __always_inline void stop_growth(struct tcp_sock *tp, struct connection *c)
{
	c->growth_resumes = tp->snd_nxt;
}

/* Returns whether growth is stopped. After a timeout it is not. */
static __always_inline bool growth_is_stopped(struct tcp_sock *tp, struct connection *c)
{
	return ca_state(tp) != TCP_CA_Loss && before(tp->snd_una, c->growth_resumes);
}

/* Reduces the window at once, for a loss or an ECN mark that no late packet explains. */
static __always_inline void reduce_at_once(struct tcp_sock *tp, struct connection *c)
{
	c->counters.events++;
	reduce(tp, c, c->cwnd, tp->snd_una, tp->snd_nxt);
}

/*
 * Sets CWR on the next new segment (tcp_ecn_queue_cwr), since the peer repeats ECE until then.
 * The kernel sets it only when a recovery begins, and with frequent late packets a recovery may
 * last long.
 */
static __always_inline void confirm_ece(struct tcp_sock *tp)
{
	if (!(tp->ecn_flags & TCP_ECN_MODE_ACCECN))
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

static __always_inline struct event *event_at(struct connection *c, __u32 i)
{
	return &c->rings.event[i & (EVENTS - 1)];
}

/* Returns whether an event has no verdict yet. */
static __always_inline bool pending(struct verdict *v) { return v->oldest != v->next; }

static __always_inline struct event *latest(struct connection *c)
{
	return event_at(c, c->verdict.next - 1);
}

/* Returns whether the window is reduced for an event that has no verdict yet. */
static __always_inline bool reduced(struct connection *c)
{
	return pending(&c->verdict) && latest(c)->reduced;
}

static __always_inline void close_event(struct tcp_sock *tp, struct connection *c, struct event *e)
{
	e->closed = 1;
	e->last = made(tp, c);
}

static __always_inline struct event *open_event(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	struct event *e = latest(c);

	if (pending(v) && !e->closed)
		close_event(tp, c, e);
	/* The ring is full, so the oldest event is dropped and its reduction stays. */
	if (v->next - v->oldest == EVENTS)
		v->oldest++;
	e = event_at(c, v->next++);
	__builtin_memset(e, 0, sizeof *e);
	e->first = made(tp, c);
	e->window = c->cwnd;
	e->ssthresh = c->ssthresh;
	e->last_max = c->cubic.last_max;
	c->counters.events++;
	return e;
}

/*
 * Opens or extends an event before `n` segments are sent again. The first of them is `seq`, which
 * was sent at `sent`.
 */
static __noinline void suspect(struct tcp_sock *tp, struct connection *c, __u32 seq, __u32 sent,
			       __u32 n)
{
	struct verdict *v = &c->verdict;
	struct event *e = latest(c);
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
	e->hold = n && c->hold.walk.overdue ? c->lateness.hold : 0;
	e->opened = tp->tcp_mstamp;
	e->covered = then.next;
	e->overflow = then.queue > 0;
	if (many || v->spurious <= SPURIOUS_THRESHOLD) {
		reduce(tp, c, then.window, e->from, then.next);
		e->reduced = 1;
	}
}

/* Opens an event for a packet that is deemed lost now, while nothing is held. */
static __always_inline void suspect_now(struct tcp_sock *tp, struct connection *c)
{
	suspect(tp, c, tp->snd_una, (__u32)tp->tcp_mstamp - c->lateness.on_time, 0);
}

/*
 * Undoes the reduction of event `i`. The window becomes what the remaining reductions make of the
 * window before that event.
 */
static __noinline void restore(struct tcp_sock *tp, struct connection *c, __u32 i)
{
	struct verdict *v = &c->verdict;
	struct event *e = event_at(c, i);
	__u32 window = e->window, ssthresh = e->ssthresh;
	__u32 last_max = e->last_max, since = e->opened;
	bool standing = false;

	cover_canaries(c, e->from, e->covered, 0);
	for (__u32 n = 1; n < EVENTS; n++) {
		if ((__s32)(v->next - i - n) <= 0)
			break;
		e = event_at(c, i + n);
		if (!e->reduced)
			continue;
		e->window = max(e->window, window);
		e->ssthresh = max(e->ssthresh, ssthresh);
		e->last_max = last_max;
		last_max = window;
		ssthresh = window = window * BETA / 1024;
		cover_canaries(c, e->from, e->covered, 1);
		standing = true;
	}
	c->counters.restored++;
	amend_history(c, since, window);
	restore_window(tp, c, window, ssthresh, last_max);
	/* No reduction covers this window any more, so other losses in it open an event. */
	if (!standing)
		c->covered = tp->snd_una;
}

/*
 * Marks `n` retransmissions from number `from` as needed, and refutes the events that they belong
 * to.
 */
static __noinline void refute(struct connection *c, __u32 from, __u32 n)
{
	struct verdict *v = &c->verdict;

	v->needed += n;
	for (__u32 i = 0; i < EVENTS; i++) {
		struct event *e = event_at(c, v->oldest + i);

		if ((__s32)(v->next - v->oldest - i) <= 0 || (__s32)(from + n - e->first) <= 0)
			break;
		if (!e->closed || (__s32)(e->last - from) > 0)
			e->refuted = 1;
	}
}

/* Marks retransmissions that were not reported in time as needed. */
static __always_inline void settle(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	__u32 now = tp->tcp_mstamp, from;
	__s32 late;

	if (now - v->stepped <= undo_period(tp, c) / STEPS)
		return;
	from = settled(tp, c);
	v->stepped = now;
	c->rings.made[++v->step & (STEPS - 1)] = made(tp, c);
	late = c->rings.made[(v->step + 1) & (STEPS - 1)] - from;
	if (late > 0)
		refute(c, from, late);
}

/* Marks pending events of a canary's round trip as covered by the reduction for the canary. */
static __always_inline void cover_events(struct connection *c, __u32 first, __u32 covered)
{
	struct verdict *v = &c->verdict;

	for (__u32 n = 0; n < EVENTS; n++) {
		struct event *e = event_at(c, v->oldest + n);

		if ((__s32)(v->next - v->oldest - n) <= 0)
			break;
		if (overlap(first, covered, e->from, e->covered))
			e->is_covered = 1;
	}
}

/*
 * Reduces the window for a canary that was not reported as a duplicate, since its packet was
 * lost.
 */
static __noinline void settle_canary(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;
	struct canary *canary = canary_at(c, k->first++);
	struct moment then;
	__u32 covered = canary->next;

	barrier_var(covered);
	k->lost++;
	if (canary->is_covered)
		return;
	then = moment_of_loss(tp, c, canary->seq, canary->sent - c->lateness.on_time);
	if (then.queue)
		covered = then.next;
	c->counters.events++;
	reduce(tp, c, min(canary->window, c->cwnd), canary->seq, covered);
	cover_events(c, canary->seq, covered);
	stop_growth(tp, c);
}

static __always_inline void settle_canaries(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;

	if (k->first != k->next &&
	    (__u32)tp->tcp_mstamp - canary_at(c, k->first)->sent > report_timeout(tp, c))
		settle_canary(tp, c);
}

/* Returns the end of the losses that a delayed reduction covers. */
static __always_inline __u32 covered_by(struct tcp_sock *tp, struct event *e)
{
	__u32 next = tp->snd_nxt, covered = e->covered;

	/* The verifier rejects a load whose address may be in the map or in the kernel. */
	barrier_var(next);
	barrier_var(covered);
	return e->overflow ? next : covered;
}

/*
 * Returns whether the suspected packet arrived before anything was sent again, because pacing or
 * small queues delayed the retransmission.
 */
static __always_inline bool original_arrived(struct tcp_sock *tp, struct connection *c,
					     struct event *e)
{
	return made(tp, c) == e->first && before(e->from, tp->snd_una);
}

/* Decides on the events, from the oldest on, as far as that is possible now. */
static __noinline void judge_events(struct tcp_sock *tp, struct connection *c)
{
	struct verdict *v = &c->verdict;
	struct event *e = latest(c);
	__u32 now = tp->tcp_mstamp, half_srtt = srtt_us(tp) / 2;

	if (!e->closed && (original_arrived(tp, c, e) ||
			   (made(tp, c) != e->first && now - e->opened > half_srtt)))
		close_event(tp, c, e);
	for (__u32 n = 0; n < EVENTS; n++) {
		__u32 timeout;
		bool late;

		e = event_at(c, v->oldest);
		if (!pending(v) || !e->closed)
			break;
		late = (__s32)(e->last - e->first) > 0 &&
		       (__s32)(settled(tp, c) - e->last) >= 0 && !e->refuted &&
		       !network_duplicates(tp, c);
		timeout = e->reduced ? undo_period(tp, c) : report_timeout(tp, c);
		if (late || original_arrived(tp, c, e)) {
			v->spurious += (1024 - v->spurious) >> 3;
			c->counters.spurious++;
			if (late)
				lengthen_beyond(c, e->hold);
			if (e->reduced)
				restore(tp, c, v->oldest);
		} else if (e->refuted || now - e->opened > timeout + half_srtt) {
			v->spurious -= v->spurious >> 3;
			if (!e->reduced && !e->is_covered && e->last != e->first) {
				reduce(tp, c, min(e->window, c->cwnd), e->from,
				       covered_by(tp, e));
				stop_growth(tp, c);
			}
		} else {
			break;
		}
		v->oldest++;
	}
}

static __always_inline void judge(struct tcp_sock *tp, struct connection *c)
{
	/*
	 * A sequence number that is behind by more than half of the number space would count as
	 * ahead, so `covered` is advanced. It stays far behind SND.UNA, because the verdict on a
	 * canary comes long after its packet is acknowledged.
	 */
	if ((__s32)(tp->snd_una - c->covered) > (1 << 30))
		c->covered = tp->snd_una - (1 << 30);
	if (before(c->growth_resumes, tp->snd_una))
		c->growth_resumes = tp->snd_una;
	settle(tp, c);
	settle_canaries(tp, c);
	if (pending(&c->verdict))
		judge_events(tp, c);
}
