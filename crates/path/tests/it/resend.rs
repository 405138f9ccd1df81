//! Tests of a link that repairs its own errors, of 8 Mbit/s, which sends 1000 octets in 1 ms, with a
//! delay of 10 ms.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use unruffled_path::Direction::Forward;
use unruffled_path::{Applies, DropCause, Impairment, Link, LinkConfig, Outcome, Verdict};
use unruffled_units::{Duration, Instant, Rate};

const DELAY: Duration = Duration::from_millis(10);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn link(impairments: Vec<Impairment>, seed: u64) -> Link {
    let config = LinkConfig {
        rate: Rate::from_bps(8e6),
        delay: DELAY,
        impairments,
        ..LinkConfig::default()
    };
    Link::new(&config, Forward, seed).expect("a valid link")
}

fn resend(errors: f64, after: Duration, attempts: Option<u32>) -> Impairment {
    Impairment::Resend { errors, after, attempts, applies: Applies::Both }
}

/// Returns an impairment that damages all packets before `until`, which the link resends after 4 ms.
fn damaging_until(until: Instant) -> Impairment {
    let impairment = Box::new(resend(1.0, ms(4), Some(9)));
    Impairment::During { from: Instant::ZERO, until, impairment }
}

/// A transmission: the number of the packet, the time at which it could be sent, and the outcome.
type Step = (usize, Instant, Outcome);

/// Offers `packets`, with their times and octets, and resumes those held in time; returns all outcomes in
/// order.
///
/// With `eager`, packets are resumed before others are offered at the same time, and the packet held last
/// is resumed first.
fn drive(link: &mut Link, packets: &[(Instant, u32)], eager: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut held = BTreeMap::new();
    let mut offers = packets.iter().enumerate().peekable();
    for serial in 0_i32.. {
        let resumed = held.first_key_value().map(|(&(until, _), _)| until);
        let offered = offers.peek().map(|&(_, &(time, _))| time);
        let resume = match (resumed, offered) {
            (None, None) => break,
            (Some(until), Some(time)) => until < time || (until == time && eager),
            (until, _) => until.is_some(),
        };
        let (id, ready, outcome) = if resume {
            let ((until, _), (id, ticket)) = held.pop_first().expect("a packet is held");
            (id, until, link.resume(ticket).expect("the ticket is valid"))
        } else {
            let (id, &(time, bytes)) = offers.next().expect("a packet is left");
            (id, time, link.offer(bytes, Forward, time))
        };
        if let Verdict::Held { until, ticket } = outcome.verdict {
            held.insert((until, if eager { -serial } else { serial }), (id, ticket));
        }
        steps.push((id, ready, outcome));
    }
    steps
}

