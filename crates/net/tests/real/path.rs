//! Real packets cross the emulated path as its links specify.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use unruffled_net::{Counts, DirectedLink, Paths, Report, SeededLink, SourceRoutes};
use unruffled_path::{
    Advance, Applies, Change, Changes, Chosen, Direction, Distribution, Exit, ExitConfig,
    Fragments, Impairment, Leaving, Link, LinkConfig, ReplayWindow, Trace, Varying, Verdict,
    WorkerChoice, Workers,
};
use unruffled_units::Rate;

use crate::common::{Arrival, at, hop, pair, pair_of, send};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns the numbers of the packets in the order of their arrival.
fn numbers(arrivals: &[Arrival]) -> Vec<u32> {
    arrivals.iter().map(|arrival| arrival.number).collect()
}

/// Prints the lateness. It is not checked, since machines that run tests are busy.
fn print_lateness(report: &Report) {
    let lateness = report.lateness();
    let [p50, p99] = [0.5, 0.99].map(|share| lateness.quantile(share));
    eprintln!("lateness of {} packets: p50 {p50}, p99 {p99}", lateness.packets());
}

#[test]
fn packets_take_the_propagation_delay_and_never_less() {
    let Some(pair) = pair() else { return };
    let emulator =
        pair.emulate(&[hop(None, 15, vec![]), hop(None, 5, vec![])], None).expect("starts");
    let arrivals = send(&pair, 100, ms(3));
    let mut took: Vec<Duration> = arrivals.iter().map(|arrival| arrival.took).collect();
    took.sort();
    assert_eq!(took.len(), 100);
    assert!(took[0] >= ms(20), "{:?}", took[0]);
    assert!(took[50] < ms(25), "{:?}", took[50]);
    let report = emulator.stop();
    print_lateness(&report);
    assert_eq!(report.forward.counts.delivered, 100);
    assert_eq!(report.reverse.counts.offered, 0, "nothing but what applications send is carried");
}

#[test]
fn a_burst_comes_out_at_the_rate_of_the_link() {
    let Some(pair) = pair() else { return };
    let emulator = pair.emulate(&[hop(Some(1.0), 10, vec![])], None).expect("starts");
    let arrivals = send(&pair, 400, ms(0));
    assert_eq!(numbers(&arrivals), (0..400).collect::<Vec<_>>());
    // Each packet occupies the link for 1 ms, from when it is sent or its predecessor has left.
    let mut departs = arrivals[0].at - arrivals[0].took;
    let mut late: Vec<Duration> = arrivals
        .iter()
        .map(|arrival| {
            departs = departs.max(arrival.at - arrival.took) + ms(1);
            arrival.at.checked_duration_since(departs + ms(10)).expect("none is early")
        })
        .collect();
    late.sort();
    assert!(late[200] < ms(20), "{:?}", late[200]);
    print_lateness(&emulator.stop());
}

#[test]
fn a_full_queue_drops_its_tail() {
    let Some(pair) = pair() else { return };
    let slow = hop(Some(20.0), 1, vec![]);
    let slow = SeededLink { link: LinkConfig { queue: Some(10), ..slow.link }, ..slow };
    let emulator = pair.emulate(&[slow], None).expect("starts");
    let arrivals = send(&pair, 40, ms(0));
    // The queue holds ten. On a busy machine the burst may last until one or two of them have left.
    assert!((10..=13).contains(&arrivals.len()), "{}", arrivals.len());
    assert_eq!(numbers(&arrivals)[..10], (0..10).collect::<Vec<_>>());
    let counts = emulator.stop().forward.counts;
    assert_eq!(counts.dropped, 40 - arrivals.len() as u64);
}

