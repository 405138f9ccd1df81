//! Tests of a link of 8 Mbit/s, which sends 1000 octets in 1 ms, with a delay of 10 ms.

use proptest::prelude::*;
use unruffled_path::{
    Applies, Direction, Distribution, DropCause, Fragments, Impairment, Link, LinkConfig,
    MarkAbove, Outcome, Packet, Red, Times, Verdict,
};
use unruffled_units::{Duration, Instant, Rate};

use Direction::{Forward, Reverse};
use DropCause::{Loss, Queue};
use Verdict::{Deliver, Drop};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn config(queue: Option<u32>, impairments: Vec<Impairment>) -> LinkConfig {
    let rate = Rate::from_bps(8e6);
    LinkConfig { rate, delay: ms(10), queue, impairments, ..LinkConfig::default() }
}

fn link(config: &LinkConfig) -> Link {
    Link::new(config, Forward, 1).expect("a valid link")
}

/// Offers 1000 octets at each of `times`, in milliseconds; returns the verdicts.
fn verdicts<const N: usize>(config: &LinkConfig, times: [u64; N]) -> [Verdict; N] {
    let mut link = link(config);
    times.map(|time| link.offer(1000, Forward, at(time)).verdict)
}

/// Offers `packets` packets, 1 ms apart; returns the outcomes.
fn outcomes(config: &LinkConfig, direction: Direction, seed: u64, packets: u64) -> Vec<Outcome> {
    let mut link = Link::new(config, direction, seed).expect("a valid link");
    (0..packets).map(|n| link.offer(1000, direction, at(n))).collect()
}

/// Returns the share of the outcomes for which `of` is true.
fn share(outcomes: &[Outcome], of: impl Fn(&Outcome) -> bool) -> f64 {
    outcomes.iter().filter(|outcome| of(outcome)).count() as f64 / outcomes.len() as f64
}

fn late(fraction: f64) -> Impairment {
    let delay = Distribution::Normal { mean: ms(25), deviation: ms(8) };
    Impairment::Delay { fraction, delay, applies: Applies::Both }
}

fn loss(fraction: f64) -> Impairment {
    Impairment::Loss { fraction, applies: Applies::Both }
}

fn alternate(every: u32) -> Impairment {
    Impairment::Alternate { every, extra: ms(100), applies: Applies::Both }
}

fn duplicate(fraction: f64) -> Impairment {
    Impairment::Duplicate { fraction, applies: Applies::Both }
}

#[test]
fn a_packet_that_is_delayed_quickly_arrives_as_if_it_were_offered() {
    let early = Impairment::During { from: at(0), until: at(500), impairment: Box::new(late(0.5)) };
    for impairments in [vec![late(0.2)], vec![late(0.1), early]] {
        let config = config(Some(4), impairments);
        let mut offered = link(&config).without_backlog();
        let mut quick = link(&config).without_backlog();
        assert!(quick.only_delays());
        let (mut quickly, mut dropped, mut detours) = (0, 0, 0);
        let mut now = 0;
        for n in 0..2000 {
            now += [0, 1, 1, 0, 3, 1][n % 6];
            // A hundred packets of one size, then some of two sizes.
            let size = if n % 120 < 20 { [500, 2000, 1000][n % 3] } else { 1000 };
            let expected = offered.offer(size, Forward, at(now));
            let got = quick.delay_quickly(size, Forward, at(now));
            quickly += u32::from(got.is_some());
            let got = got.or_else(|| match quick.offer(size, Forward, at(now)) {
                Outcome { verdict: Deliver(arrival), detoured, .. } => Some((arrival, detoured)),
                _ => None,
            });
            let expected = match expected.verdict {
                Deliver(arrival) => Some((arrival, expected.detoured)),
                _ => None,
            };
            assert_eq!(got, expected, "packet {n}");
            dropped += u32::from(got.is_none());
            detours += u32::from(got.is_some_and(|(_, detoured)| detoured));
        }
        assert!(quickly > 500, "{quickly} packets crossed quickly");
        assert!(dropped > 50, "{dropped} packets were dropped");
        assert!(detours > 100, "{detours} packets took a detour");
    }
}

