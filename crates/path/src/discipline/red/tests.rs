//! Tests of RED against the formulae of `red.cc`.

use super::*;
use crate::Direction;
use rand::SeedableRng;

const fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// Creates a queue of a link that sends a packet of 500 octets in 1 ms and delays it by 10 ms.
fn queue_of(settings: &Red, limit: Option<u32>) -> Result<RedQueue, ConfigError> {
    let rng = Xoshiro256PlusPlus::seed_from_u64(1);
    RedQueue::new(settings, Rate::from_bps(4e6), Duration::from_millis(10), limit, rng)
}

fn red(settings: &Red) -> RedQueue {
    queue_of(settings, None).unwrap()
}

fn in_packets() -> Red {
    Red { bytes: false, ..Red::default() }
}

/// Returns a queue whose average is `average` and whose last drop was `count` packets ago.
fn queue_at(settings: Red, average: f64, count: u64) -> RedQueue {
    RedQueue { average, count, count_bytes: 500 * count, above: true, ..red(&settings) }
}

/// Returns whether the queue admits a packet that is not ECN-capable.
fn admits(queue: &mut RedQueue, bytes: u32, now: Instant, busy_until: Instant) -> bool {
    queue.admit(packet(bytes, false), now, busy_until) != Admission::Refused
}

fn packet(bytes: u32, ect: bool) -> Packet {
    Packet { bytes, direction: Direction::Forward, ect, flow: 0 }
}

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, {expected}");
}

#[test]
fn the_share_grows_to_max_p_and_then_gently_to_one() {
    let share = |settings: Red, average| queue_at(settings, average, 0).share();
    assert_close(share(in_packets(), 5.0), 0.0);
    assert_close(share(in_packets(), 10.0), 0.05);
    assert_close(share(in_packets(), 15.0), 0.1);
    assert_close(share(in_packets(), 22.5), 0.55);
    assert_close(share(in_packets(), 30.0), 1.0);
    assert_close(share(in_packets(), 40.0), 1.0);
    let steep = Red { gentle: false, ..in_packets() };
    assert_close(share(steep.clone(), 14.0), 0.09);
    assert_close(share(steep, 15.0), 1.0);
    // In octets, thresholds are 2500 and 7500.
    assert_close(share(Red::default(), 5000.0), 0.05);
}

#[test]
fn drops_keep_a_distance() {
    // With a share of 0.05, no packet before the 20th is dropped, and the 40th always is.
    let probability = |count| queue_at(in_packets(), 10.0, count).probability(1000);
    assert_close(probability(19), 0.0);
    assert_close(probability(20), 0.05);
    assert_close(probability(30), 0.1);
    assert_close(probability(39), 1.0);
    assert_close(probability(40), 1.0);
}

#[test]
fn in_octets_the_probability_is_proportional_to_the_size() {
    let probability = |bytes| queue_at(Red::default(), 5000.0, 30).probability(bytes);
    assert_close(probability(500), 0.1);
    assert_close(probability(1000), 0.2);
    assert_close(probability(40), 0.008);
    assert_close(probability(9000), 1.0);
}

#[test]
fn the_weight_follows_from_the_link() {
    // The red.cc formula for 5 Mbit/s, 350 ms and 500 octets.
    let weight = automatic_weight(1250.0, 0.35);
    assert_close(weight, 1.0 - (-1.0 / (10.0 * 3.0 * 0.3508 * 1250.0_f64)).exp());
    assert!((weight - 7.6014e-5).abs() < 1e-9, "{weight}");
    // Shorter round trips count as 100 ms.
    assert_close(automatic_weight(1000.0, 0.01), 1.0 - (-0.001_f64).exp());
    assert_close(red(&Red::default()).weight, 1.0 - (-0.001_f64).exp());
}

#[test]
fn the_average_moves_by_the_weight_and_decays_while_the_link_is_idle() {
    let mut queue = red(&Red { weight: Some(0.5), ..in_packets() });
    for sent in 1..=3 {
        queue.push(1000, at(sent));
    }
    assert!(admits(&mut queue, 1000, at(0), at(4)));
    assert_close(queue.average, 1.5);
    assert!(admits(&mut queue, 1000, at(1), at(4)));
    assert_close(queue.average, 0.75 + 1.0);
    // The link is idle from 4 ms on and could have sent 2.5 packets of 500 octets, of which 2 count.
    assert!(admits(&mut queue, 1000, Instant::from_nanos(6_500_000), at(4)));
    assert_close(queue.average, 1.75 / 8.0);
}