#[test]
fn the_emulator_delays_the_packets_that_the_simulated_link_delays() {
    const PACKETS: u32 = 2000;
    let Some(pair) = pair() else { return };
    let delay = Distribution::Constant(unruffled_units::Duration::from_millis(300));
    let late = Impairment::Delay { fraction: 0.2, delay, applies: Applies::Data };
    let hop = hop(None, 1, vec![late]);
    let emulator = pair.emulate(std::slice::from_ref(&hop), None).expect("starts");
    let arrivals = send(&pair, PACKETS, Duration::from_micros(500));
    let mut late: Vec<u32> =
        arrivals.iter().filter(|a| a.took >= ms(301)).map(|arrival| arrival.number).collect();
    late.sort_unstable();

    let mut link = Link::new(&hop.link, Direction::Forward, hop.seed).expect("makes sense");
    let expected: Vec<u32> = (0..PACKETS)
        .filter(|&n| {
            let now = unruffled_units::Instant::from_millis(n.into());
            link.offer(1000, Direction::Forward, now).detoured
        })
        .collect();
    assert_eq!(late, expected);
    // Four standard deviations of a binomial share.
    let share = late.len() as f64 / f64::from(PACKETS);
    assert!((share - 0.2).abs() < 4.0 * (0.2 * 0.8 / f64::from(PACKETS)).sqrt(), "{share}");
    let report = emulator.stop();
    print_lateness(&report);
    assert_eq!(report.forward.counts.delayed, late.len() as u64);
}

/// Sends 100 packets at once over a link that sends nothing for 400 ms, then 1500 octets in every 10 ms, and
/// nothing for 300 ms in the middle.
#[test]
fn packets_leave_the_emulator_at_the_instants_of_a_trace() {
    const PACKETS: u32 = 100;
    let Some(pair) = pair() else { return };
    let instants = (40..70_u64).chain(100..200).map(|n| 10 * n);
    let trace = Trace::new(instants.collect()).expect("is in order");
    let link = LinkConfig { varying: Some(Varying::Trace(trace)), ..LinkConfig::default() };
    let hop = SeededLink { link, resequence: None, seed: 1 };
    let emulator = pair.emulate(std::slice::from_ref(&hop), None).expect("starts");
    let arrivals = send(&pair, PACKETS, ms(0));
    assert_eq!(numbers(&arrivals), (0..PACKETS).collect::<Vec<_>>());

    let mut link = Link::new(&hop.link, Direction::Forward, hop.seed).expect("makes sense");
    let expected = (0..PACKETS).map(|_| {
        let outcome = link.offer(1000, Direction::Forward, unruffled_units::Instant::ZERO);
        Duration::from_nanos(outcome.departed.as_nanos()) - ms(400)
    });
    let late = arrivals.iter().zip(expected);
    let late = late.map(|(one, expected)| (one.at - arrivals[0].at).abs_diff(expected));
    let mut late: Vec<Duration> = late.collect();
    late.sort();
    // Two per cent of the 950 ms that the packets take.
    assert!(late[late.len() / 2] < ms(19), "{late:?}");
    print_lateness(&emulator.stop());
}

/// The link decides which packets are late. Real arrival times vary by microseconds, so that a few packets
/// may arrive on the other side of the window's edge.
#[test]
fn the_emulator_drops_the_packets_that_the_simulated_replay_window_drops() {
    const PACKETS: u32 = 3000;
    const GAP_US: u32 = 500;
    let Some(pair) = pair() else { return };
    let delay = Distribution::Exponential { mean: unruffled_units::Duration::from_millis(15) };
    let late = Impairment::Delay { fraction: 0.3, delay, applies: Applies::Data };
    let mut hop = hop(None, 1, vec![late]);
    hop.link.exit = ExitConfig { replay: Some(ReplayWindow::new(32)), ..ExitConfig::default() };
    let emulator = pair.emulate(std::slice::from_ref(&hop), None).expect("starts");
    let gap = Duration::from_micros(GAP_US.into());
    let arrived = send(&pair, PACKETS, gap).len() as u64;
    let report = emulator.stop();
    print_lateness(&report);
    let counts = report.forward.counts;
    assert_eq!((counts.delivered, counts.offered), (arrived, u64::from(PACKETS)));
    assert_eq!(counts.delivered + counts.replay_drops, counts.offered);

    let mut link = Link::new(&hop.link, Direction::Forward, hop.seed).expect("makes sense");
    let mut arrivals: Vec<_> = (0..PACKETS)
        .map(|n| {
            let now = unruffled_units::Instant::from_nanos(u64::from(GAP_US * n) * 1000);
            match link.offer(1000, Direction::Forward, now).verdict {
                Verdict::Deliver(arrival) => (arrival, link.offered()),
                other => panic!("{other:?}"),
            }
        })
        .collect();
    arrivals.sort();
    let mut exit = Exit::new(&hop.link, Direction::Forward).expect("has a window");
    for (at, number) in arrivals {
        exit.handle(
            unruffled_path::Arrival { number, late_by: 0, piece: None, tunnel_number: None },
            (),
            at,
        );
    }
    let leaving = std::iter::from_fn(|| exit.poll());
    let expected = leaving.filter(|l| matches!(l, Leaving::Dropped(..))).count() as u64;
    assert!(expected > 200, "{expected}");
    let off = counts.replay_drops.abs_diff(expected) as f64 / expected as f64;
    assert!(off < 0.02, "{} dropped, {expected} expected", counts.replay_drops);
}

