/* Traces of the congestion control's parts, computed by hand. */
#include "traces.h"

static void a_retransmission_that_is_not_reported_was_needed(void)
{
	start();
	resend(0, 2);
	expect(c.cwnd, 70);
	expect(c.covered, 100);
	wait_until(1000);
	expect(c.cwnd, 70);
	expect(c.counters.spurious, 0);
	expect(c.verdict.needed, 2);
}

static void a_reported_retransmission_was_spurious(void)
{
	start();
	resend(0, 2);
	at(150);
	acknowledge(20, 1);
	expect(c.cwnd, 70);
	acknowledge(20, 1);
	expect(c.cwnd, 100);
	expect(c.ssthresh, 80);
	expect(c.counters.spurious, 1);
}

static void the_window_is_reduced_once_per_round_trip(void)
{
	start();
	resend(0, 1);
	at(20);
	resend(50, 1);
	expect(c.cwnd, 70);
	expect(c.counters.events, 1);
	acknowledge(100, 0);
	at(120);
	tp.snd_nxt = 170;
	resend(100, 1);
	expect(c.cwnd, 49);
	expect(c.counters.events, 2);
}

/*
 * A reduction in each of three round trips. The segment of the first was lost, the others were
 * late.
 */
static void later_reductions_are_undone_although_an_earlier_loss_was_real(void)
{
	start();
	resend(0, 1);
	wait_until(120);
	acknowledge(100, 0);
	tp.snd_nxt = 170;
	resend(100, 1);
	wait_until(240);
	acknowledge(170, 0);
	tp.snd_nxt = 220;
	resend(170, 1);
	expect(c.cwnd, 34); /* 100, 70, 49, 34 */
	wait_until(400);
	expect(c.verdict.needed, 0);
	wait_until(500); /* the first was not reported in time, so its reduction stands */
	expect(c.verdict.needed, 1);
	expect(c.cwnd, 34);
	acknowledge(200, 1);
	expect(c.cwnd, 49); /* one of two reductions is undone: 70 * 0.7 */
	expect(c.covered, 220);
	acknowledge(200, 1);
	expect(c.cwnd, 70);
	expect(c.covered, 200);
	expect(c.counters.spurious, 2);
	wait_until(2000);
	expect(c.cwnd, 70);
}

/* Pacing or small queues delay the retransmission until the original is acknowledged. */
static void a_segment_that_arrives_before_its_retransmission_was_late(void)
{
	start();
	suspect(&tp, &c, 0, 1000000 - 327000, 2);
	expect(c.cwnd, 70);
	at(10);
	acknowledge(0, 0);
	expect(c.cwnd, 70);
	acknowledge(1, 0);
	expect(c.cwnd, 100);
	expect(c.ssthresh, 80);
	expect(c.counters.spurious, 1);
	expect(c.counters.restored, 1);
	/* Another loss in this window counts. */
	resend(1, 1);
	expect(c.cwnd, 70);
}

/* One of two segments arrives after the other was sent again, so a report decides. */
static void an_arrival_after_another_retransmission_proves_nothing(void)
{
	start();
	suspect(&tp, &c, 0, 1000000 - 327000, 2);
	at(10);
	tp.total_retrans++;
	acknowledge(1, 0);
	expect(c.cwnd, 70);
	wait_until(1000);
	expect(c.cwnd, 70);
	expect(c.counters.spurious, 0);
}

/* It is sent again later than half a round trip. A report takes 400 ms from then. */
static void a_late_retransmission_is_reported_too(void)
{
	start();
	suspect(&tp, &c, 0, 1000000 - 327000, 1);
	wait_until(60);
	tp.total_retrans++;
	wait_until(300);
	expect(c.cwnd, 70);
	acknowledge(1, 1);
	expect(c.cwnd, 100);
	expect(c.counters.spurious, 1);
}

/*
 * Packets are late by two round trips of 20 ms, which is not known yet, so a report takes three
 * round trips.
 */
static void a_first_lateness_does_not_end_slow_start(void)
{
	start();
	memset(&c.lateness, 0, sizeof c.lateness);
	c.lateness.on_time = c.lateness.lowest[0] = c.lateness.lowest[1] = 20000;
	tp.srtt_us = 8 * 20000;
	tp.inet_conn.icsk_rto = 55; /* 220 ms */
	c.cwnd = 10;
	c.ssthresh = 1 << 30;
	resend(0, 1);
	expect(c.cwnd, 7);
	wait_until(60);
	acknowledge(10, 1);
	expect(c.cwnd, 10);
	expect(c.ssthresh, 1 << 30);
}

