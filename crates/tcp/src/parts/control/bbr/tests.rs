//! BBR on acknowledgements played by hand. Rates are in segments per second, times in milliseconds.

use super::super::SentState;
use super::*;

/// A sender and the path that its samples show.
struct Run {
    bbr: Bbr,
    window: Window,
    now: Instant,
    delivered: u64,
    lost: u64,
}

/// One acknowledgement.
#[derive(Clone, Copy)]
struct Ack {
    delivered: u32,
    lost: u32,
    /// Rate of delivery, measured over 100 ms.
    rate: f64,
    rtt: u64,
    in_flight: u32,
    /// Whether it begins a round trip.
    round: bool,
    loss_state: LossState,
    app_limited: bool,
}

const ACK: Ack = Ack {
    delivered: 10,
    lost: 0,
    rate: 1000.0,
    rtt: 100,
    in_flight: 100,
    round: true,
    loss_state: LossState::Open,
    app_limited: false,
};

impl Run {
    /// Begins a connection whose handshake took 100 ms.
    fn begin() -> Self {
        let mut run = Self {
            bbr: Bbr::new(10.0, 1),
            window: Window { cwnd: 10.0, ssthresh: f64::INFINITY },
            now: Instant::from_millis(20_000),
            delivered: 0,
            lost: 0,
        };
        let flow = run.flow();
        run.bbr.on_restart(&mut run.window, &flow);
        run
    }

    fn flow(&self) -> Flow {
        let rtt = Some(Duration::from_millis(100));
        Flow { now: self.now, flight: 10.0, srtt: rtt, min_rtt: rtt }
    }

    /// Plays an acknowledgement `ms` after the last one.
    fn ack(&mut self, ms: u64, ack: Ack) {
        self.now += Duration::from_millis(ms);
        let before = self.delivered;
        self.delivered += u64::from(ack.delivered);
        self.lost += u64::from(ack.lost);
        let sent_at = if ack.round { before } else { self.bbr.round_ends_at.saturating_sub(1) };
        let rate = DeliveryRate {
            sent: SentState {
                delivered: sent_at,
                app_limited: ack.app_limited,
                ..SentState::default()
            },
            delivered: (ack.rate / 10.0) as u64,
            lost: 0,
            interval: Duration::from_millis(100),
            age: Duration::from_millis(100),
        };
        let sample = PathSample {
            delivered: ack.delivered,
            lost: ack.lost,
            delivered_total: self.delivered,
            lost_total: self.lost,
            in_flight: ack.in_flight,
            in_flight_before: ack.in_flight + ack.delivered,
            window_full: false,
            rtt: Some(Duration::from_millis(ack.rtt)),
            ack_may_be_delayed: false,
            rate: Some(rate),
            loss_state: ack.loss_state,
            departs_in: Duration::ZERO,
        };
        let flow = self.flow();
        self.bbr.on_sample(&sample, &mut self.window, &flow);
    }

    /// Returns the window without the two segments of the phase that looks for more bandwidth.
    fn cwnd(&self) -> f64 {
        let probes = self.bbr.mode == Mode::ProbeBw && self.bbr.cycle.probes_up();
        self.window.cwnd - if probes { 2.0 } else { 0.0 }
    }

    /// Fills a path of 1000 segments per second and drains it.
    fn fill(&mut self) {
        for rate in [250.0, 500.0, 1000.0, 1000.0, 1000.0, 1000.0] {
            self.ack(100, Ack { rate, ..ACK });
        }
        assert_eq!(self.bbr.mode, Mode::ProbeBw);
    }
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6 * expected, "found {found}, expected {expected}");
}

#[test]
fn the_first_rate_is_the_initial_window_in_a_round_trip_times_the_gain() {
    let run = Run::begin();
    // 739/256 · 0.99 · 10 segments / 0.1 s.
    near(run.bbr.pacing.rate(), 285.785_156_25);
    let unmeasured = Bbr::new(10.0, 1);
    near(unmeasured.pacing.rate(), 28_578.515_625);
}

