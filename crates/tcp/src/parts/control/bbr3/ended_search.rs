//! A search for bandwidth that losses ended. It goes on when they prove to be late.

use super::loss_rate::LossRate;
use super::signals::Bounds;
use super::{Bbr3, State};
use crate::parts::control::{PathSample, SentState};

/// A search for bandwidth that losses ended, or whose losses bounded what is in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EndedSearch {
    /// The state that the losses ended (BBR.undo_state), or in which they were counted.
    pub(super) state: State,
    /// Segments lost beyond what is tolerated. The search goes on when as many prove to be late.
    excess: f64,
    /// Segments delivered when it ended. Later losses count as well if they were sent until then. In
    /// STARTUP, which ends after a whole round trip of losses, later ones do not count.
    sent_until: Option<u64>,
    /// The long-term bound before.
    long_term: f64,
    /// Whether the last reduction of the window is that of these losses.
    pub(super) of_last_reduction: bool,
}

impl EndedSearch {
    /// Counts a segment that was lost after the search ended.
    pub(super) fn on_lost(&mut self, sent: &SentState) {
        if self.sent_until.is_some_and(|until| sent.delivered <= until) {
            self.excess += 1.0;
        }
    }

    /// Converts to smaller segments, of which `ratio` fit into a previous one.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.excess *= ratio;
        self.long_term *= ratio;
    }
}

impl Bbr3 {
    /// Records that losses of this rate end the present search, or bound what is in flight. Those of segments
    /// that were sent until `sent_until` segments were delivered add to them.
    pub(super) fn end_search(&mut self, losses: LossRate, sent_until: Option<u64>) {
        self.ended_search = Some(EndedSearch {
            state: self.state,
            excess: self.losses.excess(losses),
            sent_until,
            long_term: self.long_term.bound,
            of_last_reduction: true,
        });
    }

    /// Goes on with a search that losses ended, when so many of its losses prove to be late that the others
    /// are tolerated. The draft does so when a whole reduction proves spurious.
    pub(super) fn count_refuted(&mut self, sample: &PathSample) {
        let lost = self.totals.lost + u64::from(sample.lost);
        let refuted = lost.saturating_sub(sample.lost_total);
        let Some(ended) = self.ended_search.as_mut().filter(|_| refuted > 0) else { return };
        ended.excess -= refuted as f64;
        if ended.excess > 0.0 {
            return;
        }
        let (state, long_term) = (ended.state, ended.long_term);
        self.ended_search = None;
        self.bounds = Bounds::NONE;
        self.long_term.bound = self.long_term.bound.max(long_term);
        self.full_pipe.restart(0.0);
        self.resume(state);
    }

    /// Returns to the search for bandwidth that spurious losses ended in `state`.
    pub(super) fn resume(&mut self, state: State) {
        match state {
            State::Startup => {
                self.full_pipe.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            State::Up if matches!(self.state, State::Down | State::Cruise) => self.resume_probe(),
            _ => {}
        }
    }
}