static void reductions_that_are_often_spurious_wait_for_the_verdict(void)
{
	start();
	c.verdict.spurious = 301;
	resend(0, 1);
	expect(c.cwnd, 100);
	wait_until(500);
	expect(c.cwnd, 70);
	expect(c.verdict.spurious, 301 - 301 / 8);
}

/* Losses in two round trips are two reductions, although neither precedes the second loss. */
static void a_waiting_reduction_covers_its_round_trip_only(void)
{
	start();
	c.verdict.spurious = 301;
	resend(0, 1);
	at(20);
	resend(99, 1);
	expect(c.counters.events, 1);
	at(120);
	tp.snd_una = 100;
	tp.snd_nxt = 200;
	resend(100, 1);
	expect(c.counters.events, 2);
	at(200);
	tp.snd_nxt = 300;
	wait_until(1000);
	expect(c.cwnd, 49); /* 100, 70, 49 */
	expect(c.covered, 200);
}

/*
 * Ten segments are missing at once while a reduction waits. Their reduction is made at once and
 * stays.
 */
static void an_older_reduction_does_not_shrink_what_is_covered(void)
{
	start();
	c.verdict.spurious = 301;
	resend(0, 1);
	at(120);
	tp.snd_una = 100;
	tp.snd_nxt = 200;
	resend(100, 10);
	expect(c.cwnd, 70);
	expect(c.covered, 200);
	wait_until(1000);
	expect(c.cwnd, 49);
	expect(c.covered, 200);
}

/* The queue stays full until the window is reduced, and all its drops are one event. */
static void an_overflow_ends_with_the_reduction(void)
{
	start();
	c.lateness.on_time = 150000;
	c.verdict.spurious = 301;
	resend(0, 1);
	at(120);
	tp.snd_una = 100;
	tp.snd_nxt = 200;
	resend(100, 1);
	expect(c.counters.events, 1);
	wait_until(1000);
	expect(c.cwnd, 70);
	expect(c.covered, 200);
}

static void many_losses_at_once_do_not_wait(void)
{
	start();
	c.verdict.spurious = 1000;
	resend(0, 10); /* 4 and a sixteenth of 100 */
	expect(c.cwnd, 70);
}

/* Losses in nine round trips, 10 ms apart. */
static void lose_nine_times(void)
{
	for (__u32 n = 0; n < 9; n++) {
		at(10 * n);
		tp.snd_una = tp.snd_nxt;
		tp.snd_nxt += 10;
		resend(tp.snd_una, 1);
	}
}

/* A loss beyond the ring joins the latest event, so every waiting reduction stays. */
static void at_most_eight_reductions_wait(void)
{
	start();
	c.verdict.spurious = 301;
	lose_nine_times();
	expect(c.counters.events, 8);
	expect(c.cwnd, 100);
}

static void events_beyond_eight_stand_without_a_verdict(void)
{
	start();
	lose_nine_times();
	expect(c.counters.events, 9);
	expect(c.verdict.next - c.verdict.oldest, 8);
	at(90);
	acknowledge(tp.snd_nxt, 9);
	wait_until(200);
	/* All reductions except the first are undone: 100 * 0.7. */
	expect(c.cwnd, 70);
}

/*
 * The window grows by one in 10 ms while a segment waits. The reduction is from the window a
 * round trip after the segment was sent.
 */
static void waiting_is_no_advantage(void)
{
	start();
	for (__u32 ms = 0; ms <= 330; ms += 10) {
		at(ms);
		c.cwnd = 100 + ms / 10;
		record_window(&tp, &c); /* every 30 ms: at least a twelfth of 327 */
	}
	resend(0, 1); /* sent at 3, deemed lost in order at 103: 109 at 90 */
	expect(c.cwnd, 76);
}

/*
 * A segment is late while a reduction is in force that is undone later. The window counts as 100.
 */
static void an_undone_reduction_does_not_deepen_the_next_one(void)
{
	start();
	resend(0, 1);
	for (__u32 ms = 0; ms <= 180; ms += 30) {
		at(ms);
		record_window(&tp, &c);
	}
	at(200);
	acknowledge(20, 1);
	expect(c.cwnd, 100);
	at(400);
	resend(20, 1); /* sent at 73, deemed lost in order at 173 */
	expect(c.cwnd, 70);
}

