/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Retransmissions that are held back. The kernel (RACK) deems packets lost and would send them
 * again at once. Here they wait until they are later than recent packets were. A congestion
 * control has no callback for this, but the kernel calls min_tso_segs at the start of
 * tcp_xmit_retransmit_queue() and of tcp_write_xmit(), where snd_cwnd may be set: in the first to
 * what is in flight plus the segments that may be sent again, in the second to the window minus
 * the held segments.
 */
#pragma once
#include "connection.h"
#include "reports.h"

/* Maximum number of steps over the queue of sent packets. */
#define STEPS_OF_WALK 256

static __always_inline __u64 word(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof value, (void *)address);
	return value;
}

enum direction { HERE, DOWN, UP };

struct step {
	struct walk *walk;
};

/*
 * Makes one step over the queue of sent packets, in the order of their numbers: down to the left,
 * to a packet, or up. With nested loops, or with the state on the stack, newer verifiers need
 * half a million instructions.
 */
static long step(__u32 index, struct step *s)
{
	struct walk *w = s->walk;
	__u64 node = w->node, next, sent_ns = 0;
	struct tcp_skb_cb *cb;
	__u8 sacked = 0;
	__u32 sent;

	if (!node)
		return 1;
	if (w->direction == DOWN) {
		next = word(node + bpf_core_field_offset(struct rb_node, rb_left));
		if (next) {
			w->node = next;
			return 0;
		}
	} else if (w->direction == UP) {
		next = word(node) & ~3ULL;
		w->node = next;
		if (!next)
			return 1;
		if (word(next + bpf_core_field_offset(struct rb_node, rb_right)) == node)
			return 0;
		node = next;
	}
	/* The node is the head of the packet's struct sk_buff. */
	cb = (void *)(node + bpf_core_field_offset(struct sk_buff, cb));
	sacked = BPF_CORE_READ(cb, sacked);
	if ((sacked & TCPCB_LOST) && !(sacked & (TCPCB_SACKED_ACKED | TCPCB_SACKED_RETRANS))) {
		sent_ns = word(node + bpf_core_field_offset(struct sk_buff, skb_mstamp_ns));
		sent = sent_ns / 1000;
		/*
		 * The kernel retransmits in this order, so a waiting packet blocks those behind
		 * it.
		 */
		if ((__s32)(w->now - sent - w->overdue) < 0) {
			w->oldest_known = !w->found && !(sacked & TCPCB_EVER_RETRANS);
			w->oldest = sent;
			return 1;
		}
		if (!w->found) {
			w->found = 1;
			w->seq = BPF_CORE_READ(cb, seq);
			w->sent = sent;
		}
		w->ready += max(BPF_CORE_READ(cb, tcp_gso_segs), 1);
	}
	next = word(node + bpf_core_field_offset(struct rb_node, rb_right));
	w->node = next ? next : node;
	w->direction = next ? DOWN : UP;
	return 0;
}

/*
 * Returns whether the application has no more data to send. If it waits for room in the send
 * buffer, it has more.
 */
static __always_inline bool at_end(struct sock *sk)
{
	struct tcp_sock *tp = tcp_sk(sk);

	return tp->write_seq == tp->snd_nxt &&
	       !(BPF_CORE_READ(sk, sk_socket, flags) & 1 << SOCK_NOSPACE);
}

/*
 * Returns the size of the send buffer (tcp_sndbuf_expand), in windows of snd_cwnd. The buffer
 * holds eight times the data that is stored until the latest packet is acknowledged, instead of
 * the usual two. The kernel enlarges the buffer only while it limits the sender and snd_cwnd
 * leaves room. Held segments take that room, so the buffer must suffice while the window grows.
 */
static __always_inline __u32 buffer_windows(struct tcp_sock *tp, struct connection *c)
{
	struct lateness *l = &c->lateness;
	__u32 kept = c->cwnd, window = max(tp->snd_cwnd, TCP_INIT_CWND);

	if (!l->hold || !l->on_time)
		return 2;
	kept += (__u64)c->cwnd * l->hold / l->on_time;
	return clamp(8 * kept / max(window, tp->reordering + 1), 2, 64);
}

/* Returns the send time of the first packet that the kernel deems lost, after the timer expired. */
static __always_inline __u32 head_sent(struct sock *sk, struct connection *c)
{
	struct walk *w = &c->hold.walk;
	struct step s = { w };

	w->now = tcp_sk(sk)->tcp_mstamp;
	w->found = w->overdue = 0;
	w->node = (__u64)BPF_CORE_READ(sk, tcp_rtx_queue.rb_node);
	w->direction = DOWN;
	bpf_loop(STEPS_OF_WALK, step, &s, 0);
	return w->found ? w->sent : w->now - c->lateness.on_time;
}

