//! What a sender was doing, and for how long.

use unruffled_units::{Duration, Instant};

use super::Half;

/// What a sender was doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Doing {
    #[default]
    Idle,
    /// Nothing outstanding, and the receiver takes nothing.
    Closed,
    Recovering,
    WindowFull,
    Flowing,
}

/// How long it did each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) idle: Duration,
    pub(crate) recovering: Duration,
    pub(crate) window_full: Duration,
    /// The part of that in which the receiver took nothing at all.
    pub(crate) closed: Duration,
    pub(crate) flowing: Duration,
    /// Nothing but waiting for a timeout.
    pub(crate) stalled: Duration,
}

/// What a sender is doing, and has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Activity {
    pub(super) doing: Doing,
    /// Since when.
    since: Option<Instant>,
    /// Nothing outstanding, and nothing new either so far: it may be the end.
    pub(super) resting: Duration,
    pub(crate) times: Times,
}

impl Half {
    /// Time passes in what the sender was doing.
    pub(super) fn pass(&mut self, now: Instant) {
        let Some(before) = self.activity.since.replace(now) else { return };
        let passed = now.since(before);
        if self.activity.doing == Doing::Closed {
            self.wait_for_window(passed);
            return;
        }
        if self.activity.doing == Doing::WindowFull && self.is_closed() {
            self.activity.times.closed += passed;
        }
        let bucket = match self.activity.doing {
            Doing::Idle | Doing::Closed => &mut self.activity.resting,
            Doing::Recovering => &mut self.activity.times.recovering,
            Doing::WindowFull => &mut self.activity.times.window_full,
            Doing::Flowing => &mut self.activity.times.flowing,
        };
        *bucket += passed;
    }

    /// What the sender does from here on.
    pub(super) fn settle(&mut self) {
        let flight = self.flight();
        let full = u64::from(self.full_segment());
        self.activity.doing = if flight == 0 {
            self.resting()
        } else if self.episodes.going_on() {
            Doing::Recovering
        } else if self.offer.now.is_some_and(|window| flight + full > window) {
            Doing::WindowFull
        } else {
            Doing::Flowing
        };
    }
}
