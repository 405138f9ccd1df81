//! Ranges of the stream that the receiver holds beyond the first gap, as its acknowledgements show them.
//!
//! A receiver or a firewall with room for few ranges drops each packet that would open one more. Then the
//! number of ranges often reaches that limit and never exceeds it, which no path does on its own.

use crate::analysis::RangeEvidence;

/// Greatest number of ranges that is distinguished from greater ones.
const MAX_RANGES: usize = 128;

/// Share of the ranges that open beyond a number, compared with those up to it, if the share decreases
/// as much again as from the number before.
const CONTINUED_SHARE: f64 = 0.5;

/// Numbers of ranges that opened, by how many there were then.
#[derive(Clone, Debug, Default)]
pub(super) struct RangeCounter {
    /// Ranges at present.
    open: usize,
    /// `opened[n - 1]`: how often a range opened that was the n-th.
    opened: Vec<u32>,
}

impl RangeCounter {
    /// Records the arrival of a segment beyond the first gap; `neighbours` is how many of the two segments
    /// beside it had arrived.
    pub(super) fn arrive(&mut self, neighbours: usize) {
        match neighbours {
            0 => {
                self.open += 1;
                let at = self.open.min(MAX_RANGES) - 1;
                if self.opened.len() <= at {
                    self.opened.resize(at + 1, 0);
                }
                self.opened[at] += 1;
            }
            1 => {}
            _ => self.open = self.open.saturating_sub(1),
        }
    }

    /// Records that the gaps before the first ranges are filled.
    pub(super) fn join(&mut self, ranges: usize) {
        self.open = self.open.saturating_sub(ranges);
    }

    /// Returns the number of ranges that was reached but hardly exceeded, with the evidence.
    pub(super) fn evidence(&self) -> RangeEvidence {
        let opened = |n: usize| n.checked_sub(1).and_then(|at| self.opened.get(at)).copied();
        let candidates = (1..=self.opened.len()).map(|n| {
            let reached = f64::from(opened(n).unwrap_or(0));
            let before = f64::from(opened(n - 1).unwrap_or(0)).max(reached);
            let expected = if n == 1 {
                // Nothing shows how often a second range follows.
                0.0
            } else {
                reached * reached / before.max(1.0) * CONTINUED_SHARE
            };
            let exceeded = self.opened.get(n).copied().unwrap_or(0);
            RangeEvidence {
                limit: n as u32,
                reached: reached as u64,
                expected,
                exceeded: u64::from(exceeded),
            }
        });
        let surprise = |evidence: &RangeEvidence| evidence.expected - evidence.exceeded as f64;
        candidates.max_by(|a, b| surprise(a).total_cmp(&surprise(b))).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_open_extend_and_join() {
        let mut ranges = RangeCounter::default();
        // 2, 4 and 6 arrive, then 7, then 5 and 3; 1 is missing.
        [0, 0, 0, 1, 2, 2].into_iter().for_each(|neighbours| ranges.arrive(neighbours));
        assert_eq!((ranges.open, &ranges.opened[..]), (1, &[1, 1, 1][..]));
        ranges.join(1);
        assert_eq!(ranges.open, 0);
    }

    #[test]
    fn a_limit_is_a_number_that_is_often_reached_and_never_exceeded() {
        let opened = |counts: &[u32]| RangeCounter { open: 0, opened: counts.to_vec() }.evidence();
        let limited = opened(&[900, 500, 300]);
        assert_eq!((limited.limit, limited.reached, limited.exceeded), (3, 300, 0));
        assert_eq!(limited.expected, 90.0);
        // Without a limit, the shares continue.
        let open = opened(&[900, 500, 300, 150, 70, 30, 12, 4, 1]);
        assert!(open.expected - (open.exceeded as f64) < 1.0, "{open:?}");
    }
}
