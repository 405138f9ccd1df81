/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What is kept of a connection, part by part. Times are in microseconds, of 32 bits where only differences count. */
#pragma once
#include "linux.h"

/* lateness.h: how late packets are. */
struct lateness {
	__u32 on_time;		/* smoothed RTT of packets that nothing sent after them overtook */
	__u32 lowest[2];	/* of those RTTs, in this period and in the one before */
	__u32 greatest[2];	/* greatest lateness in this period, and in the one before */
	__u32 period;		/* when this period began */
	__u32 lengthened;	/* when a DSACK last said that too little was waited */
	__u32 hold;		/* how much later than usual a packet must be before it is sent again; 0: no reordering seen */
};

/* hold.h: what is held back. */
struct walk {
	__u64 node;		/* of the queue of packets sent, a red-black tree */
	__u32 now, overdue;	/* a packet this old may be sent again */
	__u32 ready;		/* segments that may be */
	__u32 seq, sent;	/* of the first of them */
	__u8 found, direction;
};

struct hold {
	struct walk walk;
	__u64 clock;	/* tcp_clock_cache at the last ACK: tells the kernel's retransmissions from its new data */
	__u32 held;	/* segments deemed lost by the kernel and thought late by us */
	__u32 ceiling;	/* packet conservation after a reduction; 0: none */
	__u32 head, head_since; /* SND.UNA, and since when */
	__u8 silent;	/* nothing is sent until the retransmission timer expires */
};

/* A retransmission made ahead of time on purpose (hold.h, reports.h). */
struct canary {
	__u32 seq, next; /* its number, and SND.NXT: what a cut for it would have answered for */
	__u32 sent, window;
	__u8 answered;	/* a cut for another loss of this round trip answers for it */
};

struct canaries {
	struct canary out[4]; /* those without an answer, a ring */
	__u32 first, next;
	__u32 made, reported, heard; /* heard: all DSACKs so far */
	__u32 at; /* total_retrans when the last was asked for */
	__u8 asked, kept; /* whether it is not known yet if that was sent; whether it has a place in the ring */
	__u32 replicated; /* when a DSACK last was for what was never sent again; 0: not lately */
	__u32 excess[2]; /* DSACKs beyond retransmissions, at the begin of this period and of the one before */
};

/* history.h: what the window was. */
struct moment {
	__u32 at, next, window; /* SND.NXT, cwnd */
	__u32 queue;	/* whether packets stood in a queue: how long beyond the usual, us */
};

#define MOMENTS 16

struct history {
	struct moment moment[MOMENTS]; /* a ring */
	__u32 latest;
};

/* verdict.h: retransmissions, in the order in which they were made; canaries are counted apart. */
#define STEPS 8
#define EVENTS 8

/* A loss event without a verdict, and what to restore. */
struct event {
	__u32 first, last;	/* its retransmissions: (first, last] */
	__u32 opened;		/* when */
	__u32 window, ssthresh, last_max;
	__u32 from;		/* its first loss */
	__u32 covered;		/* losses below this number are the same event */
	__u8 overflow;		/* of a queue: so are all until the cut */
	__u8 closed;		/* retransmissions no longer join it */
	__u8 reduced;		/* the window was cut for it */
	__u8 refuted;		/* one of its retransmissions was needed */
	__u8 answered;		/* a canary's cut answers for it */
};

struct verdict {
	__u32 made[STEPS];	/* how many retransmissions there were at the last steps of time */
	__u32 step, stepped;
	__u32 needed;		/* those not reported as duplicates in time */
	struct event event[EVENTS]; /* a ring */
	__u32 oldest, next;
	__u32 spurious;		/* share of recent events, in 1024ths */
};

/* growth.h: CUBIC. */
struct cubic {
	__u32 last_max, origin, k, epoch, delay_min;
	__u32 window, when, interval; /* at the last calculation, its time, and what it came to: ACKs per segment of growth */
	__u32 acked, reno;	/* as Reno would grow */
	__u32 credit;		/* acknowledged since the window last grew */
	__u32 round, last_ack, round_rtt; /* HyStart */
	__u8 samples, left;	/* HyStart: RTTs in this round; slow start was left */
};

struct counters {
	__u32 events, spurious, restored, timeouts;
};

/* What the connection had when it was taken over: only what came after is shown. */
struct start {
	__u64 at;	/* ns, CLOCK_MONOTONIC */
	__u64 acked;	/* octets acknowledged */
	__u32 resent;	/* retransmissions */
};

