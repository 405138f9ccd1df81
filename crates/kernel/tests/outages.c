/*
 * What an outage teaches about the lateness of packets: traces computed by hand. In each, packets
 * on time take 100 ms, and nothing has been late before unless the trace says so.
 */
#include "traces.h"
#include "../bpf/timeout.h"

static struct sock *sk = (struct sock *)&tp;

/* Nothing is late, and an ACK arrives at 0 ms. */
static void start_in_order(void)
{
	start();
	sk->__sk_common.skc_state = TCP_ESTABLISHED;
	network.ipv4.sysctl_tcp_retries2 = 15;
	c.lateness.greatest[0] = c.lateness.hold = 0;
	c.hold.head = tp.snd_una;
	c.hold.head_since = c.last_ack = tp.tcp_mstamp;
	tp.packets_out = 100;
}

/*
 * Receives an ACK whose RTT sample is that of a packet sent at `sent` ms. A packet sent at
 * `latest` ms has been delivered, too.
 */
static bool receive(__u32 ms, __u32 latest, __u32 sent)
{
	at(ms);
	tp.rack.mstamp = 1000000 + latest * 1000;
	return update_lateness(&tp, &c, 0, (ms - sent) * 1000);
}

/* The timer expires. All packets are marked lost. */
static void expire(__u32 ms)
{
	at(ms);
	tp.lost_out = tp.packets_out - tp.sacked_out;
	tp.snd_cwnd = 1;
	tp.prior_ssthresh = 80;
	tp.undo_marker = 1;
	timeout(sk, &c);
	tp.inet_conn.icsk_ca_state = TCP_CA_Loss;
	tp.inet_conn.icsk_rto = 1500; /* 6 s: it includes an RTT of 5 s */
}

/*
 * Packets sent at -50 to 50 ms arrive, and their ACKs are lost in an outage of five seconds. The
 * head is sent again at 300, 900, 2100 and 4900 ms. The last one's ACK reports the others, and so
 * do the next two, since an ACK has few blocks.
 */
static void packets_from_before_an_outage_are_not_late(void)
{
	start_in_order();
	expire(300);
	expire(900);
	expire(2100);
	expire(4900);
	expect(receive(5000, 4900, 0), false);
	expect(lateness(&c), 0);
	expect(receive(5010, 4900, 20), false);
	expect(receive(5020, 4900, 50), false);
	expect(lateness(&c), 0);
	expect(c.lateness.hold, 0);
	expect(c.lateness.on_time, 100000);
	/* A packet sent after it is late by 50 ms. */
	tp.inet_conn.icsk_ca_state = TCP_CA_Open;
	expect(receive(5150, 5050, 5050), true);
	expect(receive(5170, 5060, 5020), false);
	expect(lateness(&c), 50000);
}

/* In the same outage, packets are late by up to 200 ms before. That still counts. */
static void an_outage_does_not_lengthen_the_hold(void)
{
	start_in_order();
	c.lateness.greatest[0] = 200000;
	c.lateness.hold = 227000;
	expire(700);
	expire(2100);
	expire(4900);
	receive(5000, 4900, 0);
	receive(5010, 4900, -80);
	expect(c.lateness.hold, 227000);
}

/*
 * What the timer sends again had arrived, so DSACKs report it. SRTT includes the outage: it is a
 * second.
 */
static void duplicates_from_a_timeout_do_not_lengthen_the_hold(void)
{
	start_in_order();
	expire(300);
	expire(4900);
	tp.srtt_us = 8 * 1000000;
	tp.total_retrans = 10;
	for (__u32 n = 0; n < 5; n++)
		receive_dsack(5000 + 300 * n);
	expect(lateness(&c), 0);
	tp.inet_conn.icsk_ca_state = TCP_CA_Open;
	receive_dsack(6500); /* of the last retransmission */
	expect(lateness(&c), 0);
	/* A second later, a retransmission was spurious without a timeout. */
	tp.srtt_us = 8 * 100000;
	receive_dsack(7600);
	expect(lateness(&c), 100000);
}

/*
 * No ACK arrives from 0 to 290 ms, so the timer does not expire. A tail loss probe was sent at 200
 * ms, and counts as having overtaken all others.
 */
static void packets_from_before_a_short_silence_are_not_late(void)
{
	start_in_order();
	receive(1, -100, -100);
	expect(receive(291, 200, 20), false);
	expect(receive(292, 200, 50), false);
	expect(lateness(&c), 0);
}

