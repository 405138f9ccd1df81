//! Limited transmit of one segment for each duplicate, up to a number of congestion windows beyond
//! the window (RR-TCP, section 4.3), or without a bound. Measures idle periods, in which the bound
//! is used up: they last from the duplicate that uses up the rest of the bound to the acknowledgement
//! that advances the window.

use std::borrow::Cow;

use unruffled_units::Instant;

use super::{AnyLimitedTransmit, LimitedTransmit, Wait};
use crate::parameter::settings;
use crate::parts::control::Window;
use crate::parts::detect::Idle;
use crate::parts::detect::rr::LIMITED_TRANSMIT;
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "windows" Settings { limited_transmit: f64 = LIMITED_TRANSMIT }
}

/// RR-TCP's limited transmit.
pub(crate) const WINDOWS: Kind<AnyLimitedTransmit> = Kind::new::<Settings>("windows", |values| {
    maker(values, |settings: Settings, _| {
        AnyLimitedTransmit::Windows(Windows::new(settings.limited_transmit))
    })
});
/// One segment for each duplicate, without a bound.
pub(crate) const UNLIMITED: Kind<AnyLimitedTransmit> = Kind::new::<()>("unlimited", |values| {
    maker(values, |(), _| AnyLimitedTransmit::Windows(Windows::new(f64::INFINITY)))
});

/// Limited transmit bounded by a number of congestion windows.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    bound: f64,
    /// Start of the idle period, and the segments that arrived since.
    idle: Option<(Instant, u32)>,
}

impl Windows {
    fn new(bound: f64) -> Self {
        Self { bound, idle: None }
    }

    fn segments(&self, cwnd: f64) -> u32 {
        (self.bound * cwnd) as u32
    }

    /// Returns how many of `duplicates` exceed the bound, or `None` while it is not used up.
    fn beyond(&self, duplicates: u32, cwnd: f64) -> Option<u32> {
        duplicates.checked_sub(self.segments(cwnd))
    }

    /// Records `new` newly SACKed segments that arrived with the bound used up; `beyond` duplicates
    /// exceed it. Counts segments and not acknowledgements, because the paper subtracts what
    /// "partially filled the pipe", even if acknowledgements were lost.
    fn exhausted(&mut self, new: u32, beyond: u32, now: Instant) {
        match &mut self.idle {
            Some((_, duplicates)) => *duplicates += new,
            None => self.idle = Some((now, new.min(beyond))),
        }
    }

    /// Records that the window has advanced. Returns the idle period that ends, if any.
    fn advanced(&mut self, now: Instant) -> Option<Idle> {
        let (since, dupacks) = self.idle.take()?;
        Some(Idle { duration: now.since(since), dupacks })
    }
}

impl LimitedTransmit for Windows {
    fn about(&self) -> Cow<'static, str> {
        match self.bound {
            f64::INFINITY => "one per duplicate".into(),
            windows => format!("one per duplicate up to {windows} cwnd more").into(),
        }
    }

    fn allowance(&self, duplicates: u32, cwnd: f64) -> u32 {
        duplicates.min(self.segments(cwnd))
    }

    #[inline]
    fn idle(&mut self, wait: &Wait, window: &Window) -> Option<Idle> {
        if !wait.open {
            self.idle = None;
        } else if wait.advanced {
            return self.advanced(wait.now);
        } else if wait.duplicate
            && let Some(beyond) = self.beyond(wait.duplicates, window.cwnd)
        {
            self.exhausted(wait.sacked.max(1), beyond, wait.now);
        }
        None
    }

    fn on_recovery(&mut self) {
        self.idle = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_duplicate_that_releases_the_last_segment_uses_up_the_bound() {
        let limited = Windows::new(1.0);
        for (dupacks, beyond) in [(9, None), (10, Some(0)), (13, Some(3))] {
            // A cwnd of 10.7 permits ten whole segments.
            assert_eq!(limited.beyond(dupacks, 10.7), beyond);
            assert_eq!(limited.allowance(dupacks, 10.7), dupacks.min(10));
        }
        assert_eq!(Windows::new(f64::INFINITY).beyond(1000, 10.0), None);
    }

    #[test]
    fn an_idle_period_counts_the_segments_sacked_beyond_the_bound() {
        let at = Instant::from_millis;
        let mut limited = Windows::new(1.0);
        assert_eq!(limited.advanced(at(0)), None);
        // Four at once, three of them beyond the bound; then two, and one.
        limited.exhausted(4, 3, at(100));
        limited.exhausted(2, 5, at(110));
        limited.exhausted(1, 6, at(120));
        let idle = limited.advanced(at(150)).expect("an idle period");
        assert_eq!((idle.duration.as_millis_f64(), idle.dupacks), (50.0, 6));
        // The next hole: the bound is used up from its first duplicate.
        limited.exhausted(1, 7, at(200));
        assert_eq!(limited.advanced(at(210)).expect("an idle period").dupacks, 1);
        limited.exhausted(1, 7, at(300));
        limited.on_recovery();
        assert_eq!(limited.advanced(at(310)), None);
    }
}
