/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Growth by the kernel's own BBR (net/ipv4/tcp_bbr.c, version 1), called by its kfuncs. Its state
 * is in icsk_ca_priv, as under the kernel's own registration. While packets are held, BBR's inputs
 * differ from the kernel's:
 *
 * - Losses are retransmissions that no DSACK reported, and not marks of packets that are late.
 * - Only packets on time give round-trip times. BBR's minimum may otherwise become that of a late
 *   packet when the previous minimum expires.
 * - BBR's window excludes the room for late packets, which is added after BBR has set its window.
 * - Packet conservation begins with a loss event, and not with the state Recovery, which lasts as
 *   long as packets are late.
 *
 * Without reordering nothing is held, and all inputs are the kernel's.
 */
#pragma once
#include "connection.h"
#include "hold.h"
#include "lateness.h"
#include "reports.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct minmax_sample {
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct bbr {
	__u32 min_rtt_us, min_rtt_stamp; /* jiffies */
	struct minmax bw; /* segments per us, times 2^24 */
	__u32 mode : 3, prev_ca_state : 3, lt_use_bw : 1, full_bw_reached : 1;
	__u32 lt_bw; /* as `bw`, of a policer */
	__u32 lt_last_lost;
};

#pragma clang attribute pop

enum { BBR_PROBE_RTT = 3, BBR_BW_SCALE = 24 };

/*
 * The kfuncs are weak, because not every kernel has them. The verifier removes the calls where
 * `growth` excludes them.
 */
extern void bbr_init(struct sock *sk) __ksym __weak;
extern void bbr_main(struct sock *sk, __u32 ack, int flag,
		     const struct rate_sample *rs) __ksym __weak;
/* Before Linux 6.10. libbpf ignores the suffix, and the prototype that does not match. */
extern void bbr_main___2(struct sock *sk, const struct rate_sample *rs) __ksym __weak;
extern void bbr_cwnd_event(struct sock *sk, enum tcp_ca_event event) __ksym __weak;
/* Since Linux 7.1, in place of the previous one. */
extern void bbr_cwnd_event_tx_start(struct sock *sk) __ksym __weak;
extern void bbr_set_state(struct sock *sk, __u8 new_state) __ksym __weak;
extern __u32 bbr_ssthresh(struct sock *sk) __ksym __weak;
extern __u32 bbr_undo_cwnd(struct sock *sk) __ksym __weak;
extern __u32 bbr_min_tso_segs(struct sock *sk) __ksym __weak;
extern __u32 bbr_sndbuf_expand(struct sock *sk) __ksym __weak;

static __always_inline struct bbr *bbr_of(struct tcp_sock *tp)
{
	return (struct bbr *)tp->inet_conn.icsk_ca_priv;
}

/*
 * Sets snd_cwnd to BBR's window before a call of BBR, and returns the former value, which the
 * caller restores.
 */
static __always_inline __u32 show_bbr_its_window(struct tcp_sock *tp, struct connection *c)
{
	__u32 shown = tp->snd_cwnd;

	barrier_var(shown);
	tp->snd_cwnd = c->bbr.cwnd;
	return shown;
}

/* Adopts the window that BBR has set between two ACKs. */
static __always_inline void follow_bbr_window(struct tcp_sock *tp, struct connection *c)
{
	__u32 window = tp->snd_cwnd;

	barrier_var(window);
	c->bbr.cwnd = window;
	c->cwnd = max(c->cwnd, window);
}

/* Saves BBR's window on entering Recovery, CWR and Loss. */
static __always_inline void save_bbr_window(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 shown = show_bbr_its_window(tp, c);

	bbr_ssthresh(sk);
	tp->snd_cwnd = shown;
}

/*
 * Switches pacing on or off. The kernel's timer for pacing also delays a canary, and an ACK may
 * then clear the mark of a lost packet, which RACK does not mark again. So a canary is not paced.
 * The queueing discipline fq paces on its own.
 */
static __always_inline void set_paced(struct sock *sk, bool paced)
{
	__u32 status = sk->sk_pacing_status;
	__u32 next = paced ? SK_PACING_NEEDED : SK_PACING_NONE;

	if (status != SK_PACING_FQ && status != next)
		sk->sk_pacing_status = next;
}

