//! Parses the records of connections that `status.bpf.c` writes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use crate::Growth;

/// Size of a record, in octets.
const RECORD_OCTETS: usize = 152;

const AF_INET: u16 = 2;

/// States of sockets that are not connections: closed, and listening (include/net/tcp_states.h).
const UNCONNECTED_STATES: [u16; 2] = [7, 10];

/// State of a connection. Counters cover the whole connection; a field with `_before` has the value at the
/// time when the connection came under the congestion control. Times are by `CLOCK_MONOTONIC`.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) peer: SocketAddr,
    pub(crate) local: SocketAddr,
    pub(crate) growth: Growth,
    pub(crate) cwnd: u32,
    pub(crate) held: u32,
    /// Smoothed round-trip time. `None` before the first sample.
    pub(crate) rtt: Option<Duration>,
    pub(crate) late: Duration,
    pub(crate) hold: Duration,
    pub(crate) events: u32,
    pub(crate) spurious: u32,
    pub(crate) restored: u32,
    pub(crate) timeouts: u32,
    pub(crate) resent: u32,
    pub(crate) resent_before: u32,
    pub(crate) acked: u64,
    pub(crate) acked_before: u64,
    /// Time at which the connection came under the congestion control. `None` during the handshake.
    pub(crate) began: Option<Duration>,
    /// Time of the record.
    pub(crate) now: Duration,
    /// Address of the socket in the kernel. A later connection may have the same address.
    pub(crate) socket: u64,
    /// Inode of the network namespace.
    pub(crate) namespace: u64,
    /// Inode of the socket. 0 if no program has it open.
    pub(crate) inode: u64,
    /// Whether the connection is a subflow of MPTCP.
    pub(crate) is_mptcp: bool,
}

/// Parses all records of connections in `octets`.
pub(crate) fn parse(octets: &[u8]) -> Vec<Record> {
    octets.chunks_exact(RECORD_OCTETS).filter_map(Record::parse).collect()
}

impl Record {
    fn parse(record: &[u8]) -> Option<Self> {
        let octets = |at: usize| record[at..at + 16].try_into().unwrap_or([0; 16]);
        let u16 = |at: usize| u16::from_ne_bytes([record[at], record[at + 1]]);
        let u32 = |at: usize| u32::from_ne_bytes(record[at..at + 4].try_into().unwrap_or_default());
        let u64 = |at: usize| u64::from_ne_bytes(record[at..at + 8].try_into().unwrap_or_default());
        let family = u16(32);
        let state = u16(38);
        if UNCONNECTED_STATES.contains(&state) {
            return None;
        }
        let address = |at, port| {
            let octets: [u8; 16] = octets(at);
            let ip = if family == AF_INET {
                IpAddr::V4(Ipv4Addr::new(octets[0], octets[1], octets[2], octets[3]))
            } else {
                IpAddr::V6(Ipv6Addr::from(octets)).to_canonical()
            };
            SocketAddr::new(ip, port)
        };
        let words: [u32; 12] = std::array::from_fn(|i| u32(40 + 4 * i));
        let [
            cwnd,
            held,
            srtt,
            late,
            hold,
            events,
            spurious,
            restored,
            timeouts,
            resent,
            resent_before,
            growth,
        ] = words;
        let longs: [u64; 8] = std::array::from_fn(|i| u64(88 + 8 * i));
        let [acked, acked_before, began, now, socket, namespace, inode, is_mptcp] = longs;
        let micros = |us| Duration::from_micros(u64::from(us));
        Some(Self {
            peer: address(0, u16(34)),
            local: address(16, u16(36)),
            growth: if growth == 0 { Growth::Cubic } else { Growth::Bbr },
            cwnd,
            held,
            rtt: (srtt > 0).then(|| micros(srtt)),
            late: micros(late),
            hold: micros(hold),
            events,
            spurious,
            restored,
            timeouts,
            resent,
            resent_before,
            acked,
            acked_before,
            began: (began > 0).then(|| Duration::from_nanos(began)),
            now: Duration::from_nanos(now),
            socket,
            namespace,
            inode,
            is_mptcp: is_mptcp != 0,
        })
    }

    /// Returns the record of a connection that began at 1 s, when 1000 octets had been acknowledged.
    #[cfg(test)]
    pub(crate) fn example(socket: u64) -> Self {
        let any = SocketAddr::from(([192, 0, 2, 1], socket as u16));
        Self {
            peer: any,
            local: any,
            growth: Growth::Cubic,
            cwnd: 10,
            held: 0,
            rtt: None,
            late: Duration::ZERO,
            hold: Duration::ZERO,
            events: 0,
            spurious: 0,
            restored: 0,
            timeouts: 0,
            resent: 7,
            resent_before: 5,
            acked: 1000,
            acked_before: 1000,
            began: Some(Duration::from_secs(1)),
            now: Duration::from_secs(1),
            socket,
            namespace: 1,
            inode: socket,
            is_mptcp: false,
        }
    }
}
