//! Restoration of the window after DSACKs have proved a reduction spurious, because all its
//! retransmissions were spurious (RFC 2883; RFC 3708, section 3).

use crate::parameter::{Parameter, choice, settings};
use crate::parts::control::Window;
use crate::parts::{Kind, maker};

choice! {
    /// How the window is restored.
    Return {
        /// By slow start up to the old window, without a burst.
        SlowStart = "slow-start",
        /// At once.
        AtOnce = "at-once",
    }
}

settings! {
    /// RR-TCP says only that DSACKs "permit reinstatement of the previous window value" (section
    /// 4.3). The RFC that it builds on slow-starts up to that value, and so does AVG-DEV, following
    /// Blanton and Allman.
    "dsack" Settings {
        restore: Return = Parameter::choice(
            "restore",
            Return::NAMES,
            "how the window comes back after a spurious fast retransmit",
            "RFC 2883, section 5.2; AVG-DEV, section III-A",
        ),
    }
}

/// No response.
pub(crate) const NONE: Kind<Restoration> =
    Kind::new::<()>("none", |values| maker(values, |(), _| Restoration(None)));
/// The window is restored, by slow start unless the parameter is set otherwise.
pub(crate) const DSACK: Kind<Restoration> = Kind::new::<Settings>("dsack", |values| {
    maker(values, |settings: Settings, _| Restoration(Some(settings.restore)))
});
/// The window and its threshold are restored at once, as in Linux.
pub(crate) const AT_ONCE: Kind<Restoration> = Kind::new::<()>("dsack-at-once", |values| {
    maker(values, |(), _| Restoration(Some(Return::AtOnce)))
});

/// Response to a reduction that DSACKs have proved spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Restoration(Option<Return>);

impl Restoration {
    /// Describes the response in a few words.
    pub(crate) fn about(self) -> &'static str {
        match self.0 {
            None => "none",
            Some(Return::SlowStart) => "DSACK restore, slow start up to the old window",
            Some(Return::AtOnce) => "DSACK restore at once",
        }
    }

    /// Returns the window after the response; `saved` is the window before the reduction.
    pub(crate) fn respond(self, window: Window, saved: Window) -> Option<Window> {
        let Window { cwnd, ssthresh } = window;
        self.0.map(|how| match how {
            // RFC 5681's minimum, or Westwood's estimate, may be above the old window.
            Return::SlowStart => Window { cwnd, ssthresh: saved.cwnd.max(cwnd).max(ssthresh) },
            Return::AtOnce => {
                Window { cwnd: cwnd.max(saved.cwnd), ssthresh: ssthresh.max(saved.ssthresh) }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAVED: Window = Window { cwnd: 20.0, ssthresh: 40.0 };

    fn after(how: Option<Return>, cwnd: f64, ssthresh: f64) -> Option<(f64, f64)> {
        let window = Restoration(how).respond(Window { cwnd, ssthresh }, SAVED)?;
        Some((window.cwnd, window.ssthresh))
    }

    #[test]
    fn the_window_is_restored_by_the_chosen_rule() {
        assert_eq!(after(None, 10.0, 10.0), None);
        assert_eq!(after(Some(Return::SlowStart), 10.0, 10.0), Some((10.0, 20.0)));
        assert_eq!(after(Some(Return::AtOnce), 10.0, 10.0), Some((20.0, 40.0)));
    }

    #[test]
    fn a_window_that_has_outgrown_the_old_one_stays() {
        assert_eq!(after(Some(Return::SlowStart), 25.0, 10.0), Some((25.0, 25.0)));
        assert_eq!(after(Some(Return::AtOnce), 25.0, 50.0), Some((25.0, 50.0)));
    }

    #[test]
    fn no_undo_lowers_the_threshold() {
        let window = Window { cwnd: 1.0, ssthresh: 2.0 };
        for how in [Return::SlowStart, Return::AtOnce] {
            let saved = Window { cwnd: 1.0, ssthresh: 1.5 };
            assert_eq!(Restoration(Some(how)).respond(window, saved), Some(window));
        }
    }
}
