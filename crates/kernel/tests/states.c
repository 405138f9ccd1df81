/*
 * The state of a connection at its start, in pauses and outages, and at its end: traces computed
 * by hand.
 */
#include "traces.h"
#include "../bpf/options.h"
#include "../bpf/timeout.h"

static struct sock *sk = (struct sock *)&tp;

/*
 * A cgroup's program chooses the congestion control before the SYN is sent. There are no sequence
 * numbers yet, and the window is not that of the route.
 */
static void a_connection_begins_with_the_numbers_of_its_handshake(void)
{
	start();
	memset(&c, 0, sizeof c);
	sk->__sk_common.skc_state = TCP_SYN_SENT;
	tp.snd_cwnd = 10;
	expect(connection(sk) == 0, true);
	sk->__sk_common.skc_state = 1;
	tp.snd_una = tp.snd_nxt = 0x90000000;
	tp.snd_cwnd = 30;
	tp.snd_ssthresh = 1 << 30;
	expect(connection(sk) == &c, true);
	expect(c.cwnd, 30);
	expect(c.covered, 0x90000000);
	tp.snd_nxt += 30;
	resend(tp.snd_una, 1);
	expect(c.counters.events, 1);
}

/* The window in half a round trip of 100 ms, as under CUBIC. */
static void the_first_window_is_paced(void)
{
	start();
	c.cwnd = 0;
	tp.snd_cwnd = 10;
	tp.snd_ssthresh = 0x7fffffff;
	tp.mss_cache = 1448;
	sk->sk_pacing_rate = sk->sk_max_pacing_rate = ~0UL;
	expect(connection(sk) == &c, true);
	expect(sk->sk_pacing_rate, 289600);
}

/* net.ipv4.tcp_pacing_ss_ratio below half of ssthresh, and tcp_pacing_ca_ratio above. */
static void pacing_uses_the_ratios_of_the_network(void)
{
	start();
	tp.mss_cache = 1000;
	sk->sk_max_pacing_rate = ~0UL;
	network.ipv4.sysctl_tcp_pacing_ss_ratio = 300;
	network.ipv4.sysctl_tcp_pacing_ca_ratio = 90;
	pace(sk, &c);
	expect(sk->sk_pacing_rate, 900000);
	c.ssthresh = 202;
	pace(sk, &c);
	expect(sk->sk_pacing_rate, 3000000);
	sk->sk_max_pacing_rate = 2000000;
	pace(sk, &c);
	expect(sk->sk_pacing_rate, 2000000);
}

/* There was no memory when the congestion control was chosen. */
static void a_connection_without_state_begins_when_there_is_memory(void)
{
	start();
	memset(&c, 0, sizeof c);
	kept = unused = 0;
	tp.snd_cwnd = 10;
	expect(connection(sk) == 0, true);
	unused = &c;
	expect(connection(sk) == &c, true);
	expect(c.cwnd, 10);
}

/* The SYN was sent twice, which is never reported. The first reduction is for a late packet. */
static void a_handshake_that_took_two_tries_leaves_nothing_to_report(void)
{
	start();
	c.cwnd = 0;
	tp.snd_cwnd = 100;
	tp.snd_ssthresh = 80;
	tp.total_retrans = 1;
	expect(connection(sk) == &c, true);
	resend(0, 1);
	expect(c.cwnd, 70);
	wait_until(100);
	acknowledge(20, 1);
	expect(c.cwnd, 100);
	expect(c.counters.spurious, 1);
}

/* A reduction, then more than half of all sequence numbers without one. */
static void a_reduction_covers_its_losses_only(void)
{
	start();
	resend(0, 1);
	at(150);
	acknowledge(100, 1);
	expect(c.cwnd, 100);
	for (__u32 n = 1; n <= 9; n++) {
		tp.snd_nxt = n * 0x10000000 + 100;
		acknowledge(n * 0x10000000, 0);
	}
	resend(tp.snd_una, 1);
	expect(c.counters.events, 2);
	expect(c.cwnd, 70);
}

/* All data has arrived. Five seconds later two segments are sent, and the second arrives first. */
static void a_pause_makes_no_packet_overdue(void)
{
	start();
	tp.snd_una = 100;
	watch_head(&tp, &c);
	at(5000);
	begin_flight(&tp, &c);
	tp.packets_out = 10;
	at(5100);
	tp.sacked_out = 1;
	watch_head(&tp, &c);
	expect(c.hold.silent, 0);
	at(5500);
	watch_head(&tp, &c);
	expect(c.hold.silent, 1);
}

