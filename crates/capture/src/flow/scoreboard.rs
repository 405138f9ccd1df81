//! Scoreboard: the segments of one direction that are outstanding, or were until recently.

use std::collections::VecDeque;
use std::num::NonZeroU16;
use std::ops::Range;

use unruffled_units::{Duration, Instant};

use super::copies::MAX_QUEUE_DELAY;
use crate::packet::{Packet, Segment};
use crate::reordering::SendIndex;

/// Features of a packet that show when it was sent relative to others of the same sender, and
/// whether two packets are copies of each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Time of capture.
    pub(crate) at: Instant,
    /// Timestamp value.
    pub(super) timestamp: Option<u32>,
    /// Identification of the IPv4 header.
    pub(super) id: Option<u16>,
    /// Time to live.
    pub(super) ttl: u8,
    /// Low octet of the number of the interface.
    interface: u8,
}

impl Fingerprint {
    pub(crate) fn new(packet: &Packet, segment: &Segment) -> Self {
        let timestamp = segment.timestamps.map(|(value, _)| value);
        let interface = packet.interface as u8;
        Self { at: packet.at, timestamp, id: packet.id, ttl: packet.ttl, interface }
    }

    /// Returns the point of capture: the interface, and the position on the path by the time to live.
    /// `None` if the time to live is zero.
    pub(super) fn point(self) -> Option<NonZeroU16> {
        let ttl = if self.ttl == 0 { None } else { Some(u16::from(self.ttl)) };
        ttl.and_then(|ttl| NonZeroU16::new(ttl << 8 | u16::from(self.interface)))
    }

    /// Returns the fingerprint of a packet that was not captured, but was sent before `at`.
    pub(super) fn unknown(at: Instant) -> Self {
        Self { at, timestamp: None, id: None, ttl: 0, interface: 0 }
    }

    /// Returns the fingerprint of piece `n` of a joined packet. Pieces are numbered consecutively.
    pub(super) fn of_piece(self, n: u64) -> Self {
        Self { id: self.id.map(|id| id.wrapping_add(n as u16)), ..self }
    }

    /// Returns whether piece `n` of this packet may be the same as the packet of fingerprint `other`.
    /// The pieces of a joined packet are numbered consecutively.
    pub(super) fn matches(self, other: Self, n: usize) -> bool {
        let same_id = match (self.id, other.id) {
            (Some(id), Some(other)) => usize::from(other.wrapping_sub(id)) <= n,
            (one, two) => one == two,
        };
        self.timestamp == other.timestamp && same_id
    }

    /// Returns whether this SYN is a copy of `before`, a SYN of the same end with the same sequence
    /// number. A retransmission passes later, or with an identification or timestamp of its own.
    pub(crate) fn is_copied_syn(self, before: Self) -> bool {
        self.matches(before, 0) && self.at.since(before.at) < MAX_QUEUE_DELAY
    }
}

/// Sightings of one transmission, which a capture at several points has more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sightings {
    /// Time of the last sighting.
    last: Instant,
    /// Point of each sighting; further points are not stored.
    points: [Option<NonZeroU16>; 4],
}

impl Sightings {
    pub(super) fn new(packet: Fingerprint) -> Self {
        let mut sightings = Self { last: packet.at, points: [None; 4] };
        sightings.add(packet);
        sightings
    }

    /// Records a further sighting.
    pub(super) fn add(&mut self, packet: Fingerprint) {
        self.last = self.last.max(packet.at);
        if !self.contain(packet)
            && let Some(free) = self.points.iter_mut().find(|point| point.is_none())
        {
            *free = packet.point();
        }
    }

    /// Returns the time of the last sighting.
    pub(super) fn last(&self) -> Instant {
        self.last
    }

    /// Returns whether the transmission was seen at the point where `packet` was captured.
    pub(super) fn contain(&self, packet: Fingerprint) -> bool {
        self.points.contains(&packet.point())
    }
}

