/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Growth and reduction of the window by CUBIC (RFC 9438) with HyStart, as Linux computes them
 * (net/ipv4/tcp_cubic.c), on a separate window. The kernel's functions are not used for three
 * reasons. BPF programs can call them only on some architectures. They read snd_cwnd, which does
 * not include the held segments. They count HyStart's rounds by cumulative ACKs, which stop at a
 * hole.
 */
#pragma once
#include "connection.h"

#define BETA 717	/* of 1024: 0.7, RFC 9438, section 4.6 */
#define CUBE_SCALE 410	/* of 1024: C = 0.4 segments/s^3, RFC 9438, section 5 */

static __always_inline bool in_slow_start(struct connection *c) { return c->cwnd < c->ssthresh; }

/*
 * Returns the cubic root of a positive number, by Newton's method from a power of two above it.
 * Six steps are exact for roots below 2^21.
 */
static __always_inline __u32 cubic_root(__u64 a)
{
	__u64 root, rest = a;
	__u32 bits = 1;

	for (int shift = 32; shift; shift >>= 1) {
		__u32 more = (rest >> shift != 0) * shift;

		bits += more;
		rest >>= more;
	}
	root = 1ULL << ((bits + 2) / 3);
	for (int i = 0; i < 6; i++)
		root = (2 * root + a / (root * root)) / 3;
	return root;
}

/*
 * Returns ssthresh after a loss event at a window of `from` (RFC 9438, sections 4.6 and 4.7, fast
 * convergence).
 */
static __always_inline __u32 cubic_ssthresh(struct connection *c, __u32 from)
{
	struct cubic *q = &c->cubic;

	q->epoch = 0;
	q->last_max = from < q->last_max ? from * (1024 + BETA) / 2048 : from;
	return max(from * BETA / 1024, 2);
}

/* Discards CUBIC's state after a timeout (bictcp_reset). */
static __always_inline void cubic_reset(struct connection *c)
{
	__builtin_memset(&c->cubic, 0, sizeof c->cubic);
}

/* Calculates how many acknowledged segments the window needs to grow by one. */
static __always_inline void cubic_update(struct connection *c, __u32 acked)
{
	struct cubic *q = &c->cubic;
	__u32 now = jiffies(), cwnd = c->cwnd, k, delta, target;
	__u64 t, offset;

	q->acked += acked;
	if (q->window == cwnd && (__s32)(now - q->when) <= (__s32)(hz / 32))
		return;
	if (!q->epoch || now != q->when) {
		q->window = cwnd;
		q->when = now;
		if (!q->epoch) {
			q->epoch = now ? now : 1;
			q->acked = acked;
			q->reno = cwnd;
			if (q->last_max <= cwnd) {
				q->k = 0;
				q->origin = cwnd;
			} else {
				/*
				 * K = cbrt((W_max - cwnd) / C), RFC 9438, section 4.2; in s /
				 * 1024
				 */
				q->k = cubic_root((1ULL << 40) / CUBE_SCALE *
						  (q->last_max - cwnd));
				q->origin = q->last_max;
			}
		}
		t = (__u64)(now - q->epoch) * 1024 / hz +
		    (__u64)q->delay_min * 1024 / USEC_PER_SEC;
		k = q->k;
		offset = t < k ? k - t : t - k;
		if (offset > 1 << 18) /* four minutes, when the curve exceeds any window */
			offset = 1 << 18;
		/* W(t) = C (t - K)^3 + W_max, RFC 9438, equation 1 */
		delta = CUBE_SCALE * offset * offset * offset >> 40;
		target = t < k ? q->origin - min(q->origin, delta) : q->origin + delta;
		q->interval = target > cwnd ? cwnd / (target - cwnd) : 100 * cwnd;
		/* Before the first loss W_max is not known, so the window grows by 5 % per RTT. */
		if (!q->last_max && q->interval > 20)
			q->interval = 20;
	}
	/*
	 * RFC 9438, section 4.3: not slower than Reno with the same factor, 3 (1 - beta) / (1 +
	 * beta) segments per window.
	 */
	delta = max(cwnd * (1024 + BETA) / (3 * (1024 - BETA)), 1);
	q->reno += q->acked / delta;
	q->acked %= delta;
	if (q->reno > cwnd)
		q->interval = min(q->interval, cwnd / (q->reno - cwnd));
	q->interval = max(q->interval, 2);
}

