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
    /// So many are certain.
    certain: usize,
}

impl Arrivals {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether what comes next tells of some of them.
    #[inline]
    pub(super) fn are_ambiguous(&self) -> bool {
        self.list.len() > self.certain
    }

    /// Segment `segment`, resent at `resent`, is acknowledged for the first time.
    pub(super) fn ambiguous(&mut self, segment: SegNo, resent: Instant) {
        self.list.push(Arrived { segment, resent });
    }

    /// It arrived by the suspected transmission.
    pub(super) fn certain(&mut self, segment: SegNo, resent: Instant) {
        self.list.push(Arrived { segment, resent });
        let last = self.list.len() - 1;
        self.list.swap(self.certain, last);
        self.certain += 1;
    }

    /// What was sent once, at `sent` and later, is acknowledged after the first `before` of them: those
    /// resent later than that arrived by the suspected transmission, and nothing is known of the others.
    pub(super) fn judge(&mut self, mut before: usize, sent: Instant) {
        let mut at = self.certain;
        while at < before {
            if sent < self.list[at].resent {
                self.list.swap(at, self.certain);
                self.certain += 1;
                at += 1;
            } else {
                before -= 1;
                self.list.swap(at, before);
                self.list.swap_remove(before);
            }
        }
    }

    /// The segments that certainly did.
    pub(super) fn all_certain(&self) -> impl Iterator<Item = SegNo> {
        self.list[..self.certain].iter().map(|arrived| arrived.segment)
    }

    /// Takes one of these out.
    pub(super) fn next_certain(&mut self) -> Option<SegNo> {
        self.certain = self.certain.checked_sub(1)?;
        Some(self.list.swap_remove(self.certain).segment)
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
        // Told of by the same acknowledgement.
        arrivals.ambiguous(5, at(140));
        assert_eq!(taken(&mut arrivals), []);
        arrivals.judge(4, at(100));
        assert_eq!(arrivals.all_certain().count(), 2);
        assert_eq!(taken(&mut arrivals), [2, 4]);
        assert_eq!(arrivals.len(), 1);
        arrivals.judge(1, at(139));
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
        arrivals.judge(2, at(99));
        assert_eq!(taken(&mut arrivals), [1, 3]);
    }
}
