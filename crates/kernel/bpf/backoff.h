/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * How the retransmission timer backs off. Late packets make RTO longer, since RTTs vary with them (RFC 6298, section 2): each try
 * after an outage comes later than in order, by up to twice as much as the first. A congestion control cannot set RTO, but from
 * Linux 6.15 on the most that it may be. So it doubles with each try, as it must, from what it would be in order.
 */
#pragma once
#include "connection.h"

#define TRIES 6		/* then half a minute has passed, and it doubles from where it is */
#define LEAST_BOUND 1000	/* ms; the kernel takes none below */

/*
 * A connection that its application has closed is given up once RTO is the most that it may be (tcp_write_timeout), and an impatient
 * one (sysctl) the sooner the less that is: RFC 1122, section 4.2.3.5, has eight tries at least.
 */
static __always_inline bool may_bound(struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	return (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) &&
	       BPF_CORE_READ(sk, __sk_common.skc_net.net, ipv4.sysctl_tcp_retries2) >= 8;
}

/* How long the kernel has been resending what it resends, in ms, as it reckons itself (retransmits_timed_out). */
static __always_inline __u32 resending_for(struct tcp_sock *tp)
{
	if (!tp->retrans_stamp)
		return 0;
	if (bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
		return ((__u32)tp->tcp_mstamp - tp->retrans_stamp) / 1000;
	return (__u32)(tp->tcp_mstamp / 1000) - tp->retrans_stamp;
}

/*
 * The most that RTO may be is what it was before. Nothing does this where a program changes its congestion control in an outage, for
 * release() may set no options.
 */
static __noinline void unbound_rto(struct sock *sk, struct connection *c)
{
	int most = c->rto_most;

	c->rto_most = 0;
	bpf_setsockopt(sk, IPPROTO_TCP, TCP_RTO_MAX_MS, &most, sizeof most);
}

/* The minimum of RTO (tcp_rto_min): a sysctl's or a program's, or the route's. */
static __always_inline __u32 rto_min_us(struct sock *sk)
{
	__u32 *metrics = (void *)(BPF_CORE_READ(sk, sk_dst_cache, _metrics) & ~3UL), locked = 0, ms = 0;

	bpf_probe_read_kernel(&locked, sizeof locked, metrics + RTAX_LOCK - 1);
	bpf_probe_read_kernel(&ms, sizeof ms, metrics + RTAX_RTO_MIN - 1);
	if (locked & 1 << RTAX_RTO_MIN)
		return ms * 1000;
	return tcp_sk(sk)->inet_conn.icsk_rto_min * (USEC_PER_SEC / hz);
}

/* The timer has expired, and the kernel is about to double RTO. */
static __noinline void bound_rto(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 tries = tp->inet_conn.icsk_backoff + 1;
	__u32 in_order = (((__u64)c->lateness.on_time + rto_min_us(sk)) << min(tries, TRIES)) / 1000;
	int most = 0, bound = max(in_order, LEAST_BOUND);

	/*
	 * When the timer next expires, the kernel gives the connection up if it has been resending for as long as its tries would have
	 * taken with the most that RTO may be: with eight tries, three or four times as much. In one outage it has been for no more than
	 * the sum of the tries before, but where a second begins in the recovery from the first it counts from that one.
	 */
	if (!c->lateness.hold || !may_bound(sk) || tries > TRIES || resending_for(tp) > 2 * (__u32)bound) {
		if (c->rto_most)
			unbound_rto(sk, c);
		return;
	}
	if (!c->rto_most) {
		if (bpf_getsockopt(sk, IPPROTO_TCP, TCP_RTO_MAX_MS, &most, sizeof most) || most <= 0)
			return;
		c->rto_most = most;
	}
	most = c->rto_most;
	bound = min(bound, most);
	bpf_setsockopt(sk, IPPROTO_TCP, TCP_RTO_MAX_MS, &bound, sizeof bound);
}
