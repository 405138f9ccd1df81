//! Tests of ECN marks, on a link of 8 Mbit/s, which sends 1000 octets in 1 ms.

use proptest::prelude::*;
use unruffled_path::{
    Applies, Direction, DropCause, Impairment, Link, LinkConfig, MarkAbove, Outcome, Packet, Red,
    Verdict,
};
use unruffled_units::{Duration, Instant, Rate};

const FORWARD: Direction = Direction::Forward;

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn config(mark_above: Option<MarkAbove>) -> LinkConfig {
    LinkConfig { rate: Rate::from_bps(8e6), queue: Some(100), mark_above, ..LinkConfig::default() }
}

fn link(config: &LinkConfig) -> Link {
    Link::new(config, FORWARD, 1).expect("a valid link")
}

fn packet(ect: bool) -> Packet {
    Packet { bytes: 1000, direction: FORWARD, ect, flow: 0 }
}

/// Offers an ECN-capable packet at each of `times`, in milliseconds; returns which are marked.
fn marked<const N: usize>(config: &LinkConfig, times: [u64; N]) -> [bool; N] {
    let mut link = link(config);
    times.map(|time| link.offer_packet(packet(true), at(time)).marked)
}

const YES: bool = true;
const NO: bool = false;

#[test]
fn a_packet_that_finds_more_packets_than_the_threshold_is_marked() {
    // The first five depart at 1 to 5 ms. The packet at 3 ms finds two of them, and departs at 6 ms. The one
    // at 4 ms finds the packets that depart at 5 and 6 ms.
    let step = config(Some(MarkAbove::Packets(2)));
    assert_eq!(marked(&step, [0, 0, 0, 0, 0, 3, 4]), [NO, NO, NO, YES, YES, NO, NO]);
    let always = config(Some(MarkAbove::Packets(0)));
    assert_eq!(marked(&always, [0, 0, 1, 9]), [NO, YES, YES, NO]);
}

#[test]
fn a_packet_that_waits_longer_than_the_threshold_is_marked() {
    // The packets wait for 0, 1, 2, 3 and 4 ms, and the one at 3 ms for 2 ms.
    let step = config(Some(MarkAbove::Delay(Duration::from_millis(2))));
    assert_eq!(marked(&step, [0, 0, 0, 0, 0, 3]), [NO, NO, NO, YES, YES, NO]);
}

#[test]
fn step_marking_leaves_other_packets_alone() {
    let mut plain = link(&config(None));
    let mut step = link(&config(Some(MarkAbove::Packets(0))));
    for n in 0..300 {
        let ect = n % 3 == 0;
        let outcome = step.offer_packet(packet(ect), at(n / 2));
        let unmarked = Outcome { marked: false, ..outcome };
        assert_eq!(unmarked, plain.offer_packet(packet(ect), at(n / 2)), "packet {n}");
        assert!(ect || !outcome.marked, "packet {n} is not ECN-capable");
    }
}

#[test]
fn a_full_queue_drops_packets_and_marks_none_of_them() {
    let full = LinkConfig { queue: Some(3), ..config(Some(MarkAbove::Packets(1))) };
    let mut link = link(&full);
    let outcomes = [0; 4].map(|time| link.offer_packet(packet(true), at(time)));
    assert_eq!(outcomes.map(|outcome| outcome.marked), [NO, NO, YES, NO]);
    assert_eq!(outcomes[3].verdict, Verdict::Drop(DropCause::Queue));
}

#[test]
fn a_packet_that_the_link_resends_is_marked_when_it_arrives() {
    let after = Duration::from_millis(5);
    let impairments =
        vec![Impairment::Resend { errors: 1.0, after, attempts: Some(1), applies: Applies::Both }];
    let config = LinkConfig { impairments, ..config(Some(MarkAbove::Packets(0))) };
    let mut link = link(&config);
    link.offer_packet(packet(true), at(0));
    let held = link.offer_packet(packet(true), at(0));
    let Verdict::Held { ticket, .. } = held.verdict else { panic!("{held:?}") };
    assert!(held.marked);
    assert_eq!(link.resume(ticket).map(|again| again.marked), Some(false));
}

