/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Types of the kernel, with the fields that the programs read. libbpf relocates each access by
 * name to the offset in the running kernel (CO-RE), so unused fields are left out, and their
 * order does not matter.
 */
#pragma once

typedef signed char __s8;
typedef unsigned char __u8;
typedef short __s16;
typedef unsigned short __u16;
typedef int __s32;
typedef unsigned int __u32;
typedef long long __s64;
typedef unsigned long long __u64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false, true };

/* include/uapi/linux/bpf.h */
enum {
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
};

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* A constant that the loader sets, so that the verifier removes code that it excludes. */
#ifndef SET_BY_LOADER
#define SET_BY_LOADER const volatile
#endif

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

struct tcp_congestion_ops;

struct netns_ipv4 {
	const struct tcp_congestion_ops *tcp_congestion_control; /* the default */
	__u8 sysctl_tcp_slow_start_after_idle;
	__u8 sysctl_tcp_retries2;
	int sysctl_tcp_pacing_ss_ratio; /* percent */
	int sysctl_tcp_pacing_ca_ratio;
};

struct list_head {
	struct list_head *next;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	atomic_t refs;
} refcount_t;

struct ns_common {
	const void *ops; /* the same for all network namespaces */
	unsigned int inum;
	refcount_t __ns_ref; /* since Linux 6.18 */
};

struct ns_common___before_6_18 {
	refcount_t count;
};

struct net {
	struct list_head list;
	struct ns_common ns;
	struct netns_ipv4 ipv4;
	__u64 net_cookie;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
	possible_net_t skc_net;
};

struct socket {
	unsigned long flags;
};

struct dst_entry {
	unsigned long _metrics; /* an address whose two lowest bits are flags */
};

struct cgroup;

struct sock_cgroup_data {
	struct cgroup *cgroup;
};

struct sock {
	struct socket *sk_socket;
	struct sock_cgroup_data sk_cgrp_data;
	struct dst_entry *sk_dst_cache;
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_pacing_status;
	unsigned int sk_gso_max_size;
	struct rb_root tcp_rtx_queue;
};

enum tcp_ca_event {
	CA_EVENT_TX_START, /* first transmission when nothing is in flight */
	CA_EVENT_CWND_RESTART,
	CA_EVENT_COMPLETE_CWR,
	CA_EVENT_LOSS,
	CA_EVENT_ECN_NO_CE,
	CA_EVENT_ECN_IS_CE,
};

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ }; /* by nothing, by a timer, by fq */

enum { TCP_ESTABLISHED = 1, TCP_SYN_SENT = 2, TCP_CLOSE = 7, TCP_CLOSE_WAIT = 8, TCP_LISTEN = 10 };

enum tcp_ca_state { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

struct ack_sample;

struct rate_sample {
	/* RTT of the latest packet that this ACK covers and that was sent once. Negative: none. */
	long rtt_us;
	int losses;
	__u32 acked_sacked;
	__u32 prior_delivered; /* `delivered` when that packet was sent */
	bool is_app_limited;
};

struct tcp_congestion_ops {
	/*
	 * These three are the first members so that the loader finds them. It removes the first
	 * one if cong_control has the flags, and one of the other two: since Linux 7.1,
	 * CA_EVENT_TX_START has its own callback.
	 */
	void (*in_ack_event)(struct sock *sk, __u32 flags);
	void (*cwnd_event)(struct sock *sk, enum tcp_ca_event ev);
	void (*cwnd_event_tx_start)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 new_state);
	__u32 (*min_tso_segs)(struct sock *sk);
	/*
	 * Two arguments before Linux 6.10, four since. The loader reads this from the kernel's
	 * BTF.
	 */
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*sndbuf_expand)(struct sock *sk);
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
	__u32 flags;
	char name[16];
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u32 icsk_rto, icsk_rto_min; /* jiffies */
	__u8 icsk_ca_state : 5;
	__u8 icsk_ca_setsockopt : 1; /* a program has chosen the congestion control */
	__u8 icsk_backoff;
	struct {
		int search_low; /* octets of the largest packet that a probe found to fit */
	} icsk_mtup;
	__u64 icsk_ca_priv[13]; /* state of the kernel's own congestion controls */
};

struct tcp_options_received {
	__u16 saw_tstamp : 1, tstamp_ok : 1, dsack : 1, wscale_ok : 1, sack_ok : 3, smc_ok : 1;
};

