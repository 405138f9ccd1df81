//! What was found in a capture, as plain values with stable names.

mod direction;
mod gathered;

use std::net::SocketAddr;

use serde::Serialize;

pub(crate) use gathered::Gathered;

use crate::blame::LossEvidence;
use crate::drawing::Drawing;
use crate::lateness::Lateness;
use crate::reordering::Reordering;
use crate::series::Bin;

/// A capture's analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// All of it together.
    pub totals: Totals,
    /// The connections with the most octets, the largest first.
    pub connections: Vec<Connection>,
    /// Those who spoke UDP, likewise.
    pub udp: Vec<Quic>,
}

/// Counts over the whole capture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Frames in the capture.
    pub frames: u64,
    /// Octets of them, as they passed.
    pub bytes: u64,
    /// From the first to the last.
    pub duration_s: f64,
    /// When the first passed, in seconds since 1970.
    pub start_s: f64,
    /// Packets of TCP.
    pub tcp_packets: u64,
    /// Packets of UDP.
    pub udp_packets: u64,
    /// Frames that say nothing here, by reason.
    pub skipped: Skipped,
    /// TCP connections.
    pub tcp_connections: u64,
    /// Pairs of ends that spoke UDP.
    pub udp_pairs: u64,
    /// Connections that were given up to keep memory bounded; they may count twice.
    pub given_up: u64,
    /// Data segments of all connections.
    pub segments: u64,
    /// Retransmissions of all connections.
    pub retransmitted: u64,
    /// Those that proved spurious.
    pub spurious: u64,
    /// Segments that were overtaken.
    pub reordered: u64,
    /// How late they were.
    pub lateness: Option<Lateness>,
    /// The step of the capture's clock, where it is a millisecond or more: what takes less time is not
    /// told.
    pub clock_step_ms: Option<f64>,
}

/// Frames that were not read, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// A link that is not known.
    pub unknown_link: u64,
    /// No IP.
    pub not_ip: u64,
    /// Too little was captured.
    pub short: u64,
    /// Fragments.
    pub fragments: u64,
    /// Neither TCP nor UDP.
    pub other_protocols: u64,
    /// Headers that contradict themselves.
    pub malformed: u64,
}

/// A TCP connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Connection {
    /// Who opened it, or spoke first.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// When its first packet passed, since the capture's first.
    pub start_s: f64,
    /// From its first packet to its last.
    pub duration_s: f64,
    /// Its packets.
    pub packets: u64,
    /// Whether its SYN was captured.
    pub opened: bool,
    /// How it ended: "open", "closed" or "reset".
    pub ended: &'static str,
    /// The round trip of its handshake.
    pub handshake_rtt_ms: Option<f64>,
    /// What the client sent, and what the server did.
    pub directions: [Direction; 2],
}

/// The data of one end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Direction {
    /// Who sent it.
    pub from: SocketAddr,
    /// Whom it is for.
    pub to: SocketAddr,
    /// Where the capture was made, seen from this data.
    pub place: Place,
    /// How much it is; in the JSON these are fields of the direction.
    #[serde(flatten)]
    pub traffic: Traffic,
    /// What was sent again.
    pub retransmissions: Retransmissions,
    /// What was lost.
    pub losses: Losses,
    /// What tells whose doing the losses were.
    pub loss_evidence: LossEvidence,
    /// Reordering of what passed the place of the capture.
    pub reordering_here: Reordering,
    /// Reordering at the receiver, as its acknowledgements tell; only with SACK.
    pub reordering_at_receiver: Option<Reordering>,
    /// Round trips.
    pub rtt: Rtt,
    /// Windows and recoveries.
    pub windows: Windows,
    /// What limited the sender, by share of the transfer's time.
    pub limits: Option<Limit>,
    /// The time that the path takes for one segment: the most frequent time between segments that
    /// follow each other, or, if shorter, between those that were sent closer together than they
    /// arrived.
    pub spacing_ms: Option<f64>,
    /// The share of the segments in order that waited in the path for longer than what the sender had
    /// in flight accounts for: for packets of others.
    pub crowded: Option<f64>,
    /// Octets in flight over time.
    pub flight: Vec<Bin>,
    /// Acknowledged octets over time; a bin's sum is its count times its mean.
    pub acked: Vec<Bin>,
    /// Sequence over time, if the limits asked for it and the connection is among the largest; not
    /// in the JSON.
    #[serde(skip)]
    pub drawing: Option<Drawing>,
}

/// How much data one end sent, and how fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// Packets, acknowledgements among them.
    pub packets: u64,
    /// Segments with data or a FIN that passed for the first time, joined ones cut up.
    pub segments: u64,
    /// Octets of payload that passed, retransmissions too.
    pub payload_bytes: u64,
    /// Acknowledgements of it that came back.
    pub acks: u64,
    /// Those of them whose options the capture cut off.
    pub cut_acks: u64,
    /// Whether the receiver acknowledges most segments in pairs: it delays.
    pub delayed_acks: bool,
    /// Whether it carries timestamps.
    pub timestamps: bool,
    /// Octets of the stream.
    pub stream_bytes: u64,
    /// Octets in a full segment.
    pub segment_bytes: u32,
    /// From the first data to the last acknowledgement of it.
    pub transfer_s: f64,
    /// Acknowledged octets over that time, in bits per second.
    pub goodput_bps: f64,
}

