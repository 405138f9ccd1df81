/* What becomes of what is kept of a connection where it begins, pauses, is long or ends: traces computed by hand. */
#include "traces.h"
#include "../bpf/options.h"
#include "../bpf/timeout.h"

static struct sock *sk = (struct sock *)&tp;

/* A cgroup's program chooses when the SYN is about to leave: there are no numbers yet, and the window is not that of the route. */
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

/* As under CUBIC: the window in half a round trip of 100 ms. */
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

/* net.ipv4.tcp_pacing_ss_ratio and tcp_pacing_ca_ratio: the first below half of ssthresh. */
static void pacing_is_by_the_ratios_of_the_network(void)
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

/* There was no memory when it chose this congestion control. */
static void a_connection_that_nothing_was_kept_of_begins_when_there_is_room(void)
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

/* The SYN was sent twice, which nobody reports; the first cut is for a packet that was late. */
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

/* A cut, then more than half of all numbers without one. */
static void a_cut_answers_for_its_losses_only(void)
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

/* All has arrived; five seconds later something is sent, and what was sent second arrives first. */
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
 * The kernel deems one packet lost that was sent 20 ms ago. It waits, unless the application has no more to send: then it goes at once,
 * and is suspected all the same.
 */
static void what_goes_at_once_at_the_end_is_answered_for(void)
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
	/* Nothing else is on its way. */
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

static void a_pause_takes_the_window_back_where_the_kernel_does(void)
{
	expect(after_two_seconds(1, 0), 10);
	expect(after_two_seconds(0, 0), 100); /* net.ipv4.tcp_slow_start_after_idle=0 */
	expect(after_two_seconds(1, 5), 100); /* the head is sent again, in an outage */
}

/* The timer expires for the `tries`th time, in an outage. */
static int bounded_at(__u32 tries)
{
	tp.inet_conn.icsk_backoff = tries - 1;
	bound_rto(sk, &c);
	return rto_most;
}

static void an_established_connection_bounds_its_timer(void)
{
	start();
	sk->__sk_common.skc_state = TCP_ESTABLISHED;
	network.ipv4.sysctl_tcp_retries2 = 15;
	rto_most = 120000;
}

/* Packets on time take 100 ms: RTO is 300 ms in order. */
static void the_timer_doubles_from_what_it_would_be_in_order(void)
{
	an_established_connection_bounds_its_timer();
	expect(bounded_at(1), 1000); /* the kernel takes no less */
	expect(bounded_at(2), 1200);
	expect(bounded_at(6), 19200);
	expect(bounded_at(7), 120000);
	expect(c.rto_most, 0);
	expect(bounded_at(1), 1000);
	unbound_rto(sk, &c);
	expect(rto_most, 120000);
}

static void the_timer_may_be_no_longer_than_its_user_says(void)
{
	an_established_connection_bounds_its_timer();
	rto_most = 2000;
	expect(bounded_at(1), 1000);
	expect(bounded_at(5), 2000);
	unbound_rto(sk, &c);
	expect(rto_most, 2000);
}

/* `ip route … rto_min 3s`: 3.1 s in order. Without lock it is what was measured once. */
static void the_timer_is_bounded_to_no_less_than_the_route_says(void)
{
	an_established_connection_bounds_its_timer();
	metrics[RTAX_RTO_MIN - 1] = 3000;
	expect(bounded_at(2), 1200);
	metrics[RTAX_LOCK - 1] = 1 << RTAX_RTO_MIN;
	expect(bounded_at(1), 6200);
	expect(bounded_at(2), 12400);
}

/* In order, closed by the application, impatient, or before Linux 6.15. */
static void the_timer_is_left_alone_where_bounding_it_does_harm(void)
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
	rto_most = 0;
	expect(bounded_at(1), 0);
	expect(c.rto_most, 0);
}

/*
 * The second outage begins in the recovery from the first, with the backoff forgotten: the kernel has been resending for 3 s already,
 * and with a most of 1 s it would give the connection up after 14.4.
 */
static void a_second_outage_does_not_bound_the_timer(void)
{
	an_established_connection_bounds_its_timer();
	at(10000);
	tp.retrans_stamp = (1000000 + 8000 * 1000) / 1000;
	expect(bounded_at(1), 1000);
	tp.retrans_stamp -= 1000;
	expect(bounded_at(1), 120000);
	expect(c.rto_most, 0);
	tp.tcp_usec_ts = 1;
	tp.retrans_stamp = 1000000 + 8000 * 1000;
	expect(bounded_at(1), 1000);
	tp.retrans_stamp = 1000000 + 7000 * 1000;
	expect(bounded_at(1), 120000);
}

