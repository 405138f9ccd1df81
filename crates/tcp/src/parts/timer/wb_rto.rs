//! WB-RTO (Psaras and Tsaoussidis, "Why TCP timers (still) don't work well"). The retransmission
//! timeout is drawn at random below a bound that depends on the sender's own windows. The windows
//! represent its part in the congestion (section 3.1) and the number of contending senders (section
//! 3.2).

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use unruffled_units::Duration;

use super::{AnyTimer, Timer};
use crate::Config;
use crate::parameter::{Parameter, Unit, choice, settings};
use crate::parts::{Kind, maker};

/// Weights a_1 to a_4, in seconds (section 5, footnotes 3 to 5).
type Scale = [f64; 4];

const SMALL_SCALE: Scale = [5.0, 3.0, 2.0, 1.5];
const MEDIUM_SCALE: Scale = [10.0, 5.0, 3.0, 2.0];
const WIDE_SCALE: Scale = [20.0, 10.0, 5.0, 3.0];

/// Thresholds 1 to 3 of the average window, in segments (section 4). The fourth, 50, has no effect,
/// since there is no weight beyond a_4.
const THRESHOLDS: [f64; 3] = [5.0, 10.0, 30.0];

/// Maximum number of doublings: ns-2 multiplies by at most 64 (TcpAgent::rtt_backoff, tcp.cc).
const MAX_DOUBLINGS: u8 = 6;

choice! {
    /// When a timeout resets the largest window. Sections 3.1 and 3.3 compute the timeout "whenever
    /// some sender times out" from the largest window "since the last timeout expiration". In
    /// section 7.1.2 the timer after a blackout is not extended, so c = 1, which means after the
    /// draw. "Each time a timeout happens" (section 3.1) also permits before the draw, which gives
    /// c = 2.
    Forget {
        /// After the next timeout is drawn.
        AfterDraw = "after-draw",
        /// Before the next timeout is drawn.
        BeforeDraw = "before-draw",
    }
}

choice! {
    /// Whether each expiry doubles drawn timeouts until a round-trip time is measured (RFC 6298,
    /// 5.5). The paper replaces the computation of the timeout and does not mention the backoff
    /// that ns-2 applies to it. Section 7.1.2 has a timer that is not extended.
    Backoff {
        /// Doubled, as in ns-2, to at most 64 times.
        Doubled = "doubled",
        /// Not doubled.
        None = "none",
    }
}

choice! {
    /// Timeout before a round-trip time is measured. The procedure "is called every time the RTO is
    /// calculated" (section 3.1), and ns-2 calculates it for the SYN like for any packet.
    First {
        /// RFC 6298 with its backoff.
        Standard = "standard",
        /// Drawn like later ones, from 0 up.
        Drawn = "drawn",
    }
}

choice! {
    /// Whether each sender draws its own numbers. The paper finds the difference insignificant
    /// (section 6), and "used the same seed for all flows throughout the experiments" (section 4).
    Draws {
        /// Each sender has its own.
        Own = "own",
        /// All senders draw the same numbers in the same order.
        Alike = "alike",
    }
}

settings! {
    /// Tunable parameters.
    "wb-rto" Settings {
        awnd_gain: f64 = Parameter {
            name: "awnd_gain",
            unit: Unit::Number,
            default: 0.002,
            range: (0.0, 1.0),
            about: "gain of the average window, per new acknowledgement",
            source: "ns-2's awnd_ (windowThresh_); the paper gives none",
        },
        forget: Forget = Parameter::choice(
            "forget",
            Forget::NAMES,
            "when a timeout resets the largest window: before or after the next timeout is drawn",
            "WB-RTO, sections 3.1 and 7.1.2, which leave it open",
        ),
        backoff: Backoff = Parameter::choice(
            "backoff",
            Backoff::NAMES,
            "whether each timeout doubles the next ones, until a round-trip time is measured",
            "WB-RTO, sections 3.3 and 7.1.2, which leave it open; ns-2's timer doubles",
        ),
        first: First = Parameter::choice(
            "first",
            First::NAMES,
            "before a round-trip time is measured: by RFC 6298, or drawn as later",
            "WB-RTO, section 3.1 (footnote 1), which leaves it open",
        ),
        draws: Draws = Parameter::choice(
            "draws",
            Draws::NAMES,
            "whether each sender draws its own numbers, or all draw the same ones",
            "WB-RTO, sections 4 and 6",
        ),
    }
}

