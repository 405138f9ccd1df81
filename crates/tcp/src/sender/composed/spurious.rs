//! What happens when a reduction of the window proves spurious: by DSACKs, by timestamps (Eifel) or
//! after a timeout (F-RTO). The [parts](crate::parts::respond) are asked here, and what they answer is
//! done.

use unruffled_units::Instant;

use super::{Acks, Composed, Composition, Phase};
use crate::Config;
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Snapshot};
use crate::parts::detect::{LossDetector, SpuriousFastRetransmit};
use crate::parts::respond::Before;
use crate::parts::respond::dsack::Restoration;
use crate::parts::respond::eifel::{Acceptable, Eifel};
use crate::parts::respond::f_rto::{self, During, FRto, Finding};
use crate::sender::Ack;
use crate::sender::reductions::{Evidence, Inherit, ReductionId, Saved, Undo};
use crate::sender::stream::{Reading, Stream};

/// The parts that respond.
#[derive(Debug)]
pub(super) struct Responses {
    restoration: Restoration,
    /// Those that a sender may do without, which are half as large as all the rest of it.
    pub(super) eifel: Option<Box<Eifel>>,
    pub(super) f_rto: Option<Box<FRto>>,
    /// The reductions that these watch.
    eifel_watches: Option<ReductionId>,
    f_rto_watches: Option<ReductionId>,
}

impl Responses {
    pub(super) fn new(config: &Config, parts: &Composition) -> Self {
        Self {
            restoration: (parts.restoration)(config),
            eifel: parts.eifel.then(|| Box::new(Eifel::new())),
            f_rto: parts.f_rto.then(|| Box::new(FRto::new())),
            eifel_watches: None,
            f_rto_watches: None,
        }
    }

    /// What is resent from now on was too big for the path, whatever became of the rest.
    pub(super) fn give_up(&mut self) {
        self.stop();
        if let Some(eifel) = &mut self.eifel {
            eifel.stop();
        }
    }

    /// Recovery is over.
    pub(super) fn stop(&mut self) {
        if let Some(f_rto) = &mut self.f_rto {
            f_rto.stop();
        }
    }

    /// An acknowledgement without a DSACK tells nothing, as long as nothing is recovered from.
    pub(super) fn are_idle(&self) -> bool {
        self.eifel.as_ref().is_none_or(|eifel| eifel.is_idle())
    }
}

impl Inherit for Before {
    /// The rest is of each recovery alone.
    fn inherit(&mut self, earlier: &Self) {
        self.control = earlier.control.clone();
    }
}

impl Composed {
    /// Something came twice: spurious retransmissions, if it is believable, and perhaps a spurious
    /// reduction of the window.
    #[inline]
    pub(super) fn on_dsack(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if ack.dsack.is_none() {
            return;
        }
        let mut last = None;
        while let Some(spurious) = stream.next_spurious(last.as_ref(), ack, read, now, observer) {
            if let Some(sample) = spurious.reordering {
                self.detector.on_reordering(sample, &self.view(stream, now));
            }
            if let Some(rtt) = spurious.rtt {
                let flight = stream.board.outstanding();
                stream.round_trips.sample_retransmission(rtt, flight);
            }
            self.on_duplicate(stream, &spurious, now, observer);
            let under = spurious.under;
            if let Some(undo) = under.and_then(|id| self.ledger.add(id, Evidence::Duplicate, now)) {
                observer.on_event(now, &Event::SpuriousReduction { cause: undo.cause });
                let length = spurious.reordering.map(|sample| sample.length);
                self.tell_detector_of(stream, &undo, length, now);
                self.undo(stream, undo, now, observer);
            }
            last = Some(spurious);
        }
        if last.is_none() {
            self.on_repeated_duplicate(stream, ack, now, observer);
        }
    }

    /// The detector learns of a reduction that was spurious.
    fn tell_detector_of(
        &mut self,
        stream: &Stream,
        undo: &Undo<Before>,
        length: Option<u32>,
        now: Instant,
    ) {
        if undo.cause == Cause::FastRetransmit {
            let window = undo.saved.window.cwnd;
            let found = SpuriousFastRetransmit { lasted: undo.lasted, window, length };
            self.detector.on_spurious_fast_retransmit(found, &self.view(stream, now));
        }
    }

    /// A reduction was spurious, by DSACKs or by arrivals: goes back to before it, unless a later one
    /// stands.
    pub(super) fn undo(
        &mut self,
        stream: &mut Stream,
        undo: Undo<Before>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.on_undo(&undo);
        if undo.last {
            self.restore(stream, undo.saved, now, observer);
        }
    }

    /// Goes back to what stood before a reduction.
    fn restore(
        &mut self,
        stream: &mut Stream,
        saved: Saved<Before>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let restored = self.responses.restoration.respond(self.window, saved.window);
        let Some(window) = restored else { return };
        self.control.on_undo(&self.window, &saved.rest.control);
        if let Phase::Loss { too_big: true, .. } = self.recovery.phase {
            // What was too big for the path is lost all the same, and slow start fills the window.
            self.window.ssthresh = self.window.ssthresh.max(window.ssthresh).max(window.cwnd);
            return;
        }
        self.window = window;
        if self.recovery.phase != Phase::Open {
            // Nothing was lost: what is still marked is late too.
            let cwnd = self.window.cwnd;
            stream.board.forgive();
            self.end_recovery(stream, now, observer);
            self.window.cwnd = cwnd;
        }
    }

