//! Accumulation of an analysis while a capture is read: totals, and the largest conversations.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_units::{Duration, Instant};

use crate::analysis::{Analysis, DataTotals, Totals};
use crate::conversation::Conversation;
use crate::histogram::DurationHistogram;
use crate::interface::InterfaceCounters;
use crate::numbered::NumberedFlows;
use crate::packet::{Packet, SkipReason, Transport};
use crate::reader::Frame;
use crate::skipped::SkipCounters;

/// Number of connections whose drawings are kept.
const MAX_DRAWN_CONNECTIONS: usize = 24;

/// An analysis in progress.
#[derive(Debug)]
pub(crate) struct AnalysisBuilder {
    totals: Totals,
    skipped: SkipCounters,
    pub(crate) interfaces: InterfaceCounters,
    first: Option<Instant>,
    last: Instant,
    late_times: DurationHistogram,
    /// Number of conversations of each transport that are reported.
    reported: usize,
    tcp: Largest,
    udp: Largest,
    /// Conversations that have ended.
    ended: u64,
    /// Octets of the largest connections so far, whose drawings are kept.
    drawn: BinaryHeap<Reverse<u64>>,
}

/// The largest conversations that have ended.
#[derive(Debug, Default)]
struct Largest(BinaryHeap<Reverse<Ended>>);

/// A conversation that has ended.
#[derive(Debug)]
struct Ended {
    octets: u64,
    /// Position in the order of ending.
    order: u64,
    conversation: Conversation,
}

impl PartialEq for Ended {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ended {}

impl PartialOrd for Ended {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ended {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        // Of two equally large ones, the one that ended first is kept.
        (self.octets, Reverse(self.order)).cmp(&(other.octets, Reverse(other.order)))
    }
}

impl Largest {
    fn add(&mut self, ended: Ended, limit: usize) {
        self.0.push(Reverse(ended));
        if self.0.len() > limit {
            self.0.pop();
        }
    }

    /// Returns the conversations, the largest first.
    fn into_sorted(self) -> impl Iterator<Item = Conversation> {
        // Ascending order of `Reverse` is descending order of size.
        self.0.into_sorted_vec().into_iter().map(|Reverse(ended)| ended.conversation)
    }
}

impl AnalysisBuilder {
    /// Creates an empty analysis that will report at most `reported` conversations of each transport.
    pub(crate) fn new(reported: usize) -> Self {
        Self {
            totals: Totals::default(),
            skipped: SkipCounters::default(),
            interfaces: InterfaceCounters::default(),
            first: None,
            last: Instant::ZERO,
            late_times: DurationHistogram::default(),
            reported,
            tcp: Largest::default(),
            udp: Largest::default(),
            ended: 0,
            drawn: BinaryHeap::new(),
        }
    }

    /// Counts a frame.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) {
        self.totals.frames += 1;
        self.totals.bytes += u64::from(frame.length);
        self.interfaces.frame(frame);
        self.extend_to(frame.at);
    }

    /// Returns the frames with their octets, and the data of the connections that have ended.
    pub(crate) fn so_far(&self) -> ((u64, u64), DataTotals) {
        ((self.totals.frames, self.totals.bytes), self.totals.data.clone())
    }

    /// Returns the number of frames.
    pub(crate) fn frames(&self) -> u64 {
        self.totals.frames
    }

    fn extend_to(&mut self, at: Instant) {
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = self.last.max(at);
    }

    /// Counts a packet of TCP or UDP.
    pub(crate) fn packet(&mut self, packet: &Packet) {
        self.extend_to(packet.at);
        match packet.transport {
            Transport::Tcp(_) => self.totals.tcp_packets += 1,
            Transport::Udp(_) => self.totals.udp_packets += 1,
            Transport::Esp(_) | Transport::Gre(_) => {}
        }
    }

    /// Counts a frame that is skipped.
    pub(crate) fn skip(&mut self, reason: SkipReason) {
        self.skipped.skip(reason);
    }

    /// Counts fragments of packets that are not complete.
    pub(crate) fn skip_fragments(&mut self, fragments: u64) {
        self.skipped.skip_many(SkipReason::Fragment, fragments);
    }

    /// Counts a conversation that is dropped to bound memory.
    pub(crate) fn evict(&mut self) {
        self.totals.given_up += 1;
    }

    /// Adds a conversation that has ended.
    pub(crate) fn end(&mut self, conversation: Conversation) {
        let order = self.ended;
        self.ended += 1;
        match conversation {
            Conversation::Tcp(mut connection) => {
                self.totals.tcp_connections += 1;
                let mut octets = 0;
                for direction in connection.directions() {
                    octets += direction.payload();
                    direction.add_to(&mut self.totals.data, &mut self.late_times);
                }
                if !self.is_drawn(octets) {
                    connection.remove_drawings();
                }
                let conversation = Conversation::Tcp(connection);
                self.tcp.add(Ended { octets, order, conversation }, self.reported);
            }
            Conversation::Udp(udp) => {
                self.totals.udp_pairs += 1;
                let octets = udp.payload();
                udp.add_to(&mut self.skipped);
                let conversation = Conversation::Udp(udp);
                self.udp.add(Ended { octets, order, conversation }, self.reported);
            }
        }
    }

    /// Returns whether a connection with that many octets is among the largest so far.
    fn is_drawn(&mut self, octets: u64) -> bool {
        self.drawn.push(Reverse(octets));
        let is_full = self.drawn.len() > MAX_DRAWN_CONNECTIONS;
        let smallest = if is_full { self.drawn.pop() } else { None };
        smallest.is_none_or(|Reverse(smallest)| octets > smallest)
    }

    /// Returns the analysis of a capture with a clock of that step, if it is coarse.
    pub(crate) fn finish(self, clock_step: Duration, numbered: &NumberedFlows) -> Analysis {
        let start = self.first.unwrap_or(Instant::ZERO);
        let totals = Totals {
            duration_s: self.last.since(start).as_secs_f64(),
            start_s: start.as_secs_f64(),
            skipped: self.skipped.summary(),
            interfaces: self.interfaces.summary(),
            data: DataTotals { lateness: self.late_times.summary(), ..self.totals.data },
            clock_step_ms: (clock_step > Duration::ZERO).then(|| clock_step.as_millis_f64()),
            ..self.totals
        };
        let mut connections = Vec::new();
        let mut udp = Vec::new();
        for conversation in self.tcp.into_sorted().chain(self.udp.into_sorted()) {
            match conversation {
                Conversation::Tcp(connection) => {
                    connections.push(connection.summary(start, clock_step));
                }
                Conversation::Udp(pair) => udp.push(pair.summary(start)),
            }
        }
        Analysis { totals, connections, udp, numbered: numbered.summary(start) }
    }
}
