//! Far ends of links: anti-replay windows of programs, limits on ranges, and packets that wait for others.

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use unruffled_path::{
    Advance, Applies, Arrival, Chosen, Direction, DropCause, Exit, ExitConfig, Impairment, Leaving,
    Link, LinkConfig, Piece, ReplayRule, ReplayWindow, Span, Verdict,
};
use unruffled_units::{Duration, Instant, Rate};

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn replay(window: ReplayWindow) -> ExitConfig {
    ExitConfig { replay: Some(window), ..ExitConfig::default() }
}

fn preset(name: &str) -> ExitConfig {
    replay(ReplayWindow::named(name).expect("a program"))
}

fn exit<T>(exit: ExitConfig) -> Exit<T> {
    let config = LinkConfig { exit, ..LinkConfig::default() };
    Exit::new(&config, Direction::Forward).expect("something is checked")
}

/// Returns the numbers that pass, of packets that arrive 1 ms apart.
fn passed(config: &ExitConfig, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    passed_at(config, numbers.into_iter().zip(0..).map(|(number, ms)| (number, at(ms))))
}

/// Returns the numbers that pass, of packets that arrive at these times.
fn passed_at(config: &ExitConfig, arrivals: impl IntoIterator<Item = (u64, Instant)>) -> Vec<u64> {
    let mut exit = exit(*config);
    for (number, now) in arrivals {
        exit.handle(Arrival { number, late_by: 0, piece: None, tunnel_number: None }, number, now);
    }
    let leaving = std::iter::from_fn(|| exit.poll());
    leaving
        .filter_map(|leaving| match leaving {
            Leaving::Passes(number) => Some(number),
            Leaving::Dropped(_, cause) => {
                assert_eq!(cause, DropCause::Replay);
                None
            }
        })
        .collect()
}

/// Packet 1000 is the newest when a packet `behind` packets behind it arrives.
fn passes_behind(config: &ExitConfig, behind: u64) -> bool {
    let late = 1000 - behind;
    let arrivals = (1..=1000).filter(|number| *number != late).chain([late]);
    passed(config, arrivals).last() == Some(&late)
}

#[test]
fn each_program_drops_a_packet_from_its_number_behind_the_newest_on() {
    let lengths = [
        ("gre", 1),
        ("macsec", 1),
        ("esp", 32),
        ("openvpn", 64),
        ("dtls", 64),
        ("gnutls", 65),
        ("srtp", 128),
        ("tinc", 128),
        ("tinc-1.1", 256),
    ];
    for (name, length) in lengths {
        if length > 1 {
            assert!(passes_behind(&preset(name), length - 1), "{name}: {} behind", length - 1);
        }
        assert!(!passes_behind(&preset(name), length), "{name}: {length} behind");
    }
    // These are longer than the thousand packets above.
    for (name, length) in
        [("boringtun", 1024_u64), ("nebula-1.11", 1024), ("wireguard", 8129), ("nebula", 8192)]
    {
        let behind = |behind: u64| passed(&preset(name), [1, 10_000, 10_000 - behind]).len() == 3;
        assert!(behind(length - 1), "{name}: {} behind", length - 1);
        assert!(!behind(length), "{name}: {length} behind");
    }
    let names: BTreeSet<&str> = ReplayWindow::PRESETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), ReplayWindow::PRESETS.len());
}

#[test]
fn a_second_packet_with_the_same_number_is_dropped() {
    assert_eq!(passed(&preset("esp"), [1, 1, 3, 2, 2, 3, 4]), [1, 3, 2, 4]);
    assert_eq!(passed(&preset("gre"), [1, 1, 2, 2]), [1, 2]);
}

/// Every 20th packet is early by 166 packets and advances the window past all others. 400 of them are
/// looked at, and 200 more follow.
#[test]
fn early_packets_leave_all_others_behind_the_window() {
    let mut order: Vec<(u64, u64)> =
        (1..=600).map(|n| (n + if n % 20 == 0 { 0 } else { 166 }, n)).collect();
    order.sort_unstable();
    let order = || order.iter().map(|&(_, number)| number);
    let early: Vec<u64> = (1..=20).map(|n| 20 * n).collect();
    for program in ["openvpn", "tinc"] {
        let mut passed = passed(&preset(program), order());
        passed.retain(|number| *number <= 400);
        assert_eq!(passed, early, "{program}");
    }
    assert_eq!(passed(&preset("boringtun"), order()).len(), 600);
}

