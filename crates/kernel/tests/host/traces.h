/* Helpers of the traces. Segments are numbered from 0, and times are in ms. */
#pragma once
#include "../../bpf/linux.h"
#include "../../bpf/connection.h"
#include "../../bpf/lateness.h"
#include "../../bpf/growth.h"
#include "../../bpf/hold.h"
#include "../../bpf/verdict.h"

#include <stdio.h>
#include <string.h>

static struct tcp_sock tp;
static struct net network;
static __u32 metrics[16]; /* of the route */
static struct dst_entry route;
static struct connection c;
static int failed;

#define expect(what, is) expect_(__LINE__, #what, what, is)
static void expect_(int line, const char *what, long measured, long expected)
{
	if (measured != expected) {
		printf("line %d: %s is %ld, not %ld\n", line, what, measured, expected);
		failed = 1;
	}
}

static void at(__u32 ms)
{
	tp.tcp_mstamp = 1000000 + ms * 1000;
	ticks = 250 + ms / 4;
}

/* What the kernel's BBR received last, and what it sets. */
static struct {
	struct rate_sample sample;
	__u32 cwnd, timeouts, undone;
	__u8 prev_ca_state;
	__u32 sets; /* the window it sets. 0: it keeps its window */
} bbr;

void bbr_main(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	bbr.sample = *rs;
	bbr.cwnd = tp.snd_cwnd;
	bbr.prev_ca_state = bbr_of(&tp)->prev_ca_state;
	if (bbr.sets)
		tp.snd_cwnd = bbr.sets;
}

void bbr_main___2(struct sock *sk, const struct rate_sample *rs) { bbr_main(sk, 0, 0, rs); }
void bbr_set_state(struct sock *sk, __u8 state) { bbr.timeouts += state == TCP_CA_Loss; }
__u32 bbr_undo_cwnd(struct sock *sk) { return bbr.undone++, tp.snd_cwnd; }
__u32 bbr_ssthresh(struct sock *sk) { return bbr.cwnd = tp.snd_cwnd, 1 << 30; }

/*
 * Starts with a window of 100 after slow start, a round trip of 100 ms, and packets late by up to
 * 200 ms, so that reports may take 400 ms.
 */
static void start(void)
{
	memset(&tp, 0, sizeof tp);
	memset(&c, 0, sizeof c);
	memset(&bbr, 0, sizeof bbr);
	growth = GROWTH_CUBIC;
	kept = &c;
	network.ipv4 = (struct netns_ipv4){
		.sysctl_tcp_pacing_ss_ratio = 200,
		.sysctl_tcp_pacing_ca_ratio = 120,
	};
	((struct sock *)&tp)->__sk_common.skc_net.net = &network;
	memset(metrics, 0, sizeof metrics);
	route._metrics = (unsigned long)metrics | 1;
	((struct sock *)&tp)->sk_dst_cache = &route;
	tp.inet_conn.icsk_rto_min = 50; /* 200 ms */
	at(0);
	tp.srtt_us = 8 * 100000;
	tp.inet_conn.icsk_rto = 75; /* 300 ms */
	tp.snd_nxt = 100;
	tp.snd_cwnd_clamp = ~0U;
	c.cwnd = 100;
	c.ssthresh = 80;
	c.lateness.on_time = c.lateness.lowest[0] = c.lateness.lowest[1] = 100000;
	c.lateness.greatest[0] = 200000;
	c.lateness.hold = 227000;
}

/* Sends `n` segments again, from `seq` on, which was sent 327 ms ago. */
static void resend(__u32 seq, __u32 n)
{
	suspect(&tp, &c, seq, (__u32)tp.tcp_mstamp - 327000, n);
	tp.total_retrans += n;
}

/* Receives an ACK of all data before `una` that reports `duplicates`. */
static void acknowledge(__u32 una, __u32 duplicates)
{
	tp.snd_una = una;
	tp.dsack_dups += duplicates;
	judge(&tp, &c);
}

/* Receives an ACK every 10 ms until then. */
static void wait_until(__u32 ms)
{
	for (__u32 now = ((__u32)tp.tcp_mstamp - 1000000) / 1000; now < ms; now += 10) {
		at(now + 10);
		judge(&tp, &c);
	}
}

static void receive_dsack(__u32 ms)
{
	at(ms);
	tp.dsack_dups++;
	update_lateness(&tp, &c, 0, -1);
	judge(&tp, &c);
}

struct trace {
	const char *name;
	void (*trace)(void);
};

#define TRACE(name) { #name, name }

/* Runs all traces, and returns the exit status. */
static int run(const struct trace *traces, unsigned number)
{
	for (unsigned n = 0; n < number; n++) {
		int before = failed;

		failed = 0;
		traces[n].trace();
		printf("%s: %s\n", traces[n].name, failed ? "FAILED" : "ok");
		failed |= before;
	}
	return failed;
}
