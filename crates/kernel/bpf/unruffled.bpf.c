/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * unruffled: a congestion control for Linux that tells late packets from lost ones. What the kernel asks of a congestion control,
 * in the order of an ACK's way; how it works is in the parts.
 */
#include "linux.h"
#include "connection.h"
#include "lateness.h"
#include "growth.h"
#include "history.h"
#include "hold.h"
#include "verdict.h"
#include "timeout.h"

char _license[] SEC("license") = "Dual MIT/GPL";

SEC("struct_ops")
void BPF_PROG(unruffled_init, struct sock *sk)
{
	struct connection *c = bpf_sk_storage_get(&unruffled_conns, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!c)
		return;
	/* What this one left behind before. */
	__builtin_memset(c, 0, sizeof *c);
	connection(sk);
}

/* Called before cong_control; the only way to hear of ECE before Linux 6.10. The loader takes it out where there is another. */
SEC("struct_ops")
void BPF_PROG(unruffled_in_ack, struct sock *sk, __u32 flags)
{
	struct connection *c = connection(sk);

	if (c)
		c->ece = !!(flags & CA_ACK_ECE);
}

/* Called on entering Recovery, CWR and Loss; the window is cut elsewhere. */
SEC("struct_ops")
__u32 BPF_PROG(unruffled_ssthresh, struct sock *sk)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 ssthresh = tp->snd_ssthresh;
	__u64 clock = tp->tcp_clock_cache;

	/* The verifier takes no load that may be of the map's memory or of the kernel's. */
	barrier_var(ssthresh);
	barrier_var(clock);
	if (!c)
		return ssthresh;
	c->hold.clock = clock;
	return c->ssthresh;
}

/* Another congestion control takes over, or the connection ends. */
SEC("struct_ops")
void BPF_PROG(unruffled_release, struct sock *sk)
{
	struct connection *c = bpf_sk_storage_get(&unruffled_conns, sk, 0, 0);

	/* What is held back is no longer; the window is. */
	if (c && c->cwnd)
		tcp_sk(sk)->snd_cwnd = c->cwnd;
	/* A socket that is disconnected enters state Open next, where it gets back what may not be given back here. */
	if (!c || !c->rto_most || sk->__sk_common.skc_state != TCP_CLOSE)
		bpf_sk_storage_delete(&unruffled_conns, sk);
}

SEC("struct_ops")
void BPF_PROG(unruffled_set_state, struct sock *sk, __u8 state)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c)
		return;
	if (state == TCP_CA_Loss) {
		if (were_too_big(tp))
			c->gentle = c->hold.held = c->hold.silent = 0;
		else
			timeout(sk, c);
		return;
	}
	c->rto_cwnd = c->gentle = 0;
	if (c->rto_most)
		unbound_rto(sk, c);
	if (state == TCP_CA_CWR && uncovered(tp, c))
		reduce_at_once(tp, c);
	if (state == TCP_CA_Recovery && !c->lateness.hold)
		suspect_now(tp, c);
}

/* The kernel found that a timeout (F-RTO, Eifel) or, from a peer without DSACK, a recovery was spurious. */
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
	} else if (reduced(v) && tp->undo_retrans >= 0 &&
		   !(BPF_CORE_READ_BITFIELD(tp, rx_opt.sack_ok) & DSACK_SEEN)) {
		c->counters.spurious++;
		restore(tp, c, v->next - 1);
		v->next--;
	}
	return max(c->cwnd, 2);
}

/* Something is sent, and nothing was in flight. */
static __always_inline void start(struct sock *sk)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (!c)
		return;
	if (!tp->packets_out)
		begin_flight(tp, c);
	restart_after_idle(tp, c);
	show_window(tp, c);
}

SEC("struct_ops")
void BPF_PROG(unruffled_event, struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_TX_START)
		start(sk);
}

/* The loader takes out this or unruffled_event. */
SEC("struct_ops")
void BPF_PROG(unruffled_start, struct sock *sk)
{
	start(sk);
}

