//! The cycle in which the sender probes for bandwidth (draft-ietf-ccwg-bbr-06, section 5.3.3).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng as _;
use unruffled_units::{Duration, Instant};

use super::loss_rate::LossRate;
use super::signals::{BETA, Bounds};
use super::{Bbr3, State};
use crate::parts::control::{DeliveryRate, PathSample, SentState};

/// Minimum time between two probes. A second at random comes in addition.
const MIN_PROBE_WAIT: f64 = 2.0;

/// Maximum number of round trips between two probes, for coexistence with Reno.
const MAX_PROBE_ROUNDS: f64 = 63.0;

/// What the acknowledgements show that arrive at present (BBR.ack_phase).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Acks {
    /// No probe.
    #[default]
    Init,
    /// What was sent before a probe.
    Refilling,
    /// The probe begins.
    Starting,
    /// What was sent in the probe.
    Feedback,
    /// What was sent in the probe, which is over.
    Stopping,
}

/// The segments of a probe, by the number of segments that were delivered when they were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Probe {
    from: u64,
    /// Unset while the probe lasts.
    until: Option<u64>,
}

/// The state of the cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cycle {
    acks: Acks,
    /// Begin of the cycle (BBR.cycle_stamp).
    began: Instant,
    /// Time until the next probe (BBR.bw_probe_wait).
    wait: Duration,
    /// Round trips since the last probe (BBR.rounds_since_probe_up).
    pub(super) rounds: u32,
    /// The last probe, unless the sender has responded to its losses (BBR.is_bw_probe_sample).
    probe: Option<Probe>,
    /// Whether the last probe lost too much (BBR.prev_probe_too_high).
    too_high: bool,
    /// Whether it ended early because the one before it had lost too much (BBR.prev_probe_precautionary).
    precautionary: bool,
}

impl Cycle {
    /// Draws the time until the next probe (PickProbeWait).
    fn draw_wait(&mut self, rng: &mut Xoshiro256PlusPlus) {
        self.rounds = u32::from(rng.next_u64() % 2 == 1);
        let fraction = (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        self.wait = Duration::from_secs_f64(MIN_PROBE_WAIT + fraction);
    }

    /// Records that PROBE_RTT ends the probe, if there is one.
    pub(super) fn stop_probe(&mut self, delivered: u64) {
        self.acks = Acks::Stopping;
        if let Some(probe) = &mut self.probe {
            probe.until.get_or_insert(delivered);
        }
    }

    /// Returns whether a segment belongs to a probe to whose losses the sender has not responded.
    fn is_of_probe(&self, sent: &SentState) -> bool {
        self.probe.is_some_and(|probe| {
            sent.delivered >= probe.from && probe.until.is_none_or(|until| sent.delivered <= until)
        })
    }
}

impl Bbr3 {
    /// Begins the phase in which the queue of a probe drains.
    pub(super) fn start_down(&mut self, now: Instant) {
        self.signals.reset();
        self.long_term.end_probe();
        self.cycle.draw_wait(&mut self.rng);
        self.cycle.began = now;
        self.cycle.stop_probe(self.totals.delivered);
        self.start_round();
        self.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.bounds = Bounds::NONE;
        self.long_term.begin_probe();
        self.ended_search = None;
        self.cycle.precautionary = false;
        self.cycle.acks = Acks::Refilling;
        self.start_round();
        self.cycle.probe = Some(Probe { from: self.totals.delivered, until: None });
        self.state = State::Refill;
    }

    fn start_up(&mut self, rate: f64, cwnd: f64) {
        self.cycle.acks = Acks::Starting;
        self.start_round();
        self.full_pipe.restart(rate);
        self.state = State::Up;
        self.long_term.raise_slope(cwnd);
    }

    /// Returns to the probe that a spurious loss ended.
    pub(super) fn resume_probe(&mut self) {
        self.cycle.too_high = false;
        self.start_refill();
    }

    /// Advances the cycle after an acknowledgement (UpdateProbeBWCyclePhase).
    pub(super) fn update_cycle(&mut self, sample: &PathSample, cwnd: f64, now: Instant) {
        if !self.full_pipe.reached || self.adapt_long_term(sample, cwnd) {
            return;
        }
        let rate = sample.rate.as_ref().map_or(0.0, DeliveryRate::per_second);
        match self.state {
            State::Down | State::Cruise if self.is_probe_due(cwnd, now) => self.start_refill(),
            State::Down if self.has_drained(f64::from(sample.in_flight)) => {
                self.state = State::Cruise;
            }
            State::Refill if self.rounds.start => self.start_up(rate, cwnd),
            State::Up => self.end_probe_when_over(sample, rate, cwnd, now),
            _ => {}
        }
    }

