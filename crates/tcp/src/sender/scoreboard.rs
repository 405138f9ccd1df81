//! What the sender knows of each segment between the cumulative acknowledgement and the highest
//! sequence number sent (RFC 6675, sections 2 and 4): delivered, lost, resent, and when last sent.
//!
//! Segments are numbered in the order of the stream, from 0; a number changes only when segments are split. All steps are
//! amortised O(1) or O(log window), and allocate only when the window outgrows what it ever was.

mod split;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use unruffled_units::Instant;

pub(crate) use split::Renumbered;

use super::time_order::{self, Links, Ring, TimeOrder};
use crate::detect::{Overdue, Rule, Scope};

/// A segment's place in the stream, counted in segments.
pub(crate) type SegNo = u64;

/// One outstanding segment.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Stream offset of its first octet.
    pub(crate) start: u64,
    /// Octets.
    pub(crate) len: u32,
    /// How far on to look for a segment that is not SACKed: 0 when this one is not.
    skip: u32,
    /// Last transmission.
    pub(crate) sent: Instant,
    pub(super) links: Links,
    sacked: bool,
    /// Held for lost and not resent since.
    lost: bool,
    /// A retransmission is in flight.
    resent: bool,
    /// Was ever retransmitted.
    pub(crate) retransmitted: bool,
}

impl Entry {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// Held for lost and not resent since.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost
    }
}

/// RACK's guards against ambiguity (RFC 8985, section 6.2, step 2): a retransmission sent after
/// these cannot be what the acknowledgement covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpuriousAfter {
    /// By the timestamp's echo, or min_RTT before now.
    pub(crate) cumulative: Instant,
    /// min_RTT before now: a SACK echoes what came before the hole (RFC 7323, section 4.3, step 2),
    /// so here the RFC's first condition would always hold. Linux never asks it.
    pub(crate) selective: Instant,
}

/// One segment that an acknowledgement covers and none did before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) number: SegNo,
    /// It was ever retransmitted.
    pub(crate) resent: bool,
}

/// What one acknowledgement newly delivered, cumulatively or selectively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Segments newly covered.
    pub(crate) segments: u32,
    /// Of those, the ones covered selectively.
    pub(crate) sacked: u32,
    /// Segments that the cumulative point passed, SACKed earlier or not.
    pub(crate) passed: u32,
    /// The last one covered; with `segments == 1` the only one.
    pub(crate) number: SegNo,
    /// Whether that one was ever retransmitted.
    pub(crate) retransmitted: bool,
    /// Latest transmission among the covered ones that were never retransmitted (Karn's rule).
    pub(crate) original_sent: Option<Instant>,
    /// The latest-sent covered segment that is not a suspected spurious retransmission (RFC 8985,
    /// section 6.2, step 2): when it was sent.
    pub(crate) latest_sent: Option<Instant>,
    /// A segment that was never retransmitted arrived behind a later one (RFC 8985, step 3).
    pub(crate) reordered: bool,
}

/// What applying a rule found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Segments newly held for lost.
    pub(crate) newly_lost: u32,
    /// When the rule should be applied again, if nothing happens before.
    pub(crate) ask_again: Option<Instant>,
}

impl Verdict {
    fn ask_at(&mut self, at: Instant) {
        self.ask_again = Some(self.ask_again.map_or(at, |earlier| earlier.min(at)));
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Scoreboard {
    entries: VecDeque<Entry>,
    /// Number of the first entry, which is also the first one not cumulatively acknowledged.
    base: SegNo,
    order: TimeOrder,
    /// Numbers held for lost, smallest first; stale ones are passed over when they come up.
    lost_queue: BinaryHeap<Reverse<SegNo>>,
    sacked: u32,
    lost: u32,
    resent: u32,
    /// The boundary that `sacked_from_edge` counts from, kept near the dupthresh-th highest SACK.
    edge: SegNo,
    sacked_from_edge: u32,
    /// All holes below this number have been held for lost at some time.
    marked_to: SegNo,
    /// The highest segment delivered so far.
    highest: Option<SegNo>,
    /// Last transmission and end of the latest-sent delivered segment (RACK.xmit_ts, RACK.end_seq).
    latest_delivered: Option<(Instant, u64)>,
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
        }
    }

