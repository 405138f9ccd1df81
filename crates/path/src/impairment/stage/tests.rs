//! Tests of the effect of each impairment.

use super::*;
use crate::Distribution;

/// Returns the crossing of a packet that is sent without delay.
fn at(ms: u64) -> Crossing {
    let now = Instant::from_millis(ms);
    Crossing {
        flow: 0,
        direction: Direction::Forward,
        bytes: 1000,
        ready: now,
        begun: now,
        departed: now,
    }
}

fn fate(stage: &mut Stage, packet: &Crossing) -> Fate {
    let mut fate = Fate::default();
    stage.apply(&mut fate, packet);
    fate
}

fn stage(impairment: &Impairment) -> Option<Stage> {
    let rng = Xoshiro256PlusPlus::seed_from_u64(1);
    Stage::new(impairment, Applies::Data, rng).unwrap()
}

#[test]
fn an_impairment_applies_to_its_packets_only() {
    use Direction::{Forward, Reverse};
    assert!(Applies::Data.to(Forward) && !Applies::Data.to(Reverse));
    assert!(!Applies::Acks.to(Forward) && Applies::Acks.to(Reverse));
    assert!(Applies::Both.to(Forward) && Applies::Both.to(Reverse));
    let of_acks = Impairment::Loss { fraction: 1.0, applies: Applies::Acks };
    assert!(stage(&of_acks).is_none());

    let rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut on_both = Stage::new(&of_acks, Applies::Both, rng).unwrap().unwrap();
    let lost = [Forward, Reverse].map(|direction| {
        let mut fate = Fate::default();
        on_both.apply(&mut fate, &Crossing { direction, ..at(0) });
        fate.lost
    });
    assert_eq!(lost, [false, true]);
}

#[test]
fn a_fraction_of_zero_needs_no_stage() {
    assert!(stage(&Impairment::Loss { fraction: 0.0, applies: Applies::Both }).is_none());
}

#[test]
fn a_temporary_impairment_applies_during_its_time_only() {
    let loss = Impairment::Loss { fraction: 1.0, applies: Applies::Both };
    let during = Impairment::During {
        from: Instant::from_millis(10),
        until: Instant::from_millis(20),
        impairment: Box::new(loss),
    };
    let mut stage = stage(&during).unwrap();
    let lost = [9, 10, 19, 20].map(|ms| {
        let mut fate = Fate::default();
        stage.apply(&mut fate, &at(ms));
        fate.lost
    });
    assert_eq!(lost, [false, true, true, false]);
}

#[test]
fn every_third_packet_takes_the_longer_path() {
    let extra = Duration::from_millis(100);
    let impairment = Impairment::Alternate { every: 3, extra, applies: Applies::Both };
    let mut stage = stage(&impairment).unwrap();
    let late: Vec<bool> = (0..7)
        .map(|_| {
            let mut fate = Fate::default();
            stage.apply(&mut fate, &at(0));
            fate.detour == extra
        })
        .collect();
    assert_eq!(late, [false, false, true, false, false, true, false]);
}

#[test]
fn every_third_packet_is_lost() {
    let mut stage = stage(&Impairment::Periodic { every: 3, applies: Applies::Both }).unwrap();
    assert!(stage.keeps_order());
    let lost: Vec<bool> = (0..7).map(|ms| fate(&mut stage, &at(ms)).lost).collect();
    assert_eq!(lost, [false, false, true, false, false, true, false]);
    let never = Impairment::Periodic { every: 0, applies: Applies::Both };
    assert_eq!(never.check().unwrap_err().to_string(), "every must be at least 1, not 0");
}

#[test]
fn a_replay_begins_again_after_its_last_packet() {
    let ms = Duration::from_millis;
    let lateness = [ms(0), ms(7), ms(0)].into();
    let mut stage = stage(&Impairment::Replay { lateness, applies: Applies::Both }).unwrap();
    assert!(!stage.keeps_order());
    let late = [(); 6].map(|()| fate(&mut stage, &at(0)).detour);
    assert_eq!(late, [ms(0), ms(7), ms(0), ms(0), ms(7), ms(0)]);
    let nothing = Impairment::Replay { lateness: [].into(), applies: Applies::Both };
    let error = nothing.check().unwrap_err();
    assert_eq!(error.to_string(), "lateness must be at least one time, not none");
}

#[test]
fn a_redrawn_delay_is_constant_within_an_interval_and_independent_of_earlier_packets() {
    let delay = Distribution::Uniform { low: Duration::ZERO, high: Duration::from_millis(100) };
    let every = Duration::from_millis(50);
    let redrawn = Impairment::Redrawn { every, delay, applies: Applies::Both };
    let shifts = |times: &[u64]| -> Vec<Duration> {
        let mut stage = stage(&redrawn).unwrap();
        times.iter().map(|&ms| fate(&mut stage, &at(ms)).shift).collect()
    };
    let [first, same, next, last] = shifts(&[0, 49, 50, 120])[..] else { unreachable!() };
    assert_eq!(first, same);
    assert!(first != next && next != last);
    assert_eq!(shifts(&[149]), [last]);
    // The delay at the beginning of the transmission counts, not that at its end.
    let mut stage = stage(&redrawn).unwrap();
    let across = Crossing { ready: at(0).ready, begun: at(49).begun, ..at(51) };
    assert_eq!(fate(&mut stage, &across).shift, first);
    assert_eq!(fate(&mut stage, &across).detour, Duration::ZERO);
}

