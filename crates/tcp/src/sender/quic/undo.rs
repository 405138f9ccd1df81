//! Restoration of the window after spurious losses, and the end of a recovery.

use unruffled_units::{Duration, Instant};

use super::cuts::Prior;
use super::{GRANULARITY, Quic};
use crate::observer::{Event, Observer};
use crate::parts::control::CongestionControl;
use crate::parts::respond::packets::Undo;
use crate::sender::Phase;
use crate::sender::stream::Stream;

impl Quic {
    /// Restores the window if the spurious losses of this acknowledgement are the evidence for it.
    pub(super) fn undo(&mut self, now: Instant, observer: &mut impl Observer) {
        if self.spurious.is_empty() {
            return;
        }
        match self.restoration.undo {
            Undo::Never => {}
            Undo::Any => {
                let prior = self.cuts.roll_back(self.window);
                self.reinstate(prior);
            }
            Undo::NoneLost if self.sent.remembered() == 0 => {
                let prior = self.cuts.restore(self.window);
                self.reinstate(prior);
            }
            Undo::NoneLost => {}
            Undo::AllOfCut => {
                for at in 0..self.spurious.len() {
                    let prior = self.cuts.on_spurious(self.spurious[at].number, self.window);
                    self.reinstate(prior);
                }
            }
        }
        self.leave(observer, now);
    }

    pub(super) fn reinstate(&mut self, prior: Option<Prior>) {
        if let Some(Prior { window, control, .. }) = prior {
            self.control.on_undo(&self.window, &control);
            self.window = window;
        }
    }

    /// Ends the recovery once a packet sent after its beginning was acknowledged.
    pub(super) fn leave(&mut self, observer: &mut impl Observer, now: Instant) {
        if self.phase != Phase::Open && !self.cuts.covers(self.largest) {
            self.phase = Phase::Open;
            observer.on_event(now, &Event::Recovered);
        }
    }

    pub(super) fn memory(&self, stream: &Stream) -> Duration {
        let srtt = stream.round_trips.srtt().unwrap_or(GRANULARITY);
        self.restoration.memory(srtt, Self::probe_timeout(stream))
    }
}