struct tcp_rack {
	__u64 mstamp; /* send time of the latest packet that was delivered, us */
};

struct sk_buff {
	struct rb_node rbnode; /* node of the queue of sent packets */
	unsigned char *head, *data;
	__u16 network_header;
	char cb[48];
	__u64 skb_mstamp_ns;
};

struct tcp_skb_cb {
	__u32 seq;
	__u16 tcp_gso_segs;
	__u8 sacked;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct tcp_options_received rx_opt;
	struct tcp_rack rack;
	__u64 tcp_mstamp;	/* time of the current ACK, us */
	__u64 tcp_clock_cache;	/* ns */
	__u32 snd_una, snd_nxt, snd_wnd, write_seq, high_seq;
	__u32 snd_cwnd, snd_cwnd_clamp, snd_ssthresh, snd_cwnd_cnt, snd_cwnd_stamp, snd_cwnd_used;
	__u32 packets_out, sacked_out, lost_out, retrans_out;
	__u32 max_packets_out, reordering;
	__u8 is_cwnd_limited : 1;
	__u8 tcp_usec_ts : 1; /* since Linux 6.7: retrans_stamp is in us, else in ms */
	__u8 ecn_flags;
	__u32 srtt_us; /* eight times SRTT */
	__u32 mss_cache;
	__u32 lsndtime; /* jiffies */
	__u32 delivered, lost; /* segments since the connection began */
	__u32 total_retrans, dsack_dups, retrans_stamp;
	__u32 reord_seen; /* number of reordering events */
	__u32 prior_ssthresh, undo_marker;
	int undo_retrans;
	__u64 bytes_acked;
	struct sk_buff *retransmit_skb_hint;
};

#pragma clang attribute pop

/* include/net/tcp.h, net/ipv4/tcp_input.c */
enum {
	TCPCB_SACKED_ACKED = 1,
	TCPCB_SACKED_RETRANS = 2,
	TCPCB_LOST = 4,
	TCPCB_EVER_RETRANS = 0x80,

	FLAG_DATA_ACKED = 0x04,
	FLAG_DATA_SACKED = 0x20,
	FLAG_SYN_ACKED = 0x10,
	FLAG_ECE = 0x40,
	FLAG_DSACK_TLP = 0x20000,
	FLAG_FORWARD_PROGRESS = FLAG_DATA_ACKED | FLAG_SYN_ACKED | FLAG_DATA_SACKED,

	CA_ACK_ECE = 4,
	TCP_ECN_QUEUE_CWR = 2,
	TCP_ECN_MODE_ACCECN = 0x10,
	TCP_CONG_NON_RESTRICTED = 1,
	SOCK_NOSPACE = 2, /* bit */
	DSACK_SEEN = 4, /* in sack_ok */
	TCP_INIT_CWND = 10,
	IPPROTO_TCP = 6,
	TCP_CONGESTION = 13,
	TCP_RTO_MAX_MS = 44,
	RTAX_LOCK = 1, /* metrics of routes, from 1 */
	RTAX_RTO_MIN = 13,
};

#define USEC_PER_SEC 1000000U

static __always_inline bool before(__u32 a, __u32 b) { return (__s32)(a - b) < 0; }
static __always_inline __u32 max(__u32 a, __u32 b) { return a > b ? a : b; }
static __always_inline __u32 min(__u32 a, __u32 b) { return a < b ? a : b; }

static __always_inline __u32 clamp(__u32 v, __u32 low, __u32 high)
{
	return max(low, min(v, high));
}

static __always_inline struct tcp_sock *tcp_sk(struct sock *sk) { return (struct tcp_sock *)sk; }

static __always_inline __u8 ca_state(struct tcp_sock *tp)
{
	return BPF_CORE_READ_BITFIELD(tp, inet_conn.icsk_ca_state);
}

/* Returns whether the kernel saw reordering, or sent again what had arrived. */
static __always_inline bool saw_reordering(struct tcp_sock *tp)
{
	return tp->reord_seen || tp->dsack_dups;
}

/* RFC 6675's pipe, as the kernel calculates it (tcp_packets_in_flight). */
static __always_inline __u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out;
}

/* Segments that the kernel deems lost and that were not sent again. */
static __always_inline __u32 missing(struct tcp_sock *tp)
{
	return tp->lost_out > tp->retrans_out ? tp->lost_out - tp->retrans_out : 0;
}
