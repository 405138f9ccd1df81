/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Removes the timestamps option from handshakes: from SYNs of sockets with the congestion
 * control, and from SYNs for listeners with it. Its octets become NOPs, so no length changes.
 * Linux has no socket option for this.
 */
#include "linux.h"
#include "chosen.h"
#include "options.h"

char _license[] SEC("license") = "Dual MIT/GPL";

/* include/uapi/linux/bpf.h. The verifier translates the context; libbpf does not relocate it. */
struct bpf_sock;

struct bpf_sock_tuple {
	union {
		struct {
			__be32 saddr, daddr;
			__be16 sport, dport;
		} ipv4;
		struct {
			__be32 saddr[4], daddr[4];
			__be16 sport, dport;
		} ipv6;
	};
};

struct __sk_buff {
	__u32 len, pkt_type, mark, queue_mapping, protocol, vlan_present, vlan_tci, vlan_proto;
	__u32 priority, ingress_ifindex, ifindex, tc_index, cb[5], hash, tc_classid, data, data_end;
	__u32 napi_id;
	__u32 family, remote_ip4, local_ip4, remote_ip6[4], local_ip6[4], remote_port, local_port;
	__u32 data_meta;
	__u64 flow_keys, tstamp;
	__u32 wire_len, gso_segs;
	struct bpf_sock *sk;
};

struct bpf_fib_lookup {
	__u8 family, l4_protocol;
	__be16 sport, dport, tot_len;
	__u32 ifindex, flowinfo;
	__be32 src[4], dst[4]; /* the first one for IPv4 */
	__u8 link[16];
};

enum {
	TCX_NEXT = -1, /* TC_ACT_UNSPEC with clsact */
	BPF_HDR_START_NET = 1,
	BPF_F_CURRENT_NETNS = -1,
	ETH_P_IP = 0x0800,
	ETH_P_IPV6 = 0x86dd,
	IP_FRAGMENT = 0x3fff, /* more fragments, or an offset */
	AF_INET = 2,
	AF_INET6 = 10,
	PACKET_HOST = 0,
	NOT_FORWARDED = 4, /* BPF_FIB_LKUP_RET_NOT_FWDED */
	FORWARDING_DISABLED = 5, /* BPF_FIB_LKUP_RET_FWD_DISABLED */
	SYN = 0x02,
	ACK = 0x10,
	TCP_HEADER = 20,
};

/* A packet. Offsets are from the network header. */
struct packet {
	__u32 tcp, end;
	bool v6;
	struct bpf_sock_tuple tuple;
};

static __always_inline long load(struct __sk_buff *skb, __u32 at, void *to, __u32 length)
{
	return bpf_skb_load_bytes_relative(skb, at, to, length, BPF_HDR_START_NET);
}

/* Parses the headers of a SYN without ACK. Returns whether the packet is one. */
static __always_inline bool parse_syn(struct __sk_buff *skb, struct packet *p)
{
	__u8 ip[40], tcp[TCP_HEADER];

	if (skb->protocol == __builtin_bswap16(ETH_P_IP)) {
		if (load(skb, 0, ip, 20) || ip[9] != IPPROTO_TCP ||
		    (((ip[6] << 8) | ip[7]) & IP_FRAGMENT))
			return false;
		p->tcp = (ip[0] & 15) * 4;
		p->v6 = false;
		__builtin_memcpy(&p->tuple.ipv4.saddr, ip + 12, 4);
		__builtin_memcpy(&p->tuple.ipv4.daddr, ip + 16, 4);
	} else if (skb->protocol == __builtin_bswap16(ETH_P_IPV6)) {
		/* Extension headers in a SYN are not supported. */
		if (load(skb, 0, ip, 40) || ip[6] != IPPROTO_TCP)
			return false;
		p->tcp = 40;
		p->v6 = true;
		__builtin_memcpy(p->tuple.ipv6.saddr, ip + 8, 16);
		__builtin_memcpy(p->tuple.ipv6.daddr, ip + 24, 16);
	} else {
		return false;
	}
	if (load(skb, p->tcp, tcp, sizeof tcp) || (tcp[13] & (SYN | ACK)) != SYN)
		return false;
	p->end = p->tcp + (tcp[12] >> 4) * 4;
	if (p->v6) {
		__builtin_memcpy(&p->tuple.ipv6.sport, tcp, 2);
		__builtin_memcpy(&p->tuple.ipv6.dport, tcp + 2, 2);
	} else {
		__builtin_memcpy(&p->tuple.ipv4.sport, tcp, 2);
		__builtin_memcpy(&p->tuple.ipv4.dport, tcp + 2, 2);
	}
	return true;
}

