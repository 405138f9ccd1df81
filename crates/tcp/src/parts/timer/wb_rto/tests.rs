//! WB-RTO's penalty, weights and draws, with hand-computed bounds.

use super::*;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn draw(timer: &mut WbRto, rtt: Duration, cwnd: f64) -> Duration {
    timer.draw(rtt, cwnd).expect("WB-RTO draws each time")
}

const PLAIN: Settings = Settings {
    awnd_gain: 0.0,
    forget: Forget::BeforeDraw,
    backoff: Backoff::None,
    first: First::Standard,
    draws: Draws::Own,
};

const RESETS_LATE: Settings = Settings { forget: Forget::AfterDraw, ..PLAIN };

/// Returns a timer with a constant average window of `awnd`.
fn timer(scale: Scale, awnd: f64, seed: u64) -> WbRto {
    WbRto::new(scale, PLAIN, 2.0 * awnd, seed)
}

#[test]
fn the_penalty_depends_on_the_share_of_the_largest_window() {
    // max_cwnd 40: 1 below 20, 1.5 from 20 to below 30, 2 from 30.
    let by_window = [1.0, 19.9, 20.0, 29.9, 30.0, 40.0].map(|cwnd| penalty(cwnd, 40.0));
    assert_eq!(by_window, [1.0, 1.0, 1.5, 1.5, 2.0, 2.0]);
}

#[test]
fn the_weight_depends_on_the_average_window() {
    let awnd = [0.0, 4.9, 5.0, 9.9, 10.0, 29.9, 30.0, 49.9, 50.0, 500.0];
    let weights = |scale| awnd.map(|awnd| weight(awnd, scale));
    assert_eq!(weights(&MEDIUM_SCALE), [10.0, 10.0, 5.0, 5.0, 3.0, 3.0, 2.0, 2.0, 2.0, 2.0]);
    assert_eq!(weights(&SMALL_SCALE), [5.0, 5.0, 3.0, 3.0, 2.0, 2.0, 1.5, 1.5, 1.5, 1.5]);
    assert_eq!(weights(&WIDE_SCALE), [20.0, 20.0, 10.0, 10.0, 5.0, 5.0, 3.0, 3.0, 3.0, 3.0]);
}

#[test]
fn draws_fill_the_interval_evenly() {
    // awnd 7 and cwnd = max_cwnd: c·a_2 = 2·5 = 10 s; rtt 2 s: (2 s, 10 s), quarters of 2 s.
    let mut timer = timer(MEDIUM_SCALE, 7.0, 1);
    let mut quarters = [0_u32; 4];
    for _ in 0..4000 {
        let drawn = draw(&mut timer, ms(2000), 8.0);
        assert!(drawn >= ms(2000) && drawn < ms(10_000), "{drawn}");
        quarters[((drawn - ms(2000)).as_secs_f64() / 2.0) as usize] += 1;
    }
    // 1000 each; the deviation of a binomial(4000, 1/4) is 27.
    assert!(quarters.iter().all(|n| n.abs_diff(1000) < 110), "{quarters:?}");
}

#[test]
fn senders_draw_their_own_numbers_or_all_the_same_ones() {
    let drawn = |draws, seed| {
        let config = Config::simulated().with(|c| c.seed = seed);
        let settings = Settings { draws, ..PLAIN };
        build(settings, MEDIUM_SCALE, &config).draw(ms(100), 10.0)
    };
    assert_eq!(drawn(Draws::Alike, 1), drawn(Draws::Alike, 2));
    assert_ne!(drawn(Draws::Own, 1), drawn(Draws::Own, 2));
}

#[test]
fn the_bound_follows_the_penalty() {
    // awnd 40, max_cwnd 40: c·a_4 = 2 s at cwnd 10, 3 s at 25, 4 s at 40.
    let mut timer = timer(MEDIUM_SCALE, 40.0, 1);
    draw(&mut timer, ms(100), 40.0);
    for (cwnd, bound) in [(10.0, 2.0), (25.0, 3.0), (40.0, 4.0)] {
        let greatest = (0..2000).map(|_| draw(&mut timer, ms(100), cwnd)).max().unwrap_or_default();
        let greatest = greatest.as_secs_f64();
        assert!(greatest < bound && greatest > 0.99 * bound, "{cwnd}: {greatest}");
    }
}

#[test]
fn no_timeout_is_below_the_round_trip_time() {
    // Small scale, awnd 60: c·a_4 = 2·1.5 = 3 s, at most the round-trip time: exactly that.
    let mut timer = timer(SMALL_SCALE, 60.0, 1);
    assert!((0..100).all(|_| draw(&mut timer, ms(3500), 60.0) == ms(3500)));
    assert!((0..100).all(|_| draw(&mut timer, ms(3000), 60.0) == ms(3000)));
}