/// Returns the verdicts without tickets.
fn verdicts(steps: &[Step]) -> Vec<(usize, Summary)> {
    let summary = |&(id, _, outcome): &Step| match outcome.verdict {
        Verdict::Held { until, .. } => (id, Summary::Held(until)),
        Verdict::Deliver(arrival) => (id, Summary::Deliver(arrival)),
        Verdict::Drop(cause) => (id, Summary::Drop(cause)),
    };
    steps.iter().map(summary).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Summary {
    Held(Instant),
    Deliver(Instant),
    Drop(DropCause),
}

/// Simulates the same by events, one transmission after the other; returns the last departure of each
/// packet. `damaged` returns whether the next transmission is damaged.
fn simulate(
    packets: &[(Instant, u32)],
    after: Duration,
    mut damaged: impl FnMut() -> bool,
) -> Vec<Instant> {
    let rate = Rate::from_bps(8e6).expect("a rate");
    let mut departed = vec![Instant::ZERO; packets.len()];
    let mut resend = VecDeque::new();
    let mut next = 0;
    let mut free = Instant::ZERO;
    loop {
        let resend_at = resend.front().map(|&(ready, _): &(Instant, usize)| ready.max(free));
        let next_at = packets.get(next).map(|&(at, _)| at.max(free));
        let (id, begun) = match (resend_at, next_at) {
            (None, None) => return departed,
            (Some(resend_at), next_at) if next_at.is_none_or(|next_at| resend_at <= next_at) => {
                (resend.pop_front().expect("a packet is to be resent").1, resend_at)
            }
            (_, Some(next_at)) => {
                next += 1;
                (next - 1, next_at)
            }
            (Some(_), None) => unreachable!("the second arm matches"),
        };
        free = begun + rate.time_for(packets[id].1);
        departed[id] = free;
        if damaged() {
            resend.push_back((free + after, id));
        }
    }
}

#[test]
fn a_damaged_packet_is_resent_from_the_head_of_the_queue() {
    let mut link = link(vec![damaging_until(at(1))], 1);
    let packets: Vec<_> = [0, 1, 1, 1, 1, 1, 1].map(|time| (at(time), 1000)).to_vec();
    let steps = drive(&mut link, &packets, true);
    // The packet is sent from 0 to 1 ms and ready at 5 ms, after four others; the fifth waits for it.
    let of = |id, time| (id, Summary::Deliver(at(time)));
    let expected = [(0, Summary::Held(at(5))), of(1, 12), of(2, 13), of(3, 14), of(4, 15)];
    assert_eq!(verdicts(&steps), [&expected[..], &[of(5, 17), of(6, 18), of(0, 16)]].concat());
    let detoured: Vec<bool> = steps.iter().map(|(.., outcome)| outcome.detoured).collect();
    assert_eq!(detoured, [false, false, false, false, false, false, false, true]);
}

#[test]
fn a_damaged_packet_waits_only_for_the_one_in_service() {
    let last = |packets: &[(Instant, u32)]| {
        let steps = drive(&mut link(vec![damaging_until(at(1))], 1), packets, true);
        let (id, _, outcome) = steps[steps.len() - 1];
        (id, outcome.verdict, outcome.waited)
    };
    assert_eq!(last(&[(at(0), 1000)]), (0, Verdict::Deliver(at(16)), ms(0)));
    // The other packet is in service from 4 to 7 ms.
    let other = (at(4), 3000);
    assert_eq!(last(&[(at(0), 1000), other]), (0, Verdict::Deliver(at(18)), ms(2)));
}

#[test]
fn a_packet_is_lost_after_the_last_attempt() {
    let mut link = link(vec![resend(1.0, ms(4), Some(2))], 1);
    let steps = drive(&mut link, &[(at(0), 1000)], true);
    let [five, ten] = [5, 10].map(|time| (0, Summary::Held(at(time))));
    assert_eq!(verdicts(&steps), [five, ten, (0, Summary::Drop(DropCause::Loss))]);
    let Verdict::Held { ticket, .. } = steps[0].2.verdict else { panic!("the packet is held") };
    assert_eq!(link.resume(ticket), None, "a ticket is valid once");
}

#[test]
fn the_other_impairments_apply_to_intact_packets_only() {
    let lossy = Impairment::Loss { fraction: 1.0, applies: Applies::Both };
    let mut link = link(vec![lossy, damaging_until(at(1))], 1);
    let steps = drive(&mut link, &[(at(0), 1000)], true);
    assert_eq!(verdicts(&steps), [(0, Summary::Held(at(5))), (0, Summary::Drop(DropCause::Loss))]);
}

#[test]
fn a_second_repair_is_rejected() {
    let twice = vec![resend(0.1, ms(4), None), damaging_until(at(1))];
    let config = LinkConfig { impairments: twice, ..LinkConfig::default() };
    let error = Link::new(&config, Forward, 1).expect_err("two repairs").to_string();
    assert_eq!(error, "impairments[1].resend must be the only one, not a second");
}

proptest! {
    #[test]
    fn transmissions_match_an_event_simulation_and_each_packet_is_delivered_once(
        seed: u64,
        errors in 0.0..0.6,
        after in 0_u64..20_000_000,
        load in 200_000_u64..3_000_000,
        packets in prop::collection::vec((0.0..1.0, 40_u32..3000), 1..200),
        whole: bool,
        eager: bool,
    ) {
        // With whole milliseconds, events often coincide.
        let grain = if whole { 1_000_000 } else { 1 };
        let after = Duration::from_nanos(after / grain * grain);
        let mut now = 0;
        let packets: Vec<_> = packets
            .into_iter()
            .map(|(gap, bytes)| {
                now += (gap * load as f64) as u64 / grain * grain;
                (Instant::from_nanos(now), if whole { 1000 } else { bytes })
            })
            .collect();

        let steps = drive(&mut link(vec![resend(errors, after, None)], seed), &packets, eager);

        // A link with losses draws the same random numbers, one per transmission in order.
        let lossy = Impairment::Loss { fraction: errors, applies: Applies::Both };
        let mut coins = link(vec![lossy], seed);
        let damaged = || {
            matches!(coins.offer(0, Forward, Instant::ZERO).verdict, Verdict::Drop(_))
        };
        let expected = simulate(&packets, after, damaged);

        let mut arrivals = vec![None; packets.len()];
        let mut transmissions = Vec::new();
        for &(id, ready, outcome) in &steps {
            transmissions.push((ready + outcome.waited, outcome.departed));
            if let Verdict::Deliver(arrival) = outcome.verdict {
                prop_assert_eq!(arrival, outcome.departed + DELAY);
                prop_assert_eq!(arrivals[id].replace(arrival), None, "delivered twice");
            }
        }
        let expected: Vec<_> = expected.into_iter().map(|sent| Some(sent + DELAY)).collect();
        prop_assert_eq!(arrivals, expected);

        transmissions.sort_unstable();
        for pair in transmissions.windows(2) {
            prop_assert!(pair[0].1 <= pair[1].0, "{pair:?} overlap");
        }
        let mut latest = Instant::ZERO;
        for (.., outcome) in steps.iter().filter(|step| !step.2.detoured) {
            let Verdict::Deliver(arrival) = outcome.verdict else { continue };
            prop_assert!(arrival >= latest);
            latest = arrival;
        }
    }
}
