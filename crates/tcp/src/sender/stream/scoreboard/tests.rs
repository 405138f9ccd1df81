//! The scoreboard against naive models that scan everything, under random operations.

mod naive;
mod rfc6675;

use proptest::prelude::*;
use proptest::sample::Index;
use unruffled_units::Duration;

use super::is_lost::Applied;
use super::*;
use crate::parts::detect::{Overdue, Rule};

const SEGMENT: u64 = 1000;

/// Where the numbering starts: also just below 2^32, where numbers lose their upper half.
fn bases() -> impl Strategy<Value = SegNo> {
    prop_oneof![Just(0), (1..3000_u64).prop_map(|below| (1 << 32) - below)]
}

fn board(base: SegNo) -> Scoreboard {
    Scoreboard { base, edge: base, marked_to: base, ..Scoreboard::new() }
}

/// Stretches of segments: where one starts, as a share of what is outstanding, and its length.
fn blocks() -> impl Strategy<Value = Vec<(Index, u64)>> {
    prop::collection::vec((any::<Index>(), prop_oneof![1..4_u64, 1..400_u64]), 0..4)
}

/// A peer that SACKs everything but the first segment, and sends DSACKs of all of it, does not make
/// each acknowledgement cost as much as there is in flight.
#[test]
fn runs_are_stepped_over_both_ways() {
    const SEGMENTS: u64 = 20_000;
    let mut board = Scoreboard::new();
    for n in 0..SEGMENTS {
        board.push(n * 10, 10, Instant::ZERO);
    }
    let whole = (10, SEGMENTS * 10);
    board.acknowledge(
        0,
        &[whole],
        SpuriousAfter { first: Instant::MAX, others: Instant::MAX },
        |_| (),
    );
    assert!(board.is_sacked(whole.0, whole.1) && !board.is_sacked(0, whole.1));
    assert_eq!(board.last_unsacked().map(|(number, _)| number), Some(0));
    let steps = |board: &mut Scoreboard| {
        let (mut steps, mut index) = (0, SEGMENTS as usize - 1);
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

/// NextSeg's rule (3) passes over a hole that was resent out of turn, as by a probe.
#[test]
fn a_hole_that_was_resent_is_passed_over() {
    let mut board = Scoreboard::new();
    for n in 0..5 {
        board.push(n * SEGMENT, SEGMENT as u32, Instant::ZERO);
    }
    let never = SpuriousAfter { first: Instant::MAX, others: Instant::MAX };
    let blocks = [(SEGMENT, 2 * SEGMENT), (3 * SEGMENT, 4 * SEGMENT)];
    board.acknowledge(0, &blocks, never, |_| ());
    assert_eq!(board.hole_from(0), Some(0));
    board.retransmit(0, Instant::from_millis(1));
    assert_eq!(board.hole_from(0), Some(2));
    board.retransmit(2, Instant::from_millis(2));
    assert_eq!(board.hole_from(0), None);
}
