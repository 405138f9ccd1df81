//! The facts that an acknowledgement reports: which segments have arrived, which of them out of
//! order, and which retransmissions were spurious.

use unruffled_units::{Duration, Instant};

use super::retransmissions::DsackReport;
use super::scoreboard::SpuriousAfter;
use super::{Delivery, SegNo, Stream};
use crate::observer::{Event, Observer};
use crate::parts::detect::Reordering;
use crate::sender::Ack;
use crate::sender::reductions::ReductionId;

/// Measurement of the reordering length of a retransmitted segment, which is acknowledged twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// The mean over both acknowledgements, once a DSACK has come (RR-TCP's MEAN).
    Mean,
    /// By the acknowledgement of the original, which a bit of the simulator identifies (RR-TCP's
    /// RTX).
    Original,
}

/// The effect of an acknowledgement on the scoreboard, and the state before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) delivery: Delivery,
    /// The cumulative point advanced.
    pub(crate) advanced: bool,
    /// Segments outstanding before.
    pub(crate) flight_before: u32,
    /// The highest segment delivered before.
    pub(crate) highest_before: Option<SegNo>,
}

/// A segment that an acknowledgement covers for the first time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: SegNo,
    /// Time of the original transmission, if that is the one that arrived.
    pub(crate) original: Option<Instant>,
    /// Time of the only retransmission, if that is too recent to have arrived.
    pub(crate) resent: Option<Instant>,
    /// The echoed timestamp shows this, and not only the minimum round-trip time.
    pub(crate) by_timestamp: bool,
}

/// A retransmission that a DSACK proves spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spurious {
    /// Stream offset behind the segment. The DSACK may report more from there on.
    end: u64,
    /// The segment, if the DSACK refutes a suspicion of it.
    pub(crate) suspicion: Option<SegNo>,
    /// Time of the original transmission, if the original arrived second.
    pub(crate) original: Option<Instant>,
    /// Lateness of the original, if it arrived first and that was not yet known.
    pub(crate) lateness: Option<Duration>,
    /// The reordering of the segment, if it could be measured.
    pub(crate) reordering: Option<Reordering>,
    /// Mean of the round-trip times of both copies. It does not depend on which acknowledgement
    /// answered which copy.
    pub(crate) rtt: Option<Duration>,
    /// The reduction of the window under which it was made.
    pub(crate) under: Option<ReductionId>,
}

impl Stream {
    /// Processes an acceptable acknowledgement: neither below SND.UNA nor beyond what was sent.
    ///
    /// Calls `on_covered` for each segment that it covers for the first time. If either copy of the
    /// segment may have arrived, `on_covered` returns how late the original is, should it be the
    /// one.
    #[inline]
    pub(crate) fn acknowledge(
        &mut self,
        ack: &Ack<'_>,
        now: Instant,
        mut on_covered: impl FnMut(Arrival) -> Option<Duration>,
    ) -> Reading {
        let advanced = ack.una > self.una;
        let flight_before = self.board.outstanding();
        let highest_before = self.board.highest_delivered();
        let others = now - self.min_rtt.get().unwrap_or_default();
        let first = ack.echo.map_or(others, |echo| echo.min(others));
        let spurious_after = SpuriousAfter { first, others };
        let blocks = if self.selective { ack.blocks } else { &[] };
        let retransmissions = &mut self.retransmissions;
        let delivery = self.board.acknowledge(ack.una, blocks, spurious_after, |covered| {
            let number = covered.number;
            let original = match covered.resent {
                true => retransmissions.on_covered(number, covered.spurious, now),
                false => Some(covered.sent),
            };
            // After several retransmissions, any copy but the last may have arrived.
            let resent = original.and(covered.spurious.then_some(covered.sent));
            let by_timestamp = covered.first && ack.echo.is_some_and(|echo| covered.sent > echo);
            let arrival = Arrival { number, original, resent, by_timestamp };
            if let Some(lateness) = on_covered(arrival) {
                retransmissions.set_lateness(number, lateness);
            }
        });
        self.una = ack.una;
        Reading { delivery, advanced, flight_before, highest_before }
    }

    /// Returns whether the cumulative acknowledgement of `una` covers at least one segment, each
    /// was sent once, and no hole is open.
    #[inline]
    pub(crate) fn is_in_order(&self, una: u64) -> bool {
        self.board.is_in_order(una)
    }

