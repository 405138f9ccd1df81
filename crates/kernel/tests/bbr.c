/*
 * What the kernel's BBR receives, and the window that follows: traces computed by hand. BBR itself
 * is replaced by a record of its inputs (host/traces.h).
 */
#include "traces.h"
#include "../bpf/timeout.h"

static struct sock *sk = (struct sock *)&tp;

/*
 * BBR has measured 1 segment per ms and 100 ms, so that its window is 200. Packets are late by up to
 * 200 ms, so the hold is 227 ms: 227 segments leave meanwhile.
 */
static void start_bbr(void)
{
	start();
	growth = GROWTH_BBR;
	c.bbr.cwnd = bbr.sets = 200;
	c.cwnd = 427;
	c.hold.head_since = c.last_ack = tp.tcp_mstamp;
	tp.packets_out = 200;
	tp.write_seq = tp.snd_nxt + 1000;
	bbr_of(&tp)->min_rtt_us = 100000;
	bbr_of(&tp)->min_rtt_stamp = jiffies();
	bbr_of(&tp)->bw.s[0].v = (1 << BBR_BW_SCALE) / 1000 + 1;
	bbr_of(&tp)->full_bw_reached = 1;
}

/* Receives an ACK of one segment that was sent `rtt` ms ago, when `prior` had been delivered. */
static void receive(__u32 ms, __u32 rtt, bool on_time, __u32 prior)
{
	struct rate_sample rs = {
		.rtt_us = rtt * 1000,
		.losses = tp.lost - c.bbr.lost,
		.acked_sacked = 1,
		.prior_delivered = prior,
	};

	at(ms);
	tp.delivered++;
	judge(&tp, &c);
	bbr_ack(sk, &c, &rs, on_time, 0);
	c.last_ack = tp.tcp_mstamp;
}

/* The kernel marks `n` packets lost. */
static void mark(__u32 n)
{
	tp.lost += n;
	tp.lost_out += n;
}

static void late_packets_are_no_losses(void)
{
	start_bbr();
	mark(10);
	receive(10, 100, true, 0);
	expect(bbr.sample.losses, 0);
	/* They are no sign of a policer either. */
	expect(bbr_of(&tp)->lt_last_lost, 10);
}

static void retransmissions_are_losses_until_a_dsack_reports_them(void)
{
	start_bbr();
	mark(10);
	receive(10, 100, true, 0);
	resend(0, 2);
	receive(20, 100, true, 0);
	expect(bbr.sample.losses, 2);
	expect(bbr_of(&tp)->lt_last_lost, 8);
	receive(30, 100, true, 0);
	expect(bbr.sample.losses, 0);
	receive_dsack(150);
	receive(150, 100, true, 0);
	expect(bbr.sample.losses, 0);
	expect(bbr_of(&tp)->lt_last_lost, 9);
}

static void a_canary_is_a_loss_once_it_is_not_reported(void)
{
	start_bbr();
	tp.lost_out = 1;
	send_canary(&tp, &c);
	tp.lost_out = 0;
	tp.total_retrans++;
	receive(10, 100, true, 0);
	expect(bbr.sample.losses, 0);
	wait_until(1000);
	receive(1000, 100, true, 0);
	expect(bbr.sample.losses, 1);
}

static void late_packets_give_no_round_trip_time(void)
{
	start_bbr();
	receive(10, 100, true, 0);
	expect(bbr.sample.rtt_us, 100000);
	receive(20, 300, false, 0);
	expect(bbr.sample.rtt_us, -1);
	expect(bbr.sample.acked_sacked, 1);
}

static void recovery_for_late_packets_begins_no_conservation(void)
{
	start_bbr();
	tp.inet_conn.icsk_ca_state = TCP_CA_Recovery;
	bbr_of(&tp)->prev_ca_state = TCP_CA_Open;
	receive(10, 100, true, 0);
	expect(bbr.prev_ca_state, TCP_CA_Recovery);
}

