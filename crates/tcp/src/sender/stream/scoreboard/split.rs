//! Splits segments that have become too big for the path. Segments change their numbers only here.
//! This happens a few times in the life of a connection, so the scoreboard is simply rebuilt.

use std::cmp::Reverse;
use std::collections::VecDeque;

use super::{Entry, Links, Scoreboard};
use crate::sender::numbers::Renumbered;

impl Scoreboard {
    /// Splits every segment of more than `max` octets that has not been delivered, and marks the
    /// pieces as lost. Returns none if there is no such segment.
    pub(crate) fn split(&mut self, max: u32) -> Option<Renumbered> {
        let too_big = |e: &Entry| !e.sacked && e.len > max;
        if !self.entries.iter().any(too_big) {
            return None;
        }
        let mut first = Vec::with_capacity(self.entries.len() + 1);
        let mut entries = VecDeque::with_capacity(self.entries.len() * 2);
        for entry in &self.entries {
            first.push(self.base + entries.len() as u64);
            if !too_big(entry) {
                let links = if entry.sacked { Links::ADJACENT } else { entry.links };
                entries.push_back(Entry { links, ..entry.clone() });
                continue;
            }
            let mut start = entry.start;
            while start < entry.end() {
                let len = (entry.end() - start).min(u64::from(max)) as u32;
                entries.push_back(Entry { start, len, lost: true, resent: false, ..entry.clone() });
                start += u64::from(len);
            }
        }
        first.push(self.base + entries.len() as u64);
        self.entries = entries;
        let renumbered = Renumbered::new(self.base, first);
        let count = |which: fn(&Entry) -> bool| self.entries.iter().filter(|e| which(e)).count();
        self.sacked = count(|e| e.sacked) as u32;
        self.lost = count(|e| e.lost) as u32;
        self.resent = count(|e| e.resent) as u32;
        self.lost_queue = (self.base..self.end())
            .filter(|&number| self.entry(number).lost)
            .map(Reverse)
            .collect();
        self.edge = self.base;
        self.sacked_from_edge = self.sacked;
        self.marked_to = self.base;
        self.highest = self.highest.map(|number| match number.checked_sub(self.base) {
            Some(_) => renumbered.last(number),
            None => number,
        });
        self.rebuild_order();
        Some(renumbered)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SpuriousAfter;
    use super::*;
    use crate::parts::detect::Rule;
    use unruffled_units::Instant;

    /// Guards by which no acknowledgement is ambiguous.
    const UNAMBIGUOUS: SpuriousAfter = SpuriousAfter { first: Instant::MAX, others: Instant::MAX };

    fn board() -> Scoreboard {
        let mut board = Scoreboard::new();
        for n in 0..4 {
            board.push(n * 1400, 1400, Instant::from_millis(n));
        }
        board
    }

    /// Returns start and length of each segment.
    fn ranges(board: &Scoreboard) -> Vec<(u64, u32)> {
        (board.base..board.end()).map(|n| (board.entry(n).start, board.entry(n).len)).collect()
    }

    #[test]
    fn segments_that_are_too_big_become_lost_pieces_with_the_same_octets() {
        let mut board = board();
        board.acknowledge(0, &[(1400, 2800)], UNAMBIGUOUS, |_| ());
        let renumbered = board.split(600).expect("1400 is more than 600");
        let expected = [
            [(0, 600), (600, 600), (1200, 200)].as_slice(),
            &[(1400, 1400)],
            &[(2800, 600), (3400, 600), (4000, 200)],
            &[(4200, 600), (4800, 600), (5400, 200)],
        ];
        assert_eq!(ranges(&board), expected.concat());
        assert_eq!((board.outstanding(), board.sacked(), board.pipe()), (10, 1, 0));
        assert_eq!(board.highest_delivered(), Some(3));
        assert_eq!([0, 1, 2, 3, 4, 5].map(|n| renumbered.first(n)), [0, 3, 4, 7, 10, 11]);
        assert_eq!(board.next_lost(), Some(0));
    }

    #[test]
    fn the_scoreboard_counts_pieces_like_other_segments() {
        let mut board = board();
        board.split(700).expect("too big");
        let now = Instant::from_millis(10);
        while let Some(number) = board.next_lost() {
            board.retransmit(number, now);
        }
        assert_eq!((board.outstanding(), board.pipe()), (8, 8));
        board.acknowledge(700, &[(1400, 2100)], UNAMBIGUOUS, |_| ());
        assert_eq!((board.outstanding(), board.sacked(), board.pipe()), (7, 1, 6));
        board.apply(&Rule::dupthresh(1), now);
        board.acknowledge(5600, &[], UNAMBIGUOUS, |_| ());
        assert_eq!((board.outstanding(), board.sacked(), board.pipe()), (0, 0, 0));
    }

    #[test]
    fn segments_that_fit_are_not_split() {
        assert!(board().split(1400).is_none());
    }
}