/// The order of real packets is that of the virtual ones, except where the machine delivers a packet so late
/// that its wait ends first.
#[test]
fn the_emulator_lets_as_many_packets_overtake_as_the_simulated_link() {
    const PACKETS: u32 = 2000;
    let at_most = unruffled_units::Duration::from_millis(200);
    let (applies, packets) = (Applies::Data, (5, 30));
    let behind = Impairment::Behind { fraction: 0.1, packets, at_most, applies };
    let by = Advance::Packets { count: 40, at_most };
    let early = Impairment::Early { chosen: Chosen::Every(20), by, applies };
    for impairment in [behind, early] {
        let Some(pair) = pair() else { return };
        let hop = hop(None, 1, vec![impairment]);
        let emulator = pair.emulate(std::slice::from_ref(&hop), None).expect("starts");
        let arrivals = send(&pair, PACKETS, Duration::from_micros(500));
        let report = emulator.stop();
        print_lateness(&report);

        let mut link = Link::new(&hop.link, Direction::Forward, hop.seed).expect("makes sense");
        let mut exit = Exit::new(&hop.link, Direction::Forward).expect("packets wait");
        let mut expected = Vec::new();
        for n in 0..PACKETS {
            let now = unruffled_units::Instant::from_nanos(u64::from(n) * 500_000);
            let late_by = link.offer(1000, Direction::Forward, now).late_by;
            let number = link.offered();
            exit.handle(
                unruffled_path::Arrival { number, late_by, piece: None, tunnel_number: None },
                n,
                now,
            );
            expected.extend(std::iter::from_fn(|| exit.poll()));
        }
        exit.handle_timeout(unruffled_units::Instant::MAX);
        expected.extend(std::iter::from_fn(|| exit.poll()));
        let expected: Vec<u32> = expected
            .into_iter()
            .map(|leaving| match leaving {
                Leaving::Passes(n) => n,
                Leaving::Dropped(n, cause) => panic!("{n}: {cause:?}"),
            })
            .collect();
        assert_eq!(arrivals.len(), PACKETS as usize);
        let same = numbers(&arrivals).iter().zip(&expected).filter(|(a, b)| a == b).count();
        assert!(same as f64 > 0.98 * f64::from(PACKETS), "{same} of {PACKETS}");
    }
}

/// Time from the start of the test at which each of the packets was sent. A packet that did not arrive was sent
/// right after the one before it.
fn sent_at(arrivals: &[Arrival], packets: u32) -> Vec<unruffled_units::Instant> {
    let first = arrivals.iter().map(|a| a.at - a.took).min().expect("packets arrive");
    let mut sent = vec![None; packets as usize];
    for arrival in arrivals {
        let since = (arrival.at - arrival.took).duration_since(first).as_nanos() as u64;
        sent[arrival.number as usize] = Some(unruffled_units::Instant::from_nanos(since));
    }
    let mut last = unruffled_units::Instant::ZERO;
    let known = |at: Option<unruffled_units::Instant>| {
        last = at.map_or(last, |at| at.max(last));
        last
    };
    sent.into_iter().map(known).collect()
}

