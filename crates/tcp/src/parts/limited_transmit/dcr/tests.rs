//! The window while TCP-DCR delays its response (section 2.2).

use unruffled_units::{Duration, Instant};

use crate::parts::control::Window;
use crate::sender::{Ack, Phase, Sender};
use crate::{Config, Variant};

const MSS: u64 = 1000;

/// Returns a sender called `name` with ten segments in flight and a window of 10 in congestion
/// avoidance. A round trip takes 100 ms.
fn sender(name: &str) -> Sender {
    let config = Config { mss: MSS as u32, ..Config::simulated() };
    let mut sender = Sender::new(&config, Variant::named(name).expect("a sender").recipe());
    sender.stream.write(u64::MAX / 2);
    sender.stream.set_window(0, 1 << 40);
    sender.composed().window = Window { cwnd: 10.0, ssthresh: 10.0 };
    assert_eq!(sent(&mut sender, 0), 10);
    sender
}

/// Returns how many segments are sent at this time.
fn sent(sender: &mut Sender, ms: u64) -> usize {
    std::iter::from_fn(|| sender.poll(Instant::from_millis(ms))).count()
}

/// Acknowledges up to segment `una`, and SACKs from segment 1 up to `to`. Returns how many segments
/// are sent.
fn acknowledge(sender: &mut Sender, una: u64, to: u64, ms: u64) -> usize {
    let blocks = [(MSS, to * MSS)];
    let ack = Ack {
        repeated: false,
        una: una * MSS,
        blocks: if to > una { &blocks } else { &[] },
        dsack: None,
        duplicate: to > una,
        rtx: false,
        ece: false,
        echo: None,
        packets: &[],
        ack_delay: Duration::ZERO,
    };
    sender.on_ack(ack, Instant::from_millis(ms), &mut ());
    sent(sender, ms)
}

#[test]
fn the_window_grows_by_duplicates_and_each_releases_one_segment() {
    for name in ["dcr-ack", "dcr-timer"] {
        let mut s = sender(name);
        let mut cwnd = 10.0;
        // Segment 0 is late: the other nine arrive before it.
        for n in 1..=9 {
            assert_eq!(acknowledge(&mut s, 0, n + 1, 100 + n), 1, "{name}: duplicate {n}");
            cwnd += 1.0 / cwnd;
            assert!((s.window().cwnd - cwnd).abs() < 1e-9, "{name}: duplicate {n}");
        }
        assert_eq!(s.phase(), Phase::Open, "{name}");
        assert!(s.window().cwnd > 10.8 && s.window().cwnd < 11.0);
        // It arrives: ten are acknowledged, nine are in flight, and the window, now 10.95, takes
        // one. The wait has cost the sender nothing.
        assert_eq!(acknowledge(&mut s, 10, 0, 111), 1, "{name}");
    }
}

#[test]
fn the_growth_takes_effect_when_the_wait_ends() {
    let mut s = sender("dcr-timer");
    s.composed().window.cwnd = 10.95;
    // The third duplicate takes the window beyond 11: each still releases one segment.
    for n in 1..=9 {
        assert_eq!(acknowledge(&mut s, 0, n + 1, 100 + n), 1, "duplicate {n}");
    }
    assert!(s.window().cwnd > 11.5);
    // Nine in flight, a window of 11.8: two.
    assert_eq!(acknowledge(&mut s, 10, 0, 111), 2);
}

#[test]
fn other_senders_do_not_grow_the_window_while_a_hole_is_open() {
    let mut s = sender("ba-inc");
    assert_eq!(acknowledge(&mut s, 0, 2, 101), 1);
    assert_eq!(acknowledge(&mut s, 0, 3, 102), 1);
    assert_eq!(s.window().cwnd, 10.0);
}

#[test]
fn slow_start_does_not_grow_by_duplicates() {
    let mut s = sender("dcr-ack");
    s.composed().window.ssthresh = f64::INFINITY;
    acknowledge(&mut s, 0, 2, 101);
    acknowledge(&mut s, 0, 3, 102);
    assert_eq!(s.window().cwnd, 10.0);
    acknowledge(&mut s, 0, 4, 103);
    assert!(matches!(s.phase(), Phase::Recovery { .. }), "the third duplicate, as usual");
}

#[test]
fn the_timer_starts_recovery_one_round_trip_after_the_first_duplicate() {
    let mut s = sender("dcr-timer");
    for n in 1..=9 {
        acknowledge(&mut s, 0, n + 1, 100 + n);
    }
    // SRTT starts at 101 ms, the first sample.
    let before = s.window().cwnd;
    s.on_timers(Instant::from_millis(201), &mut ());
    assert_eq!(s.phase(), Phase::Open);
    assert_eq!(s.next_timer(), Instant::from_millis(202));
    s.on_timers(Instant::from_millis(202), &mut ());
    assert!(matches!(s.phase(), Phase::Recovery { .. }));
    // "Half the current value of the congestion window" (section 2.2).
    assert!((s.window().cwnd - before / 2.0).abs() < 1e-9, "{} {before}", s.window().cwnd);
    let resent = s.poll(Instant::from_millis(202)).expect("fast retransmit");
    assert_eq!((resent.offset, resent.cause.is_some()), (0, true));
}

#[test]
fn counting_starts_recovery_with_a_flight_of_duplicates() {
    let mut s = sender("dcr-ack");
    for n in 1..=9 {
        acknowledge(&mut s, 0, n + 1, 101);
        assert_eq!(s.phase(), Phase::Open, "duplicate {n} of 10");
    }
    acknowledge(&mut s, 0, 11, 101);
    assert!(matches!(s.phase(), Phase::Recovery { .. }), "a flight of 10 at the first one");
}
