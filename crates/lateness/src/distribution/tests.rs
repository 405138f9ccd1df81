use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn of(latenesses: &[(u64, u32)]) -> Lateness {
    let mut l = Lateness::new(MS(3000), 0.01, 1.25);
    for &(ms, count) in latenesses {
        for _ in 0..count {
            if ms == 0 { l.in_order() } else { l.late(MS(ms)) }
        }
    }
    l.refresh(Instant::from_millis(10));
    l
}

#[test]
fn a_bin_ends_where_the_next_begins() {
    for at in 1..BINS - 1 {
        assert_eq!(bin(end(at)), at + 1);
        assert_eq!(bin(Duration::from_nanos(end(at).as_nanos() - 1)), at);
    }
    assert_eq!((bin(Duration::ZERO), bin(Duration::MAX)), (1, BINS - 1));
    assert_eq!(end(BINS - 1), Duration::from_nanos(1 << 34), "22 octaves from 2^12 ns on");
}

#[test]
fn the_quantile_leaves_out_the_share_that_is_lost_up_to_a_bound() {
    // Of 1000: 980 in order, ten late by 10 ms, ten by 40.
    let mut l = of(&[(0, 980), (10, 10), (40, 10)]);
    assert!(l.seen());
    // Nothing is lost: none may exceed it. The bin ends at 2^23 · 5 ns.
    let forty = Duration::from_nanos(5 << 23);
    assert_eq!((l.quantile(), l.longest(), l.safe()), (forty, MS(40), MS(50)));
    // 0.9 %: nine; still some of those late by 40.
    (0..9).for_each(|_| l.lost());
    l.refresh(Instant::from_millis(11));
    assert_eq!(l.quantile(), forty);
    // 1 % and any more are 1 %: ten, and 10 ms is within a bin that ends at 2^21 · 5 ns.
    (0..50).for_each(|_| l.lost());
    l.refresh(Instant::from_millis(12));
    assert_eq!(l.quantile(), Duration::from_nanos(5 << 21));
    (0..51).for_each(|_| l.found());
    l.refresh(Instant::from_millis(13));
    assert_eq!(l.quantile(), forty);
    assert_eq!(l.mean(), Duration::from_micros(500));
}

#[test]
fn what_is_late_in_no_more_than_is_lost_has_no_quantile() {
    let mut l = of(&[(0, 1000), (300, 1)]);
    assert!(l.quantile() >= MS(300));
    l.lost();
    l.refresh(Instant::from_millis(11));
    assert_eq!((l.quantile(), l.longest(), l.seen()), (Duration::ZERO, MS(300), true));
}

#[test]
fn the_mean_beyond_a_wait_leaves_out_what_came_within_it() {
    // Bins end at 10.49 and 41.94 ms.
    let l = of(&[(0, 80), (10, 10), (40, 10)]);
    let tenth = |ns: u64| Duration::from_nanos(ns) / 10;
    assert_eq!(l.mean_beyond(MS(100)), Duration::ZERO);
    assert_eq!(l.mean_beyond(MS(20)), tenth((5 << 23) - 20_000_000));
    assert_eq!(l.mean_beyond(Duration::ZERO), tenth((5 << 23) + (5 << 21)));
}

#[test]
fn a_lateness_counts_for_one_to_two_ages_and_a_thousand_samples() {
    let mut l = of(&[(0, 990), (20, 1)]);
    // Old enough, but too few.
    l.refresh(Instant::from_millis(5000));
    (0..9).for_each(|_| l.in_order());
    l.refresh(Instant::from_millis(5000));
    assert!(l.seen(), "the generation is the earlier one now");
    assert!(l.quantile() >= MS(20));
    (0..2000).for_each(|_| l.in_order());
    l.refresh(Instant::from_millis(7999));
    assert!(l.seen(), "the next one is not 3 s old");
    l.refresh(Instant::from_millis(8000));
    assert!(!l.seen());
    assert_eq!((l.longest(), l.safe()), (Duration::ZERO, Duration::ZERO));
    assert_eq!(l.quantile(), Duration::ZERO, "at once, not some samples later");
    assert_eq!(l.mean(), Duration::ZERO);
}

#[test]
fn two_generations_count_as_one() {
    // Each has 1000 samples, of which ten are late by 10 ms, and two losses.
    let mut l = of(&[(0, 990), (10, 10)]);
    (0..2).for_each(|_| l.lost());
    l.refresh(Instant::from_millis(3000));
    (0..990).for_each(|_| l.in_order());
    (0..10).for_each(|_| l.late(MS(10)));
    (0..2).for_each(|_| l.lost());
    assert!(l.seen());
    assert_eq!(l.mean(), Duration::from_micros(100));
    // 22 lost may exceed the quantile, but no more than 1 % of 2000.
    (0..18).for_each(|_| l.lost());
    l.refresh(Instant::from_millis(3001));
    assert_eq!(l.quantile(), Duration::ZERO);
    // Those found are taken from both, so that three are left: three more are late by 40 ms.
    (0..19).for_each(|_| l.found());
    (0..3).for_each(|_| l.late(MS(40)));
    l.refresh(Instant::from_millis(3002));
    assert_eq!(l.quantile(), Duration::from_nanos(5 << 21));
    assert_eq!((l.current.lost, l.earlier.lost), (1, 2));
    (0..2).for_each(|_| l.found());
    assert_eq!((l.current.lost, l.earlier.lost), (0, 1));
    // The first generation goes, with what is left of its losses.
    (0..1000).for_each(|_| l.in_order());
    l.refresh(Instant::from_millis(6002));
    assert_eq!((l.current.lost, l.earlier.lost), (0, 0));
    assert_eq!(l.quantile(), Duration::from_nanos(5 << 23));
}

