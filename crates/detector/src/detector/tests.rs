use std::vec::Vec;

use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;
const AT: fn(u64) -> Instant = Instant::from_millis;

/// A path with a round trip of 100 ms, and a window of 20 packets.
fn path() -> Path {
    Path {
        min_rtt: MS(100),
        smoothed_rtt: MS(100),
        timeout: MS(300),
        window: 20_000,
        packet: 1000,
        slow_start: false,
    }
}

/// What a detector asks for at `now`, in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Resend(u64),
    Reduce { newest: u64, octets: u64, window: u64 },
    Lost(u64),
    Restore(u64),
}
use Asked::{Lost, Reduce, Resend, Restore};

/// Polls until nothing is left. The state that is saved is the window.
fn asked(detector: &mut Detector<u64>, path: &Path, now: u64) -> Vec<Asked> {
    let next = || detector.poll(path, AT(now), || path.window);
    std::iter::from_fn(next)
        .map(|verdict| match verdict {
            Verdict::Resend(packet) => Resend(packet.number),
            Verdict::Reduce(Reduction { newest_sent, octets, window, .. }) => {
                Reduce { newest: newest_sent.as_nanos() / 1_000_000, octets, window }
            }
            Verdict::Lost(packet) => Lost(packet.number),
            Verdict::Restore(window) => Restore(window),
        })
        .collect()
}

/// Sends packets of 1000 octets, packet n at 10·n ms.
fn sent(settings: Settings, packets: u64) -> Detector<u64> {
    let mut detector = Detector::new(settings);
    (0..packets).for_each(|number| detector.on_sent(number, 1000, AT(10 * number)));
    detector
}

/// Packets 1 and 2 arrive after 100 ms, and packet 0 at 140 ms: 40 ms late by the reference of 100 ms.
fn with_one_late(packets: u64) -> Detector<u64> {
    with_one_later(packets, 140, Settings::default())
}

/// The same, but packet 0 arrives at `now`, with these settings.
fn with_one_later(packets: u64, now: u64, settings: Settings) -> Detector<u64> {
    let mut detector = sent(Settings { time_threshold: 9.0, ..settings }, packets);
    for (number, now) in [(1, 110), (2, 120), (0, now)] {
        detector.on_ack([number..=number], AT(now));
        assert_eq!(asked(&mut detector, &path(), now), []);
    }
    detector
}

#[test]
fn rfc_9002_decides_until_something_is_late() {
    let mut detector = sent(Settings::default(), 5);
    detector.on_ack([1..=1], AT(110));
    assert_eq!(
        asked(&mut detector, &path(), 110),
        [],
        "one packet, and 110 ms are under 9/8 of 100"
    );
    let due = Instant::from_nanos(112_500_000);
    assert_eq!(detector.timeout(), Some(due));
    let reduce = Reduce { newest: 0, octets: 1000, window: 20_000 };
    assert_eq!(asked(&mut detector.clone(), &path(), 113), [Resend(0), reduce, Lost(0)]);
    let slow = Path { smoothed_rtt: MS(200), ..path() };
    detector.on_ack([1..=2], AT(120));
    assert_eq!(asked(&mut detector, &slow, 120), []);
    assert_eq!(detector.timeout(), Some(AT(225)), "9/8 of 200");
    detector.on_ack([1..=3], AT(130));
    assert_eq!(asked(&mut detector, &slow, 130), [Resend(0), reduce, Lost(0)], "three packets");
    assert_eq!(detector.timeout(), None);
}

#[test]
fn the_waits_follow_from_the_lateness() {
    let mut detector = with_one_late(20);
    assert!(detector.has_seen_late());
    // One of three is more than 1 %, so the quantile is 40 ms, whose bin ends at 2^23 · 5 ns. The longest
    // lateness and a quarter of it are 50 ms.
    assert_eq!(detector.waits(), Waits { resend: Duration::from_nanos(5 << 23), confirm: MS(50) });
    // Packet 3 was sent at 30 ms. Neither four later packets nor 9/8 of a round trip count any more.
    detector.on_ack([4..=7], AT(170));
    assert_eq!(asked(&mut detector, &path(), 170), []);
    assert_eq!(detector.timeout(), Some(AT(130) + Duration::from_nanos(5 << 23)));
}