/// Packet 5 arrives at `ms` and all up to packet 10, which is 5 ahead of it, from 0 to 10 ms.
#[test]
fn openvpn_drops_a_packet_15_seconds_after_a_newer_one() {
    let late_at = |ms| {
        let on_time = (1..=10).filter(|n| *n != 5).map(|n| (n, at(n)));
        passed_at(&preset("openvpn"), on_time.chain([(5, at(ms))])).len() == 10
    };
    assert!(late_at(14_500));
    // Packet 6 arrived at 6 ms.
    assert!(late_at(15_006) && !late_at(15_007));
    assert!(!late_at(16_000));
}

#[test]
fn tinc_drops_up_to_four_packets_in_a_row_that_are_far_ahead() {
    // 127 ahead is near, 128 is far.
    assert_eq!(passed(&preset("tinc"), [1, 128, 129]), [1, 128, 129]);
    let tinc = |numbers: &[u64]| passed(&preset("tinc"), numbers.iter().copied());
    assert_eq!(tinc(&[1, 129, 130, 131, 132, 133, 134]), [1, 133, 134]);
    // A packet that is accepted in between begins the row anew.
    assert_eq!(
        tinc(&[1, 129, 130, 131, 2, 132, 133, 134, 135, 136]),
        [1, 2, 136],
        "three, then four"
    );
    // After the jump, everything below it is dropped.
    assert_eq!(tinc(&[1, 129, 130, 131, 132, 133, 132, 100, 134]), [1, 133, 134]);
}

#[test]
fn l2tp_drops_the_packets_after_a_gap_until_five_followed_in_order() {
    // 3 is lost. Of the packets after the gap, the sixth is the fifth that follows another one.
    assert_eq!(passed(&preset("l2tp"), [1, 2, 4, 5, 6, 7, 8, 9, 10]), [1, 2, 9, 10]);
    // A second gap begins the run anew.
    let arrivals = [1, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14];
    assert_eq!(passed(&preset("l2tp"), arrivals), [1, 13, 14]);
    // The missing packet is still in order as long as none after the gap was accepted.
    assert_eq!(passed(&preset("l2tp"), [1, 3, 4, 2, 3, 4]), [1, 2, 3, 4]);
    // A late packet is dropped and does not disturb the run.
    assert_eq!(passed(&preset("l2tp"), [1, 2, 4, 5, 1, 6, 7, 8, 9]), [1, 2, 9]);
}

#[test]
fn packets_that_the_queue_drops_have_numbers_as_well() {
    let config = LinkConfig {
        rate: Rate::from_bps(8e6),
        queue: Some(2),
        exit: replay(ReplayWindow::new(8)),
        ..LinkConfig::default()
    };
    let mut link = Link::new(&config, Direction::Forward, 1).expect("a valid link");
    for number in 1..=5 {
        link.offer(1000, Direction::Forward, at(0));
        assert_eq!(link.offered(), number);
    }
}

#[test]
fn a_window_of_no_packets_is_an_error() {
    let config = LinkConfig { exit: replay(ReplayWindow::new(0)), ..LinkConfig::default() };
    let error = Link::new(&config, Direction::Forward, 1).expect_err("a window of 0");
    assert_eq!(error.to_string(), "exit.replay.behind must be at least 1, not 0");
}

/// Returns whether each of these pieces of one flow passes, given as first octet and length.
fn pieces(max: u32, pieces: &[(u32, u32)]) -> Vec<bool> {
    let config = ExitConfig { ranges: Some(max), ..ExitConfig::default() };
    let mut exit = exit(config);
    let mut passes = |span| {
        let piece = Some(Piece { flow: 7, span });
        exit.handle(Arrival { number: 1, late_by: 0, piece, tunnel_number: None }, (), at(0));
        matches!(exit.poll(), Some(Leaving::Passes(())))
    };
    assert!(passes(Span::Opens(u32::MAX - 999)), "the SYN");
    let octets =
        |&(first, len): &(u32, u32)| passes(Span::Octets { first: first.wrapping_sub(1000), len });
    pieces.iter().map(octets).collect()
}

