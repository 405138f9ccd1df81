//! Results of an analysis, as plain values with stable names in the JSON.

use std::net::SocketAddr;

use serde::Serialize;

use crate::drawing::Drawing;
use crate::histogram::DurationSummary;
use crate::interface::InterfaceTotals;
use crate::numbered::NumberedFlow;
use crate::reordering::Reordering;
use crate::series::Bin;
use crate::skipped::Skipped;
use crate::tunnel::Tunnel;

/// Analysis of a capture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// Totals over the whole capture.
    pub totals: Totals,
    /// TCP connections with the most octets, the largest first.
    pub connections: Vec<Connection>,
    /// Pairs of ends with the most octets of UDP, the largest first.
    pub udp: Vec<UdpPair>,
    /// Flows whose packets carry a number in clear, those with the most packets first.
    pub numbered: Vec<NumberedFlow>,
}

/// Totals over a whole capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Frames in the capture.
    pub frames: u64,
    /// Octets of the frames on the network, whether captured or not.
    pub bytes: u64,
    /// Time from the first frame to the last, in seconds.
    pub duration_s: f64,
    /// Time of the first frame, in seconds since 1970.
    pub start_s: f64,
    /// Packets of TCP.
    pub tcp_packets: u64,
    /// Packets of UDP.
    pub udp_packets: u64,
    /// Frames that were skipped, by reason.
    pub skipped: Skipped,
    /// Interfaces of the capture, in the order of their first frames.
    pub interfaces: Vec<InterfaceTotals>,
    /// TCP connections.
    pub tcp_connections: u64,
    /// Pairs of ends that exchanged UDP.
    pub udp_pairs: u64,
    /// Conversations that were dropped to bound memory. One that continued counts again.
    pub given_up: u64,
    /// Data of all TCP connections; in the JSON these are fields of the totals.
    #[serde(flatten)]
    pub data: DataTotals,
    /// Step of the capture's clock, in milliseconds, where it is about a millisecond or more. Shorter
    /// times are not reported.
    pub clock_step_ms: Option<f64>,
}

/// Totals over the data of all TCP connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DataTotals {
    /// Data segments.
    pub segments: u64,
    /// Retransmissions.
    pub retransmitted: u64,
    /// Retransmissions that proved spurious.
    pub spurious: u64,
    /// Segments that were overtaken.
    pub reordered: u64,
    /// Late times of the overtaken segments.
    pub lateness: Option<DurationSummary>,
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connection {
    /// The end that opened the connection, or sent the first captured packet.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Time of the first packet, in seconds since the beginning of the capture.
    pub start_s: f64,
    /// Time from the first packet to the last, in seconds.
    pub duration_s: f64,
    /// Packets in both directions.
    pub packets: u64,
    /// Whether a SYN was captured.
    pub opened: bool,
    /// State at the end of the capture: "open", "closed" or "reset".
    pub ended: &'static str,
    /// Round trip of the handshake, in milliseconds.
    pub handshake_rtt_ms: Option<f64>,
    /// The data of the client, and that of the server.
    pub directions: [Direction; 2],
}

/// The data that one end of a connection sent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// The sender.
    pub from: SocketAddr,
    /// The receiver.
    pub to: SocketAddr,
    /// Place of the capture on the way of this data.
    pub place: Place,
    /// Amount of data and goodput; in the JSON these are fields of the direction.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// Retransmissions.
    pub retransmissions: Retransmissions,
    /// Losses.
    pub losses: Losses,
    /// Evidence of what caused the losses.
    pub loss_evidence: LossEvidence,
    /// Reordering before the capture point.
    pub reordering_here: Reordering,
    /// Reordering at the receiver, from its acknowledgements. `None` without SACK.
    pub reordering_at_receiver: Option<Reordering>,
    /// Round trips.
    pub rtt: Rtt,
    /// Windows and recoveries.
    pub windows: Windows,
    /// Limits of the sender. `None` if the capture does not show them.
    pub limits: Option<Limit>,
    /// Time that the path takes for one segment, in milliseconds: the most frequent time between
    /// consecutive segments, or, if shorter, between segments that were sent closer together than they
    /// arrived.
    pub spacing_ms: Option<f64>,
    /// Share of the segments in order that waited longer than the sender's data in flight explains,
    /// and so queued behind other traffic. From 0 to 1.
    pub crowded: Option<f64>,
    /// Values over time; in the JSON these are fields of the direction.
    #[serde(flatten)]
    pub charts: Charts,
}

/// Values over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Charts {
    /// Octets in flight.
    pub flight: Vec<Bin>,
    /// Acknowledged octets; the sum of a bin is its count times its mean.
    pub acked: Vec<Bin>,
    /// Sequence numbers, if [`Limits::dots`](crate::Limits::dots) permits them and the connection is
    /// among the largest. Not in the JSON.
    #[serde(skip)]
    pub drawing: Option<Drawing>,
}

