//! Marks segments as lost by the rule that the detector gives (IsLost of RFC 6675, section 4).

use std::cmp::Reverse;

use unruffled_units::Instant;

use super::{Scoreboard, SegNo, ring};
use crate::parts::detect::{Overdue, Rule};
use crate::sender::stream::time_order;

/// The outcome of applying a rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Applied {
    /// Segments newly deemed lost.
    pub(crate) newly_lost: u32,
    /// When to apply the rule again, if no event causes that earlier.
    pub(crate) apply_again: Option<Instant>,
}

impl Applied {
    /// Requires that the rule is applied again at `at` or earlier.
    fn apply_again_by(&mut self, at: Instant) {
        self.apply_again = Some(self.apply_again.map_or(at, |earlier| earlier.min(at)));
    }
}

impl Scoreboard {
    /// Marks the segments that `rule` deems lost at `now`.
    pub(crate) fn apply(&mut self, rule: &Rule, now: Instant) -> Applied {
        let mut applied = Applied::default();
        let counted = rule.dupthresh.map(|dupthresh| self.lost_edge(dupthresh));
        let distant =
            rule.distance.zip(self.highest).map(|(d, h)| (h + 1).saturating_sub(d.into()));
        if let Some(edge) = counted.max(distant) {
            self.mark_holes_below(edge, &mut applied);
        }
        if let Some(overdue) = rule.overdue {
            self.apply_overdue(overdue, now, &mut applied);
        }
        if let Some(due) = rule.first_hole_due {
            if due > now {
                applied.apply_again_by(due);
            } else if self.entries.front().is_some_and(|e| !e.retransmitted) {
                applied.newly_lost += u32::from(self.mark_first_lost());
            }
        }
        applied
    }

    fn mark_holes_below(&mut self, edge: SegNo, applied: &mut Applied) {
        let mut number = self.find_unsacked(self.marked_to.max(self.base));
        while number < edge {
            // A hole that was resent is not lost again by counting (HighRxt in RFC 6675).
            if !self.entry(number).retransmitted && self.mark_lost(number) {
                applied.newly_lost += 1;
            }
            number = self.find_unsacked(number + 1);
        }
        self.marked_to = self.marked_to.max(edge);
    }

    fn apply_overdue(&mut self, overdue: Overdue, now: Instant, applied: &mut Applied) {
        let Some(last) = self.order.last_before_delivered() else { return };
        while let Some(low) = self.order.first() {
            let number = self.full_number(low);
            let due = self.entry(number).sent + overdue.wait;
            if due > now {
                if overdue.eager {
                    applied.apply_again_by(due);
                    return;
                }
                break;
            }
            self.mark_lost(number);
            applied.newly_lost += 1;
            if low == last {
                return;
            }
        }
        // RFC 8985, section 6.2: the timer waits for the last of the eligible segments.
        applied.apply_again_by(self.entry(self.full_number(last)).sent + overdue.wait);
    }

    /// Returns the boundary below which every hole has at least `dupthresh` SACKed segments above
    /// it (RFC 6675, IsLost).
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

    /// Marks every segment as lost that has been in flight for longer than `rule` allows, whatever
    /// was delivered since (RFC 8985, section 6.3).
    pub(crate) fn mark_overdue(&mut self, rule: &Rule, now: Instant) {
        let Some(overdue) = rule.overdue else { return };
        while let Some(low) = self.order.first() {
            let number = self.full_number(low);
            if self.entry(number).sent + overdue.wait > now {
                break;
            }
            self.mark_lost(number);
        }
    }

    /// Marks every segment as lost that is not SACKed, after a timeout of a sender without a more
    /// specific rule (RFC 6298).
    pub(crate) fn mark_all_lost(&mut self) {
        for number in self.base..self.end() {
            if !self.entry(number).sacked {
                self.mark_lost(number);
            }
        }
    }

    /// Marks the first segment as lost. Returns whether that changed anything.
    pub(crate) fn mark_first_lost(&mut self) -> bool {
        !self.entries.is_empty() && !self.entry(self.base).sacked && self.mark_lost(self.base)
    }

    /// Marks segment `number`, which must not have been delivered, as lost. Returns whether that
    /// changed anything.
    pub(crate) fn mark_lost(&mut self, number: SegNo) -> bool {
        let entry = &mut self.entries[(number - self.base) as usize];
        if entry.lost {
            return false;
        }
        entry.lost = true;
        self.resent -= u32::from(std::mem::take(&mut entry.resent));
        self.lost += 1;
        self.lost_queue.push(Reverse(number));
        if let Some(log) = &mut self.loss_log {
            log.push(number);
        }
        self.order.remove(&mut ring(&mut self.entries, self.base), number);
        true
    }

    /// Unmarks every segment that was deemed lost and not resent since.
    pub(crate) fn unmark_lost(&mut self) {
        let mut before = None;
        while let Some(number) = self.next_lost() {
            self.lost_queue.pop();
            self.entries[(number - self.base) as usize].lost = false;
            let mut ring = ring(&mut self.entries, self.base);
            self.order.insert(&mut ring, number, before, self.latest_delivered);
            before = Some(number);
        }
        self.lost = 0;
        self.marked_to = self.base;
    }

    /// Returns the number of the outstanding segment with these low bits.
    fn full_number(&self, low: u32) -> SegNo {
        let distance = u64::from(low.wrapping_sub(self.base as u32));
        self.base + u64::from(time_order::low_bits(distance))
    }
}
