use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// A receiver of 1000-octet segments, numbered from 1 as in RR-TCP's figure 1.
struct Peer(Receiver);

impl Peer {
    fn new() -> Self {
        Self(Receiver::new(1 << 20, 1000, None))
    }

    /// Returns one with these rules.
    fn with(rules: ReceiverConfig) -> Self {
        let mut peer = Self::new();
        peer.0.special =
            Special::of(&Config::simulated().with(|c| c.receiver = Some(Box::new(rules))));
        peer
    }

    /// Delivers segment `n`, which gets no acknowledgement now.
    fn gets_unanswered(&mut self, n: u64) {
        self.0.on_segment((n - 1) * 1000, 1000, false, false, Instant::ZERO, &mut ());
        assert!(!self.0.ack_due(), "{n}");
    }

    /// Delivers segment `n` and returns the acknowledgement as `C<next> S<left>-<right> …`.
    fn gets(&mut self, n: u64) -> String {
        self.0.on_segment((n - 1) * 1000, 1000, false, false, Instant::ZERO, &mut ());
        assert!(self.0.ack_due());
        let mut ack = format!("C{}", self.0.next() / 1000);
        self.0.blocks(3, |l, r| {
            let first = l / 1000 + 1;
            let last = r / 1000;
            ack += &if first == last { format!(" S{first}") } else { format!(" S{first}-{last}") };
        });
        self.0.acknowledged(true);
        ack
    }
}

#[test]
fn figure_1_of_rr_tcp_is_reproduced() {
    let mut peer = Peer::new();
    assert_eq!(peer.gets(2), "C0 S2");
    assert_eq!(peer.gets(3), "C0 S2-3");
    assert_eq!(peer.gets(4), "C0 S2-4");
    assert_eq!(peer.gets(5), "C0 S2-5");
    assert_eq!(peer.gets(1), "C5");
}

#[test]
fn the_most_recently_changed_block_comes_first() {
    // RFC 2018, section 4: the block with the segment that triggered the acknowledgement.
    let mut peer = Peer::new();
    assert_eq!(peer.gets(2), "C0 S2");
    assert_eq!(peer.gets(4), "C0 S4 S2");
    assert_eq!(peer.gets(6), "C0 S6 S4 S2");
    assert_eq!(peer.gets(8), "C0 S8 S6 S4");
    assert_eq!(peer.gets(3), "C0 S2-4 S8 S6");
    assert_eq!(peer.gets(1), "C4 S8 S6");
}

/// RFC 2018, section 4: as many blocks as there is room for, even if those that changed recently
/// have merged.
#[test]
fn older_ranges_fill_the_places_that_recent_ones_leave() {
    let mut peer = Peer::new();
    for n in [40, 30, 35, 2, 4, 6, 8, 10, 12, 14, 16] {
        peer.gets(n);
    }
    assert_eq!(peer.gets(3), "C0 S2-4 S16 S14");
    for n in [5, 7, 9, 11] {
        peer.gets(n);
    }
    assert_eq!(peer.gets(13), "C0 S2-14 S16 S30");
    assert_eq!(peer.gets(15), "C0 S2-16 S30 S35");
    assert_eq!(peer.gets(1), "C16 S30 S35 S40");
    assert_eq!(peer.gets(17), "C17 S30 S35 S40");
    assert_eq!(peer.gets(35), "C17 S35 S35 S30");
}

#[test]
fn a_duplicate_below_the_cumulative_point_is_reported_first() {
    // RFC 2883, section 4.1.
    let mut peer = Peer::new();
    peer.gets(1);
    peer.gets(2);
    assert_eq!(peer.gets(4), "C2 S4");
    assert_eq!(peer.gets(1), "C2 S1 S4");
    assert_eq!(peer.gets(6), "C2 S6 S4", "reported once");
}

#[test]
fn a_duplicate_above_the_cumulative_point_is_reported_before_its_block() {
    // RFC 2883, section 4.2.
    let mut peer = Peer::new();
    peer.gets(2);
    peer.gets(3);
    peer.gets(6);
    assert_eq!(peer.gets(3), "C0 S3 S2-3 S6");
}

