/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unruffled and unruffled_bbr: congestion controls for Linux that distinguish late packets from
 * lost ones. They differ in the growth of the window. This file contains the callbacks, in the
 * order in which an ACK reaches them. The headers contain the algorithm.
 */
#include "linux.h"
#include "connection.h"
#include "lateness.h"
#include "growth.h"
#include "history.h"
#include "hold.h"
#include "verdict.h"
#include "timeout.h"
#include "totals.h"

char _license[] SEC("license") = "Dual MIT/GPL";

SEC("struct_ops")
void BPF_PROG(unruffled_init, struct sock *sk)
{
	struct connection *c;

	/* Discard the state of an earlier connection of this socket. */
	bpf_sk_storage_delete(&unruffled_conns, sk);
	if (grows_by_bbr())
		bbr_init(sk);
	c = bpf_sk_storage_get(&unruffled_conns, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!c)
		return;
	c->growth = growth;
	connection(sk);
}

/*
 * Called before cong_control. Before Linux 6.10 only this callback reports ECE; on later kernels
 * the loader removes it.
 */
SEC("struct_ops")
void BPF_PROG(unruffled_in_ack, struct sock *sk, __u32 flags)
{
	struct connection *c = connection(sk);

	if (c)
		c->ece = !!(flags & CA_ACK_ECE);
}

/* Called on entering Recovery, CWR and Loss. The window is reduced elsewhere. */
SEC("struct_ops")
__u32 BPF_PROG(unruffled_ssthresh, struct sock *sk)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 ssthresh = tp->snd_ssthresh;
	__u64 clock = tp->tcp_clock_cache;

	/* The verifier rejects a load whose address may be in the map or in the kernel. */
	barrier_var(ssthresh);
	barrier_var(clock);
	if (!c)
		return ssthresh;
	c->hold.clock = clock;
	if (grows_by_bbr()) {
		save_bbr_window(sk, c);
		return ssthresh;
	}
	return c->ssthresh;
}

/* Called when another congestion control takes over, or the connection ends. */
SEC("struct_ops")
void BPF_PROG(unruffled_release, struct sock *sk)
{
	struct connection *c = bpf_sk_storage_get(&unruffled_conns, sk, 0, 0);

	/* Nothing is held back any more, so the kernel gets the whole window. */
	if (c && c->cwnd)
		tcp_sk(sk)->snd_cwnd = c->cwnd;
	if (c)
		add_to_totals(tcp_sk(sk), c);
	/*
	 * A disconnected socket enters state Open next, where TCP_RTO_MAX_MS is restored. That is
	 * not possible here.
	 */
	if (!c || !c->rto_max_ms || sk->__sk_common.skc_state != TCP_CLOSE)
		bpf_sk_storage_delete(&unruffled_conns, sk);
}

/* Sets snd_cwnd for new data. */
static __always_inline void show(struct sock *sk, struct connection *c)
{
	show_window(tcp_sk(sk), c);
	if (grows_by_bbr())
		bound_burst(sk);
}

SEC("struct_ops")
void BPF_PROG(unruffled_set_state, struct sock *sk, __u8 state)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c)
		return;
	c->hold.walk.oldest_known = 0;
	if (state == TCP_CA_Loss) {
		if (were_resegmented(tp))
			c->path_alive = c->hold.held = c->hold.silent = 0;
		else
			timeout(sk, c);
		return;
	}
	c->rto_cwnd = c->path_alive = 0;
	if (c->rto_max_ms)
		restore_rto_max(sk, c);
	/* BBR does not respond to ECN marks. */
	if (state == TCP_CA_CWR && uncovered(tp, c) && !grows_by_bbr())
		reduce_at_once(tp, c);
	if (state == TCP_CA_Recovery && !c->lateness.hold)
		suspect_now(tp, c);
	/* unruffled_segs() relies on it. */
	if (state == TCP_CA_Open && !grows_by_bbr())
		show(sk, c);
}

/*
 * Called when the kernel finds that a timeout was spurious (F-RTO, Eifel), or that a recovery was,
 * which counts only if the peer sends no DSACKs.
 */
