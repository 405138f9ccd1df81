//! The packets that were sent: which are in flight, and which were deemed lost and are remembered.
//!
//! Numbers rise with time, so the oldest packet is the first to be lost. Each step is O(log window),
//! amortised, and allocates only when more packets are kept than ever before.

use std::collections::VecDeque;

use unruffled_units::Instant;

use super::rate::Before;
use crate::sender::numbers::SegNo;

/// What is known of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    InFlight,
    /// Deemed lost at this time, under the reduction with this number.
    Lost {
        at: Instant,
        cut: u32,
    },
    /// Acknowledged, or forgotten.
    Done,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u32,
    /// How many entries to skip in search of one that is not done; 0 if this one is not.
    skip: u32,
    segment: SegNo,
    /// Octets of the stream: the first, and their number.
    start: u64,
    len: u32,
    sent: Instant,
    before: Before,
    fate: Fate,
}

/// A packet with the segment that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) number: u32,
    pub(super) segment: SegNo,
    /// Octets of the stream: the first, and their number.
    pub(super) start: u64,
    pub(super) len: u32,
    pub(super) sent: Instant,
    /// What was known of the rate when it was sent.
    pub(super) before: Before,
    /// The reduction under which it was deemed lost, if it was.
    pub(super) cut: Option<u32>,
}

/// The packets that are not done, in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct SentPackets {
    entries: VecDeque<Entry>,
    /// Numbers of the packets deemed lost, in the order of the verdicts. Some may be done.
    lost: VecDeque<u32>,
    in_flight: u32,
    /// Octets of the stream in them.
    octets_in_flight: u64,
    remembered: u32,
    /// Every packet with a lower number than this is no longer in flight.
    lost_below: u32,
}

impl SentPackets {
    /// Memory of one packet, in octets.
    pub(super) const PACKET_OCTETS: usize = size_of::<Entry>() + size_of::<u32>();

    /// Returns the memory of the tables, in octets.
    pub(super) fn octets(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>() + self.lost.capacity() * size_of::<u32>()
    }

    /// Frees memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.lost.shrink_to_fit();
    }

    /// Returns the number of packets in flight.
    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Returns how many octets of the stream they carry.
    pub(super) fn octets_in_flight(&self) -> u64 {
        self.octets_in_flight
    }

    /// Returns the number of packets that were deemed lost and are remembered.
    pub(super) fn remembered(&self) -> u32 {
        self.remembered
    }

    /// Adds a packet in flight, whose number is higher than those of all before.
    pub(super) fn push(&mut self, packet: Sent) {
        let Sent { number, segment, start, len, sent, before, .. } = packet;
        let fate = Fate::InFlight;
        let entry = Entry { number, skip: 0, segment, start, len, sent, before, fate };
        crate::ring::push(&mut self.entries, entry);
        self.in_flight += 1;
        self.octets_in_flight += u64::from(len);
    }

    /// Returns the place of the first packet from `at` on that is not done.
    fn find(&mut self, mut at: usize) -> usize {
        while let Some(entry) = self.entries.get(at).filter(|entry| entry.skip > 0) {
            let next = at + entry.skip as usize;
            // Path halving, as on the scoreboard.
            let further = self.entries.get(next).map_or(0, |entry| entry.skip);
            self.entries[at].skip += further;
            at = next;
        }
        at
    }

    /// Returns the place of the first packet with this number or a higher one that is not done.
    fn find_number(&mut self, number: u32) -> usize {
        let at = self.entries.partition_point(|entry| entry.number < number);
        self.find(at)
    }

    /// Ends the entry at this place.
    fn end(&mut self, at: usize) {
        let entry = &mut self.entries[at];
        match std::mem::replace(&mut entry.fate, Fate::Done) {
            Fate::InFlight => {
                self.in_flight -= 1;
                self.octets_in_flight -= u64::from(entry.len);
            }
            Fate::Lost { .. } => self.remembered -= 1,
            Fate::Done => {}
        }
        entry.skip = 1;
    }

    /// Drops the entries before the first that is not done.
    fn trim(&mut self) {
        while self.entries.front().is_some_and(|first| first.skip > 0) {
            self.entries.pop_front();
        }
    }

    /// Calls `acknowledged` for each packet with a number from `left` to `right`, exclusive, that is in
    /// flight or remembered as lost. It is done then.
    pub(super) fn acknowledge(
        &mut self,
        left: u32,
        right: u32,
        mut acknowledged: impl FnMut(Sent),
    ) {
        let mut at = self.find_number(left);
        while let Some(&entry) = self.entries.get(at).filter(|entry| entry.number < right) {
            acknowledged(entry.described());
            self.end(at);
            at = self.find(at + 1);
        }
        self.trim();
    }

    /// Calls `acknowledged` for each packet in flight whose segment is below `segment`. It is done then.
    pub(super) fn acknowledge_segments(
        &mut self,
        segment: SegNo,
        mut acknowledged: impl FnMut(Sent),
    ) {
        let mut at = self.find(0);
        while let Some(&entry) = self.entries.get(at) {
            if entry.segment < segment {
                acknowledged(entry.described());
                self.end(at);
            }
            at = self.find(at + 1);
        }
        self.trim();
    }

    /// Returns the first packet in flight.
    pub(super) fn first_in_flight(&mut self) -> Option<Sent> {
        self.first_in_flight_with(|_| true)
    }

    /// Returns the first packet in flight with such a segment.
    pub(super) fn first_in_flight_with(&mut self, is_such: impl Fn(SegNo) -> bool) -> Option<Sent> {
        let mut at = self.find_number(self.lost_below);
        while let Some(&entry) = self.entries.get(at) {
            if entry.fate == Fate::InFlight && is_such(entry.segment) {
                return Some(entry.described());
            }
            at = self.find(at + 1);
        }
        None
    }

    /// Records that packet `number`, the first in flight, is deemed lost at `now`, under reduction `cut`.
    /// Forgets the one that was deemed lost first if more than `limit` are remembered.
    pub(super) fn lose(&mut self, number: u32, cut: u32, limit: u32, now: Instant) {
        let at = self.find_number(number);
        self.entries[at].fate = Fate::Lost { at: now, cut };
        self.in_flight -= 1;
        self.octets_in_flight -= u64::from(self.entries[at].len);
        self.remembered += 1;
        self.lost_below = number + 1;
        self.lost.push_back(number);
        while self.remembered > limit {
            self.forget_first();
        }
    }

    /// Forgets the packet that was deemed lost first.
    fn forget_first(&mut self) {
        let Some(number) = self.lost.pop_front() else { return };
        let at = self.find_number(number);
        if self.entries.get(at).is_some_and(|entry| entry.number == number) {
            self.end(at);
            self.trim();
        }
    }

    /// Forgets packets that were deemed lost at `until` or earlier.
    pub(super) fn forget(&mut self, until: Instant) {
        while let Some(&number) = self.lost.front() {
            let at = self.find_number(number);
            match self.entries.get(at).filter(|entry| entry.number == number) {
                Some(Entry { fate: Fate::Lost { at, .. }, .. }) if *at > until => return,
                _ => self.forget_first(),
            }
        }
    }

    /// Renumbers the segments after some of them were split.
    pub(super) fn renumber(&mut self, number: impl Fn(SegNo) -> SegNo) {
        for entry in &mut self.entries {
            entry.segment = number(entry.segment);
        }
    }
}

