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

static const struct trace traces[] = {
	TRACE(a_connection_begins_with_the_numbers_of_its_handshake),
	TRACE(a_cut_answers_for_its_losses_only),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