/// RED on a queue in packets, whose average is the queue itself.
fn red(red: Red) -> LinkConfig {
    let red = Red { min: 1.0, max: 10.0, bytes: false, weight: Some(1.0), ..red };
    LinkConfig { red: Some(red), ..config(None) }
}

/// Offers a packet each 0.9 ms; returns the outcomes.
fn overload(config: &LinkConfig, ect: bool, packets: u64) -> Vec<Outcome> {
    let mut link = link(config);
    let offer = |n| link.offer_packet(packet(ect), Instant::from_nanos(n * 900_000));
    (0..packets).map(offer).collect()
}

fn is_dropped(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Drop(DropCause::Queue)
}

#[test]
fn red_marks_the_packet_that_it_would_drop() {
    let marking = red(Red { ecn: true, ..Red::default() });
    let dropped = overload(&red(Red::default()), true, 200);
    let marked = overload(&marking, true, 200);
    let first = |outcomes: &[Outcome], of: fn(&Outcome) -> bool| outcomes.iter().position(of);
    let drop = first(&dropped, is_dropped).expect("one is dropped");
    assert_eq!(first(&marked, |outcome| outcome.marked), Some(drop));
    assert!(!marked[..=drop].iter().any(is_dropped));
    // Packets that are not ECN-capable are dropped as before.
    assert_eq!(overload(&marking, false, 200), overload(&red(Red::default()), false, 200));
}

#[test]
fn red_drops_instead_of_marking_when_the_share_reaches_mark_p() {
    // The share reaches 10 % at an average of 10 packets, and 50 % at 14.44.
    let shares = |mark_p| {
        let config = red(Red { ecn: true, mark_p, ..Red::default() });
        let outcomes = overload(&config, true, 3000);
        let waited = |outcome: &&Outcome| outcome.marked.then_some(outcome.waited);
        let longest = outcomes.iter().filter_map(|outcome| waited(&outcome)).max();
        (longest.expect("some are marked"), outcomes.iter().any(is_dropped))
    };
    // A packet that finds 10 waits for these and for the one in service.
    let (longest, dropped) = shares(0.1);
    assert!(dropped && longest <= Duration::from_millis(11), "{longest}");
    let (longest, dropped) = shares(0.5);
    assert!(dropped && longest > Duration::from_millis(11), "{longest}");
    let full = shares(1.0);
    assert!(full.0 > longest, "{full:?}");
}

#[test]
fn an_error_names_the_setting_of_marks() {
    let error = |config: &LinkConfig| Link::new(config, FORWARD, 1).unwrap_err().to_string();
    let step = config(Some(MarkAbove::Packets(5)));
    assert_eq!(
        error(&LinkConfig { rate: None, ..step.clone() }),
        "rate must be given for a queue that marks, not infinite"
    );
    assert_eq!(
        error(&LinkConfig { red: Some(Red::default()), ..step }),
        "mark_above must be without RED, not both"
    );
    assert_eq!(
        error(&red(Red { mark_p: 0.0, ..Red::default() })),
        "red.mark_p must be greater than 0 and at most 1, not 0"
    );
}

proptest! {
    #[test]
    fn marks_are_those_of_a_queue_that_counts_every_departure(
        threshold in 0_u32..8,
        arrivals in prop::collection::vec((0_u64..3_000_000, 1_u32..3), 1..200),
        watched: bool,
    ) {
        let step = config(Some(MarkAbove::Packets(threshold)));
        let mut link = link(&LinkConfig { queue: None, ..step });
        if !watched {
            link = link.without_backlog();
        }
        let mut departures: Vec<Instant> = Vec::new();
        let mut now = Instant::ZERO;
        for (gap, thousands) in arrivals {
            now += Duration::from_nanos(gap);
            let found = departures.iter().filter(|&&departure| departure > now).count();
            let packet = Packet { bytes: 1000 * thousands, ..packet(true) };
            let outcome = link.offer_packet(packet, now);
            prop_assert_eq!(outcome.marked, found > threshold as usize);
            departures.push(outcome.departed);
        }
    }
}