/*
 * The kernel deems a packet lost that was sent 20 ms ago. It waits, unless the application has no
 * more data: then it is sent at once, and is suspected too.
 */
static void a_retransmission_at_the_end_of_data_is_suspected_too(void)
{
	struct socket socket = { 0 };
	struct sk_buff packet = { .skb_mstamp_ns = 1000000000 };
	struct tcp_skb_cb cb = { .seq = 40, .tcp_gso_segs = 1, .sacked = TCPCB_LOST };

	memcpy(packet.cb, &cb, sizeof cb);
	start();
	sk->sk_socket = &socket;
	sk->tcp_rtx_queue.rb_node = &packet.rbnode;
	tp.packets_out = 60;
	tp.lost_out = 1;
	at(20);
	tp.write_seq = tp.snd_nxt + 1000;
	expect(overdue(sk, &c), 0);
	expect(c.hold.walk.found, 0);
	tp.write_seq = tp.snd_nxt;
	expect(overdue(sk, &c), 1);
	expect(c.hold.walk.found, 1);
	expect(c.hold.walk.seq, 40);
	/* Nothing else is in flight. */
	tp.write_seq += 1000;
	tp.packets_out = 1;
	expect(overdue(sk, &c), 1);
	expect(c.hold.walk.found, 1);
	tp.packets_out = 60;
	at(400);
	expect(overdue(sk, &c), 1);
}

/* `ip route … cwnd lock 110`. */
static void a_route_limits_the_window(void)
{
	start();
	tp.is_cwnd_limited = 1;
	tp.snd_cwnd_clamp = 110;
	c.ssthresh = 1 << 30;
	grow(&tp, &c, 6);
	expect(c.cwnd, 106);
	grow(&tp, &c, 6);
	grow(&tp, &c, 6);
	expect(c.cwnd, 110);
	c.ssthresh = 80;
	for (__u32 n = 0; n < 1000; n++)
		grow(&tp, &c, 10);
	expect(c.cwnd, 110);
}

/* A window of 100 after two seconds without data, with a retransmission timer of 300 ms. */
static __u32 after_two_seconds(__u32 sysctl, __u32 packets_out)
{
	start();
	network.ipv4.sysctl_tcp_slow_start_after_idle = sysctl;
	tp.packets_out = packets_out;
	tp.lsndtime = jiffies();
	at(2000);
	restart_after_idle(&tp, &c);
	return c.cwnd;
}

static void a_pause_shrinks_the_window_where_the_kernel_does(void)
{
	expect(after_two_seconds(1, 0), 10);
	expect(after_two_seconds(0, 0), 100); /* net.ipv4.tcp_slow_start_after_idle=0 */
	expect(after_two_seconds(1, 5), 100); /* a retransmission in an outage */
}

/* Returns the maximum of RTO after the timer expires for the `tries`th time in an outage. */
static int bounded_at(__u32 tries)
{
	tp.inet_conn.icsk_backoff = tries - 1;
	bound_rto(sk, &c);
	return rto_max_ms;
}

static void an_established_connection_bounds_its_timer(void)
{
	start();
	sk->__sk_common.skc_state = TCP_ESTABLISHED;
	network.ipv4.sysctl_tcp_retries2 = 15;
	rto_max_ms = 120000;
}

/* Packets on time take 100 ms: RTO is 300 ms in order. */
static void the_timer_doubles_from_what_it_would_be_in_order(void)
{
	an_established_connection_bounds_its_timer();
	expect(bounded_at(1), 1000); /* the minimum of the kernel */
	expect(bounded_at(2), 1200);
	expect(bounded_at(6), 19200);
	expect(bounded_at(7), 120000);
	expect(c.rto_max_ms, 0);
	expect(bounded_at(1), 1000);
	restore_rto_max(sk, &c);
	expect(rto_max_ms, 120000);
}

static void the_timer_keeps_the_maximum_of_its_user(void)
{
	an_established_connection_bounds_its_timer();
	rto_max_ms = 2000;
	expect(bounded_at(1), 1000);
	expect(bounded_at(5), 2000);
	restore_rto_max(sk, &c);
	expect(rto_max_ms, 2000);
}