impl Entry {
    fn described(&self) -> Sent {
        let Self { number, segment, start, len, sent, before, fate, .. } = *self;
        let cut = match fate {
            Fate::Lost { cut, .. } => Some(cut),
            Fate::InFlight | Fate::Done => None,
        };
        Sent { number, segment, start, len, sent, before, cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Packets 1 to 6, one per millisecond, with segments 0 to 5.
    fn six() -> SentPackets {
        let mut sent = SentPackets::default();
        for number in 1..=6 {
            let segment = u64::from(number) - 1;
            let (start, sent_at) = (1000 * segment, at(number.into()));
            let before = Before::default();
            sent.push(Sent { number, segment, start, len: 1000, sent: sent_at, before, cut: None });
        }
        sent
    }

    fn acknowledge(sent: &mut SentPackets, left: u32, right: u32) -> Vec<(u32, Option<u32>)> {
        let mut found = Vec::new();
        sent.acknowledge(left, right, |packet| found.push((packet.number, packet.cut)));
        found
    }

    #[test]
    fn a_packet_is_acknowledged_once_whatever_ranges_repeat_it() {
        let mut sent = six();
        assert_eq!(acknowledge(&mut sent, 3, 5), [(3, None), (4, None)]);
        assert_eq!(acknowledge(&mut sent, 2, 6), [(2, None), (5, None)]);
        assert_eq!(acknowledge(&mut sent, 1, 9), [(1, None), (6, None)]);
        assert_eq!(sent.in_flight(), 0);
    }

    #[test]
    fn a_lost_packet_is_remembered_until_it_arrives_or_is_forgotten() {
        let mut sent = six();
        acknowledge(&mut sent, 4, 7);
        for number in 1..=3 {
            assert_eq!(sent.first_in_flight().map(|packet| packet.number), Some(number));
            sent.lose(number, 7, 10, at(10 * u64::from(number)));
        }
        assert_eq!((sent.first_in_flight(), sent.in_flight(), sent.remembered()), (None, 0, 3));
        sent.forget(at(10));
        assert_eq!(sent.remembered(), 2);
        assert_eq!(acknowledge(&mut sent, 1, 4), [(2, Some(7)), (3, Some(7))]);
        assert_eq!(sent.remembered(), 0);
    }

    #[test]
    fn the_oldest_verdict_is_forgotten_when_too_many_are_remembered() {
        let mut sent = six();
        for number in 1..=4 {
            sent.lose(number, 1, 2, at(20));
        }
        assert_eq!(acknowledge(&mut sent, 1, 5), [(3, Some(1)), (4, Some(1))]);
    }

    #[test]
    fn an_acknowledgement_of_octets_ends_the_packets_that_carried_them() {
        let mut sent = six();
        let mut found = Vec::new();
        sent.acknowledge_segments(4, |packet| found.push(packet.number));
        assert_eq!((found, sent.in_flight()), (vec![1, 2, 3, 4], 2));
    }
}