#[test]
fn a_suspicion_that_is_refuted_in_time_reduces_nothing() {
    let mut detector = with_one_late(20);
    detector.on_ack([4..=7], AT(170));
    assert_eq!(asked(&mut detector, &path(), 170), []);
    assert_eq!(detector.timeout(), Some(AT(130) + Duration::from_nanos(5 << 23)));
    assert_eq!(asked(&mut detector, &path(), 172), [Resend(3)]);
    assert_eq!(detector.timeout(), Some(AT(180)), "30 ms + 100 ms + 50 ms");
    detector.on_ack([3..=7], AT(179));
    assert_eq!(asked(&mut detector, &path(), 181), []);
    assert_eq!(detector.timeout(), None);
    // Late by 49 ms, and a quarter more.
    assert_eq!(detector.waits().confirm, Duration::from_micros(61_250));
    let counts = Counts { suspected: 1, refuted: 1, ..Counts::default() };
    assert_eq!(detector.counts(), counts);
}

#[test]
fn a_confirmed_loss_reduces_the_window_and_its_arrival_restores_it() {
    let mut detector = with_one_late(20);
    detector.on_ack([4..=7], AT(170));
    assert_eq!(asked(&mut detector, &path(), 172), [Resend(3)]);
    assert_eq!(asked(&mut detector, &path(), 179), []);
    let reduce = Reduce { newest: 30, octets: 1000, window: 20_000 };
    assert_eq!(asked(&mut detector, &path(), 180), [reduce, Lost(3)]);
    assert_eq!(detector.lateness().losses(), 1);
    // The transport has long forgotten packet 3.
    detector.on_ack([3..=7], AT(900));
    assert_eq!(asked(&mut detector, &Path { window: 10_000, ..path() }, 900), [Restore(20_000)]);
    assert_eq!((detector.lateness().losses(), detector.counts().undone), (0, 1));
    assert_eq!(detector.lateness().longest(), MS(770));
}

#[test]
fn losses_of_one_window_reduce_it_once() {
    let mut detector = with_one_late(20);
    detector.on_ack([4..=4, 6..=9], AT(190));
    assert_eq!(
        asked(&mut detector, &path(), 200),
        [
            Resend(3),
            Resend(5),
            Reduce { newest: 50, octets: 2000, window: 20_000 },
            Lost(3),
            Lost(5),
        ]
    );
    // Packet 10 was sent before the reduction, packet 20 after it.
    detector.on_sent(20, 1000, AT(210));
    detector.on_sent(21, 1000, AT(220));
    detector.on_ack([11..=19, 21..=21], AT(320));
    assert_eq!(asked(&mut detector, &path(), 320), [Resend(10), Lost(10)]);
    let reduced = Path { window: 10_000, ..path() };
    let reduce = Reduce { newest: 210, octets: 1000, window: 10_000 };
    assert_eq!(asked(&mut detector, &reduced, 360), [Resend(20), reduce, Lost(20)]);
    // Packet 10 still supports the first reduction, and nothing the second.
    detector.on_ack([3..=5, 20..=20], AT(400));
    assert_eq!(asked(&mut detector, &reduced, 400), [Restore(10_000)]);
    detector.on_ack([10..=10], AT(410));
    assert_eq!(asked(&mut detector, &reduced, 410), [Restore(20_000)]);
}

