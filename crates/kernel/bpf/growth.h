/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Growth and reduction of the window, by CUBIC or by BBR, and the adaptation of windows to another
 * segment size.
 */
#pragma once
#include "bbr.h"
#include "connection.h"
#include "cubic.h"

/* Reduces the window for a loss event. `from` is the window at the time of the losses. */
static __always_inline void reduce_window(struct tcp_sock *tp, struct connection *c, __u32 from)
{
	if (grows_by_bbr()) {
		conserve_packets(tp, c);
		return;
	}
	c->ssthresh = cubic_ssthresh(c, from);
	c->cwnd = min(c->cwnd, c->ssthresh);
	tp->snd_ssthresh = c->ssthresh;
}

/* Undoes a reduction. The arguments are the state to restore under CUBIC. */
static __always_inline void restore_window(struct tcp_sock *tp, struct connection *c, __u32 window,
					   __u32 ssthresh, __u32 last_max)
{
	if (grows_by_bbr()) {
		undo_conservation(tp, c);
		return;
	}
	c->cwnd = max(c->cwnd, window);
	/* If HyStart has left slow start, it does not begin again. */
	c->ssthresh = max(c->ssthresh, c->cubic.left ? min(ssthresh, c->cwnd) : ssthresh);
	/* RFC 9438, section 4.9: W_max is restored, too. The curve restarts at this window. */
	c->cubic.last_max = last_max;
	c->cubic.epoch = 0;
}

static __always_inline __u32 rescaled(__u32 window, __u32 from, __u32 to)
{
	return window < 1 << 30 ? (__u64)window * from / to : window;
}

/*
 * Adapts the windows to another segment size. If a probe found that the path carries larger
 * segments, the windows stay the same in octets (tcp_mtup_probe_success). If the path carries
 * only smaller ones, or if a route or the peer's window allows larger ones, they stay the same in
 * segments, as in the kernel.
 */
static __noinline void follow_segments(struct tcp_sock *tp, struct connection *c)
{
	__u32 from = c->mss, to = tp->mss_cache;
	__u32 probed = tp->inet_conn.icsk_mtup.search_low;
	bool found = probed > c->probed;

	c->mss = to;
	c->probed = probed;
	if (!from || to <= from || !found)
		return;
	c->cwnd = max(rescaled(c->cwnd, from, to), 2);
	c->bbr.cwnd = max(rescaled(c->bbr.cwnd, from, to), 4);
	c->ssthresh = max(rescaled(c->ssthresh, from, to), 2);
	c->rto_cwnd = rescaled(c->rto_cwnd, from, to);
	c->rto_ssthresh = rescaled(c->rto_ssthresh, from, to);
	c->cubic.last_max = rescaled(c->cubic.last_max, from, to);
	c->cubic.epoch = 0;
	for (__u32 i = 0; i < MOMENTS; i++)
		c->rings.moment[i].window = rescaled(c->rings.moment[i].window, from, to);
	for (__u32 i = 0; i < EVENTS; i++) {
		struct event *e = &c->rings.event[i];

		e->window = rescaled(e->window, from, to);
		e->ssthresh = rescaled(e->ssthresh, from, to);
		e->last_max = rescaled(e->last_max, from, to);
	}
	for (__u32 i = 0; i < CANARIES; i++)
		c->rings.canary[i].window = rescaled(c->rings.canary[i].window, from, to);
}