    /// Segments sent and not cumulatively acknowledged (FlightSize).
    pub(crate) fn outstanding(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Segments covered selectively.
    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments believed to be in the network (RFC 6675's pipe).
    pub(crate) fn pipe(&self) -> u32 {
        self.outstanding() - self.sacked - self.lost + self.resent
    }

    /// The highest segment delivered so far (m, before the acknowledgement that is being read).
    pub(crate) fn highest_delivered(&self) -> Option<SegNo> {
        self.highest
    }

    /// Where the first outstanding segment ends.
    pub(crate) fn first_end(&self) -> u64 {
        self.entries.front().map_or(0, Entry::end)
    }

    /// The last segment sent that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<(SegNo, &Entry)> {
        let (index, entry) = self.entries.iter().enumerate().rev().find(|(_, e)| !e.sacked)?;
        Some((self.base + index as u64, entry))
    }

    /// Whether every octet of `left..right` has been SACKed.
    pub(crate) fn is_sacked(&self, left: u64, right: u64) -> bool {
        let from = self.entries.partition_point(|e| e.end() <= left);
        let mut covered = self.entries.range(from..).take_while(|e| e.start < right).peekable();
        covered.peek().is_some() && covered.all(|e| e.sacked)
    }

    pub(crate) fn entry(&self, number: SegNo) -> &Entry {
        &self.entries[(number - self.base) as usize]
    }

    /// Number that the next new segment will get.
    pub(crate) fn end(&self) -> SegNo {
        self.base + self.entries.len() as u64
    }

    /// New data left at `now`.
    pub(crate) fn push(&mut self, start: u64, len: u32, now: Instant) -> SegNo {
        let number = self.end();
        self.entries.push_back(Entry {
            start,
            len,
            skip: 0,
            sent: now,
            links: Links::LOOSE,
            sacked: false,
            lost: false,
            resent: false,
            retransmitted: false,
        });
        self.order.append(&mut ring(&mut self.entries, self.base), number);
        number
    }

    /// Segment `number` was sent again at `now`.
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

    /// Takes in one acknowledgement: cumulative up to offset `una`, then `blocks` of offsets.
    /// `on_delivered` is told of every newly covered segment.
    pub(crate) fn acknowledge(
        &mut self,
        una: u64,
        blocks: &[(u64, u64)],
        spurious_after: SpuriousAfter,
        mut on_delivered: impl FnMut(Covered),
    ) -> Delivery {
        let mut d = Delivery::default();
        let highest_before = self.highest;
        while let Some(front) = self.entries.front_mut() {
            if front.end() > una {
                if front.start < una {
                    front.len -= (una - front.start) as u32;
                    front.start = una;
                }
                break;
            }
            d.passed += 1;
            if front.sacked {
                self.sacked -= 1;
                self.sacked_from_edge -= u32::from(self.base >= self.edge);
            } else {
                let guard = spurious_after.cumulative;
                self.deliver(self.base, highest_before, guard, &mut d, &mut on_delivered);
            }
            self.entries.pop_front();
            self.base += 1;
        }
        self.edge = self.edge.max(self.base);
        for &(left, right) in blocks {
            let Some(mut number) = self.first_at_or_after(left.max(una)) else { continue };
            loop {
                number = self.find_unsacked(number);
                if number >= self.end() || self.entry(number).end() > right {
                    break;
                }
                let guard = spurious_after.selective;
                self.deliver(number, highest_before, guard, &mut d, &mut on_delivered);
                d.sacked += 1;
                self.sacked += 1;
                self.sacked_from_edge += u32::from(number >= self.edge);
                let entry = &mut self.entries[(number - self.base) as usize];
                entry.sacked = true;
                entry.skip = 1;
                number += 1;
            }
        }
        d
    }

    /// Books segment `number` as delivered and takes it out of the time order.
    fn deliver(
        &mut self,
        number: SegNo,
        highest_before: Option<SegNo>,
        spurious_after: Instant,
        d: &mut Delivery,
        on_delivered: &mut impl FnMut(Covered),
    ) {
        let index = (number - self.base) as usize;
        let entry = &mut self.entries[index];
        d.segments += 1;
        d.number = number;
        d.retransmitted = entry.retransmitted;
        let (sent, end) = (entry.sent, entry.end());
        let was_lost = std::mem::take(&mut entry.lost);
        self.lost -= u32::from(was_lost);
        self.resent -= u32::from(std::mem::take(&mut entry.resent));
        on_delivered(Covered { number, resent: entry.retransmitted });
        if !entry.retransmitted {
            d.original_sent = d.original_sent.max(Some(sent));
            d.reordered |= highest_before.is_some_and(|h| number < h);
        }
        let suspect = entry.retransmitted && sent > spurious_after;
        let mut ring = ring(&mut self.entries, self.base);
        if !suspect {
            d.latest_sent = d.latest_sent.max(Some(sent));
            if self.latest_delivered.is_none_or(|latest| (sent, end) > latest) {
                self.latest_delivered = Some((sent, end));
                if was_lost {
                    self.order.seek(&mut ring, |e| (e.sent, e.end()) < (sent, end));
                } else {
                    self.order.delivered_latest(&mut ring, number);
                }
            }
        }
        if !was_lost {
            self.order.remove(&mut ring, number);
        }
        self.highest = self.highest.max(Some(number));
    }

    /// Holds for lost what `rule` holds for lost at `now`.
    pub(crate) fn apply(&mut self, rule: &Rule, now: Instant) -> Verdict {
        let mut verdict = Verdict::default();
        let counted = rule.dupthresh.map(|dupthresh| self.lost_edge(dupthresh));
        let distant =
            rule.distance.zip(self.highest).map(|(d, h)| (h + 1).saturating_sub(d.into()));
        if let Some(edge) = counted.max(distant) {
            self.mark_holes_below(edge, &mut verdict);
        }
        if let Some(overdue) = rule.overdue {
            self.apply_overdue(overdue, now, &mut verdict);
        }
        if let Some(due) = rule.first_hole_due {
            if due > now {
                verdict.ask_at(due);
            } else if self.entries.front().is_some_and(|e| !e.retransmitted) {
                verdict.newly_lost += u32::from(self.mark_first_lost());
            }
        }
        verdict
    }

    fn mark_holes_below(&mut self, edge: SegNo, verdict: &mut Verdict) {
        let mut number = self.find_unsacked(self.marked_to.max(self.base));
        while number < edge {
            // A hole that was resent is not lost again by counting (HighRxt in RFC 6675).
            if !self.entry(number).retransmitted && self.mark_lost(number) {
                verdict.newly_lost += 1;
            }
            number = self.find_unsacked(number + 1);
        }
        self.marked_to = self.marked_to.max(edge);
    }

    fn apply_overdue(&mut self, overdue: Overdue, now: Instant, verdict: &mut Verdict) {
        let last = match overdue.scope {
            Scope::SentBeforeDelivered => self.order.last_before_delivered(),
            Scope::All => self.order.last(),
        };
        let Some(last) = last else { return };
        while let Some(low) = self.order.first() {
            let number = self.number(low);
            let due = self.entry(number).sent + overdue.wait;
            if due > now {
                if overdue.eager {
                    verdict.ask_at(due);
                    return;
                }
                break;
            }
            self.mark_lost(number);
            verdict.newly_lost += 1;
            if low == last {
                return;
            }
        }
        // RFC 8985, section 6.2: the timer waits for the last of the eligible segments.
        verdict.ask_at(self.entry(self.number(last)).sent + overdue.wait);
    }

    /// Holds for lost every segment that has been in flight for longer than `rule` allows, whatever
    /// was delivered since (RFC 8985, section 6.3).
    pub(crate) fn mark_overdue(&mut self, rule: &Rule, now: Instant) {
        let Some(overdue) = rule.overdue else { return };
        while let Some(low) = self.order.first() {
            let number = self.number(low);
            if self.entry(number).sent + overdue.wait > now {
                break;
            }
            self.mark_lost(number);
        }
    }

    /// Holds every segment that is not SACKed for lost (RFC 6298's timeout without more to go by).
    pub(crate) fn mark_all_lost(&mut self) {
        for number in self.base..self.end() {
            if !self.entry(number).sacked {
                self.mark_lost(number);
            }
        }
    }

    /// Holds the first segment for lost.
    pub(crate) fn mark_first_lost(&mut self) -> bool {
        !self.entries.is_empty() && !self.entry(self.base).sacked && self.mark_lost(self.base)
    }

    /// Takes back every "lost" that was not acted on yet.
    pub(crate) fn forgive(&mut self) {
        let mut before = None;
        while let Some(number) = self.next_lost() {
            self.lost_queue.pop();
            self.entries[(number - self.base) as usize].lost = false;
            let mut ring = ring(&mut self.entries, self.base);
            self.order.put_back(&mut ring, number, before, self.latest_delivered);
            before = Some(number);
        }
        self.lost = 0;
        self.marked_to = self.base;
    }

    /// The receiver has thrown away what it had SACKed (RFC 2018, section 8): forget it.
    pub(crate) fn forget_sacks(&mut self) {
        for entry in &mut self.entries {
            entry.sacked = false;
            entry.skip = 0;
        }
        self.sacked = 0;
        self.sacked_from_edge = 0;
        self.edge = self.base;
        self.marked_to = self.base;
        self.rebuild_order();
    }

    /// Threads the time order anew; only after events that are rare.
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

    /// The first segment was SACKed but not acknowledged: the receiver reneged.
    pub(crate) fn reneged(&self) -> bool {
        self.entries.front().is_some_and(|e| e.sacked)
    }

    /// The smallest segment held for lost and not resent (NextSeg rule 1).
    pub(crate) fn next_lost(&mut self) -> Option<SegNo> {
        while let Some(&Reverse(number)) = self.lost_queue.peek() {
            if number >= self.base && self.entry(number).lost {
                return Some(number);
            }
            self.lost_queue.pop();
        }
        None
    }

    /// The smallest hole at or after `from` and below the highest SACKed segment that was never
    /// resent (NextSeg rule 3).
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

    /// Holds segment `number`, which must not have been delivered, for lost.
    pub(crate) fn mark_lost(&mut self, number: SegNo) -> bool {
        let entry = &mut self.entries[(number - self.base) as usize];
        if entry.lost {
            return false;
        }
        entry.lost = true;
        self.resent -= u32::from(std::mem::take(&mut entry.resent));
        self.lost += 1;
        self.lost_queue.push(Reverse(number));
        self.order.remove(&mut ring(&mut self.entries, self.base), number);
        true
    }

    /// The boundary below which every hole has at least `dupthresh` SACKed segments above it
    /// (RFC 6675, IsLost).
    fn lost_edge(&mut self, dupthresh: u32) -> SegNo {
        while self.sacked_from_edge < dupthresh && self.edge > self.base {
            self.edge -= 1;
            self.sacked_from_edge += u32::from(self.entry(self.edge).sacked);
        }
        while self.edge < self.end() {
            let above = self.sacked_from_edge - u32::from(self.entry(self.edge).sacked);
            if above < dupthresh {
                break;
            }
            self.sacked_from_edge = above;
            self.edge += 1;
        }
        if self.sacked_from_edge < dupthresh { self.base } else { self.edge }
    }

    /// The smallest segment at or after `number` that is not SACKed, or the end: union-find with
    /// path halving over the runs of SACKed segments.
    fn find_unsacked(&mut self, number: SegNo) -> SegNo {
        let (mut index, len) = ((number - self.base) as usize, self.entries.len());
        while index < len {
            let skip = self.entries[index].skip as usize;
            if skip == 0 {
                break;
            }
            if let Some(further) = self.entries.get(index + skip).map(|e| e.skip) {
                self.entries[index].skip += further;
            }
            index += skip;
        }
        self.base + index as u64
    }

    /// The first segment that starts at or behind `offset`.
    fn first_at_or_after(&self, offset: u64) -> Option<SegNo> {
        let front = self.entries.front()?;
        // Segments of equal size make the first guess right.
        let guess = (offset.saturating_sub(front.start) / u64::from(front.len.max(1))) as usize;
        let index = match self.entries.get(guess) {
            Some(entry) if entry.start == offset => guess,
            _ => self.entries.partition_point(|e| e.start < offset),
        };
        (index < self.entries.len()).then(|| self.base + index as u64)
    }

    fn number(&self, low: u32) -> SegNo {
        self.base + u64::from(time_order::low(u64::from(low.wrapping_sub(self.base as u32))))
    }
}

fn ring(entries: &mut VecDeque<Entry>, base: SegNo) -> Ring<'_> {
    Ring { entries, base }
}

#[cfg(test)]
#[path = "scoreboard_tests.rs"]
mod tests;
