//! What an acknowledgement says: which segments have arrived, how long the round trip took, what came
//! out of order, and what was retransmitted needlessly.

use unruffled_units::Instant;

use super::retransmissions::{Cause, Needless, Reverted};
use super::scoreboard::{Delivery, SegNo, SpuriousAfter};
use super::{Ack, Phase, Sender};
use crate::detect::{FalseFastRetransmit, Reordering};
use crate::observer::{Event, Observer};
use crate::variant::{Acks, Flavour};

impl Sender {
    /// Marks what the acknowledgement covers, and tells whoever keeps books on single segments.
    #[inline]
    pub(super) fn read_into_scoreboard(&mut self, ack: &Ack<'_>, now: Instant) -> Delivery {
        let min_rtt = self.min_rtt.get().unwrap_or_default();
        let selective = now - min_rtt;
        let cumulative = ack.echo.map_or(selective, |echo| echo.min(selective));
        let spurious_after = SpuriousAfter { cumulative, selective };
        let blocks = if self.parts.acks == Acks::Sack { ack.blocks } else { &[] };
        let (retransmissions, tcp_pr) = (&mut self.retransmissions, &mut self.tcp_pr);
        let (detector, doubt) = (&mut self.detector, &mut self.doubt);
        self.board.acknowledge(ack.una, blocks, spurious_after, |covered| {
            let mut original = Some(covered.sent);
            if covered.resent {
                original = retransmissions.on_covered(covered.number, covered.spurious, now);
            }
            if let Some(doubt) = doubt {
                if let Some(sent) = original {
                    detector.on_arrival(sent, now);
                }
                if covered.spurious {
                    doubt.arrived.push(covered.number);
                }
            }
            if let Some(pr) = tcp_pr {
                pr.on_covered(covered.number);
            }
        })
    }

    /// Without SACK, each duplicate says that one segment, nobody knows which, has arrived. Gives
    /// how many segments the acknowledgement says have arrived, those of earlier duplicates left out.
    pub(super) fn count_dupacks(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        advanced: bool,
    ) -> u32 {
        if self.parts.acks == Acks::Sack {
            return delivery.segments;
        }
        let before = self.dupacks;
        if advanced {
            // A partial acknowledgement: one segment was the hole, the others had made duplicates.
            self.dupacks = match self.phase {
                Phase::Recovery { .. } => self.dupacks.saturating_sub(delivery.passed.max(1) - 1),
                _ => 0,
            };
            return delivery.passed.saturating_sub(before).max(1);
        }
        if ack.duplicate && self.dupacks + 1 < self.board.outstanding() {
            self.dupacks += 1;
        }
        self.dupacks - before
    }

    /// When the segment was sent that a delivery times, if it does: one sent once (Karn's rule; RFC
    /// 6298, section 3). Without SACK, those behind a segment that was resent may have arrived long
    /// before it.
    fn timed(&self, delivery: &Delivery) -> Option<Instant> {
        let waited = self.parts.acks != Acks::Sack && delivery.any_retransmitted;
        delivery.original_sent.filter(|_| !waited)
    }

    /// Takes a round-trip time by this end's own clock.
    pub(super) fn measure_rtt(
        &mut self,
        delivery: &Delivery,
        advanced: bool,
        flight: u32,
        now: Instant,
    ) {
        if let Some(sent) = self.timed(delivery) {
            let rtt = now.since(sent);
            self.sample_rto(rtt, flight);
            self.min_rtt.sample(rtt, now);
            self.latest_rtt = Some(rtt);
            self.probe.on_rtt_sample();
            self.rto.forget_backoff();
        }
        if advanced {
            self.rto.progress(self.window.cwnd);
        }
    }

    /// RFC 7323, section 4.1: what was sent more than once is timed by its timestamp, where there is
    /// one. The rest is timed by this end's own clock, which is finer.
    pub(super) fn measure_rtt_by_timestamp(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        advanced: bool,
        flight: u32,
        now: Instant,
    ) {
        if let Some(echo) = ack.echo.filter(|_| advanced && self.timed(delivery).is_none()) {
            self.sample_rto(now.since(echo), flight);
            self.rto.forget_backoff();
        }
    }

