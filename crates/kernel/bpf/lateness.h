/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The lateness of packets, measured on packets that were sent once (the kernel applies Karn's
 * rule). A packet is on time if no packet that was sent after it arrived before it. Otherwise its
 * lateness is the difference between its RTT and that of packets on time.
 *
 * The RTT ends with the ACK that reports the packet. In an outage the packet may have arrived long
 * before, and its ACK was lost. So packets sent before the end of a silence are no measurements.
 */
#pragma once
#include "connection.h"
#include "reports.h"

/* Length of a period, in us. A lateness counts for one to two periods. */
#define LATENESS_PERIOD (8 * USEC_PER_SEC)

static __always_inline __u32 lateness(struct connection *c)
{
	return max(c->lateness.greatest[0], c->lateness.greatest[1]);
}

/*
 * Returns the queueing delay that the RTTs show, or 0 if it is within an eighth of the lowest
 * RTT, which is HyStart's threshold.
 */
static __always_inline __u32 queueing(struct connection *c)
{
	struct lateness *l = &c->lateness;
	__u32 lowest = min(l->lowest[0], l->lowest[1]);
	__u32 usual = lowest + clamp(lowest >> 3, 4000, 16000);

	return l->on_time > usual ? l->on_time - lowest : 0;
}

/*
 * Hides the packets sent from `from` until now: they are no measurements.
 */
static __always_inline void hide_since(struct tcp_sock *tp, struct lateness *l, __u32 from)
{
	l->hidden_from = from;
	l->hidden_until = tp->tcp_mstamp;
}

/* Returns whether a packet that was sent at that time is no measurement. */
static __always_inline bool is_hidden(struct lateness *l, __u32 sent)
{
	return sent - l->hidden_from < l->hidden_until - l->hidden_from;
}

/* Hides all packets sent so far, after an outage in which the retransmission timer expired. */
static __always_inline void hide_all(struct tcp_sock *tp, struct lateness *l)
{
	hide_since(tp, l, (__u32)tp->tcp_mstamp - (1 << 30));
	l->outage = 1;
}

/*
 * Hides the packets of a silence that was too short for the timer, except those that other packets
 * had overtaken before: their lateness was measured without the silence. With a tail loss probe in
 * the silence, all others count as overtaken.
 */
static __always_inline void hide_silence(struct tcp_sock *tp, struct connection *c)
{
	struct lateness *l = &c->lateness;
	__u32 since = before(c->last_ack, c->hold.head_since) ? c->hold.head_since : c->last_ack;
	__u32 silence = (__u32)tp->tcp_mstamp - since;

	if (!c->last_ack || !l->on_time || !before(l->hidden_until, since))
		return;
	if (silence > l->on_time + l->hold + srtt_us(tp) / 2)
		hide_since(tp, l, l->overtaken);
}

/*
 * Returns the lateness for which a DSACK counts. It reports a retransmission as a duplicate, so
 * the wait was too short. It counts for a round trip at first and for more each time, but only
 * once per round trip.
 */
static __always_inline __u32 lengthen(struct tcp_sock *tp, struct connection *c)
{
	struct lateness *l = &c->lateness;
	__u32 now = tp->tcp_mstamp, srtt = srtt_us(tp);

	if (now - l->lengthened <= srtt)
		return 0;
	l->lengthened = now;
	return l->hold < srtt ? srtt : min(l->hold + (srtt >> 2), 2 * srtt);
}

/*
 * Lengthens the wait by a quarter after an event for which a wait of `hold` was too short. Where
 * all late packets are later than two round trips, nothing else shows how late they are: each is
 * sent again before it arrives.
 */
static __always_inline void lengthen_beyond(struct connection *c, __u32 hold)
{
	struct lateness *l = &c->lateness;

	l->greatest[0] = max(l->greatest[0], hold + (hold >> 2));
}

/* Updates the lateness from one ACK. Returns whether `sample` is the RTT of a packet on time. */
static __always_inline bool update_lateness(struct tcp_sock *tp, struct connection *c, int flag,
					    long sample)
{
	struct lateness *l = &c->lateness;
	__u64 now = tp->tcp_mstamp;
	__u32 late = 0, rtt = sample, rto = rto_us(tp), greatest;
	bool on_time = false;

	hide_silence(tp, c);
	/* DSACKs for what a timeout sent again show no short wait. They may come an RTT later. */
	if (ca_state(tp) != TCP_CA_Loss)
		l->outage = 0;
	if (l->outage)
		l->lengthened = now;
	/* Duplicates of tail loss probes do not count. */
	if (reports(tp, c) && !(flag & FLAG_DSACK_TLP))
		late = lengthen(tp, c);
	if (sample > 0 && !is_hidden(l, (__u32)now - rtt)) {
		if (!l->on_time)
			l->on_time = l->lowest[0] = l->lowest[1] = rtt;
		on_time = now - rtt >= tp->rack.mstamp;
		if (on_time) {
			l->on_time += (rtt >> 3) - (l->on_time >> 3);
			l->lowest[0] = min(l->lowest[0], rtt);
		} else if (rtt > l->on_time + l->on_time / 64) {
			late = max(late, rtt - l->on_time);
		}
	}
	if ((__u32)now - l->period > LATENESS_PERIOD) {
		l->period = now;
		l->greatest[1] = l->greatest[0];
		l->greatest[0] = 0;
		l->lowest[1] = l->lowest[0];
		l->lowest[0] = l->on_time;
		update_replication(tp, c);
		/* The clock wraps after 72 minutes. */
		if ((__u32)now - l->hidden_until > LATENESS_PERIOD)
			l->hidden_from = l->hidden_until;
	}
	l->greatest[0] = max(l->greatest[0], late);
	/*
	 * The maximum of the samples is below that of the distribution, so an eighth is added,
	 * and 2 ms for timers and delayed ACKs. The retransmission timer must not expire before
	 * the hold.
	 */
	greatest = lateness(c);
	l->hold = greatest ? min(greatest + (greatest >> 3) + 2000, rto - (rto >> 3)) : 0;
	l->overtaken = tp->rack.mstamp;
	c->last_ack = now;
	return on_time;
}