#[test]
fn a_reset_after_the_draw_leaves_the_retransmission_the_smaller_penalty() {
    // awnd 40, max_cwnd 40: the timer of the retransmission, with cwnd 1, has c = 1: below 2 s.
    // Then 1 is the largest window, c = 2: below 4 s. 200 timeouts, each after a window of 40.
    let mut timer = WbRto::new(MEDIUM_SCALE, RESETS_LATE, 80.0, 1);
    let mut second = Vec::new();
    for _ in 0..200 {
        draw(&mut timer, ms(100), 40.0);
        timer.on_timeout();
        assert!(draw(&mut timer, ms(100), 1.0) < ms(2000));
        second.push(draw(&mut timer, ms(100), 1.0));
    }
    let greatest = second.into_iter().max().unwrap_or_default();
    assert!(greatest > ms(3000) && greatest < ms(4000), "{greatest}");
}

#[test]
fn a_second_timeout_compares_with_the_window_since_the_first() {
    // "Since the last timeout expiration": 1 is the largest window since then, so c = 2.
    let mut timer = WbRto::new(MEDIUM_SCALE, RESETS_LATE, 80.0, 1);
    let mut again = || {
        draw(&mut timer, ms(100), 40.0);
        timer.on_timeout();
        draw(&mut timer, ms(100), 1.0);
        timer.on_timeout();
        draw(&mut timer, ms(100), 1.0)
    };
    assert!((0..200).any(|_| again() > ms(3000)));
}

#[test]
fn a_timeout_resets_the_largest_window() {
    // awnd 40. Before the timeout, cwnd 1 is far below max_cwnd 40: the bound is 2 s. After it, 1
    // is the largest window: the bound is 4 s, and draws above 2 s appear.
    let mut timer = timer(MEDIUM_SCALE, 40.0, 1);
    draw(&mut timer, ms(100), 40.0);
    assert!((0..200).all(|_| draw(&mut timer, ms(100), 1.0) < ms(2000)));
    timer.on_timeout();
    assert!((0..200).any(|_| draw(&mut timer, ms(100), 1.0) > ms(3000)));
}

#[test]
fn each_expiry_doubles_the_draw_until_a_round_trip_is_measured() {
    // rtt 30 s is above every bound of awnd 7, at most 10 s: each draw is the rtt itself, times 1,
    // 2, 4 … 64 and no more.
    let mut timer = WbRto { doubles: true, ..timer(MEDIUM_SCALE, 7.0, 1) };
    let rtt = ms(30_000);
    let mut factors = Vec::new();
    for _ in 0..9 {
        factors.push(draw(&mut timer, rtt, 1.0).as_secs_f64() / 30.0);
        assert_eq!(timer.drawn(), Some(rtt * (1 << timer.doublings)));
        timer.on_timeout();
    }
    assert_eq!(factors, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0, 64.0]);
    timer.on_sample(rtt);
    assert_eq!(draw(&mut timer, rtt, 1.0), rtt);
    let mut plain = self::timer(MEDIUM_SCALE, 7.0, 1);
    (0..9).for_each(|_| plain.on_timeout());
    assert_eq!(draw(&mut plain, rtt, 1.0), rtt, "without backoff");
}

#[test]
fn draws_depend_on_the_seed_only() {
    let draws = |seed| {
        let mut timer = timer(MEDIUM_SCALE, 7.0, seed);
        [0; 5].map(|_| draw(&mut timer, ms(100), 8.0))
    };
    assert_eq!(draws(7), draws(7));
    assert_ne!(draws(7), draws(8));
}

#[test]
fn the_first_timeout_is_drawn_if_configured() {
    let first = |first, seed| {
        let config = Config::simulated().with(|c| c.seed = seed);
        let timer = build(Settings { first, ..PLAIN }, MEDIUM_SCALE, &config);
        crate::parts::timer::Rto::new(&config, timer).compute(1.0, None)
    };
    // cwnd = max_cwnd and awnd 5: at most 2·5 s.
    let drawn: Vec<_> = (0..200).map(|seed| first(First::Drawn, seed)).collect();
    assert!(drawn.iter().all(|&timeout| timeout < ms(10_000)));
    assert!(drawn.iter().any(|&timeout| timeout < ms(500)));
    assert!(drawn.iter().any(|&timeout| timeout > ms(9_000)));
    assert_eq!(first(First::Standard, 1), ms(1000));
}

#[test]
fn the_average_window_moves_by_its_gain() {
    // Starts at half the initial window of 10; gain 0.1, cwnd 25: 5 + 0.1·20 = 7, + 0.1·18.
    let mut timer = WbRto::new(MEDIUM_SCALE, Settings { awnd_gain: 0.1, ..PLAIN }, 10.0, 1);
    timer.on_progress(25.0);
    assert!((timer.awnd - 7.0).abs() < 1e-12);
    timer.on_progress(25.0);
    assert!((timer.awnd - 8.8).abs() < 1e-12);
}