/* Without reordering BBR receives what the kernel measures. */
static void in_order_the_inputs_are_the_kernels(void)
{
	start_bbr();
	c.lateness.hold = 0;
	tp.inet_conn.icsk_ca_state = TCP_CA_Recovery;
	mark(3);
	receive(10, 150, false, 0);
	expect(bbr.sample.losses, 3);
	expect(bbr.sample.rtt_us, 150000);
	expect(bbr.prev_ca_state, TCP_CA_Open);
	expect(bbr_of(&tp)->lt_last_lost, 0);
	expect(c.cwnd, 200);
}

static void kernels_before_6_10_have_two_arguments(void)
{
	start_bbr();
	cong_control_arguments = 2;
	receive(10, 300, false, 0);
	cong_control_arguments = 4;
	expect(bbr.sample.rtt_us, -1);
	expect(bbr.cwnd, 200);
}

/* An ACK that ends an outage of five seconds reports a packet from before it. */
static void a_round_trip_through_an_outage_does_not_count(void)
{
	start_bbr();
	c.lateness.hold = 0;
	at(4900);
	hide_all(&tp, &c.lateness);
	receive(5000, 5000, false, 0);
	expect(bbr.sample.rtt_us, -1);
}

static void bbr_has_its_own_window(void)
{
	start_bbr();
	tp.snd_cwnd = 150; /* the window less held segments */
	receive(10, 100, true, 0);
	expect(bbr.cwnd, 200);
	expect(c.cwnd, 427); /* and 1 per ms of the hold */
	bbr.sets = 180;
	receive(11, 100, true, 0);
	expect(bbr.cwnd, 200);
	receive(12, 100, true, 0);
	expect(bbr.cwnd, 180);
	expect(c.cwnd, 407);
	/* `ip route … cwnd lock 300` */
	tp.snd_cwnd_clamp = 300;
	receive(13, 100, true, 0);
	expect(c.cwnd, 300);
}

/* At a policed rate of half of that. */
static void room_for_late_packets_follows_the_rate_of_a_policer(void)
{
	start_bbr();
	bbr_of(&tp)->lt_use_bw = 1;
	bbr_of(&tp)->lt_bw = bbr_of(&tp)->bw.s[0].v / 2 + 1;
	receive(10, 100, true, 0);
	expect(c.cwnd, 313);
}

static void a_startup_adds_only_what_is_held(void)
{
	start_bbr();
	bbr_of(&tp)->full_bw_reached = 0;
	c.hold.held = 30;
	receive(10, 100, true, 0);
	expect(c.cwnd, 230);
}

static void a_probe_for_the_round_trip_time_has_no_room_for_late_packets(void)
{
	start_bbr();
	bbr_of(&tp)->mode = BBR_PROBE_RTT;
	bbr.sets = 4;
	receive(10, 100, true, 0);
	expect(c.cwnd, 4);
}

/* 103 ms are within 1/32 of the minimum, 104 ms are not. */
static void an_rtt_near_the_minimum_postpones_the_probe(void)
{
	__u32 *stamp = &bbr_of(&tp)->min_rtt_stamp;

	start_bbr();
	*stamp = 0;
	receive(400, 103, false, 0);
	expect(*stamp, 0);
	receive(400, 104, true, 0);
	expect(*stamp, 0);
	receive(400, 103, true, 0);
	expect(*stamp, 350); /* ticks: 250 at 0 ms */
	expect(bbr_of(&tp)->min_rtt_us, 100000);
	*stamp = 0;
	c.lateness.hold = 0;
	receive(500, 103, true, 0);
	expect(*stamp, 0);
}

/* Five seconds are 1250 ticks. */
static void an_outage_makes_no_probe_due(void)
{
	struct rate_sample rs = { .rtt_us = -1, .acked_sacked = 1 };

	start_bbr();
	bbr_of(&tp)->min_rtt_stamp = 100;
	at(5000);
	bbr_ack(sk, &c, &rs, false, 5000000);
	expect(bbr_of(&tp)->min_rtt_stamp, 1350);
}

