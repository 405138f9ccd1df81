/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Backoff of the retransmission timer. Late packets make RTO longer, since RTTs vary with them
 * (RFC 6298, section 2), so each try after an outage comes later than without reordering. A
 * congestion control cannot set RTO, but since Linux 6.15 it can set its maximum. With that, RTO
 * doubles with each try, as required, from the value that it would have without reordering.
 */
#pragma once
#include "connection.h"

/* Number of tries with a bound, about half a minute. Then RTO doubles from its own value. */
#define BOUNDED_TRIES 6
/* Minimum of TCP_RTO_MAX_MS. */
#define MIN_BOUND_MS 1000

/*
 * Returns whether RTO may be bounded. The kernel drops a connection that its application has
 * closed once RTO reaches its maximum (tcp_write_timeout). If the sysctl allows few tries, a
 * lower maximum makes the kernel drop connections earlier. RFC 1122, section 4.2.3.5, requires
 * eight tries.
 */
static __always_inline bool may_bound(struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	return (state == TCP_ESTABLISHED || state == TCP_CLOSE_WAIT) &&
	       BPF_CORE_READ(sk, __sk_common.skc_net.net, ipv4.sysctl_tcp_retries2) >= 8;
}

/*
 * Returns for how long the kernel has been retransmitting, in ms, by its own measure
 * (retransmits_timed_out).
 */
static __always_inline __u32 retransmitting_ms(struct tcp_sock *tp)
{
	if (!tp->retrans_stamp)
		return 0;
	if (bpf_core_field_exists(tp->tcp_usec_ts) && BPF_CORE_READ_BITFIELD(tp, tcp_usec_ts))
		return ((__u32)tp->tcp_mstamp - tp->retrans_stamp) / 1000;
	return (__u32)(tp->tcp_mstamp / 1000) - tp->retrans_stamp;
}

/*
 * Restores the maximum of RTO. If a program changes its congestion control in an outage, the
 * bound stays, because release() cannot set options.
 */
static __noinline void restore_rto_max(struct sock *sk, struct connection *c)
{
	int rto_max_ms = c->rto_max_ms;

	c->rto_max_ms = 0;
	bpf_setsockopt(sk, IPPROTO_TCP, TCP_RTO_MAX_MS, &rto_max_ms, sizeof rto_max_ms);
}

/*
 * Returns the minimum of RTO (tcp_rto_min): that of the route, or that of a sysctl or the
 * program.
 */
static __always_inline __u32 rto_min_us(struct sock *sk)
{
	__u32 *metrics = (void *)(BPF_CORE_READ(sk, sk_dst_cache, _metrics) & ~3UL);
	__u32 locked = 0, ms = 0;

	bpf_probe_read_kernel(&locked, sizeof locked, metrics + RTAX_LOCK - 1);
	bpf_probe_read_kernel(&ms, sizeof ms, metrics + RTAX_RTO_MIN - 1);
	if (locked & 1 << RTAX_RTO_MIN)
		return ms * 1000;
	return tcp_sk(sk)->inet_conn.icsk_rto_min * (USEC_PER_SEC / hz);
}

/* Bounds RTO when the timer has expired, before the kernel doubles RTO. */
static __noinline void bound_rto(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 tries = tp->inet_conn.icsk_backoff + 1;
	__u64 rto_in_order = (__u64)c->lateness.on_time + rto_min_us(sk);
	__u32 in_order = (rto_in_order << min(tries, BOUNDED_TRIES)) / 1000;
	int rto_max_ms = 0, bound = max(in_order, MIN_BOUND_MS);

	/*
	 * When the timer next expires, the kernel drops the connection if it has been
	 * retransmitting for as long as its tries would take with the maximum of RTO. With eight
	 * tries that is three or four times the maximum. In one outage the time so far is at most
	 * the sum of the earlier tries. If a second outage begins in the recovery from the first,
	 * the time counts from the first.
	 */
	if (!c->lateness.hold || !may_bound(sk) || tries > BOUNDED_TRIES ||
	    retransmitting_ms(tp) > 2 * (__u32)bound) {
		if (c->rto_max_ms)
			restore_rto_max(sk, c);
		return;
	}
	if (!c->rto_max_ms) {
		long failed = bpf_getsockopt(sk, IPPROTO_TCP, TCP_RTO_MAX_MS, &rto_max_ms,
					     sizeof rto_max_ms);

		if (failed || rto_max_ms <= 0)
			return;
		c->rto_max_ms = rto_max_ms;
	}
	rto_max_ms = c->rto_max_ms;
	bound = min(bound, rto_max_ms);
	bpf_setsockopt(sk, IPPROTO_TCP, TCP_RTO_MAX_MS, &bound, sizeof bound);
}
