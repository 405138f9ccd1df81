//! A link of 8 Mbit/s (1 ms for every 1000 octets) and 10 ms that repairs its own errors.

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

/// One that damages all that come before `until`, and sends it again after 4 ms.
fn damaging_until(until: Instant) -> Impairment {
    let impairment = Box::new(resend(1.0, ms(4), Some(9)));
    Impairment::During { from: Instant::ZERO, until, impairment }
}

/// A transmission, by the packet's number, with when the packet could be sent.
type Step = (usize, Instant, Outcome);

/// Offers `packets` (when, octets) and resumes those held when it is time; `eager`: of things at the
/// same instant, before the offers, and the packet held last first. Gives all outcomes in their order.
fn drive(link: &mut Link, packets: &[(Instant, u32)], eager: bool) -> Vec<Step> {
    let (mut steps, mut held) = (Vec::new(), BTreeMap::new());
    let mut offers = packets.iter().enumerate().peekable();
    for serial in 0_i32.. {
        let resumed = held.first_key_value().map(|(&(until, _), _)| until);
        let offered = offers.peek().map(|&(_, &(time, _))| time);
        let resume = match (resumed, offered) {
            (None, None) => break,
            (Some(until), Some(time)) => until < time || (until == time && eager),
            (until, _) => until.is_some(),
        };
        let (id, came, outcome) = if resume {
            let ((until, _), (id, ticket)) = held.pop_first().expect("the one resumed");
            (id, until, link.resume(ticket).expect("it is held"))
        } else {
            let (id, &(time, bytes)) = offers.next().expect("the one offered");
            (id, time, link.offer(bytes, Forward, time))
        };
        if let Verdict::Held { until, ticket } = outcome.verdict {
            held.insert((until, if eager { -serial } else { serial }), (id, ticket));
        }
        steps.push((id, came, outcome));
    }
    steps
}

