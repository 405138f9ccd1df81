/*
 * The walk over the queue of sent packets is left out while no packet can be overdue. It never
 * changes the number of packets that are sent again.
 */
#include "traces.h"
#include "../bpf/hold.h"

#define PACKETS 4096

/* The queue of sent packets, as a tree that is a list. */
static struct sk_buff queue[PACKETS];
static __u32 first, end;

static struct tcp_skb_cb *packet(__u32 n) { return (void *)queue[n].cb; }

static __u32 random_below(__u32 *state, __u32 bound)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % bound;
}

static __u32 sent(__u32 n) { return queue[n].skb_mstamp_ns / 1000; }

/* Links the packets from `first` on, each as the right child of the one before. */
static void link_queue(struct sock *sk)
{
	sk->tcp_rtx_queue.rb_node = first < end ? &queue[first].rbnode : 0;
	for (__u32 n = first; n < end; n++) {
		queue[n].rbnode.rb_left = 0;
		queue[n].rbnode.rb_right = n + 1 < end ? &queue[n + 1].rbnode : 0;
		queue[n].rbnode.__rb_parent_color =
			n > first ? (unsigned long)&queue[n - 1].rbnode : 0;
	}
}

static void send(void)
{
	struct tcp_skb_cb cb = { .seq = end, .tcp_gso_segs = 1 };

	memcpy(queue[end].cb, &cb, sizeof cb);
	queue[end++].skb_mstamp_ns = tp.tcp_mstamp * 1000;
	tp.packets_out++;
}

/* The packet arrives, and is SACKed. */
static void arrive(__u32 n)
{
	struct tcp_skb_cb *cb = packet(n);

	if (cb->sacked & TCPCB_SACKED_ACKED)
		return;
	tp.lost_out -= !!(cb->sacked & TCPCB_LOST);
	tp.retrans_out -= !!(cb->sacked & TCPCB_SACKED_RETRANS);
	cb->sacked = TCPCB_SACKED_ACKED;
	tp.sacked_out++;
	tp.rack.mstamp = sent(n) > tp.rack.mstamp ? sent(n) : tp.rack.mstamp;
	for (; first < end && packet(first)->sacked & TCPCB_SACKED_ACKED; first++) {
		tp.sacked_out--;
		tp.packets_out--;
	}
}

/* Marks lost what was sent `window` before the latest packet that arrived (RFC 8985). */
static void mark_losses(__u32 window)
{
	for (__u32 n = first; n < end; n++) {
		struct tcp_skb_cb *cb = packet(n);

		if (cb->sacked & TCPCB_SACKED_ACKED || sent(n) + window >= tp.rack.mstamp)
			continue;
		tp.retrans_out -= !!(cb->sacked & TCPCB_SACKED_RETRANS);
		tp.lost_out += !(cb->sacked & TCPCB_LOST);
		cb->sacked = (cb->sacked & ~TCPCB_SACKED_RETRANS) | TCPCB_LOST;
	}
}

/* Sends `n` lost packets again, from the first one on. */
static void retransmit(__u32 n)
{
	for (__u32 i = first; i < end && n; i++) {
		struct tcp_skb_cb *cb = packet(i);

		if (!(cb->sacked & TCPCB_LOST) || cb->sacked & TCPCB_SACKED_RETRANS)
			continue;
		cb->sacked |= TCPCB_SACKED_RETRANS | TCPCB_EVER_RETRANS;
		queue[i].skb_mstamp_ns = tp.tcp_mstamp * 1000;
		tp.retrans_out++;
		tp.total_retrans++;
		n--;
	}
}

static void the_walk_is_left_out_only_where_it_finds_nothing(void)
{
	struct sock *sk = (void *)&tp;
	struct socket socket = { 0 };
	__u32 left_out = 0, calls = 0;

	for (__u32 seed = 1; seed <= 300; seed++) {
		__u32 state = seed, ms = 0, latest = 1 + random_below(&state, 60);

		start();
		sk->sk_socket = &socket;
		tp.write_seq = tp.snd_nxt + 1000;
		first = end = 0;
		while (end < 2000) {
			__u32 ready;

			at(ms += random_below(&state, 3));
			c.lateness.hold = 1000 * (1 + random_below(&state, 100));
			c.lateness.on_time = 30000;
			while (tp.packets_out < 60)
				send();
			for (__u32 n = random_below(&state, 4); n && first < end; n--)
				arrive(first + random_below(&state, min(end - first, latest)));
			mark_losses(1000 * random_below(&state, 20));
			link_queue(sk);
			if (!missing(&tp) || !in_flight(&tp))
				continue;
			calls++;
			c.hold.walk.now = tp.tcp_mstamp;
			c.hold.walk.overdue = max(c.lateness.on_time, 1000) + c.lateness.hold;
			left_out += none_overdue(&c.hold.walk);
			ready = overdue(sk, &c);
			if (random_below(&state, 2)) {
				struct connection with = c;

				c.hold.walk.oldest_known = 0;
				if (overdue(sk, &c) != ready || c.hold.walk.found != with.hold.walk.found) {
					expect(seed, 0);
					return;
				}
				c = with;
			}
			retransmit(random_below(&state, 3) ? min(ready, 2) : !random_below(&state, 50));
		}
	}
	expect(left_out > calls / 10, true);
}

static const struct trace traces[] = {
	TRACE(the_walk_is_left_out_only_where_it_finds_nothing),
};

int main(void)
{
	return run(traces, sizeof traces / sizeof *traces);
}
