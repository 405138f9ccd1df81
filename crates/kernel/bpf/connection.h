/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * State of a connection, by part. Times are in microseconds. They have 32 bits where only
 * differences are used.
 */
#pragma once
#include "linux.h"

/* lateness.h: the lateness of packets. */
struct lateness {
	__u32 on_time;		/* smoothed RTT of packets that no later packet overtook */
	__u32 lowest[2];	/* lowest of these RTTs, in this period and in the previous one */
	__u32 greatest[2];	/* greatest lateness in this period, and in the previous one */
	__u32 period;		/* start of this period */
	__u32 lengthened;	/* time at which a DSACK last showed that the wait was too short */
	/* Lateness beyond the usual at which a packet is sent again. 0: no reordering seen. */
	__u32 hold;
	__u32 overtaken;	/* packets sent before were overtaken, as of the previous ACK */
	/* Packets sent from then until then may have arrived long before an ACK covered them. */
	__u32 hidden_from, hidden_until;
	__u8 outage;		/* the timer expired in a silence, and the state is still Loss */
};

/* hold.h: retransmissions that are held back. */
struct walk {
	__u64 node;		/* node of the queue of sent packets, a red-black tree */
	__u32 now, overdue;	/* age at which a packet may be sent again */
	__u32 ready;		/* number of segments that may be sent again */
	__u32 seq, sent;	/* number and send time of the first of them */
	__u32 oldest;	/* all segments that are deemed lost were sent then or later */
	__u8 oldest_known;
	__u8 found, direction;
};

struct hold {
	/*
	 * tcp_clock_cache at the last ACK; distinguishes the kernel's retransmissions from new
	 * data
	 */
	__u64 clock;
	__u32 held;	/* segments that the kernel deems lost and that are treated as late */
	__u32 ceiling;	/* packet conservation after a reduction; 0: none */
	__u32 head, head_since; /* SND.UNA, and the time of its last advance */
	__u8 silent;	/* nothing is sent until the retransmission timer expires */
	struct walk walk;
};

/* A retransmission that is deliberately sent early (hold.h, reports.h). */
struct canary {
	__u32 seq, next; /* its number, and SND.NXT; a reduction for it covers losses in between */
	__u32 sent, window;
	__u8 is_covered; /* a reduction for another loss of this round trip covers it */
};

#define CANARIES 4

struct canaries {
	__u32 first, next;	/* those without a verdict, in rings.canary */
	__u32 made, reported;
	__u32 lost;		/* number of those that were not reported */
	__u32 refuted;		/* DSACKs for retransmissions other than canaries */
	__u32 dsacks;		/* dsack_dups at the previous ACK */
	__u32 at;		/* total_retrans when the last canary was requested */
	__u8 requested;		/* it is not known yet whether the last canary was sent */
	__u8 kept;		/* the last canary has a place in the ring */
	/* Time of the last DSACK for a segment that was never sent again. 0: none recently. */
	__u32 replicated;
	/* excess() at the start of this period and of the previous one */
	__u32 excess[2];
};

/* history.h: earlier windows. */
struct moment {
	__u32 at, next, window; /* SND.NXT, cwnd */
	__u32 queue;	/* queueing delay beyond the usual, us. 0: none */
};

#define MOMENTS 16

struct history {
	__u32 latest;		/* in rings.moment */
};

/*
 * verdict.h: retransmissions in the order of their transmission. Canaries are counted separately.
 */
#define STEPS 8
#define EVENTS 8

/* A loss event without a verdict, and the state to restore if it is spurious. */
struct event {
	__u32 first, last;	/* its retransmissions: (first, last] */
	__u32 opened;		/* time at which it was opened */
	__u32 window, ssthresh, last_max;
	__u32 from;		/* number of its first loss */
	__u32 covered;		/* losses below this number belong to it */
	__u32 hold;		/* what its first retransmission waited for. 0: nothing */
	__u8 overflow;		/* a queue overflows: all losses until the reduction belong to it */
	__u8 closed;		/* later retransmissions do not belong to it */
	__u8 reduced;		/* the window was reduced for it */
	__u8 refuted;		/* one of its retransmissions was needed */
	__u8 is_covered;	/* the reduction for a canary covers it */
};