#[test]
fn duplicates_are_not_reported_without_dsack() {
    let mut peer = Peer::with(ReceiverConfig { dsack: false, ..ReceiverConfig::default() });
    peer.gets(1);
    peer.gets(2);
    assert_eq!(peer.gets(4), "C2 S4");
    assert_eq!(peer.gets(1), "C2 S4", "below the cumulative point");
    assert_eq!(peer.gets(4), "C2 S4", "above it");
}

/// Two islands, 3 and 5. Segment 7 would begin a third; 4 joins the two, so that 7 may begin the second.
#[test]
fn a_segment_that_would_begin_one_island_too_many_is_dropped_without_an_answer() {
    let mut peer = Peer::with(ReceiverConfig { islands: Some(2), ..ReceiverConfig::default() });
    assert_eq!(peer.gets(3), "C0 S3");
    assert_eq!(peer.gets(5), "C0 S5 S3");
    peer.gets_unanswered(7);
    assert_eq!(peer.gets(4), "C0 S3-5");
    assert_eq!(peer.gets(7), "C0 S7 S3-5");
    peer.gets_unanswered(9);
    assert_eq!(peer.gets(8), "C0 S7-8 S3-5", "longer, and no island more");
    assert_eq!(peer.gets(1), "C1 S7-8 S3-5", "in order, whatever the islands");
}

/// Every fourth segment in order is acknowledged, and each that is out of order.
#[test]
fn an_acknowledgement_covers_as_many_segments_as_configured() {
    let mut peer = Peer::with(ReceiverConfig { ack_every: 4, ..ReceiverConfig::default() });
    peer.0.delay = Duration::from_millis(25);
    for n in [1, 2, 3] {
        peer.gets_unanswered(n);
    }
    assert_eq!(peer.gets(4), "C4");
    peer.gets_unanswered(5);
    assert_eq!(peer.gets(7), "C5 S7");
    assert_eq!(peer.gets(6), "C7");
    for n in [8, 9, 10] {
        peer.gets_unanswered(n);
    }
    assert_eq!(peer.0.ack_deadline(), Instant::from_millis(25));
}

#[test]
fn duplicates_in_pieces_are_reported_as_one() {
    let mut r = Receiver::new(1 << 20, 1000, None);
    let gets = |r: &mut Receiver, offset: u64| {
        r.on_segment(offset, 1000, false, false, Instant::ZERO, &mut ());
    };
    let reported = |r: &mut Receiver| {
        let mut blocks = Vec::new();
        r.blocks(4, |left, right| blocks.push((left, right)));
        r.acknowledged(true);
        blocks
    };
    for n in 0..4 {
        gets(&mut r, n * 1000);
    }
    r.acknowledged(true);
    gets(&mut r, 1000);
    gets(&mut r, 2000);
    assert_eq!(reported(&mut r), [(1000, 3000)]);
    assert_eq!(reported(&mut r), [], "once");
    gets(&mut r, 3000);
    gets(&mut r, 4000);
    assert_eq!(reported(&mut r), [(3000, 4000)], "the second half is new");
}

#[test]
fn ranges_are_bounded_and_the_furthest_goes_first() {
    assert_eq!(arrived::max_ranges(6 << 20, 1460), 5868, "on the wire");
    assert_eq!(arrived::max_ranges(10_000, 1000), 64);
    assert_eq!(arrived::max_ranges(u64::MAX / 2, 1), 1 << 16);
    let mut r = Receiver::new(1 << 16, 1000, None);
    let max = r.arrived.max_ranges() as u64;
    assert_eq!(max, 64);
    let mut reported = Vec::new();
    let mut gets = |r: &mut Receiver, offset: u64, len: u32| {
        let mut observer = |_: Instant, event: &Event| match *event {
            Event::Fresh { offset, len } => reported.push((offset, u64::from(len), true)),
            Event::Discarded { offset, len } => reported.push((offset, len, false)),
            _ => {}
        };
        r.on_segment(offset, len, false, false, Instant::ZERO, &mut observer);
        assert!(r.ack_due());
        r.acknowledged(true);
        std::mem::take(&mut reported)
    };
    for n in 1..=max {
        assert_eq!(gets(&mut r, 10 * n, 1), [(10 * n, 1, true)]);
    }
    assert_eq!(gets(&mut r, 10 * max + 5, 1), [], "further than all");
    assert_eq!(gets(&mut r, 10 * max + 1, 1), [(10 * max + 1, 1, true)], "it joins the last");
    let last = (10 * max, 2, false);
    assert_eq!(gets(&mut r, 5, 1), [last, (5, 1, true)]);
    let mut blocks = Vec::new();
    r.blocks(4, |left, right| blocks.push((left, right)));
    assert_eq!(blocks[0], (5, 6));
    assert!(blocks.iter().all(|block| block.1 <= 10 * max), "{blocks:?}");
    // A segment that covers them all is new except for what is held.
    let all = gets(&mut r, 0, 10 * max as u32 + 10);
    assert_eq!(all.iter().map(|run| run.1).sum::<u64>(), 10 * max + 10 - max);
    assert_eq!((r.next(), r.arrived.has_hole(), r.block_count()), (10 * max + 10, false, 0));
}