SEC("struct_ops")
__u32 BPF_PROG(unruffled_undo, struct sock *sk)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct verdict *v;
	__u32 window = tp->snd_cwnd;

	barrier_var(window);
	if (!c)
		return window;
	v = &c->verdict;
	if (ca_state(tp) == TCP_CA_Loss && c->rto_cwnd) {
		undo_timeout(tp, c);
	} else if (reduced(c) && tp->undo_retrans >= 0 &&
		   !(BPF_CORE_READ_BITFIELD(tp, rx_opt.sack_ok) & DSACK_SEEN)) {
		c->counters.spurious++;
		restore(tp, c, v->next - 1);
		v->next--;
	}
	return max(c->cwnd, 2);
}

/*
 * Handles a transmission when nothing is in flight. `has_callback`: the kernel has a callback for
 * this event alone.
 */
static __always_inline void start(struct sock *sk, bool has_callback)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c)
		return;
	if (!tp->packets_out)
		begin_flight(tp, c);
	if (grows_by_bbr()) {
		show_bbr_its_window(tp, c);
		if (has_callback)
			bbr_cwnd_event_tx_start(sk);
		else
			bbr_cwnd_event(sk, CA_EVENT_TX_START);
		follow_bbr_window(tp, c);
	} else {
		restart_after_idle(tp, c);
	}
	show(sk, c);
}

SEC("struct_ops")
void BPF_PROG(unruffled_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		start(sk, false);
}

/* The loader removes either this or unruffled_event. */
SEC("struct_ops")
void BPF_PROG(unruffled_start, struct sock *sk)
{
	start(sk, true);
}

/*
 * Handles an ACK, after the kernel has marked acknowledged segments and those that it deems lost.
 */
static __noinline int control(struct sock *sk, int flag, const struct rate_sample *rs)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u8 state;
	__u32 acked;
	bool on_time, in_reduction, many_missing, conserving;
	__u32 silence;

	if (!c || !rs)
		return 0;
	state = ca_state(tp);
	acked = rs->acked_sacked;
	silence = c->lateness.outage ? (__u32)tp->tcp_mstamp - c->last_ack : 0;
	c->hold.clock = tp->tcp_clock_cache;
	if (c->rto_max_ms)
		restore_rto_max(sk, c);
	if (tp->mss_cache != c->mss)
		follow_segments(tp, c);

	on_time = update_lateness(tp, c, flag, rs->rtt_us);
	if (on_time && !grows_by_bbr())
		hystart(sk, c, rs->rtt_us);
	watch_head(tp, c);
	judge(tp, c);
	if (grows_by_bbr()) {
		bbr_ack(sk, c, rs, on_time, silence);
		record_window(tp, c);
		show(sk, c);
		return 0;
	}
	/* RFC 3168, section 6.1.2: one reduction per window. */
	if ((flag & FLAG_ECE) && state != TCP_CA_CWR && uncovered(tp, c)) {
		reduce_at_once(tp, c);
		confirm_ece(tp);
	}

	/*
	 * The window does not grow in the round trip of a reduction. In slow start it does not
	 * grow while many segments are missing, except after a timeout, which marks all of them
	 * lost.
	 */
	in_reduction = !uncovered(tp, c) &&
		       (state == TCP_CA_CWR || (state >= TCP_CA_Recovery && reduced(c)));
	many_missing = in_slow_start(c) && missing(tp) > c->cwnd / 4 &&
		       (state != TCP_CA_Loss || c->path_alive);
	if (acked && (flag & FLAG_FORWARD_PROGRESS) && !in_reduction && !growth_is_stopped(tp, c) &&
	    !many_missing)
		grow(tp, c, acked);
	record_window(tp, c);

	/*
	 * After a reduction, and while the window from before a timeout is restored, one segment
	 * is sent for each that arrived, plus one (RFC 6937, section 3, SSRB). The first ACK after
	 * an outage may cover many segments, so their number is bounded.
	 */
	if (is_restoring(tp, c))
		acked = min(acked, TCP_INIT_CWND);
	conserving = c->restoring ||
		     (in_reduction && state >= TCP_CA_Recovery && !in_slow_start(c));
	c->hold.ceiling = conserving ? in_flight(tp) + acked + 1 : 0;
	tp->snd_ssthresh = c->ssthresh;
	show(sk, c);
	pace(sk, c);
	return 0;
}