/// Returns the numbers of packets that a simulated link delivers, in the order of their arrival, and of those
/// that the far end drops.
fn simulated(hop: &SeededLink, sent: &[unruffled_units::Instant]) -> (Vec<u32>, Vec<u32>) {
    let mut link = Link::new(&hop.link, Direction::Forward, hop.seed).expect("makes sense");
    let mut exit = Exit::new(&hop.link, Direction::Forward);
    let mut arrivals = Vec::new();
    for (&now, n) in sent.iter().zip(0..) {
        let outcome = link.offer(1000, Direction::Forward, now);
        if let Some(exit) = &mut exit {
            exit.expect(&link, &outcome, now);
        }
        if let Verdict::Deliver(arrival) = outcome.verdict {
            arrivals.push((arrival, n));
        }
    }
    arrivals.sort();
    let mut dropped = Vec::new();
    let mut passes = |&(now, n): &(unruffled_units::Instant, u32)| {
        let Some(exit) = &mut exit else { return true };
        let number = u64::from(n) + 1;
        let arrival =
            unruffled_path::Arrival { number, late_by: 0, piece: None, tunnel_number: None };
        exit.handle(arrival, (), now);
        let passes = matches!(exit.poll(), Some(Leaving::Passes(())));
        if !passes {
            dropped.push(n);
        }
        passes
    };
    let passed = arrivals.iter().filter(|arrival| passes(arrival)).map(|(_, n)| *n).collect();
    (passed, dropped)
}

/// Packets that crossed a link in the emulator, and what the simulated link does with packets that are sent at
/// the same times.
struct Compared {
    arrivals: Vec<Arrival>,
    counts: Counts,
    /// Numbers of the packets that the simulated link delivers, in order.
    expected: Vec<u32>,
    /// Numbers of the packets that its far end drops.
    dropped: Vec<u32>,
}

/// Sends packets over a link in the emulator and in the simulator.
fn compared(hop: &SeededLink, packets: u32) -> Option<Compared> {
    let pair = pair()?;
    let emulator = pair.emulate(std::slice::from_ref(hop), None).expect("starts");
    let arrivals = send(&pair, packets, Duration::from_micros(500));
    let report = emulator.stop();
    print_lateness(&report);
    let (expected, dropped) = simulated(hop, &sent_at(&arrivals, packets));
    Some(Compared { arrivals, counts: report.forward.counts, expected, dropped })
}

/// Asserts that at least 98 % of the packets arrive in the same places.
fn assert_same_order(found: &[u32], expected: &[u32]) {
    let same = found.iter().zip(expected).filter(|(a, b)| a == b).count();
    let all = expected.len();
    assert!(same as f64 > 0.98 * all as f64, "{same} of {all}");
    let in_order = found.iter().zip(0..).filter(|(a, b)| **a == *b).count();
    assert!(in_order < all / 2, "{in_order} of {all} arrive in their own places");
}

/// Batches of eight packets go to workers that take 0.1, 21.35 and 8.6 ms.
#[test]
fn the_emulator_hands_packets_to_workers_as_the_simulated_link() {
    let us = unruffled_units::Duration::from_micros;
    let workers = Workers {
        delays: vec![us(100), us(21_350), us(8600)],
        batch: 8,
        coalesce: unruffled_units::Duration::ZERO,
        jitter: None,
        by: WorkerChoice::Packet,
        gro: false,
    };
    let hop = hop(None, 1, vec![Impairment::Workers { workers, applies: Applies::Data }]);
    let Some(Compared { arrivals, counts, expected, .. }) = compared(&hop, 2000) else { return };
    assert_eq!((counts.delivered, arrivals.len(), expected.len()), (2000, 2000, 2000));
    assert_same_order(&numbers(&arrivals), &expected);
}