#[test]
fn only_links_with_other_impairments_than_delays_must_be_offered_packets() {
    let only_delays = |impairments| link(&config(Some(4), impairments)).only_delays();
    assert!(only_delays(vec![late(0.1)]));
    assert!(!only_delays(vec![late(0.1), loss(0.1)]));
    assert!(!only_delays(vec![late(0.1), duplicate(0.1)]));
    let red = LinkConfig { red: Some(Red::default()), ..config(Some(4), vec![late(0.1)]) };
    assert!(!link(&red).only_delays());
}

#[test]
fn a_packet_that_is_queued_arrives_as_if_it_were_offered() {
    let red = Red {
        min: 1.0,
        max: 4.0,
        weight: Some(0.1),
        bytes: false,
        max_p: 0.2,
        ecn: true,
        mark_p: 0.5,
        ..Red::default()
    };
    let marks = MarkAbove::Packets(2);
    for queue in [
        LinkConfig { red: Some(red), ..config(Some(12), vec![]) },
        LinkConfig { mark_above: Some(marks), ..config(Some(12), vec![]) },
    ] {
        let mut offered = link(&queue).without_backlog();
        let mut queued = link(&queue).without_backlog();
        assert!(queued.only_queues());
        let (mut dropped, mut marks) = (0, 0);
        let mut now = 0;
        for n in 0..2000 {
            now += [0, 1, 1, 0, 3, 0][n % 6];
            let bytes = if n % 120 < 20 { [500, 2000, 1000][n % 3] } else { 1000 };
            let packet = Packet { bytes, direction: Forward, ect: n % 7 < 3, flow: 0 };
            let outcome = offered.offer_packet(packet, at(now));
            let expected = match outcome.verdict {
                Deliver(arrival) => Some((arrival, outcome.marked)),
                _ => None,
            };
            let got = queued.queue(packet, at(now));
            assert_eq!(got, expected, "packet {n}");
            dropped += u32::from(got.is_none());
            marks += u32::from(got.is_some_and(|(_, marked)| marked));
        }
        assert!(dropped > 20, "{dropped} packets were dropped");
        assert!(marks > 50, "{marks} packets were marked");
    }
}

#[test]
fn only_links_on_which_more_happens_than_queueing_must_be_offered_packets() {
    assert!(link(&config(Some(4), vec![])).only_queues());
    assert!(!link(&config(Some(4), vec![late(0.1)])).only_queues());
    let fragments = Some(Fragments { mtu: 500, max_distance: 0 });
    assert!(!link(&LinkConfig { fragments, ..config(Some(4), vec![]) }).only_queues());
}

#[test]
fn a_packet_arrives_after_transmission_and_propagation() {
    assert_eq!(verdicts(&config(None, vec![]), [0, 5]), [Deliver(at(11)), Deliver(at(16))]);
}

#[test]
fn a_burst_leaves_at_the_rate_of_the_link() {
    assert_eq!(
        verdicts(&config(None, vec![]), [0, 0, 0]),
        [Deliver(at(11)), Deliver(at(12)), Deliver(at(13))]
    );
}

#[test]
fn a_link_without_a_rate_only_delays() {
    let fast = LinkConfig { rate: None, ..config(Some(1), vec![]) };
    assert_eq!(verdicts(&fast, [0, 0]), [Deliver(at(10)), Deliver(at(10))]);
}

#[test]
fn a_full_queue_drops_and_counts_the_packet_in_service() {
    assert_eq!(
        verdicts(&config(Some(2), vec![]), [0, 0, 0, 1, 1, 3]),
        [
            Deliver(at(11)), // in service until 1 ms
            Deliver(at(12)), // waits
            Drop(Queue),
            Deliver(at(13)), // the first has left
            Drop(Queue),
            Deliver(at(14)),
        ]
    );
}

