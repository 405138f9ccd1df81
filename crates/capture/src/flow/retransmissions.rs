//! Retransmissions that cover several segments, or parts of segments: each counts once.

use std::collections::VecDeque;
use std::ops::Range;

use super::FlowDirection;
use super::counts::SpuriousReason;
use super::recovery::Recoveries;
use super::scoreboard::{Delivered, Fingerprint, Weight};

/// Retransmissions of several segments kept because a DSACK may still prove them spurious.
const MAX_PENDING: usize = 1024;

/// The retransmissions of one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Retransmissions {
    pub(super) recoveries: Recoveries,
    /// Retransmissions that cover more than one entry of the scoreboard.
    pending: VecDeque<MultiSegment>,
    /// The number of the first pending one.
    first: u32,
}

/// A retransmission that covers several entries.
#[derive(Clone, Copy, Debug)]
struct MultiSegment {
    entries: u32,
    /// Entries that have not proved to be there already.
    unproved: u32,
    weight: u16,
}

impl Retransmissions {
    /// Records a retransmission of that many entries, which counts for `weight` segments; returns its
    /// number.
    fn push(&mut self, entries: u32, weight: u16) -> u32 {
        if self.pending.len() == MAX_PENDING {
            self.pending.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.pending.push_back(MultiSegment { entries, unproved: entries, weight });
        self.first.wrapping_add(self.pending.len() as u32 - 1)
    }

    /// Records that one entry of a retransmission had arrived already.
    ///
    /// Returns the number of segments that thereby prove spurious: the weight of the retransmission
    /// with its last entry, and 0 before.
    fn prove_entry(&mut self, weight: Weight) -> u16 {
        let number = match weight {
            Weight::Own(weight) => return weight,
            Weight::Shared(number) => number,
        };
        let at = number.wrapping_sub(self.first) as usize;
        let Some(retransmission) = self.pending.get_mut(at) else { return 0 };
        retransmission.unproved -= 1;
        if retransmission.unproved > 0 {
            return 0;
        }
        // An earlier retransmission of the same entries may prove spurious, too.
        retransmission.unproved = retransmission.entries;
        retransmission.weight
    }
}

impl FlowDirection {
    /// Records a retransmission of the octets from `start` to `end`, of which the scoreboard holds
    /// `entries`.
    pub(super) fn retransmit(
        &mut self,
        start: u64,
        end: u64,
        entries: Range<usize>,
        packet: Fingerprint,
    ) {
        let now = packet.at;
        let weight = self.sizes.weight(end - start);
        self.counts.retransmit(weight, end - start);
        self.draw(start, |drawing, at| drawing.resent(now, at));
        if (start..end).contains(&self.stream.una) {
            self.detect_timeout(now);
        }
        let flight = self.stream.flight();
        let recoveries = &mut self.retransmissions.recoveries;
        let recovery = recoveries.retransmit(now, self.stream.next, flight, u64::from(weight));
        if entries.is_empty() {
            // The scoreboard no longer holds the segment, so all that is known is whether it is
            // acknowledged.
            if start < self.stream.una {
                let reason = SpuriousReason::Acknowledgement;
                self.counts.prove_spurious(weight, end - start, reason);
                self.draw(start, |drawing, at| drawing.spurious(now, at));
            }
            return;
        }
        let weight = match entries.len() {
            1 => Weight::Own(weight),
            // The packet was joined from as many segments: each counts for itself.
            several if several == usize::from(weight) => Weight::Own(1),
            several => Weight::Shared(self.retransmissions.push(several as u32, weight)),
        };
        for at in entries {
            let Some(entry) = self.scoreboard.get_mut(at) else { return };
            if !entry.is_hole() {
                self.clues.ip_ids.record_retransmission(packet, entry.last);
            }
            entry.retransmit(packet);
            entry.recovery = recovery;
            entry.weight = weight;
            if entry.delivered != Delivered::Nothing {
                self.prove_spurious(at, SpuriousReason::Acknowledgement);
            }
        }
    }

    /// Records that one retransmission of entry `at` proved spurious without a DSACK.
    pub(super) fn prove_spurious(&mut self, at: usize, reason: SpuriousReason) {
        let Some(entry) = self.scoreboard.get_mut(at) else { return };
        let before = entry.spurious();
        entry.prove_spurious();
        self.count_spurious(at, before, reason);
    }

    /// Records that a DSACK reports entry `at`.
    pub(super) fn prove_spurious_by_dsack(&mut self, at: usize) {
        let Some(entry) = self.scoreboard.get_mut(at) else { return };
        let before = entry.spurious();
        entry.prove_spurious_by_dsack();
        self.count_spurious(at, before, SpuriousReason::Dsack);
    }

    /// Counts a spurious retransmission of entry `at` if more are known than `before`.
    fn count_spurious(&mut self, at: usize, before: u16, reason: SpuriousReason) {
        let Some(entry) = self.scoreboard.get(at) else { return };
        if entry.spurious() <= before {
            return;
        }
        let sent = entry.last.at;
        let start = entry.start;
        let octets = entry.len();
        let recovery = entry.recovery;
        let segments = self.retransmissions.prove_entry(entry.weight);
        let segments = self.counts.prove_spurious(segments, octets, reason);
        if segments > 0 {
            self.retransmissions.recoveries.prove_spurious(recovery, segments);
            self.draw(start, |drawing, at| drawing.spurious(sent, at));
        }
    }
}