/// The delay falls from 60.25 to 10 ms and rises again every 200 ms, so that packets overtake others.
#[test]
fn the_emulator_changes_rate_and_delay_as_the_simulated_link() {
    let row = |at, mbps, delay_us| Change {
        at: unruffled_units::Duration::from_millis(at),
        rate: Rate::from_bps(mbps),
        delay: unruffled_units::Duration::from_micros(delay_us),
    };
    let rows = vec![row(0, 40e6, 60_250), row(100, 80e6, 10_000)];
    let every = unruffled_units::Duration::from_millis(200);
    let table = Changes::new(rows, Some(every)).expect("is valid");
    let link = LinkConfig { varying: Some(Varying::Table(table)), ..LinkConfig::default() };
    let hop = SeededLink { link, resequence: None, seed: 1 };
    let Some(Compared { arrivals, counts, expected, .. }) = compared(&hop, 2000) else { return };
    assert_eq!((counts.delivered, arrivals.len(), expected.len()), (2000, 2000, 2000));
    let overtaken = |order: &[u32]| {
        let mut newest = 0;
        let is_late = |n: &&u32| {
            newest = newest.max(**n);
            **n < newest
        };
        order.iter().filter(is_late).count()
    };
    let (found, wanted) = (overtaken(&numbers(&arrivals)), overtaken(&expected));
    assert!(wanted > 300, "{wanted}");
    let off = found.abs_diff(wanted) as f64 / wanted as f64;
    assert!(off < 0.02, "{found} overtaken, {wanted} expected");
}

#[test]
fn the_emulator_loses_and_reorders_the_packets_that_netem_does() {
    let netem = "delay 30250us reorder 25% 50% loss 5%".parse().expect("netem's options");
    let hop = hop(None, 1, vec![Impairment::Netem { netem, applies: Applies::Data }]);
    let Some(Compared { arrivals, counts, expected, .. }) = compared(&hop, 2000) else { return };
    let mut found = numbers(&arrivals);
    assert!(counts.lost > 50, "{}", counts.lost);
    assert_eq!(counts.lost + counts.delivered, 2000);
    assert_same_order(&found, &expected);
    found.sort_unstable();
    let mut expected = expected;
    expected.sort_unstable();
    assert_eq!(found, expected, "the same packets are lost");
}

/// Packets of 1000 octets are fragments of 596 and 424. Exp(30 ms) are 120 fragments on average.
#[test]
fn the_emulator_loses_the_packets_whose_simulated_fragments_are_far_apart() {
    let delay = Distribution::Exponential { mean: unruffled_units::Duration::from_millis(30) };
    let late = Impairment::Delay { fraction: 0.3, delay, applies: Applies::Data };
    let mut hop = hop(None, 1, vec![late]);
    hop.link.fragments = Some(Fragments::new(600));
    let Some(Compared { arrivals, counts, dropped, .. }) = compared(&hop, 3000) else { return };
    assert_eq!(counts.delivered, arrivals.len() as u64);
    assert_eq!(counts.delivered + counts.fragment_drops, counts.offered);
    let expected = dropped.len() as u64;
    assert!(expected > 300, "{expected}");
    let off = counts.fragment_drops.abs_diff(expected) as f64 / expected as f64;
    assert!(off < 0.02, "{} dropped, {expected} expected", counts.fragment_drops);
}

#[test]
fn packets_overtake_those_on_a_longer_path() {
    let Some(pair) = pair() else { return };
    let extra = unruffled_units::Duration::from_millis(150);
    let alternate = Impairment::Alternate { every: 2, extra, applies: Applies::Data };
    let emulator = pair.emulate(&[hop(None, 1, vec![alternate])], None).expect("starts");
    let arrivals = send(&pair, 10, ms(1));
    assert_eq!(numbers(&arrivals), [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]);
    drop(emulator);
}

