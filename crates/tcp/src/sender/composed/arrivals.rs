//! Arrivals that may have been by a transmission that was given up (`docs/senders/unruffled.md`,
//! section 2).
//!
//! A segment that was resent once is acknowledged too soon after that for the retransmission to have
//! arrived, if the minimum round-trip time is right. Behind a queue that is never empty it is not, and
//! then what comes next tells: on a path that keeps the order, nothing that was sent before a
//! retransmission arrives after it.

use unruffled_units::Instant;

use crate::sender::stream::{Renumbered, SegNo};

#[derive(Clone, Copy, Debug)]
struct Arrived {
    segment: SegNo,
    /// When it was resent.
    resent: Instant,
}

/// What arrived by a suspected transmission, and behind that what may have.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    list: Vec<Arrived>,
    /// So many are certain, which come first.
    certain: u32,
    /// So many are certain, or were there before the acknowledgement that is being read.
    old: u32,
}

impl Arrivals {
    /// Whether what comes next tells of some of them.
    #[inline]
    pub(super) fn are_ambiguous(&self) -> bool {
        self.list.len() > self.certain as usize
    }

    /// An acknowledgement is about to be read: it tells of those that are there already.
    pub(super) fn begin(&mut self) {
        self.old = self.list.len() as u32;
    }

    /// Segment `segment`, resent at `resent`, is acknowledged for the first time.
    pub(super) fn ambiguous(&mut self, segment: SegNo, resent: Instant) {
        self.list.push(Arrived { segment, resent });
    }

    /// It arrived by the suspected transmission.
    pub(super) fn certain(&mut self, segment: SegNo, resent: Instant) {
        let last = self.list.len();
        self.list.push(Arrived { segment, resent });
        self.list.swap(self.old as usize, last);
        self.list.swap(self.certain as usize, self.old as usize);
        self.certain += 1;
        self.old += 1;
    }

    /// What was sent once, at `sent` and later, is acknowledged: of those that were there before, what
    /// was resent later than that arrived by the suspected transmission, and nothing is known of the rest.
    pub(super) fn judge(&mut self, sent: Instant) {
        let mut at = self.certain;
        while at < self.old {
            if sent < self.list[at as usize].resent {
                self.list.swap(at as usize, self.certain as usize);
                self.certain += 1;
                at += 1;
            } else {
                self.old -= 1;
                self.list.swap(at as usize, self.old as usize);
                self.list.swap_remove(self.old as usize);
            }
        }
    }

    /// The segments that certainly did.
    pub(super) fn all_certain(&self) -> impl Iterator<Item = SegNo> {
        self.list[..self.certain as usize].iter().map(|arrived| arrived.segment)
    }

    /// Takes one of these out.
    pub(super) fn next_certain(&mut self) -> Option<SegNo> {
        self.certain = self.certain.checked_sub(1)?;
        Some(self.list.swap_remove(self.certain as usize).segment)
    }

    /// Segments were split: they have other numbers.
    pub(super) fn renumber(&mut self, numbers: &Renumbered) {
        for arrived in &mut self.list {
            arrived.segment = numbers.first(arrived.segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn taken(arrivals: &mut Arrivals) -> Vec<SegNo> {
        let mut taken: Vec<SegNo> = std::iter::from_fn(|| arrivals.next_certain()).collect();
        taken.sort_unstable();
        taken
    }

    #[test]
    fn what_was_sent_before_a_retransmission_and_comes_later_tells() {
        let mut arrivals = Arrivals::default();
        for (segment, resent) in [(1, 100), (2, 120), (3, 90), (4, 130)] {
            arrivals.ambiguous(segment, at(resent));
        }
        arrivals.begin();
        // Told of by the same acknowledgement.
        arrivals.ambiguous(5, at(140));
        assert_eq!(taken(&mut arrivals), []);
        arrivals.judge(at(100));
        assert_eq!(arrivals.all_certain().count(), 2);
        assert_eq!(taken(&mut arrivals), [2, 4]);
        assert_eq!(arrivals.list.len(), 1);
        arrivals.begin();
        arrivals.judge(at(139));
        assert_eq!(taken(&mut arrivals), [5]);
        assert!(!arrivals.are_ambiguous());
    }

    #[test]
    fn what_is_certain_goes_first() {
        let mut arrivals = Arrivals::default();
        arrivals.ambiguous(1, at(100));
        arrivals.certain(2, at(100));
        arrivals.ambiguous(3, at(100));
        arrivals.certain(4, at(100));
        assert!(arrivals.are_ambiguous());
        assert_eq!(taken(&mut arrivals), [2, 4]);
        arrivals.begin();
        arrivals.judge(at(99));
        assert_eq!(taken(&mut arrivals), [1, 3]);
    }

    #[test]
    fn what_is_certain_leaves_what_was_there_before_to_be_judged() {
        let mut arrivals = Arrivals::default();
        arrivals.ambiguous(1, at(100));
        arrivals.ambiguous(2, at(100));
        arrivals.begin();
        arrivals.ambiguous(3, at(100));
        arrivals.certain(4, at(110));
        arrivals.certain(5, at(110));
        arrivals.ambiguous(6, at(100));
        arrivals.judge(at(90));
        assert_eq!(taken(&mut arrivals), [1, 2, 4, 5]);
        arrivals.begin();
        arrivals.judge(at(90));
        assert_eq!(taken(&mut arrivals), [3, 6]);
    }
}