/// Packet 3 is confirmed while packet 10, which was sent before that, is pending.
#[test]
fn after_an_undo_what_is_pending_counts_under_the_window_of_before() {
    let mut detector = with_one_late(20);
    let slow_start = Path { slow_start: true, ..path() };
    detector.on_ack([4..=7], AT(170));
    assert_eq!(asked(&mut detector, &slow_start, 172), [Resend(3)]);
    let reduce = Reduce { newest: 30, octets: 1000, window: 20_000 };
    assert_eq!(asked(&mut detector, &slow_start, 180), [reduce, Lost(3)]);
    detector.on_ack([8..=9, 11..=14], AT(240));
    let reduced = Path { window: 10_000, ..slow_start };
    assert_eq!(asked(&mut detector, &reduced, 243), [Resend(10)]);
    detector.on_ack([3..=3], AT(244));
    assert_eq!(asked(&mut detector, &reduced, 244), [Restore(20_000)]);
    // Late by 114 ms, so packet 10 is confirmed after 100 + 142.5. Nothing answers for it any more.
    assert_eq!(detector.timeout(), Some(Instant::from_nanos(342_500_000)));
    let restored = Path { window: 30_000, ..slow_start };
    let reduce = Reduce { newest: 100, octets: 1000, window: 20_000 };
    assert_eq!(asked(&mut detector, &restored, 343), [reduce, Lost(10)]);
}

#[test]
fn the_timeout_is_that_of_the_first_decision() {
    let mut detector = with_one_late(20);
    detector.on_ack([4..=4, 6..=7], AT(170));
    assert_eq!(asked(&mut detector, &path(), 172), [Resend(3)]);
    assert_eq!(
        detector.timeout(),
        Some(AT(180)),
        "packet 3 is confirmed, packet 5 suspected at 192 ms"
    );
}

#[test]
fn many_suspicions_at_a_time_are_an_overflow() {
    // Of 300 packets, one was late by 40 ms.
    let mut detector = sent(Settings::default(), 400);
    detector.on_ack([1..=300], AT(3100));
    detector.on_ack([0..=0], AT(3140));
    assert_eq!(asked(&mut detector, &path(), 3141), []);
    // Missing are 301 to 303. They are suspected a quarter of a round trip after 3110 to 3130 ms, since one
    // of 301 packets is less than 1 %, but nothing has been lost yet: 3.1 s late, at most 1 s.
    let waits = detector.waits();
    assert!(waits.confirm > waits.resend, "{waits:?}");
    detector.on_ack([304..=399], AT(4090));
    let due = 3030 + 100 + waits.resend.as_nanos() / 1_000_000 + 1;
    let asked = asked(&mut detector, &path(), due);
    let reduce = Reduce { newest: 3030, octets: 3000, window: 20_000 };
    assert_eq!(asked[..3], [Resend(301), Resend(302), Resend(303)]);
    assert_eq!(
        asked[3..],
        [reduce, Lost(301), Lost(302), Lost(303)],
        "three are a tenth of 20 and more"
    );
}

#[test]
fn a_reduction_starts_from_the_window_at_the_suspicion_if_that_was_in_slow_start() {
    for (slow_start, window) in [(true, 20_000), (false, 40_000)] {
        let mut detector = with_one_late(20);
        detector.on_ack([4..=7], AT(170));
        let then = Path { slow_start, ..path() };
        assert_eq!(asked(&mut detector, &then, 172), [Resend(3)]);
        let now = Path { window: 40_000, ..then };
        let reduce = Reduce { newest: 30, octets: 1000, window };
        assert_eq!(asked(&mut detector, &now, 180), [reduce, Lost(3)]);
    }
}

#[test]
fn slow_start_pauses_while_more_is_missing_than_lateness_explains() {
    let mut detector = with_one_late(40);
    let slow_start = Path { slow_start: true, ..path() };
    // The mean lateness is 40/3 ms of 100, so of 20 packets 8/3 are late at a time: 25/3 may be missing.
    detector.on_ack([12..=12], AT(220));
    assert!(!detector.may_grow(&slow_start), "3 to 11 are nine");
    assert!(detector.may_grow(&path()), "not in slow start");
    detector.on_ack([4..=4], AT(220));
    assert!(detector.may_grow(&slow_start));
}

