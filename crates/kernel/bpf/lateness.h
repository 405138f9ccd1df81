/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How late packets are, learned from packets that were sent once (Karn's rule is the kernel's). A packet is on time if none that was
 * sent after it has arrived before it; else it is late by the difference of its RTT to that of packets on time.
 */
#pragma once
#include "connection.h"
#include "reports.h"

#define PERIOD (8 * USEC_PER_SEC) /* lateness is remembered for one to two of these */

static __always_inline __u32 lateness(struct connection *c)
{
	return max(c->lateness.greatest[0], c->lateness.greatest[1]);
}

/* How long packets stand in queues, as far as RTTs tell: beyond an eighth of the lowest, which is HyStart's measure. */
static __always_inline __u32 queueing(struct connection *c)
{
	struct lateness *l = &c->lateness;
	__u32 lowest = min(l->lowest[0], l->lowest[1]), usual = lowest + clamp(lowest >> 3, 4000, 16000);

	return l->on_time > usual ? l->on_time - lowest : 0;
}

/*
 * A retransmission that a DSACK reports as a duplicate: too little was waited. Counts as one lateness, of a round trip at first and
 * more each time, once per round trip.
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

/* Learns from one ACK; true if it tells the RTT of a packet on time. */
static __always_inline bool learn(struct tcp_sock *tp, struct connection *c, int flag, long sample)
{
	struct lateness *l = &c->lateness;
	__u64 now = tp->tcp_mstamp;
	__u32 late = 0, rtt = sample, rto = rto_us(tp), greatest;
	bool on_time = false;

	/* A tail loss probe was no retransmission of ours. */
	if (reports(tp, c) && !(flag & FLAG_DSACK_TLP))
		late = lengthen(tp, c);
	if (sample > 0) {
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
	if ((__u32)now - l->period > PERIOD) {
		l->period = now;
		l->greatest[1] = l->greatest[0];
		l->greatest[0] = 0;
		l->lowest[1] = l->lowest[0];
		l->lowest[0] = l->on_time;
		forget_replicates(tp, c);
	}
	l->greatest[0] = max(l->greatest[0], late);
	/* The greatest of the sample is not that of the distribution: an eighth more, and what timers and delayed ACKs blur. Never so
	 * long that the retransmission timer expires first. */
	greatest = lateness(c);
	l->hold = greatest ? min(greatest + (greatest >> 3) + 2000, rto - (rto >> 3)) : 0;
	return on_time;
}