#[test]
fn a_dropped_packet_uses_no_bandwidth_but_a_lost_one_does() {
    let mut lossy = link(&config(None, vec![loss(1.0)]));
    assert_eq!(lossy.offer(1000, Forward, at(0)).verdict, Drop(Loss));
    assert_eq!(lossy.occupancy(at(0)), 1);

    let mut full = link(&config(Some(1), vec![]));
    full.offer(1000, Forward, at(0));
    assert_eq!(full.offer(1000, Forward, at(0)).verdict, Drop(Queue));
    assert_eq!(full.occupancy(at(0)), 1);
    assert_eq!(full.occupancy(at(1)), 0);
}

#[test]
fn an_outcome_has_the_waiting_time_and_the_departure() {
    let mut full = link(&config(Some(2), vec![loss(1.0)]));
    let outcomes = [0, 0, 0].map(|time| full.offer(1000, Forward, at(time)));
    assert_eq!(outcomes.map(|outcome| outcome.verdict), [Drop(Loss), Drop(Loss), Drop(Queue)]);
    assert_eq!(outcomes.map(|outcome| outcome.waited), [ms(0), ms(1), ms(0)]);
    assert_eq!(outcomes.map(|outcome| outcome.departed), [at(1), at(2), at(0)]);
}

#[test]
fn impairments_of_data_and_of_acknowledgements_are_independent() {
    let of = |fraction, applies| Impairment::Loss { fraction, applies };
    let config = config(None, vec![of(0.5, Applies::Data), of(1.0, Applies::Acks)]);
    let mut both = Link::carrying(&config, Forward, Applies::Both, 1).expect("a valid link");
    let mut data = link(&config);
    for n in 0..100 {
        assert_eq!(both.offer(1000, Reverse, at(2 * n)).verdict, Drop(Loss));
        // The outcomes of data do not depend on acknowledgements in between.
        let now = at(2 * n + 1);
        assert_eq!(both.offer(1000, Forward, now), data.offer(1000, Forward, now));
    }
}

#[test]
fn later_packets_overtake_a_late_one() {
    let mut link = link(&config(None, vec![alternate(3)]));
    let outcomes = [0, 0, 0, 0].map(|time| link.offer(1000, Forward, at(time)));
    assert_eq!(
        outcomes.map(|outcome| outcome.verdict),
        [Deliver(at(11)), Deliver(at(12)), Deliver(at(113)), Deliver(at(14))]
    );
    assert_eq!(outcomes.map(|outcome| outcome.detoured), [false, false, true, false]);
}

#[test]
fn packets_alternate_between_two_paths() {
    assert_eq!(
        verdicts(&config(None, vec![alternate(2)]), [0, 1, 2, 3]),
        [Deliver(at(11)), Deliver(at(112)), Deliver(at(13)), Deliver(at(114))]
    );
}

#[test]
fn packets_of_an_interval_with_a_shorter_delay_overtake_those_before() {
    let delay = Distribution::Uniform { low: ms(0), high: ms(300) };
    let redrawn = Impairment::Redrawn { every: ms(50), delay, applies: Applies::Both };
    let outcomes = outcomes(&config(None, vec![redrawn]), Forward, 1, 10_000);
    let arrivals: Vec<Instant> = outcomes
        .iter()
        .map(|outcome| match outcome.verdict {
            Deliver(arrival) => arrival,
            Drop(_) | Verdict::Held { .. } => panic!("nothing is lost here"),
        })
        .collect();
    // One packet per ms, which does not wait: 50 in each interval, 1 ms apart.
    for interval in arrivals.chunks(50) {
        assert!(interval.windows(2).all(|pair| pair[1] == pair[0] + ms(1)));
    }
    // Packets are marked as detoured if and only if they arrive before one that was offered earlier.
    let mut latest = Instant::ZERO;
    for (arrival, outcome) in arrivals.iter().zip(&outcomes) {
        assert_eq!(outcome.detoured, *arrival < latest);
        latest = latest.max(*arrival);
    }
    assert!((0.1..0.9).contains(&share(&outcomes, |outcome| outcome.detoured)));
}

