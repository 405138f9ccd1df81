//! How a reduction of the window proves spurious, and what follows: by DSACKs, by timestamps (Eifel), or
//! after a timeout (F-RTO). The [parts](crate::parts::respond) decide, and this module acts on it.

use super::context::{AckContext, Step};
use super::linux::Linux;
use super::{Acks, Composed, Composition, Phase};
use crate::Config;
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Snapshot};
use crate::parts::detect::{LossDetector, SpuriousFastRetransmit};
use crate::parts::respond::Before;
use crate::parts::respond::dsack::Restoration;
use crate::parts::respond::eifel::{Acceptable, Eifel};
use crate::parts::respond::f_rto::{self, During, FRto, Finding};
use crate::sender::reductions::{Evidence, Inherit, ReductionId, Saved, Undo};
use crate::sender::stream::{Spurious, Stream};

/// The parts that respond to spurious reductions.
#[derive(Debug)]
pub(super) struct Responses {
    restoration: Restoration,
    // Boxed, because many senders have neither, and both together are half as large as the rest.
    pub(super) eifel: Option<Box<Watch<Eifel>>>,
    pub(super) f_rto: Option<Box<Watch<FRto>>>,
    /// For Linux, in place of all others.
    pub(super) linux: Option<Box<Linux>>,
}

/// A part that watches a reduction of the window.
#[derive(Debug)]
pub(super) struct Watch<T> {
    pub(super) part: T,
    /// The reduction.
    reduction: Option<ReductionId>,
}

impl<T> Watch<T> {
    fn boxed(part: T) -> Box<Self> {
        Box::new(Self { part, reduction: None })
    }
}

impl Responses {
    pub(super) fn new(config: &Config, parts: &Composition) -> Self {
        Self {
            restoration: (parts.restoration)(config),
            eifel: parts.eifel.then(|| Watch::boxed(Eifel::new())),
            f_rto: parts.f_rto.then(|| Watch::boxed(FRto::new())),
            linux: parts.linux.then(|| Box::new(Linux::new())),
        }
    }

    /// Ends all detection: what is resent from now on was too big for the path, which makes it no
    /// evidence.
    pub(super) fn give_up(&mut self) {
        self.stop();
        if let Some(eifel) = &mut self.eifel {
            eifel.part.stop();
        }
        if let Some(linux) = &mut self.linux {
            linux.last.give_up();
        }
    }

    /// Starts Eifel and F-RTO for a reduction of the window because of `cause`,
    /// in `phase`.
    pub(super) fn watch(
        &mut self,
        stream: &Stream,
        cause: Cause,
        reduction: ReductionId,
        phase: Phase,
        sack: bool,
    ) {
        let during = match phase {
            Phase::Open => During::Open,
            Phase::Recovery { .. } => During::FastRecovery,
            Phase::Loss { .. } => During::Timeout,
        };
        if let Some(linux) = &mut self.linux {
            linux.watch(reduction);
        }
        if during == During::Open
            && let Some(eifel) = &mut self.eifel
        {
            eifel.part.begin();
            eifel.reduction = Some(reduction);
            let first = stream.board.entry(stream.board.first());
            if first.retransmitted {
                // A probe or a spurious recovery resent it, and the answer to that may come only now.
                eifel.part.on_retransmit(first.sent);
            }
        }
        if cause == Cause::Timeout
            && let Some(f_rto) = &mut self.f_rto
            && f_rto.part.on_timeout(stream.una(), stream.nxt(), during, sack)
        {
            f_rto.reduction = Some(reduction);
        }
    }

    /// Stops F-RTO when recovery ends.
    pub(super) fn stop(&mut self) {
        if let Some(f_rto) = &mut self.f_rto {
            f_rto.part.stop();
        }
    }

    /// Returns whether an acknowledgement without a DSACK is no evidence outside recovery.
    pub(super) fn are_idle(&self) -> bool {
        self.eifel.as_ref().is_none_or(|eifel| eifel.part.is_idle())
    }
}