#[test]
fn a_packet_that_would_open_one_range_too_many_is_dropped() {
    // Octets 1000 to 1999 and 3000 to 3999 are two ranges beyond the gap at 0; 5000 would be a third.
    let all = [(1000, 1000), (3000, 1000), (5000, 1000), (2000, 1000), (5000, 1000)];
    assert_eq!(pieces(2, &all), [true, true, false, true, true]);
    // The octets in order close the gap, and the range behind it becomes part of the stream.
    assert_eq!(
        pieces(1, &[(1000, 1000), (3000, 1000), (0, 1000), (3000, 1000)]),
        [true, false, true, true]
    );
    // Room for no range: only octets in order pass, old ones included.
    assert_eq!(
        pieces(0, &[(0, 500), (1000, 500), (500, 500), (0, 500)]),
        [true, false, true, true]
    );
    // Partly old octets.
    assert_eq!(pieces(0, &[(0, 500), (200, 500), (700, 10)]), [true, true, true]);
}

#[test]
fn flows_have_ranges_of_their_own_and_a_new_connection_starts_without_any() {
    let config = ExitConfig { ranges: Some(1), ..ExitConfig::default() };
    let mut exit = exit(config);
    let mut passes = |flow, span| {
        let piece = Some(Piece { flow, span });
        exit.handle(Arrival { number: 1, late_by: 0, piece, tunnel_number: None }, (), at(0));
        matches!(exit.poll(), Some(Leaving::Passes(())))
    };
    let octets = |first| Span::Octets { first, len: 100 };
    for flow in [1, 2] {
        assert!(passes(flow, Span::Opens(0)));
        assert!(passes(flow, octets(200)));
        assert!(!passes(flow, octets(400)));
    }
    assert!(passes(1, Span::Opens(1000)) && passes(1, octets(1200)));
    assert!(passes(2, Span::Closes));
    // Without a SYN, the first octets seen are taken as those in order.
    assert!(passes(2, octets(400)) && passes(2, octets(500)));
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A link without a rate or a delay on which packets wait for others.
fn waiting(impairment: Impairment, exit: ExitConfig) -> LinkConfig {
    LinkConfig { impairments: vec![impairment], exit, ..LinkConfig::default() }
}

/// Sends packets 1, 2 … a millisecond apart over a link and its far end. Returns the times in milliseconds
/// and the numbers of those that pass until `end`.
fn sent(config: &LinkConfig, packets: u64, end: u64) -> Vec<(u64, u64)> {
    let mut link = Link::new(config, Direction::Forward, 1).expect("a valid link");
    let mut exit = Exit::new(config, Direction::Forward).expect("the link has an exit");
    let mut passed = Vec::new();
    let mut poll = |exit: &mut Exit<u64>, now: Instant| {
        while let Some(leaving) = exit.poll() {
            if let Leaving::Passes(number) = leaving {
                passed.push((now.as_nanos() / 1_000_000, number));
            }
        }
    };
    let mut arrivals = Vec::new();
    for n in 1..=packets {
        let outcome = link.offer(1000, Direction::Forward, at(n));
        let Verdict::Deliver(arrival) = outcome.verdict else { continue };
        arrivals.push((arrival, link.offered(), outcome.late_by));
    }
    arrivals.sort_by_key(|(arrival, ..)| *arrival);
    let mut arrivals = arrivals.into_iter().peekable();
    loop {
        let arrival = arrivals.peek().map_or(at(end), |(arrival, ..)| *arrival);
        match exit.poll_timeout() {
            Some(due) if due < arrival => {
                exit.handle_timeout(due);
                poll(&mut exit, due);
            }
            _ => {
                let Some((now, number, late_by)) = arrivals.next() else { break };
                exit.handle(
                    Arrival { number, late_by, piece: None, tunnel_number: None },
                    number,
                    now,
                );
                poll(&mut exit, now);
            }
        }
    }
    passed
}

fn numbers(passed: &[(u64, u64)]) -> Vec<u64> {
    passed.iter().map(|(_, number)| *number).collect()
}

/// Packet 3 of 1 to 9 is late, from 3 to 4 ms.
fn third_behind(packets: u32, at_most: Duration) -> LinkConfig {
    let (fraction, packets, applies) = (1.0, (packets, packets), Applies::Data);
    let behind = Impairment::Behind { fraction, packets, at_most, applies };
    let impairment = Impairment::During { from: at(3), until: at(4), impairment: Box::new(behind) };
    waiting(impairment, ExitConfig::default())
}

#[test]
fn a_packet_behind_leaves_when_so_many_later_ones_have_overtaken_it() {
    let passed = sent(&third_behind(2, ms(1000)), 6, 5000);
    assert_eq!(passed, [(1, 1), (2, 2), (4, 4), (5, 5), (5, 3), (6, 6)]);
}

#[test]
fn a_packet_behind_leaves_after_its_maximum_wait_if_too_few_overtake_it() {
    assert_eq!(sent(&third_behind(20, ms(1000)), 5, 5000).last(), Some(&(1003, 3)));
    // A packet that arrives as the wait ends overtakes it.
    assert_eq!(numbers(&sent(&third_behind(20, ms(2)), 6, 5000)), [1, 2, 4, 5, 3, 6]);
}

#[test]
fn packets_behind_that_wait_for_each_other_leave_after_their_maximum_wait() {
    let (fraction, packets, applies) = (1.0, (1, 1), Applies::Data);
    let behind = Impairment::Behind { fraction, packets, at_most: ms(10), applies };
    let passed = sent(&waiting(behind, ExitConfig::default()), 3, 100);
    assert_eq!(passed, [(11, 1), (12, 2), (13, 3)]);
}

fn early(chosen: Chosen, by: Advance) -> Impairment {
    Impairment::Early { chosen, by, applies: Applies::Data }
}

/// The line has room for two packets, and every fourth packet passes by it.
#[test]
fn an_early_packet_overtakes_the_line() {
    let by = Advance::Packets { count: 2, at_most: ms(50) };
    let config = waiting(early(Chosen::Every(4), by), ExitConfig::default());
    let passed = sent(&config, 9, 1000);
    // Packets 4 and 8 are early. Packets 7 and 9 leave after the maximum wait.
    let expected = [(3, 1), (4, 4), (5, 2), (6, 3), (7, 5), (8, 8), (9, 6), (57, 7), (59, 9)];
    assert_eq!(passed, expected);
}

#[test]
fn early_packets_by_time_leave_all_others_later() {
    let config = LinkConfig {
        impairments: vec![early(Chosen::Every(3), Advance::Time(ms(5)))],
        ..LinkConfig::default()
    };
    assert!(Exit::<()>::new(&config, Direction::Forward).is_none());
    let mut link = Link::new(&config, Direction::Forward, 1).expect("a valid link");
    let arrivals: Vec<_> = (1..=6)
        .map(|n| {
            let outcome = link.offer(1000, Direction::Forward, at(n));
            (outcome.verdict, outcome.detoured)
        })
        .collect();
    let expected = [(6, false), (7, false), (3, true), (9, false), (10, false), (6, true)];
    assert_eq!(arrivals, expected.map(|(ms, detoured)| (Verdict::Deliver(at(ms)), detoured)));
}

/// Every 20th packet of a steady stream is early by 166. A tunnel with a window of 64 accepts these alone.
#[test]
fn a_tunnel_passes_early_packets_alone() {
    for by in [Advance::Packets { count: 166, at_most: ms(10_000) }, Advance::Time(ms(166))] {
        let program = preset("openvpn");
        let passed = sent(&waiting(early(Chosen::Every(20), by), program), 1000, 2000);
        let passed = numbers(&passed);
        let of_400 = |from: u64| passed.iter().filter(|&&n| n > from && n <= from + 400).count();
        assert_eq!(of_400(200), 20, "{by:?}");
    }
}

#[test]
fn a_link_counts_packets_in_one_way() {
    let applies = Applies::Data;
    let by = Advance::Packets { count: 2, at_most: ms(50) };
    let behind = |packets, at_most| Impairment::Behind { fraction: 0.1, packets, at_most, applies };
    for (impairments, expected) in [
        (
            vec![behind((1, 2), ms(1)), early(Chosen::Every(2), by)],
            "impairments[1].by must be the only one that counts packets, not a second",
        ),
        (vec![behind((0, 2), ms(1))], "impairments[0].by must be at least 1 packet, not 0"),
        (vec![behind((3, 2), ms(1))], "impairments[0].by must be in rising order, not 2"),
        (vec![behind((1, 2), ms(0))], "impairments[0].at_most must be more than 0 s, not 0 s"),
        (vec![early(Chosen::Every(0), by)], "impairments[0].every must be at least 1, not 0"),
        (
            vec![early(Chosen::Fraction(2.0), by)],
            "impairments[0].fraction must be between 0 and 1, not 2",
        ),
    ] {
        let config = LinkConfig { impairments, ..LinkConfig::default() };
        let error = Link::new(&config, Direction::Forward, 1).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

/// A naive model of a window: the set of all numbers accepted.
#[derive(Default)]
struct Model {
    accepted: HashSet<u64>,
    newest: u64,
}

impl Model {
    fn accepts(&mut self, number: u64, length: u64) -> bool {
        if number + length <= self.newest || !self.accepted.insert(number) {
            return false;
        }
        self.newest = self.newest.max(number);
        true
    }
}

proptest! {
    #[test]
    fn a_window_accepts_what_a_set_of_all_numbers_accepts(
        length in 1_u32..200,
        arrivals in prop::collection::vec((0_u64..600, 0_u64..5), 1..500),
    ) {
        let mut model = Model::default();
        let numbers = || arrivals.iter().zip(1..).map(|(&(late, jump), n)| {
            (n + 300 * jump / 4_u64).saturating_sub(late).max(1)
        });
        let expected: Vec<u64> =
            numbers().filter(|&number| model.accepts(number, u64::from(length))).collect();
        prop_assert_eq!(passed(&replay(ReplayWindow::new(length)), numbers()), expected);
    }

    /// The rules of programs only drop more than their windows do.
    #[test]
    fn a_program_drops_what_its_window_drops(
        name in prop::sample::select(&["openvpn", "tinc", "tinc-1.1"][..]),
        arrivals in prop::collection::vec((0_u64..400, 0_u64..2_000), 1..300),
    ) {
        let window = ReplayWindow::named(name).expect("a program");
        let mut now = Instant::ZERO;
        let timed: Vec<(u64, Instant)> = arrivals.iter().zip(1..).map(|(&(late, gap), n)| {
            now += Duration::from_millis(gap);
            (u64::saturating_sub(n, late).max(1), now)
        }).collect();
        let plain = ReplayWindow { rule: ReplayRule::Plain, ..window };
        let passes: HashSet<u64> = passed_at(&replay(plain), timed.clone()).into_iter().collect();
        if name == "openvpn" {
            for number in passed_at(&replay(window), timed) {
                prop_assert!(passes.contains(&number), "{}", number);
            }
        } else {
            // A packet far ahead that is dropped keeps the window back, so that others may pass. Each
            // number passes once at most.
            let all = passed_at(&replay(window), timed);
            prop_assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        }
    }

    /// Each packet behind is overtaken by as many packets as it was given, unless its wait ended before.
    #[test]
    fn packets_behind_are_overtaken_by_as_many_as_drawn(
        fraction in 0.0_f64..0.6,
        low in 1_u32..20,
        more in 0_u32..20,
        at_most in 5_u64..200,
    ) {
        let (packets, applies) = ((low, low + more), Applies::Data);
        let behind = Impairment::Behind { fraction, packets, at_most: ms(at_most), applies };
        let config = waiting(behind, ExitConfig::default());
        let passed = sent(&config, 500, 10_000);
        let mut link = Link::new(&config, Direction::Forward, 1).unwrap();
        prop_assert_eq!(passed.len(), 500);
        for number in 1..=500 {
            let late_by = link.offer(1000, Direction::Forward, at(number)).late_by;
            prop_assert!(late_by == 0 || (low..=low + more).contains(&late_by));
            let place = passed.iter().position(|(_, n)| *n == number).unwrap();
            let overtakers = passed[..place].iter().filter(|(_, n)| *n > number).count();
            let waited = passed[place].0 - number;
            prop_assert!(waited <= at_most);
            let is_full = overtakers == late_by as usize;
            let has_ended = waited == at_most && overtakers <= late_by as usize;
            prop_assert!(is_full || has_ended, "{} of {} in {}", overtakers, late_by, waited);
        }
    }

    /// A naive model keeps every octet and counts the ranges beyond the first gap.
    #[test]
    fn ranges_are_those_of_a_set_of_all_octets(
        max in 0_u32..5,
        sent in prop::collection::vec((0_u32..60, 1_u32..8), 1..200),
    ) {
        let mut octets: BTreeSet<u32> = BTreeSet::new();
        let ranges = |octets: &BTreeSet<u32>| {
            let starts = octets.iter().filter(|&&o| o > 0 && !octets.contains(&(o - 1)));
            starts.count()
        };
        let expected: Vec<bool> = sent.iter().map(|&(first, len)| {
            let mut with = octets.clone();
            with.extend(first..first + len);
            let opens = ranges(&with) > ranges(&octets) && ranges(&with) > max as usize;
            if !opens {
                octets = with;
            }
            !opens
        }).collect();
        prop_assert_eq!(pieces(max, &sent), expected);
    }
}