#[test]
fn the_queue_does_not_include_packets_in_service() {
    let mut queue = red(&Red::default());
    queue.push(1000, at(0));
    queue.push(1000, at(2));
    queue.push(40, at(4));
    assert_close(queue.queue(at(0)), 1040.0);
    assert_close(queue.queue(at(2)), 40.0);
    assert_close(queue.queue(at(4)), 0.0);
}

#[test]
fn the_first_packet_above_the_threshold_is_admitted() {
    let settings = Red { weight: Some(1.0), gentle: false, ..in_packets() };
    let mut queue = red(&settings);
    for _ in 0..20 {
        queue.push(1000, at(10));
    }
    assert!(admits(&mut queue, 1000, at(0), at(11)));
    assert!(!admits(&mut queue, 1000, at(0), at(11)), "an average of 20 drops all others");
    assert!(!admits(&mut queue, 1000, at(0), at(11)));
}

#[test]
fn a_packet_is_admitted_while_at_most_one_waits() {
    // Random drops require more than one waiting packet, regardless of the thresholds.
    let mut queue = red(&Red { weight: Some(1.0), min: 0.0, max: 0.1, ..in_packets() });
    queue.push(1000, at(10));
    assert!((0..100).all(|_| admits(&mut queue, 1000, at(0), at(11))));
}

#[test]
fn a_full_queue_drops_every_packet_and_resets_the_count() {
    let mut queue = queue_of(&in_packets(), Some(3)).unwrap();
    for _ in 0..3 {
        assert!(admits(&mut queue, 1000, at(0), at(11)));
        queue.push(1000, at(10));
    }
    assert!(!admits(&mut queue, 1000, at(0), at(11)));
    assert_eq!((queue.count, queue.count_bytes), (0, 0));
    assert!(admits(&mut queue, 1000, at(10), at(11)));
}

#[test]
fn gaps_between_drops_are_uniform() {
    // With a share p of 0.1, the probability at packet c is p / (2 − c p), so that gaps are uniform on 10
    // to 19 packets.
    let mut queue = queue_at(in_packets(), 15.0, 0);
    let mut gaps = Vec::new();
    while gaps.len() < 10_000 {
        queue.count += 1;
        let count = queue.count;
        if queue.chooses(1000) {
            gaps.push(count);
        }
    }
    assert_eq!((gaps.iter().min(), gaps.iter().max()), (Some(&10), Some(&19)));
    for gap in 10..=19 {
        let share = gaps.iter().filter(|&&g| g == gap).count() as f64 / 10_000.0;
        // Four standard deviations of a binomial share.
        assert!((share - 0.1).abs() < 4.0 * (0.09_f64 / 10_000.0).sqrt(), "{gap}: {share}");
    }
}

#[test]
fn an_error_names_the_setting_that_is_out_of_range() {
    let error = |settings: Red| queue_of(&settings, None).unwrap_err().to_string();
    let default = Red::default;
    assert_eq!(error(Red { min: -1.0, ..default() }), "red.min must be at least 0 packets, not -1");
    assert_eq!(error(Red { max: 5.0, ..default() }), "red.max must be greater than min, not 5");
    assert_eq!(
        error(Red { weight: Some(0.0), ..default() }),
        "red.weight must be greater than 0 and at most 1, not 0"
    );
    assert_eq!(
        error(Red { max_p: f64::NAN, ..default() }),
        "red.max_p must be greater than 0 and at most 1, not NaN"
    );
    assert_eq!(
        error(Red { mean_packet: 0, ..default() }),
        "red.mean_packet must be at least 1 octet, not 0"
    );
    let rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let without_rate = RedQueue::new(&default(), None, Duration::ZERO, None, rng).unwrap_err();
    assert_eq!(without_rate.to_string(), "rate must be given for a RED queue, not infinite");
}
