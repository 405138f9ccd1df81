//! Limited transmit, generalised (RFC 3042): what is sent beyond the window while a hole is open,
//! and what the wait does to the window.

pub(crate) mod dcr;
pub(crate) mod every_other;
pub(crate) mod ncr;
pub(crate) mod rfc3042;
pub(crate) mod windows;

use std::borrow::Cow;

use unruffled_units::Instant;

use crate::parts::control::Window;
use crate::parts::detect::Idle;

/// An acknowledgement that arrived outside loss recovery. Counts are in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    /// Whether it advanced the cumulative acknowledgement.
    pub(crate) advanced: bool,
    /// Whether it has SACK blocks.
    pub(crate) sack: bool,
    /// Segments outstanding before it arrived, and now (FlightSize).
    pub(crate) flight_before: u32,
    pub(crate) flight: u32,
}

/// An acknowledgement, after losses were detected and the window has grown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wait {
    pub(crate) now: Instant,
    /// Whether the sender is outside loss recovery.
    pub(crate) open: bool,
    /// Whether it advanced the cumulative acknowledgement.
    pub(crate) advanced: bool,
    /// Whether it is a duplicate, with SACK or without.
    pub(crate) duplicate: bool,
    /// Segments that it newly SACKed.
    pub(crate) sacked: u32,
    /// Duplicates so far: segments SACKed, or duplicate acknowledgements without SACK.
    pub(crate) duplicates: u32,
    /// Whether the window was full when it arrived.
    pub(crate) window_was_full: bool,
}

/// Decides what limited transmit sends. Only the allowance is required; the other methods are hooks
/// whose defaults do nothing.
pub(crate) trait LimitedTransmit {
    /// Describes the algorithm in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// Returns how many segments may be sent beyond the window after `duplicates` duplicate
    /// acknowledgements.
    fn allowance(&self, duplicates: u32, cwnd: f64) -> u32;

    /// Returns the window that new data may fill, if it differs from cwnd.
    fn window(&self, cwnd: f64) -> f64 {
        cwnd
    }

    /// Returns whether one more segment may be sent after the allowance is used up, with `pipe`
    /// segments in the network.
    fn may_exceed(&self, _pipe: u32) -> bool {
        false
    }

    /// Called when a segment was sent because of [`Self::may_exceed`].
    fn on_exceeded(&mut self) {}

    /// Returns the flight size from which a reduction starts, where it differs from the present
    /// one.
    fn flight_before(&self) -> Option<f64> {
        None
    }

    /// Called for an acknowledgement outside loss recovery; adjusts the window when a hole has
    /// closed.
    fn on_progress(&mut self, _progress: &Progress, _window: &mut Window) {}

    /// Returns by how many segments duplicates grow the window while a hole is open.
    fn grow_while_waiting(&mut self, _wait: &Wait, _window: &Window) -> u32 {
        0
    }

    /// Returns a period without sending that has just ended, if the used-up allowance had caused
    /// it.
    fn idle(&mut self, _wait: &Wait, _window: &Window) -> Option<Idle> {
        None
    }

    /// Called when loss recovery begins.
    fn on_recovery(&mut self) {}
}

/// A limited transmit of any kind. It is an enum because a virtual call would cost more than most
/// parts do.
#[derive(Clone, Debug)]
pub(crate) enum AnyLimitedTransmit {
    Rfc3042(rfc3042::Rfc3042),
    EveryOther(every_other::EveryOther),
    Windows(windows::Windows),
    Ncr(ncr::ExtendedLimitedTransmit),
    Dcr(dcr::DelayedGrowth),
}

impl AnyLimitedTransmit {
    /// Returns whether [`LimitedTransmit::grow_while_waiting`] or [`LimitedTransmit::idle`] does
    /// anything.
    #[inline]
    pub(crate) fn uses_waits(&self) -> bool {
        matches!(self, Self::Windows(_) | Self::Dcr(_))
    }
}