#[test]
fn a_transfer_survives_loss_and_doubling_over_both_ip_versions() {
    const OCTETS: usize = 1_000_000;
    let Some(pair) = pair() else { return };
    let impairments = vec![
        Impairment::Loss { fraction: 0.02, applies: Applies::Data },
        Impairment::Duplicate { fraction: 0.02, applies: Applies::Both },
    ];
    let emulator = pair.emulate(&[hop(None, 2, impairments)], None).expect("starts");
    for address in pair.right.addresses() {
        let listener = at(&pair.right, || TcpListener::bind((address, 80)).expect("a port"));
        let sent: Vec<u8> = (0..OCTETS).map(|n| (n % 251) as u8).collect();
        let received = std::thread::scope(|scope| {
            scope.spawn(|| {
                let connect = || TcpStream::connect((address, 80)).expect("connects");
                at(&pair.left, connect).write_all(&sent).expect("is sent");
            });
            let mut received = Vec::new();
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.read_to_end(&mut received).expect("is received");
            received
        });
        assert!(received == sent, "{} octets came over {address}", received.len());
    }
    let counts = emulator.stop().forward.counts;
    assert!(counts.lost > 0 && counts.duplicated > 0, "{counts:?}");
}

/// Data take links 0 and 1, acknowledgements 2, 1 and 3. One thread carries both.
#[test]
fn a_transfer_survives_a_link_that_data_and_acknowledgements_share() {
    const OCTETS: usize = 300_000;
    let Some(pair) = pair() else { return };
    let links = [1, 2, 3, 4].map(|delay| {
        let link = hop(Some(0.5), delay, vec![]);
        DirectedLink { link, direction: Direction::Forward }
    });
    let source =
        SourceRoutes { port: 0, forward: vec![0, 1].into(), reverse: vec![2, 1, 3].into() };
    let paths = Paths { links: links.to_vec(), sources: vec![source], tunnels: Vec::new() };
    let emulator = pair.emulate(paths, None).expect("starts");
    let listener = at(&pair.right, || TcpListener::bind((pair.right.v4, 80)).expect("a port"));
    let received = std::thread::scope(|scope| {
        scope.spawn(|| {
            let connect = || TcpStream::connect((pair.right.v4, 80)).expect("connects");
            at(&pair.left, connect).write_all(&vec![7; OCTETS]).expect("is sent");
        });
        let mut received = Vec::new();
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.read_to_end(&mut received).expect("is received");
        received
    });
    assert!(received.len() == OCTETS && received.iter().all(|octet| *octet == 7));
    let report = emulator.stop();
    let [data, acks] = [&report.forward, &report.reverse].map(|lane| lane.counts.delivered);
    assert!(data > 200 && acks > 50, "{data} and {acks}");
    assert_eq!(report.forward.taken, [[report.forward.counts.offered]]);
}

#[test]
fn a_path_too_narrow_for_ipv6_carries_ipv4() {
    for (mtu, addresses) in [(1000, 1), (1279, 1), (1280, 2)] {
        let Some(pair) = pair_of(mtu) else { return };
        // A kernel without IPv6 has one address at any MTU.
        assert!(pair.right.addresses().count() <= addresses, "{mtu}");
        let emulator = pair.emulate(&[hop(None, 1, vec![])], None).expect("starts");
        assert_eq!(send(&pair, 5, ms(1)).len(), 5, "{mtu}");
        let report = emulator.stop();
        assert_eq!(report.forward.counts.offered, 5, "{mtu}: nothing else is carried");
        assert_eq!(report.reverse.counts.offered, 0, "{mtu}");
    }
}

#[test]
fn each_end_has_its_own_sysctls() {
    const KEY: &str = "net.ipv4.tcp_congestion_control";
    let Some(pair) = pair() else { return };
    let read = |side| {
        let path = format!("/proc/sys/{}", KEY.replace('.', "/"));
        at(side, || std::fs::read_to_string(path).expect("a sysctl")).trim().to_owned()
    };
    pair.right.namespace.sysctl(KEY, "reno").expect("reno is always there");
    assert_eq!(read(&pair.right), "reno");
    pair.right.namespace.sysctl(KEY, "nonsense").expect_err("no such algorithm");
    pair.left.namespace.sysctl("net.ipv4.tcp_syn_retries", "3").expect("a sysctl");
}
