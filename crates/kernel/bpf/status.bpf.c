/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Iterators over the state of the connections in all network namespaces. */
#include "linux.h"
#include "connection.h"
#include "lateness.h"

char _license[] SEC("license") = "Dual MIT/GPL";

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} __attribute__((preserve_access_index));

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct sock *sk;
	struct connection *value;
} __attribute__((preserve_access_index));

struct inode {
	unsigned long i_ino;
} __attribute__((preserve_access_index));

/* include/net/sock.h: a socket that a program has open, and its inode. */
struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
} __attribute__((preserve_access_index));

struct tcp_sock___mptcp {
	bool is_mptcp; /* in kernels with CONFIG_MPTCP */
} __attribute__((preserve_access_index));

/* State of one connection; record.rs parses it. */
struct record {
	__u8 peer[16], local[16]; /* the first four octets for IPv4 */
	__u16 family, peer_port, local_port, state;
	__u32 cwnd, held;
	__u32 srtt, late, hold;
	__u32 events, spurious, restored, timeouts;
	__u32 resent, resent_before;
	__u32 growth;
	__u64 acked, acked_before;
	__u64 began, now;
	__u64 socket;
	__u64 namespace; /* inode */
	__u64 inode; /* of the socket; 0: no program has it open */
	__u64 is_mptcp;
};

/* Returns the inode by which the program that has the socket open is found. */
static __always_inline __u64 inode_of(struct sock *sk)
{
	struct socket_alloc *open = (void *)BPF_CORE_READ(sk, sk_socket);

	return open ? BPF_CORE_READ(open, vfs_inode.i_ino) : 0;
}

/* Returns whether the connection is a subflow of MPTCP. */
static __always_inline bool is_subflow(struct sock *sk)
{
	struct tcp_sock___mptcp *tp = (void *)sk;

	return bpf_core_field_exists(struct tcp_sock___mptcp, is_mptcp) &&
	       BPF_CORE_READ(tp, is_mptcp);
}

/* Writes an octet for each connection of another version, whose state has an unknown format. */
SEC("iter/bpf_sk_storage_map")
int count(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	__u8 state;

	if (!sk)
		return 0;
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state != TCP_CLOSE && state != TCP_LISTEN)
		bpf_seq_write(ctx->meta->seq, &state, sizeof state);
	return 0;
}

/* Writes a record for each connection. */
SEC("iter/bpf_sk_storage_map")
int dump(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	struct sock *sk = ctx->sk;
	struct connection *c = ctx->value;
	struct tcp_sock *tp;
	struct record r = {};

	if (!sk || !c)
		return 0;
	tp = (struct tcp_sock *)sk;
	r.family = BPF_CORE_READ(sk, __sk_common.skc_family);
	r.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	r.peer_port = __builtin_bswap16(BPF_CORE_READ(sk, __sk_common.skc_dport));
	r.local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	if (r.family == 2) { /* AF_INET */
		__be32 peer = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		__be32 local = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);

		__builtin_memcpy(r.peer, &peer, 4);
		__builtin_memcpy(r.local, &local, 4);
	} else {
		BPF_CORE_READ_INTO(&r.peer, sk, __sk_common.skc_v6_daddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&r.local, sk, __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
	}
	r.cwnd = c->cwnd;
	r.growth = c->growth;
	r.held = c->hold.held;
	r.late = lateness(c);
	r.hold = c->lateness.hold;
	r.events = c->counters.events;
	r.spurious = c->counters.spurious;
	r.restored = c->counters.restored;
	r.timeouts = c->counters.timeouts;
	r.srtt = BPF_CORE_READ(tp, srtt_us) >> 3;
	r.resent = BPF_CORE_READ(tp, total_retrans);
	r.resent_before = c->start.resent;
	r.acked = BPF_CORE_READ(tp, bytes_acked);
	r.acked_before = c->start.acked;
	r.began = c->start.at;
	r.now = bpf_ktime_get_ns();
	r.socket = (__u64)sk;
	r.namespace = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	r.inode = inode_of(sk);
	r.is_mptcp = is_subflow(sk);
	bpf_seq_write(ctx->meta->seq, &r, sizeof r);
	return 0;
}
