//! How a sender that doubts goes about it: when it believes in a loss, what it sends and how it
//! grows meanwhile (`docs/senders/unruffled.md`, sections 4 and 5). The books are in `doubt.rs`.

use unruffled_units::{Duration, Instant};

use super::retransmissions::Cause;
use super::scoreboard::{Delivery, SegNo};
use super::{Phase, Sender, Transmission};
use crate::control::{Flow, Window};
use crate::observer::{Event, Observer};
use crate::timers::Timer;

/// DSACKs of what is late by the longest wait, twice, still teach.
const HORIZON: Duration = Duration::from_secs(2);

impl Sender {
    /// Suspicion is not proof at present.
    #[inline]
    pub(super) fn doubts(&self) -> bool {
        self.doubt.as_ref().is_some_and(|doubt| doubt.proof.is_some())
    }

    /// Segment `number`, sent last at `sent`, is about to be resent.
    pub(super) fn suspect(&mut self, number: SegNo, sent: Instant, now: Instant) {
        if let Some(doubt) = &mut self.doubt {
            doubt.suspect(number, sent, self.window.cwnd, now);
            match doubt.proof {
                None => self.detector.on_proof(),
                Some(wait) => {
                    let due = (sent + wait).max(now);
                    let first = self.timers.get(Timer::Detect).map_or(due, |at| at.min(due));
                    self.timers.set(Timer::Detect, first);
                }
            }
        }
    }

    /// Believes what is due: in what has been pending for `proof`, and in too much at a time. Gives
    /// when to look again.
    pub(super) fn believe(
        &mut self,
        proof: Option<Duration>,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Instant> {
        let horizon = self.dsack_horizon();
        let doubt = self.doubt.as_mut()?;
        // What is pending when reordering is forgotten waits as long as it would have.
        let wait = proof.or(doubt.proof);
        doubt.proof = proof;
        doubt.expire(horizon, now);
        let wait = wait.unwrap_or_default();
        let mut again = None;
        while let Some((sent, cwnd)) = self.doubt.as_mut()?.first_pending() {
            if sent + wait > now {
                again = Some(sent + wait);
                break;
            }
            let recovering = matches!(self.phase, Phase::Recovery { .. });
            if self.doubt.as_ref()?.is_fresh(sent) && !recovering {
                self.cut(cwnd, now, observer);
            }
            self.prove_first();
            if matches!(self.phase, Phase::Loss { .. }) {
                // The timeout's reduction, which leaves cwnd at what is in flight, was due.
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
        }
        let doubt = self.doubt.as_mut()?;
        if self.phase == Phase::Open && doubt.is_too_much(self.window.cwnd) {
            let cwnd = doubt.first_pending().map_or(f64::INFINITY, |(_, cwnd)| cwnd);
            self.cut(cwnd, now, observer);
            while self.doubt.as_mut()?.first_pending().is_some() {
                self.prove_first();
            }
            again = None;
        }
        again
    }

    fn prove_first(&mut self) {
        if let Some(doubt) = &mut self.doubt {
            doubt.prove_first();
            self.detector.on_proof();
        }
    }

    /// Reduces the window, once for all that was sent before, to a part of what it was when the loss
    /// was suspected.
    fn cut(&mut self, then: f64, now: Instant, observer: &mut impl Observer) {
        observer.on_event(now, &Event::FastRetransmit);
        let view = self.view(now);
        self.detector.on_recovery(&view);
        if let Some(doubt) = &mut self.doubt {
            doubt.begin_cut(self.window, false, now);
        }
        let cwnd = then.min(self.window.cwnd);
        let flow = self.flow(now);
        let flow = Flow { flight: flow.flight.min(cwnd), ..flow };
        let window = Window { cwnd, ..self.window };
        self.window.ssthresh = self.control.on_loss(&window, false, &flow);
        self.phase = Phase::Recovery { point: self.nxt, partial: false };
        // What is lost may have been resent already; then it is new data that keeps the ACKs coming.
        self.fast_retransmit_due = true;
        self.rescued_to = self.board.first_end();
        self.end_probe();
        self.prr.begin(self.board.outstanding(), self.board.sacked(), 0);
        self.prr_budget = 0;
        self.restart_retransmit_timer(now);
    }

    /// What was sent after the last reduction has arrived: its round trip is over, whatever is still
    /// missing.
    pub(super) fn end_round(
        &mut self,
        latest_sent: Option<Instant>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if !self.doubts() || !matches!(self.phase, Phase::Recovery { .. }) {
            return;
        }
        let cut = self.doubt.as_ref().and_then(|doubt| doubt.last_cut());
        if cut.zip(latest_sent).is_some_and(|(cut, sent)| sent > cut) {
            self.end_recovery(now, observer);
        }
    }

    /// The segments that the acknowledgement says arrived by a suspected transmission.
    pub(super) fn disprove_arrived(&mut self, now: Instant, observer: &mut impl Observer) {
        while let Some(number) = self.doubt.as_mut().and_then(|doubt| doubt.arrived.pop()) {
            self.disprove(number, now, observer);
        }
    }

    /// Segment `number` arrived by a transmission that was given up.
    pub(super) fn disprove(&mut self, number: SegNo, now: Instant, observer: &mut impl Observer) {
        let disproof = self.doubt.as_mut().and_then(|doubt| doubt.disprove(number));
        let Some(disproof) = disproof else { return };
        if disproof.proved {
            self.detector.on_disproof();
        }
        if disproof.reverted {
            observer.on_event(now, &Event::FalseReduction { cause: Cause::FastRetransmit });
        }
        if let Some(saved) = disproof.restored {
            self.undo(saved, now, observer);
        }
    }

    /// What may be sent while nothing is proved: what is suspected, then new data, as long as the
    /// pipe has room.
    pub(super) fn poll_in_doubt(&mut self, now: Instant) -> Option<Transmission> {
        self.restart_after_idle(now);
        if self.board.pipe() >= self.window.cwnd as u32 {
            return None;
        }
        match self.board.next_lost() {
            Some(number) => {
                self.high_rxt = self.high_rxt.max(number);
                Some(self.retransmit(number, Cause::FastRetransmit, now))
            }
            None => self.new_data(now),
        }
    }

    /// The window grows by what is delivered, in whatever order, if the pipe was full: the cumulative
    /// point says little of the rate where something is always late.
    pub(super) fn grow_by_delivery(
        &mut self,
        delivery: &Delivery,
        pipe_was_full: bool,
        phase_before: Phase,
        now: Instant,
    ) {
        if delivery.segments == 0 || phase_before != Phase::Open || self.phase != Phase::Open {
            return;
        }
        if !pipe_was_full {
            let flow = self.flow(now);
            self.control.on_limited(&flow);
        } else if !self.overflows(now) {
            self.grow(delivery.segments, now);
        }
    }

    /// Slow start sees more holes than lateness explains, twice as many and three: the queue
    /// overflows, and the proof of it is on its way.
    fn overflows(&self, now: Instant) -> bool {
        self.window.slow_start()
            && f64::from(self.board.holes())
                > 2.0 * self.detector.usual_holes(&self.view(now)) + 3.0
    }

    /// How long after a retransmission its DSACK may come.
    pub(super) fn dsack_horizon(&self) -> Duration {
        let horizon = self.rto.base() * 2;
        if self.doubts() { horizon.max(HORIZON) } else { horizon }
    }
}