/* A segment is sent again at 0, and a canary `after` ms later. */
static void with_a_canary(__u32 after)
{
	start();
	resend(0, 1);
	at(after);
	c.canaries.made = c.canaries.next = 1;
	c.rings.canary[0].sent = tp.tcp_mstamp;
	c.rings.canary[0].seq = 20;
	tp.total_retrans++;
}

static void a_report_within_a_round_trip_of_a_canary_belongs_to_another(void)
{
	with_a_canary(50);
	receive_dsack(140);
	expect(c.canaries.reported, 0);
	expect(c.counters.spurious, 1);
	expect(c.cwnd, 100);
	receive_dsack(240);
	expect(c.canaries.reported, 1);
}

/* The report may belong to either, and does not refute the other loss. */
static void a_report_that_may_be_a_canarys_is_assigned_to_it(void)
{
	with_a_canary(50);
	receive_dsack(150);
	expect(c.canaries.reported, 1);
	wait_until(1000);
	expect(c.counters.spurious, 0);
	expect(c.verdict.needed, 1);
	expect(c.cwnd, 70);
}

/* The path became shorter than any recorded round trip. */
static void a_report_without_another_retransmission_is_a_canarys(void)
{
	with_a_canary(50);
	receive_dsack(60);
	expect(c.canaries.reported, 0);
	receive_dsack(70);
	expect(c.canaries.reported, 1);
}

/* The verdict comes long after the packet was acknowledged. */
static void a_canary_that_is_not_reported_is_a_loss(void)
{
	start();
	c.canaries.made = c.canaries.next = tp.total_retrans = 1;
	c.rings.canary[0] = (struct canary){ .sent = tp.tcp_mstamp, .seq = 20, .window = 100 };
	at(100);
	acknowledge(60, 0);
	expect(c.counters.events, 0);
	wait_until(1000);
	expect(c.counters.events, 1);
	expect(c.cwnd, 70);
}

/* A canary at 0 ms for the first of segments 0 to 99. */
static void lose_the_head(void)
{
	start();
	tp.lost_out = 1;
	send_canary(&tp, &c);
	tp.lost_out = 0;
	tp.total_retrans++;
}

/* Pacing delays it, and an ACK clears the loss mark. 400 ms later another segment is sent again. */
static void a_canary_that_was_not_sent_does_not_count(void)
{
	start();
	tp.lost_out = 1;
	send_canary(&tp, &c);
	tp.lost_out = 0;
	at(10);
	update_lateness(&tp, &c, 0, -1);
	wait_until(400);
	expect(c.counters.events, 0);
	expect(c.cwnd, 100);
	resend(50, 1);
	expect(c.cwnd, 70);
	wait_until(500);
	expect(c.counters.spurious, 0);
	expect(c.cwnd, 70);
	acknowledge(60, 1);
	expect(c.cwnd, 100);
}

static void a_canary_and_a_loss_of_the_next_round_trip_are_two_reductions(void)
{
	lose_the_head();
	at(350);
	tp.snd_una = 150;
	tp.snd_nxt = 250;
	resend(150, 1);
	expect(c.cwnd, 70);
	wait_until(1000);
	expect(c.counters.events, 2);
	expect(c.cwnd, 49);
}

static void a_canary_and_a_loss_of_its_round_trip_are_one_reduction(void)
{
	lose_the_head();
	at(350);
	resend(50, 1);
	expect(c.cwnd, 70);
	wait_until(1000);
	expect(c.counters.events, 1);
	expect(c.cwnd, 70);
}

/* The reduction for the canary precedes the verdict on the waiting event. */
static void a_canarys_reduction_covers_waiting_events(void)
{
	lose_the_head();
	c.verdict.spurious = 1024;
	at(300);
	resend(50, 1);
	expect(c.cwnd, 100);
	wait_until(1500);
	expect(c.counters.events, 2);
	expect(c.cwnd, 70);
}

static void an_undone_reduction_covers_no_canary(void)
{
	lose_the_head();
	at(20);
	resend(50, 1);
	expect(c.cwnd, 70);
	receive_dsack(90);
	expect(c.cwnd, 100);
	wait_until(1000);
	expect(c.cwnd, 70);
}

/* The reduction comes long after its segment was acknowledged. */
static void a_late_reduction_stops_growth_for_a_round_trip(void)
{
	lose_the_head();
	at(400);
	tp.snd_nxt = 300;
	acknowledge(200, 0);
	wait_until(600);
	expect(c.cwnd, 70);
	expect(growth_is_stopped(&tp, &c), true);
	acknowledge(299, 0);
	expect(growth_is_stopped(&tp, &c), true);
	acknowledge(300, 0);
	expect(growth_is_stopped(&tp, &c), false);
}

