//! What is gathered of a capture while it is read: totals, and the largest of those who spoke.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_units::{Duration, Instant};

use super::direction::{direction, whole_path};
use super::{Analysis, Connection, Quic, Totals};
use crate::connection::Talk;
use crate::datagrams::Datagrams;
use crate::lateness::Spans;
use crate::packet::{Packet, Unread};
use crate::reader::Frame;
use crate::speakers::Speakers;

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
    /// The octets of the largest connections so far: theirs are the drawings that are kept.
    drawn: BinaryHeap<Reverse<u64>>,
}

/// Connections whose drawings are kept.
const DRAWN: usize = 24;

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
            drawn: BinaryHeap::new(),
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
                    self.totals.spurious += half.counts.spurious.total;
                    self.totals.reordered += arrivals.counts().1;
                    self.late.merge(arrivals.late_times());
                }
                let octets = talk.halves.iter().map(|half| half.counts.payload).sum();
                let what = if self.draws(octets) { what } else { without_drawings(what) };
                self.tcp.add(Kept { octets, order, what }, self.told);
            }
            Speakers::Udp(datagrams) => {
                self.totals.udp_pairs += 1;
                let octets = datagrams.ways.iter().map(|way| way.payload).sum();
                self.udp.add(Kept { octets, order, what }, self.told);
            }
        }
    }

    /// Whether a connection of so many octets is among the largest so far.
    fn draws(&mut self, octets: u64) -> bool {
        self.drawn.push(Reverse(octets));
        let smallest = (self.drawn.len() > DRAWN).then(|| self.drawn.pop()).flatten();
        smallest.is_none_or(|Reverse(smallest)| octets > smallest)
    }

    /// What was gathered with a clock of that step, if it is coarse.
    pub(crate) fn finish(self, tick: Duration) -> Analysis {
        let start = self.first.unwrap_or(Instant::ZERO);
        let totals = Totals {
            duration_s: self.last.since(start).as_secs_f64(),
            start_s: start.as_secs_f64(),
            lateness: self.late.summary(),
            clock_step_ms: (tick > Duration::ZERO).then(|| tick.as_millis_f64()),
            ..self.totals
        };
        let connections = self.tcp.sorted().into_iter().filter_map(|speakers| match speakers {
            Speakers::Tcp(talk) => Some(connection(&talk, start, tick)),
            Speakers::Udp(_) => None,
        });
        let udp = self.udp.sorted().into_iter().filter_map(|speakers| match speakers {
            Speakers::Udp(datagrams) => Some(quic(&datagrams, start)),
            Speakers::Tcp(_) => None,
        });
        Analysis { totals, connections: connections.collect(), udp: udp.collect() }
    }
}

fn without_drawings(mut what: Speakers) -> Speakers {
    if let Speakers::Tcp(talk) = &mut what {
        talk.halves.iter_mut().for_each(|half| half.shown.sketch = None);
    }
    what
}

fn connection(talk: &Talk, start: Instant, tick: Duration) -> Connection {
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
        handshake_rtt_ms: talk.opening.filter(|&rtt| rtt >= tick).map(Duration::as_millis_f64),
        directions: [0, 1].map(|from| direction(talk, from, tick)),
    }
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
        longest_gap_s: [client, server].map(|way| way.longest_gap.as_secs_f64()),
        spin_rtt: [client, server].map(|way| way.spin().and_then(Spans::summary)),
    }
}
