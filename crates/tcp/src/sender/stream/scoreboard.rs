//! The state of each segment between the cumulative acknowledgement and the highest sequence number
//! sent (RFC 6675, sections 2 and 4): delivered, lost or resent, and the time of its last
//! transmission.
//!
//! Segments are numbered in the order of the stream, from 0. A number changes only when segments
//! are split. All steps are amortised O(1) or O(log window), and allocate only when the window
//! becomes larger than ever before.

mod is_lost;
mod split;
mod update;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use unruffled_units::Instant;

pub(crate) use update::{Delivery, SpuriousAfter};

use super::SegNo;
use super::time_order::{Links, Ring, TimeOrder, Timed};

/// One outstanding segment.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Stream offset of its first octet.
    pub(crate) start: u64,
    /// Length, in octets.
    pub(crate) len: u32,
    /// Time of the last transmission.
    pub(crate) sent: Instant,
    /// For a segment in flight, its neighbours in the time order. For a SACKed one, how many
    /// segments to skip, back and on, in search of one that is not SACKed. Two separate fields
    /// would take a quarter more memory.
    links: Links,
    sacked: bool,
    /// Whether it is deemed lost and was not resent since.
    lost: bool,
    /// Whether a retransmission is in flight.
    resent: bool,
    /// Whether it was ever retransmitted.
    pub(crate) retransmitted: bool,
}

impl Entry {
    /// Returns the stream offset after its last octet.
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Returns whether it is deemed lost and was not resent since.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }

    /// Returns the number of segments to skip in search of the next one that is not SACKed. It is 0
    /// if this one is not.
    fn skip(&self) -> u32 {
        if self.sacked { self.links.next } else { 0 }
    }

    /// Returns the number of segments to skip in search of the previous one that is not SACKed. It
    /// is 0 if this one is not.
    fn skip_back(&self) -> u32 {
        if self.sacked { self.links.prev } else { 0 }
    }
}

impl Timed for Entry {
    fn key(&self) -> (Instant, u64) {
        (self.sent, self.end())
    }

    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// The scoreboard of RFC 6675.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scoreboard {
    /// The highest segment delivered so far.
    highest: Option<SegNo>,
    /// Last transmission and end of the latest-sent delivered segment (RACK.xmit_ts, RACK.end_seq).
    latest_delivered: Option<(Instant, u64)>,
    order: TimeOrder,
    /// Segments of which a retransmission is in flight.
    resent: u32,
    /// Segments deemed lost, the smallest first. Stale entries are skipped when they come up.
    lost_queue: BinaryHeap<Reverse<SegNo>>,
    /// The boundary from which `sacked_from_edge` counts. It stays near the dupthresh-th highest
    /// SACK.
    edge: SegNo,
    /// Each hole below this number was deemed lost at some time.
    marked_to: SegNo,
    /// Segments SACKed from `edge` on.
    sacked_from_edge: u32,
    sacked: u32,
    lost: u32,
    /// Number of the first entry, which is the first segment that is not cumulatively acknowledged.
    base: SegNo,
    entries: VecDeque<Entry>,
    /// Segments deemed lost since the log was read, if there is one.
    #[expect(clippy::box_collection, reason = "most connections have no log, and a word less")]
    loss_log: Option<Box<Vec<SegNo>>>,
}

impl Scoreboard {
    pub(crate) fn new() -> Self {
        Self {
            entries: VecDeque::new(),
            base: 0,
            order: TimeOrder::new(),
            lost_queue: BinaryHeap::new(),
            sacked: 0,
            lost: 0,
            resent: 0,
            edge: 0,
            sacked_from_edge: 0,
            marked_to: 0,
            highest: None,
            latest_delivered: None,
            loss_log: None,
        }
    }

    /// Begins to log the segments that are deemed lost.
    pub(crate) fn log_losses(&mut self) {
        self.loss_log = Some(Box::default());
    }

