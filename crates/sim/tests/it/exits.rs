//! Far ends of links that drop packets.

use std::collections::HashSet;

use proptest::prelude::*;
use unruffled_measure::LinkId;
use unruffled_path::{
    Advance, Applies, Chosen, Direction, Distribution, DropCause, ExitConfig, Impairment, Link,
    LinkConfig, ReplayWindow, Verdict,
};
use unruffled_sim::{App, FlowId, Monitor, Passage, Route, Simulation, SourceConfig};
use unruffled_tcp::{Config, Segment, Variant};
use unruffled_units::{Duration, Instant, Rate};

/// Times of arrival at the receiver, and drops by their cause.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    arrivals: Vec<Instant>,
    /// Times and causes of the flow's drops.
    dropped: Vec<(Instant, DropCause)>,
    /// Times and causes of drops at the far ends of links.
    rejected: Vec<(LinkId, Instant, DropCause)>,
    /// Whether crossings of links are watched. If not, packets run over plain links faster.
    watched: bool,
}

impl Monitor for Seen {
    fn watches(&self, _link: LinkId) -> bool {
        self.watched
    }

    fn datagram(&mut self, _: FlowId, passage: Passage, now: Instant, _: u32) {
        if passage == Passage::In {
            self.arrivals.push(now);
        }
    }

    fn rejected(&mut self, link: LinkId, now: Instant, cause: DropCause) {
        self.rejected.push((link, now, cause));
    }

    fn dropped(&mut self, _: FlowId, now: Instant, cause: DropCause, _: &Segment) {
        self.dropped.push((now, cause));
    }
}

fn source(app: App, forward: Vec<LinkId>, reverse: Vec<LinkId>) -> SourceConfig {
    SourceConfig {
        variant: Variant::named("rack+cubic").expect("a sender"),
        sender: Config::simulated(),
        receiver: Config::simulated(),
        header: 0,
        sack_block: 0,
        start: Instant::ZERO,
        stop: None,
        app,
        seed: 1,
        forward: Route::from(forward),
        reverse: Route::from(reverse),
    }
}

/// Runs a source over a link in each direction until `end`. What happens is the same whether links are
/// watched or not.
fn run(link: &LinkConfig, app: App, seed: u64, end: Instant) -> (Simulation, Seen) {
    let (_, unwatched) = run_once(link, app.clone(), seed, end, false);
    let (simulation, seen) = run_once(link, app, seed, end, true);
    assert_eq!(Seen { watched: true, ..unwatched }, seen);
    (simulation, seen)
}

fn run_once(
    link: &LinkConfig,
    app: App,
    seed: u64,
    end: Instant,
    watched: bool,
) -> (Simulation, Seen) {
    let mut simulation = Simulation::new();
    let there = simulation.add_link(link, Direction::Forward, seed).expect("a link");
    let back = simulation.add_link(link, Direction::Reverse, seed).expect("a link");
    simulation.add_source(source(app, vec![there], vec![back])).expect("a source");
    let mut seen = Seen { watched, ..Seen::default() };
    simulation.run(end, &mut seen);
    (simulation, seen)
}

fn exponential(mean_us: u64, fraction: f64) -> Impairment {
    let delay = Distribution::Exponential { mean: Duration::from_micros(mean_us) };
    Impairment::Delay { fraction, delay, applies: Applies::Data }
}