/* The retransmission timer expires at 410 ms, before the hold ends, for a segment sent at 0 ms. */
static void a_timer_that_expires_first_covers_one_round_trip(void)
{
	start();
	for (__u32 ms = 0; ms <= 390; ms += 30) {
		at(ms);
		tp.snd_nxt = 100 + ms;
		record_window(&tp, &c);
	}
	at(410);
	tp.snd_nxt = 510;
	suspect(&tp, &c, 0, 1000000, 0);
	expect(c.covered, 190);
	at(420);
	tp.snd_una = 300;
	resend(300, 1);
	expect(c.counters.events, 2);
	expect(c.cwnd, 49);
}

/*
 * Segments sent after the last ACK before an outage of five seconds are lost, which the first ACK
 * after it shows.
 */
static void losses_of_an_outage_are_one_reduction(void)
{
	start();
	record_window(&tp, &c);
	tp.snd_nxt = 150;
	at(5000);
	record_window(&tp, &c);
	tp.snd_una = 100;
	suspect(&tp, &c, 100, 1000000, 1);
	expect(c.cwnd, 70);
	expect(c.covered, 150);
	suspect(&tp, &c, 101, 1002000, 1);
	expect(c.cwnd, 70);
	expect(c.counters.events, 1);
}

static void an_overtaken_packet_is_late(void)
{
	start();
	c.lateness.greatest[0] = 0;
	at(400);
	tp.rack.mstamp = tp.tcp_mstamp - 100000;
	expect(update_lateness(&tp, &c, 0, 100000), true);
	expect(lateness(&c), 0);
	expect(c.lateness.hold, 0);
	at(500);
	tp.rack.mstamp = tp.tcp_mstamp - 100000;
	expect(update_lateness(&tp, &c, 0, 300000), false); /* sent before a delivered packet */
	expect(lateness(&c), 200000);
	expect(c.lateness.on_time, 100000);
	expect(c.lateness.hold, 227000); /* plus an eighth and 2 ms */
	tp.inet_conn.icsk_rto = 50; /* 200 ms: the hold is at most seven eighths of it */
	update_lateness(&tp, &c, 0, -1);
	expect(c.lateness.hold, 175000);
}

static void lateness_expires_after_two_periods(void)
{
	start();
	at(7500);
	update_lateness(&tp, &c, 0, -1);
	expect(lateness(&c), 200000);
	at(16000);
	update_lateness(&tp, &c, 0, -1);
	expect(lateness(&c), 0);
	expect(c.lateness.hold, 0);
}

static void a_spurious_retransmission_was_sent_too_early(void)
{
	start();
	c.lateness.greatest[0] = c.lateness.hold = 0;
	tp.total_retrans = 3;
	at(200);
	tp.dsack_dups = 1;
	update_lateness(&tp, &c, 0, -1);
	expect(lateness(&c), 100000); /* a round trip at first */
	at(250);
	tp.dsack_dups = 2;
	update_lateness(&tp, &c, 0, -1);
	expect(lateness(&c), 100000); /* once in a round trip */
	at(350);
	tp.dsack_dups = 3;
	update_lateness(&tp, &c, 0, -1);
	expect(lateness(&c), 139500); /* the hold of 114.5 plus a quarter of a round trip */
}

/* The wait was 227 ms. All late packets may be later than that, so the next one is longer. */
static void an_event_that_waited_too_short_a_time_lengthens_the_wait(void)
{
	start();
	c.hold.walk.overdue = 327000;
	resend(0, 2);
	at(150);
	acknowledge(20, 1);
	expect(lateness(&c), 200000);
	acknowledge(20, 1);
	expect(lateness(&c), 283750);
}

/* With nothing in flight, or at the end of the data, nothing waits. */
static void an_event_that_did_not_wait_says_nothing_of_the_wait(void)
{
	start();
	c.hold.walk.overdue = 0;
	resend(0, 1);
	at(150);
	acknowledge(20, 1);
	expect(c.counters.spurious, 1);
	expect(lateness(&c), 200000);
}

