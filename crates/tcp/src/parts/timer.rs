//! The retransmission timer of RFC 6298, and algorithms that modify it.

pub(crate) mod linux;
pub(crate) mod percentile;
pub(crate) mod rfc6298;
pub(crate) mod wb_rto;

use std::borrow::Cow;

use unruffled_units::Duration;

pub(crate) use rfc6298::Rto;

/// Modifications of RFC 6298's timer: hooks whose defaults change nothing.
pub(crate) trait Timer {
    /// Describes the algorithm in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// Called when a round-trip time was measured.
    fn on_sample(&mut self, _rtt: Duration) {}

    /// Returns the lower bound of the timeout.
    fn floor(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns whether round-trip times of retransmitted segments count, once a DSACK has
    /// identified the copy that arrived first.
    fn samples_retransmissions(&self) -> bool {
        false
    }

    /// Draws the timeout of a timer that starts now, at least `rtt`; `None` if timeouts are not
    /// drawn.
    fn draw(&mut self, _rtt: Duration, _cwnd: f64) -> Option<Duration> {
        None
    }

    /// Returns whether a timeout is drawn even before a round-trip time is measured.
    fn draws_first(&self) -> bool {
        false
    }

    /// Returns the last timeout drawn, if any.
    fn drawn(&self) -> Option<Duration> {
        None
    }

    /// Called when new data was acknowledged, with the congestion window.
    fn on_progress(&mut self, _cwnd: f64) {}

    /// Called when the timer has expired and the window was reduced.
    fn on_timeout(&mut self) {}
}

/// A timer of any kind. It is an enum because a virtual call would cost more than most parts do.
#[derive(Clone, Debug)]
pub(crate) enum AnyTimer {
    Rfc6298(rfc6298::Rfc6298),
    Linux(linux::Linux),
    Percentile(percentile::Percentile),
    WbRto(wb_rto::WbRto),
}

impl Timer for AnyTimer {
    fn about(&self) -> Cow<'static, str> {
        match self {
            Self::Rfc6298(part) => part.about(),
            Self::Linux(part) => part.about(),
            Self::Percentile(part) => part.about(),
            Self::WbRto(part) => part.about(),
        }
    }

    #[inline]
    fn on_sample(&mut self, rtt: Duration) {
        match self {
            Self::Rfc6298(part) => part.on_sample(rtt),
            Self::Linux(part) => part.on_sample(rtt),
            Self::Percentile(part) => part.on_sample(rtt),
            Self::WbRto(part) => part.on_sample(rtt),
        }
    }

    #[inline]
    fn floor(&self) -> Duration {
        match self {
            Self::Rfc6298(part) => part.floor(),
            Self::Linux(part) => part.floor(),
            Self::Percentile(part) => part.floor(),
            Self::WbRto(part) => part.floor(),
        }
    }

    fn samples_retransmissions(&self) -> bool {
        match self {
            Self::Rfc6298(part) => part.samples_retransmissions(),
            Self::Linux(part) => part.samples_retransmissions(),
            Self::Percentile(part) => part.samples_retransmissions(),
            Self::WbRto(part) => part.samples_retransmissions(),
        }
    }

    #[inline]
    fn draw(&mut self, rtt: Duration, cwnd: f64) -> Option<Duration> {
        match self {
            Self::Rfc6298(part) => part.draw(rtt, cwnd),
            Self::Linux(part) => part.draw(rtt, cwnd),
            Self::Percentile(part) => part.draw(rtt, cwnd),
            Self::WbRto(part) => part.draw(rtt, cwnd),
        }
    }

    fn draws_first(&self) -> bool {
        match self {
            Self::Rfc6298(part) => part.draws_first(),
            Self::Linux(part) => part.draws_first(),
            Self::Percentile(part) => part.draws_first(),
            Self::WbRto(part) => part.draws_first(),
        }
    }

    #[inline]
    fn drawn(&self) -> Option<Duration> {
        match self {
            Self::Rfc6298(part) => part.drawn(),
            Self::Linux(part) => part.drawn(),
            Self::Percentile(part) => part.drawn(),
            Self::WbRto(part) => part.drawn(),
        }
    }

    #[inline]
    fn on_progress(&mut self, cwnd: f64) {
        match self {
            Self::Rfc6298(part) => part.on_progress(cwnd),
            Self::Linux(part) => part.on_progress(cwnd),
            Self::Percentile(part) => part.on_progress(cwnd),
            Self::WbRto(part) => part.on_progress(cwnd),
        }
    }

    fn on_timeout(&mut self) {
        match self {
            Self::Rfc6298(part) => part.on_timeout(),
            Self::Linux(part) => part.on_timeout(),
            Self::Percentile(part) => part.on_timeout(),
            Self::WbRto(part) => part.on_timeout(),
        }
    }
}