    /// The measuring of RR-TCP, section 4.1.1: exactly one newly covered segment, below the highest.
    pub(super) fn measure_reordering(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        highest_before: Option<SegNo>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let Some(highest) = highest_before else { return };
        if delivery.segments != 1 || highest <= delivery.number {
            return;
        }
        let length = (highest - delivery.number) as u32;
        if delivery.retransmitted {
            self.retransmissions.set_length(delivery.number, length);
            if self.parts.flavour == Flavour::Mean || ack.rtx {
                return;
            }
        }
        self.on_reordering(length, false, now, observer);
    }

    /// A segment came this late: the detector learns from it.
    fn on_reordering(
        &mut self,
        length: u32,
        by_dsack: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let sample = Reordering { length, delay: now.since(self.highest_at), by_dsack };
        let view = self.view(now);
        self.detector.on_reordering(sample, &view);
        observer.on_event(now, &Event::Reordered { length, delay: sample.delay });
    }

    /// Something came twice (RFC 2883): needless retransmissions, if it is believable, and perhaps
    /// a needless reduction of the window.
    pub(super) fn on_dsack(
        &mut self,
        left: u64,
        right: u64,
        rtx: bool,
        highest: Option<SegNo>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        // Believable is only what has been acknowledged (RFC 3708, section 3).
        if right > self.una && !self.board.is_sacked(left.max(self.una), right) {
            return;
        }
        let (mut from, mut first) = (left, true);
        while let Some(needless) = self.retransmissions.on_dsack(from, right, now) {
            from = needless.end;
            first = false;
            self.on_needless(&needless, rtx, highest, now, observer);
        }
        if first && self.doubt.is_some() {
            // The receiver has one more copy of what was resent more than once.
            if let Some(number) = self.retransmissions.on_repeated_dsack(left, right) {
                self.disprove(number, now, observer);
            }
        }
    }

    /// A DSACK reports a retransmission.
    fn on_needless(
        &mut self,
        needless: &Needless,
        rtx: bool,
        highest: Option<SegNo>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let len = (needless.end - needless.start) as u32;
        observer.on_event(now, &Event::Needless { offset: needless.start, len });
        let second = highest.map_or(0, |h| h.saturating_sub(needless.number) as u32);
        let length = match self.parts.flavour {
            // Rounded up: the longer of two ways to be wrong is the careful one.
            Flavour::Mean => needless.first_length.map(|first| (first + second).div_ceil(2)),
            // The original came second; had it come first, its length was taken then.
            Flavour::Rtx => (!rtx).then_some(second),
        };
        let length = length.filter(|&length| length > 0);
        if let Some(length) = length {
            self.on_reordering(length, true, now, observer);
        }
        if let Some(rtt) = needless.rtt.filter(|_| self.parts.enhanced_sampling) {
            self.rto.sample(rtt, f64::from(self.board.outstanding().max(1)));
        }
        if self.doubt.is_some() {
            if let Some(sent) = needless.original_sent {
                self.detector.on_arrival(sent, now);
            }
            self.disprove(needless.number, now, observer);
        }
        // Reductions by loss detection are taken back with their last proof.
        let by_proof =
            |reverted: &Reverted| self.doubt.is_some() && reverted.cause == Cause::FastRetransmit;
        if let Some(reverted) = needless.reverted.filter(|reverted| !by_proof(reverted)) {
            observer.on_event(now, &Event::FalseReduction { cause: reverted.cause });
            let view = self.view(now);
            if reverted.cause == Cause::FastRetransmit {
                let window = reverted.saved.cwnd;
                let found = FalseFastRetransmit { lasted: reverted.lasted, window, length };
                self.detector.on_false_fast_retransmit(found, &view);
            }
            let saved = match &mut self.doubt {
                Some(doubt) => doubt.revert(now - reverted.lasted, reverted.saved),
                None => Some(reverted.saved),
            };
            if let Some(saved) = saved.filter(|_| reverted.latest) {
                self.undo(saved, now, observer);
            }
        }
    }
}