struct connection {
	__u32 cwnd, ssthresh;
	__u32 mss;		/* octets of a segment, of which these windows are */
	__u32 probed;		/* icsk_mtup.search_low, as of then */
	__u32 covered;		/* losses below this number are answered for */
	__u32 rest;		/* SND.NXT at the last cut that came late: until it is acknowledged the window does not grow */
	__u32 last_ack;		/* when */
	__u32 rto_cwnd, rto_ssthresh; /* from before a timeout */
	__u32 rto_next;		/* SND.NXT at the last one */
	__u32 rto_most;		/* ms; from before it was bounded (backoff.h); 0: it is not */
	__u8 rto_cut;		/* the timeout cut the window: nothing had before */
	__u8 returns;		/* the timeout was undone: what was sent before it is not all acknowledged, and no other came since */
	__u8 gentle;		/* state Loss, though ACKs arrive: one packet is later than the timer, no more */
	__u8 ece;		/* the ACK being processed carries ECE */
	struct lateness lateness;
	struct hold hold;
	struct canaries canaries;
	struct history history;
	struct verdict verdict;
	struct cubic cubic;
	struct counters counters;
	struct start start;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} unruffled_conns SEC(".maps");

/* Ticks per second; arguments of cong_control. The loader says. */
const volatile __u32 hz = 250, cong_control_arguments = 4;

/* How many more duplicates were reported than packets sent again, all told: those are the network's. */
static __always_inline __u32 excess(struct tcp_sock *tp)
{
	__s32 beyond = tp->dsack_dups - tp->total_retrans;

	return beyond > 0 ? beyond : 0;
}

/* tcp_update_pacing_rate: a window per RTT, times a sysctl's ratio for the first half of slow start, or another's. */
static __always_inline void pace(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 rate = (__u64)tp->mss_cache * (8 * USEC_PER_SEC / 100) * max(c->cwnd, tp->packets_out);
	__u64 limit = sk->sk_max_pacing_rate;
	struct netns_ipv4 *ipv4 = &sk->__sk_common.skc_net.net->ipv4;

	if (!tp->srtt_us)
		return;
	rate *= c->cwnd < c->ssthresh / 2 ? ipv4->sysctl_tcp_pacing_ss_ratio : ipv4->sysctl_tcp_pacing_ca_ratio;
	rate /= tp->srtt_us;
	sk->sk_pacing_rate = rate < limit ? rate : limit;
}

/* From where a connection is taken over: once established, or from another congestion control. */
static __noinline void begin(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);

	c->cwnd = tp->snd_cwnd;
	c->ssthresh = tp->snd_ssthresh;
	c->mss = tp->mss_cache;
	c->probed = tp->inet_conn.icsk_mtup.search_low;
	c->rest = tp->snd_una;
	/* In CWR, Recovery and Loss the window was cut for all that was sent before. */
	c->covered = ca_state(tp) >= TCP_CA_CWR ? tp->high_seq : tp->snd_una;
	c->canaries.heard = tp->dsack_dups;
	/* What was sent again before is none of ours, and needs no verdict: SYNs, too. */
	c->verdict.needed = tp->total_retrans - tp->dsack_dups;
	c->canaries.excess[0] = c->canaries.excess[1] = excess(tp);
	c->lateness.period = tp->tcp_mstamp;
	c->start.at = bpf_ktime_get_ns();
	c->start.acked = tp->bytes_acked;
	c->start.resent = tp->total_retrans;
	/* The first window is paced, too: the kernel leaves that to us. */
	pace(sk, c);
}

/* Who chooses before the handshake is done, as a cgroup's program does, has neither numbers nor a window yet. */
static __always_inline struct connection *connection(struct sock *sk)
{
	/* For want of memory there may have been none at first. */
	struct connection *c = bpf_sk_storage_get(&unruffled_conns, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!c || sk->__sk_common.skc_state == TCP_SYN_SENT)
		return 0;
	if (!c->cwnd)
		begin(sk, c);
	return c;
}

static __always_inline __u32 jiffies(void) { return (__u32)bpf_jiffies64(); }
static __always_inline __u32 rto_us(struct tcp_sock *tp) { return tp->inet_conn.icsk_rto * (USEC_PER_SEC / hz); }
static __always_inline __u32 srtt_us(struct tcp_sock *tp) { return max(tp->srtt_us >> 3, 1000); }

/* Whether what is lost at the head is not answered for yet. */
static __always_inline bool uncovered(struct tcp_sock *tp, struct connection *c)
{
	return !before(tp->snd_una, c->covered);
}