proptest! {
    /// Datagrams cross a link whose packets are late at random. The naive model sorts the link's own
    /// verdicts by time and keeps a set of all numbers.
    #[test]
    fn a_replay_window_drops_what_a_naive_model_drops(
        length in 1_u32..40,
        queue in prop::option::of(1_u32..20),
        mean_us in 100_u64..20_000,
        fraction in 0.05_f64..1.0,
        lost in 0.0_f64..0.2,
        doubled in 0.0_f64..0.2,
        seed in any::<u64>(),
    ) {
        const INTERVAL: Duration = Duration::from_micros(700);
        const SIZE: u32 = 1000;
        const END: Instant = Instant::from_millis(1000);
        let config = LinkConfig {
            rate: Rate::from_bps(10e6),
            delay: Duration::from_millis(5),
            queue,
            impairments: vec![
                exponential(mean_us, fraction),
                Impairment::Loss { fraction: lost, applies: Applies::Both },
                Impairment::Duplicate { fraction: doubled, applies: Applies::Both },
            ],
            exit: ExitConfig { replay: Some(ReplayWindow::new(length)), ..ExitConfig::default() },
            ..LinkConfig::default()
        };
        let (_, seen) = run(&config, App::Datagrams { size: SIZE, interval: INTERVAL }, seed, END);

        let mut link = Link::carrying(&config, Direction::Forward, Applies::Data, seed).unwrap();
        let mut arrivals: Vec<(Instant, u64)> = Vec::new();
        let mut now = Instant::ZERO;
        for number in 1.. {
            if now > END {
                break;
            }
            let outcome = link.offer(SIZE, Direction::Forward, now);
            if let Verdict::Deliver(arrival) = outcome.verdict {
                arrivals.extend(vec![(arrival, number); 1 + usize::from(outcome.duplicate)]);
            }
            now += INTERVAL;
        }
        arrivals.retain(|(arrival, _)| *arrival <= END);
        arrivals.sort_by_key(|(arrival, _)| *arrival);
        let mut accepted = HashSet::new();
        let mut newest = 0;
        let (passed, dropped): (Vec<_>, Vec<_>) = arrivals.iter().partition(|(_, number)| {
            let passes = number + u64::from(length) > newest && accepted.insert(*number);
            newest = if passes { newest.max(*number) } else { newest };
            passes
        });
        let times = |list: Vec<(Instant, u64)>| list.iter().map(|(at, _)| *at).collect::<Vec<_>>();
        prop_assert_eq!(&seen.arrivals, &times(passed));
        let rejected: Vec<Instant> = seen.rejected.iter().map(|(_, at, _)| *at).collect();
        prop_assert_eq!(&rejected, &times(dropped));
        let by_window = |&(link, _, cause)| (link, cause) == (LinkId(0), DropCause::Replay);
        prop_assert!(seen.rejected.iter().all(by_window));
        let replays = seen.dropped.iter().filter(|(_, cause)| *cause == DropCause::Replay);
        prop_assert_eq!(replays.count(), rejected.len());
    }

    /// A transfer over a link whose far end drops packets delivers everything.
    #[test]
    fn a_transfer_survives_windows_and_limits_on_ranges(
        replay in prop::option::of(prop::sample::select(&ReplayWindow::PRESETS[..])),
        ranges in prop::option::of(0_u32..5),
        mean_us in 100_u64..20_000,
        fraction in 0.0_f64..0.3,
        seed in any::<u64>(),
    ) {
        const BYTES: u64 = 200_000;
        let config = LinkConfig {
            rate: Rate::from_bps(10e6),
            delay: Duration::from_millis(5),
            impairments: vec![exponential(mean_us, fraction)],
            exit: ExitConfig { replay: replay.map(|(_, window)| window), ranges },
            ..LinkConfig::default()
        };
        let end = Instant::from_millis(1_000_000_000);
        let (simulation, seen) = run(&config, App::Bulk { bytes: Some(BYTES) }, seed, end);
        let receiver = simulation.connection(FlowId(0), unruffled_sim::End::Receiver);
        // The FIN counts as one octet.
        prop_assert_eq!(receiver.expect("is kept").received(), BYTES + 1);
        prop_assert_eq!(seen.rejected.len(), seen.dropped.len());
    }
}