#[test]
fn startup_ends_after_three_round_trips_in_which_the_bandwidth_grows_by_less_than_a_quarter() {
    let mut run = Run::begin();
    let mut modes = Vec::new();
    for rate in [250.0, 500.0, 1000.0, 1000.0, 1240.0, 1240.0] {
        run.ack(100, Ack { rate, in_flight: 200, ..ACK });
        modes.push(run.bbr.mode);
    }
    let [startup, drain] = [Mode::Startup, Mode::Drain];
    assert_eq!(modes, [startup, startup, startup, startup, startup, drain]);
    // The bandwidth times 100 ms and three quanta of three, rounded up to an even number.
    assert_eq!(run.window.ssthresh, 134.0);
    near(run.bbr.pacing.rate(), 1240.0 * 0.99 * 88.0 / 256.0);
    // At the pacing rate of DRAIN, a quantum has two.
    run.ack(10, Ack { rate: 1240.0, in_flight: 131, round: false, ..ACK });
    assert_eq!(run.bbr.mode, Mode::Drain);
    run.ack(10, Ack { rate: 1240.0, in_flight: 130, round: false, ..ACK });
    assert_eq!(run.bbr.mode, Mode::ProbeBw);
}

#[test]
fn an_application_that_limits_the_rate_does_not_end_startup_or_lower_the_bandwidth() {
    let mut run = Run::begin();
    run.ack(100, Ack { rate: 500.0, ..ACK });
    for _ in 0..20 {
        run.ack(100, Ack { rate: 100.0, app_limited: true, ..ACK });
    }
    assert_eq!((run.bbr.mode, run.bbr.bandwidth()), (Mode::Startup, 500.0));
    run.ack(100, Ack { rate: 600.0, app_limited: true, ..ACK });
    assert_eq!(run.bbr.bandwidth(), 600.0, "more than the maximum counts all the same");
}

#[test]
fn the_window_is_twice_what_the_path_holds() {
    let mut run = Run::begin();
    run.fill();
    for _ in 0..100 {
        run.ack(10, Ack { round: false, in_flight: 90, ..ACK });
    }
    // 2 · 100 + 3 · 2, and what arrives at a time: 10 in 10 ms are not more than the bandwidth explains,
    // but the first ten of an epoch are.
    let aggregated = run.bbr.aggregation.window(1000.0);
    assert_eq!(run.cwnd(), 206.0 + aggregated);
}

#[test]
fn each_phase_of_the_cycle_lasts_for_a_round_trip_and_the_second_one_until_the_queue_has_drained() {
    let mut run = Run::begin();
    run.fill();
    while !run.bbr.cycle.probes_up() {
        run.ack(101, Ack { in_flight: 100, ..ACK });
    }
    near(run.bbr.pacing_gain, 1.25);
    // A round trip has passed, but 128 segments would have to be in flight, and none was lost.
    run.ack(101, Ack { in_flight: 100, ..ACK });
    near(run.bbr.pacing_gain, 1.25);
    run.ack(1, Ack { in_flight: 125, round: false, ..ACK });
    near(run.bbr.pacing_gain, 0.75);
    run.ack(50, Ack { in_flight: 110, round: false, ..ACK });
    near(run.bbr.pacing_gain, 0.75);
    run.ack(1, Ack { in_flight: 90, round: false, ..ACK });
    near(run.bbr.pacing_gain, 1.0);
}

#[test]
fn four_segments_are_in_flight_for_200_ms_when_the_minimum_round_trip_time_is_ten_seconds_old() {
    let mut run = Run::begin();
    run.fill();
    // The handshake's round-trip time counts until 30 s.
    while run.now < Instant::from_millis(29_900) {
        run.ack(100, Ack { rtt: 120, ..ACK });
    }
    assert_eq!(run.bbr.mode, Mode::ProbeBw);
    let before = run.cwnd();
    run.ack(200, Ack { rtt: 120, ..ACK });
    assert_eq!((run.bbr.mode, run.window.cwnd), (Mode::ProbeRtt, 4.0));
    assert!(run.bbr.holds_back());
    assert_eq!(run.bbr.min_rtt, Some(Duration::from_millis(120)));
    run.ack(100, Ack { rtt: 110, in_flight: 4, ..ACK });
    assert_eq!(run.bbr.min_rtt, Some(Duration::from_millis(110)));
    run.ack(150, Ack { rtt: 100, in_flight: 4, app_limited: true, ..ACK });
    assert_eq!(run.bbr.mode, Mode::ProbeRtt, "200 ms have not passed");
    run.ack(100, Ack { rtt: 100, in_flight: 4, app_limited: true, ..ACK });
    assert_eq!((run.bbr.mode, run.cwnd()), (Mode::ProbeBw, before));
}