/* One ACK, after the kernel has marked what it acknowledges and what it deems lost. */
static __noinline int control(struct sock *sk, int flag, const struct rate_sample *rs)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__u8 state;
	__u32 acked;
	bool answering, settling, conserving;

	if (!c || !rs)
		return 0;
	state = ca_state(tp);
	acked = rs->acked_sacked;
	c->last_ack = tp->tcp_mstamp;
	c->hold.clock = tp->tcp_clock_cache;
	if (c->rto_most)
		unbound_rto(sk, c);
	if (tp->mss_cache != c->mss)
		follow_segments(tp, c);

	if (learn(tp, c, flag, rs->rtt_us))
		hystart(sk, c, rs->rtt_us);
	watch_head(tp, c);
	judge(tp, c);
	/* RFC 3168, section 6.1.2. */
	if ((flag & FLAG_ECE) && state != TCP_CA_CWR && uncovered(tp, c)) {
		reduce_at_once(tp, c);
		answer_echo(tp);
	}

	/* No growth in the round trip of a cut, and in slow start none while much is missing, unless a timeout has said all. */
	answering = !uncovered(tp, c) && (state == TCP_CA_CWR || (state >= TCP_CA_Recovery && reduced(&c->verdict)));
	settling = in_slow_start(c) && missing(tp) > c->cwnd / 4 && (state != TCP_CA_Loss || c->gentle);
	if (acked && (flag & FLAG_FORWARD_PROGRESS) && !answering && !resting(tp, c) && !settling)
		grow(tp, c, acked);
	remember(tp, c);

	/* After a cut, and while the window of before a timeout comes back, a segment leaves for one that arrived (RFC 6937, section 3,
	 * SSRB): not for all that the first ACK after an outage tells of at once. */
	if (returning(tp, c))
		acked = min(acked, TCP_INIT_CWND);
	conserving = c->returns || (answering && state >= TCP_CA_Recovery && !in_slow_start(c));
	c->hold.ceiling = conserving ? in_flight(tp) + acked + 1 : 0;
	tp->snd_ssthresh = c->ssthresh;
	show_window(tp, c);
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

/* Called at the head of tcp_xmit_retransmit_queue() and of tcp_write_xmit(). */
SEC("struct_ops")
__u32 BPF_PROG(unruffled_segs, struct sock *sk)
{
	struct connection *c = connection(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	bool recovering, resending;
	__u32 n;
	__u8 state;

	if (!c)
		return 2;
	/* The application has closed it. */
	if (c->rto_most && !may_bound(sk))
		unbound_rto(sk, c);
	state = ca_state(tp);
	recovering = state == TCP_CA_Recovery || (state == TCP_CA_Loss && c->gentle);
	/*
	 * Which of the two? On an ACK's way the clock tells: tcp_write_xmit() sets it. Elsewhere (pacing, small queues, RACK's timer)
	 * the kernel sends again only where snd_cwnd leaves room, and this takes the room away: so room means sending again.
	 */
	resending = tp->tcp_clock_cache == c->hold.clock || tp->snd_cwnd > in_flight(tp);
	if (recovering && missing(tp) && resending) {
		withdraw_canary(tp, c);
		n = overdue(sk, c);
		c->hold.held = missing(tp) - n;
		if (c->hold.walk.found)
			suspect(tp, c, c->hold.walk.seq, c->hold.walk.sent, n);
		if (!n && wants_canary(tp))
			send_canary(tp, c);
		else
			release(tp, c, n);
	} else if (state != TCP_CA_Loss || c->gentle) {
		show_window(tp, c);
	}
	return 2; /* as without a congestion control's wish */
}

SEC("struct_ops")
__u32 BPF_PROG(unruffled_sndbuf, struct sock *sk)
{
	struct connection *c = connection(sk);

	return c ? buffer_windows(tcp_sk(sk), c) : 2;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops unruffled = {
	.init = (void *)unruffled_init,
	.release = (void *)unruffled_release,
	.in_ack_event = (void *)unruffled_in_ack,
	.ssthresh = (void *)unruffled_ssthresh,
	.set_state = (void *)unruffled_set_state,
	.undo_cwnd = (void *)unruffled_undo,
	.cwnd_event = (void *)unruffled_event,
	.cwnd_event_tx_start = (void *)unruffled_start,
	.cong_control = (void *)unruffled_control,
	.sndbuf_expand = (void *)unruffled_sndbuf,
	.min_tso_segs = (void *)unruffled_segs,
	/* Any program may choose it, and any network namespace have it as its default: it takes no more than its share. */
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "unruffled",
};
