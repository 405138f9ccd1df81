//! The retransmission timer: RFC 6298's, and what others change of it.

pub(crate) mod percentile;
pub(crate) mod rfc6298;
pub(crate) mod wb_rto;

use std::borrow::Cow;

use unruffled_units::Duration;

pub(crate) use rfc6298::Rto;

use crate::parts::any_of;

/// What a timer changes of RFC 6298's: hooks with a default that changes nothing.
pub(crate) trait Timer {
    /// What it does, in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// A round-trip time was measured.
    fn on_sample(&mut self, _rtt: Duration) {}

    /// What the timeout is at least.
    fn floor(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether round-trip times of segments that were sent twice count, once a DSACK has told the
    /// copies apart.
    fn samples_retransmissions(&self) -> bool {
        false
    }

    /// The timeout of a timer that starts now, not below `rtt`, if it is drawn anew each time.
    fn draw(&mut self, _rtt: Duration, _cwnd: f64) -> Option<Duration> {
        None
    }

    /// Whether it is drawn even before a round-trip time was measured.
    fn draws_first(&self) -> bool {
        false
    }

    /// The last one drawn, once there is one.
    fn drawn(&self) -> Option<Duration> {
        None
    }

    /// New data was acknowledged, with this window.
    fn on_progress(&mut self, _cwnd: f64) {}

    /// The timer expired and the window was reduced.
    fn on_timeout(&mut self) {}
}

any_of! { $
    /// A timer of any kind.
    #[derive(Clone, Debug)]
    AnyTimer {
        Rfc6298(rfc6298::Rfc6298),
        Percentile(percentile::Percentile),
        WbRto(wb_rto::WbRto),
    }
}

impl Timer for AnyTimer {
    fn about(&self) -> Cow<'static, str> {
        each!(self, part => part.about())
    }

    #[inline]
    fn on_sample(&mut self, rtt: Duration) {
        each!(self, part => part.on_sample(rtt));
    }

    #[inline]
    fn floor(&self) -> Duration {
        each!(self, part => part.floor())
    }

    fn samples_retransmissions(&self) -> bool {
        each!(self, part => part.samples_retransmissions())
    }

    #[inline]
    fn draw(&mut self, rtt: Duration, cwnd: f64) -> Option<Duration> {
        each!(self, part => part.draw(rtt, cwnd))
    }

    fn draws_first(&self) -> bool {
        each!(self, part => part.draws_first())
    }

    #[inline]
    fn drawn(&self) -> Option<Duration> {
        each!(self, part => part.drawn())
    }

    #[inline]
    fn on_progress(&mut self, cwnd: f64) {
        each!(self, part => part.on_progress(cwnd));
    }

    fn on_timeout(&mut self) {
        each!(self, part => part.on_timeout());
    }
}