impl Inherit for Before {
    /// Inherits only the congestion control's variables. The rest belongs to each recovery.
    fn inherit(&mut self, earlier: &Self) {
        self.control = earlier.control.clone();
    }
}

impl<O: Observer> AckContext<'_, '_, O> {
    /// Processes a DSACK: the spurious retransmissions that it reports, if it is plausible, and perhaps
    /// a spurious reduction of the window.
    #[inline]
    pub(super) fn on_dsack(&mut self) {
        if self.ack.dsack.is_none() {
            return;
        }
        let mut last = None;
        while let Some(spurious) =
            self.stream.next_spurious(last.as_ref(), self.ack, &self.read, self.now, self.observer)
        {
            if let Some(sample) = spurious.reordering {
                let view = self.view();
                self.sender.detector.on_reordering(sample, &view);
            }
            if let Some(rtt) = spurious.rtt {
                let flight = self.stream.board.outstanding();
                self.stream.round_trips.sample_retransmission(rtt, flight);
            }
            let mut step = self.step();
            step.on_duplicate(&spurious);
            step.on_evidence(&spurious);
            last = Some(spurious);
        }
        if last.is_none() {
            let ack = self.ack;
            self.step().on_repeated_duplicate(ack);
        }
    }

    /// Looks in the acknowledgement for evidence that the last reduction was spurious. Returns whether
    /// it was.
    #[inline]
    pub(super) fn detect_spurious(&mut self) -> bool {
        let stream = &*self.stream;
        let acceptable = Acceptable {
            echo: self.ack.echo,
            dsack: self.ack.dsack.is_some(),
            all: stream.una() == stream.nxt(),
            advanced: self.read.advanced,
        };
        if let Some(eifel) = self.sender.responses.eifel.as_mut()
            && eifel.part.on_ack(&acceptable)
        {
            let watched = eifel.reduction;
            return self.respond(watched);
        }
        if !matches!(self.sender.recovery.phase, Phase::Loss { .. }) {
            return false;
        }
        let sender = &mut *self.sender;
        let Some(f_rto) = &mut sender.responses.f_rto else { return false };
        let sack = sender.policy.acks == Acks::Sack;
        let right = self.ack.blocks.iter().map(|&(_, right)| right).max();
        let watched = f_rto.reduction;
        let finding = f_rto.part.on_ack(&f_rto::AckView {
            sack,
            una: stream.una(),
            nxt: stream.nxt(),
            advanced: self.read.advanced,
            duplicate: self.ack.duplicate || (sack && self.read.delivery.sacked > 0),
            fresh: self.read.delivery.segments > 0,
            highest: right.unwrap_or(0).max(stream.una()),
            can_send_new: stream.next_new().is_some(),
        });
        match finding {
            Finding::Wait => false,
            Finding::Conventional { least, most } => {
                // In ns-2, the room that duplicates make in the pipe stays as it is.
                let leave = sender.policy.fast_recovery.duplicates_after_timeout() > 0;
                let least = if leave { 0.0 } else { least };
                let cwnd = sender.window.cwnd.clamp(least, most);
                sender.window.cwnd = cwnd.min(sender.policy.max_cwnd);
                false
            }
            Finding::Spurious => self.respond(watched),
        }
    }

