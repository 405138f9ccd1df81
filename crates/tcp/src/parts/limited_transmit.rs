//! Limited transmit, generalised (RFC 3042): what is sent beyond the window while a hole waits, and
//! what the wait does to the window.

pub(crate) mod dcr;
pub(crate) mod every_other;
pub(crate) mod ncr;
pub(crate) mod rfc3042;
pub(crate) mod windows;

use std::borrow::Cow;

use unruffled_units::Instant;

use crate::parts::any_of;
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

any_of! { $
    /// A limited transmit of any kind.
    #[derive(Clone, Debug)]
    AnyLimitedTransmit {
        Rfc3042(rfc3042::Rfc3042),
        EveryOther(every_other::EveryOther),
        Windows(windows::Windows),
        Ncr(ncr::ExtendedLimitedTransmit),
        Dcr(dcr::DelayedGrowth),
    }
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
        each!(self, part => part.about())
    }

    #[inline]
    fn allowance(&self, duplicates: u32, cwnd: f64) -> u32 {
        each!(self, part => part.allowance(duplicates, cwnd))
    }

    #[inline]
    fn window(&self, cwnd: f64) -> f64 {
        each!(self, part => part.window(cwnd))
    }

    #[inline]
    fn may_exceed(&self, pipe: u32) -> bool {
        each!(self, part => part.may_exceed(pipe))
    }

    fn on_exceeded(&mut self) {
        each!(self, part => part.on_exceeded());
    }

    #[inline]
    fn flight_before(&self) -> Option<f64> {
        each!(self, part => part.flight_before())
    }

    #[inline]
    fn on_progress(&mut self, progress: &Progress, window: &mut Window) {
        each!(self, part => part.on_progress(progress, window));
    }

    #[inline]
    fn grow_while_waiting(&mut self, wait: &Wait, window: &Window) -> u32 {
        each!(self, part => part.grow_while_waiting(wait, window))
    }

    #[inline]
    fn idle(&mut self, wait: &Wait, window: &Window) -> Option<Idle> {
        each!(self, part => part.idle(wait, window))
    }

    fn on_recovery(&mut self) {
        each!(self, part => part.on_recovery());
    }
}