    /// Processes an acknowledgement for which [`Self::is_in_order`] returned true, with the result
    /// of [`Self::acknowledge`]. Calls `on_covered` with the time of transmission of each segment.
    #[inline]
    pub(crate) fn acknowledge_in_order(
        &mut self,
        una: u64,
        now: Instant,
        on_covered: impl FnMut(Instant),
    ) -> Reading {
        let flight_before = self.board.outstanding();
        let highest_before = self.board.highest_delivered();
        let delivery = self.board.acknowledge_in_order(una, on_covered);
        self.una = una;
        self.highest_at = now;
        Reading { delivery, advanced: true, flight_before, highest_before }
    }

    /// Measures the reordering of a segment by RR-TCP, section 4.1.1: the acknowledgement must cover
    /// exactly one segment for the first time, and that must lie below the highest.
    #[inline]
    pub(crate) fn measure_reordering(
        &mut self,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Reordering> {
        let Reading { delivery, highest_before, .. } = read;
        let late = delivery.segments == 1 && *highest_before > Some(delivery.number);
        let length =
            if late { self.reordering_length(ack, delivery, *highest_before) } else { None };
        let sample = length.map(|length| self.report_reordering(length, false, now, observer));
        if delivery.segments > 0 && self.board.highest_delivered() > *highest_before {
            self.highest_at = now;
        }
        sample
    }

    /// Returns the reordering length of the only segment delivered, which lies below the highest,
    /// unless its other acknowledgement must be awaited.
    fn reordering_length(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        highest_before: Option<SegNo>,
    ) -> Option<u32> {
        let length = (highest_before? - delivery.number) as u32;
        if delivery.retransmitted {
            self.retransmissions.set_length(delivery.number, length);
            if self.lengths == Lengths::Mean || ack.rtx {
                return None;
            }
        }
        Some(length)
    }

    /// Reports the reordering of a segment to the observer, and returns it.
    fn report_reordering(
        &self,
        length: u32,
        by_dsack: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Reordering {
        let sample = Reordering { length, delay: now.since(self.highest_at), by_dsack };
        observer.on_event(now, &Event::Reordered { length, delay: sample.delay });
        sample
    }

    /// Returns the first spurious retransmission that the acknowledgement reports by DSACK (RFC
    /// 2883), or the next one behind `last`. A DSACK is plausible only for octets that have been
    /// acknowledged (RFC 3708, section 3).
    pub(crate) fn next_spurious(
        &mut self,
        last: Option<&Spurious>,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Spurious> {
        let (left, right) = ack.dsack?;
        let from = match last {
            Some(last) => last.end,
            None if right > self.una && !self.board.is_sacked(left.max(self.una), right) => {
                return None;
            }
            None => left,
        };
        let report = self.retransmissions.on_dsack(from, right, now)?;
        let DsackReport { number, start, end, first_length, rtt, under, .. } = report;
        observer.on_event(
            now,
            &Event::SpuriousRetransmission { offset: start, len: (end - start) as u32 },
        );
        let second = read.highest_before.map_or(0, |h| h.saturating_sub(number) as u32);
        let length = match self.lengths {
            // Rounded up, because too long is safer than too short.
            Lengths::Mean => first_length.map(|first| (first + second).div_ceil(2)),
            // The original came second. Had it come first, its length would have been measured then.
            Lengths::Original => (!ack.rtx).then_some(second),
        };
        let reordering = length
            .filter(|&length| length > 0)
            .map(|length| self.report_reordering(length, true, now, observer));
        Some(Spurious {
            end,
            suspicion: report.refutes_suspicion.then_some(number),
            original: report.original_sent,
            lateness: report.lateness,
            reordering,
            rtt,
            under,
        })
    }

    /// Returns the segment of a suspicion that the acknowledgement refutes by reporting once more,
    /// by DSACK, a segment that was resent more than once: the receiver has another copy of it.
    pub(crate) fn repeated_spurious(&mut self, ack: &Ack<'_>) -> Option<SegNo> {
        let (left, right) = ack.dsack.filter(|&(_, right)| right <= self.una)?;
        self.retransmissions.on_repeated_dsack(left, right)
    }
}