    /// Responds to a spurious reduction by RFC 4015, steps 8, 9 and 11. The ledger undoes no reduction that
    /// a mark of the path supports. RFC 4015 covers timeouts only. The response to a spurious fast retransmit is the same, except for the
    /// timer. Returns whether a reduction was undone.
    fn respond(&mut self, watched: Option<ReductionId>) -> bool {
        let Some(watched) = watched else { return false };
        let now = self.now;
        let mut first = None;
        while let Some(undo) = self.sender.ledger.add(watched, Evidence::Original, now) {
            self.observer.on_event(now, &Event::SpuriousReduction { cause: undo.cause });
            self.step().on_undo(&undo);
            let length = self.stream.retransmissions.length_under(undo.id);
            self.step().report_spurious(&undo, length);
            first.get_or_insert(undo);
        }
        // DSACKs may have undone all of them before, the watched one too.
        let Some(Undo { cause, saved, .. }) = first else { return false };
        let sender = &mut *self.sender;
        sender.control.on_undo(&sender.window, &saved.rest.control);
        let (cause, before) = match sender.ledger.get(watched) {
            Some((cause, saved)) => (cause, saved.rest.clone()),
            None => (cause, saved.rest),
        };
        // The next loss may begin a recovery at once (RFC 5682, section 2.1, step 3b).
        sender.recovery.recover = None;
        // Step 8: no more segments that were deemed lost are resent.
        if sender.recovery.phase != Phase::Open {
            self.stream.board.unmark_lost();
            self.step().end_recovery();
        }
        // Less than a segment counts as none.
        let acked = self.read.delivery.passed.min(self.sender.policy.initial_window);
        let flight = f64::from(self.stream.board.outstanding() + acked);
        self.sender.window = before.respond(flight, saved.window);
        // Step 11 waits for a sample.
        match cause {
            Cause::Timeout => self.stream.round_trips.adapt_after(&before),
            Cause::FastRetransmit | Cause::Probe => self.stream.round_trips.cancel_adaptation(),
        }
        true
    }
}

impl<O: Observer> Step<'_, O> {
    /// Records that a DSACK reports a spurious retransmission, which is evidence against its
    /// reduction.
    fn on_evidence(&mut self, spurious: &Spurious) {
        let Some(under) = spurious.under else { return };
        let undo = self.sender.ledger.add(under, Evidence::Duplicate, self.now);
        let Some(undo) = undo else { return };
        self.observer.on_event(self.now, &Event::SpuriousReduction { cause: undo.cause });
        let length = spurious.reordering.map(|sample| sample.length);
        self.report_spurious(&undo, length);
        self.undo(undo);
    }

    /// Reports a spurious fast retransmit to the detector.
    fn report_spurious(&mut self, undo: &Undo<Before>, length: Option<u32>) {
        if undo.cause == Cause::FastRetransmit {
            let window = undo.saved.window.cwnd;
            let found = SpuriousFastRetransmit { lasted: undo.lasted, window, length };
            let view = self.view();
            self.sender.detector.on_spurious_fast_retransmit(found, &view);
        }
    }

    /// Undoes a reduction that DSACKs or arrivals prove spurious, unless a later one stands.
    pub(super) fn undo(&mut self, undo: Undo<Before>) {
        self.on_undo(&undo);
        if undo.last {
            self.restore(undo.saved);
        }
    }

    /// Restores what stood before a reduction.
    fn restore(&mut self, saved: Saved<Before>) {
        let sender = &mut *self.sender;
        let restored = sender.responses.restoration.respond(sender.window, saved.window);
        let Some(window) = restored else { return };
        sender.control.on_undo(&sender.window, &saved.rest.control);
        if let Phase::Loss { too_big: true, .. } = sender.recovery.phase {
            // Segments that were too big for the path are lost all the same, and slow start refills the
            // window.
            let ssthresh = sender.window.ssthresh.max(window.ssthresh).max(window.cwnd);
            sender.window.ssthresh = ssthresh;
            return;
        }
        sender.window = window;
        if sender.recovery.phase != Phase::Open {
            // Nothing was lost, so what is still marked as lost is late, too.
            self.stream.board.unmark_lost();
            self.end_recovery();
            self.sender.window.cwnd = window.cwnd;
        }
    }
}

impl Composed {
    /// Returns what stands before a reduction besides the window. `control` is the snapshot of the
    /// congestion control's variables.
    pub(super) fn before(&self, stream: &Stream, control: Snapshot) -> Before {
        Before {
            control,
            pipe_prev: self.flight(stream).max(self.window.ssthresh),
            rtt: stream.round_trips.before_timeout(),
            point: stream.nxt(),
        }
    }
}