/*
 * Two packets are sent at 0 ms, and nothing else. The second arrives on time, the first one 200 ms
 * later. It was overtaken before the silence.
 */
static void a_packet_that_was_overtaken_before_a_silence_is_late(void)
{
	start_in_order();
	tp.packets_out = 2;
	expect(receive(101, 1, 1), true);
	expect(receive(300, 1, 0), false);
	expect(lateness(&c), 300000 - c.lateness.on_time);
}

/* All data was acknowledged 5 s ago. The first of three packets is late by 50 ms. */
static void a_pause_hides_nothing(void)
{
	start_in_order();
	receive(1, -100, -100);
	at(5000);
	tp.packets_out = 0;
	begin_flight(&tp, &c);
	tp.packets_out = 3;
	expect(receive(5102, 5002, 5002), true);
	expect(receive(5150, 5002, 5000), false);
	expect(lateness(&c), 150000 - c.lateness.on_time);
}

/*
 * Packets are later than the timer, and ACKs of others arrive all the time. That is no outage, and
 * the late ones are measured.
 */
static void a_timeout_for_a_late_packet_hides_nothing(void)
{
	start_in_order();
	for (__u32 ms = 10; ms <= 300; ms += 10)
		receive(ms, ms - 100, ms - 100);
	expire(301);
	tp.inet_conn.icsk_ca_state = TCP_CA_Loss;
	for (__u32 ms = 310; ms < 700; ms += 10)
		receive(ms, ms - 100, ms - 100);
	expect(receive(700, 600, 100), false);
	expect(lateness(&c), 500000);
}

/* The clock wraps after 72 minutes. */
static void an_old_outage_hides_nothing(void)
{
	start_in_order();
	expire(300);
	expire(4900);
	tp.inet_conn.icsk_ca_state = TCP_CA_Open;
	for (__u32 ms = 5000; ms <= 4200000; ms += 100)
		receive(ms, ms - 100, ms - 100);
	expect(lateness(&c), 0);
	receive(4200050, 4199950, 4199800);
	expect(lateness(&c) > 100000, true);
}

/* Times of ACKs, generated. Returns the next of a sequence of numbers below `bound`. */
static __u32 random_below(__u32 *state, __u32 bound)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % bound;
}

/*
 * A path that is late by at most 80 ms, with outages of 0.4 to 8 s at random. Packets that arrived
 * shortly before an outage are reported after it, in any order. The lateness stays within 80 ms.
 */
static void random_outages_teach_no_lateness(void)
{
	for (__u32 seed = 1; seed <= 200; seed++) {
		__u32 state = seed, ms = 0;

		start_in_order();
		for (__u32 n = 0; n < 20; n++) {
			__u32 begins, try, n_reported, latest = ms;

			for (__u32 acks = 50 + random_below(&state, 200); acks; acks--) {
				__u32 late = random_below(&state, 10) ? 0 : random_below(&state, 80);

				ms += 1 + random_below(&state, 10);
				if (ms < 200)
					continue;
				latest = max(latest, late ? ms - 101 : ms - 100);
				receive(ms, latest, ms - 100 - late);
			}
			begins = ms;
			ms += 300;
			expire(ms);
			for (try = 600; try < random_below(&state, 8000); try *= 2)
				expire(ms += try);
			latest = ms;
			ms += 100;
			for (n_reported = 1 + random_below(&state, 20); n_reported; n_reported--) {
				receive(ms, latest, begins - random_below(&state, 180));
				ms += random_below(&state, 20);
			}
			tp.inet_conn.icsk_ca_state = TCP_CA_Open;
			if (lateness(&c) > 82000) {
				expect(seed, 0);
				expect(lateness(&c), 80000);
				return;
			}
		}
	}
}

static const struct trace traces[] = {
	TRACE(packets_from_before_an_outage_are_not_late),
	TRACE(an_outage_does_not_lengthen_the_hold),
	TRACE(duplicates_from_a_timeout_do_not_lengthen_the_hold),
	TRACE(packets_from_before_a_short_silence_are_not_late),
	TRACE(a_packet_that_was_overtaken_before_a_silence_is_late),
	TRACE(a_pause_hides_nothing),
	TRACE(a_timeout_for_a_late_packet_hides_nothing),
	TRACE(an_old_outage_hides_nothing),
	TRACE(random_outages_teach_no_lateness),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
