//! Slow start and congestion avoidance (RFC 5681, section 3.1).

use std::borrow::Cow;

use super::{AnyControl, CongestionControl, Flow, Window};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

/// Congestion control of RFC 5681.
pub(crate) const RENO: Kind<AnyControl> =
    Kind::new::<()>("reno", |values| maker(values, |(), _| AnyControl::Reno(Reno)));

/// Additive increase and multiplicative decrease.
#[derive(Debug)]
pub(crate) struct Reno;

impl Reno {
    /// Applies RFC 5681, equations 2 and 3, once for each counted segment.
    #[inline]
    pub(crate) fn grow_by(window: &mut Window, counted: u32) {
        let steps = f64::from(counted);
        let slow = window.slow_start_steps(counted);
        window.cwnd += slow;
        window.cwnd += (steps - slow) / window.cwnd;
    }
}

settings! {
    /// Tunable parameters of quic-go's Reno.
    "reno" QuicGoSettings {
        beta: f64 = Parameter {
            name: "beta",
            unit: Unit::Number,
            default: 0.7,
            range: (0.1, 0.99),
            about: "share of the window that remains after a loss",
            source: "quic-go 0.65.0, internal/congestion/cubic_sender.go",
        },
    }
}

/// Reno as quic-go has it: seven tenths of the window remain after a loss.
pub(crate) const QUIC_GO: Kind<AnyControl> = Kind::new::<QuicGoSettings>("reno-beta", |values| {
    maker(values, |settings: QuicGoSettings, _| {
        AnyControl::Own(Box::new(RenoBeta { beta: settings.beta }))
    })
});

/// No congestion control: the window limits nothing.
pub(crate) const NONE: Kind<AnyControl> = Kind::new::<()>("no-control", |values| {
    maker(values, |(), _| AnyControl::Own(Box::new(NoControl)))
});

/// A window of this many segments limits nothing.
const NO_LIMIT: f64 = 700_000.0;

/// No congestion control.
#[derive(Debug)]
struct NoControl;

impl CongestionControl for NoControl {
    fn about(&self) -> Cow<'static, str> {
        "none".into()
    }

    fn grow(&mut self, window: &mut Window, _acked: u32, _counted: u32, _flow: &Flow) {
        window.cwnd = NO_LIMIT;
    }

    fn on_loss(&mut self, _window: &Window, _timeout: bool, _flow: &Flow) -> f64 {
        NO_LIMIT
    }

    fn limits(&self) -> bool {
        false
    }
}

/// Additive increase, and a multiplicative decrease of the window by another factor than a half.
#[derive(Debug)]
struct RenoBeta {
    beta: f64,
}

impl CongestionControl for RenoBeta {
    fn about(&self) -> Cow<'static, str> {
        format!("Reno, with {} of the window after a loss", self.beta).into()
    }

    fn grow(&mut self, window: &mut Window, _acked: u32, counted: u32, _flow: &Flow) {
        Reno::grow_by(window, counted);
    }

    fn on_loss(&mut self, _window: &Window, _timeout: bool, flow: &Flow) -> f64 {
        (flow.flight * self.beta).max(2.0)
    }
}

impl CongestionControl for Reno {
    fn about(&self) -> Cow<'static, str> {
        "Reno, RFC 5681".into()
    }

    fn grow(&mut self, window: &mut Window, _acked: u32, counted: u32, _flow: &Flow) {
        Self::grow_by(window, counted);
    }

    fn on_loss(&mut self, _window: &Window, _timeout: bool, flow: &Flow) -> f64 {
        (flow.flight / 2.0).max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use unruffled_units::Instant;

    use super::*;

    const FLOW: Flow = Flow { now: Instant::ZERO, flight: 10.0, srtt: None, min_rtt: None };

    #[test]
    fn an_acknowledgement_grows_the_window_by_the_segments_that_count() {
        let mut window = Window { cwnd: 10.0, ssthresh: 20.0 };
        Reno.grow(&mut window, 30, 1, &FLOW);
        assert_eq!(window.cwnd, 11.0, "a filled hole that released thirty segments is one step");
        Reno.grow(&mut window, 2, 2, &FLOW);
        assert_eq!(window.cwnd, 13.0, "a delayed acknowledgement is two");
        let mut window = Window { cwnd: 10.0, ssthresh: 5.0 };
        Reno.grow(&mut window, 2, 2, &FLOW);
        assert_eq!(window.cwnd, 10.2);
    }
}
