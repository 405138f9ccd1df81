//! The window while the response to congestion is delayed (TCP-DCR, section 2.2): it "continues to
//! evolve as indicated by the congestion avoidance algorithm", but each duplicate releases only one
//! new packet, so that the rate stays the same as at the first duplicate.

use std::borrow::Cow;

use super::{AnyLimitedTransmit, LimitedTransmit, Wait};
use crate::parts::control::Window;
use crate::parts::{Kind, maker};

/// TCP-DCR's limited transmit.
pub(crate) const DCR: Kind<AnyLimitedTransmit> = Kind::new::<()>("dcr", |values| {
    maker(values, |(), _| AnyLimitedTransmit::Dcr(DelayedGrowth::default()))
});

/// TCP-DCR's window while a hole is open.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelayedGrowth {
    /// Window that new data may fill while a hole is open; cwnd itself grows meanwhile.
    held: Option<f64>,
}

impl LimitedTransmit for DelayedGrowth {
    fn about(&self) -> Cow<'static, str> {
        "one per duplicate, and the window keeps its additive increase".into()
    }

    fn allowance(&self, duplicates: u32, _cwnd: f64) -> u32 {
        duplicates
    }

    fn window(&self, cwnd: f64) -> f64 {
        self.held.unwrap_or(cwnd)
    }

    /// Returns the segments by which a duplicate grows the window. In congestion avoidance,
    /// duplicates grow the window like new acknowledgements. Those that also advanced the
    /// cumulative acknowledgement have grown it already.
    fn grow_while_waiting(&mut self, wait: &Wait, window: &Window) -> u32 {
        if wait.advanced || !wait.open {
            self.held = None;
        }
        if !wait.open || wait.sacked == 0 || window.slow_start() {
            return 0;
        }
        self.held.get_or_insert(window.cwnd);
        if wait.advanced || !wait.window_was_full { 0 } else { wait.sacked }
    }

    /// Called when the window is reduced, perhaps by a mark of the path while a hole is open.
    fn on_recovery(&mut self) {
        self.held = None;
    }
}

#[cfg(test)]
mod tests;
