//! Compares the scoreboard with naive models that scan all segments, under random operations.

mod naive;
mod rfc6675;

use proptest::prelude::*;
use proptest::sample::Index;
use unruffled_units::Duration;

use super::is_lost::Applied;
use super::*;
use crate::parts::detect::{Overdue, Rule};

/// Length of a segment, in octets.
const SEGMENT: u64 = 1000;

/// Guards by which no acknowledgement is ambiguous.
const UNAMBIGUOUS: SpuriousAfter = SpuriousAfter { first: Instant::MAX, others: Instant::MAX };

/// Returns the number of the first segment: 0, or just below 2^32, where the low 32 bits wrap
/// around.
fn bases() -> impl Strategy<Value = SegNo> {
    prop_oneof![Just(0), (1..3000_u64).prop_map(|below| (1 << 32) - below)]
}

fn board(base: SegNo) -> Scoreboard {
    Scoreboard { base, edge: base, marked_to: base, ..Scoreboard::new() }
}

/// Runs of segments: the start of each among the outstanding segments, and its length.
fn blocks() -> impl Strategy<Value = Vec<(Index, u64)>> {
    prop::collection::vec((any::<Index>(), prop_oneof![1..4_u64, 1..400_u64]), 0..4)
}

/// A peer SACKs every segment but the first and sends DSACKs for all of them. The cost of its
/// acknowledgements must not grow with the number of segments in flight.
#[test]
fn searches_skip_runs_of_sacked_segments_in_both_directions() {
    const SEGMENTS: u64 = 20_000;
    let mut board = Scoreboard::new();
    for n in 0..SEGMENTS {
        board.push(n * 10, 10, Instant::ZERO);
    }
    let whole = (10, SEGMENTS * 10);
    board.acknowledge(0, &[whole], UNAMBIGUOUS, |_| ());
    assert!(board.is_sacked(whole.0, whole.1) && !board.is_sacked(0, whole.1));
    assert_eq!(board.last_unsacked().map(|(number, _)| number), Some(0));
    let steps = |board: &mut Scoreboard| {
        let mut steps = 0;
        let mut index = SEGMENTS as usize - 1;
        while board.entries[index].skip_back() > 0 {
            index -= board.entries[index].skip_back() as usize;
            steps += 1;
        }
        steps
    };
    for _ in 0..20 {
        board.last_unsacked();
    }
    assert!(steps(&mut board) <= 2, "{} steps", steps(&mut board));
}

/// NextSeg, rule (3), skips a hole that was resent out of order, for instance by a probe.
#[test]
fn a_hole_that_was_resent_is_skipped() {
    let mut board = Scoreboard::new();
    for n in 0..5 {
        board.push(n * SEGMENT, SEGMENT as u32, Instant::ZERO);
    }
    let blocks = [(SEGMENT, 2 * SEGMENT), (3 * SEGMENT, 4 * SEGMENT)];
    board.acknowledge(0, &blocks, UNAMBIGUOUS, |_| ());
    assert_eq!(board.hole_from(0), Some(0));
    board.retransmit(0, Instant::from_millis(1));
    assert_eq!(board.hole_from(0), Some(2));
    board.retransmit(2, Instant::from_millis(2));
    assert_eq!(board.hole_from(0), None);
}
