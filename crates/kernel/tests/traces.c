/* Traces of the congestion control's parts, computed by hand. */
#include "traces.h"

static void what_nobody_reports_was_lost(void)
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

static void what_is_reported_was_late(void)
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

static void one_round_trip_is_cut_once(void)
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

/* Three round trips, a cut in each; the first one's segment was lost, those of the others were late. */
static void a_loss_does_not_keep_later_cuts_from_being_undone(void)
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
	wait_until(500); /* the first was not reported in time, and its cut stands */
	expect(c.verdict.needed, 1);
	expect(c.cwnd, 34);
	acknowledge(200, 1);
	expect(c.cwnd, 49); /* one of two is undone: 70 * 0.7 */
	expect(c.covered, 220);
	acknowledge(200, 1);
	expect(c.cwnd, 70);
	expect(c.covered, 200);
	expect(c.counters.spurious, 2);
	wait_until(2000);
	expect(c.cwnd, 70);
}

/* Pacing or small queues kept back what was to be sent again, until it was acknowledged by itself. */
static void what_arrives_before_it_is_sent_again_was_late(void)
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
	/* What else this window lost counts. */
	resend(1, 1);
	expect(c.cwnd, 70);
}

/* The same where one of two arrives when the other has been sent again: a report decides. */
static void what_arrives_when_another_was_sent_again_disproves_nothing(void)
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

/* It was sent again after all, later than half a round trip; a report takes 400 ms from then. */
static void what_is_sent_again_later_is_reported_all_the_same(void)
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

/* A round trip of 20 ms and packets that are late by two of them, which is not known yet: a report takes three. */
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

static void where_cuts_are_often_spurious_they_wait_for_the_verdict(void)
{
	start();
	c.verdict.spurious = 301;
	resend(0, 1);
	expect(c.cwnd, 100);
	wait_until(500);
	expect(c.cwnd, 70);
	expect(c.verdict.spurious, 301 - 301 / 8);
}

/* Losses in two round trips: two cuts, although neither was made before the second loss. */
static void what_waits_answers_for_its_round_trip_only(void)
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

/* Ten are missing at once while a cut waits: that one is made, and what it answers for stays answered for. */
static void an_older_cut_takes_nothing_back(void)
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

/* Until the window is cut the queue stays full, and what it drops is one event. */
static void an_overflow_ends_with_the_cut(void)
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

static void many_at_once_do_not_wait(void)
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

/* What would have no place of its own joins the latest: no cut that waits is forgotten. */
static void no_more_cuts_wait_than_are_kept(void)
{
	start();
	c.verdict.spurious = 301;
	lose_nine_times();
	expect(c.counters.events, 8);
	expect(c.cwnd, 100);
}

static void more_events_than_are_kept_are_believed(void)
{
	start();
	lose_nine_times();
	expect(c.counters.events, 9);
	expect(c.verdict.next - c.verdict.oldest, 8);
	at(90);
	acknowledge(tp.snd_nxt, 9);
	wait_until(200);
	/* All but the first are undone: 100 * 0.7. */
	expect(c.cwnd, 70);
}

/* The window grows by one in 10 ms while a segment waits; the cut is from what it was a round trip after that was sent. */
static void waiting_does_not_pay(void)
{
	start();
	for (__u32 ms = 0; ms <= 330; ms += 10) {
		at(ms);
		c.cwnd = 100 + ms / 10;
		remember(&tp, &c); /* each 30 ms: a twelfth of 327 at least */
	}
	resend(0, 1); /* sent at 3, deemed lost in order at 103: 109 at 90 */
	expect(c.cwnd, 76);
}

/* A segment is late while the cut that is undone was in force; the window was 100 all along. */
static void a_cut_that_was_undone_does_not_make_the_next_one_deeper(void)
{
	start();
	resend(0, 1);
	for (__u32 ms = 0; ms <= 180; ms += 30) {
		at(ms);
		remember(&tp, &c);
	}
	at(200);
	acknowledge(20, 1);
	expect(c.cwnd, 100);
	at(400);
	resend(20, 1); /* sent at 73, deemed lost in order at 173 */
	expect(c.cwnd, 70);
}

/* A segment is sent again at 0, and `after` ms later one ahead of time on purpose. */
static void with_a_canary(__u32 after)
{
	start();
	resend(0, 1);
	at(after);
	c.canaries.made = c.canaries.next = 1;
	c.canaries.out[0].sent = tp.tcp_mstamp;
	c.canaries.out[0].seq = 20;
	tp.total_retrans++;
}

static void a_report_within_a_round_trip_of_a_canary_is_anothers(void)
{
	with_a_canary(50);
	hear_of_a_duplicate(140);
	expect(c.canaries.reported, 0);
	expect(c.counters.spurious, 1);
	expect(c.cwnd, 100);
	hear_of_a_duplicate(240);
	expect(c.canaries.reported, 1);
}