/*
 * Bounds snd_cwnd to twice what one call of tcp_write_xmit() sends under the kernel's pacing, which
 * is one TSO segment of about a millisecond. Otherwise a segment of half a window is sent about
 * once a second: seen on Linux 6.18, and not under the kernel's own BBR.
 */
static __always_inline void bound_burst(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 shown = tp->snd_cwnd, bound;
	__u64 per_ms = sk->sk_pacing_rate >> 10;

	barrier_var(shown);
	if (sk->sk_pacing_status == SK_PACING_FQ || !tp->mss_cache)
		return;
	bound = in_flight(tp) + max(2 * per_ms / tp->mss_cache, TCP_INIT_CWND);
	if (shown > bound)
		tp->snd_cwnd = bound;
}

/* Returns the number of segments lost so far, as far as retransmissions and DSACKs show it. */
static __always_inline __u32 losses(struct tcp_sock *tp, struct connection *c)
{
	return made(tp, c) + c->canaries.lost - c->canaries.refuted;
}

/* Returns whether the state is Loss because of an outage, not because of a late packet. */
static __always_inline bool has_timed_out(struct tcp_sock *tp, struct connection *c)
{
	return ca_state(tp) == TCP_CA_Loss && !c->path_alive;
}

/*
 * Begins packet conservation for a loss event. BBR conserves packets by itself when nothing is
 * held. It would count held packets as delivered.
 */
static __always_inline void conserve_packets(struct tcp_sock *tp, struct connection *c)
{
	__u32 outstanding = tp->packets_out - tp->sacked_out;

	if (!c->lateness.hold || c->bbr.conserved)
		return;
	c->bbr.conserved = max(outstanding, 1);
	c->bbr.conserved_from = tp->delivered;
}

/* Handles a loss event that proved spurious. BBR resumes its search for the bandwidth. */
static __always_inline void undo_conservation(struct tcp_sock *tp, struct connection *c)
{
	c->bbr.conserved = 0;
	bbr_undo_cwnd((struct sock *)tp);
}

/*
 * Returns the window that packet conservation allows out of `window`. For a round trip, one segment
 * is sent for each that is delivered. Afterwards the window grows by each that is delivered.
 */
static __always_inline __u32 conserved_window(struct tcp_sock *tp, struct connection *c,
					      __u32 window, __u32 acked, __u32 prior_delivered)
{
	struct beside_bbr *b = &c->bbr;

	if (!b->conserved)
		return window;
	if (before(prior_delivered, b->conserved_from)) {
		b->conserved = max(b->conserved, in_flight(tp) + c->hold.held + acked);
	} else {
		b->conserved += acked;
		if (b->conserved >= window)
			b->conserved = 0;
	}
	return b->conserved ? min(window, b->conserved) : window;
}

/* Returns whether the receive window has no room for another segment. */
static __always_inline bool fills_receive_window(struct tcp_sock *tp)
{
	return tp->snd_una + tp->snd_wnd - tp->snd_nxt < tp->mss_cache;
}

/*
 * Returns whether a sample is limited by the application or by the receive window. The kernel does
 * not mark packets that are sent while others are deemed lost and wait
 * (tcp_rate_check_app_limited), nor those that the receive window limits. A receiver has a small
 * window at first, and late packets fill it: BBR would leave STARTUP at a part of the bandwidth.
 */
static __always_inline bool is_limited_elsewhere(struct sock *sk, struct connection *c,
						      __u32 prior_delivered)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct beside_bbr *b = &c->bbr;
	__u32 outstanding = in_flight(tp) + c->hold.held, delivered = tp->delivered;

	if (outstanding < c->cwnd && (fills_receive_window(tp) || (missing(tp) && at_end(sk)))) {
		if (b->idle_from == b->idle_until || before(b->idle_until, delivered))
			b->idle_from = delivered;
		b->idle_until = delivered + outstanding + 1;
	}
	return prior_delivered - b->idle_from < b->idle_until - b->idle_from;
}

/* A copy of a struct rate_sample, of the size that the kernel's has. */
struct sample {
	__u64 words[16];
};

#define FIELD_OF_COPY(copy, type, field)                                                           \
	(*(type *)((void *)(copy) + bpf_core_field_offset(struct rate_sample, field)))

