//! How the connections stand.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use serde::Serialize;

use crate::{Error, object, requirements};

/// A connection under the congestion control, in whichever network namespace.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// Who receives.
    pub peer: SocketAddr,
    /// The own end.
    pub local: SocketAddr,
    /// What was delivered per second, lately.
    pub rate_bps: f64,
    /// The congestion window, in segments.
    pub cwnd: u32,
    /// Smoothed round-trip time.
    #[serde(rename = "rtt_s", serialize_with = "seconds")]
    pub rtt: Duration,
    /// How late packets have been lately.
    #[serde(rename = "late_s", serialize_with = "seconds")]
    pub late: Duration,
    /// How much later than usual a packet must be before it is sent again.
    #[serde(rename = "hold_s", serialize_with = "seconds")]
    pub hold: Duration,
    /// Segments that the kernel deems lost and that are held back now.
    pub held: u32,
    /// Loss events.
    pub events: u32,
    /// Those of them that proved spurious.
    pub spurious: u32,
    /// How often the window was restored.
    pub restored: u32,
    /// How often the retransmission timer expired.
    pub timeouts: u32,
    /// Retransmissions.
    pub retransmissions: u32,
    /// Octets acknowledged.
    pub acked: u64,
    /// Tells connections apart that have the same ends in different namespaces.
    #[serde(skip)]
    pub socket: u64,
}

fn seconds<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

/// The octets of one record; see `status.bpf.c`.
const RECORD: usize = 112;

const AF_INET: u16 = 2;

/// Closed sockets and listeners are not told of (include/net/tcp_states.h).
const NO_CONNECTIONS: [u16; 2] = [7, 10];

/// What there is in all network namespaces.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The connections, those with the highest rate first.
    pub connections: Vec<Connection>,
    /// How many more there are, under the congestion control of another version: no more is known of them.
    pub others: usize,
}

/// How all connections stand.
///
/// # Errors
/// The process may not ask, or the programs are missing.
pub fn status() -> Result<Status, Error> {
    requirements::check()?;
    let (records, others) = object::records()?;
    let mut connections: Vec<_> = records.chunks_exact(RECORD).filter_map(parse).collect();
    connections.sort_by(|a, b| b.rate_bps.total_cmp(&a.rate_bps).then(a.peer.cmp(&b.peer)));
    Ok(Status { connections, others })
}

fn parse(record: &[u8]) -> Option<Connection> {
    let octets = |at: usize| record[at..at + 16].try_into().unwrap_or([0; 16]);
    let u16 = |at: usize| u16::from_ne_bytes([record[at], record[at + 1]]);
    let u32 = |at: usize| u32::from_ne_bytes(record[at..at + 4].try_into().unwrap_or_default());
    let u64 = |at: usize| u64::from_ne_bytes(record[at..at + 8].try_into().unwrap_or_default());
    let (family, state) = (u16(32), u16(38));
    if NO_CONNECTIONS.contains(&state) {
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
    let words: [u32; 14] = std::array::from_fn(|i| u32(40 + 4 * i));
    let [
        cwnd,
        _ssthresh,
        held,
        mss,
        srtt,
        late,
        hold,
        events,
        spurious,
        restored,
        timeouts,
        rtx,
        rate,
        rate_us,
    ] = words;
    let micros = |us| Duration::from_micros(u64::from(us));
    // tcp_compute_delivery_rate
    let rate_bps = 8e6 * f64::from(rate) * f64::from(mss) / f64::from(rate_us.max(1));
    Some(Connection {
        peer: address(0, u16(34)),
        local: address(16, u16(36)),
        rate_bps: if rate_us == 0 { 0.0 } else { rate_bps },
        cwnd,
        rtt: micros(srtt),
        late: micros(late),
        hold: micros(hold),
        held,
        events,
        spurious,
        restored,
        timeouts,
        retransmissions: rtx,
        acked: u64(96),
        socket: u64(104),
    })
}
