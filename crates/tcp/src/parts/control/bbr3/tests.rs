//! BBR, version 3, on acknowledgements played by hand. Rates are in segments per second, times in
//! milliseconds.

use unruffled_units::Duration;

use super::super::{DeliveryRate, SentState};
use super::*;

/// A sender and the path that its samples show.
struct Run {
    bbr: Bbr3,
    window: Window,
    now: Instant,
    delivered: u64,
    lost: u64,
    /// Segments lost since the last acknowledgement.
    newly_lost: u32,
}

/// One acknowledgement.
#[derive(Clone, Copy)]
struct Ack {
    delivered: u32,
    /// Rate of delivery, measured over 100 ms.
    rate: f64,
    /// Segments lost in that time.
    lost: u64,
    rtt: u64,
    in_flight: u32,
    /// Milliseconds since the acknowledged segment was sent.
    age: u64,
    /// Segments that prove to be late and not lost.
    refuted: u64,
    /// Segments in flight when the acknowledged one was sent.
    sent_in_flight: u32,
    /// Whether it begins a round trip.
    round: bool,
    loss_state: LossState,
    app_limited: bool,
    window_full: bool,
}

const ACK: Ack = Ack {
    delivered: 10,
    rate: 1000.0,
    lost: 0,
    rtt: 100,
    in_flight: 100,
    age: 100,
    refuted: 0,
    sent_in_flight: 100,
    round: true,
    loss_state: LossState::Open,
    app_limited: false,
    window_full: false,
};

impl Run {
    /// Begins a connection whose handshake took 100 ms, with the draft's rules about losses.
    fn begin() -> Self {
        Self::with(Losses::Draft)
    }

    /// Begins a connection with these rules about losses.
    fn with(losses: Losses) -> Self {
        let mut run = Self {
            bbr: Bbr3::new(losses, 10.0, 1),
            window: Window { cwnd: 10.0, ssthresh: f64::INFINITY },
            now: Instant::from_millis(20_000),
            delivered: 0,
            lost: 0,
            newly_lost: 0,
        };
        let flow = run.flow();
        run.bbr.on_restart(&mut run.window, &flow);
        run
    }

    fn flow(&self) -> Flow {
        let rtt = Some(Duration::from_millis(100));
        Flow { now: self.now, flight: 10.0, srtt: rtt, min_rtt: rtt }
    }

    /// Plays an acknowledgement `ms` after the last one. It begins a round trip for the bounds, too.
    fn ack(&mut self, ms: u64, ack: Ack) {
        self.now += Duration::from_millis(ms);
        let before = self.delivered;
        self.delivered += u64::from(ack.delivered);
        self.lost -= ack.refuted;
        let sent_at = if ack.round { before } else { self.bbr.rounds.ends_at.saturating_sub(1) };
        let rate = DeliveryRate {
            sent: SentState {
                delivered: sent_at,
                in_flight: ack.sent_in_flight,
                app_limited: ack.app_limited,
                ..SentState::default()
            },
            delivered: (ack.rate / 10.0) as u64,
            lost: ack.lost,
            interval: Duration::from_millis(100),
            age: Duration::from_millis(ack.age),
        };
        let sample = PathSample {
            delivered: ack.delivered,
            lost: std::mem::take(&mut self.newly_lost),
            delivered_total: self.delivered,
            lost_total: self.lost,
            in_flight: ack.in_flight,
            in_flight_before: ack.in_flight + ack.delivered,
            window_full: ack.window_full,
            rtt: Some(Duration::from_millis(ack.rtt)),
            ack_may_be_delayed: false,
            rate: Some(rate),
            loss_state: ack.loss_state,
            departs_in: Duration::ZERO,
        };
        let flow = self.flow();
        self.bbr.on_sample(&sample, &mut self.window, &flow);
    }

    /// Loses segment `number`, sent when `sent_delivered` segments were delivered, `sent_lost` were lost and
    /// `in_flight` were in flight.
    fn lose(&mut self, number: u64, in_flight: u32, sent_delivered: u64, sent_lost: u64) {
        self.lost += 1;
        self.newly_lost += 1;
        let sent = SentState {
            delivered: sent_delivered,
            lost: sent_lost,
            in_flight,
            ..SentState::default()
        };
        let lost =
            LostSegment { number, sent, lost_total: self.lost, delivered_total: self.delivered };
        let flow = self.flow();
        self.bbr.on_lost(&lost, &self.window, &flow);
    }