impl Direction {
    /// The reordering between sender and receiver, as far as the capture tells it.
    pub fn reordering(&self) -> &Reordering {
        match (&self.reordering_at_receiver, self.place) {
            (Some(told), Place::Sender | Place::Between | Place::Unknown)
                if told.reordered >= self.reordering_here.reordered =>
            {
                told
            }
            _ => &self.reordering_here,
        }
    }
}

/// Where a capture was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// At the sender, or near it.
    Sender,
    /// At the receiver, or near it.
    Receiver,
    /// Between them.
    Between,
    /// Too little is known.
    Unknown,
}

/// What was sent again, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retransmissions {
    /// All that passed.
    pub total: u64,
    /// Those that nothing proved spurious.
    pub needed: u64,
    /// Those whose original arrived, or had.
    pub spurious: u64,
    /// Of the spurious: told by a DSACK (RFC 2883).
    pub spurious_by_dsack: u64,
    /// Told by an echoed timestamp (RFC 3522).
    pub spurious_by_timestamps: u64,
    /// Sent when the acknowledgement had passed already.
    pub spurious_by_acknowledgement: u64,
    /// The original passed after all.
    pub spurious_by_original: u64,
    /// Acknowledged too soon for the retransmission.
    pub spurious_by_time: u64,
    /// Of the first segment outstanding, by the timer rather than at an acknowledgement.
    pub timeouts: u64,
    /// SYNs sent again.
    pub syns: u64,
    /// DSACKs that came.
    pub dsacks: u64,
    /// DSACKs for which no retransmission was seen: copies that the network made.
    pub dsacks_unexplained: u64,
    /// Copies that passed here without having been sent again.
    pub duplicates: u64,
    /// Duplicate ACKs that came for this data.
    pub duplicate_acks: u64,
    /// Keep-alives.
    pub keepalives: u64,
    /// Judged by time alone, for want of timestamps and identifications.
    pub judged_by_time: u64,
}

/// What was lost, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Losses {
    /// Retransmissions that were needed: as many were lost, retransmissions too.
    pub lost: u64,
    /// Their octets: those sent again but for those that proved to be there already.
    pub lost_bytes: u64,
    /// The share that these are of all octets that were sent.
    pub ratio: f64,
    /// Acknowledged, but never captured: the capture lacks them.
    pub not_captured: u64,
    /// Whose numbers fit nowhere.
    pub strange: u64,
}

/// Round trips from the place of the capture to the receiver and back.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rtt {
    /// The minimum of the whole round trip, where both of its parts are known.
    pub min_ms: Option<f64>,
    /// The minimum to the receiver and back.
    pub beyond_ms: Option<f64>,
    /// The minimum to the sender and back.
    pub behind_ms: Option<f64>,
    /// How many times the part of the minimum was measured that makes up most of it; 0 where it is not
    /// known whole.
    pub times: u64,
    /// The step of the capture's clock, where it is a millisecond or more: what is shorter is not
    /// told.
    pub clock_step_ms: Option<f64>,
    /// How they are distributed.
    pub samples: Option<Lateness>,
    /// Over time, in milliseconds.
    pub over_time: Vec<Bin>,
}

/// Windows and recoveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Windows {
    /// Recoveries: from a retransmission until all sent before it was acknowledged.
    pub recoveries: u64,
    /// Those whose retransmissions all proved spurious.
    // Stable names, which readers of the JSON know.
    #[serde(rename = "needless_recoveries")]
    pub spurious_recoveries: u64,
    /// Recoveries after which less was in flight.
    pub cuts: u64,
    /// Those of them that were spurious.
    #[serde(rename = "needless_cuts")]
    pub spurious_cuts: u64,
    /// The time in recoveries.
    pub recovery_s: f64,
    /// The time in spurious ones.
    #[serde(rename = "needless_recovery_s")]
    pub spurious_recovery_s: f64,
    /// The most that was in flight.
    pub largest_flight: u64,
    /// The largest window that the receiver offered, if it can be read.
    pub largest_window: Option<u64>,
    /// Acknowledgements that offered no window.
    pub zero_windows: u64,
    /// How long the window was closed while there was something to send.
    pub closed_s: f64,
    /// Probes of the closed window: nothing that they hold is lost or sent again.
    pub probes: u64,
}

/// What a sender was waiting for, by share of the time of the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// The application: nothing was outstanding.
    pub application: f64,
    /// The receiver's window was full or closed. Where the sender's waiting is not seen, as near the
    /// receiver, this is the time in which it was closed, told if it is more than half, and the rest
    /// counts as `sender_or_path`.
    pub receiver: f64,
    /// In recovery.
    pub recovery: f64,
    /// Waiting for a timeout.
    pub timeout: f64,
    /// None of these: the sender's own window, or the path.
    pub sender_or_path: f64,
}

/// Two ends that spoke UDP.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quic {
    /// Who spoke first.
    pub client: SocketAddr,
    /// The other.
    pub server: SocketAddr,
    /// When the first datagram passed, since the capture's first.
    pub start_s: f64,
    /// To the last.
    pub duration_s: f64,
    /// Whether it is QUIC, and which version: "1", "2" or the number in hexadecimal.
    pub quic_version: Option<String>,
    /// The round trip of its handshake.
    pub handshake_rtt_ms: Option<f64>,
    /// Datagrams of the client and of the server.
    pub datagrams: [u64; 2],
    /// Their payload.
    pub payload_bytes: [u64; 2],
    /// The largest.
    pub largest: [u32; 2],
    /// The longest time without any.
    pub longest_gap_s: [f64; 2],
    /// Round trips by the spin bit of each end, where it spins.
    pub spin_rtt: [Option<Lateness>; 2],
}
