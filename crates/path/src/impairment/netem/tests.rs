use rand::SeedableRng;

use super::*;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns the fates of packets of 1000 octets that enter 1 ms apart.
fn fates(options: &str, packets: u64) -> Vec<Fate> {
    let netem: Netem = options.parse().expect("is valid");
    let mut line = DelayLine::new(&netem).expect("is valid");
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
    let one = |n| {
        let mut fate = Fate::default();
        line.enqueue(&mut fate, 1000, Instant::from_millis(n), &mut rng);
        fate
    };
    (0..packets).map(one).collect()
}

/// Returns the delays in milliseconds.
fn delays(options: &str, packets: u64) -> Vec<u64> {
    fates(options, packets).iter().map(|fate| fate.shift.as_nanos() / 1_000_000).collect()
}

fn share(fates: &[Fate], which: impl Fn(&Fate) -> bool) -> f64 {
    fates.iter().filter(|fate| which(fate)).count() as f64 / fates.len() as f64
}

/// The manual's example: every fifth packet is sent at once, and the others wait.
#[test]
fn with_a_gap_of_five_the_fifth_packet_overtakes() {
    let delays = delays("delay 10ms reorder 100% gap 5", 10);
    assert_eq!(delays, [10, 10, 10, 10, 0, 10, 10, 10, 10, 0]);
}

#[test]
fn without_a_gap_each_packet_may_overtake() {
    let fates = fates("delay 10ms reorder 25%", 10_000);
    let early = share(&fates, |fate| fate.shift == Duration::ZERO);
    assert!((early - 0.25).abs() < 0.02, "{early}");
}

/// A packet that a candidate's draw passes over stays a candidate until one overtakes.
#[test]
fn a_gap_counts_from_the_last_packet_that_overtook() {
    let delays = delays("delay 10ms reorder 50% gap 4", 1000);
    let runs: Vec<usize> = delays.split(|&delay| delay == 0).map(<[u64]>::len).collect();
    assert!(runs[..runs.len() - 1].iter().all(|&run| run >= 3), "{runs:?}");
    assert!(runs.contains(&3) && runs.contains(&4), "{runs:?}");
}

#[test]
fn jitter_is_uniform_around_the_delay_and_never_negative() {
    let fates = fates("delay 100ms 20ms", 10_000);
    let delays: Vec<f64> = fates.iter().map(|fate| fate.shift.as_secs_f64() * 1e3).collect();
    assert!(delays.iter().all(|delay| (80.0..120.0).contains(delay)));
    let mean = delays.iter().sum::<f64>() / 1e4;
    assert!((mean - 100.0).abs() < 0.5, "{mean}");
    let outside = share(&fates, |fate| fate.shift < ms(90) || fate.shift > ms(110));
    assert!((outside - 0.5).abs() < 0.02, "{outside}");
    // Half of the delays would be negative, half of those with the unit's share of the range.
    let early = share(&self::fates("delay 0ms 20ms", 10_000), |fate| fate.shift == Duration::ZERO);
    assert!((early - 0.5).abs() < 0.02, "{early}");
}

/// A rate makes packets leave one after another: 1000 octets take 8 ms at 1 Mbit/s.
#[test]
fn with_a_rate_packets_leave_in_order_after_their_delay() {
    assert_eq!(delays("delay 10ms rate 1mbit", 4), [18, 25, 32, 39]);
    let leave: Vec<Duration> = fates("delay 30ms 25ms rate 8mbit", 1000)
        .iter()
        .zip(0..)
        .map(|(fate, n)| ms(n) + fate.shift)
        .collect();
    assert!(leave.is_sorted());
}

/// At 1 ms apart the line holds ten packets of 10 ms each.
#[test]
fn a_full_delay_line_loses_packets() {
    assert_eq!(share(&fates("delay 10ms limit 10", 1000), |fate| fate.lost), 0.0);
    let half = share(&fates("delay 10ms limit 5", 1000), |fate| fate.lost);
    assert!((half - 0.5).abs() < 0.01, "{half}");
    let default = fates("delay 3s", 2500);
    assert_eq!(default.iter().position(|fate| fate.lost), Some(1000));
}

#[test]
fn lost_and_doubled_packets_have_their_shares() {
    let fates = fates("loss 10% duplicate 20% corrupt 5%", 20_000);
    let lost = share(&fates, |fate| fate.lost);
    // A loss of a doubled packet leaves one copy; damage takes what is left.
    let expected = 0.1 * 0.8 + (1.0 - 0.1 * 0.8) * 0.05;
    assert!((lost - expected).abs() < 0.01, "{lost}");
    let doubled = share(&fates, |fate| fate.duplicated);
    assert!((doubled - 0.2 * 0.9).abs() < 0.01, "{doubled}");
}

/// The manual warns of this: draws that are averaged with those before are seldom small.
#[test]
fn correlated_losses_are_fewer_than_their_share() {
    let lost = |options| share(&fates(options, 50_000), |fate| fate.lost);
    assert!((lost("loss 10%") - 0.1).abs() < 0.01);
    assert!(lost("loss 10% 50%") < 0.05);
}

#[test]
fn a_whole_command_line_is_read() {
    let netem: Netem =
        "tc qdisc add dev eth0 root netem limit 500 delay 100ms 20ms 25% distribution normal loss random 0.3 25%"
            .parse()
            .expect("is valid");
    let expected = Netem {
        latency: ms(100),
        jitter: ms(20),
        normal: true,
        delay_correlation: 0.25,
        loss: Share { share: 0.003, correlation: 0.25 },
        limit: 500,
        ..Netem::default()
    };
    assert_eq!(netem, expected);
}

#[test]
fn options_that_are_not_supported_are_rejected() {
    for (options, expected) in [
        ("", "options of netem such as delay 10ms, not nothing"),
        ("delay", "a time after delay, such as 10ms, not nothing"),
        ("delay 10", "a time after delay, such as 10ms, not \"10\""),
        ("delay 10ms 5", "a jitter with a unit, such as 5ms, not \"5\""),
        (
            "loss gemodel 1%",
            "a percentage after loss, such as 1%; other models are not supported, not \"gemodel\"",
        ),
        ("delay 1ms distribution pareto", "uniform or normal after distribution, not \"pareto\""),
        ("loss 101%", "a percentage from 0 to 100, not \"101%\""),
        ("reorder 25%", "a delay with reorder, not nothing"),
        ("delay 1ms gap 5", "reorder with gap, not nothing"),
        ("rate 10mbps", "a rate in bits after rate, such as 10mbit, not \"10mbps\""),
        (
            "slot 1ms",
            "delay, distribution, loss, duplicate, corrupt, reorder, gap, rate or limit, not \"slot\"",
        ),
    ] {
        let error = options.parse::<Netem>().expect_err(options).to_string();
        assert_eq!(error, format!("netem must be {expected}"), "{options}");
    }
}