/* The network duplicates packets. A later loss is a loss. */
static void duplicates_of_the_network_report_no_retransmission(void)
{
	start();
	c.lateness.greatest[0] = c.lateness.hold = 0;
	for (__u32 n = 1; n <= 5; n++)
		receive_dsack(10 * n);
	expect(lateness(&c), 0);
	resend(0, 1);
	receive_dsack(200);
	wait_until(1000);
	expect(c.cwnd, 70);
	expect(c.counters.spurious, 0);
	expect(c.verdict.needed + tp.dsack_dups, tp.total_retrans);
	tp.total_retrans = 10;
	wait_until(17000); /* no duplicate of the network for 16 s */
	tp.snd_una = 100;
	tp.snd_nxt = 200;
	resend(100, 1);
	wait_until(17100);
	acknowledge(110, 1);
	expect(c.cwnd, 70);
	expect(c.counters.spurious, 1);
}

/* A burst of duplicates of the network is over, without as many retransmissions. */
static void duplicates_of_the_network_expire(void)
{
	start();
	for (__u32 n = 1; n <= 5; n++)
		receive_dsack(10 * n);
	for (__u32 ms = 1000; ms <= 25000; ms += 1000) {
		at(ms);
		update_lateness(&tp, &c, 0, -1);
	}
	resend(0, 1);
	expect(c.cwnd, 70);
	receive_dsack(25200);
	expect(c.cwnd, 100);
	expect(c.counters.spurious, 1);
	receive_dsack(25300); /* one more is a duplicate of the network again */
	resend(50, 1);
	receive_dsack(25500);
	expect(c.cwnd, 70);
}

/* The clock wraps after 72 minutes. */
static void expired_duplicates_do_not_return(void)
{
	start();
	receive_dsack(10);
	tp.total_retrans++;
	for (__u32 s = 1; s <= 4295; s++) {
		at(1000 * s);
		update_lateness(&tp, &c, 0, -1);
		judge(&tp, &c);
	}
	resend(0, 1);
	receive_dsack(4295200);
	expect(c.cwnd, 100);
}

static const struct trace traces[] = {
	TRACE(a_retransmission_that_is_not_reported_was_needed),
	TRACE(a_reported_retransmission_was_spurious),
	TRACE(the_window_is_reduced_once_per_round_trip),
	TRACE(later_reductions_are_undone_although_an_earlier_loss_was_real),
	TRACE(a_segment_that_arrives_before_its_retransmission_was_late),
	TRACE(an_arrival_after_another_retransmission_proves_nothing),
	TRACE(a_late_retransmission_is_reported_too),
	TRACE(a_first_lateness_does_not_end_slow_start),
	TRACE(reductions_that_are_often_spurious_wait_for_the_verdict),
	TRACE(a_waiting_reduction_covers_its_round_trip_only),
	TRACE(an_older_reduction_does_not_shrink_what_is_covered),
	TRACE(an_overflow_ends_with_the_reduction),
	TRACE(many_losses_at_once_do_not_wait),
	TRACE(at_most_eight_reductions_wait),
	TRACE(events_beyond_eight_stand_without_a_verdict),
	TRACE(waiting_is_no_advantage),
	TRACE(an_undone_reduction_does_not_deepen_the_next_one),
	TRACE(a_report_within_a_round_trip_of_a_canary_belongs_to_another),
	TRACE(a_report_that_may_be_a_canarys_is_assigned_to_it),
	TRACE(a_report_without_another_retransmission_is_a_canarys),
	TRACE(a_canary_that_is_not_reported_is_a_loss),
	TRACE(a_canary_that_was_not_sent_does_not_count),
	TRACE(a_canary_and_a_loss_of_the_next_round_trip_are_two_reductions),
	TRACE(a_canary_and_a_loss_of_its_round_trip_are_one_reduction),
	TRACE(a_canarys_reduction_covers_waiting_events),
	TRACE(an_undone_reduction_covers_no_canary),
	TRACE(a_late_reduction_stops_growth_for_a_round_trip),
	TRACE(a_timer_that_expires_first_covers_one_round_trip),
	TRACE(losses_of_an_outage_are_one_reduction),
	TRACE(an_overtaken_packet_is_late),
	TRACE(lateness_expires_after_two_periods),
	TRACE(a_spurious_retransmission_was_sent_too_early),
	TRACE(an_event_that_waited_too_short_a_time_lengthens_the_wait),
	TRACE(an_event_that_did_not_wait_says_nothing_of_the_wait),
	TRACE(duplicates_of_the_network_report_no_retransmission),
	TRACE(duplicates_of_the_network_expire),
	TRACE(expired_duplicates_do_not_return),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
