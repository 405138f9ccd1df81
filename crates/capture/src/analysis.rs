//! What was found in a capture, as plain values with stable names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;

use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::connection::Talk;
use crate::datagrams::Datagrams;
use crate::half::Half;
use crate::lateness::{Lateness, Spans};
use crate::packet::{Packet, Unread};
use crate::reader::Frame;
use crate::reordering::Reordering;
use crate::series::Bin;
use crate::table::Speakers;

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
    /// Packets, acknowledgements among them.
    pub packets: u64,
    /// Segments with data or a FIN that passed for the first time, joined ones cut up.
    pub segments: u64,
    /// Octets of payload that passed, retransmissions too.
    pub payload_bytes: u64,
    /// Acknowledgements of it that came back.
    pub acks: u64,
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
    /// What was sent again.
    pub retransmissions: Retransmissions,
    /// What was lost.
    pub losses: Losses,
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
    /// The most frequent time between segments that follow each other: where they queued, the time
    /// that the path takes for one.
    pub spacing_ms: Option<f64>,
    /// Octets in flight over time.
    pub flight: Vec<Bin>,
    /// Acknowledged octets over time; a bin's sum is its count times its mean.
    pub acked: Vec<Bin>,
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
    /// Sent after a silence as long as a timeout.
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
    /// Of all that was sent.
    pub ratio: f64,
    /// Acknowledged, but never captured: the capture lacks them.
    pub not_captured: u64,
    /// Whose numbers fit nowhere.
    pub strange: u64,
}

/// Round trips from the place of the capture to the receiver and back.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rtt {
    /// The least of the whole round trip, where both of its parts are known.
    pub min_ms: Option<f64>,
    /// The least to the receiver and back.
    pub beyond_ms: Option<f64>,
    /// The least to the sender and back.
    pub behind_ms: Option<f64>,
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
    pub needless_recoveries: u64,
    /// Recoveries after which less was in flight.
    pub cuts: u64,
    /// Those of them that were needless.
    pub needless_cuts: u64,
    /// The time in recoveries.
    pub recovery_s: f64,
    /// The time in needless ones.
    pub needless_recovery_s: f64,
    /// The most that was in flight.
    pub largest_flight: u64,
    /// The largest window that the receiver offered, if it can be read.
    pub largest_window: Option<u64>,
    /// How often the receiver closed its window.
    pub zero_windows: u64,
}

/// What a sender was waiting for, by share of the time of the transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limit {
    /// The application: nothing was outstanding.
    pub application: f64,
    /// The receiver's window was full.
    pub receiver: f64,
    /// In recovery.
    pub recovery: f64,
    /// Waiting for a timeout.
    pub timeout: f64,
    /// None of these: the sender's own window, or the path.
    pub sender_or_path: f64,
}

/// Two who spoke UDP.
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
    /// Round trips by the spin bit of each end, where it spins.
    pub spin_rtt: [Option<Lateness>; 2],
}

/// What has been gathered of a capture so far.
#[derive(Debug)]
pub(crate) struct Gathered {
    totals: Totals,
    first: Option<Instant>,
    last: Instant,
    late: Spans,
    told: usize,
    tcp: Largest,
    udp: Largest,
    ended: u64,
}

/// The largest of those that ended: octets, and the order in which they ended.
#[derive(Debug, Default)]
struct Largest(BinaryHeap<Reverse<Kept>>);

#[derive(Debug)]
struct Kept {
    octets: u64,
    order: u64,
    what: Speakers,
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Kept {}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Of two as large, the one that ended first is kept.
        (self.octets, Reverse(self.order)).cmp(&(other.octets, Reverse(other.order)))
    }
}

impl Largest {
    fn add(&mut self, kept: Kept, most: usize) {
        self.0.push(Reverse(kept));
        if self.0.len() > most {
            self.0.pop();
        }
    }

    /// The largest first.
    fn sorted(self) -> Vec<Speakers> {
        // Smaller ones of `Reverse` are larger.
        self.0.into_sorted_vec().into_iter().map(|Reverse(kept)| kept.what).collect()
    }
}

impl Gathered {
    pub(crate) fn new(told: usize) -> Self {
        Self {
            totals: Totals::default(),
            first: None,
            last: Instant::ZERO,
            late: Spans::default(),
            told,
            tcp: Largest::default(),
            udp: Largest::default(),
            ended: 0,
        }
    }

    pub(crate) fn frame(&mut self, frame: &Frame<'_>) {
        self.totals.frames += 1;
        self.totals.bytes += u64::from(frame.length);
        self.time(frame.at);
    }