/// As smoltcp: the acknowledgement of the second segment leaves before the application reads it. The window
/// of 10,000 octets is smaller by 1000, since the first segment was read before the second arrived. That of a
/// segment out of order is whole again, and a duplicate must not change the window.
#[test]
fn an_acknowledgement_may_leave_before_the_application_reads() {
    let config = Config::simulated().with(|c| {
        c.mss = 1000;
        c.receive_buffer = 10_000;
        c.initial_receive_buffer = None;
        c.delayed_ack = Some(Duration::from_millis(10));
        let rules = ReceiverConfig { acknowledges_unread: true, ..ReceiverConfig::default() };
        c.receiver = Some(Box::new(rules));
    });
    let mut r = Receiver::of(&config);
    r.without_scale();
    let mut gets = |offset: u64| {
        r.on_segment(offset, 1000, false, false, Instant::ZERO, &mut ());
        r.read(r.readable());
        let window = r.ack_due().then(|| r.advertise());
        if window.is_some() {
            r.acknowledged(true);
        }
        (window, r.readable())
    };
    assert_eq!(gets(0), (None, 0));
    assert_eq!(gets(1000), (Some(9000), 0));
    assert_eq!(gets(3000), (Some(10_000), 0), "nothing was left to read");
    assert_eq!(gets(2000), (Some(8000), 0), "the hole and what was behind it");
}

/// 52 ms in the handshake, an eighth of it is 6.5 ms; of 400 ms the maximum of 25 ms remains.
#[test]
fn the_delay_may_be_a_part_of_the_round_trip() {
    for (rtt_ms, micros) in [(52, 6_500), (400, 25_000)] {
        let config = Config::simulated().with(|c| {
            c.delayed_ack = Some(Duration::from_millis(25));
            let rules = ReceiverConfig { delay_divisor: Some(8), ..ReceiverConfig::default() };
            c.receiver = Some(Box::new(rules));
        });
        let mut receiver = Receiver::of(&config);
        receiver.on_handshake(Duration::from_millis(rtt_ms));
        receiver.on_segment(0, 1000, false, false, Instant::from_millis(1), &mut ());
        assert_eq!(receiver.ack_deadline(), Instant::from_nanos(1000 * (1000 + micros)));
    }
}

#[test]
fn the_second_segment_in_order_ends_the_delay_and_a_hole_prevents_it() {
    let mut r = Receiver::new(1 << 20, 1000, Some(Duration::from_millis(100)));
    let mut gets = |n: u64| {
        r.on_segment(n * 1000, 1000, false, false, Instant::ZERO, &mut ());
        let due = r.ack_due();
        if due {
            r.acknowledged(true);
        }
        due
    };
    assert!(!gets(0));
    assert!(gets(1));
    assert!(gets(3), "out of order");
    assert!(gets(2), "fills the hole");
}

/// A naive receiver: a set of octet numbers, in which the FIN is the last one.
#[derive(Default)]
struct Numbers {
    held: BTreeSet<u64>,
    end: Option<u64>,
}

impl Numbers {
    fn next(&self) -> u64 {
        (0..).find(|n| !self.held.contains(n)).expect("not everything has arrived")
    }

    /// Returns the run of held numbers around `n`.
    fn run(&self, n: u64) -> (u64, u64) {
        let held = |n: &u64| self.held.contains(n);
        let left = (0..n).rev().take_while(held).last().unwrap_or(n);
        (left, n + (n..).take_while(held).count() as u64)
    }