/* Returns the segments that leave while the latest packet is on its way. */
static __always_inline __u32 room_for_late(struct tcp_sock *tp, struct connection *c)
{
	struct bbr *b = bbr_of(tp);
	__u64 bw = BPF_CORE_READ_BITFIELD(b, lt_use_bw) ? b->lt_bw : b->bw.s[0].v;

	/* In its startup BBR has a window of 2.9 BDP, so only held segments are added. */
	if (!BPF_CORE_READ_BITFIELD(b, full_bw_reached))
		return c->hold.held;
	return bw * c->lateness.hold >> BBR_BW_SCALE;
}

/*
 * Prevents PROBE_RTT where it would show nothing new. An RTT within 1/32 of the minimum shows an
 * empty queue. Time without ACKs does not count, since an outage fills no queue.
 */
static __always_inline void renew_min_rtt(struct tcp_sock *tp, struct connection *c, long rtt,
					  __u32 silence)
{
	struct bbr *b = bbr_of(tp);
	__u32 min_rtt = b->min_rtt_us, stamp = b->min_rtt_stamp;

	if (c->lateness.hold && rtt > 0 && rtt <= min_rtt + (min_rtt >> 5))
		b->min_rtt_stamp = jiffies();
	else if (silence)
		b->min_rtt_stamp = stamp + (__u64)silence * hz / USEC_PER_SEC;
}

/*
 * Updates BBR and the window from one ACK. `on_time`: `rs` has the RTT of a packet on time.
 * `silence`: the time without ACKs, if the timer has expired in it.
 */
static __noinline int bbr_ack(struct sock *sk, struct connection *c, const struct rate_sample *rs,
			      bool on_time, __u32 silence)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct bbr *b = bbr_of(tp);
	struct sample copy;
	__u32 lost, known, newly, window, acked, prior_delivered, sent;
	bool waits, timed_out;
	__u8 state;

	if (!c || !rs)
		return 0;
	bpf_probe_read_kernel(&copy, bpf_core_type_size(struct rate_sample), rs);
	acked = rs->acked_sacked;
	prior_delivered = rs->prior_delivered;
	state = ca_state(tp);
	timed_out = has_timed_out(tp, c);
	waits = c->lateness.hold && !timed_out;
	lost = tp->lost;
	barrier_var(lost);
	known = losses(tp, c);
	newly = known - c->bbr.losses;
	sent = (__u32)tp->tcp_mstamp - (__u32)rs->rtt_us;
	if (!on_time && (waits || is_hidden(&c->lateness, sent)))
		FIELD_OF_COPY(&copy, long, rtt_us) = -1;
	if (waits) {
		FIELD_OF_COPY(&copy, int, losses) = (__s32)newly > 0 ? newly : 0;
		if (is_limited_elsewhere(sk, c, prior_delivered))
			FIELD_OF_COPY(&copy, bool, is_app_limited) = true;
		/* BBR takes the difference of tp->lost for what a policer drops. */
		b->lt_last_lost += lost - c->bbr.lost - newly;
		if (state >= TCP_CA_Recovery)
			BPF_CORE_WRITE_BITFIELD(b, prev_ca_state, state);
	}
	c->bbr.lost = lost;
	c->bbr.losses = known;
	renew_min_rtt(tp, c, on_time ? rs->rtt_us : -1, silence);
	set_paced(sk, true);
	show_bbr_its_window(tp, c);
	if (cong_control_arguments == 2)
		bbr_main___2(sk, (struct rate_sample *)&copy);
	else
		bbr_main(sk, 0, 0, (struct rate_sample *)&copy);
	window = tp->snd_cwnd;
	barrier_var(window);
	c->bbr.cwnd = window;
	if (waits && BPF_CORE_READ_BITFIELD(b, mode) != BBR_PROBE_RTT)
		window += room_for_late(tp, c);
	if (timed_out || !c->lateness.hold)
		c->bbr.conserved = 0;
	window = conserved_window(tp, c, window, acked, prior_delivered);
	c->cwnd = min(window, tp->snd_cwnd_clamp);
	return 0;
}

/* Prepares BBR for the recovery from a timeout. `window` is the kernel's. */
static __always_inline void bbr_timeout(struct sock *sk, struct connection *c, __u32 window)
{
	c->bbr.conserved = 0;
	c->bbr.cwnd = max(window, 1);
	bbr_set_state(sk, TCP_CA_Loss);
}