/*
 * 150 segments are outstanding, 10 of them held. Two are sent again, so for a round trip one is
 * sent for each that is delivered. Then the window grows by each that is delivered.
 */
static void a_loss_event_conserves_packets_for_a_round_trip(void)
{
	start_bbr();
	tp.delivered = 1000;
	tp.packets_out = 170;
	tp.sacked_out = 20;
	tp.lost_out = 12;
	c.hold.held = 10;
	resend(0, 2);
	tp.retrans_out = 2;
	receive(10, 100, true, 990);
	expect(c.cwnd, 151); /* 150 and the delivered one, which in_flight() still includes */
	tp.packets_out--;
	receive(11, 100, true, 991);
	expect(c.cwnd, 151);
	/* More packets are deemed lost, and held. */
	tp.lost_out += 30;
	c.hold.held += 30;
	receive(12, 100, true, 992);
	expect(c.cwnd, 151);
	receive(110, 100, true, 1000); /* sent after the event */
	expect(c.cwnd, 152);
	for (__u32 n = 0; n < 274; n++)
		receive(111 + n, 100, true, 1001 + n);
	expect(c.cwnd, 426);
	receive(400, 100, true, 1300);
	expect(c.cwnd, 427);
	expect(c.bbr.conserved, 0);
}

static void a_spurious_event_ends_conservation(void)
{
	start_bbr();
	resend(0, 1);
	receive(10, 100, true, 0);
	expect(c.cwnd < 427, true);
	receive_dsack(150);
	expect(c.counters.spurious, 1);
	expect(bbr.undone, 1);
	receive(151, 100, true, 0);
	expect(c.cwnd, 427);
}

/*
 * The kernel's ssthresh and CUBIC's do not change. BBR saves its window.
 */
static void a_loss_event_leaves_ssthresh_alone(void)
{
	start_bbr();
	tp.snd_ssthresh = 1 << 30;
	tp.snd_cwnd = 50;
	save_bbr_window(sk, &c);
	expect(bbr.cwnd, 200);
	expect(tp.snd_cwnd, 50);
	resend(0, 1);
	expect(tp.snd_ssthresh, 1 << 30);
	expect(c.ssthresh, 80);
}

/* The timer expires in an outage, and all packets are marked lost and sent again. */
static void a_timeout_is_bbrs_own(void)
{
	start_bbr();
	resend(0, 1);
	at(5000);
	tp.lost_out = 200;
	tp.snd_cwnd = 1;
	tp.prior_ssthresh = 1 << 30;
	tp.undo_marker = 1;
	timeout(sk, &c);
	tp.inet_conn.icsk_ca_state = TCP_CA_Loss;
	expect(bbr.timeouts, 1);
	expect(c.bbr.cwnd, 1);
	expect(c.bbr.conserved, 0);
	bbr.sets = 2;
	tp.lost += 1;
	receive(5010, 100, true, 0);
	expect(bbr.cwnd, 1);
	expect(bbr.sample.losses, 1); /* the kernel's */
	expect(c.cwnd, 2); /* no room for late packets */
	/* It was spurious. BBR restores its window by itself. */
	undo_timeout(&tp, &c);
	expect(bbr.undone, 1);
	expect(c.restoring, 0);
	expect(c.counters.restored, 1);
}

/* ACKs arrive all the time, so one packet is later than the timer. */
static void a_timeout_for_a_late_packet_is_not_bbrs(void)
{
	start_bbr();
	tp.sacked_out = 50;
	receive(400, 100, true, 0);
	at(410);
	tp.snd_cwnd = 1;
	tp.prior_ssthresh = 1 << 30;
	timeout(sk, &c);
	expect(c.path_alive, 1);
	expect(bbr.timeouts, 0);
	expect(c.bbr.cwnd, 200);
}

/*
 * The application has no more data while a packet is held. The kernel does not mark the packets that
 * leave until those outstanding are delivered.
 */