impl LimitedTransmit for AnyLimitedTransmit {
    fn about(&self) -> Cow<'static, str> {
        match self {
            Self::Rfc3042(part) => part.about(),
            Self::EveryOther(part) => part.about(),
            Self::Windows(part) => part.about(),
            Self::Ncr(part) => part.about(),
            Self::Dcr(part) => part.about(),
        }
    }

    #[inline]
    fn allowance(&self, duplicates: u32, cwnd: f64) -> u32 {
        match self {
            Self::Rfc3042(part) => part.allowance(duplicates, cwnd),
            Self::EveryOther(part) => part.allowance(duplicates, cwnd),
            Self::Windows(part) => part.allowance(duplicates, cwnd),
            Self::Ncr(part) => part.allowance(duplicates, cwnd),
            Self::Dcr(part) => part.allowance(duplicates, cwnd),
        }
    }

    #[inline]
    fn window(&self, cwnd: f64) -> f64 {
        match self {
            Self::Rfc3042(part) => part.window(cwnd),
            Self::EveryOther(part) => part.window(cwnd),
            Self::Windows(part) => part.window(cwnd),
            Self::Ncr(part) => part.window(cwnd),
            Self::Dcr(part) => part.window(cwnd),
        }
    }

    #[inline]
    fn may_exceed(&self, pipe: u32) -> bool {
        match self {
            Self::Rfc3042(part) => part.may_exceed(pipe),
            Self::EveryOther(part) => part.may_exceed(pipe),
            Self::Windows(part) => part.may_exceed(pipe),
            Self::Ncr(part) => part.may_exceed(pipe),
            Self::Dcr(part) => part.may_exceed(pipe),
        }
    }

    fn on_exceeded(&mut self) {
        match self {
            Self::Rfc3042(part) => part.on_exceeded(),
            Self::EveryOther(part) => part.on_exceeded(),
            Self::Windows(part) => part.on_exceeded(),
            Self::Ncr(part) => part.on_exceeded(),
            Self::Dcr(part) => part.on_exceeded(),
        }
    }

    #[inline]
    fn flight_before(&self) -> Option<f64> {
        match self {
            Self::Rfc3042(part) => part.flight_before(),
            Self::EveryOther(part) => part.flight_before(),
            Self::Windows(part) => part.flight_before(),
            Self::Ncr(part) => part.flight_before(),
            Self::Dcr(part) => part.flight_before(),
        }
    }

    #[inline]
    fn on_progress(&mut self, progress: &Progress, window: &mut Window) {
        match self {
            Self::Rfc3042(part) => part.on_progress(progress, window),
            Self::EveryOther(part) => part.on_progress(progress, window),
            Self::Windows(part) => part.on_progress(progress, window),
            Self::Ncr(part) => part.on_progress(progress, window),
            Self::Dcr(part) => part.on_progress(progress, window),
        }
    }

    #[inline]
    fn grow_while_waiting(&mut self, wait: &Wait, window: &Window) -> u32 {
        match self {
            Self::Rfc3042(part) => part.grow_while_waiting(wait, window),
            Self::EveryOther(part) => part.grow_while_waiting(wait, window),
            Self::Windows(part) => part.grow_while_waiting(wait, window),
            Self::Ncr(part) => part.grow_while_waiting(wait, window),
            Self::Dcr(part) => part.grow_while_waiting(wait, window),
        }
    }

    #[inline]
    fn idle(&mut self, wait: &Wait, window: &Window) -> Option<Idle> {
        match self {
            Self::Rfc3042(part) => part.idle(wait, window),
            Self::EveryOther(part) => part.idle(wait, window),
            Self::Windows(part) => part.idle(wait, window),
            Self::Ncr(part) => part.idle(wait, window),
            Self::Dcr(part) => part.idle(wait, window),
        }
    }

    fn on_recovery(&mut self) {
        match self {
            Self::Rfc3042(part) => part.on_recovery(),
            Self::EveryOther(part) => part.on_recovery(),
            Self::Windows(part) => part.on_recovery(),
            Self::Ncr(part) => part.on_recovery(),
            Self::Dcr(part) => part.on_recovery(),
        }
    }
}