/// Every second packet takes 3 ms more, which is 2 packets. Both directions have a window of their own, and
/// `packets = "data"` leaves acknowledgements in order.
#[test]
fn a_window_in_both_directions_counts_by_link() {
    let alternate =
        |applies| Impairment::Alternate { every: 2, extra: Duration::from_millis(3), applies };
    for (applies, expected) in [
        (Applies::Data, &[LinkId(0)][..]),
        (Applies::Acks, &[LinkId(1)]),
        (Applies::Both, &[LinkId(0), LinkId(1)]),
    ] {
        let config = LinkConfig {
            rate: Rate::from_bps(8e6),
            delay: Duration::from_millis(1),
            impairments: vec![alternate(applies)],
            exit: ExitConfig { replay: Some(ReplayWindow::new(1)), ..ExitConfig::default() },
            ..LinkConfig::default()
        };
        let end = Instant::from_millis(60_000);
        let (_, seen) = run(&config, App::Bulk { bytes: Some(1_000_000) }, 1, end);
        let links: HashSet<u32> = seen.rejected.iter().map(|(link, ..)| link.0).collect();
        assert_eq!(links, expected.iter().map(|link| link.0).collect(), "{applies:?}");
    }
}

/// A datagram each millisecond. Every second one is 2.5 ms late, so that one overtakes it.
#[test]
fn a_packet_one_behind_passes_a_window_of_two_and_not_of_one() {
    let arrivals = |length| {
        let config = LinkConfig {
            delay: Duration::from_millis(1),
            impairments: vec![Impairment::Alternate {
                every: 2,
                extra: Duration::from_micros(2_500),
                applies: Applies::Data,
            }],
            exit: ExitConfig { replay: Some(ReplayWindow::new(length)), ..ExitConfig::default() },
            ..LinkConfig::default()
        };
        let app = App::Datagrams { size: 1000, interval: Duration::from_millis(1) };
        let (_, seen) = run(&config, app, 1, Instant::from_nanos(13_700_000));
        (seen.arrivals.len(), seen.rejected.len())
    };
    // Packets 1 to 13 are sent from 0 to 12 ms. Packet 2 arrives at 4.5 ms; at that time packet 3, at 3 ms,
    // is the newest, which is 1 ahead. Packet 5 arrives at 5 ms.
    assert_eq!(arrivals(2), (12, 0));
    assert_eq!(arrivals(1), (7, 5));
}

/// Datagrams of 1000 octets, one each millisecond, over a link with a delay of 10 ms. Packet n arrives at the
/// far end at n + 9 ms. Returns the times of arrival in milliseconds.
fn arrivals(impairment: Impairment, end_ms: u64) -> Vec<u64> {
    let config = LinkConfig {
        delay: Duration::from_millis(10),
        impairments: vec![impairment],
        ..LinkConfig::default()
    };
    let app = App::Datagrams { size: 1000, interval: Duration::from_millis(1) };
    let (_, seen) = run(&config, app, 1, Instant::from_millis(end_ms));
    seen.arrivals.iter().map(|at| at.as_nanos() / 1_000_000).collect()
}

#[test]
fn a_packet_that_two_overtake_arrives_together_with_the_second() {
    let third = |packets, at_most| {
        let (fraction, at_most) = (1.0, Duration::from_millis(at_most));
        let packets = (packets, packets);
        let behind = Impairment::Behind { fraction, packets, at_most, applies: Applies::Data };
        let (from, until) = (Instant::from_millis(2), Instant::from_millis(3));
        Impairment::During { from, until, impairment: Box::new(behind) }
    };
    assert_eq!(arrivals(third(2, 100), 15), [10, 11, 13, 14, 14, 15]);
    // Too few overtake it until 15 ms, when its wait ends, after the packet that arrives then.
    assert_eq!(arrivals(third(1000, 3), 16), [10, 11, 13, 14, 15, 15, 16]);
}

/// Which source each datagram that arrives is from, and when.
#[derive(Default)]
struct Sources(Vec<(u64, u32)>);

