//! The state of a connection and what has happened in it, like Linux's `TCP_INFO`.

use unruffled_tcp::State;
use unruffled_units::{Duration, Rate};

/// The state of a connection and what has happened in it. Use it to see what limits a connection.
///
/// Windows and reordering lengths are in segments. Other counts are octets of the streams, without
/// SYN and FIN, unless the field's text gives another unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Info {
    /// The state (RFC 9293, section 3.3.2).
    pub state: State,
    /// Round-trip times and the retransmission timeout.
    pub round_trips: RoundTrips,
    /// Limits of congestion control, and the data in flight.
    pub congestion: Congestion,
    /// Octets written and read, sent and received.
    pub octets: OctetCounts,
    /// Retransmissions and reorderings.
    pub repairs: Repairs,
    /// Windows that the ends offer each other.
    pub windows: Windows,
    /// Largest payload of a segment to the peer at this moment (Eff.snd.MSS of RFC 9293, section
    /// 3.7.1, without SACK blocks).
    pub mss: u32,
    /// The MSS option of the peer's SYN, if there was one.
    pub peer_mss: Option<u16>,
}

/// Round-trip times, part of an [`Info`]. They show how long the path is, and how long the loss of
/// a last segment goes unnoticed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// SRTT, the smoothed round-trip time (RFC 6298); `None` before the first measurement.
    pub srtt: Option<Duration>,
    /// RTTVAR, the variation of the round-trip time (RFC 6298); `None` before the first
    /// measurement, and always with TCP-PR's timer, which has none.
    pub rttvar: Option<Duration>,
    /// RTO, the retransmission timeout in force with its backoff (RFC 6298).
    pub rto: Duration,
}

/// Limits of congestion control, and the data in flight: part of an [`Info`]. They show whether
/// congestion control limits the connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Congestion {
    /// Whether the sender is recovering from a loss or a timeout (RFC 6675; RFC 5681, section 3.2).
    pub recovering: bool,
    /// The congestion window, in segments (RFC 5681).
    pub cwnd: f64,
    /// The slow-start threshold, in segments (RFC 5681); `None` while it is infinite.
    pub ssthresh: Option<f64>,
    /// The duplicate threshold in force, in segments (DupThresh of RFC 6675; 3 in RFC 5681); `None`
    /// for senders without one.
    pub dupthresh: Option<u32>,
    /// Whether both ends have agreed on ECN (RFC 3168).
    pub ecn: bool,
    /// FlightSize: octets sent and not acknowledged (RFC 5681, section 2).
    pub flight: u64,
    /// Estimate of the segments in the network (the pipe of RFC 6675).
    pub pipe: u32,
    /// Octets acknowledged over the last round trip, as a bit rate; `None` before the first round
    /// trip ends. An application that writes little lowers it.
    pub delivery_rate: Option<Rate>,
}

/// Octets written and read, sent and received, part of an [`Info`]. They show where octets wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OctetCounts {
    /// Octets sent, retransmissions not counted.
    pub sent: u64,
    /// Octets that the peer has acknowledged.
    pub acknowledged: u64,
    /// Octets that have arrived in order.
    pub received: u64,
    /// Octets written and not yet sent.
    pub unsent: u64,
    /// Octets that have arrived in order and have not been read.
    pub unread: u64,
}

/// Retransmissions and reorderings, part of an [`Info`]. They distinguish a path that
/// loses from a path that reorders.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repairs {
    /// Segments sent again, for any reason.
    pub retransmissions: u64,
    /// Octets in these segments.
    pub retransmitted: u64,
    /// Retransmissions that proved spurious, by DSACK (RFC 2883; RFC 3708).
    pub spurious: u64,
    /// Expiries of the retransmission timer (RFC 6298, section 5).
    pub timeouts: u64,
    /// Fast retransmits (RFC 5681, section 3.2).
    pub fast_retransmits: u64,
    /// Reductions of the window because of marks of the path (RFC 3168).
    pub ecn_reductions: u64,
    /// Segments that arrived late without a retransmission: holes that closed by themselves (RFC
    /// 4737).
    pub reordered: u64,
    /// The greatest reordering length, in segments (RR-TCP, section 3.1).
    pub reordering_length: u32,
}

/// Windows that the ends offer each other: part of an [`Info`]. They show whether a receiver limits
/// the connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// The shift of the peer's window field (Snd.Wind.Shift of RFC 7323, section 2.3).
    pub send_scale: u8,
    /// The shift of this end's window field (Rcv.Wind.Shift).
    pub receive_scale: u8,
    /// SND.WND: octets beyond the acknowledged ones that the peer has room for (RFC 9293).
    pub send: u64,
    /// The largest window that this end advertises, that is RCV.WND while the receive buffer is
    /// empty.
    pub receive: u64,
}