    fn time(&mut self, at: Instant) {
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = self.last.max(at);
    }

    pub(crate) fn packet(&mut self, packet: &Packet) {
        self.time(packet.at);
        match packet.transport {
            crate::Transport::Tcp(_) => self.totals.tcp_packets += 1,
            crate::Transport::Udp(_) => self.totals.udp_packets += 1,
        }
    }

    pub(crate) fn skip(&mut self, reason: Unread) {
        let skipped = &mut self.totals.skipped;
        *match reason {
            Unread::UnknownLink => &mut skipped.unknown_link,
            Unread::NotIp => &mut skipped.not_ip,
            Unread::Short => &mut skipped.short,
            Unread::Fragment => &mut skipped.fragments,
            Unread::Protocol => &mut skipped.other_protocols,
            Unread::Malformed => &mut skipped.malformed,
        } += 1;
    }

    pub(crate) fn evicted(&mut self) {
        self.totals.given_up += 1;
    }

    pub(crate) fn end(&mut self, what: Speakers) {
        let order = self.ended;
        self.ended += 1;
        match &what {
            Speakers::Tcp(talk) => {
                self.totals.tcp_connections += 1;
                for half in &talk.halves {
                    let arrivals = whole_path(half);
                    self.totals.segments += half.counts.segments;
                    self.totals.retransmitted += half.counts.resent;
                    self.totals.spurious += half.counts.spurious;
                    self.totals.reordered += arrivals.counts().1;
                    self.late.merge(arrivals.late_times());
                }
                let octets = talk.halves.iter().map(|half| half.counts.payload).sum();
                self.tcp.add(Kept { octets, order, what }, self.told);
            }
            Speakers::Udp(datagrams) => {
                self.totals.udp_pairs += 1;
                let octets = datagrams.ways.iter().map(|way| way.payload).sum();
                self.udp.add(Kept { octets, order, what }, self.told);
            }
        }
    }

    pub(crate) fn finish(self) -> Analysis {
        let start = self.first.unwrap_or(Instant::ZERO);
        let totals = Totals {
            duration_s: self.last.since(start).as_secs_f64(),
            start_s: start.as_secs_f64(),
            lateness: self.late.summary(),
            ..self.totals
        };
        let connections = self.tcp.sorted().into_iter().filter_map(|speakers| match speakers {
            Speakers::Tcp(talk) => Some(connection(&talk, start)),
            Speakers::Udp(_) => None,
        });
        let udp = self.udp.sorted().into_iter().filter_map(|speakers| match speakers {
            Speakers::Udp(datagrams) => Some(quic(&datagrams, start)),
            Speakers::Tcp(_) => None,
        });
        Analysis { totals, connections: connections.collect(), udp: udp.collect() }
    }
}

/// What tells the reordering of the whole path.
fn whole_path(half: &Half) -> &crate::reordering::Arrivals {
    let told = half.sack_seen && place(half) != Place::Receiver;
    if told && half.received.counts().1 >= half.seen.counts().1 {
        &half.received
    } else {
        &half.seen
    }
}

/// Where the capture was made: near an end if the round trip to it is less than a tenth of all.
fn place(half: &Half) -> Place {
    let (Some(beyond), Some(behind)) = (half.beyond, half.behind) else {
        return Place::Unknown;
    };
    let share = beyond.ratio(beyond + behind);
    match share {
        share if share > 0.9 => Place::Sender,
        share if share < 0.1 => Place::Receiver,
        _ => Place::Between,
    }
}

fn connection(talk: &Talk, start: Instant) -> Connection {
    let ended = match (talk.reset, talk.fins) {
        (true, _) => "reset",
        (false, [true, true]) => "closed",
        _ => "open",
    };
    Connection {
        client: talk.ends[0],
        server: talk.ends[1],
        start_s: talk.first.since(start).as_secs_f64(),
        duration_s: talk.last.since(talk.first).as_secs_f64(),
        packets: talk.packets,
        opened: talk.mss.iter().any(Option::is_some),
        ended,
        handshake_rtt_ms: talk.opening.map(Duration::as_millis_f64),
        directions: [0, 1].map(|from| direction(talk, from)),
    }
}