/* `ip route … rto_min 3s`: 3.1 s in order. Without a lock it is an earlier measurement. */
static void the_bound_respects_the_minimum_of_the_route(void)
{
	an_established_connection_bounds_its_timer();
	metrics[RTAX_RTO_MIN - 1] = 3000;
	expect(bounded_at(2), 1200);
	metrics[RTAX_LOCK - 1] = 1 << RTAX_RTO_MIN;
	expect(bounded_at(1), 6200);
	expect(bounded_at(2), 12400);
}

/* In order, closed by the application, with few tries, or before Linux 6.15. */
static void the_timer_is_not_bounded_where_that_does_harm(void)
{
	an_established_connection_bounds_its_timer();
	c.lateness.hold = 0;
	expect(bounded_at(1), 120000);
	an_established_connection_bounds_its_timer();
	expect(bounded_at(1), 1000);
	sk->__sk_common.skc_state = 4; /* FIN-WAIT-1 */
	expect(may_bound(sk), false);
	expect(bounded_at(2), 120000);
	an_established_connection_bounds_its_timer();
	network.ipv4.sysctl_tcp_retries2 = 5;
	expect(bounded_at(1), 120000);
	an_established_connection_bounds_its_timer();
	rto_max_ms = 0;
	expect(bounded_at(1), 0);
	expect(c.rto_max_ms, 0);
}

/*
 * The second outage begins in the recovery from the first, after the backoff was reset. The
 * kernel has been retransmitting for 3 s already, and with a maximum of 1 s it would drop the
 * connection after 14.4 s.
 */
static void a_second_outage_does_not_bound_the_timer(void)
{
	an_established_connection_bounds_its_timer();
	at(10000);
	tp.retrans_stamp = (1000000 + 8000 * 1000) / 1000;
	expect(bounded_at(1), 1000);
	tp.retrans_stamp -= 1000;
	expect(bounded_at(1), 120000);
	expect(c.rto_max_ms, 0);
	tp.tcp_usec_ts = 1;
	tp.retrans_stamp = 1000000 + 8000 * 1000;
	expect(bounded_at(1), 1000);
	tp.retrans_stamp = 1000000 + 7000 * 1000;
	expect(bounded_at(1), 120000);
}

/* A hundred segments are in flight, and the timer expires in an outage. */
static void a_timeout(void)
{
	an_established_connection_bounds_its_timer();
	at(5000);
	tp.packets_out = tp.lost_out = 100;
	tp.snd_cwnd = 1;
	tp.prior_ssthresh = 80;
	tp.undo_marker = 1;
	expect(were_resegmented(&tp), false);
	timeout(sk, &c);
	expect(c.cwnd, 1);
	expect(c.ssthresh, 70);
}

/*
 * The congestion control is chosen in an outage, after the timer expired and the window was
 * reduced.
 */
static void a_takeover_in_an_outage_does_not_reduce_again(void)
{
	a_timeout();
	memset(&c, 0, sizeof c);
	tp.inet_conn.icsk_ca_state = TCP_CA_Loss;
	tp.snd_cwnd = 1;
	tp.snd_ssthresh = 70;
	tp.high_seq = 100;
	expect(connection(sk) == &c, true);
	timeout(sk, &c);
	expect(c.ssthresh, 70);
}

/*
 * All data had arrived, which one ACK shows (tcp_try_undo_loss). Slow start restores the window
 * until all data is acknowledged.
 */
static void an_undone_timeout_sends_no_burst(void)
{
	a_timeout();
	tp.snd_una = 90;
	tp.packets_out = 10;
	tp.lost_out = 0;
	undo_timeout(&tp, &c);
	expect(c.cwnd, 20);
	expect(c.ssthresh, 100);
	expect(is_restoring(&tp, &c), true);
	expect(uncovered(&tp, &c), true);
	tp.snd_una = 100;
	expect(is_restoring(&tp, &c), false);
}

static void another_timeout_ends_the_restoration(void)
{
	a_timeout();
	tp.snd_una = 50;
	undo_timeout(&tp, &c);
	tp.snd_nxt = 120;
	timeout(sk, &c);
	expect(is_restoring(&tp, &c), false);
}

/*
 * tcp_simple_retransmit saves no state for an undo, and does not change the window. Neither does
 * a timeout during CWR save state, but it leaves room for one segment.
 */
static void resegmentation_is_no_timeout(void)
{
	start();
	tp.packets_out = 10;
	tp.lost_out = 10;
	tp.snd_cwnd = 20;
	expect(were_resegmented(&tp), true);
	tp.snd_cwnd = 1;
	expect(were_resegmented(&tp), false);
}