    /// Returns the segments deemed lost since the last call, if they are logged.
    pub(crate) fn take_losses(&mut self) -> Vec<SegNo> {
        self.loss_log.as_deref_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Maximum memory that a segment takes here, in octets.
    pub(crate) const SEGMENT_OCTETS: usize = size_of::<Entry>() + size_of::<Reverse<SegNo>>();

    /// Memory of a logged loss, in octets.
    pub(crate) const LOGGED_OCTETS: usize = size_of::<SegNo>();

    /// Returns the memory of the tables, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.entries.capacity() * size_of::<Entry>()
            + self.lost_queue.capacity() * size_of::<Reverse<SegNo>>()
            + self.loss_log.as_ref().map_or(0, |log| log.capacity() * Self::LOGGED_OCTETS)
    }

    /// Frees memory that is not in use.
    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        if self.lost == 0 {
            // All its entries are stale.
            self.lost_queue = BinaryHeap::new();
        }
    }

    /// Returns the number of segments sent and not cumulatively acknowledged (FlightSize).
    pub(crate) fn outstanding(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the number of segments SACKed and not cumulatively acknowledged.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Returns the number of segments below the highest delivered one that have not been delivered.
    pub(crate) fn holes(&self) -> u32 {
        let below = self.highest.map_or(0, |highest| (highest + 1).saturating_sub(self.base));
        (below as u32).saturating_sub(self.sacked)
    }

    /// Returns the number of segments deemed lost and not resent since.
    pub(crate) fn lost(&self) -> u32 {
        self.lost
    }

    /// Returns the estimated number of segments in the network (RFC 6675's pipe).
    pub(crate) fn pipe(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost + self.resent
    }

    /// Returns the highest segment delivered so far.
    pub(crate) fn highest_delivered(&self) -> Option<SegNo> {
        self.highest
    }

    /// Returns the stream offset after the first outstanding segment.
    pub(crate) fn first_end(&self) -> u64 {
        self.entries.front().map_or(0, Entry::end)
    }

    /// Returns the last segment sent that is not SACKed.
    pub(crate) fn last_unsacked(&mut self) -> Option<(SegNo, &Entry)> {
        let mut index = self.entries.len().checked_sub(1)?;
        // Path halving, as in `find_unsacked`.
        while let back @ 1.. = self.entries[index].skip_back() as usize {
            let before = index.checked_sub(back)?;
            self.entries[index].links.prev += self.entries[before].skip_back();
            index = before;
        }
        Some((self.base + index as u64, &self.entries[index]))
    }

    /// Returns whether every octet of `left..right` has been SACKed.
    pub(crate) fn is_sacked(&mut self, left: u64, right: u64) -> bool {
        let from = self.entries.partition_point(|e| e.end() <= left);
        if self.entries.get(from).is_none_or(|e| e.start >= right) {
            return false;
        }
        let hole = self.find_unsacked(self.base + from as u64);
        hole >= self.end() || self.entry(hole).start >= right
    }

    /// Returns the entry of segment `number`, which must be outstanding.
    pub(crate) fn entry(&self, number: SegNo) -> &Entry {
        &self.entries[(number - self.base) as usize]
    }

    /// Returns the number of the first segment that is not cumulatively acknowledged.
    pub(crate) fn first(&self) -> SegNo {
        self.base
    }

    /// Returns whether the receiver has acknowledged segment `number`, which was sent.
    pub(crate) fn is_delivered(&self, number: SegNo) -> bool {
        number < self.first() || self.entry(number).sacked
    }

    /// Returns the number of the first segment that a cumulative acknowledgement of `una` does not cover.
    pub(crate) fn covered_by(&self, una: u64) -> SegNo {
        self.base + self.entries.partition_point(|entry| entry.end() <= una) as u64
    }

    /// Returns the number of the next new segment.
    pub(crate) fn end(&self) -> SegNo {
        self.base + self.entries.len() as u64
    }

    /// Adds a segment of new data, sent at `now`.
    #[inline]
    pub(crate) fn push(&mut self, start: u64, len: u32, now: Instant) -> SegNo {
        let number = self.end();
        let entry = Entry {
            start,
            len,
            sent: now,
            links: self.order.links_of_new_tail(),
            sacked: false,
            lost: false,
            resent: false,
            retransmitted: false,
        };
        crate::ring::push(&mut self.entries, entry);
        self.order.append_linked(&mut ring(&mut self.entries, self.base), number);
        number
    }

    /// Records that segment `number` was sent again at `now`.
    pub(crate) fn retransmit(&mut self, number: SegNo, now: Instant) {
        let entry = &mut self.entries[(number - self.base) as usize];
        entry.sent = now;
        entry.retransmitted = true;
        if std::mem::take(&mut entry.lost) {
            self.lost -= 1;
        } else {
            self.resent += u32::from(!std::mem::replace(&mut entry.resent, true));
            self.order.remove(&mut ring(&mut self.entries, self.base), number);
        }
        self.order.append(&mut ring(&mut self.entries, self.base), number);
    }

    /// Discards all SACKs, because the receiver has discarded the segments that it had SACKed (RFC
    /// 2018, section 8).
    pub(crate) fn discard_sacks(&mut self) {
        for entry in &mut self.entries {
            entry.sacked = false;
        }
        self.sacked = 0;
        self.sacked_from_edge = 0;
        self.edge = self.base;
        self.marked_to = self.base;
        self.rebuild_order();
    }

    /// Rebuilds the time order. This scans all segments, but is called only after rare events.
    fn rebuild_order(&mut self) {
        let in_flight = |e: &Entry| !e.sacked && !e.lost;
        let mut numbers: Vec<SegNo> =
            (self.base..self.end()).filter(|&n| in_flight(self.entry(n))).collect();
        numbers.sort_by_key(|&n| (self.entry(n).sent, n));
        self.order = TimeOrder::new();
        for number in numbers {
            let entry = self.entry(number);
            let before_latest =
                self.latest_delivered.is_some_and(|l| (entry.sent, entry.end()) < l);
            let mut ring = ring(&mut self.entries, self.base);
            self.order.append(&mut ring, number);
            if before_latest {
                self.order.set_cursor(number);
            }
        }
    }

    /// Returns whether the receiver reneged: the first segment is SACKed and not acknowledged.
    pub(crate) fn reneged(&self) -> bool {
        self.entries.front().is_some_and(|e| e.sacked)
    }

    /// Returns the smallest segment deemed lost and not resent since (NextSeg, rule 1).
    pub(crate) fn next_lost(&mut self) -> Option<SegNo> {
        while let Some(&Reverse(number)) = self.lost_queue.peek() {
            if number >= self.base && self.entry(number).lost {
                return Some(number);
            }
            self.lost_queue.pop();
        }
        None
    }

    /// Returns the smallest hole at or after `from` and below the highest SACKed segment that was
    /// never resent (NextSeg, rule 3).
    pub(crate) fn hole_from(&mut self, from: SegNo) -> Option<SegNo> {
        let highest = self.highest.filter(|_| self.sacked > 0)?;
        let mut number = self.find_unsacked(from.max(self.base));
        while number < highest {
            if !self.entry(number).retransmitted {
                return Some(number);
            }
            number = self.find_unsacked(number + 1);
        }
        None
    }

    /// Returns the smallest segment at or after `number` that is not SACKed, or the end. Uses
    /// union-find with path halving over the runs of SACKed segments.
    fn find_unsacked(&mut self, number: SegNo) -> SegNo {
        let mut index = (number - self.base) as usize;
        while index < self.entries.len() {
            let skip = self.entries[index].skip() as usize;
            if skip == 0 {
                break;
            }
            if let Some(further) = self.entries.get(index + skip).map(Entry::skip) {
                self.entries[index].links.next += further;
            }
            index += skip;
        }
        self.base + index as u64
    }
}

fn ring(entries: &mut VecDeque<Entry>, base: SegNo) -> Ring<'_, Entry> {
    Ring { entries, base }
}

#[cfg(test)]
mod tests;