struct verdict {
	__u32 step, stepped;	/* the last step of time, in rings.made, and its time */
	__u32 needed;		/* retransmissions that were not reported as duplicates in time */
	__u32 oldest, next;	/* events without a verdict, in rings.event */
	__u32 spurious;		/* share of recent events that were spurious, in 1024ths */
};

/* cubic.h */
struct cubic {
	__u32 last_max, origin, k, epoch, delay_min;
	__u32 window, when;	/* window and time of the last calculation */
	__u32 interval;		/* its result: acknowledged segments per segment of growth */
	__u32 acked, reno;	/* growth of Reno's window */
	__u32 credit;		/* segments acknowledged since the window last grew */
	__u32 round, last_ack, round_rtt; /* HyStart */
	__u8 samples, left;	/* HyStart: RTTs in this round; slow start was left */
};

/* bbr.h: what is kept beside BBR's own state, which is in icsk_ca_priv. */
struct beside_bbr {
	__u32 cwnd;		/* BBR's window, without room for late packets */
	__u32 lost, losses;	/* at the last ACK: tp->lost, and losses() */
	/* Packet conservation: the window, and `delivered` at its start. 0: none */
	__u32 conserved, conserved_from;
	/* Packets sent at these values of `delivered` are limited by something else than BBR. */
	__u32 idle_from, idle_until;
};

/* Rings, behind all else, so that an ACK in order needs few cache lines. */
struct rings {
	struct canary canary[CANARIES];
	struct moment moment[MOMENTS];
	struct event event[EVENTS];
	__u32 made[STEPS]; /* number of retransmissions at the last steps of time */
};

struct counters {
	__u32 events, spurious, restored, timeouts;
};

/* Counters at the start under the congestion control. Status shows only later counts. */
struct start {
	__u64 at;	/* ns, CLOCK_MONOTONIC */
	__u64 acked;	/* octets acknowledged */
	__u32 resent;	/* retransmissions */
};

struct connection {
	__u32 cwnd, ssthresh;
	__u32 mss;		/* octets of a segment; the windows are in such segments */
	__u32 probed;		/* icsk_mtup.search_low at the time of `mss` */
	__u32 covered;		/* a reduction covers the losses below this number */
	/* SND.NXT at the last late reduction. The window does not grow until it is acknowledged. */
	__u32 growth_resumes;
	__u32 last_ack;		/* time of the last ACK */
	__u32 rto_cwnd, rto_ssthresh; /* from before a timeout */
	__u32 rto_next;		/* SND.NXT at the last timeout */
	/* TCP_RTO_MAX_MS from before it was bounded (backoff.h). 0: it is not bounded. */
	__u32 rto_max_ms;
	/* The timeout reduced the window: no earlier reduction covered its losses. */
	__u8 rto_cut;
	/*
	 * The window is being restored: the last timeout was undone, and not all data from before
	 * it is acknowledged.
	 */
	__u8 restoring;
	/* In state Loss, ACKs still arrive, so a single packet is later than the timer. */
	__u8 path_alive;
	__u8 ece;		/* the current ACK carries ECE */
	__u8 growth;		/* GROWTH_CUBIC or GROWTH_BBR */
	struct lateness lateness;
	struct cubic cubic;
	struct verdict verdict;
	struct canaries canaries;
	struct history history;
	struct hold hold;
	struct beside_bbr bbr;
	struct counters counters;
	struct start start;
	struct rings rings;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct connection);
} unruffled_conns SEC(".maps");

enum growth { GROWTH_CUBIC, GROWTH_BBR };

/* Ticks per second, the number of arguments of cong_control, and the growth of the window. */
SET_BY_LOADER __u32 hz = 250, cong_control_arguments = 4, growth = GROWTH_CUBIC;