impl Monitor for Sources {
    fn datagram(&mut self, flow: FlowId, passage: Passage, now: Instant, _: u32) {
        if passage == Passage::In {
            self.0.push((now.as_nanos() / 1_000_000, flow.0));
        }
    }
}

/// Three sources send at 0 and 3 ms. The datagrams of 0 ms wait from 10 to 13 ms, when those of 3 ms arrive.
#[test]
fn a_wait_ends_after_all_packets_that_arrive_at_its_end() {
    let late = Impairment::Behind {
        fraction: 1.0,
        packets: (9, 9),
        at_most: Duration::from_millis(3),
        applies: Applies::Data,
    };
    let (from, until) = (Instant::ZERO, Instant::from_millis(1));
    let config = LinkConfig {
        delay: Duration::from_millis(10),
        impairments: vec![Impairment::During { from, until, impairment: Box::new(late) }],
        ..LinkConfig::default()
    };
    let mut simulation = Simulation::new();
    let there = simulation.add_link(&config, Direction::Forward, 1).expect("a link");
    let back = simulation.add_link(&config, Direction::Reverse, 1).expect("a link");
    for _ in 0..3 {
        let app = App::Datagrams { size: 1000, interval: Duration::from_millis(3) };
        simulation.add_source(source(app, vec![there], vec![back])).expect("a source");
    }
    let mut seen = Sources::default();
    simulation.run(Instant::from_millis(13), &mut seen);
    let sources = [0, 1, 2, 0, 1, 2];
    assert_eq!(seen.0, sources.map(|source| (13, source)));
}

#[test]
fn a_link_on_which_no_packet_waits_delivers_all() {
    let at_most = Duration::from_millis(100);
    let (fraction, packets, applies) = (0.0, (2, 2), Applies::Data);
    let behind = Impairment::Behind { fraction, packets, at_most, applies };
    assert_eq!(arrivals(behind, 14), [10, 11, 12, 13, 14]);
}

#[test]
fn an_early_packet_passes_those_in_line() {
    let by = Advance::Packets { count: 2, at_most: Duration::from_millis(100) };
    let early = Impairment::Early { chosen: Chosen::Every(4), by, applies: Applies::Data };
    // Packets 1 to 3 arrive from 10 to 12 ms, and the first leaves at 12. Packet 4 leaves at once.
    assert_eq!(arrivals(early, 17), [12, 13, 14, 15, 16, 17]);
}

proptest! {
    /// A transfer is delivered over a link on which packets wait for others, however few there are.
    #[test]
    fn a_transfer_survives_waits_for_packets(
        fraction in 0.0_f64..=1.0,
        low in 1_u32..50,
        more in 0_u32..50,
        in_line in any::<bool>(),
        replay in prop::option::of(1_u32..100),
        both in any::<bool>(),
        seed in any::<u64>(),
    ) {
        const BYTES: u64 = 100_000;
        let at_most = Duration::from_millis(50);
        let applies = if both { Applies::Both } else { Applies::Data };
        let impairment = if in_line {
            let by = Advance::Packets { count: low, at_most };
            Impairment::Early { chosen: Chosen::Fraction(fraction), by, applies }
        } else {
            Impairment::Behind { fraction, packets: (low, low + more), at_most, applies }
        };
        let config = LinkConfig {
            rate: Rate::from_bps(10e6),
            delay: Duration::from_millis(5),
            queue: Some(30),
            impairments: vec![impairment],
            exit: ExitConfig { replay: replay.map(ReplayWindow::new), ranges: None },
            ..LinkConfig::default()
        };
        let end = Instant::from_millis(1_000_000_000);
        let (simulation, _) = run(&config, App::Bulk { bytes: Some(BYTES) }, seed, end);
        let receiver = simulation.connection(FlowId(0), unruffled_sim::End::Receiver);
        prop_assert_eq!(receiver.expect("is kept").received(), BYTES + 1);
    }
}