/// The scale with the shortest timeouts.
pub(crate) const SMALL: Kind<AnyTimer> = Kind::new::<Settings>("wb-small", |values| {
    maker(values, |settings: Settings, config| build(settings, SMALL_SCALE, config))
});
/// The scale with medium timeouts.
pub(crate) const MEDIUM: Kind<AnyTimer> = Kind::new::<Settings>("wb-medium", |values| {
    maker(values, |settings: Settings, config| build(settings, MEDIUM_SCALE, config))
});
/// The scale with the longest timeouts.
pub(crate) const WIDE: Kind<AnyTimer> = Kind::new::<Settings>("wb-wide", |values| {
    maker(values, |settings: Settings, config| build(settings, WIDE_SCALE, config))
});

fn build(settings: Settings, scale: Scale, config: &Config) -> AnyTimer {
    let window = f64::from(config.window.initial);
    let seed = if settings.draws == Draws::Own { config.seed } else { 0 };
    AnyTimer::WbRto(WbRto::new(scale, settings, window, seed))
}

/// Returns c, the penalty for the sender's part in the congestion (equation 4).
fn penalty(cwnd: f64, max_cwnd: f64) -> f64 {
    if cwnd < 0.5 * max_cwnd {
        1.0
    } else if cwnd < 0.75 * max_cwnd {
        1.5
    } else {
        2.0
    }
}

/// Returns a_i, the weight of the contention, for an average window (equation 5).
fn weight(awnd: f64, scale: &Scale) -> f64 {
    scale[THRESHOLDS.iter().filter(|&&threshold| awnd >= threshold).count()]
}

/// Windows that the timeout depends on, and the random number generator.
#[derive(Clone, Debug)]
pub(crate) struct WbRto {
    scale: Scale,
    gain: f64,
    /// Whether a timeout resets the largest window only after the next draw.
    resets_late: bool,
    /// Whether each expiry doubles drawn timeouts.
    doubles: bool,
    /// Whether the timeout of the handshake is drawn too.
    draws_first: bool,
    /// Doublings since the last sample.
    doublings: u8,
    /// Largest cwnd since the last timeout.
    max_cwnd: f64,
    /// Whether the next draw resets the largest window.
    reset_next: bool,
    /// Average window.
    awnd: f64,
    rng: Xoshiro256PlusPlus,
    /// Last timeout drawn, without doublings.
    drawn: Option<Duration>,
}

impl WbRto {
    fn new(scale: Scale, settings: Settings, initial_window: f64, seed: u64) -> Self {
        Self {
            scale,
            gain: settings.awnd_gain,
            resets_late: settings.forget == Forget::AfterDraw,
            doubles: settings.backoff == Backoff::Doubled,
            draws_first: settings.first == First::Drawn,
            doublings: 0,
            max_cwnd: 0.0,
            reset_next: false,
            awnd: initial_window / 2.0,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            drawn: None,
        }
    }
}

impl Timer for WbRto {
    fn about(&self) -> Cow<'static, str> {
        let [a1, a2, a3, a4] = self.scale;
        format!("random between the RTT and 1 to 2 times {a1}, {a2}, {a3} or {a4} s").into()
    }

    /// Ends the backoff, which lasts until a round-trip time is measured.
    fn on_sample(&mut self, _rtt: Duration) {
        self.doublings = 0;
    }

    /// Adds the window to the average.
    fn on_progress(&mut self, cwnd: f64) {
        self.awnd += self.gain * (cwnd - self.awnd);
    }

    /// Resets the largest window.
    fn on_timeout(&mut self) {
        if self.doubles {
            self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
        }
        self.reset_next = self.resets_late;
        if !self.resets_late {
            self.max_cwnd = 0.0;
        }
    }

    /// Draws WB-RTO = random(rtt, c·a_i) (equation 6), never below the round-trip time.
    fn draw(&mut self, rtt: Duration, cwnd: f64) -> Option<Duration> {
        self.max_cwnd = self.max_cwnd.max(cwnd);
        let bound = penalty(cwnd, self.max_cwnd) * weight(self.awnd, &self.scale);
        if std::mem::take(&mut self.reset_next) {
            self.max_cwnd = 0.0;
        }
        let room = Duration::from_secs_f64(bound).saturating_sub(rtt);
        // 53 random bits: a fraction in [0, 1).
        let fraction = (self.rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let timeout = rtt + room.mul_f64(fraction);
        self.drawn = Some(timeout);
        self.drawn()
    }

    fn draws_first(&self) -> bool {
        self.draws_first
    }

    fn drawn(&self) -> Option<Duration> {
        self.drawn.map(|drawn| drawn * (1 << self.doublings))
    }
}