#[test]
fn every_impairment_may_be_temporary() {
    let applies = Applies::Both;
    let delay = Distribution::Constant(ms(5));
    let all = [
        Impairment::Redrawn { every: ms(1), delay: delay.clone(), applies },
        Impairment::Burst { fraction: 1.0, length: delay, applies },
        Impairment::Blackout { times: Times::Every(ms(2)), length: ms(1), applies },
        Impairment::Resend { errors: 1.0, after: ms(5), attempts: Some(1), applies },
    ];
    for impairment in all {
        let impairment = Box::new(impairment);
        let during = Impairment::During { from: at(100), until: at(200), impairment };
        let affected = |time: u64| {
            let verdict = verdicts(&config(None, vec![during.clone()]), [time])[0];
            verdict != Deliver(at(time + 11))
        };
        // Transmission takes 1 ms, so the blackouts affect packets that arrive at odd times.
        assert_eq!([99, 101, 199, 201].map(affected), [false, true, true, false], "{during:?}");
    }
}

#[test]
fn a_red_queue_keeps_its_average_between_its_thresholds() {
    let red = Red { min: 5.0, max: 15.0, bytes: false, weight: Some(0.002), ..Red::default() };
    let config = LinkConfig { red: Some(red), ..config(Some(1000), vec![]) };
    let mut link = link(&config);
    // 5 % more than the link can send, for 100 s.
    let mut waited = Duration::ZERO;
    let mut sent = 0;
    let mut dropped = 0;
    for n in 0..105_000_u64 {
        let outcome = link.offer(1000, Forward, Instant::from_nanos(n * 1_000_000 * 20 / 21));
        match outcome.verdict {
            Drop(_) => dropped += 1,
            _ => {
                waited += outcome.waited;
                sent += 1;
            }
        }
    }
    // The excess, 1 in 21 packets, is dropped. Gaps between drops are uniform on [1, 2] / p, on average
    // 1.5 / p packets, so p is 1.5 / 21 = 7.1 %, which corresponds to an average queue of 12.1. By Little's
    // law, the mean number of waiting packets is the mean wait in milliseconds, since one leaves per ms.
    assert!((4_900..5_100).contains(&dropped), "{dropped} dropped");
    let mean = waited.as_millis_f64() / f64::from(sent);
    assert!((11.0..13.5).contains(&mean), "{mean} wait");
}

#[test]
fn extra_delays_add_up() {
    let delay = Distribution::Constant(ms(5));
    let both = vec![
        Impairment::Delay { fraction: 1.0, delay, applies: Applies::Data },
        Impairment::Alternate { every: 1, extra: ms(100), applies: Applies::Data },
    ];
    assert_eq!(verdicts(&config(None, both), [0]), [Deliver(at(116))]);
}

#[test]
fn an_extra_delay_of_zero_is_not_a_detour() {
    let delay = Distribution::Constant(ms(0));
    let zero = Impairment::Delay { fraction: 1.0, delay, applies: Applies::Both };
    assert!(!link(&config(None, vec![zero])).offer(1000, Forward, at(0)).detoured);
}

#[test]
fn shares_match_their_fractions() {
    let impairments = vec![loss(0.1), late(0.3), duplicate(0.02)];
    let outcomes = outcomes(&config(None, impairments), Forward, 1, 100_000);
    let assert_near = |share: f64, expected: f64| {
        // Four standard deviations of a binomial share.
        let bound = 4.0 * (expected * (1.0 - expected) / 100_000.0).sqrt();
        assert!((share - expected).abs() < bound, "{share} is far from {expected}");
    };
    assert_near(share(&outcomes, |outcome| outcome.verdict == Drop(Loss)), 0.1);
    assert_near(share(&outcomes, |outcome| outcome.detoured), 0.9 * 0.3);
    assert_near(share(&outcomes, |outcome| outcome.duplicate), 0.9 * 0.02);
}