/// Amount of data that one end sent, and its goodput.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Packets, acknowledgements included.
    pub packets: u64,
    /// Segments with data or a FIN that passed for the first time. A joined packet counts as the
    /// segments from which it was joined.
    pub segments: u64,
    /// Octets of payload that passed, retransmissions included.
    pub payload_bytes: u64,
    /// Acknowledgements of this data.
    pub acks: u64,
    /// Acknowledgements whose options the capture cut off.
    pub cut_acks: u64,
    /// Whether the receiver delays acknowledgements, so that most cover more than one segment.
    pub delayed_acks: bool,
    /// Whether the segments carry timestamps.
    pub timestamps: bool,
    /// Octets of the stream: those acknowledged, or those sent if no acknowledgement was captured.
    pub stream_bytes: u64,
    /// Octets in a full segment.
    pub segment_bytes: u32,
    /// Time from the first data to the last acknowledgement of it, in seconds.
    pub transfer_s: f64,
    /// `stream_bytes` over `transfer_s`, in bits per second.
    pub goodput_bps: f64,
}

impl Direction {
    /// Returns the reordering between sender and receiver, as far as the capture shows it.
    pub fn reordering(&self) -> &Reordering {
        match (&self.reordering_at_receiver, self.place) {
            (Some(at_receiver), Place::Sender | Place::Between | Place::Unknown)
                if at_receiver.reordered >= self.reordering_here.reordered =>
            {
                at_receiver
            }
            _ => &self.reordering_here,
        }
    }
}

/// Place of a capture on the way of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// At the sender or near it: the round trip to it is less than a tenth of the whole.
    Sender,
    /// At the receiver or near it.
    Receiver,
    /// Between both.
    Between,
    /// Unknown, because the round trip to an end was not measured.
    Unknown,
}

/// Retransmissions, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retransmissions {
    /// All that passed.
    pub total: u64,
    /// Retransmissions that nothing proved spurious.
    pub needed: u64,
    /// Spurious retransmissions: the original arrived.
    pub spurious: u64,
    /// Spurious retransmissions by reason; in the JSON these are fields of the retransmissions.
    #[serde(flatten)]
    pub reasons: SpuriousReasons,
    /// Retransmissions of the first outstanding segment that were due to the timer.
    pub timeouts: u64,
    /// Retransmitted SYNs.
    pub syns: u64,
    /// Packets with data below the highest octet that had passed, or captured after their
    /// acknowledgement: retransmitted, late or copied ones. A joined packet counts once.
    pub old_packets: u64,
    /// DSACKs that came back.
    pub dsacks: u64,
    /// DSACKs without a retransmission that explains them: the network copied a segment.
    pub dsacks_unexplained: u64,
    /// Copies of data that the network or the capture made.
    pub duplicates: u64,
    /// Copies of SYNs that the network or the capture made.
    pub syn_duplicates: u64,
    /// Duplicate acknowledgements of this data.
    pub duplicate_acks: u64,
    /// Keep-alives.
    pub keepalives: u64,
    /// Segments that were classified by time alone, because they have neither timestamps nor IP
    /// identifications.
    pub judged_by_time: u64,
}

/// Numbers of spurious retransmissions, by what proved them spurious.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SpuriousReasons {
    /// A DSACK (RFC 2883).
    #[serde(rename = "spurious_by_dsack")]
    pub dsack: u64,
    /// An echoed timestamp (RFC 3522).
    #[serde(rename = "spurious_by_timestamps")]
    pub timestamps: u64,
    /// An acknowledgement that had passed before.
    #[serde(rename = "spurious_by_acknowledgement")]
    pub acknowledgement: u64,
    /// The original, which passed after all.
    #[serde(rename = "spurious_by_original")]
    pub original: u64,
    /// An acknowledgement that came less than a round trip after the retransmission.
    #[serde(rename = "spurious_by_time")]
    pub time: u64,
}

/// Losses, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// Lost segments: as many as there were needed retransmissions. Lost retransmissions count.
    pub lost: u64,
    /// Octets of the lost segments.
    pub lost_bytes: u64,
    /// Share of the lost octets in all octets sent, from 0 to 1.
    pub ratio: f64,
    /// Segments that were acknowledged but are missing from the capture.
    pub not_captured: u64,
    /// Packets whose numbers are not those of the connection.
    pub strange: u64,
}

/// Evidence of what caused losses. An event is the losses of one round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LossEvidence {
    /// Loss events on which no further report is expected.
    pub events: u64,
    /// Loss events without a late packet within a round trip.
    pub away_from_late: u64,
    /// Share of the transfer's time within a round trip of late packets, from 0 to 1.
    pub near_late_share: f64,
    /// Rank of the round trips next to a loss among all round trips, from 0 to 1, as the mean over the
    /// events: 0.5 where losses do not depend on the queue, near 1 where the queue overflows.
    pub queue_rank: Option<f64>,
    /// Events over which `queue_rank` is the mean.
    pub queue_events: u64,
    /// Needed retransmissions whose original passed the capture point. At the receiver, it discarded
    /// the original.
    pub passed_here: u64,
    /// Needed retransmissions whose original was lost before the capture point.
    pub not_passed_here: u64,
    /// Acknowledgements that repeat the one before, on a connection with timestamps: the receiver
    /// discarded a segment.
    pub refused: u64,
    /// Needed retransmissions whose original passed the capture point with a timestamp older than the
    /// newest that the receiver had acknowledged, so that it discarded the original (PAWS, RFC 7323,
    /// section 5.3). Certain at the receiver only.
    pub outdated: u64,
    /// The number of ranges beyond the first gap that the receiver hardly ever exceeds.
    pub ranges: RangeEvidence,
}