    /// Plays a round trip. In PROBE_RTT little is in flight.
    fn step(&mut self, ack: Ack) {
        let in_flight = if self.bbr.state == State::ProbeRtt { 10 } else { ack.in_flight };
        self.ack(100, Ack { in_flight, ..ack });
    }

    /// Plays round trips until the sender is in `state`.
    fn until(&mut self, state: State, ack: Ack) {
        for _ in 0..200 {
            if self.bbr.state == state {
                return;
            }
            self.step(ack);
        }
        panic!("{:?} instead of {state:?} after 20 s", self.bbr.state);
    }

    /// Fills a path of 1000 segments per second, and drains it.
    fn fill(&mut self) {
        for rate in [250.0, 500.0, 1000.0, 1000.0, 1000.0, 1000.0] {
            self.ack(100, Ack { rate, ..ACK });
        }
        // The path holds the 100 segments in flight, so nothing has to drain.
        assert_eq!(self.bbr.state, State::Cruise);
    }

    /// Cruises until a probe fills the pipe, and begins the probe.
    fn probe(&mut self) {
        self.fill();
        self.until(State::Refill, ACK);
        self.ack(100, ACK);
        assert_eq!(self.bbr.state, State::Up);
    }

    fn loses(&mut self) -> bool {
        self.bbr.on_loss(&self.window.clone(), false, &self.flow()) == self.window.ssthresh
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected, "found {found}, expected {expected}");
}

#[test]
fn the_first_rate_is_the_initial_window_in_a_round_trip_times_the_gain() {
    near(Run::begin().bbr.pacing.rate(), 2.77 * 10.0 / 0.1);
    near(Bbr3::new(Losses::Draft, 10.0, 1).pacing.rate(), 2.77 * 10.0 / 0.001);
}