    /// Delivers a segment from `offset` to `end` within `edge`. Returns what is new of its text,
    /// and its first duplicate stretch.
    fn gets(
        &mut self,
        offset: u64,
        end: u64,
        fin: bool,
        edge: u64,
    ) -> (Vec<u64>, Option<(u64, u64)>) {
        let bound = self.end.unwrap_or(u64::MAX).min(edge);
        let highest = self.held.last().map_or(0, |last| last + 1);
        if fin && self.end.is_none() && end <= bound && end >= highest {
            self.end = Some(end);
        }
        let ends = fin && self.end == Some(end);
        let numbers: Vec<u64> = (offset..end.min(bound)).chain(ends.then_some(end)).collect();
        let is_old = |n: &&u64| self.held.contains(n);
        let twice: Vec<u64> =
            numbers.iter().skip_while(|n| !is_old(n)).take_while(is_old).copied().collect();
        let fresh =
            numbers.iter().filter(|n| !is_old(n) && Some(**n) != self.end).copied().collect();
        self.held.extend(&numbers);
        (fresh, twice.first().zip(twice.last()).map(|(first, last)| (*first, last + 1)))
    }
}

proptest! {
    /// RFC 2018, section 4, and RFC 2883, section 4. The FIN is a number like the others.
    #[test]
    fn the_receiver_agrees_with_a_naive_set_of_numbers(
        segments in prop::collection::vec((0..40_u64, 0..12_u64, prop::bool::weighted(0.2)), 1..40),
    ) {
        let mut numbers = Numbers::default();
        let mut r = Receiver::new(36, 4, None);
        for (offset, len, fin) in segments {
            let (fresh, twice) = numbers.gets(offset, offset + len, fin, 36);
            let mut reported = Vec::new();
            let mut observer = |_: Instant, event: &Event| {
                if let Event::Fresh { offset, len } = *event {
                    reported.extend(offset..offset + u64::from(len));
                }
            };
            r.on_segment(offset, len as u32, fin, false, Instant::ZERO, &mut observer);
            prop_assert_eq!(reported, fresh);
            let next = numbers.next();
            prop_assert_eq!(r.next(), next);
            prop_assert_eq!(r.at_end(), numbers.end.is_some_and(|end| end < next));
            prop_assert_eq!(r.readable(), next.min(numbers.end.unwrap_or(next)));
            let mut blocks = Vec::new();
            r.blocks(4, |left, right| blocks.push((left, right)));
            if let Some(twice) = twice {
                prop_assert_eq!(blocks.remove(0), twice);
            }
            for &(left, right) in &blocks {
                prop_assert!(left > next, "{:?} lies below {}", (left, right), next);
                prop_assert_eq!(numbers.run(left), (left, right));
            }
            let runs: BTreeSet<_> =
                numbers.held.range(next..).map(|&n| numbers.run(n)).collect();
            prop_assert_eq!(blocks.len(), runs.len().min(4 - usize::from(twice.is_some())));
            if r.ack_due() {
                r.acknowledged(true);
            }
        }
    }

    /// The frequent cases have a function of their own, [`Arrived::add_whole`].
    #[test]
    fn a_segment_that_is_all_new_leaves_what_any_other_leaves(
        segments in prop::collection::vec((0..30_u64, 1..4_u64), 1..60),
    ) {
        let (mut quick, mut any) = (Arrived::new(30, 1), Arrived::new(30, 1));
        let mut whole = 0;
        for (left, len) in segments {
            let right = left + len;
            let add = |arrived: &mut Arrived| {
                let mut fresh = Vec::new();
                arrived.add(left, right, |l, r| fresh.push((l, r)));
                fresh
            };
            let fresh = add(&mut any);
            if quick.add_whole(left, right) {
                prop_assert_eq!(fresh, vec![(left, right)]);
                whole += 1;
            } else {
                add(&mut quick);
            }
            let blocks = |arrived: &Arrived| {
                let mut blocks = Vec::new();
                arrived.blocks(8, |l, r| blocks.push((l, r)));
                (arrived.next(), blocks)
            };
            prop_assert_eq!(blocks(&quick), blocks(&any));
            quick.clear_duplicate();
            any.clear_duplicate();
        }
        prop_assert!(whole > 0);
    }
}