/* A hundred on their way, an outage, and the timer expires. */
static void a_timeout(void)
{
	an_established_connection_bounds_its_timer();
	at(5000);
	tp.packets_out = tp.lost_out = 100;
	tp.snd_cwnd = 1;
	tp.prior_ssthresh = 80;
	tp.undo_marker = 1;
	expect(were_too_big(&tp), false);
	timeout(sk, &c);
	expect(c.cwnd, 1);
	expect(c.ssthresh, 70);
}

/* Chosen in the middle of an outage, when the timer has expired before: the window was cut for that. */
static void a_takeover_in_an_outage_cuts_no_second_time(void)
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

/* All had arrived, of which an ACK tells at once (tcp_try_undo_loss): the window is back in slow start, until that is acknowledged. */
static void an_undone_timeout_lets_no_burst_go(void)
{
	a_timeout();
	tp.snd_una = 90;
	tp.packets_out = 10;
	tp.lost_out = 0;
	undo_timeout(&tp, &c);
	expect(c.cwnd, 20);
	expect(c.ssthresh, 100);
	expect(returning(&tp, &c), true);
	expect(uncovered(&tp, &c), true);
	tp.snd_una = 100;
	expect(returning(&tp, &c), false);
}

static void another_timeout_ends_the_way_back(void)
{
	a_timeout();
	tp.snd_una = 50;
	undo_timeout(&tp, &c);
	tp.snd_nxt = 120;
	timeout(sk, &c);
	expect(returning(&tp, &c), false);
}

/* tcp_simple_retransmit: no undo is noted, and the window is what it was. With CWR under way nor is it at a timeout. */
static void what_was_too_big_is_no_timeout(void)
{
	start();
	tp.packets_out = 10;
	tp.lost_out = 10;
	tp.snd_cwnd = 20;
	expect(were_too_big(&tp), true);
	tp.snd_cwnd = 1;
	expect(were_too_big(&tp), false);
}

/* A probe doubles the segments; later the path takes only a quarter, and then a route allows twice that. */
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

/* CWR, also in the middle of a recovery; with AccECN the flag means something else. */
static void an_echo_is_answered(void)
{
	start();
	tp.ecn_flags = 1;
	answer_echo(&tp);
	expect(tp.ecn_flags, 1 | TCP_ECN_QUEUE_CWR);
	tp.ecn_flags = TCP_ECN_MODE_ACCECN;
	answer_echo(&tp);
	expect(tp.ecn_flags, TCP_ECN_MODE_ACCECN);
}

/* Where timestamps begin among these, and 1; 0: they stay. */
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
	TRACE(a_connection_that_nothing_was_kept_of_begins_when_there_is_room),
	TRACE(a_connection_begins_with_the_numbers_of_its_handshake),
	TRACE(the_first_window_is_paced),
	TRACE(pacing_is_by_the_ratios_of_the_network),
	TRACE(a_handshake_that_took_two_tries_leaves_nothing_to_report),
	TRACE(a_cut_answers_for_its_losses_only),
	TRACE(a_pause_makes_no_packet_overdue),
	TRACE(what_goes_at_once_at_the_end_is_answered_for),
	TRACE(a_route_limits_the_window),
	TRACE(a_pause_takes_the_window_back_where_the_kernel_does),
	TRACE(the_timer_doubles_from_what_it_would_be_in_order),
	TRACE(the_timer_may_be_no_longer_than_its_user_says),
	TRACE(the_timer_is_bounded_to_no_less_than_the_route_says),
	TRACE(the_timer_is_left_alone_where_bounding_it_does_harm),
	TRACE(a_second_outage_does_not_bound_the_timer),
	TRACE(a_takeover_in_an_outage_cuts_no_second_time),
	TRACE(an_undone_timeout_lets_no_burst_go),
	TRACE(another_timeout_ends_the_way_back),
	TRACE(what_was_too_big_is_no_timeout),
	TRACE(a_probe_for_larger_segments_leaves_the_window_in_octets),
	TRACE(an_echo_is_answered),
	TRACE(timestamps_are_found_unless_they_are_authenticated),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
