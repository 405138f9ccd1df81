//! IPv4 fragments on a link and their reassembly, against the steps of Linux's `ip_fragment.c`.

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use unruffled_path::{
    Applies, Arrival, Direction, Distribution, DropCause, Exit, Fragments, Impairment, Leaving,
    Link, LinkConfig, Outcome, Verdict,
};
use unruffled_units::{Duration, Instant, Rate};

const FORWARD: Direction = Direction::Forward;

const fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

/// A link of 8 Mb/s, on which an octet takes 1 us, with an MTU of 1400 octets.
fn link(impairments: Vec<Impairment>) -> LinkConfig {
    LinkConfig {
        rate: Rate::from_bps(8e6),
        fragments: Some(Fragments::new(1400)),
        impairments,
        ..LinkConfig::default()
    }
}

/// Packet that has been offered: its number, its outcome and the arrivals of its fragments.
type Offered = (u64, Outcome, Vec<Instant>);

/// Offers packets of these sizes at these times. Returns them, and the numbers of those that pass and of those
/// that are dropped at the far end.
fn carry(config: &LinkConfig, packets: &[(u32, u64)]) -> (Vec<Offered>, Vec<u64>, Vec<u64>) {
    let mut link = Link::new(config, FORWARD, 3).expect("is valid");
    let mut exit = Exit::new(config, FORWARD).expect("fragments have an exit");
    let mut underway = BTreeSet::new();
    let mut offered = Vec::new();
    let (mut passed, mut dropped) = (Vec::new(), Vec::new());
    let mut arrive =
        |underway: &mut BTreeSet<(Instant, u64)>, exit: &mut Exit<u64>, by: Instant| {
            while let Some(&(now, number)) = underway.first().filter(|(now, _)| *now <= by) {
                underway.pop_first();
                exit.handle(
                    Arrival { number, late_by: 0, piece: None, tunnel_number: None },
                    number,
                    now,
                );
                while let Some(leaving) = exit.poll() {
                    match leaving {
                        Leaving::Passes(number) => passed.push(number),
                        Leaving::Dropped(number, cause) => {
                            assert_eq!(cause, DropCause::Fragments);
                            dropped.push(number);
                        }
                    }
                }
            }
        };
    for &(bytes, us) in packets {
        arrive(&mut underway, &mut exit, at(us));
        let outcome = link.offer(bytes, FORWARD, at(us));
        exit.expect(&link, &outcome, at(us));
        if let Verdict::Deliver(arrival) = outcome.verdict {
            underway.insert((arrival, link.offered()));
        }
        offered.push((link.offered(), outcome, link.fragment_arrivals().to_vec()));
    }
    arrive(&mut underway, &mut exit, Instant::MAX);
    (offered, passed, dropped)
}

/// 1500 octets are fragments of 1396 and 124, which take 1520 us in all.
#[test]
fn fragments_leave_one_after_another_and_the_packet_arrives_with_the_last() {
    let (offered, passed, _) = carry(&link(vec![]), &[(1500, 0), (40, 0), (1400, 0)]);
    let outcomes: Vec<_> = offered.iter().map(|(_, outcome, _)| outcome.verdict).collect();
    assert_eq!(outcomes, [1520, 1560, 2960].map(|us| Verdict::Deliver(at(us))));
    let arrivals: Vec<_> = offered.into_iter().map(|(_, _, arrivals)| arrivals).collect();
    assert_eq!(arrivals, [vec![at(1396), at(1520)], vec![], vec![]]);
    assert_eq!(passed, [1, 2, 3]);
}

#[test]
fn a_packet_is_lost_with_any_of_its_fragments() {
    let loss = Impairment::Periodic { every: 5, applies: Applies::Data };
    let (offered, passed, dropped) = carry(&link(vec![loss]), &[(1500, 0); 6]);
    assert_eq!((passed, dropped), (vec![1, 2, 4, 6], vec![]));
    assert_eq!(offered[2].1.verdict, Verdict::Drop(DropCause::Loss));
    assert_eq!(offered[2].2.len(), 1, "its other fragment arrives");
}