#[test]
fn startup_ends_after_three_round_trips_in_which_the_rate_is_level() {
    let mut run = Run::begin();
    let mut states = Vec::new();
    for rate in [250.0, 500.0, 1000.0, 1000.0, 1240.0, 1240.0] {
        run.ack(100, Ack { rate, in_flight: 200, ..ACK });
        states.push(run.bbr.state);
    }
    let [startup, drain] = [State::Startup, State::Drain];
    assert_eq!(states, [startup, startup, startup, startup, startup, drain]);
    near(run.bbr.pacing.rate(), 0.5 * 0.99 * 1240.0);
    assert_eq!(run.window.ssthresh, 124.0);
    // The path holds 124 segments.
    run.ack(10, Ack { rate: 1240.0, in_flight: 125, round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Drain);
    run.ack(10, Ack { rate: 1240.0, in_flight: 124, round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Cruise, "DOWN has nothing to drain");
    near(run.bbr.pacing.rate(), 0.99 * 1240.0);
}

#[test]
fn drain_ends_after_three_round_trips_even_if_more_is_in_flight() {
    let mut run = Run::begin();
    for rate in [250.0, 500.0, 1000.0, 1000.0, 1000.0, 1000.0] {
        run.ack(100, Ack { rate, in_flight: 300, ..ACK });
    }
    for _ in 0..3 {
        run.ack(100, Ack { in_flight: 300, ..ACK });
        assert_eq!(run.bbr.state, State::Drain);
    }
    run.ack(100, Ack { in_flight: 300, ..ACK });
    assert_eq!(run.bbr.state, State::Down);
}

#[test]
fn an_application_that_limits_the_rate_does_not_end_startup_or_lower_the_bandwidth() {
    let mut run = Run::begin();
    run.ack(100, Ack { rate: 500.0, ..ACK });
    for _ in 0..20 {
        run.ack(100, Ack { rate: 100.0, app_limited: true, ..ACK });
    }
    assert_eq!((run.bbr.state, run.bbr.bandwidth()), (State::Startup, 500.0));
    run.ack(100, Ack { rate: 600.0, app_limited: true, ..ACK });
    assert_eq!(run.bbr.bandwidth(), 600.0, "more than the maximum counts all the same");
}

/// Plays a round trip of STARTUP in recovery in which `ranges` ranges of two segments each are lost.
fn startup_with_losses(ranges: u64) -> Run {
    let mut run = Run::begin();
    run.ack(100, Ack { rate: 250.0, ..ACK });
    run.ack(100, Ack { rate: 500.0, ..ACK });
    assert!(run.loses());
    let recovery = Ack { loss_state: LossState::Recovery, rate: 1000.0, ..ACK };
    run.ack(100, recovery);
    for range in 0..ranges {
        let (number, sent) = (1000 + 10 * range, run.delivered);
        run.lose(number, 200, sent, 0);
        run.lose(number + 1, 200, sent, 0);
    }
    run.ack(100, Ack { rate: 2000.0, lost: 2 * ranges, sent_in_flight: 200, ..recovery });
    run
}

#[test]
fn startup_ends_when_six_ranges_are_lost_in_a_round_trip_of_recovery() {
    assert_eq!(startup_with_losses(5).bbr.state, State::Startup);
    let run = startup_with_losses(6);
    assert_ne!(run.bbr.state, State::Startup);
    // Of 2000 segments per second the path holds 200 in 100 ms.
    assert_eq!(run.bbr.long_term.bound, 200.0);
}

#[test]
fn startup_begins_again_when_the_losses_that_ended_it_prove_spurious() {
    let mut run = startup_with_losses(6);
    let window = run.window;
    let before = Undo { bounds: Bounds::NONE, long_term: f64::INFINITY };
    run.bbr.on_undo(&window, &Snapshot(Variables::Bbr3(before)));
    assert_eq!((run.bbr.state, run.bbr.full_pipe.reached), (State::Startup, false));
    assert!(run.bbr.long_term.bound.is_infinite());
}

#[test]
fn the_cycle_goes_down_cruises_refills_for_a_round_trip_and_probes_until_the_rate_is_level() {
    let mut run = Run::begin();
    run.fill();
    run.bbr.start_down(run.now);
    run.ack(10, Ack { in_flight: 101, round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Down, "the path holds 100");
    near(run.bbr.pacing.rate(), 891.0);
    run.ack(10, Ack { in_flight: 100, round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Cruise);
    near(run.bbr.pacing.rate(), 990.0);
    let began = run.now;
    run.until(State::Refill, ACK);
    let lasted = run.now.since(began).as_secs_f64();
    assert!((1.9..3.2).contains(&lasted), "{lasted} s");
    assert_eq!(run.bbr.state, State::Refill);
    near(run.bbr.pacing.rate(), 990.0);
    run.ack(50, Ack { round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Refill);
    run.ack(50, ACK);
    assert_eq!(run.bbr.state, State::Up);
    near(run.bbr.pacing.rate(), 1237.5);
    // Three level round trips, after the one in which it began.
    for _ in 0..2 {
        run.ack(100, Ack { rate: 1010.0, ..ACK });
        assert_eq!(run.bbr.state, State::Up);
    }
    run.ack(100, Ack { rate: 1010.0, ..ACK });
    assert_eq!(run.bbr.state, State::Down);
}

#[test]
fn a_maximum_of_the_bandwidth_lasts_for_two_cycles() {
    let mut run = Run::begin();
    run.probe();
    run.ack(100, Ack { rate: 1200.0, ..ACK });
    // The probe of the next cycle has ended a round trip ago: 1200 belongs to the cycle before.
    let mut cycles = 0;
    for _ in 0..200 {
        let before = run.bbr.cycles;
        run.step(ACK);
        cycles += u32::from(run.bbr.cycles > before);
        if cycles < 2 {
            assert_eq!(run.bbr.bandwidth.get(), 1200.0);
        }
    }
    assert_eq!(run.bbr.bandwidth.get(), 1000.0);
}

#[test]
fn a_probe_that_loses_more_than_two_percent_bounds_what_is_in_flight() {
    let mut run = Run::begin();
    run.probe();
    let (delivered, lost) = (run.delivered, run.lost);
    for number in 0..2 {
        run.lose(5000 + 10 * number, 120, delivered, lost);
    }
    assert!(run.bbr.long_term.bound.is_infinite(), "2 of 120 are less than 2 %");
    run.lose(5100, 120, delivered, lost);
    assert_eq!(run.bbr.state, State::Down);
    // 119 before the third loss, of which 2.38 may be lost, and two are.
    near(run.bbr.long_term.bound, 119.0 + 0.38 / 0.98);
    for number in 0..10 {
        run.lose(5200 + 10 * number, 100, delivered, lost);
    }
    near(run.bbr.long_term.bound, 119.0 + 0.38 / 0.98);
}

#[test]
fn the_bound_of_a_probe_is_at_least_seven_tenths_of_what_the_path_holds() {
    let mut run = Run::begin();
    run.probe();
    let (delivered, lost) = (run.delivered, run.lost);
    run.lose(5000, 20, delivered, lost);
    near(run.bbr.long_term.bound, 70.0);
}

#[test]
fn losses_of_segments_from_before_the_probe_do_not_bound_it() {
    let mut run = Run::begin();
    run.fill();
    let delivered = run.delivered;
    run.until(State::Refill, ACK);
    run.ack(100, ACK);
    for number in 0..20 {
        run.lose(10 * number, 20, delivered, 0);
    }
    assert_eq!(run.bbr.state, State::Up);
    assert!(run.bbr.long_term.bound.is_infinite());
}

#[test]
fn a_verdict_after_the_probe_counts_for_it_and_relates_its_losses_to_one_round_trip() {
    let mut run = Run::begin();
    run.probe();
    let (delivered, lost) = (run.delivered, run.lost);
    run.until(State::Cruise, Ack { delivered: 100, ..ACK });
    assert!(run.delivered - delivered >= 400);
    for number in 0..8 {
        run.lose(10 * number, 100, delivered, lost);
    }
    assert!(run.bbr.long_term.bound.is_infinite(), "two a round trip");
    (8..20).for_each(|number| run.lose(10 * number, 100, delivered, lost));
    assert!(run.bbr.long_term.bound < 100.0);
    assert_eq!(run.bbr.state, State::Cruise);
}

#[test]
fn a_bound_leaves_headroom_while_the_sender_cruises_and_grows_when_a_probe_reaches_it() {
    let mut run = Run::begin();
    run.fill();
    run.bbr.long_term.bound = 100.0;
    for _ in 0..10 {
        run.ack(10, Ack { in_flight: 85, sent_in_flight: 90, round: false, ..ACK });
    }
    assert_eq!((run.bbr.state, run.window.cwnd), (State::Cruise, 85.0));
    run.until(State::Refill, Ack { in_flight: 85, sent_in_flight: 90, ..ACK });
    let full = Ack { window_full: true, sent_in_flight: 90, delivered: 100, ..ACK };
    run.ack(100, full);
    assert_eq!((run.bbr.state, run.window.cwnd), (State::Up, 100.0));
    // A segment for the window of 100, then two for the next one, then four.
    for bound in [101.0, 103.0, 107.0] {
        run.ack(100, full);
        assert!((run.bbr.long_term.bound - bound).abs() <= 1.0, "{}", run.bbr.long_term.bound);
        assert_eq!(run.bbr.state, State::Up, "the bound limits the rate, so that it is level");
        run.ack(1, Ack { round: false, delivered: 1, ..full });
    }
}

#[test]
fn the_probe_after_one_that_lost_too_much_ends_at_the_bound_and_the_next_one_follows_at_once() {
    let mut run = Run::begin();
    run.probe();
    let (delivered, lost) = (run.delivered, run.lost);
    (0..3).for_each(|number| run.lose(10 * number, 120, delivered, lost));
    run.until(State::Up, Ack { in_flight: 90, ..ACK });
    run.ack(10, Ack { in_flight: 119, round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Up);
    run.ack(10, Ack { in_flight: 120, round: false, ..ACK });
    assert_eq!(run.bbr.state, State::Down);
    run.ack(100, ACK);
    assert_eq!(run.bbr.state, State::Refill, "nothing was lost at the bound");
}

#[test]
fn a_round_trip_with_a_loss_lowers_the_bounds_to_what_it_delivers_but_by_three_tenths_at_most() {
    let mut run = Run::begin();
    run.fill();
    let cwnd = run.window.cwnd;
    run.ack(100, ACK);
    assert_eq!(run.bbr.state, State::Cruise);
    run.lose(1, 100, run.delivered, run.lost);
    run.ack(100, Ack { rate: 900.0, ..ACK });
    // The maxima of this round trip are those of the acknowledgement before: 1000 and 100.
    assert_eq!(run.bbr.bounds.bandwidth, 1000.0);
    assert_eq!(run.bbr.bounds.inflight, 100.0_f64.max(0.7 * (cwnd + 10.0).min(run.window.cwnd)));
    run.lose(2, 100, run.delivered, run.lost);
    run.ack(100, Ack { rate: 500.0, ..ACK });
    assert_eq!(run.bbr.bounds.bandwidth, 900.0);
    run.lose(3, 100, run.delivered, run.lost);
    run.ack(100, Ack { rate: 500.0, ..ACK });
    assert_eq!(run.bbr.bounds.bandwidth, 630.0, "seven tenths are more than 500");
    near(run.bbr.pacing.rate(), 0.99 * 630.0);
    run.ack(100, Ack { rate: 500.0, ..ACK });
    assert_eq!(run.bbr.bounds.bandwidth, 630.0, "nothing was lost");
    run.until(State::Refill, Ack { rate: 500.0, ..ACK });
    assert_eq!(run.bbr.bounds, Bounds::NONE);
}

#[test]
fn a_spurious_reduction_brings_back_the_bounds_from_before_it_and_the_probe() {
    let mut run = Run::begin();
    run.probe();
    let before = run.bbr.snapshot();
    assert!(run.loses());
    let (delivered, lost) = (run.delivered, run.lost);
    (0..3).for_each(|number| run.lose(10 * number, 120, delivered, lost));
    run.ack(100, Ack { rate: 700.0, ..ACK });
    run.lose(100, 100, run.delivered, run.lost);
    run.ack(100, Ack { rate: 700.0, ..ACK });
    assert!(run.bbr.long_term.bound.is_finite() && run.bbr.bounds.bandwidth.is_finite());
    let window = run.window;
    run.bbr.on_undo(&window, &before);
    assert!(run.bbr.long_term.bound.is_infinite());
    assert_eq!((run.bbr.bounds, run.bbr.state), (Bounds::NONE, State::Refill));
}

#[test]
fn half_of_what_the_path_holds_is_in_flight_for_200_ms_when_the_minimum_is_five_seconds_old() {
    let mut run = Run::begin();
    run.fill();
    // The handshake's round-trip time of 100 ms is from 20 s.
    while run.now < Instant::from_millis(25_000) {
        run.ack(100, Ack { rtt: 120, in_flight: 90, ..ACK });
    }
    assert!(run.bbr.state.probes_bandwidth());
    let before = run.window.cwnd;
    run.ack(100, Ack { rtt: 120, in_flight: 90, ..ACK });
    assert_eq!((run.bbr.state, run.window.cwnd), (State::ProbeRtt, 50.0));
    assert!(run.bbr.holds_back());
    assert_eq!(run.bbr.min_rtt.get(), Some(Duration::from_millis(100)));
    run.ack(100, Ack { rtt: 110, in_flight: 50, app_limited: true, ..ACK });
    run.ack(200, Ack { rtt: 101, in_flight: 50, app_limited: true, ..ACK });
    assert_eq!(run.bbr.state, State::ProbeRtt, "not more than 200 ms");
    run.ack(1, Ack { rtt: 101, in_flight: 50, app_limited: true, ..ACK });
    assert_eq!(run.bbr.state, State::Cruise);
    assert!(run.window.cwnd >= before, "the window comes back at once");
}

#[test]
fn a_recovery_ends_with_the_window_before_it() {
    let mut run = Run::begin();
    run.fill();
    (0..20).for_each(|_| run.ack(10, Ack { round: false, in_flight: 90, ..ACK }));
    let before = run.window.cwnd;
    assert!(run.bbr.on_loss(&run.window.clone(), true, &run.flow()) == run.window.ssthresh);
    run.window.cwnd = 1.0;
    let timeout = Ack { loss_state: LossState::Timeout, delivered: 1, round: false, ..ACK };
    run.ack(300, timeout);
    assert_eq!(run.window.cwnd, 4.0, "at least four segments");
    run.ack(10, timeout);
    assert_eq!(run.window.cwnd, 5.0);
    run.ack(10, Ack { delivered: 1, round: false, ..ACK });
    assert_eq!(run.window.cwnd, before);
}

#[test]
fn after_a_pause_the_rate_is_that_of_the_path() {
    let mut run = Run::begin();
    run.probe();
    near(run.bbr.pacing.rate(), 1237.5);
    run.now += Duration::from_secs(15);
    let flow = run.flow();
    run.bbr.on_restart(&mut run.window, &flow);
    near(run.bbr.pacing.rate(), 990.0);
    run.ack(100, Ack { in_flight: 10, ..ACK });
    assert_ne!(run.bbr.state, State::ProbeRtt, "what follows a pause shows the minimum");
}

#[test]
fn losses_that_a_path_may_show_at_random_do_not_lower_the_bounds() {
    for (losses, tolerated) in [(Losses::Draft, 0), (Losses::Significant, 4)] {
        let mut run = Run::with(losses);
        run.fill();
        // Of 100 in flight, 2 + 2 · √2 = 4.8 may be lost.
        for lost in 1..=4 {
            run.lose(lost, 100, run.delivered, run.lost);
            run.ack(100, Ack { rate: 980.0, lost, ..ACK });
            assert_eq!(run.bbr.bounds == Bounds::NONE, lost <= tolerated, "{losses:?}: {lost}");
        }
        run.lose(5, 100, run.delivered, run.lost);
        run.ack(100, Ack { rate: 950.0, lost: 5, ..ACK });
        assert!(run.bbr.bounds.bandwidth.is_finite(), "{losses:?}");
    }
}

#[test]
fn a_mark_lowers_the_bounds_whatever_is_lost() {
    let mut run = Run::with(Losses::Significant);
    run.fill();
    let flow = run.flow();
    run.bbr.on_ecn(&run.window.clone(), &flow);
    run.ack(100, Ack { rate: 900.0, ..ACK });
    assert_eq!(run.bbr.bounds.bandwidth, 1000.0);
    run.ack(100, Ack { rate: 900.0, ..ACK });
    assert_eq!(run.bbr.bounds.bandwidth, 1000.0, "neither a mark nor a loss");
}

#[test]
fn a_random_loss_among_few_segments_does_not_bound_a_probe() {
    for (losses, tolerated) in [(Losses::Draft, 0), (Losses::Significant, 1)] {
        let mut run = Run::with(losses);
        run.probe();
        let (delivered, lost) = (run.delivered, run.lost);
        // Of 20, 0.4 + 2 · √0.4 = 1.7 may be lost.
        for number in 1..=2 {
            run.lose(5000 + 10 * number, 20, delivered, lost);
            let bounded = run.bbr.long_term.bound.is_finite();
            assert_eq!(bounded, number > tolerated, "{losses:?}: {number}");
        }
    }
}

#[test]
fn startup_goes_on_when_most_of_the_losses_that_ended_it_were_late() {
    let mut run = startup_with_losses(6);
    assert_ne!(run.bbr.state, State::Startup);
    // Another loss begins another reduction, so that none of the two can be spurious as a whole.
    assert!(run.loses());
    // 12 of 200 were lost, and 4 may be.
    run.ack(10, Ack { refuted: 7, round: false, ..ACK });
    assert_ne!(run.bbr.state, State::Startup);
    run.ack(10, Ack { refuted: 1, round: false, ..ACK });
    assert_eq!((run.bbr.state, run.bbr.full_pipe.reached), (State::Startup, false));
    assert!(run.bbr.long_term.bound.is_infinite());
}

#[test]
fn a_probe_goes_on_when_the_losses_that_ended_it_were_late_and_not_when_others_of_it_are_lost() {
    for (late, state) in [(1, State::Down), (2, State::Refill)] {
        let mut run = Run::begin();
        run.probe();
        let (delivered, lost) = (run.delivered, run.lost);
        // Two of 120 may be lost. The third ends the probe, and the fourth is found later.
        (0..4).for_each(|number| run.lose(10 * number, 120, delivered, lost));
        assert_eq!(run.bbr.state, State::Down);
        assert!(run.loses());
        run.ack(10, Ack { refuted: late, in_flight: 200, round: false, ..ACK });
        assert_eq!(run.bbr.state, state, "{late} late");
        assert_eq!(run.bbr.long_term.bound.is_infinite(), late == 2);
    }
}

#[test]
fn a_late_segment_that_was_sent_again_begins_no_round_trip() {
    let mut run = Run::begin();
    run.ack(100, Ack { rate: 250.0, ..ACK });
    let (rounds, bandwidth) = (run.bbr.rounds, run.bbr.bandwidth());
    // Acknowledged 30 ms after the second transmission, on a path of 100 ms.
    run.ack(30, Ack { rate: 900.0, age: 30, ..ACK });
    assert_eq!((run.bbr.rounds.count, run.bbr.bandwidth()), (rounds.count, bandwidth));
    run.ack(70, Ack { rate: 900.0, ..ACK });
    assert_eq!((run.bbr.rounds.count, run.bbr.bandwidth()), (rounds.count + 1, 900.0));
}