    fn is_probe_due(&self, cwnd: f64, now: Instant) -> bool {
        now > self.cycle.began + self.cycle.wait
            || f64::from(self.cycle.rounds) >= self.target_inflight(cwnd).min(MAX_PROBE_ROUNDS)
    }

    /// Returns whether there is headroom, and no queue.
    fn has_drained(&self, in_flight: f64) -> bool {
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight(self.bandwidth.get(), 1.0)
    }

    fn end_probe_when_over(&mut self, sample: &PathSample, rate: f64, cwnd: f64, now: Instant) {
        if self.is_probe_over(sample, rate, cwnd) {
            self.cycle.too_high = false;
            self.start_down(now);
        }
    }

    fn is_probe_over(&mut self, sample: &PathSample, rate: f64, cwnd: f64) -> bool {
        let bound = self.long_term.bound;
        if self.cycle.too_high && f64::from(sample.in_flight) >= bound {
            self.cycle.precautionary = true;
            return true;
        }
        if self.window_was_full && cwnd >= bound {
            // The bound limits the rate, so that no plateau shows.
            self.full_pipe.restart(rate);
            return false;
        }
        self.full_pipe.now
    }

    /// Takes what a probe shows into the long-term model. Returns whether the next probe has begun
    /// (AdaptLongTermModel).
    fn adapt_long_term(&mut self, sample: &PathSample, cwnd: f64) -> bool {
        if self.cycle.acks == Acks::Starting && self.rounds.start {
            self.cycle.acks = Acks::Feedback;
        }
        if self.cycle.acks == Acks::Stopping && self.rounds.start {
            self.cycle.acks = Acks::Init;
            if self.state.probes_bandwidth() {
                if sample.rate.is_some_and(|rate| !rate.sent.app_limited) {
                    self.cycles += 1;
                }
                if self.cycle.precautionary && !self.cycle.too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if self.long_term.bound.is_infinite() {
            return false;
        }
        let Some(losses) = LossRate::of_sample(sample) else { return false };
        if self.losses.are_too_high(losses) {
            return false;
        }
        let sent = sample.rate.map_or(0.0, |rate| f64::from(rate.sent.in_flight));
        self.long_term.bound = self.long_term.bound.max(sent);
        if self.state == State::Up && self.window_was_full && cwnd >= self.long_term.bound {
            self.long_term.grow(sample.delivered);
            if self.rounds.start {
                self.long_term.raise_slope(cwnd);
            }
        }
        false
    }

    /// Responds once to the losses of a probe, if they are too many (HandleLostPacket). `sent` is the state
    /// when a lost segment was sent.
    pub(super) fn on_probe_loss(
        &mut self,
        sent: &SentState,
        losses: LossRate,
        cwnd: f64,
        now: Instant,
    ) {
        if !self.cycle.is_of_probe(sent) || !self.losses.are_too_high(losses) {
            return;
        }
        self.cycle.too_high = true;
        self.cycle.probe = None;
        self.end_search(losses, Some(self.totals.delivered));
        if !sent.app_limited {
            let least = BETA * self.target_inflight(cwnd);
            self.long_term.bound = losses.in_flight_at_threshold().max(least);
        }
        if self.state == State::Up {
            self.start_down(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn the_wait_is_two_to_three_seconds() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let waits: Vec<(u32, f64)> = (0..1000)
            .map(|_| {
                let mut cycle = Cycle::default();
                cycle.draw_wait(&mut rng);
                (cycle.rounds, cycle.wait.as_secs_f64())
            })
            .collect();
        assert!(waits.iter().all(|&(_, wait)| (2.0..3.0).contains(&wait)));
        let ones = waits.iter().filter(|&&(rounds, _)| rounds == 1).count();
        assert!((400..600).contains(&ones), "{ones} of 1000 begin with a round trip");
        let mean = waits.iter().map(|&(_, wait)| wait).sum::<f64>() / 1000.0;
        assert!((mean - 2.5).abs() < 0.05, "{mean}");
    }
}
