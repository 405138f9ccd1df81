//! Compares the scoreboard with a model that scans all segments, for every rule and every event.

use super::*;

/// One outstanding segment of the model.
#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    len: u32,
    sent: Instant,
    sacked: bool,
    lost: bool,
    resent: bool,
    retransmitted: bool,
}

impl Segment {
    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    fn in_flight(&self) -> bool {
        !self.sacked && !self.lost
    }
}

/// A scoreboard that scans all segments.
struct Naive {
    base: SegNo,
    segments: Vec<Segment>,
    /// RACK.xmit_ts and RACK.end_seq.
    latest: Option<(Instant, u64)>,
    /// Holes below this number were deemed lost by counting at some time.
    counted_to: SegNo,
    highest: Option<SegNo>,
}

impl Naive {
    fn next_offset(&self, base_offset: u64) -> u64 {
        self.segments.last().map_or(base_offset, Segment::end)
    }

    fn acknowledge(
        &mut self,
        una: u64,
        blocks: &[(u64, u64)],
        spurious_after: SpuriousAfter,
    ) -> Delivery {
        let mut d = Delivery::default();
        let highest_before = self.highest;
        let passed = self.segments.iter().take_while(|s| s.end() <= una).count();
        for i in 0..self.segments.len() {
            let s = self.segments[i].clone();
            let below = i < passed;
            d.passed += u32::from(below);
            // A segment that is partly acknowledged starts at its first unacknowledged octet.
            let start = s.start.max(una);
            let blocked = |&(left, right): &(u64, u64)| left <= start && s.end() <= right;
            let selectively = !below && blocks.iter().any(blocked);
            if s.sacked || !(below || selectively) {
                continue;
            }
            let number = self.base + i as u64;
            d.segments += 1;
            d.sacked += u32::from(selectively);
            d.number = number;
            d.retransmitted = s.retransmitted;
            d.any_retransmitted |= s.retransmitted;
            if !s.retransmitted {
                d.original_sent = d.original_sent.max(Some(s.sent));
                d.reordered |= highest_before.is_some_and(|h| number < h);
            }
            let first = below && i == 0;
            let guard = if first { spurious_after.first } else { spurious_after.others };
            if !s.retransmitted || s.sent <= guard {
                d.latest_sent = d.latest_sent.max(Some(s.sent));
                self.latest = self.latest.max(Some((s.sent, s.end())));
            }
            self.highest = self.highest.max(Some(number));
            let s = &mut self.segments[i];
            s.sacked = true;
            s.lost = false;
            s.resent = false;
        }
        self.segments.drain(..passed);
        self.base += passed as u64;
        if let Some(first) = self.segments.first_mut().filter(|s| s.start < una) {
            first.len -= (una - first.start) as u32;
            first.start = una;
        }
        d
    }

    fn lose(&mut self, i: usize) -> u32 {
        let s = &mut self.segments[i];
        let newly = !s.lost;
        s.lost = true;
        s.resent = false;
        u32::from(newly)
    }

    fn resend(&mut self, i: usize, now: Instant) {
        let s = &mut self.segments[i];
        s.sent = now;
        s.retransmitted = true;
        s.lost = false;
    }

    fn apply(&mut self, rule: &Rule, now: Instant) -> Applied {
        let mut applied = Applied::default();
        let mut edge = self.base;
        if let Some(dupthresh) = rule.dupthresh {
            let mut above = 0;
            for (i, s) in self.segments.iter().enumerate().rev() {
                above += u32::from(s.sacked);
                if above >= dupthresh {
                    edge = self.base + i as u64;
                    break;
                }
            }
        }
        if let (Some(distance), Some(highest)) = (rule.distance, self.highest) {
            edge = edge.max((highest + 1).saturating_sub(distance.into()));
        }
        for i in 0..self.segments.len() {
            let number = self.base + i as u64;
            let s = &self.segments[i];
            if number >= self.counted_to && number < edge && !s.sacked && !s.retransmitted {
                applied.newly_lost += self.lose(i);
            }
        }
        self.counted_to = self.counted_to.max(edge);
        if let Some(Overdue { wait, eager }) = rule.overdue {
            let eligible = |s: &Segment| self.latest.is_some_and(|l| (s.sent, s.end()) < l);
            let awaited = self.segments.iter().map(|s| s.in_flight() && eligible(s));
            let awaited: Vec<bool> = awaited.collect();
            for i in (0..self.segments.len()).filter(|&i| awaited[i]) {
                let due = self.segments[i].sent + wait;
                if due <= now {
                    applied.newly_lost += self.lose(i);
                } else {
                    let again = applied.apply_again.map_or(due, |at| match eager {
                        true => at.min(due),
                        false => at.max(due),
                    });
                    applied.apply_again = Some(again);
                }
            }
        }
        applied
    }

