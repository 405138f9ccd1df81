//! Limited transmit, generalised (RFC 3042): what is sent beyond the window while a hole waits, and
//! what the wait does to the window.

pub(crate) mod dcr;
pub(crate) mod every_other;
pub(crate) mod ncr;
pub(crate) mod rfc3042;
pub(crate) mod windows;

use std::borrow::Cow;

use unruffled_units::Instant;

use crate::parts::control::Window;
use crate::parts::detect::Idle;

/// An acknowledgement that came outside loss recovery. Segments throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Progress {
    /// It advanced the cumulative point.
    pub(crate) advanced: bool,
    /// It has SACK blocks.
    pub(crate) sack: bool,
    /// Outstanding when it came, and now (FlightSize).
    pub(crate) flight_before: u32,
    pub(crate) flight: u32,
}

/// An acknowledgement, once losses are detected and the window has grown by what it acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wait {
    pub(crate) now: Instant,
    /// No loss recovery is on.
    pub(crate) open: bool,
    /// It advanced the cumulative point.
    pub(crate) advanced: bool,
    /// It is a duplicate, with SACK or without.
    pub(crate) duplicate: bool,
    /// Segments that it newly SACKed.
    pub(crate) sacked: u32,
    /// Duplicates that wait: segments SACKed, or duplicate acknowledgements without SACK.
    pub(crate) duplicates: u32,
    /// The window was full when it came.
    pub(crate) window_was_full: bool,
}

/// What a limited transmit decides. All but the allowance are hooks with a default that does nothing.
pub(crate) trait LimitedTransmit {
    /// What it does, in a few words.
    fn about(&self) -> Cow<'static, str>;

    /// Segments allowed beyond the window after `duplicates` duplicate acknowledgements.
    fn allowance(&self, duplicates: u32, cwnd: f64) -> u32;

    /// The window that new data may fill, where that is not cwnd.
    fn window(&self, cwnd: f64) -> f64 {
        cwnd
    }

    /// Whether one more segment may leave when the allowance is used up, with `pipe` in the network.
    fn may_exceed(&self, _pipe: u32) -> bool {
        false
    }

    /// A segment left that [`Self::may_exceed`] let go.
    fn on_exceeded(&mut self) {}

    /// The flight that a reduction of the window starts from, where that is not the present one.
    fn flight_before(&self) -> Option<f64> {
        None
    }

    /// An acknowledgement came outside loss recovery: puts the window right where a hole closed.
    fn on_progress(&mut self, _progress: &Progress, _window: &mut Window) {}

    /// By how many segments duplicates grow the window while a hole waits.
    fn grow_while_waiting(&mut self, _wait: &Wait, _window: &Window) -> u32 {
        0
    }

    /// A period without sending that has ended, because the allowance had been used up.
    fn idle(&mut self, _wait: &Wait, _window: &Window) -> Option<Idle> {
        None
    }

    /// Loss recovery begins.
    fn on_recovery(&mut self) {}
}

/// A limited transmit of any kind: an enum, because a call through a table would cost more than most
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
    /// Whether [`LimitedTransmit::grow_while_waiting`] or [`LimitedTransmit::idle`] does anything.
    #[inline]
    pub(crate) fn heeds_waits(&self) -> bool {
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