/* Returns whether the window limits the sender (tcp_is_cwnd_limited). */
static __always_inline bool cwnd_limited(struct tcp_sock *tp, struct connection *c)
{
	return BPF_CORE_READ_BITFIELD(tp, is_cwnd_limited) ||
	       (in_slow_start(c) && c->cwnd < 2 * tp->max_packets_out);
}

static __always_inline void grow(struct tcp_sock *tp, struct connection *c, __u32 acked)
{
	struct cubic *q = &c->cubic;

	if (!cwnd_limited(tp, c))
		return;
	if (in_slow_start(c)) {
		__u32 to = min(c->cwnd + acked, c->ssthresh);

		acked -= to - c->cwnd;
		c->cwnd = min(to, tp->snd_cwnd_clamp); /* a route may limit it */
		if (!acked)
			return;
	}
	cubic_update(c, acked);
	/* tcp_cong_avoid_ai */
	if (q->credit >= q->interval) {
		q->credit = 0;
		c->cwnd++;
	}
	q->credit += acked;
	if (q->credit >= q->interval) {
		__u32 more = q->credit / q->interval;

		q->credit -= more * q->interval;
		c->cwnd += more;
	}
	c->cwnd = min(c->cwnd, tp->snd_cwnd_clamp);
}

/*
 * Implements HyStart: leaves slow start when ACKs have arrived in one train for half the lowest
 * RTT, or when the delay rises. A round ends when a packet that was sent in it is delivered.
 * `rtt` is the RTT of a packet that was not overtaken.
 */
static __always_inline void hystart(struct sock *sk, struct connection *c, __u32 rtt)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct cubic *q = &c->cubic;
	__u32 now = tp->tcp_mstamp;

	/* RTTs shortly after a reduction include the queue that caused it. */
	if (!in_slow_start(c) && q->epoch && (__s32)(jiffies() - q->epoch) < (__s32)hz)
		return;
	if (!q->delay_min || rtt < q->delay_min)
		q->delay_min = max(rtt, 1);
	if (q->left || !in_slow_start(c) || c->cwnd < 16)
		return;
	if (!q->round || !before(now - rtt, q->round)) {
		q->round = q->last_ack = now;
		q->round_rtt = ~0U;
		q->samples = 0;
	}
	if ((__s32)(now - q->last_ack) <= 2000) {
		__u32 train = q->delay_min;
		__u64 rate = sk->sk_pacing_rate;

		q->last_ack = now;
		if (rate)
			train += min(1000, (__u64)sk->sk_gso_max_size * 4 * USEC_PER_SEC / rate);
		if (!sk->sk_pacing_status)
			train >>= 1;
		if ((__s32)(now - q->round) > (__s32)train)
			q->left = 1;
	}
	q->round_rtt = min(q->round_rtt, rtt);
	if (q->samples < 8) {
		q->samples++;
	} else if (q->round_rtt > q->delay_min + clamp(q->delay_min >> 3, 4000, 16000)) {
		q->left = 1;
	} else if (c->lateness.hold) {
		/*
		 * If half of the packets are late, the queue grows far more in a round than
		 * without reordering. So the test is repeated within a round.
		 */
		q->round_rtt = ~0U;
		q->samples = 0;
	}
	if (q->left)
		c->ssthresh = c->cwnd;
}

/*
 * Reduces the window after a pause (RFC 7661, section 4, as tcp_cwnd_restart): by half for each
 * RTO without data, down to the initial window. A window that is only partly used does not grow,
 * but is not reduced either: under CUBIC, Linux validates it only after an RTO without an ACK.
 */
static __always_inline void restart_after_idle(struct tcp_sock *tp, struct connection *c)
{
	struct sock *sk = (struct sock *)tp;
	__u32 now = jiffies(), rto = tp->inet_conn.icsk_rto;
	__u32 floor = min(c->cwnd, TCP_INIT_CWND);
	__s32 idle = now - tp->lsndtime;

	/* Time without data does not count for the curve (bictcp_cwnd_event). */
	if (c->cubic.epoch && idle > 0) {
		c->cubic.epoch += idle;
		if (before(now, c->cubic.epoch))
			c->cubic.epoch = now;
	}
	/* With packets in flight there is no pause (tcp_slow_start_after_idle_check). */
	if (!rto || idle <= (__s32)rto || tp->packets_out)
		return;
	if (!BPF_CORE_READ(sk, __sk_common.skc_net.net, ipv4.sysctl_tcp_slow_start_after_idle))
		return;
	c->ssthresh = max(c->ssthresh, c->cwnd - (c->cwnd >> 2));
	idle = idle / rto;
	c->cwnd = idle > 16 ? floor : max(c->cwnd >> idle, floor);
}
