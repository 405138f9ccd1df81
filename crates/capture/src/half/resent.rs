//! Retransmissions that cover several segments, or parts of them: each counts once.

use std::collections::VecDeque;

use super::Half;
use crate::outstanding::{Delivered, Mark, Share};

/// Retransmissions of several segments that may yet prove spurious, because a DSACK is on its way.
const PENDING: usize = 1024;

/// Retransmissions that cover more than one entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Again {
    pending: VecDeque<Several>,
    /// The number of the first that is pending.
    first: u32,
}

#[derive(Clone, Copy, Debug)]
struct Several {
    entries: u32,
    /// Those of the entries that have not proved to be there already.
    left: u32,
    weight: u16,
}

impl Again {
    /// A retransmission of so many entries passes, which counts for `weight` segments.
    fn push(&mut self, entries: u32, weight: u16) -> u32 {
        if self.pending.len() == PENDING {
            self.pending.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.pending.push_back(Several { entries, left: entries, weight });
        self.first.wrapping_add(self.pending.len() as u32 - 1)
    }

    /// One of its entries was there already; says for how many segments it counts, if all were.
    pub(super) fn prove(&mut self, share: Share) -> u16 {
        let number = match share {
            Share::Whole(weight) => return weight,
            Share::Part(number) => number,
        };
        let at = number.wrapping_sub(self.first) as usize;
        let Some(several) = self.pending.get_mut(at) else { return 0 };
        several.left -= 1;
        if several.left > 0 {
            return 0;
        }
        // A retransmission of the same before it may prove spurious, too.
        several.left = several.entries;
        several.weight
    }
}

impl Half {
    /// A packet passes that is sent again: the octets from `start` to `end`, of which `entries` are
    /// remembered.
    pub(super) fn again(
        &mut self,
        start: u64,
        end: u64,
        entries: std::ops::Range<usize>,
        mark: Mark,
    ) {
        let weight = self.weight(end - start);
        self.counts.resent(weight, end - start);
        self.draw(start, |sketch, at| sketch.resent(mark.at, at));
        if (start..end).contains(&self.numbers.una) {
            self.note_timeout(mark.at);
        }
        let episode =
            self.episodes.resent(mark.at, self.numbers.next, self.flight(), u64::from(weight));
        if entries.is_empty() {
            // It was sent so long ago that nothing is known of it but whether it is acknowledged.
            if start < self.numbers.una {
                self.counts
                    .prove(weight, end - start, |counts| &mut counts.spurious.by_acknowledgement);
                self.draw(start, |sketch, at| sketch.spurious(mark.at, at));
            }
            return;
        }
        let share = match entries.len() {
            1 => Share::Whole(weight),
            // As many segments were joined: each counts for itself.
            several if several == usize::from(weight) => Share::Whole(1),
            several => Share::Part(self.again.push(several as u32, weight)),
        };
        for at in entries {
            let Some(entry) = self.outstanding.get_mut(at) else { return };
            if entry.transmissions > 0 {
                self.ids.resent(mark, entry.last);
            }
            entry.resent(mark);
            (entry.episode, entry.share) = (episode, share);
            if entry.delivered != Delivered::Not {
                self.prove_spurious(at, |counts| &mut counts.spurious.by_acknowledgement);
            }
        }
    }
}
