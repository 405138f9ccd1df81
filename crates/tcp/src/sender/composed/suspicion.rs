//! How a sender that doubts goes about it: when it believes in a loss, what it sends and how it
//! grows meanwhile (`docs/senders/unruffled.md`, sections 4 and 5). The books are in `doubt.rs`.

use unruffled_units::{Duration, Instant};

use super::doubt::{Doubt, Load};
use super::timers::SenderTimer;
use super::{Composed, Phase};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Flow, Window};
use crate::parts::detect::{Detector, LossDetector, Report};
use crate::parts::limited_transmit::LimitedTransmit;
use crate::parts::respond::Before;
use crate::sender::Ack;
use crate::sender::reductions::{Basis, Evidence, Saved, Undo};
use crate::sender::stream::{Reading, Resent, SegNo, Spurious, Stream, Transmission};

/// DSACKs of what is late by the longest wait, twice, still teach.
const HORIZON: Duration = Duration::from_secs(2);

/// Round trips that a reduction takes at most.
const ROUND: u32 = 3;

/// Reads an acknowledgement into the scoreboard, and what it says of lateness. As long as nothing was
/// late, what came too soon for a retransmission by the minimum round-trip time alone is not believed to
/// be the original until something that was sent before the retransmission follows.
pub(super) fn acknowledge(
    doubt: &mut Doubt,
    detector: &mut Detector,
    stream: &mut Stream,
    ack: &Ack<'_>,
    now: Instant,
) -> Reading {
    let seen = doubt.proof().is_some();
    let arrivals = &mut doubt.arrivals;
    arrivals.begin();
    let mut earliest: Option<Instant> = None;
    let read = stream.acknowledge(ack, now, |arrival| {
        let sent = arrival.original?;
        match arrival.resent {
            None => earliest = Some(earliest.map_or(sent, |earliest| earliest.min(sent))),
            Some(resent) if seen || arrival.told => arrivals.certain(arrival.number, resent),
            Some(resent) => {
                arrivals.ambiguous(arrival.number, resent);
                return detector.lateness(sent, now);
            }
        }
        detector.on_arrival(sent, now);
        None
    });
    if let Some(earliest) = earliest {
        arrivals.judge(earliest);
        for number in arrivals.all_certain() {
            if let Some(lateness) = stream.retransmissions.take_lateness(number) {
                detector.on_late(lateness);
            }
        }
    }
    read
}

impl Composed {
    /// Suspicion is not proof at present.
    #[inline]
    pub(super) fn doubting(&self) -> bool {
        self.doubt.as_ref().is_some_and(|doubt| doubt.proof().is_some())
    }

    /// Holes say nothing, for what is missing may only be late; but what the receiver took back only the
    /// timeout has resent.
    pub(super) fn holes_are_usual(&self, stream: &Stream) -> bool {
        self.doubting() && !stream.board.reneged()
    }

    /// Segment `number` is about to be resent because of `cause`: says what that means.
    pub(super) fn suspect(
        &mut self,
        stream: &Stream,
        number: SegNo,
        cause: Cause,
        now: Instant,
    ) -> Resent {
        let (probe, fast) = (cause == Cause::Probe, cause == Cause::FastRetransmit);
        let Some(doubt) = &mut self.doubt else {
            // A probe is no reduction of the window: it belongs to none.
            let under = self.ledger.current().filter(|_| !probe);
            return Resent { under, suspected: false };
        };
        let entry = stream.board.entry(number);
        let too_big = matches!(self.recovery.phase, Phase::Loss { too_big: true, .. });
        let suspected = fast || doubt.proof().is_some() && (!too_big || entry.retransmitted);
        if suspected {
            let sent = entry.sent;
            let load = Load { cwnd: self.window.cwnd, flight: stream.board.outstanding() };
            doubt.suspect(&mut self.ledger, number, sent, load, now);
            match doubt.proof() {
                None => self.detector.on_proof(),
                Some(wait) => {
                    let due = (sent + wait).max(now);
                    let first = self.timers.get(SenderTimer::Detect).map_or(due, |at| at.min(due));
                    self.timers.set(SenderTimer::Detect, first);
                }
            }
        }
        // Nor is what is only suspected.
        let under = self.ledger.current().filter(|_| !probe && !fast);
        Resent { under, suspected }
    }