/// Evidence of a limit on the ranges of the stream that the receiver, or a firewall before it, keeps beyond
/// the first gap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RangeEvidence {
    /// Number of ranges.
    pub limit: u32,
    /// How often a range opened that was the last of so many.
    pub reached: u64,
    /// How often one more would have opened, by the numbers of ranges up to that one.
    pub expected: f64,
    /// How often one more did open.
    pub exceeded: u64,
}

/// Round trips.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rtt {
    /// Minimum of the whole round trip, in milliseconds, if both parts of it are known.
    pub min_ms: Option<f64>,
    /// Minimum from the capture point to the receiver and back, in milliseconds.
    pub beyond_ms: Option<f64>,
    /// Minimum from the capture point to the sender and back, in milliseconds.
    pub behind_ms: Option<f64>,
    /// Number of measurements of the longer part of the minimum; 0 if the minimum is not known.
    pub times: u64,
    /// Step of the capture's clock, in milliseconds, where it is about a millisecond or more. Shorter
    /// times are not reported.
    pub clock_step_ms: Option<f64>,
    /// Distribution of the round trips from the capture point to the receiver and back.
    pub samples: Option<DurationSummary>,
    /// Round trips from the capture point to the receiver and back over time, in milliseconds.
    pub over_time: Vec<Bin>,
}

/// Windows and recoveries.
///
/// A recovery lasts from a retransmission until all data sent before it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Windows {
    /// Recoveries.
    pub recoveries: u64,
    /// Recoveries whose retransmissions all proved spurious.
    // The JSON key is stable, so it keeps its old name.
    #[serde(rename = "needless_recoveries")]
    pub spurious_recoveries: u64,
    /// Recoveries after which less was in flight.
    pub cuts: u64,
    /// Spurious recoveries after which less was in flight.
    #[serde(rename = "needless_cuts")]
    pub spurious_cuts: u64,
    /// Time in recoveries, in seconds.
    pub recovery_s: f64,
    /// Time in spurious recoveries, in seconds.
    #[serde(rename = "needless_recovery_s")]
    pub spurious_recovery_s: f64,
    /// Largest number of octets in flight.
    pub largest_flight: u64,
    /// Largest window that the receiver offered, in octets, if its scale is known.
    pub largest_window: Option<u64>,
    /// Acknowledgements with a zero window.
    pub zero_windows: u64,
    /// Time with a zero window while there was data to send, in seconds.
    pub closed_s: f64,
    /// Probes of a zero window. They count neither as lost nor as retransmitted.
    pub probes: u64,
}

/// Limits of a sender, as shares of the transfer's time that add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// The application: nothing was outstanding.
    pub application: f64,
    /// The receiver's window: it was full or zero.
    ///
    /// Near the receiver, the capture does not show when the sender waits. The shares are then reported
    /// only if the window was zero for more than half of the time, and the rest of the time counts as
    /// `sender_or_path`.
    pub receiver: f64,
    /// Recovery.
    pub recovery: f64,
    /// A retransmission timeout.
    pub timeout: f64,
    /// The sender's own window, or the path: none of the above.
    pub sender_or_path: f64,
}

/// Two ends that exchanged UDP.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UdpPair {
    /// The end that sent the first captured datagram.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Time of the first datagram, in seconds since the beginning of the capture.
    pub start_s: f64,
    /// Time from the first datagram to the last, in seconds.
    pub duration_s: f64,
    /// QUIC version: "1", "2" or the number in hexadecimal. `None` if it is not QUIC.
    pub quic_version: Option<String>,
    /// The tunnel, if the datagrams carry one that `unruffled resequence` can put in order.
    pub tunnel: Option<Tunnel>,
    /// Reordering of the tunnel's packets from the client and from the server before the capture point.
    pub tunnel_reordering: [Option<Reordering>; 2],
    /// Round trip of QUIC's handshake, in milliseconds.
    pub handshake_rtt_ms: Option<f64>,
    /// Datagrams of the client and of the server.
    pub datagrams: [u64; 2],
    /// Octets of payload of the client and of the server.
    pub payload_bytes: [u64; 2],
    /// Largest payload of the client and of the server, in octets.
    pub largest: [u32; 2],
    /// Longest time without a datagram of the client and of the server, in seconds.
    pub longest_gap_s: [f64; 2],
    /// Round trips by the spin bit of the client and of the server, if they use it.
    pub spin_rtt: [Option<DurationSummary>; 2],
}
