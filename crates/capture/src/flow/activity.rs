//! Activity of a sender: what it waited for, and for how long.

use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use super::scoreboard::Fingerprint;

/// State of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SenderState {
    /// Nothing is outstanding.
    #[default]
    Idle,
    /// Nothing is outstanding, and the receiver's window is zero.
    ZeroWindow,
    /// A recovery is in progress.
    Recovery,
    /// The receiver's window is full.
    WindowFull,
    /// Data is outstanding, and none of the above limits the sender.
    Flowing,
}

/// Time that a sender spent in each state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StateTimes {
    pub(super) idle: Duration,
    pub(super) recovery: Duration,
    pub(super) window_full: Duration,
    /// The part of `window_full` in which the window was zero.
    pub(super) zero_window: Duration,
    pub(super) flowing: Duration,
    /// Time spent waiting for a retransmission timeout.
    pub(super) timeout: Duration,
}

/// Times of the last events of each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EventTimes {
    pub(super) syn: Option<Fingerprint>,
    pub(super) first_data: Option<Instant>,
    pub(super) last_data: Option<Instant>,
    pub(super) last_ack: Option<Instant>,
    /// The last acknowledgement that covered new data.
    pub(super) last_advance: Option<Instant>,
}

/// Activity of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SenderActivity {
    pub(super) state: SenderState,
    /// Beginning of the time that is not accounted for yet.
    since: Option<Instant>,
    /// Time with nothing outstanding and no new data so far. At the end of the transfer it does not
    /// count.
    resting: Duration,
    /// Time with a zero window and nothing outstanding, while nothing shows that there was data to
    /// send.
    pub(super) at_zero_window: Duration,
    pub(super) times: StateTimes,
    pub(super) events: EventTimes,
}

impl SenderActivity {
    /// Accounts for the time up to `now` in the current state.
    pub(super) fn advance(&mut self, now: Instant, window_is_zero: bool) {
        let Some(before) = self.since.replace(now) else { return };
        let elapsed = now.since(before);
        match self.state {
            SenderState::ZeroWindow => self.at_zero_window += elapsed,
            SenderState::Idle => self.resting += elapsed,
            SenderState::Recovery => self.times.recovery += elapsed,
            SenderState::WindowFull => {
                self.times.window_full += elapsed;
                if window_is_zero {
                    self.times.zero_window += elapsed;
                }
            }
            SenderState::Flowing => self.times.flowing += elapsed,
        }
    }

    /// Counts the time at a zero window as limited by the receiver, because the sender shows that it
    /// has data to send.
    pub(super) fn count_zero_window(&mut self) {
        let waited = std::mem::take(&mut self.at_zero_window);
        self.times.window_full += waited;
        self.times.zero_window += waited;
    }

    /// Returns the time with nothing outstanding since the last data, and resets it.
    pub(super) fn take_resting(&mut self) -> Duration {
        std::mem::take(&mut self.resting)
    }

    /// Counts a time with nothing to send. Before the first data it is the handshake and does not
    /// count.
    pub(super) fn count_idle(&mut self, time: Duration) {
        if self.events.first_data.is_some() {
            self.times.idle += time;
        }
    }

    /// Moves the last `quiet` time from the total of the current state to the time spent waiting for
    /// a timeout.
    pub(super) fn count_timeout(&mut self, quiet: Duration) {
        let counted_as = match self.state {
            SenderState::Recovery => &mut self.times.recovery,
            SenderState::WindowFull => &mut self.times.window_full,
            SenderState::Flowing | SenderState::Idle | SenderState::ZeroWindow => {
                &mut self.times.flowing
            }
        };
        let waited = quiet.min(*counted_as);
        *counted_as = counted_as.saturating_sub(waited);
        self.times.timeout += waited;
    }
}

impl FlowDirection {
    /// Accounts for the time up to `now` in the sender's current state.
    pub(super) fn advance_time(&mut self, now: Instant) {
        self.activity.advance(now, self.window.is_zero());
    }

    /// Determines the sender's state from here on.
    pub(super) fn update_state(&mut self) {
        let flight = self.stream.flight();
        let full_segment = u64::from(self.full_segment());
        self.activity.state = if flight == 0 {
            if self.window.is_zero() { SenderState::ZeroWindow } else { SenderState::Idle }
        } else if self.retransmissions.recoveries.in_progress() {
            SenderState::Recovery
        } else if self.window.offered.is_some_and(|window| flight + full_segment > window) {
            SenderState::WindowFull
        } else {
            SenderState::Flowing
        };
    }
}
