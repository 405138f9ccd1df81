//! Counts what the detector allocates. This needs a counting allocator, which `allocation-counter` installs for
//! the whole program.

use unruffled_detector::{Detector, Duration, Instant, Path, Settings};

const PATH: Path = Path {
    min_rtt: Duration::from_millis(50),
    smoothed_rtt: Duration::from_millis(50),
    timeout: Duration::from_millis(150),
    window: 60_000,
    packet: 1200,
    slow_start: false,
};

/// Sends a packet each millisecond, from `from` to `to`. Every second one is acknowledged after 150 ms, every 97th not
/// at all, the others after 50 ms.
fn transfer(detector: &mut Detector<u64>, from: u64, to: u64) {
    for now in from..to {
        let at = Instant::from_millis(now);
        detector.on_sent(now, 1200, at);
        let arrives = |after: u64, late: bool| {
            now.checked_sub(after).filter(|n| n.is_multiple_of(2) == late && n % 97 != 0)
        };
        let acked = [arrives(50, false), arrives(150, true)];
        detector.on_ack(acked.into_iter().flatten().map(|number| number..=number), at);
        while detector.poll(&PATH, at, || PATH.window).is_some() {}
    }
}

#[test]
fn a_detector_allocates_nothing_once_its_tables_have_been_that_large() {
    let new = allocation_counter::measure(|| {
        let detector: Detector<u64> = Detector::new(Settings::default());
        assert_eq!(detector.room(60_000), 0);
    });
    assert_eq!(new.count_total, 0, "a new one");
    let mut detector = Detector::new(Settings::default());
    let first = allocation_counter::measure(|| transfer(&mut detector, 0, 20_000));
    assert!(first.count_total > 0, "the counter counts");
    // Packets ahead and missing, suspected ones, reductions, and the distribution.
    assert!(first.bytes_max < 64 << 10, "{} octets", first.bytes_max);
    let steady = allocation_counter::measure(|| transfer(&mut detector, 20_000, 200_000));
    let counts = detector.counts();
    assert!(counts.confirmed > 1800 && counts.suspected >= counts.confirmed, "{counts:?}");
    assert_eq!(steady.count_total, 0);
}

#[test]
fn with_capacity_only_the_first_late_packet_and_the_first_loss_allocate() {
    let mut detector = Detector::with_capacity(Settings::default(), 256, 256);
    let info = allocation_counter::measure(|| transfer(&mut detector, 0, 20_000));
    assert_eq!(info.count_total, 2, "the distribution, and the reductions");
}