#[test]
fn a_queue_that_drops_a_fragment_drops_the_packet() {
    let config = LinkConfig { queue: Some(3), ..link(vec![]) };
    let (offered, passed, _) = carry(&config, &[(1500, 0), (1500, 0)]);
    assert_eq!(passed, [1]);
    assert_eq!(offered[1].1.verdict, Verdict::Drop(DropCause::Queue));
}

/// Every second fragment, the small one, takes a longer path. Packets take 1520 us each, so that 64 fragments
/// take 48.64 ms.
#[test]
fn fragments_on_two_paths_are_lost_once_more_than_64_lie_between_them() {
    for (extra_ms, passes) in [(45, true), (55, false)] {
        let extra = Duration::from_millis(extra_ms);
        let other = Impairment::Alternate { every: 2, extra, applies: Applies::Data };
        let packets: Vec<_> = (0..500).map(|n| (1500, 1520 * n)).collect();
        let (_, passed, dropped) = carry(&link(vec![other.clone()]), &packets);
        assert_eq!(passed.len() + dropped.len(), 500);
        let share = passed.len() as f64 / 500.0;
        assert!(if passes { share == 1.0 } else { share < 0.2 }, "{extra}: {share}");
        let unlimited = Fragments { max_distance: 0, ..Fragments::new(1400) };
        let config = LinkConfig { fragments: Some(unlimited), ..link(vec![other]) };
        assert_eq!(carry(&config, &packets).1.len(), 500);
    }
}

/// Returns the packets whose fragments Linux reassembles: the steps of `ip_frag_too_far` and `ip_frag_reinit`
/// for one fragment after another.
fn reassembled(offered: &[Offered], max: u64) -> BTreeSet<u64> {
    let mut fragments: Vec<(Instant, usize, u64, usize)> = Vec::new();
    for (number, _, arrivals) in offered {
        let from = fragments.len();
        let count = arrivals.len();
        fragments.extend(arrivals.iter().zip(from..).map(|(&at, n)| (at, n, *number, count)));
    }
    fragments.sort_unstable();
    let mut peer_counter = 0;
    // For each datagram, the counter at its last fragment, and the number of fragments in the queue.
    let mut queues: HashMap<u64, (u64, usize)> = HashMap::new();
    let mut complete = BTreeSet::new();
    for (_, _, number, _) in fragments {
        peer_counter += 1;
        let (last, held) = queues.entry(number).or_insert((0, 0));
        if *held > 0 && peer_counter - *last > max {
            *held = 0;
        }
        *last = peer_counter;
        *held += 1;
        if *held == 2 {
            complete.insert(number);
        }
    }
    complete
}

proptest! {
    /// Packets of 1500 octets have two fragments.
    #[test]
    fn reassembly_is_that_of_linux(
        gaps in prop::collection::vec(0_u64..2500, 1..400),
        max_distance in 1_u32..40,
        mean in 1_u64..40,
        fraction in 0.0..0.5,
        loss in 0.0..0.1,
    ) {
        let delay = Distribution::Exponential { mean: Duration::from_millis(mean) };
        let applies = Applies::Data;
        let late = Impairment::Delay { fraction, delay, applies };
        let loss = Impairment::Loss { fraction: loss, applies };
        let fragments = Fragments { max_distance, ..Fragments::new(1400) };
        let config = LinkConfig { fragments: Some(fragments), ..link(vec![late, loss]) };
        let packets: Vec<_> =
            gaps.iter().scan(0, |us, gap| { *us += gap; Some((1500, *us)) }).collect();
        let (offered, passed, _) = carry(&config, &packets);
        let passed: BTreeSet<u64> = passed.into_iter().collect();
        prop_assert_eq!(passed, reassembled(&offered, u64::from(max_distance)));
    }
}
