/* What becomes of what is kept of a connection where it begins, pauses, is long or ends: traces computed by hand. */
#include "traces.h"

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

static const struct trace traces[] = {
	TRACE(a_connection_begins_with_the_numbers_of_its_handshake),
	TRACE(a_cut_answers_for_its_losses_only),
	TRACE(a_pause_makes_no_packet_overdue),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
