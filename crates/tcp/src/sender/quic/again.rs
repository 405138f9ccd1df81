//! Octets that are sent again, of stacks that do so whatever arrives meanwhile.

use std::collections::VecDeque;

/// Runs of octets that wait to be sent again.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// The first octet of each run, and the one after its last.
    runs: VecDeque<(u64, u64)>,
}

impl Again {
    /// Returns whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds `len` octets from `start` on: in the order of the stream and joined with others if `sorted`,
    /// otherwise behind all others.
    pub(super) fn add(&mut self, start: u64, len: u32, sorted: bool) {
        let end = start + u64::from(len);
        if !sorted {
            crate::ring::push(&mut self.runs, (start, end));
            return;
        }
        let from = self.runs.partition_point(|run| run.1 < start);
        let to = from + self.runs.range(from..).take_while(|run| run.0 <= end).count();
        if from == to {
            self.runs.insert(from, (start, end));
            return;
        }
        let joined = (self.runs[from].0.min(start), self.runs[to - 1].1.max(end));
        self.runs[from] = joined;
        self.runs.drain(from + 1..to);
    }

    /// Forgets the octets before `una`.
    pub(super) fn forget_before(&mut self, una: u64) {
        self.runs.retain_mut(|run| {
            run.0 = run.0.max(una);
            run.0 < run.1
        });
    }

    /// Takes at most `most` octets: the first, and their number. The FIN, at the offset `fin`, is not taken
    /// together with text before it.
    pub(super) fn take(&mut self, most: u64, fin: u64) -> Option<(u64, u32)> {
        let &(start, end) = self.runs.front()?;
        let until = if start < fin { end.min(fin) } else { end };
        let taken = (until - start).min(most);
        if start + taken < end {
            self.runs[0].0 = start + taken;
        } else {
            self.runs.pop_front();
        }
        Some((start, taken as u32))
    }

    /// Returns the memory of the runs, in octets.
    pub(super) fn octets(&self) -> usize {
        self.runs.capacity() * size_of::<(u64, u64)>()
    }

    /// Frees memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.runs.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offset of the FIN.
    const FIN: u64 = 10_000;

    #[test]
    fn runs_are_sent_in_the_order_of_their_loss() {
        let mut again = Again::default();
        again.add(5000, 1000, false);
        again.add(2000, 1000, false);
        assert_eq!(
            [again.take(1400, FIN), again.take(1400, FIN)],
            [Some((5000, 1000)), Some((2000, 1000))]
        );
        assert!(again.is_empty());
    }

    #[test]
    fn sorted_runs_are_joined_and_cut_to_the_room() {
        let mut again = Again::default();
        again.add(3000, 1000, true);
        again.add(1000, 500, true);
        again.add(1500, 1500, true);
        assert_eq!(again.runs, [(1000, 4000)]);
        again.add(9000, 100, true);
        assert_eq!(
            [again.take(1400, FIN), again.take(60, FIN)],
            [Some((1000, 1400)), Some((2400, 60))]
        );
        assert_eq!(
            [again.take(2000, FIN), again.take(2000, FIN)],
            [Some((2460, 1540)), Some((9000, 100))]
        );
        assert_eq!(again.take(2000, FIN), None);
    }

    #[test]
    fn octets_before_those_that_are_acknowledged_are_forgotten() {
        let mut again = Again::default();
        for start in [5000, 2000, 3000] {
            again.add(start, 1000, false);
        }
        again.forget_before(3400);
        assert_eq!(again.runs, [(5000, 6000), (3400, 4000)]);
    }

    #[test]
    fn the_fin_leaves_alone() {
        let mut again = Again::default();
        again.add(9833, 167, true);
        again.add(FIN, 1, true);
        let taken = [again.take(1400, FIN), again.take(1400, FIN)];
        assert_eq!(taken, [Some((9833, 167)), Some((FIN, 1))]);
        assert!(again.is_empty());
    }
}