    /// What stands now, besides the window, before a reduction for which `control` hands over its
    /// variables.
    pub(super) fn before(&self, stream: &Stream, control: Snapshot) -> Before {
        Before {
            control,
            pipe_prev: self.flight(stream).max(self.window.ssthresh),
            rtt: stream.round_trips.before_timeout(),
            point: stream.nxt(),
        }
    }

    /// The window is being reduced because of `cause`.
    pub(super) fn watch_for_spurious(
        &mut self,
        stream: &Stream,
        cause: Cause,
        reduction: ReductionId,
    ) {
        let during = match self.recovery.phase {
            Phase::Open => During::Open,
            Phase::Recovery { .. } => During::FastRecovery,
            Phase::Loss { .. } => During::Timeout,
        };
        if during == During::Open
            && let Some(eifel) = &mut self.responses.eifel
        {
            eifel.begin();
            self.responses.eifel_watches = Some(reduction);
            let first = stream.board.entry(stream.board.first());
            if first.retransmitted {
                // By a probe, or by a recovery that was spurious: what answers that may come only now.
                eifel.on_retransmit(first.sent);
            }
        }
        if cause == Cause::Timeout
            && let Some(f_rto) = &mut self.responses.f_rto
        {
            let sack = self.policy.acks == Acks::Sack;
            if f_rto.on_timeout(stream.una(), stream.nxt(), during, sack) {
                self.responses.f_rto_watches = Some(reduction);
            }
        }
    }

    /// Reads one acknowledgement for signs that the last reduction was spurious; says whether it
    /// was.
    #[inline]
    pub(super) fn detect_spurious(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let acceptable = Acceptable {
            echo: ack.echo,
            dsack: ack.dsack.is_some(),
            all: stream.una() == stream.nxt(),
            advanced: read.advanced,
        };
        let eifel = self.responses.eifel.as_mut();
        if eifel.is_some_and(|eifel| eifel.on_ack(&acceptable)) {
            return self.respond(stream, self.responses.eifel_watches, read, now, observer);
        }
        if !matches!(self.recovery.phase, Phase::Loss { .. }) {
            return false;
        }
        let Some(f_rto) = &mut self.responses.f_rto else { return false };
        let sack = self.policy.acks == Acks::Sack;
        let right = ack.blocks.iter().map(|&(_, right)| right).max();
        let finding = f_rto.on_ack(&f_rto::AckView {
            sack,
            una: stream.una(),
            nxt: stream.nxt(),
            advanced: read.advanced,
            duplicate: ack.duplicate || (sack && read.delivery.sacked > 0),
            fresh: read.delivery.segments > 0,
            highest: right.unwrap_or(0).max(stream.una()),
            can_send_new: stream.next_new().is_some(),
        });
        match finding {
            Finding::Wait => false,
            Finding::Conventional { least, most } => {
                // What duplicates take out of the pipe, as in ns-2, leaves room as it is.
                let leave = self.policy.fast_recovery.heeds_after_timeout() > 0;
                let least = if leave { 0.0 } else { least };
                self.window.cwnd = self.window.cwnd.clamp(least, most).min(self.policy.max_cwnd);
                false
            }
            Finding::Spurious => {
                self.respond(stream, self.responses.f_rto_watches, read, now, observer)
            }
        }
    }

    /// RFC 4015, steps 8, 9 and 11; there is no ECN here. RFC 4015 speaks of timeouts only; a spurious
    /// fast retransmit is answered in the same way, but for the timer.
    fn respond(
        &mut self,
        stream: &mut Stream,
        watched: Option<ReductionId>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let Some(watched) = watched else { return false };
        let mut first = None;
        while let Some(undo) = self.ledger.add(watched, Evidence::Original, now) {
            observer.on_event(now, &Event::SpuriousReduction { cause: undo.cause });
            self.on_undo(&undo);
            let length = stream.retransmissions.length_under(undo.id);
            self.tell_detector_of(stream, &undo, length, now);
            first.get_or_insert(undo);
        }
        // DSACKs may have shown it already, of the one that is watched too.
        let Some(Undo { cause, saved, .. }) = first else { return false };
        self.control.on_undo(&self.window, &saved.rest.control);
        let (cause, before) = match self.ledger.get(watched) {
            Some((cause, saved)) => (cause, saved.rest.clone()),
            None => (cause, saved.rest),
        };
        // The next loss may be recovered from at once (RFC 5682, section 2.1, step 3b).
        self.recovery.recover = None;
        // Step 8: nothing more of what was deemed lost is resent.
        if self.recovery.phase != Phase::Open {
            stream.board.forgive();
            self.end_recovery(stream, now, observer);
        }
        // Octets of less than a segment count as none.
        let acked = read.delivery.passed.min(self.policy.initial_window);
        let flight = f64::from(stream.board.outstanding() + acked);
        self.window = before.respond(flight, saved.window);
        // Step 11 waits for a sample.
        match cause {
            Cause::Timeout => stream.round_trips.adapt_after(&before),
            Cause::FastRetransmit | Cause::Probe => stream.round_trips.cancel_adaptation(),
        }
        true
    }
}