#[test]
fn the_same_seed_yields_the_same_outcomes() {
    let config = config(Some(20), vec![loss(0.1), late(0.3)]);
    let run = |direction, seed| outcomes(&config, direction, seed, 1000);
    let first = run(Forward, 7);
    assert_eq!(first, run(Forward, 7));
    assert_ne!(first, run(Forward, 8));
    assert_ne!(first, run(Reverse, 7));
}

#[test]
fn losses_do_not_change_the_delays() {
    let run = |fraction| {
        let config = config(None, vec![loss(fraction), late(0.3)]);
        outcomes(&config, Forward, 1, 1000)
    };
    let whole = run(0.0);
    let lossy = run(0.2);
    let survivors = |&(_, lossy): &(&Outcome, &Outcome)| lossy.verdict != Drop(Loss);
    let pairs: Vec<_> = whole.iter().zip(&lossy).filter(survivors).collect();
    assert!((700..900).contains(&pairs.len()));
    assert!(pairs.iter().all(|(whole, lossy)| whole == lossy));
}

#[test]
fn an_impairment_of_acknowledgements_does_not_affect_data() {
    let impairment = Impairment::Loss { fraction: 1.0, applies: Applies::Acks };
    let config = config(None, vec![impairment]);
    let lost = |direction| {
        share(&outcomes(&config, direction, 1, 100), |outcome| outcome.verdict == Drop(Loss))
    };
    assert_eq!(lost(Forward), 0.0);
    assert_eq!(lost(Reverse), 1.0);
}

#[test]
fn an_error_names_the_place_of_the_value() {
    let error =
        |config: LinkConfig| Link::new(&config, Forward, 1).expect_err("out of range").to_string();
    let delay = Distribution::Uniform { low: ms(2), high: ms(1) };
    let backwards = Impairment::Delay { fraction: 0.5, delay, applies: Applies::Acks };
    assert_eq!(error(config(Some(0), vec![])), "queue must be at least 1 packet, not 0");
    assert_eq!(
        error(config(None, vec![loss(1.5)])),
        "impairments[0].fraction must be between 0 and 1, not 1.5"
    );
    assert_eq!(
        error(config(None, vec![duplicate(f64::NAN)])),
        "impairments[0].fraction must be between 0 and 1, not NaN"
    );
    assert_eq!(
        error(config(None, vec![loss(0.5), alternate(0)])),
        "impairments[1].every must be at least 1, not 0"
    );
    assert_eq!(
        error(config(None, vec![backwards])),
        "impairments[0].delay.low must be at most high, not 2 ms"
    );
}

proptest! {
    #[test]
    fn packets_without_a_detour_stay_in_order(
        seed: u64,
        queue in proptest::option::of(1_u32..20),
        mbps in proptest::option::of(1_u32..100),
        packets in proptest::collection::vec((0_u64..3_000_000, 40_u32..9000), 1..300),
    ) {
        let rate = mbps.and_then(|mbps| Rate::from_bps(f64::from(mbps) * 1e6));
        let impairments = vec![late(0.3), loss(0.1), alternate(7)];
        let config = LinkConfig { rate, ..config(queue, impairments) };
        let mut link = Link::new(&config, Forward, seed).expect("a valid link");
        let mut now = Instant::ZERO;
        let mut latest = Instant::ZERO;
        for (gap, bytes) in packets {
            now += Duration::from_nanos(gap);
            let outcome = link.offer(bytes, Forward, now);
            prop_assert!(queue.is_none_or(|limit| link.occupancy(now) <= limit as usize));
            let Deliver(arrival) = outcome.verdict else { continue };
            prop_assert!(arrival >= now + config.delay);
            if !outcome.detoured {
                prop_assert!(arrival >= latest);
                latest = arrival;
            }
        }
    }
}