static __always_inline bool grows_by_bbr(void) { return growth == GROWTH_BBR; }

/*
 * Returns the number of DSACKs beyond the number of retransmissions. The network must have
 * duplicated these packets.
 */
static __always_inline __u32 excess(struct tcp_sock *tp)
{
	__s32 beyond = tp->dsack_dups - tp->total_retrans;

	return beyond > 0 ? beyond : 0;
}

/*
 * Sets the pacing rate as tcp_update_pacing_rate does: a window per RTT, times the ratio of one
 * sysctl in the first half of slow start, and of another afterwards.
 */
static __always_inline void pace(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u64 window = max(c->cwnd, tp->packets_out);
	__u64 rate = (__u64)tp->mss_cache * (8 * USEC_PER_SEC / 100) * window;
	__u64 limit = sk->sk_max_pacing_rate;
	struct netns_ipv4 *ipv4 = &sk->__sk_common.skc_net.net->ipv4;

	if (!tp->srtt_us)
		return;
	rate *= c->cwnd < c->ssthresh / 2 ? ipv4->sysctl_tcp_pacing_ss_ratio
					  : ipv4->sysctl_tcp_pacing_ca_ratio;
	rate /= tp->srtt_us;
	sk->sk_pacing_rate = rate < limit ? rate : limit;
}

/* Initialises the state when the connection is established or changes to this algorithm. */
static __noinline void begin(struct sock *sk, struct connection *c)
{
	struct tcp_sock *tp = tcp_sk(sk);

	c->cwnd = tp->snd_cwnd;
	c->ssthresh = tp->snd_ssthresh;
	c->mss = tp->mss_cache;
	c->probed = tp->inet_conn.icsk_mtup.search_low;
	c->growth_resumes = tp->snd_una;
	/* In CWR, Recovery and Loss the window was reduced for all data before high_seq. */
	c->covered = ca_state(tp) >= TCP_CA_CWR ? tp->high_seq : tp->snd_una;
	c->canaries.dsacks = tp->dsack_dups;
	/* Earlier retransmissions, also of SYNs, need no verdict. */
	c->verdict.needed = tp->total_retrans - tp->dsack_dups;
	c->canaries.excess[0] = c->canaries.excess[1] = excess(tp);
	c->lateness.period = tp->tcp_mstamp;
	c->start.at = bpf_ktime_get_ns();
	c->start.acked = tp->bytes_acked;
	c->start.resent = tp->total_retrans;
	c->growth = growth;
	c->bbr.cwnd = tp->snd_cwnd;
	c->bbr.lost = tp->lost;
	/* The first window is paced, too. The kernel leaves pacing to the congestion control. */
	if (!grows_by_bbr())
		pace(sk, c);
}

/*
 * Returns the state of a connection, or 0 if it has none yet. A socket whose handshake has not
 * begun has neither sequence numbers nor a window. This happens when a cgroup's program chooses
 * the congestion control.
 */
static __always_inline struct connection *connection(struct sock *sk)
{
	/* An earlier allocation may have failed. */
	struct connection *c =
		bpf_sk_storage_get(&unruffled_conns, sk, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!c || sk->__sk_common.skc_state == TCP_SYN_SENT)
		return 0;
	if (!c->cwnd)
		begin(sk, c);
	return c;
}

static __always_inline __u32 jiffies(void) { return (__u32)bpf_jiffies64(); }

static __always_inline __u32 rto_us(struct tcp_sock *tp)
{
	return tp->inet_conn.icsk_rto * (USEC_PER_SEC / hz);
}

static __always_inline __u32 srtt_us(struct tcp_sock *tp) { return max(tp->srtt_us >> 3, 1000); }

/* Returns whether a loss at SND.UNA is not yet covered by a reduction. */
static __always_inline bool uncovered(struct tcp_sock *tp, struct connection *c)
{
	return !before(tp->snd_una, c->covered);
}