#[test]
fn a_full_bin_stays_full_and_moves_no_quantile() {
    let mut l = of(&[(0, 100), (10, 70_000), (40, 3)]);
    (0..2).for_each(|_| l.lost());
    l.refresh(Instant::from_millis(11));
    assert_eq!(l.quantile(), Duration::from_nanos(5 << 23));
    (0..2).for_each(|_| l.lost());
    l.refresh(Instant::from_millis(12));
    assert_eq!(l.quantile(), Duration::from_nanos(5 << 21));
    // The mean does not come from the bins: 70 000 · 10 ms and 3 · 40 in 70 103.
    assert_eq!(l.mean(), Duration::from_nanos(700_120_000_000 / 70_103));
}

#[test]
fn it_is_small_and_takes_440_octets_more_when_something_was_late() {
    assert!(size_of::<Lateness>() <= 64, "{}", size_of::<Lateness>());
    assert!(of(&[(0, 5000)]).kept.is_none());
    let kept = of(&[(0, 5000), (1, 1)]).kept.expect("something was late");
    assert!(size_of_val(&*kept) <= 440, "{}", size_of_val(&*kept));
}

#[test]
fn what_was_missing_was_late_when_sixteen_are_for_each_that_was_lost() {
    // 30 ms fall into a bin that begins at 2^22 · 7 ns, and the wait of 25 ms into the one before.
    let mut l = of(&[(0, 100), (20, 50), (30, 15)]);
    l.lost();
    assert_eq!(l.likely_reordered_since(MS(25)), None, "fifteen were late by more");
    l.late(MS(30));
    assert_eq!(l.likely_reordered_since(MS(25)), Some(Instant::ZERO));
    l.lost();
    assert_eq!(l.likely_reordered_since(MS(25)), None, "two were lost");
    l.found();
    // What was lost counts as long as its generation does.
    for (ms, since) in [(4000, Some(0)), (8000, Some(4000)), (12_000, None)] {
        (0..1000).for_each(|_| l.in_order());
        (0..16).for_each(|_| l.late(MS(30)));
        l.refresh(Instant::from_millis(ms));
        if ms == 4000 {
            l.lost();
        }
        assert_eq!(l.likely_reordered_since(MS(25)), since.map(Instant::from_millis), "at {ms} ms");
    }
}

/// 25 Gb/s for the longest memory, a thousand seconds: no generation lasts for that.
#[test]
fn so_many_samples_that_their_count_would_wrap_are_a_generation() {
    let mut l = of(&[(0, 999), (40, 1)]);
    for at in [11, 12, 13] {
        l.current.samples += u32::MAX / 2;
        l.late(MS(40));
        l.refresh(Instant::from_millis(at));
        assert!(l.seen() && l.samples() > u32::MAX / 2, "{}", l.samples());
    }
}

#[test]
fn the_cheapest_wait_follows_from_the_shares_of_late_and_lost_samples() {
    // Of 1000: ten late by 10 ms and two by 40, in bins that end at 10.49 and 41.94 ms. A sample beyond the
    // wait costs 1 s.
    let mut l = of(&[(0, 988), (10, 10), (40, 2)]);
    let (ten, forty) = (Duration::from_nanos(5 << 21), MS(40));
    assert_eq!(l.cheapest_wait(MS(1000), MS(1000), false), forty, "nothing is lost: the longest");
    // To wait 31.46 ms longer for 63 lost ones costs 1.98 s, less than two late ones; for 64, 2.01 s.
    (0..63).for_each(|_| l.lost());
    assert_eq!(l.cheapest_wait(MS(1000), MS(1000), false), forty);
    l.lost();
    assert_eq!(l.cheapest_wait(MS(1000), MS(1000), false), ten);
    // Ten late ones cost as much as to wait 10.49 ms for 953.7 lost ones.
    (0..889).for_each(|_| l.lost());
    assert_eq!(l.cheapest_wait(MS(1000), MS(1000), false), ten, "953 lost");
    l.lost();
    assert_eq!(l.cheapest_wait(MS(1000), MS(1000), false), Duration::ZERO, "954 lost");
    assert_eq!(of(&[(0, 1000)]).cheapest_wait(MS(1000), MS(1000), false), Duration::ZERO);
}

#[test]
fn to_wait_for_rare_samples_costs_their_lateness() {
    // Of 1000: ten late by 10 ms and two by 40. Those of 40 ms cost 42 ms each within the wait, as much as
    // beyond it if that costs 42 ms.
    let l = of(&[(0, 988), (10, 10), (40, 2)]);
    assert_eq!(l.cheapest_wait(MS(43), MS(1000), true), MS(40));
    assert_eq!(l.cheapest_wait(MS(41), MS(1000), true), Duration::from_nanos(5 << 21));
    assert_eq!(l.cheapest_wait(MS(10), MS(1000), true), Duration::ZERO);
}