    /// Believes what is due: in what has been pending for `proof`, and in too much at a time. Gives
    /// when to look again.
    pub(super) fn believe(
        &mut self,
        stream: &Stream,
        proof: Option<Duration>,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Instant> {
        let doubt = self.doubt.as_mut()?;
        doubt.set_proof(proof);
        if doubt.is_empty() {
            return None;
        }
        let horizon = self.dsack_horizon();
        let doubt = self.doubt.as_mut()?;
        let wait = doubt.wait();
        let missed = doubt.missed(now);
        doubt.expire(horizon, now);
        for _ in 0..missed {
            self.detector.on_report(Report::Missed);
        }
        while let Some((segment, sent, then)) = self.doubt.as_mut()?.first_pending() {
            if sent + wait > now {
                return self.believe_many(stream, now, observer).or(Some(sent + wait));
            }
            let recovering = matches!(self.recovery.phase, Phase::Recovery { .. });
            if self.doubt.as_ref()?.is_fresh(sent) && !recovering {
                // The retransmission arrived, and a DSACK that was lost would have told of the other.
                if stream.board.is_delivered(segment) && self.detector.excuses() {
                    self.doubt.as_mut()?.dismiss_first();
                    continue;
                }
                self.cut(stream, then, now, observer);
            }
            let first = self.ledger.last_is_unconfirmed();
            self.prove_first();
            if first && matches!(self.recovery.phase, Phase::Loss { .. }) {
                // The timeout's reduction, which leaves cwnd at what is in flight, was due.
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
        }
        None
    }

    /// Believes in all that is pending if it is too much. Gives when to look again, if it was: there is
    /// nothing left to wait for.
    fn believe_many(
        &mut self,
        stream: &Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Instant> {
        if self.recovery.phase != Phase::Open {
            return None;
        }
        let (cwnd_now, many) = (self.window.cwnd, self.detector.doubts()?);
        let usual = || self.detector.usually_suspected(&self.view(stream, now)) * cwnd_now;
        let then = self.doubt.as_ref()?.too_much(cwnd_now * many, usual)?;
        self.cut(stream, then, now, observer);
        while self.doubt.as_mut()?.first_pending().is_some() {
            self.prove_first();
        }
        Some(Instant::MAX)
    }

    fn prove_first(&mut self) {
        if let Some(doubt) = &mut self.doubt {
            doubt.prove_first(&mut self.ledger);
            self.detector.on_proof();
        }
    }

    /// Reduces the window, once for all that was sent before, to a part of what it was when the loss
    /// was suspected.
    fn cut(&mut self, stream: &Stream, then: Load, now: Instant, observer: &mut impl Observer) {
        observer.on_event(now, &Event::FastRetransmit);
        self.detector.on_recovery(&self.view(stream, now));
        // What slow start added since then was built on the loss; what came after it by one segment
        // in a round trip would have come after a reduction as well.
        let slow = then.cwnd < self.window.ssthresh;
        // A window that is filled anew, because segments were too big, says nothing.
        let too_big = matches!(self.recovery.phase, Phase::Loss { too_big: true, .. });
        let cwnd = if too_big {
            then.cwnd
        } else if slow {
            then.cwnd.min(self.window.cwnd)
        } else {
            self.window.cwnd
        };
        let flow = self.flow(stream, now);
        // All of it may have been acknowledged meanwhile.
        let flight = flow.flight.max(f64::from(then.flight)).min(cwnd);
        let flow = Flow { flight, ..flow };
        let window = Window { cwnd, ..self.window };
        // The variables of another window than the one that comes back do not.
        let snapshot = (cwnd == self.window.cwnd).then(|| self.control.snapshot());
        let rest = self.before(stream, snapshot.unwrap_or_default());
        let saved = Saved { window: self.window, rest };
        self.ledger.begin(Cause::FastRetransmit, Basis::Confirmed, saved, now);
        if let Some(doubt) = &mut self.doubt {
            doubt.on_reduction(false, now);
        }
        self.window.ssthresh = self.control.on_loss(&window, false, &flow);
        if too_big {
            // It is filled up to that.
            self.end_cut(now);
            return;
        }
        self.recovery.phase = Phase::Recovery { point: stream.nxt(), partial: false };
        self.recovery.recover = Some(stream.nxt());
        // What is lost may have been resent already; then it is new data that keeps the ACKs coming.
        self.recovery.fast_retransmit_due = true;
        self.begin_reduction(stream, 0);
        self.limited_transmit.on_recovery();
        self.end_probe();
        if !stream.board.reneged() {
            self.restart_retransmission_timer(now);
        }
        self.schedule_probe(stream, now);
    }

    /// The window has come down, or something else than a reduction sees to it.
    pub(super) fn end_cut(&mut self, now: Instant) {
        if let Some(doubt) = &mut self.doubt {
            doubt.end_cut(now);
        }
    }

    /// What was sent after the last reduction has arrived, and what was sent before it has too or is
    /// suspected: its round trip is over, whatever is still missing.
    pub(super) fn end_round(
        &mut self,
        stream: &Stream,
        latest_sent: Option<Instant>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if !self.doubting() || !matches!(self.recovery.phase, Phase::Recovery { .. }) {
            return;
        }
        let cut = self.ledger.last_began();
        let arrived = |cut| latest_sent.is_some_and(|sent| sent > cut);
        if cut.is_some_and(|cut| arrived(cut) && now >= cut + self.round(stream, now)) {
            // Much may be missing still: what ssthresh allows beyond what PRR let out is not sent at once,
            // slow start finds it.
            let reached = self.window.cwnd / (1.0 + self.detector.usually_late().min(1.0));
            self.end_recovery(stream, now, observer);
            self.window.cwnd = self.window.cwnd.min(reached.max(1.0));
        }
    }

    /// How long after its transmission a segment is suspected, but no more than a few round trips.
    fn round(&self, stream: &Stream, now: Instant) -> Duration {
        let overdue = self.detector.rule(&self.view(stream, now)).overdue;
        let most = self.srtt().unwrap_or_default() * u64::from(ROUND);
        overdue.map_or(Duration::ZERO, |overdue| overdue.wait.min(most))
    }

    /// The segments that the acknowledgement says arrived by a suspected transmission.
    #[inline]
    pub(super) fn disprove_arrived(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        while let Some(number) = self.doubt.as_mut().and_then(|doubt| doubt.arrivals.next_certain())
        {
            self.disprove(stream, number, false, now, observer);
        }
        self.reconsider(stream, now, observer);
    }

    /// What was decided before anything had been late is judged again by what is known since.
    fn reconsider(&mut self, stream: &mut Stream, now: Instant, observer: &mut impl Observer) {
        // Most have none, which is quickly found.
        if !self.doubting() || !self.ledger.has_doubtful(Instant::ZERO) {
            return;
        }
        let since = self.detector.rather_late(&self.view(stream, now));
        let Some(since) = since.filter(|&since| self.ledger.has_doubtful(since)) else { return };
        observer.on_event(now, &Event::SpuriousReduction { cause: Cause::FastRetransmit });
        while let Some(undo) = self.ledger.take_back_doubtful(since, now) {
            self.undo(stream, undo, now, observer);
        }
    }

    /// A reduction has left the ledger.
    pub(super) fn on_taken_back(&mut self, undo: &Undo<Before>) {
        if let Some(doubt) = self.doubt.as_mut().filter(|_| undo.last) {
            doubt.on_taken_back(undo.saved.window.cwnd, self.ledger.last_began());
        }
    }

    /// A DSACK reports a retransmission.
    pub(super) fn heed_duplicate(
        &mut self,
        stream: &mut Stream,
        spurious: &Spurious,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.doubt.is_some() {
            if let Some(sent) = spurious.original {
                self.detector.on_arrival(sent, now);
            }
            if let Some(lateness) = spurious.lateness {
                self.detector.on_late(lateness);
            }
            if let Some(number) = spurious.suspicion {
                self.disprove(stream, number, true, now, observer);
            }
        }
    }

    /// A DSACK may report a segment once more that was resent more than once.
    pub(super) fn heed_repeated_duplicate(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.doubt.is_some()
            && let Some(number) = stream.repeated_spurious(ack)
        {
            self.disprove(stream, number, true, now, observer);
        }
    }

    /// Segment `number` arrived by a transmission that was given up.
    fn disprove(
        &mut self,
        stream: &mut Stream,
        number: SegNo,
        told: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let disproof = self.doubt.as_mut().and_then(|doubt| doubt.disprove(number, told));
        let Some(disproof) = disproof else { return };
        if let Some(report) = disproof.report {
            self.detector.on_report(report);
        }
        let Some(confirmed) = disproof.proved else { return };
        self.detector.on_disproof();
        let undo = confirmed.and_then(|id| self.ledger.add(id, Evidence::Arrived, now));
        if let Some(undo) = undo {
            observer.on_event(now, &Event::SpuriousReduction { cause: Cause::FastRetransmit });
            self.undo(stream, undo, now, observer);
        }
    }

    /// What may be sent while nothing is proved: what is suspected, then new data, as long as the
    /// pipe has room.
    pub(super) fn poll_in_doubt(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<Transmission> {
        self.restart_after_idle(stream, now);
        if stream.pipe() >= self.room() {
            return None;
        }
        match stream.board.next_lost() {
            Some(number) => Some(self.retransmit(stream, number, Cause::FastRetransmit, now)),
            None => self.new_data(stream, now),
        }
    }

    /// The window grows by what is delivered, in whatever order, if the pipe was full: the cumulative
    /// point says little of the rate where something is always late. After a timeout it is full while
    /// there is anything to resend, and holes say nothing: all that was sent before is missing.
    pub(super) fn grow_by_delivery(
        &mut self,
        stream: &Stream,
        delivered: u32,
        pipe_before: u32,
        phase_before: Phase,
        now: Instant,
    ) {
        if delivered == 0 {
            return;
        }
        match (phase_before, self.recovery.phase) {
            (Phase::Loss { .. }, Phase::Loss { .. }) => {
                self.grow(stream, delivered, phase_before, now);
            }
            (Phase::Open, Phase::Open) => {
                let full = pipe_before >= self.room();
                let full = *self.recovery.window_was_full.get_or_insert(full);
                if !self.policy.growth.grows(full) {
                    self.limited(stream, now);
                } else if !self.overflows(stream) {
                    self.grow(stream, delivered, phase_before, now);
                }
            }
            _ => {}
        }
    }

    /// How much the pipe may hold.
    fn room(&self) -> u32 {
        self.with_late(self.window.cwnd).min(self.policy.max_cwnd) as u32
    }

    /// What is late, as usual, is not in the way of what is in time. It is at most as much again,
    /// whatever a receiver makes of its acknowledgements.
    pub(super) fn with_late(&self, cwnd: f64) -> f64 {
        if !self.doubting() {
            return cwnd;
        }
        let late = (self.detector.usually_late() * cwnd + 0.5) as u32;
        cwnd + f64::from(late).min(cwnd)
    }

    /// Slow start sees more holes than lateness explains, twice as many and three: the queue
    /// overflows, and the proof of it is on its way. Holes of before a reduction have been answered by it.
    fn overflows(&self, stream: &Stream) -> bool {
        let answered = self.window.ssthresh.is_finite()
            && self.recovery.recover.is_some_and(|recover| stream.una() < recover);
        let usual = || self.detector.usually_late() * self.window.cwnd;
        self.window.slow_start()
            && !answered
            && f64::from(stream.board.holes()) > 2.0 * usual() + 3.0
    }

    /// How long after a retransmission its DSACK may come.
    #[inline]
    pub(super) fn dsack_horizon(&self) -> Duration {
        let rto = self.round_trips.rto.base();
        match &self.doubt {
            None => rto * 2,
            Some(doubt) => HORIZON.max(rto * 8).max(doubt.proof().unwrap_or_default() * 2),
        }
    }
}
