//! Compares the scoreboard with a literal transcription of RFC 6675.

use super::*;

/// RFC 6675, sections 2 and 4, transcribed literally over a plain list, for segments of equal
/// length and a constant DupThresh.
#[derive(Default)]
struct Rfc6675 {
    /// HighACK: all segments below this number have been acknowledged.
    base: SegNo,
    /// Whether each outstanding segment is SACKed.
    sacked: Vec<bool>,
    /// HighRxt, exclusive.
    high_rxt: SegNo,
    /// Holes that rule (3) resent, in the order of transmission.
    by_rule_3: Vec<SegNo>,
}

impl Rfc6675 {
    fn end(&self) -> SegNo {
        self.base + self.sacked.len() as u64
    }

    fn holes(&self) -> impl Iterator<Item = SegNo> {
        (self.base..self.end()).filter(|&n| !self.sacked[(n - self.base) as usize])
    }

    /// Returns IsLost for every outstanding segment: "either DupThresh discontiguous SACKed
    /// sequences have arrived above 'SeqNum' or more than (DupThresh - 1) * SMSS bytes with
    /// sequence numbers greater than 'SeqNum' have been SACKed".
    fn is_lost(&self, dup_thresh: u64) -> Vec<bool> {
        let mut sequences = 0;
        let mut bytes = 0;
        let mut above = false;
        let mut lost = vec![false; self.sacked.len()];
        for i in (0..self.sacked.len()).rev() {
            lost[i] = sequences >= dup_thresh || bytes > (dup_thresh - 1) * SEGMENT;
            let sacked = self.sacked[i];
            sequences += u64::from(sacked && !above);
            bytes += if sacked { SEGMENT } else { 0 };
            above = sacked;
        }
        lost
    }

    /// Returns SetPipe, in segments.
    fn pipe(&self, lost: &[bool]) -> u32 {
        let each =
            |n: SegNo| u32::from(!lost[(n - self.base) as usize]) + u32::from(n < self.high_rxt);
        self.holes().map(each).sum()
    }

    /// Returns NextSeg, by rule (1) with `lost`, and rule (3) without: rule (3) is rule (1) without
    /// condition (1.c).
    fn next_seg(&self, lost: Option<&[bool]>) -> Option<SegNo> {
        let highest = self.base + self.sacked.iter().rposition(|&s| s)? as u64;
        let lost = |n: SegNo| lost.is_none_or(|lost| lost[(n - self.base) as usize]);
        self.holes().find(|&n| n >= self.high_rxt && n < highest && lost(n))
    }
}

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    /// An acknowledgement: how far the cumulative point moves, whether it moves, and the SACK
    /// blocks.
    Ack(Index, bool, Vec<(Index, u64)>),
    /// Resends by rule (1), up to this number of times.
    ResendLost(usize),
    /// Resends by rule (3).
    ResendHole,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (1..10_usize).prop_map(Step::Push),
        1 => (1..3000_usize).prop_map(Step::Push),
        6 => (any::<Index>(), any::<bool>(), blocks()).prop_map(|(a, b, c)| Step::Ack(a, b, c)),
        3 => (1..20_usize).prop_map(Step::ResendLost),
        1 => Just(Step::ResendHole),
    ];
    prop::collection::vec(step, 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn losses_pipe_and_retransmissions_follow_rfc_6675(
        base in bases(),
        dup_thresh in 1..20_u32,
        steps in steps(),
    ) {
        let mut board = board(base);
        let mut model = Rfc6675 { base, high_rxt: base, ..Rfc6675::default() };
        let mut now = Instant::from_millis(1);
        for step in steps {
            now += Duration::from_millis(1);
            match step {
                Step::Push(count) => for _ in 0..count {
                    board.push(model.end() * SEGMENT, SEGMENT as u32, now);
                    model.sacked.push(false);
                },
                Step::Ack(to, moves, blocks) => {
                    let advance = if moves { to.index(model.sacked.len() + 1) } else { 0 };
                    let una = model.base + advance as u64;
                    let blocks: Vec<(SegNo, SegNo)> = blocks.iter()
                        .map(|(from, len)| {
                            let left = model.base + from.index(model.sacked.len() + 1) as u64;
                            (left, (left + len).min(model.end()))
                        })
                        .filter(|&(left, right)| left < right)
                        .collect();
                    for &(left, right) in &blocks {
                        for n in left..right {
                            model.sacked[(n - model.base) as usize] = true;
                        }
                    }
                    model.sacked.drain(..advance);
                    model.base = una;
                    model.high_rxt = model.high_rxt.max(una);
                    let octets: Vec<(u64, u64)> =
                        blocks.iter().map(|&(l, r)| (l * SEGMENT, r * SEGMENT)).collect();
                    board.acknowledge(una * SEGMENT, &octets, UNAMBIGUOUS, |_| {});
                    board.apply(&Rule::dupthresh(dup_thresh), now);
                }
                Step::ResendLost(times) => for _ in 0..times {
                    let next = model.next_seg(Some(&model.is_lost(u64::from(dup_thresh))));
                    prop_assert_eq!(board.next_lost(), next, "NextSeg, rule (1)");
                    let Some(next) = next else { break };
                    board.retransmit(next, now);
                    model.high_rxt = next + 1;
                },
                Step::ResendHole => {
                    // Rule (3) applies when rule (1) finds no segment.
                    let lost = model.is_lost(u64::from(dup_thresh));
                    if model.next_seg(Some(&lost)).is_none() {
                        let next = model.next_seg(None);
                        prop_assert_eq!(board.hole_from(model.high_rxt), next, "NextSeg, rule (3)");
                        if let Some(next) = next {
                            board.retransmit(next, now);
                            model.high_rxt = next + 1;
                            model.by_rule_3.push(next);
                        }
                    }
                }
            }
            let lost = model.is_lost(u64::from(dup_thresh));
            let sacked = model.sacked.iter().filter(|&&s| s).count();
            prop_assert_eq!(board.outstanding() as usize, model.sacked.len());
            prop_assert_eq!(board.sacked() as usize, sacked);
            for n in model.base..model.end() {
                let entry = board.entry(n);
                let i = (n - model.base) as usize;
                prop_assert_eq!(entry.sacked, model.sacked[i]);
                let waiting = !model.sacked[i] && lost[i] && n >= model.high_rxt;
                prop_assert_eq!(entry.lost, waiting, "segment {} of {}..", n, model.base);
            }
            // By the RFC, a hole that rule (3) resent counts twice until IsLost holds for it. On the
            // scoreboard it counts twice until it is acknowledged.
            let twice = model.by_rule_3.iter().filter(|&&n| {
                n >= model.base && {
                    let i = (n - model.base) as usize;
                    !model.sacked[i] && lost[i]
                }
            });
            prop_assert_eq!(board.pipe(), model.pipe(&lost) + twice.count() as u32, "pipe");
        }
    }
}