/* The report may be that of either; it does not clear the other of a loss. */
static void a_report_that_may_be_a_canarys_is(void)
{
	with_a_canary(50);
	hear_of_a_duplicate(150);
	expect(c.canaries.reported, 1);
	wait_until(1000);
	expect(c.counters.spurious, 0);
	expect(c.verdict.needed, 1);
	expect(c.cwnd, 70);
}

/* The path grew shorter than any round trip that is remembered. */
static void a_report_that_no_other_awaits_is_a_canarys(void)
{
	with_a_canary(50);
	hear_of_a_duplicate(60);
	expect(c.canaries.reported, 0);
	hear_of_a_duplicate(70);
	expect(c.canaries.reported, 1);
}

/* What it says is known long after its packet was acknowledged. */
static void a_canary_that_nobody_reports_is_a_loss(void)
{
	start();
	c.canaries.made = c.canaries.next = tp.total_retrans = 1;
	c.canaries.out[0] = (struct canary){ .sent = tp.tcp_mstamp, .seq = 20, .window = 100 };
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

/* Pacing forbade it, and an ACK un-marked what was missing; 400 ms later something else is sent again. */
static void a_canary_that_was_not_sent_is_none(void)
{
	start();
	tp.lost_out = 1;
	send_canary(&tp, &c);
	tp.lost_out = 0;
	at(10);
	learn(&tp, &c, 0, -1);
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

static void a_canary_and_a_loss_of_the_next_round_trip_are_two_cuts(void)
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

static void a_canary_and_a_loss_of_its_round_trip_are_one_cut(void)
{
	lose_the_head();
	at(350);
	resend(50, 1);
	expect(c.cwnd, 70);
	wait_until(1000);
	expect(c.counters.events, 1);
	expect(c.cwnd, 70);
}

/* The same where cuts wait for their verdict: the canary's comes first. */
static void a_canarys_cut_answers_for_what_waits(void)
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

static void a_cut_that_was_undone_answers_for_no_canary(void)
{
	lose_the_head();
	at(20);
	resend(50, 1);
	expect(c.cwnd, 70);
	hear_of_a_duplicate(90);
	expect(c.cwnd, 100);
	wait_until(1000);
	expect(c.cwnd, 70);
}

/* The window does not grow in the round trip of a cut, though it comes when its segment has long been passed. */
static void a_cut_that_comes_late_rests_for_a_round_trip(void)
{
	lose_the_head();
	at(400);
	tp.snd_nxt = 300;
	acknowledge(200, 0);
	wait_until(600);
	expect(c.cwnd, 70);
	expect(resting(&tp, &c), true);
	acknowledge(299, 0);
	expect(resting(&tp, &c), true);
	acknowledge(300, 0);
	expect(resting(&tp, &c), false);
}

/* The retransmission timer expires ahead of the wait, at 410 ms, for what was sent at 0 ms. */
static void a_timer_that_comes_first_answers_for_one_round_trip(void)
{
	start();
	for (__u32 ms = 0; ms <= 390; ms += 30) {
		at(ms);
		tp.snd_nxt = 100 + ms;
		remember(&tp, &c);
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

/* What the last ACK before an outage of five seconds let go is lost, and found to be by the first one after it. */
static void what_an_outage_took_is_cut_once(void)
{
	start();
	remember(&tp, &c);
	tp.snd_nxt = 150;
	at(5000);
	remember(&tp, &c);
	tp.snd_una = 100;
	suspect(&tp, &c, 100, 1000000, 1);
	expect(c.cwnd, 70);
	expect(c.covered, 150);
	suspect(&tp, &c, 101, 1002000, 1);
	expect(c.cwnd, 70);
	expect(c.counters.events, 1);
}

static void late_is_what_was_overtaken(void)
{
	start();
	c.lateness.greatest[0] = 0;
	at(400);
	tp.rack.mstamp = tp.tcp_mstamp - 100000;
	expect(learn(&tp, &c, 0, 100000), true);
	expect(lateness(&c), 0);
	expect(c.lateness.hold, 0);
	at(500);
	tp.rack.mstamp = tp.tcp_mstamp - 100000;
	expect(learn(&tp, &c, 0, 300000), false); /* sent before what had come */
	expect(lateness(&c), 200000);
	expect(c.lateness.on_time, 100000);
	expect(c.lateness.hold, 227000); /* an eighth and 2 ms more */
	tp.inet_conn.icsk_rto = 50; /* 200 ms: held for seven eighths of it at most */
	learn(&tp, &c, 0, -1);
	expect(c.lateness.hold, 175000);
}

static void lateness_is_forgotten_after_two_periods(void)
{
	start();
	at(7500);
	learn(&tp, &c, 0, -1);
	expect(lateness(&c), 200000);
	at(16000);
	learn(&tp, &c, 0, -1);
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
	learn(&tp, &c, 0, -1);
	expect(lateness(&c), 100000); /* a round trip at first */
	at(250);
	tp.dsack_dups = 2;
	learn(&tp, &c, 0, -1);
	expect(lateness(&c), 100000); /* once in a round trip */
	at(350);
	tp.dsack_dups = 3;
	learn(&tp, &c, 0, -1);
	expect(lateness(&c), 139500); /* 114.5 were held, a quarter of a round trip more */
}

/* The network duplicates packets; one that is lost later was lost all the same. */
static void what_the_network_duplicates_reports_no_retransmission(void)
{
	start();
	c.lateness.greatest[0] = c.lateness.hold = 0;
	for (__u32 n = 1; n <= 5; n++)
		hear_of_a_duplicate(10 * n);
	expect(lateness(&c), 0);
	resend(0, 1);
	hear_of_a_duplicate(200);
	wait_until(1000);
	expect(c.cwnd, 70);
	expect(c.counters.spurious, 0);
	expect(c.verdict.needed + tp.dsack_dups, tp.total_retrans);
	tp.total_retrans = 10;
	wait_until(17000); /* nothing of the kind for 16 s */
	tp.snd_una = 100;
	tp.snd_nxt = 200;
	resend(100, 1);
	wait_until(17100);
	acknowledge(110, 1);
	expect(c.cwnd, 70);
	expect(c.counters.spurious, 1);
}

/* A burst of what it duplicated is over; nothing was sent again that would make up for it. */
static void what_the_network_duplicated_is_forgotten(void)
{
	start();
	for (__u32 n = 1; n <= 5; n++)
		hear_of_a_duplicate(10 * n);
	for (__u32 ms = 1000; ms <= 25000; ms += 1000) {
		at(ms);
		learn(&tp, &c, 0, -1);
	}
	resend(0, 1);
	expect(c.cwnd, 70);
	hear_of_a_duplicate(25200);
	expect(c.cwnd, 100);
	expect(c.counters.spurious, 1);
	hear_of_a_duplicate(25300); /* one more is the network's again */
	resend(50, 1);
	hear_of_a_duplicate(25500);
	expect(c.cwnd, 70);
}

/* In 72 minutes the clock comes around. */
static void what_the_network_duplicated_does_not_come_back(void)
{
	start();
	hear_of_a_duplicate(10);
	tp.total_retrans++;
	for (__u32 s = 1; s <= 4295; s++) {
		at(1000 * s);
		learn(&tp, &c, 0, -1);
		judge(&tp, &c);
	}
	resend(0, 1);
	hear_of_a_duplicate(4295200);
	expect(c.cwnd, 100);
}

static const struct trace traces[] = {
	TRACE(what_nobody_reports_was_lost),
	TRACE(what_is_reported_was_late),
	TRACE(one_round_trip_is_cut_once),
	TRACE(a_loss_does_not_keep_later_cuts_from_being_undone),
	TRACE(what_arrives_before_it_is_sent_again_was_late),
	TRACE(what_arrives_when_another_was_sent_again_disproves_nothing),
	TRACE(what_is_sent_again_later_is_reported_all_the_same),
	TRACE(a_first_lateness_does_not_end_slow_start),
	TRACE(where_cuts_are_often_spurious_they_wait_for_the_verdict),
	TRACE(what_waits_answers_for_its_round_trip_only),
	TRACE(an_older_cut_takes_nothing_back),
	TRACE(an_overflow_ends_with_the_cut),
	TRACE(many_at_once_do_not_wait),
	TRACE(no_more_cuts_wait_than_are_kept),
	TRACE(more_events_than_are_kept_are_believed),
	TRACE(waiting_does_not_pay),
	TRACE(a_cut_that_was_undone_does_not_make_the_next_one_deeper),
	TRACE(a_report_within_a_round_trip_of_a_canary_is_anothers),
	TRACE(a_report_that_may_be_a_canarys_is),
	TRACE(a_report_that_no_other_awaits_is_a_canarys),
	TRACE(a_canary_that_nobody_reports_is_a_loss),
	TRACE(a_canary_that_was_not_sent_is_none),
	TRACE(a_canary_and_a_loss_of_the_next_round_trip_are_two_cuts),
	TRACE(a_canary_and_a_loss_of_its_round_trip_are_one_cut),
	TRACE(a_canarys_cut_answers_for_what_waits),
	TRACE(a_cut_that_was_undone_answers_for_no_canary),
	TRACE(a_cut_that_comes_late_rests_for_a_round_trip),
	TRACE(a_timer_that_comes_first_answers_for_one_round_trip),
	TRACE(what_an_outage_took_is_cut_once),
	TRACE(late_is_what_was_overtaken),
	TRACE(lateness_is_forgotten_after_two_periods),
	TRACE(a_spurious_retransmission_was_sent_too_early),
	TRACE(what_the_network_duplicates_reports_no_retransmission),
	TRACE(what_the_network_duplicated_is_forgotten),
	TRACE(what_the_network_duplicated_does_not_come_back),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
