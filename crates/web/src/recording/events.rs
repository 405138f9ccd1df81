//! Events of a flow, for the plot of sequence numbers over time.

use unruffled_units::Instant;

/// The most events that are kept.
const MAX_EVENTS: usize = 200_000;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
#[repr(u8)]
pub enum EventKind {
    /// First transmission.
    Sent = 0,
    /// Retransmission by loss detection.
    Retransmitted = 1,
    /// Retransmission after a timeout.
    RetransmittedByTimeout = 2,
    /// Tail loss probe.
    Probe = 3,
    /// Retransmission that proved spurious.
    SpuriousRetransmission = 4,
    /// Cumulative acknowledgement: from SND.UNA before it up to SND.UNA after it.
    Acknowledged = 5,
    /// Octets that a SACK block reports for the first time.
    Sacked = 6,
    /// Octets that a DSACK reports as duplicates.
    Dsacked = 7,
    /// Arrival of a segment with new octets.
    Arrived = 8,
    /// Arrival of a segment without new octets.
    ArrivedDuplicate = 9,
    /// Hole that a late arrival closed: length in segments, delay in seconds.
    Reordered = 10,
    /// Beginning of a recovery by loss detection.
    FastRetransmit = 11,
    /// End of a recovery.
    Recovered = 12,
    /// Expiry of the retransmission timer.
    Timeout = 13,
    /// Reduction whose retransmissions all proved spurious.
    SpuriousReduction = 14,
    /// Reduction because of a mark.
    EcnReduction = 15,
}

/// Events as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventColumns {
    /// Times, in seconds.
    pub time_s: Vec<f64>,
    /// First octets of the stream.
    pub from: Vec<f64>,
    /// Octets after the last.
    pub to: Vec<f64>,
    /// Kinds, as numbers of [`EventKind`].
    pub kind: Vec<u8>,
    /// Indices of the packets, −1 without one.
    pub packet: Vec<i32>,
}

/// An event.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Instant,
    from: f64,
    to: f64,
    kind: EventKind,
    /// The packet's number in the log.
    packet: Option<u64>,
}

/// The log of the events of a window.
#[derive(Clone, Debug)]
pub(super) struct EventLog {
    window: (Instant, Instant),
    entries: Vec<Entry>,
    pub(super) truncated: bool,
}

impl EventLog {
    pub(super) fn new(window: (Instant, Instant)) -> Self {
        Self { window, entries: Vec::new(), truncated: false }
    }

    /// Adds an event about octets, if it is in the window.
    pub(super) fn add(
        &mut self,
        at: Instant,
        kind: EventKind,
        (from, to): (u64, u64),
        packet: Option<u64>,
    ) {
        self.add_values(at, kind, (from as f64, to as f64), packet);
    }

    /// Adds an event with two values, if it is in the window.
    pub(super) fn add_values(
        &mut self,
        at: Instant,
        kind: EventKind,
        (from, to): (f64, f64),
        packet: Option<u64>,
    ) {
        if at < self.window.0 || at >= self.window.1 {
            return;
        }
        if self.entries.len() == MAX_EVENTS {
            self.truncated = true;
            return;
        }
        self.entries.push(Entry { at, from, to, kind, packet });
    }

    /// Gives the last transmission in the log its packet.
    pub(super) fn set_packet(&mut self, packet: u64) {
        if let Some(last) = self.entries.last_mut().filter(|last| last.kind <= EventKind::Probe) {
            last.packet = Some(packet);
        }
    }

    /// Marks the last retransmission that began at this octet as spurious.
    pub(super) fn spurious(&mut self, offset: u64) {
        let from = offset as f64;
        let resent = |entry: &&mut Entry| {
            entry.from == from
                && (EventKind::Retransmitted..=EventKind::Probe).contains(&entry.kind)
        };
        if let Some(entry) = self.entries.iter_mut().rev().find(resent) {
            entry.kind = EventKind::SpuriousRetransmission;
        }
    }

    /// Returns the columns. `index` returns the index of a packet by its number in the log.
    pub(super) fn columns(&self, index: impl Fn(u64) -> Option<usize>) -> EventColumns {
        let mut columns = EventColumns::default();
        for &Entry { at, from, to, kind, packet } in &self.entries {
            columns.time_s.push(at.as_secs_f64());
            columns.from.push(from);
            columns.to.push(to);
            columns.kind.push(kind as u8);
            let packet = packet.and_then(&index).and_then(|at| i32::try_from(at).ok());
            columns.packet.push(packet.unwrap_or(-1));
        }
        columns
    }
}
