//! The response to marks of the path (RFC 3168, section 6.1.2). A mark is congestion: it needs no
//! suspicion and no confirmation, and a reduction because of it is never undone.

use unruffled_units::Instant;

use super::context::Step;
use super::{Composed, Phase};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Snapshot};
use crate::parts::limited_transmit::LimitedTransmit;
use crate::sender::reductions::{Basis, Saved};
use crate::sender::stream::Stream;

impl<O: Observer> Step<'_, O> {
    /// Responds to an acknowledgement with ECE that delivered `segments`: reduces the window, unless it
    /// has been reduced for the same window of data. Then the mark supports that reduction.
    pub(super) fn on_echo(&mut self, segments: u32) {
        let Step { sender, stream, now, observer } = self;
        let flow = sender.flow(stream, *now);
        sender.control.on_echo(segments, &flow);
        let recovering = match sender.recovery.phase {
            Phase::Recovery { .. } | Phase::Loss { too_big: false, .. } => true,
            Phase::Open | Phase::Loss { too_big: true, .. } => false,
        };
        if recovering || sender.marks.are_answered(stream.una()) {
            sender.ledger.support_last_by_mark();
            return;
        }
        let control = sender.control.snapshot();
        let saved = Saved { window: sender.window, rest: sender.before(stream, control) };
        sender.ledger.begin(Cause::FastRetransmit, Basis::Mark, saved, *now);
        if let Some(suspicions) = &mut sender.suspicions {
            // Losses in the same window of data do not reduce the window again.
            suspicions.on_reduction(true, *now);
        }
        sender.limited_transmit.on_recovery();
        sender.window.ssthresh = sender.control.on_ecn(&sender.window, &flow);
        sender.reduce_at_once();
        sender.marks.on_mark(stream.nxt());
        observer.on_event(*now, &Event::EcnReduction { cwnd: sender.window.cwnd });
    }
}

impl Composed {
    /// Returns whether the new data that is sent now carries CWR.
    pub(in crate::sender) fn take_cwr(&mut self) -> bool {
        self.marks.take_cwr()
    }

    /// Reduces the window because of a loss, unless a mark has reduced it for the same window of data.
    /// Returns whether it reduced the window.
    pub(super) fn reduce_for_loss(&mut self, stream: &Stream, cause: Cause, now: Instant) -> bool {
        let reduces = !self.marks.answer_loss(stream.una());
        if reduces {
            self.reduce(stream, cause, now);
        } else {
            self.record_reduction(stream, cause, Snapshot::default(), now);
        }
        reduces
    }
}