#[test]
fn redrawn_delays_have_the_given_distribution() {
    let delay = Distribution::Normal {
        mean: Duration::from_millis(200),
        deviation: Duration::from_millis(60),
    };
    let every = Duration::from_millis(1);
    let mut stage = stage(&Impairment::Redrawn { every, delay, applies: Applies::Both }).unwrap();
    let drawn: Vec<f64> =
        (0..20_000).map(|ms| fate(&mut stage, &at(ms)).shift.as_millis_f64()).collect();
    let mean = drawn.iter().sum::<f64>() / 20_000.0;
    let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
    // Four standard errors: 60 / √20000, and 60 / √40000 for the deviation.
    assert!((mean - 200.0).abs() < 1.7 && (variance.sqrt() - 60.0).abs() < 1.2);
    let product = |pair: &[f64]| (pair[0] - mean) * (pair[1] - mean);
    let correlation = drawn.windows(2).map(product).sum::<f64>() / 20_000.0 / variance;
    assert!(correlation.abs() < 4.0 / 20_000.0_f64.sqrt(), "neighbours: {correlation}");
}

/// Each packet takes 5 ms. Two that arrive at 0 ms leave at 5 and 10 ms, one that arrives at 8 ms waits
/// and leaves at 15 ms, and one at 40 ms does not wait.
#[test]
fn the_overhead_delays_one_packet_after_another() {
    let delay = Distribution::Constant(Duration::from_millis(5));
    let mut stage = stage(&Impairment::Overhead { delay, applies: Applies::Both }).unwrap();
    assert!(!stage.keeps_order(), "it delays");
    let leaves = [0, 0, 8, 40].map(|ms| at(ms).departed + fate(&mut stage, &at(ms)).shift);
    let of = |ms: u64| at(ms).departed;
    assert_eq!(leaves, [of(5), of(10), of(15), of(45)]);
}

#[test]
fn a_random_overhead_has_the_given_distribution_and_keeps_the_order() {
    let delay = Distribution::Uniform { low: Duration::ZERO, high: Duration::from_millis(10) };
    let mut stage = stage(&Impairment::Overhead { delay, applies: Applies::Both }).unwrap();
    // One packet arrives every 3 ms and takes 5 ms on average, so every packet waits for the one before.
    let times: Vec<u64> = (0..20_000).map(|n| 3 * n).collect();
    let leave = times.iter().map(|&ms| at(ms).departed + fate(&mut stage, &at(ms)).shift);
    let leave: Vec<Instant> = leave.collect();
    assert!(leave.is_sorted());
    // Four standard errors of the mean of a uniform: 10 / √12 / √20000.
    let mean = leave[19_999].since(leave[9_999]).as_millis_f64() / 10_000.0;
    assert!((mean - 5.0).abs() < 0.12, "{mean}");
}

#[test]
fn a_burst_loses_all_packets_until_it_ends() {
    let length = Distribution::Constant(Duration::from_millis(30));
    let burst = Impairment::Burst { fraction: 0.01, length, applies: Applies::Both };
    let mut stage = stage(&burst).unwrap();
    let lost: Vec<bool> = (0..100_000).map(|ms| fate(&mut stage, &at(ms)).lost).collect();
    let runs: Vec<usize> =
        lost.split(|lost| !lost).map(<[bool]>::len).filter(|&run| run > 0).collect();
    // With one packet per ms, each burst loses 30, unless another burst follows immediately.
    assert!(runs.iter().all(|run| run % 30 == 0), "{runs:?}");
    // 1 % of the packets outside of bursts start one, so there is one burst in 99 + 30 packets.
    let bursts = runs.iter().sum::<usize>() as f64 / 30.0;
    let expected = 100_000.0 / 129.0;
    assert!((bursts - expected).abs() < 4.0 * expected.sqrt(), "{bursts} bursts");
}

#[test]
fn a_blackout_loses_the_packets_sent_during_it() {
    let ms = Duration::from_millis;
    let lost = |times: Times, ats: [u64; 5]| {
        let blackout = Impairment::Blackout { times, length: ms(10), applies: Applies::Both };
        let mut stage = stage(&blackout).unwrap();
        ats.map(|at_ms| fate(&mut stage, &at(at_ms)).lost)
    };
    let instants = [75, 50].map(Instant::from_millis).to_vec();
    assert_eq!(lost(Times::At(instants), [49, 50, 59, 60, 84]), [false, true, true, false, true]);
    assert_eq!(lost(Times::Every(ms(50)), [0, 9, 50, 60, 109]), [false, false, true, false, true]);
    // A packet that waits until the blackout is lost, too.
    let times = Times::At(vec![Instant::from_millis(50)]);
    let blackout = Impairment::Blackout { times, length: ms(10), applies: Applies::Both };
    let mut stage = stage(&blackout).unwrap();
    assert!(fate(&mut stage, &Crossing { ready: at(30).ready, ..at(50) }).lost);
    assert!(!fate(&mut stage, &Crossing { ready: at(50).ready, ..at(60) }).lost);
}

#[test]
fn an_error_names_the_value_that_is_out_of_range() {
    let ms = Duration::from_millis;
    let applies = Applies::Both;
    let zero = Duration::ZERO;
    let delay = Distribution::Constant(ms(1));
    let error = |impairment: Impairment| impairment.check().unwrap_err().to_string();
    assert_eq!(
        error(Impairment::Redrawn { every: zero, delay, applies }),
        "every must be more than 0 s, not 0 s"
    );
    assert_eq!(
        error(Impairment::Blackout { times: Times::Every(ms(5)), length: ms(5), applies }),
        "every must be longer than length, not 5 ms"
    );
    let resend = |errors, attempts| Impairment::Resend { errors, after: zero, attempts, applies };
    assert_eq!(error(resend(1.5, None)), "errors must be between 0 and 1, not 1.5");
    let expected = "errors must be at most 0.999 without attempts, not 1";
    assert_eq!(error(resend(1.0, None)), expected);
    assert_eq!(resend(1.0, Some(3)).check(), Ok(()));
}