SEC("struct_ops")
void unruffled_control(__u64 *arguments)
{
	struct sock *sk = (void *)arguments[0];
	const struct rate_sample *rs;
	struct connection *c;
	int flag;

	if (cong_control_arguments == 2) {
		c = connection(sk);
		flag = FLAG_FORWARD_PROGRESS | (c && c->ece ? FLAG_ECE : 0);
		rs = (void *)arguments[1];
		barrier_var(rs);
		control(sk, flag, rs);
	} else {
		flag = arguments[2];
		rs = (void *)arguments[3];
		barrier_var(rs);
		control(sk, flag, rs);
	}
}

/* Called at the start of tcp_xmit_retransmit_queue() and of tcp_write_xmit(). */
SEC("struct_ops")
__u32 BPF_PROG(unruffled_segs, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	bool recovering, resending, canary = false;
	struct connection *c;
	__u32 n;
	__u8 state;

	/* In state Open nothing is held, and snd_cwnd is what the last ACK or start() set. */
	if (!grows_by_bbr() && ca_state(tp) == TCP_CA_Open)
		return 2;
	c = connection(sk);
	if (!c)
		return 2;
	/* The application has closed the connection. */
	if (c->rto_max_ms && !may_bound(sk))
		restore_rto_max(sk, c);
	state = ca_state(tp);
	recovering = state == TCP_CA_Recovery || (state == TCP_CA_Loss && c->path_alive);
	/*
	 * Determine which of the two functions is the caller. While an ACK is handled, the clock
	 * shows it, because tcp_write_xmit() sets the clock. Elsewhere (pacing, small queues,
	 * RACK's timer) the kernel retransmits only if snd_cwnd leaves room, and show_window()
	 * leaves none. So room means a retransmission.
	 */
	resending = tp->tcp_clock_cache == c->hold.clock || tp->snd_cwnd > in_flight(tp);
	if (recovering && missing(tp) && resending) {
		withdraw_canary(tp, c);
		n = overdue(sk, c);
		c->hold.held = missing(tp) - n;
		if (c->hold.walk.found)
			suspect(tp, c, c->hold.walk.seq, c->hold.walk.sent, n);
		canary = !n && needs_canary(tp);
		if (canary)
			send_canary(tp, c);
		else
			release(tp, c, n);
	} else if (state != TCP_CA_Loss || c->path_alive) {
		show(sk, c);
	}
	if (!grows_by_bbr())
		return 2; /* the kernel's default */
	set_paced(sk, !canary);
	return bbr_min_tso_segs(sk);
}

SEC("struct_ops")
__u32 BPF_PROG(unruffled_sndbuf, struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct connection *c = saw_reordering(tp) ? connection(sk) : 0;
	__u32 windows = c ? buffer_windows(tp, c) : 2;

	return grows_by_bbr() ? max(windows, bbr_sndbuf_expand(sk)) : windows;
}

/*
 * Any program may choose them, and any network namespace may have one as its default, because they
 * take no more than their share of a path.
 */
#define CONGESTION_CONTROL(variable, its_name)                                                     \
	SEC(".struct_ops.link")                                                                    \
	struct tcp_congestion_ops variable = {                                                     \
		.init = (void *)unruffled_init,                                                    \
		.release = (void *)unruffled_release,                                              \
		.in_ack_event = (void *)unruffled_in_ack,                                          \
		.ssthresh = (void *)unruffled_ssthresh,                                            \
		.set_state = (void *)unruffled_set_state,                                          \
		.undo_cwnd = (void *)unruffled_undo,                                               \
		.cwnd_event = (void *)unruffled_event,                                             \
		.cwnd_event_tx_start = (void *)unruffled_start,                                    \
		.cong_control = (void *)unruffled_control,                                         \
		.sndbuf_expand = (void *)unruffled_sndbuf,                                         \
		.min_tso_segs = (void *)unruffled_segs,                                            \
		.flags = TCP_CONG_NON_RESTRICTED,                                                  \
		.name = its_name,                                                                  \
	}

/* The loader creates one of them, and sets `growth` accordingly. */
CONGESTION_CONTROL(unruffled, "unruffled");
CONGESTION_CONTROL(unruffled_bbr, "unruffled_bbr");
