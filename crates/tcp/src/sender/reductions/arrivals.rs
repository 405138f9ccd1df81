//! Segments that arrived, or may have arrived, by a suspected transmission
//! (`docs/senders/unruffled.md`, section 2).
//!
//! If a segment that was resent once is acknowledged less than the minimum round-trip time after its
//! retransmission, the original has arrived. The measured minimum can be too large, because a queue is
//! never empty. In that case the next acknowledgement decides: on a path that preserves the order, no
//! segment sent before a retransmission arrives after it.

use unruffled_units::Instant;

use crate::sender::numbers::{Renumbered, SegNo};

#[derive(Clone, Copy, Debug)]
struct Arrived {
    segment: SegNo,
    /// Time at which it was resent.
    resent: Instant,
}

/// The segments in question, the certain ones first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrivals {
    list: Vec<Arrived>,
    /// Length of the prefix of `list` that certainly arrived by the suspected transmission.
    certain: u32,
    /// Length of the prefix of `list` that is certain or older than the acknowledgement being read.
    old: u32,
}

impl Arrivals {
    /// Returns whether the next acknowledgement can decide on some of them.
    #[inline]
    pub(crate) fn has_ambiguous(&self) -> bool {
        self.list.len() > self.certain as usize
    }

    /// Starts reading an acknowledgement, which can decide on the segments listed so far.
    pub(crate) fn begin(&mut self) {
        self.old = self.list.len() as u32;
    }

    /// Adds segment `segment`, resent at `resent`. Either of its copies may have arrived.
    pub(crate) fn add_ambiguous(&mut self, segment: SegNo, resent: Instant) {
        self.list.push(Arrived { segment, resent });
    }

    /// Adds segment `segment`, resent at `resent`, which arrived by the suspected transmission.
    pub(crate) fn add_certain(&mut self, segment: SegNo, resent: Instant) {
        let last = self.list.len();
        self.list.push(Arrived { segment, resent });
        self.list.swap(self.old as usize, last);
        self.list.swap(self.certain as usize, self.old as usize);
        self.certain += 1;
        self.old += 1;
    }

    /// Decides on the segments from earlier acknowledgements when segments sent once, at `sent` and
    /// later, are acknowledged. Those resent after `sent` arrived by the suspected transmission. The
    /// others stay undecided and are dropped.
    pub(crate) fn decide(&mut self, sent: Instant) {
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

    /// Returns the segments that certainly arrived by the suspected transmission.
    pub(crate) fn certain_segments(&self) -> impl Iterator<Item = SegNo> {
        self.list[..self.certain as usize].iter().map(|arrived| arrived.segment)
    }

    /// Removes and returns one of the segments that certainly arrived by the suspected transmission.
    pub(crate) fn take_certain(&mut self) -> Option<SegNo> {
        self.certain = self.certain.checked_sub(1)?;
        Some(self.list.swap_remove(self.certain as usize).segment)
    }

    /// Renumbers the segments after some were split.
    pub(crate) fn renumber(&mut self, numbers: &Renumbered) {
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
        let mut taken: Vec<SegNo> = std::iter::from_fn(|| arrivals.take_certain()).collect();
        taken.sort_unstable();
        taken
    }

    #[test]
    fn a_segment_sent_before_a_retransmission_and_acknowledged_later_decides() {
        let mut arrivals = Arrivals::default();
        for (segment, resent) in [(1, 100), (2, 120), (3, 90), (4, 130)] {
            arrivals.add_ambiguous(segment, at(resent));
        }
        arrivals.begin();
        // Part of the same acknowledgement.
        arrivals.add_ambiguous(5, at(140));
        assert_eq!(taken(&mut arrivals), []);
        arrivals.decide(at(100));
        assert_eq!(arrivals.certain_segments().count(), 2);
        assert_eq!(taken(&mut arrivals), [2, 4]);
        assert_eq!(arrivals.list.len(), 1);
        arrivals.begin();
        arrivals.decide(at(139));
        assert_eq!(taken(&mut arrivals), [5]);
        assert!(!arrivals.has_ambiguous());
    }

    #[test]
    fn certain_segments_come_first() {
        let mut arrivals = Arrivals::default();
        arrivals.add_ambiguous(1, at(100));
        arrivals.add_certain(2, at(100));
        arrivals.add_ambiguous(3, at(100));
        arrivals.add_certain(4, at(100));
        assert!(arrivals.has_ambiguous());
        assert_eq!(taken(&mut arrivals), [2, 4]);
        arrivals.begin();
        arrivals.decide(at(99));
        assert_eq!(taken(&mut arrivals), [1, 3]);
    }

    #[test]
    fn a_certain_segment_leaves_earlier_ones_to_be_decided() {
        let mut arrivals = Arrivals::default();
        arrivals.add_ambiguous(1, at(100));
        arrivals.add_ambiguous(2, at(100));
        arrivals.begin();
        arrivals.add_ambiguous(3, at(100));
        arrivals.add_certain(4, at(110));
        arrivals.add_certain(5, at(110));
        arrivals.add_ambiguous(6, at(100));
        arrivals.decide(at(90));
        assert_eq!(taken(&mut arrivals), [1, 2, 4, 5]);
        arrivals.begin();
        arrivals.decide(at(90));
        assert_eq!(taken(&mut arrivals), [3, 6]);
    }
}