    fn pipe(&self) -> u32 {
        let each = |s: &Segment| u32::from(s.in_flight()) + u32::from(s.resent);
        self.segments.iter().map(each).sum()
    }

    fn next_lost(&self) -> Option<SegNo> {
        self.segments.iter().position(|s| s.lost).map(|i| self.base + i as u64)
    }
}

/// An operation on the scoreboard and the model.
#[derive(Clone, Debug)]
enum Operation {
    Push(usize, u32),
    Ack {
        to: Index,
        within: u64,
        moves: bool,
        blocks: Vec<(Index, u64)>,
        ragged: u64,
        guards: (u64, u64),
    },
    Resend(usize),
    ResendAny(Index),
    LoseFirst,
    LoseAll,
    LoseOverdue(u64),
    UnmarkLost,
    Renege,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let ack = (
        any::<Index>(),
        0..SEGMENT,
        any::<bool>(),
        blocks(),
        0..2 * SEGMENT,
        (0..200_u64, 0..200_u64),
    )
        .prop_map(|(to, within, moves, blocks, ragged, guards)| Operation::Ack {
            to,
            // Half of the acknowledgements end at the end of a segment.
            within: if within % 2 == 0 { 0 } else { within },
            moves,
            blocks,
            ragged: ragged.saturating_sub(SEGMENT),
            guards,
        });
    let len = prop_oneof![Just(SEGMENT as u32), 1..=SEGMENT as u32];
    let operation = prop_oneof![
        4 => (1..20_usize, len).prop_map(|(count, len)| Operation::Push(count, len)),
        1 => (1..2000_usize).prop_map(|count| Operation::Push(count, SEGMENT as u32)),
        10 => ack,
        6 => (1..20_usize).prop_map(Operation::Resend),
        2 => any::<Index>().prop_map(Operation::ResendAny),
        1 => Just(Operation::LoseFirst),
        1 => Just(Operation::LoseAll),
        1 => (0..300_u64).prop_map(Operation::LoseOverdue),
        1 => Just(Operation::UnmarkLost),
        1 => Just(Operation::Renege),
    ];
    prop::collection::vec(operation, 1..60)
}