#[test]
fn a_recovery_begins_with_packet_conservation_and_ends_with_the_window_before_it() {
    let mut run = Run::begin();
    run.fill();
    for _ in 0..100 {
        run.ack(10, Ack { round: false, in_flight: 90, ..ACK });
    }
    let before = run.cwnd();
    let flow = run.flow();
    assert_eq!(run.bbr.on_loss(&run.window, false, &flow), run.window.ssthresh);
    let recovery = Ack { loss_state: LossState::Recovery, round: false, ..ACK };
    run.ack(10, Ack { lost: 3, delivered: 2, in_flight: 80, ..recovery });
    assert_eq!(run.window.cwnd, 82.0);
    run.ack(10, Ack { delivered: 5, in_flight: 77, ..recovery });
    assert_eq!(run.window.cwnd, 82.0);
    // The next round trip grows by what is delivered.
    run.ack(100, Ack { delivered: 5, in_flight: 77, round: true, ..recovery });
    assert_eq!(run.window.cwnd, 87.0);
    run.ack(10, Ack { delivered: 1, round: false, ..ACK });
    assert_eq!(run.cwnd(), before);
}

#[test]
fn a_timeout_leaves_the_bandwidth_and_the_window_comes_back() {
    let mut run = Run::begin();
    run.fill();
    for _ in 0..100 {
        run.ack(10, Ack { round: false, in_flight: 90, ..ACK });
    }
    let before = run.cwnd();
    let flow = run.flow();
    run.bbr.on_loss(&run.window, true, &flow);
    run.window.cwnd = 1.0;
    run.ack(300, Ack { loss_state: LossState::Timeout, delivered: 1, in_flight: 1, ..ACK });
    assert_eq!((run.window.cwnd, run.bbr.bandwidth()), (4.0, 1000.0), "at least four segments");
    run.ack(10, Ack { round: false, delivered: 1, ..ACK });
    assert_eq!(run.cwnd(), before);
}

#[test]
fn after_a_pause_the_rate_is_that_of_the_path() {
    let mut run = Run::begin();
    run.fill();
    while !run.bbr.cycle.probes_up() {
        run.ack(101, Ack { in_flight: 100, ..ACK });
    }
    near(run.bbr.pacing.rate(), 1237.5);
    run.now += Duration::from_secs(15);
    let flow = run.flow();
    run.bbr.on_restart(&mut run.window, &flow);
    near(run.bbr.pacing.rate(), 990.0);
    // What follows a pause shows the minimum without PROBE_RTT.
    run.ack(100, Ack { in_flight: 10, ..ACK });
    assert_eq!(run.bbr.mode, Mode::ProbeBw);
}

#[test]
fn a_loss_of_startup_that_proves_spurious_begins_startup_again() {
    let mut run = Run::begin();
    run.ack(100, Ack { rate: 250.0, ..ACK });
    let recovery = Ack { loss_state: LossState::Recovery, delivered: 1, in_flight: 5, ..ACK };
    run.ack(100, Ack { rate: 250.0, lost: 4, ..recovery });
    assert_eq!(run.window.cwnd, 6.0);
    for _ in 0..3 {
        run.ack(100, Ack { rate: 200.0, in_flight: 20, ..recovery });
    }
    assert_eq!(run.bbr.mode, Mode::ProbeBw, "the recovery kept the rate down");
    // A loss after STARTUP and the refutation of three of its own losses.
    run.ack(100, Ack { rate: 250.0, lost: 1, ..recovery });
    assert_eq!(run.bbr.mode, Mode::ProbeBw);
    run.lost -= 3;
    run.ack(100, Ack { rate: 500.0, ..ACK });
    assert_eq!(run.bbr.mode, Mode::Startup);
    // The path is full again, and no further refutation concerns STARTUP.
    run.fill();
    run.lost -= 1;
    run.ack(10, ACK);
    assert_eq!(run.bbr.mode, Mode::Startup);
    run.fill();
    run.lost -= 1;
    run.ack(10, ACK);
    assert_eq!(run.bbr.mode, Mode::ProbeBw);
}