/*
 * Returns whether the last walk showed that no segment is overdue now. It ended at the first
 * segment that the kernel deems lost, which was sent once. All others that are lost were sent
 * later: RACK marks segments in the order of sending, and those behind the first one were sent
 * after it.
 */
static __always_inline bool none_overdue(struct walk *w)
{
	return w->oldest_known && (__s32)(w->now - w->oldest - w->overdue) < 0;
}

/*
 * Returns the number of segments that are late enough to be sent again. If they need not wait,
 * these are all segments that the kernel deems lost.
 */
static __always_inline __u32 overdue(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct walk *w = &c->hold.walk;
	struct step s = { w };
	__u32 lost = missing(tp);
	bool waits;

	w->found = 0;
	w->now = tp->tcp_mstamp;
	if (!c->lateness.hold)
		return lost;
	/* At the end of the data, or with nothing in flight, a wait would delay the application. */
	waits = in_flight(tp) && !at_end(sk);
	w->overdue = waits ? max(c->lateness.on_time, 1000) + c->lateness.hold : 0;
	if (waits && none_overdue(w))
		return 0;
	w->ready = w->seq = w->sent = w->oldest_known = 0;
	w->direction = HERE;
	w->node = (__u64)tp->retransmit_skb_hint;
	if (!w->node) {
		w->node = (__u64)BPF_CORE_READ(sk, tcp_rtx_queue.rb_node);
		w->direction = DOWN;
	}
	bpf_loop(STEPS_OF_WALK, step, &s, 0);
	return waits ? min(w->ready, lost) : lost;
}

/* Sets snd_cwnd for new data: the window minus the held segments. */
static __always_inline void show_window(struct tcp_sock *tp, struct connection *c)
{
	struct hold *h = &c->hold;
	__u32 window;

	h->held = c->lateness.hold ? min(missing(tp), h->held) : 0;
	window = c->cwnd > h->held ? c->cwnd - h->held : 0;
	if (h->ceiling)
		window = min(window, h->ceiling);
	tp->snd_cwnd = h->silent ? 1 : max(window, 2);
}

/* Sets snd_cwnd so that the kernel retransmits `n` segments, as far as the window allows. */
static __always_inline void release(struct tcp_sock *tp, struct connection *c, __u32 n)
{
	struct hold *h = &c->hold;
	__u32 flight = in_flight(tp), pipe = flight + h->held, room;

	room = c->cwnd > pipe ? c->cwnd - pipe : 1;
	if (h->ceiling)
		room = min(room, h->ceiling > flight ? h->ceiling - flight : 1);
	tp->snd_cwnd = max(flight + min(n, room), 1);
}

/*
 * Returns whether a canary is needed. Until a segment is retransmitted in a recovery, the kernel
 * clears all loss marks when SND.UNA advances (tcp_try_undo_partial), and RACK does not mark
 * truly lost segments again. So one segment of each recovery is sent at once.
 */
static __always_inline bool needs_canary(struct tcp_sock *tp)
{
	return missing(tp) && !tp->retrans_stamp;
}

static __always_inline void send_canary(struct tcp_sock *tp, struct connection *c)
{
	struct canaries *k = &c->canaries;
	struct canary *canary;

	k->at = tp->total_retrans;
	k->made++;
	k->requested = 1;
	k->kept = k->next - k->first < CANARIES;
	if (k->kept) {
		canary = canary_at(c, k->next++);
		canary->sent = tp->tcp_mstamp;
		canary->seq = tp->snd_una;
		canary->next = tp->snd_nxt;
		canary->is_covered = !uncovered(tp, c);
		canary->window = c->cwnd;
	}
	c->hold.held = missing(tp) - 1;
	tp->snd_cwnd = in_flight(tp) + 1;
}

/* Restarts the age of the head with the first packet after a pause. */
static __always_inline void begin_flight(struct tcp_sock *tp, struct connection *c)
{
	c->hold.head_since = tp->tcp_mstamp;
}

/*
 * Truly lost packets without loss marks keep RACK's timer running, which prevents the
 * retransmission timer from expiring. If the head is overdue and nothing was retransmitted,
 * nothing more is sent, so that the timer expires and sets the marks again.
 */
static __always_inline void watch_head(struct tcp_sock *tp, struct connection *c)
{
	struct hold *h = &c->hold;
	__u32 now = tp->tcp_mstamp;

	if (tp->snd_una != h->head) {
		h->head = tp->snd_una;
		h->head_since = now;
		h->silent = 0;
	} else if (c->lateness.hold && tp->sacked_out && !tp->retrans_out &&
		   ca_state(tp) != TCP_CA_Loss &&
		   now - h->head_since >
			   c->lateness.on_time + c->lateness.hold + srtt_us(tp) / 2) {
		h->silent = 1;
	}
}