#[test]
fn there_is_room_for_what_is_late() {
    let mut detector = sent(Settings::default(), 20);
    detector.on_ack([1..=9], AT(190));
    assert_eq!(detector.room(20_000), 0);
    detector.on_ack([0..=0], AT(200));
    // The reference is 100 ms, so packet 0 is late by 100 ms: of ten, the mean is 10 ms.
    assert_eq!(detector.room(20_000), 2000);
}

#[test]
fn a_mark_is_never_undone() {
    let mut detector = with_one_late(20);
    detector.on_ack([4..=7], AT(170));
    assert_eq!(asked(&mut detector, &path(), 172), [Resend(3)]);
    detector.on_reduction(20_000, AT(175));
    assert_eq!(asked(&mut detector, &path(), 180), [Lost(3)], "the mark answers for it");
    detector.on_ack([3..=7], AT(300));
    assert_eq!(asked(&mut detector, &path(), 300), []);
}

#[test]
fn a_forgotten_packet_is_neither_resent_nor_lost() {
    let mut detector = with_one_late(20);
    detector.forget(3);
    detector.on_ack([4..=4, 6..=7], AT(170));
    assert_eq!(asked(&mut detector, &path(), 195), [Resend(5)]);
    detector.forget(5);
    assert_eq!(asked(&mut detector, &path(), 300), []);
    assert_eq!(detector.timeout(), None);
}

#[test]
fn a_full_table_confirms_its_oldest_suspicion_early() {
    let settings = Settings { suspicions: 2, margin: 5.0, ..Settings::default() };
    let mut detector = with_one_later(20, 140, settings);
    // Late by 40 ms: confirmed after 100 + 200 ms.
    detector.on_ack([4..=4, 6..=6, 8..=19], AT(290));
    let asked = asked(&mut detector, &path(), 290);
    let reduce = Reduce { newest: 30, octets: 1000, window: 20_000 };
    assert_eq!(asked, [Resend(3), Resend(5), reduce, Lost(3), Resend(7)]);
}

#[test]
fn the_span_of_losses_ends_where_a_packet_was_acknowledged() {
    let mut detector = sent(Settings::default(), 100);
    detector.on_ack([0..=0], AT(100));
    detector.on_ack([50..=50, 99..=99], AT(1090));
    let spans: Vec<Duration> = std::iter::from_fn(|| detector.poll(&path(), AT(1090), || 0))
        .filter_map(|verdict| match verdict {
            Verdict::Reduce(reduction) => Some(reduction.span),
            _ => None,
        })
        .collect();
    // 1 to 9 were sent before the first acknowledgement, and 98 is not due yet: 10 to 49, and 51 to 97.
    assert_eq!(spans, [MS(460)]);
}

#[test]
fn packets_from_before_an_outage_are_not_late() {
    let mut detector = with_one_late(20);
    detector.on_timeout(&path(), AT(400));
    detector.on_sent(20, 1000, AT(400));
    detector.on_ack([20..=20], AT(500));
    detector.on_ack([3..=19], AT(510));
    assert_eq!(detector.lateness().longest(), MS(40));
}

#[test]
fn numbers_that_were_not_sent_are_ignored() {
    let mut detector = sent(Settings::default(), 5);
    detector.on_ack([7..=u64::MAX], AT(100));
    assert_eq!((asked(&mut detector, &path(), 500), detector.timeout()), (Vec::new(), None));
    detector.on_sent(3, 1000, AT(500));
    detector.on_ack([0..=2, 4..=4], AT(500));
    // The round trip is 460 ms, and 9/8 of it 517.
    let reduce = Reduce { newest: 30, octets: 1000, window: 20_000 };
    assert_eq!(asked(&mut detector, &path(), 548), [Resend(3), reduce, Lost(3)]);
}

/// A connection's state crosses threads in every asynchronous stack.
#[test]
fn a_detector_may_cross_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Detector<u64>>();
}