/* Returns the offset of the option. 0: there is none. */
static __always_inline __u32 find(struct __sk_buff *skb, struct packet *p)
{
	struct search s = {};
	__u32 length = p->end - p->tcp - TCP_HEADER;

	if (length < TIMESTAMPS_LENGTH || length > OPTIONS_MAX ||
	    load(skb, p->tcp + TCP_HEADER, s.octet, length))
		return 0;
	s.length = length;
	bpf_loop(OPTIONS_MAX, next_option, &s, 0);
	return s.found && !s.authenticated ? p->tcp + TCP_HEADER + s.found - 1 : 0;
}

/* Overwrites the option with NOPs, and updates the checksum (RFC 1624). */
static __always_inline void remove_option(struct __sk_buff *skb, struct packet *p, __u32 at)
{
	/*
	 * The context is a struct sk_buff. Its data begins at the link layer, which packets of a
	 * TUN device do not have.
	 */
	struct sk_buff *kernel = (void *)skb;
	__u32 headroom = BPF_CORE_READ(kernel, data) - BPF_CORE_READ(kernel, head);
	__u32 network = BPF_CORE_READ(kernel, network_header) - headroom;
	__u8 option[12] = {}, nops[12] = {};
	__s64 difference;
	__u32 sum;

	for (int i = 0; i < TIMESTAMPS_LENGTH; i++)
		nops[i] = OPTION_NOP;
	if (load(skb, at, option, TIMESTAMPS_LENGTH))
		return;
	difference = bpf_csum_diff((__be32 *)option, sizeof option, (__be32 *)nops, sizeof nops, 0);
	if (difference < 0)
		return;
	sum = difference;
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	if ((at - p->tcp) & 1) /* words of the checksum begin at even octets */
		sum = ((sum & 0xff) << 8) | (sum >> 8);
	bpf_skb_store_bytes(skb, network + at, nops, TIMESTAMPS_LENGTH, 0);
	bpf_l4_csum_replace(skb, network + p->tcp + 16, 0, sum, 0);
}

SEC("tcx/egress")
int outgoing_syn(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;
	struct packet p = {};
	struct tcp_sock *tp;
	__u32 at;

	if (!sk)
		return TCX_NEXT;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || !is_unruffled(tp) || !parse_syn(skb, &p))
		return TCX_NEXT;
	at = find(skb, &p);
	if (at)
		remove_option(skb, &p, at);
	return TCX_NEXT;
}

/*
 * Returns whether the packet is for this host. A listener for any address is also found for
 * packets that are only forwarded.
 */
static __always_inline bool is_for_us(struct __sk_buff *skb, struct packet *p)
{
	struct bpf_fib_lookup route = {
		.family = p->v6 ? AF_INET6 : AF_INET,
		.l4_protocol = IPPROTO_TCP,
		.ifindex = skb->ifindex,
	};
	long result;

	if (p->v6) {
		__builtin_memcpy(route.src, p->tuple.ipv6.saddr, 16);
		__builtin_memcpy(route.dst, p->tuple.ipv6.daddr, 16);
	} else {
		route.src[0] = p->tuple.ipv4.saddr;
		route.dst[0] = p->tuple.ipv4.daddr;
	}
	result = bpf_fib_lookup(skb, &route, sizeof route, 0);
	return result == NOT_FORWARDED || result == FORWARDING_DISABLED;
}

SEC("tcx/ingress")
int incoming_syn(struct __sk_buff *skb)
{
	struct packet p = {};
	struct bpf_sock *sk;
	struct tcp_sock *tp;
	bool is_chosen;
	__u32 at, length;

	/* The interfaces of a bridge also receive packets for other hosts. */
	if (skb->pkt_type != PACKET_HOST || !parse_syn(skb, &p))
		return TCX_NEXT;
	at = find(skb, &p);
	if (!at)
		return TCX_NEXT;
	length = p.v6 ? sizeof p.tuple.ipv6 : sizeof p.tuple.ipv4;
	sk = bpf_skc_lookup_tcp(skb, &p.tuple, length, BPF_F_CURRENT_NETNS, 0);
	if (!sk)
		return TCX_NEXT;
	tp = bpf_skc_to_tcp_sock(sk);
	is_chosen = tp && is_unruffled(tp);
	bpf_sk_release(sk);
	if (is_chosen && is_for_us(skb, &p))
		remove_option(skb, &p, at);
	return TCX_NEXT;
}
