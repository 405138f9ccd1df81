/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The lateness of packets, measured on packets that were sent once (the kernel applies Karn's
 * rule). A packet is on time if no packet that was sent after it arrived before it. Otherwise its
 * lateness is the difference between its RTT and that of packets on time.
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

/* Updates the lateness from one ACK. Returns whether `sample` is the RTT of a packet on time. */
static __always_inline bool update_lateness(struct tcp_sock *tp, struct connection *c, int flag,
					    long sample)
{
	struct lateness *l = &c->lateness;
	__u64 now = tp->tcp_mstamp;
	__u32 late = 0, rtt = sample, rto = rto_us(tp), greatest;
	bool on_time = false;

	/* Duplicates of tail loss probes do not count. */
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
	if ((__u32)now - l->period > LATENESS_PERIOD) {
		l->period = now;
		l->greatest[1] = l->greatest[0];
		l->greatest[0] = 0;
		l->lowest[1] = l->lowest[0];
		l->lowest[0] = l->on_time;
		update_replication(tp, c);
	}
	l->greatest[0] = max(l->greatest[0], late);
	/*
	 * The maximum of the samples is below that of the distribution, so an eighth is added,
	 * and 2 ms for timers and delayed ACKs. The retransmission timer must not expire before
	 * the hold.
	 */
	greatest = lateness(c);
	l->hold = greatest ? min(greatest + (greatest >> 3) + 2000, rto - (rto >> 3)) : 0;
	return on_time;
}