fn rules() -> impl Strategy<Value = Rule> {
    let wait = (0..300_u64, any::<bool>())
        .prop_map(|(ms, eager)| Overdue { wait: Duration::from_millis(ms), eager });
    (prop::option::of(1..70_u32), prop::option::of(1..70_u32), prop::option::of(wait)).prop_map(
        |(dupthresh, distance, overdue)| Rule {
            dupthresh,
            distance,
            overdue,
            first_hole_due: None,
            confirm_after: None,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn every_operation_has_the_same_result_as_a_scan(
        base in bases(),
        operations in operations(),
        rules in prop::collection::vec(rules(), 1..4),
    ) {
        let mut board = board(base);
        let mut model =
            Naive { base, segments: Vec::new(), latest: None, counted_to: base, highest: None };
        let mut now = Instant::from_millis(1000);
        let origin = 5_000_000;
        let mut una = origin;
        for (operation, rule) in operations.into_iter().zip(rules.into_iter().cycle()) {
            // Time passes between operations, so that segments sent at one time are in stream order.
            now += Duration::from_millis(7);
            match operation {
                Operation::Push(count, len) => for _ in 0..count {
                    let start = model.next_offset(una);
                    board.push(start, len, now);
                    let new = Segment {
                        start, len, sent: now,
                        sacked: false, lost: false, resent: false, retransmitted: false,
                    };
                    model.segments.push(new);
                },
                Operation::Ack { to, within, moves, blocks, ragged, guards } => {
                    let end = model.next_offset(una);
                    if moves && !model.segments.is_empty() {
                        let to = &model.segments[to.index(model.segments.len())];
                        una = (to.start + within.min(u64::from(to.len))).max(una);
                    }
                    let blocks: Vec<(u64, u64)> = blocks.iter()
                        .filter(|_| !model.segments.is_empty())
                        .map(|(from, count)| {
                            let i = from.index(model.segments.len());
                            let last = (i + *count as usize - 1).min(model.segments.len() - 1);
                            let left = model.segments[i].start + ragged;
                            (left, (model.segments[last].end() + ragged / 2).min(end))
                        })
                        .filter(|&(left, right)| left < right)
                        .collect();
                    let ago = |ms| now - Duration::from_millis(ms);
                    let guard =
                        SpuriousAfter { first: ago(guards.0), others: ago(guards.1) };
                    let d = board.acknowledge(una, &blocks, guard, |_| {});
                    let expected = model.acknowledge(una, &blocks, guard);
                    // With several segments, their order is not specified.
                    let d = if d.segments == 1 { d } else {
                        Delivery { number: expected.number, retransmitted: expected.retransmitted, ..d }
                    };
                    prop_assert_eq!(d, expected);
                    prop_assert_eq!(board.apply(&rule, now), model.apply(&rule, now));
                }
                Operation::Resend(times) => for _ in 0..times {
                    let next = model.next_lost();
                    prop_assert_eq!(board.next_lost(), next);
                    let Some(next) = next else { break };
                    board.retransmit(next, now);
                    model.resend((next - model.base) as usize, now);
                },
                Operation::ResendAny(which) => {
                    let holes: Vec<usize> = (0..model.segments.len())
                        .filter(|&i| !model.segments[i].sacked)
                        .collect();
                    if !holes.is_empty() {
                        let i = holes[which.index(holes.len())];
                        board.retransmit(model.base + i as u64, now);
                        let s = &mut model.segments[i];
                        s.resent |= !s.lost;
                        model.resend(i, now);
                    }
                }
                Operation::LoseFirst => {
                    let open = model.segments.first().is_some_and(|s| !s.sacked);
                    prop_assert_eq!(board.mark_first_lost(), open && model.lose(0) == 1);
                }
                Operation::LoseAll => {
                    board.mark_all_lost();
                    for i in 0..model.segments.len() {
                        if !model.segments[i].sacked {
                            model.lose(i);
                        }
                    }
                }
                Operation::LoseOverdue(ms) => {
                    let wait = Duration::from_millis(ms);
                    let overdue = Overdue { wait, eager: false };
                    board.mark_overdue(&Rule { overdue: Some(overdue), ..Rule::default() }, now);
                    for i in 0..model.segments.len() {
                        if model.segments[i].in_flight() && model.segments[i].sent + wait <= now {
                            model.lose(i);
                        }
                    }
                }
                Operation::UnmarkLost => {
                    board.unmark_lost();
                    model.segments.iter_mut().for_each(|s| s.lost = false);
                    model.counted_to = model.base;
                }
                Operation::Renege => {
                    board.discard_sacks();
                    model.segments.iter_mut().for_each(|s| s.sacked = false);
                    model.counted_to = model.base;
                }
            }
            prop_assert_eq!(board.outstanding() as usize, model.segments.len());
            let sacked = model.segments.iter().filter(|s| s.sacked).count();
            prop_assert_eq!(board.sacked() as usize, sacked);
            prop_assert_eq!(board.pipe(), model.pipe());
            for (i, s) in model.segments.iter().enumerate() {
                let e = board.entry(model.base + i as u64);
                let is = (e.start, e.len, e.sacked, e.lost, e.resent, e.retransmitted, e.sent);
                let expected = (s.start, s.len, s.sacked, s.lost, s.resent, s.retransmitted, s.sent);
                prop_assert_eq!(is, expected, "segment {}", i);
            }
            prop_assert_eq!(board.next_lost(), model.next_lost());
            let last = model.segments.iter().rposition(|s| !s.sacked);
            let last = last.map(|i| model.base + i as u64);
            prop_assert_eq!(board.last_unsacked().map(|(number, _)| number), last);
            let near = |n: u64| una.saturating_sub(1500) + n % 40 * 300;
            for (left, right) in [(0, 3), (5, 9), (2, 30), (7, 8)].map(|(l, r)| (near(l), near(r))) {
                let meets = |s: &&Segment| s.start < right && s.start + u64::from(s.len) > left;
                let mut met = model.segments.iter().filter(meets).peekable();
                let all = met.peek().is_some() && met.all(|s| s.sacked);
                prop_assert_eq!(board.is_sacked(left, right), all, "{}..{}", left, right);
            }
        }
    }
}