/// Number of segments that a retransmission counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// The retransmission covers one entry and counts for this many segments.
    Own(u16),
    /// The retransmission covers several entries; this is its number among those that do.
    Shared(u32),
}

/// Copy of a segment that the receiver got first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivered {
    /// No copy is known to have arrived.
    Nothing,
    /// The first transmission.
    Original,
    /// A retransmission.
    Retransmission,
}

/// Retransmissions of an entry that proved spurious.
///
/// Both counts cover the same retransmissions, so the larger one counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spurious {
    /// Number reported by DSACKs.
    by_dsack: u16,
    /// Number proved in other ways.
    otherwise: u16,
}

/// A range of the stream that was sent as one segment, or a hole: one that has not passed the capture
/// point.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) index: SendIndex,
    /// The packet that passed first; for a hole, the one that overtook it.
    pub(super) first: Fingerprint,
    /// The last transmission.
    pub(super) last: Fingerprint,
    /// Sightings of the last transmission.
    pub(super) sightings: Sightings,
    /// Octets in flight when the entry passed, its own included.
    pub(super) flight: u64,
    /// Number of known transmissions; 0 for a hole.
    pub(super) transmissions: u16,
    spurious: Spurious,
    /// Whether the first transmission passed the capture point.
    pub(super) original_passed: bool,
    pub(super) delivered: Delivered,
    /// Number of the recovery in which the entry was last retransmitted.
    pub(super) recovery: u32,
    /// Round-trip time of the entry and its acknowledgement, where it was measured.
    pub(super) rtt: Option<Duration>,
    /// Weight of the last retransmission.
    pub(super) weight: Weight,
    /// Whether the entry is the rest of a segment whose arrival the entry before it records.
    pub(super) is_remainder: bool,
    /// Whether the first transmission passed with a timestamp by which the receiver discards it.
    pub(super) is_outdated: bool,
}

impl Entry {
    /// Creates a hole that the packet of fingerprint `overtaking` overtook.
    pub(super) fn hole(start: u64, end: u64, index: SendIndex, overtaking: Fingerprint) -> Self {
        Self {
            start,
            end,
            index,
            first: overtaking,
            last: overtaking,
            sightings: Sightings::new(overtaking),
            flight: 0,
            transmissions: 0,
            spurious: Spurious::default(),
            original_passed: false,
            delivered: Delivered::Nothing,
            recovery: 0,
            rtt: None,
            weight: Weight::Own(1),
            is_remainder: false,
            is_outdated: false,
        }
    }

    /// Creates a segment that passes for the first time, with `flight` octets in flight.
    pub(super) fn sent(
        start: u64,
        end: u64,
        index: SendIndex,
        packet: Fingerprint,
        flight: u64,
    ) -> Self {
        let hole = Self::hole(start, end, index, packet);
        Self { flight, transmissions: 1, original_passed: true, ..hole }
    }

    /// Returns the length in octets.
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }

    pub(super) fn is_hole(&self) -> bool {
        self.transmissions == 0
    }

    /// Returns whether the entry was sent once, and passed, so that its acknowledgement measures a
    /// round trip (Karn's algorithm).
    pub(super) fn was_sent_once(&self) -> bool {
        self.transmissions == 1 && self.original_passed
    }

    /// Records the passing of the original, late.
    pub(super) fn pass_late(&mut self, packet: Fingerprint) {
        self.original_passed = true;
        if self.is_hole() {
            self.transmissions = 1;
            self.first = packet;
            self.last = packet;
            self.sightings = Sightings::new(packet);
        }
    }

    /// Records a copy of the entry, piece `n` of a packet. Identifications and timestamps show which
    /// transmission it is a copy of.
    pub(super) fn pass_copy(&mut self, packet: Fingerprint, n: usize) {
        if packet.matches(self.last, n) {
            self.sightings.add(packet);
        }
    }

    /// Records a retransmission.
    pub(super) fn retransmit(&mut self, packet: Fingerprint) {
        if self.is_hole() {
            // The original was sent, but did not pass the capture point.
            self.first = packet;
            self.transmissions = 1;
        }
        self.last = packet;
        self.sightings = Sightings::new(packet);
        self.transmissions = self.transmissions.saturating_add(1);
    }

    /// Records that a DSACK reports a spurious retransmission.
    pub(super) fn prove_spurious_by_dsack(&mut self) {
        self.spurious.by_dsack = self.spurious.by_dsack.saturating_add(1);
    }

    /// Records that a retransmission proved spurious without a DSACK.
    pub(super) fn prove_spurious(&mut self) {
        self.spurious.otherwise = self.spurious.otherwise.saturating_add(1);
    }

    /// Returns the number of spurious retransmissions.
    pub(super) fn spurious(&self) -> u16 {
        let Spurious { by_dsack, otherwise } = self.spurious;
        by_dsack.max(otherwise).min(self.transmissions.saturating_sub(1))
    }
}