/*
 * A probe doubles the segments. Later the path carries only a quarter, and then a route allows
 * half.
 */
static void a_probe_for_larger_segments_leaves_the_window_in_octets(void)
{
	start();
	c.mss = c.probed = 1000;
	tp.mss_cache = tp.inet_conn.icsk_mtup.search_low = 2000;
	c.cubic.last_max = 120;
	follow_segments(&tp, &c);
	expect(c.cwnd, 50);
	expect(c.ssthresh, 40);
	expect(c.cubic.last_max, 60);
	c.ssthresh = 0x7fffffff;
	tp.mss_cache = tp.inet_conn.icsk_mtup.search_low = 500;
	follow_segments(&tp, &c);
	expect(c.cwnd, 50);
	tp.mss_cache = 1000;
	follow_segments(&tp, &c);
	expect(c.cwnd, 50);
	tp.mss_cache = tp.inet_conn.icsk_mtup.search_low = 2000;
	follow_segments(&tp, &c);
	expect(c.cwnd, 25);
	expect(c.ssthresh, 0x7fffffff);
}

/* CWR is set, also within a recovery. With AccECN the flag has another meaning. */
static void an_echo_is_confirmed(void)
{
	start();
	tp.ecn_flags = 1;
	confirm_ece(&tp);
	expect(tp.ecn_flags, 1 | TCP_ECN_QUEUE_CWR);
	tp.ecn_flags = TCP_ECN_MODE_ACCECN;
	confirm_ece(&tp);
	expect(tp.ecn_flags, TCP_ECN_MODE_ACCECN);
}

/* Returns the offset of timestamps plus 1, or 0 if they stay. */
static __u32 found(const char *options, __u32 length)
{
	struct search s = { .length = length };

	memcpy(s.octet, options, length);
	bpf_loop(OPTIONS_MAX, next_option, &s, 0);
	return s.authenticated ? 0 : s.found;
}

static void timestamps_are_found_unless_they_are_authenticated(void)
{
	expect(found("\2\4\5\264\4\2\10\12abcd\0\0\0\0\1\3\3\12", 20), 7); /* as Linux has them */
	expect(found("\1\1\10\12abcd\0\0\0\0\0\0", 14), 3);
	expect(found("\2\4\5\264\1\3\3\12\4\2\0\0", 12), 0);
	expect(found("\0\0\10\12abcd\0\0\0\0\0\0", 14), 0); /* after the end */
	expect(found("\2\0\10\12abcd\0\0\0\0", 12), 0);	    /* no length */
	expect(found("\10\12abcd\0\0", 8), 0);		    /* cut off */
	expect(found("\35\20\1\1abcdefghijkl\10\12abcd\0\0\0\0", 26), 0);
	expect(found("\10\12abcd\0\0\0\0\35\20\1\1abcdefghijkl", 26), 0);
}

static const struct trace traces[] = {
	TRACE(a_connection_without_state_begins_when_there_is_memory),
	TRACE(a_connection_begins_with_the_numbers_of_its_handshake),
	TRACE(the_first_window_is_paced),
	TRACE(pacing_uses_the_ratios_of_the_network),
	TRACE(a_handshake_that_took_two_tries_leaves_nothing_to_report),
	TRACE(a_reduction_covers_its_losses_only),
	TRACE(a_pause_makes_no_packet_overdue),
	TRACE(a_retransmission_at_the_end_of_data_is_suspected_too),
	TRACE(a_route_limits_the_window),
	TRACE(a_pause_shrinks_the_window_where_the_kernel_does),
	TRACE(the_timer_doubles_from_what_it_would_be_in_order),
	TRACE(the_timer_keeps_the_maximum_of_its_user),
	TRACE(the_bound_respects_the_minimum_of_the_route),
	TRACE(the_timer_is_not_bounded_where_that_does_harm),
	TRACE(a_second_outage_does_not_bound_the_timer),
	TRACE(a_takeover_in_an_outage_does_not_reduce_again),
	TRACE(an_undone_timeout_sends_no_burst),
	TRACE(another_timeout_ends_the_restoration),
	TRACE(resegmentation_is_no_timeout),
	TRACE(a_probe_for_larger_segments_leaves_the_window_in_octets),
	TRACE(an_echo_is_confirmed),
	TRACE(timestamps_are_found_unless_they_are_authenticated),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
