//! Reductions of the window because of lost packets, one for each window of data (RFC 9002, section
//! 7.3.1), and their undoing.

use std::collections::VecDeque;

use crate::parts::control::{Snapshot, Window};
use crate::parts::respond::packets::{Restoration, Undo};

/// Number of reductions of which spurious losses are counted.
const COUNTED: usize = 8;

/// State before a reduction.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    pub(super) window: Window,
    pub(super) control: Snapshot,
    /// Losses of packets up to this number belonged to the reduction before.
    boundary: u32,
    /// Packets deemed lost before.
    lost: u32,
}

/// The losses of one reduction.
#[derive(Clone, Copy, Debug)]
struct Cut {
    id: u32,
    lost: u32,
    spurious: u32,
}

/// The reductions.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Losses of packets up to this number belong to the latest reduction.
    boundary: u32,
    prior: Option<Box<Prior>>,
    /// Losses of the latest reduction that have not proved spurious; the window is restored when there are
    /// none.
    open: u32,
    /// Packets deemed lost so far.
    lost: u32,
    id: u32,
    counted: VecDeque<Cut>,
}

impl Cuts {
    /// Returns the number of the latest reduction.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether a loss of packet `number`, or its acknowledgement, belongs to the latest reduction.
    pub(super) fn covers(&self, number: u32) -> bool {
        number <= self.boundary
    }

    /// Begins a reduction when the last packet sent is `last`, with the state before it.
    pub(super) fn begin(
        &mut self,
        rules: &Restoration,
        last: u32,
        window: Window,
        control: Snapshot,
    ) {
        let prior = Prior { window, control, boundary: self.boundary, lost: self.lost };
        let larger = self.prior.as_ref().is_none_or(|prior| prior.window.cwnd < window.cwnd);
        // ngtcp2 keeps the state with the largest window.
        if rules.undo != Undo::NoneLost || larger {
            self.prior = Some(Box::new(prior));
        }
        self.boundary = last;
        self.open = 0;
        self.id += 1;
        if self.counted.len() == COUNTED {
            self.counted.pop_front();
        }
        self.counted.push_back(Cut { id: self.id, lost: 0, spurious: 0 });
    }

    /// Counts the loss of packet `number` for the latest reduction.
    pub(super) fn count(&mut self, number: u32) {
        self.lost += 1;
        // One that belongs to the reduction before is accounted for in the state before the latest.
        let later = self.prior.as_ref().is_some_and(|prior| number > prior.boundary);
        self.open += u32::from(later && self.covers(number));
        if let Some(cut) = self.counted.back_mut() {
            cut.lost += 1;
        }
    }

    /// Counts a spurious loss of reduction `id`. Returns whether all its losses have now proved spurious.
    pub(super) fn count_spurious(&mut self, id: u32) -> bool {
        let Some(cut) = self.counted.iter_mut().find(|cut| cut.id == id) else { return false };
        cut.spurious += 1;
        cut.spurious == cut.lost
    }

    /// Takes a spurious loss of packet `number`. Returns the state to restore, if all losses of the latest
    /// reduction have now proved spurious.
    pub(super) fn on_spurious(&mut self, number: u32, window: Window) -> Option<Prior> {
        let prior = self.prior.as_ref()?;
        if self.open == 0 || number <= prior.boundary || !self.covers(number) {
            return None;
        }
        self.open -= 1;
        if self.open > 0 {
            return None;
        }
        let prior = *self.prior.take()?;
        (window.cwnd <= prior.window.cwnd).then(|| {
            self.boundary = prior.boundary;
            prior
        })
    }

    /// Returns the state before the latest reduction, and returns to the reduction before it, as quiche
    /// does at any spurious loss: not if that would be slow start, nor if the window is as large.
    pub(super) fn roll_back(&mut self, window: Window) -> Option<Prior> {
        let prior = self.prior.as_deref()?;
        if prior.window.slow_start() || window.cwnd >= prior.window.cwnd {
            return None;
        }
        self.boundary = prior.boundary;
        Some(prior.clone())
    }

    /// Returns the state before the reductions, as ngtcp2 does when no lost packet is unacknowledged.
    pub(super) fn restore(&mut self, window: Window) -> Option<Prior> {
        let prior = self.prior.as_ref()?;
        if window.cwnd >= prior.window.cwnd {
            return None;
        }
        self.boundary = 0;
        self.prior.take().map(|prior| *prior)
    }

    /// Returns whether the latest reduction was for so few packets that it is no congestion. Losses since
    /// it began count.
    pub(super) fn is_small(&self, rules: &Restoration, cwnd: f64) -> bool {
        let lost = self.prior.as_ref().map(|prior| self.lost - prior.lost);
        self.boundary > 0 && lost.is_some_and(|lost| rules.is_small(lost, cwnd))
    }

    /// Ends the latest reduction (RFC 9002, section 7.6.2).
    pub(super) fn end(&mut self) {
        self.boundary = 0;
    }

    /// Adapts the saved windows to smaller segments.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        if let Some(prior) = &mut self.prior {
            prior.window.scale(ratio);
            prior.control.scale(ratio);
        }
    }
}