static void held_packets_do_not_hide_an_application_that_pauses(void)
{
	struct socket socket = { 0 };

	start_bbr();
	sk->sk_socket = &socket;
	tp.delivered = 1000;
	tp.packets_out = 20;
	mark(1);
	c.hold.held = 1;
	receive(10, 100, true, 990);
	expect(bbr.sample.is_app_limited, false);
	tp.write_seq = tp.snd_nxt;
	receive(20, 100, true, 991); /* now 1002 are delivered, and 20 outstanding */
	tp.write_seq = tp.snd_nxt + 1000;
	receive(30, 100, true, 1001);
	expect(bbr.sample.is_app_limited, false);
	receive(120, 100, true, 1002);
	expect(bbr.sample.is_app_limited, true);
	receive(140, 100, true, 1022);
	expect(bbr.sample.is_app_limited, true);
	receive(141, 100, true, 1023);
	expect(bbr.sample.is_app_limited, false);
}

/* The timer of the kernel's pacing delays retransmissions, too. fq paces by itself. */
static void a_canary_is_not_paced(void)
{
	start_bbr();
	sk->sk_pacing_status = SK_PACING_NEEDED;
	set_paced(sk, false);
	expect(sk->sk_pacing_status, SK_PACING_NONE);
	receive(10, 100, true, 0);
	expect(sk->sk_pacing_status, SK_PACING_NEEDED);
	sk->sk_pacing_status = SK_PACING_FQ;
	set_paced(sk, false);
	expect(sk->sk_pacing_status, SK_PACING_FQ);
}

/* 100 segments of 1448 octets are in flight. A millisecond is 1.5 segments, or 151. */
static void one_call_sends_no_burst(void)
{
	start_bbr();
	tp.mss_cache = 1448;
	tp.packets_out = 100;
	tp.snd_cwnd = 427;
	sk->sk_pacing_rate = 2250000;
	bound_burst(sk);
	expect(tp.snd_cwnd, 110);
	tp.snd_cwnd = 427;
	sk->sk_pacing_rate = 225000000;
	bound_burst(sk);
	expect(tp.snd_cwnd, 403); /* 2 * 219726 / 1448 are 303 */
	tp.snd_cwnd = 90;
	bound_burst(sk);
	expect(tp.snd_cwnd, 90);
	tp.snd_cwnd = 427;
	sk->sk_pacing_status = SK_PACING_FQ; /* which queues what leaves at once */
	bound_burst(sk);
	expect(tp.snd_cwnd, 427);
}

static const struct trace traces[] = {
	TRACE(late_packets_are_no_losses),
	TRACE(retransmissions_are_losses_until_a_dsack_reports_them),
	TRACE(a_canary_is_a_loss_once_it_is_not_reported),
	TRACE(late_packets_give_no_round_trip_time),
	TRACE(recovery_for_late_packets_begins_no_conservation),
	TRACE(in_order_the_inputs_are_the_kernels),
	TRACE(kernels_before_6_10_have_two_arguments),
	TRACE(a_round_trip_through_an_outage_does_not_count),
	TRACE(bbr_has_its_own_window),
	TRACE(room_for_late_packets_follows_the_rate_of_a_policer),
	TRACE(a_startup_adds_only_what_is_held),
	TRACE(a_probe_for_the_round_trip_time_has_no_room_for_late_packets),
	TRACE(an_rtt_near_the_minimum_postpones_the_probe),
	TRACE(an_outage_makes_no_probe_due),
	TRACE(a_loss_event_conserves_packets_for_a_round_trip),
	TRACE(a_spurious_event_ends_conservation),
	TRACE(a_loss_event_leaves_ssthresh_alone),
	TRACE(a_timeout_is_bbrs_own),
	TRACE(a_timeout_for_a_late_packet_is_not_bbrs),
	TRACE(held_packets_do_not_hide_an_application_that_pauses),
	TRACE(a_canary_is_not_paced),
	TRACE(one_call_sends_no_burst),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