/// Entries in the order of the stream, without gaps between them.
///
/// The first `head` entries are acknowledged. They are kept because later acknowledgements may
/// refer to them.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    entries: VecDeque<Entry>,
    head: usize,
}

impl Scoreboard {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the entries, the oldest first.
    pub(super) fn entries(&self) -> &VecDeque<Entry> {
        &self.entries
    }

    pub(super) fn get(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at)
    }

    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Entry> {
        self.entries.get_mut(at)
    }

    /// Returns how many of the entries beside entry `at` have arrived, beyond the first gap.
    pub(super) fn delivered_neighbours(&self, at: usize) -> usize {
        let has_arrived = |at: usize| {
            at > self.head
                && self.get(at).is_some_and(|entry| entry.delivered != Delivered::Nothing)
        };
        let before = at.checked_sub(1).is_some_and(has_arrived);
        usize::from(before) + usize::from(has_arrived(at + 1))
    }

    /// Returns the place of the newest entry.
    pub(super) fn newest(&self) -> Option<usize> {
        self.entries.len().checked_sub(1)
    }

    /// Returns the place of the first entry that is not acknowledged.
    pub(super) fn head(&self) -> usize {
        self.head
    }

    /// Returns the place of the first entry that ends beyond `position`.
    pub(super) fn find(&self, position: u64) -> usize {
        // Almost every search finds the head.
        match self.entries.get(self.head) {
            Some(head) if head.start <= position && position < head.end => self.head,
            _ => self.entries.partition_point(|entry| entry.end <= position),
        }
    }

    /// Appends an entry that begins where the last one ends.
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }

    /// Acknowledges all entries that end at or before `position`; returns the places of those that were
    /// not acknowledged before.
    pub(super) fn acknowledge(&mut self, position: u64) -> Range<usize> {
        let before = self.head;
        while self.entries.get(self.head).is_some_and(|entry| entry.end <= position) {
            self.head += 1;
        }
        before..self.head
    }

    /// Splits entry `at` so that one begins at `from` and ends at `to`; returns its place.
    ///
    /// Indices advance by one for each `size` octets.
    fn split(&mut self, at: usize, from: u64, to: u64, size: u64) -> usize {
        let Some(whole) = self.entries.get(at).cloned() else { return at };
        let from = from.max(whole.start);
        let to = to.min(whole.end);
        let index_at = |position: u64| whole.index.plus((position - whole.start) / size.max(1));
        let acknowledged = at < self.head;
        let mut place = at;
        // A segment that passed remains one segment: it has arrived when its first part has, and a
        // retransmission of all of it counts once.
        let is_remainder = !whole.is_hole();
        let weight = if is_remainder { Weight::Own(0) } else { whole.weight };
        if to < whole.end && from < to {
            self.entries[at].end = to;
            let index = index_at(to);
            let rest = Entry { start: to, index, is_remainder, weight, ..whole.clone() };
            self.entries.insert(at + 1, rest);
            self.head += usize::from(acknowledged);
        }
        if from > whole.start && from < to {
            self.entries[at].end = from;
            let index = index_at(from);
            let rest = Entry { start: from, end: to, index, is_remainder, weight, ..whole };
            self.entries.insert(at + 1, rest);
            self.head += usize::from(acknowledged);
            place += 1;
        }
        place
    }

    /// Returns the places of the entries from `start` to `end`, after splitting those that extend
    /// beyond; the range is empty where no entry is left of it.
    ///
    /// Indices advance by one for each `size` octets.
    pub(super) fn range(&mut self, start: u64, end: u64, size: u64) -> Range<usize> {
        let mut first = self.find(start);
        let bounds = |entry: &Entry| (entry.start, entry.end);
        if let Some((_, to)) = self.get(first).map(bounds).filter(|&(from, _)| from < start) {
            first = self.split(first, start, to, size);
        }
        let mut at = first;
        while let Some((from, to)) = self.get(at).map(bounds).filter(|&(from, _)| from < end) {
            if to > end {
                self.split(at, from, end, size);
            }
            at += 1;
        }
        first..at
    }

    /// Removes the acknowledged entries that are older than `keep`, and the oldest ones beyond `limit`
    /// entries.
    ///
    /// Calls `before_removal` with each of them and with the entries that follow it.
    pub(super) fn trim(
        &mut self,
        now: Instant,
        keep: Duration,
        limit: usize,
        mut before_removal: impl FnMut(&Entry, &VecDeque<Entry>),
    ) {
        while let Some(oldest) = self.entries.front() {
            let done = self.head > 0 && now.since(oldest.last.at) > keep;
            if !done && self.entries.len() <= limit {
                break;
            }
            if let Some(oldest) = self.entries.pop_front() {
                before_removal(&oldest, &self.entries);
            }
            self.head = self.head.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(start: u64, end: u64, number: u64) -> Entry {
        Entry::hole(start, end, SendIndex::new(number, number), Fingerprint::unknown(Instant::ZERO))
    }

    /// The memory of a long transfer is that of its entries: 131,072 at most.
    #[test]
    fn an_entry_takes_144_octets_at_most() {
        assert!(size_of::<Entry>() <= 144, "{}", size_of::<Entry>());
    }

    #[test]
    fn a_hole_is_split_where_a_segment_lies() {
        let mut scoreboard = Scoreboard::default();
        scoreboard.push(entry(0, 1000, 0));
        scoreboard.push(entry(1000, 4000, 1));
        scoreboard.push(entry(4000, 5000, 4));
        assert_eq!(scoreboard.acknowledge(4000), 0..2);
        let at = scoreboard.split(1, 2000, 3000, 1000);
        let entries = scoreboard.entries.iter();
        let ranges: Vec<_> = entries.map(|e| (e.start, e.end, e.index.original())).collect();
        assert_eq!(at, 2);
        assert_eq!(ranges[1..4], [(1000, 2000, 1), (2000, 3000, 2), (3000, 4000, 3)]);
        assert_eq!(scoreboard.head(), 4);
        assert_eq!(scoreboard.find(2999), 2);
        assert_eq!(scoreboard.find(3000), 3);
        assert_eq!(scoreboard.find(9000), 5);
    }

    #[test]
    fn old_acknowledged_entries_are_removed() {
        let mut scoreboard = Scoreboard::default();
        (0..10).for_each(|i| scoreboard.push(entry(i, i + 1, i)));
        scoreboard.acknowledge(4);
        let keep = Duration::from_secs(1);
        scoreboard.trim(Instant::from_millis(2000), keep, 100, |_, _| ());
        assert_eq!((scoreboard.len(), scoreboard.head()), (6, 0));
        scoreboard.trim(Instant::ZERO, keep, 2, |_, _| ());
        assert_eq!(scoreboard.len(), 2);
    }
}