/// The verdicts in short.
fn verdicts(steps: &[Step]) -> Vec<(usize, Short)> {
    let short = |&(id, _, outcome): &Step| match outcome.verdict {
        Verdict::Held { until, .. } => (id, Short::Held(until)),
        Verdict::Deliver(arrival) => (id, Short::Deliver(arrival)),
        Verdict::Drop(cause) => (id, Short::Drop(cause)),
    };
    steps.iter().map(short).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Short {
    Held(Instant),
    Deliver(Instant),
    Drop(DropCause),
}

/// The same by events, one transmission after the other: when each packet's last bit is sent for the
/// last time. `damaged` says of each transmission in turn whether it is.
fn expected(
    packets: &[(Instant, u32)],
    after: Duration,
    mut damaged: impl FnMut() -> bool,
) -> Vec<Instant> {
    let rate = Rate::from_bps(8e6).expect("a rate");
    let mut departed = vec![Instant::ZERO; packets.len()];
    let (mut again, mut fresh, mut free) = (VecDeque::new(), 0, Instant::ZERO);
    loop {
        let next_again = again.front().map(|&(ready, _): &(Instant, usize)| ready.max(free));
        let next_fresh = packets.get(fresh).map(|&(came, _)| came.max(free));
        let (id, begun) = match (next_again, next_fresh) {
            (None, None) => return departed,
            (Some(a), f) if f.is_none_or(|f| a <= f) => {
                (again.pop_front().expect("it is there").1, a)
            }
            (_, Some(f)) => {
                fresh += 1;
                (fresh - 1, f)
            }
            (Some(_), None) => unreachable!("the second arm takes it"),
        };
        free = begun + rate.time_for(packets[id].1);
        departed[id] = free;
        if damaged() {
            again.push_back((free + after, id));
        }
    }
}

#[test]
fn a_damaged_packet_goes_to_the_head_of_the_queue_while_others_pass() {
    let mut link = link(vec![damaging_until(at(1))], 1);
    let packets: Vec<_> = [0, 1, 1, 1, 1, 1, 1].map(|time| (at(time), 1000)).to_vec();
    let steps = drive(&mut link, &packets, true);
    // Sent from 0 to 1 ms, ready at 5 ms, when four others have gone; the fifth waits for it.
    let of = |id, time| (id, Short::Deliver(at(time)));
    let expected = [(0, Short::Held(at(5))), of(1, 12), of(2, 13), of(3, 14), of(4, 15)];
    assert_eq!(verdicts(&steps), [&expected[..], &[of(5, 17), of(6, 18), of(0, 16)]].concat());
    let detoured: Vec<bool> = steps.iter().map(|(.., outcome)| outcome.detoured).collect();
    assert_eq!(detoured, [false, false, false, false, false, false, false, true]);
}

#[test]
fn on_an_idle_link_it_is_sent_when_it_is_ready_or_behind_the_one_in_service() {
    let last = |packets: &[(Instant, u32)]| {
        let steps = drive(&mut link(vec![damaging_until(at(1))], 1), packets, true);
        let (id, _, outcome) = steps[steps.len() - 1];
        (id, outcome.verdict, outcome.waited)
    };
    assert_eq!(last(&[(at(0), 1000)]), (0, Verdict::Deliver(at(16)), ms(0)));
    // The other is in service from 4 to 7 ms.
    let other = (at(4), 3000);
    assert_eq!(last(&[(at(0), 1000), other]), (0, Verdict::Deliver(at(18)), ms(2)));
}

#[test]
fn after_so_many_attempts_it_is_lost() {
    let mut link = link(vec![resend(1.0, ms(4), Some(2))], 1);
    let steps = drive(&mut link, &[(at(0), 1000)], true);
    let [five, ten] = [5, 10].map(|time| (0, Short::Held(at(time))));
    assert_eq!(verdicts(&steps), [five, ten, (0, Short::Drop(DropCause::Loss))]);
    let Verdict::Held { ticket, .. } = steps[0].2.verdict else { panic!("it was held") };
    assert_eq!(link.resume(ticket), None, "a ticket is good for once");
}

#[test]
fn only_what_gets_through_meets_the_other_impairments() {
    let lossy = Impairment::Loss { fraction: 1.0, applies: Applies::Both };
    let mut link = link(vec![lossy, damaging_until(at(1))], 1);
    let steps = drive(&mut link, &[(at(0), 1000)], true);
    assert_eq!(verdicts(&steps), [(0, Short::Held(at(5))), (0, Short::Drop(DropCause::Loss))]);
}

#[test]
fn a_second_repair_is_refused() {
    let twice = vec![resend(0.1, ms(4), None), damaging_until(at(1))];
    let config = LinkConfig { impairments: twice, ..LinkConfig::default() };
    let error = Link::new(&config, Forward, 1).expect_err("two of them").to_string();
    assert_eq!(error, "impairments[1].resend must be the only one, not a second");
}

proptest! {
    #[test]
    fn packets_are_sent_as_by_events_and_each_is_delivered_once(
        seed: u64,
        errors in 0.0..0.6,
        after in 0_u64..20_000_000,
        load in 200_000_u64..3_000_000,
        packets in prop::collection::vec((0.0..1.0, 40_u32..3000), 1..200),
        whole: bool,
        eager: bool,
    ) {
        // Whole milliseconds make things happen at the same instant.
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

        // One coin for every transmission, in their order: a link that loses flips the same.
        let lossy = Impairment::Loss { fraction: errors, applies: Applies::Both };
        let mut coins = link(vec![lossy], seed);
        let damaged = || {
            matches!(coins.offer(0, Forward, Instant::ZERO).verdict, Verdict::Drop(_))
        };
        let expected = expected(&packets, after, damaged);

        let mut arrivals = vec![None; packets.len()];
        let mut transmissions = Vec::new();
        for &(id, came, outcome) in &steps {
            transmissions.push((came + outcome.waited, outcome.departed));
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
        let mut in_line = Instant::ZERO;
        for (.., outcome) in steps.iter().filter(|step| !step.2.detoured) {
            let Verdict::Deliver(arrival) = outcome.verdict else { continue };
            prop_assert!(arrival >= in_line);
            in_line = arrival;
        }
    }
}