fn direction(talk: &Talk, from: usize) -> Direction {
    let half = &talk.halves[from];
    let counts = &half.counts;
    let judged = half.episodes.judged();
    let place = place(half);
    let begun = half.first_data.unwrap_or(talk.first);
    let over = half.last_ack.or(half.last_data).unwrap_or(begun).max(begun);
    let transfer = over.since(begun);
    let octets = if counts.acks > 0 { half.acknowledged() } else { half.stream() };
    let goodput_bps = if transfer > Duration::ZERO && half.first_data.is_some() {
        octets as f64 * 8.0 / transfer.as_secs_f64()
    } else {
        0.0
    };
    let lost = counts.resent - counts.spurious.min(counts.resent);
    let sent = counts.segments + counts.resent;
    Direction {
        from: talk.ends[from],
        to: talk.ends[1 - from],
        place,
        packets: counts.packets,
        segments: counts.segments,
        payload_bytes: counts.payload,
        acks: counts.acks,
        delayed_acks: counts.acks_of_more > counts.acks_of_one,
        timestamps: half.stamped,
        stream_bytes: octets,
        segment_bytes: half.full_segment(),
        transfer_s: transfer.as_secs_f64(),
        goodput_bps,
        retransmissions: Retransmissions {
            total: counts.resent,
            needed: lost,
            spurious: counts.spurious,
            spurious_by_dsack: counts.by_dsack,
            spurious_by_timestamps: counts.by_timestamps,
            spurious_by_acknowledgement: counts.by_acknowledgement,
            spurious_by_original: counts.by_original,
            spurious_by_time: counts.by_time,
            timeouts: counts.timeouts,
            syns: counts.syn_resent,
            dsacks: counts.dsacks,
            dsacks_unexplained: counts.dsacks_unexplained,
            duplicates: counts.duplicates,
            duplicate_acks: counts.duplicate_acks,
            keepalives: counts.keepalives,
            judged_by_time: counts.guessed,
        },
        losses: Losses {
            lost,
            ratio: if sent == 0 { 0.0 } else { lost as f64 / sent as f64 },
            not_captured: counts.unseen,
            strange: counts.strange,
        },
        reordering_here: half.seen.summary(),
        reordering_at_receiver: half.sack_seen.then(|| half.received.summary()),
        rtt: Rtt {
            min_ms: half.round_trip().map(Duration::as_millis_f64),
            beyond_ms: half.beyond.map(Duration::as_millis_f64),
            behind_ms: half.behind.map(Duration::as_millis_f64),
            samples: half.round_trips.summary(),
            over_time: half.rtt.bins(talk.first),
        },
        windows: Windows {
            recoveries: judged.recoveries,
            needless_recoveries: judged.needless,
            cuts: judged.cuts,
            needless_cuts: judged.needless_cuts,
            recovery_s: judged.time.as_secs_f64(),
            needless_recovery_s: judged.needless_time.as_secs_f64(),
            largest_flight: half.largest_flight,
            largest_window: (half.largest_window > 0).then_some(half.largest_window),
            zero_windows: counts.zero_windows,
        },
        spacing_ms: match place {
            Place::Receiver => half.spacing_here.mode(),
            _ => half.spacing_at_receiver.mode(),
        }
        .map(Duration::as_millis_f64),
        limits: limits(half, place),
        flight: half.flight.bins(talk.first),
        acked: half.acked.bins(talk.first),
    }
}

/// What limited the sender; near the receiver that cannot be seen.
fn limits(half: &Half, place: Place) -> Option<Limit> {
    let times = half.times;
    let parts = [times.idle, times.window_full, times.recovering, times.stalled, times.flowing];
    let all: f64 = parts.iter().map(|part| part.as_secs_f64()).sum();
    let known = matches!(place, Place::Sender | Place::Between) && half.counts.acks > 0;
    (known && all > 0.0 && half.counts.segments > 1).then(|| {
        let [application, receiver, recovery, timeout, sender_or_path] =
            parts.map(|part| part.as_secs_f64() / all);
        Limit { application, receiver, recovery, timeout, sender_or_path }
    })
}

fn quic(datagrams: &Datagrams, start: Instant) -> Quic {
    let [client, server] = &datagrams.ways;
    let version = datagrams.version.map(|version| match version {
        1 => "1".to_owned(),
        0x6b33_43cf => "2".to_owned(),
        other => format!("{other:08x}"),
    });
    Quic {
        client: datagrams.ends[0],
        server: datagrams.ends[1],
        start_s: datagrams.first.since(start).as_secs_f64(),
        duration_s: datagrams.last.since(datagrams.first).as_secs_f64(),
        quic_version: version,
        handshake_rtt_ms: datagrams.opening.map(Duration::as_millis_f64),
        datagrams: [client.datagrams, server.datagrams],
        payload_bytes: [client.payload, server.payload],
        largest: [client.largest, server.largest],
        spin_rtt: [client, server].map(|way| way.spin().and_then(Spans::summary)),
    }
}
