//! What an acknowledgement says in itself: which segments have arrived, what came out of order, and
//! what was retransmitted spuriously.

use unruffled_units::{Duration, Instant};

use super::retransmissions::DsackReport;
use super::scoreboard::SpuriousAfter;
use super::{Delivery, SegNo, Stream};
use crate::observer::{Event, Observer};
use crate::parts::detect::Reordering;
use crate::sender::Ack;
use crate::sender::reductions::ReductionId;

/// Which of a retransmitted segment's two acknowledgements measures its reordering length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// The mean of both, once a DSACK has come (RR-TCP's MEAN).
    Mean,
    /// That of the original, known by a bit that only the simulator has (RR-TCP's RTX).
    Original,
}

/// What the scoreboard made of an acknowledgement, and how it stood before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    pub(crate) delivery: Delivery,
    /// The cumulative point moved.
    pub(crate) advanced: bool,
    /// Segments outstanding before.
    pub(crate) flight_before: u32,
    /// The highest segment delivered before.
    pub(crate) highest_before: Option<SegNo>,
}

/// A segment that an acknowledgement covers and none did before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) number: SegNo,
    /// When it was sent first, if it is that transmission that arrived.
    pub(crate) original: Option<Instant>,
    /// When it was resent, once: too short a time ago to be what arrived.
    pub(crate) resent: Option<Instant>,
    /// The echoed timestamp shows it, and not only the minimum round-trip time.
    pub(crate) by_timestamp: bool,
}

/// A retransmission that a DSACK proves spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spurious {
    /// Behind which more may be reported.
    end: u64,
    /// The segment of which it disproves a suspicion.
    pub(crate) suspicion: Option<SegNo>,
    /// When the original was sent, if it is the copy that came second.
    pub(crate) original: Option<Instant>,
    /// How late the original was, if it came first and that was not known.
    pub(crate) lateness: Option<Duration>,
    /// How late the segment was, if that could be measured.
    pub(crate) reordering: Option<Reordering>,
    /// Mean of the round-trip times of both copies, whichever acknowledgement was whose.
    pub(crate) rtt: Option<Duration>,
    /// The reduction of the window under which it was made.
    pub(crate) under: Option<ReductionId>,
}

impl Stream {
    /// Takes in an acceptable acknowledgement: none before SND.UNA, none beyond what was sent.
    /// `on_covered` is told of every segment that it covers and none did before, and gives how late its
    /// original was if that is ambiguous and it was.
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
            // Of several copies it may be any but the last.
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

    /// Whether the cumulative acknowledgement of `una` covers segments that were sent once, at least one,
    /// and no hole is open.
    #[inline]
    pub(crate) fn is_in_order(&self, una: u64) -> bool {
        self.board.is_in_order(una)
    }

    /// What [`Self::acknowledge`] does if [`Self::is_in_order`]; `on_covered` is told when each segment
    /// was sent.
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

    /// The measuring of RR-TCP, section 4.1.1: exactly one newly covered segment, below the highest.
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
        let found = if late { self.late_by(ack, delivery, *highest_before) } else { None };
        let sample = found.map(|length| self.reordering(length, false, now, observer));
        if delivery.segments > 0 && self.board.highest_delivered() > *highest_before {
            self.highest_at = now;
        }
        sample
    }

    /// How late the only segment delivered was, which is below the highest.
    fn late_by(
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

    /// A segment came this late.
    fn reordering(
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

    /// The first spurious retransmission that the acknowledgement reports by DSACK (RFC 2883), or the
    /// next one behind `last`. Believable is only what has been acknowledged (RFC 3708, section 3).
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
            // Rounded up: the longer of two ways to be wrong is the careful one.
            Lengths::Mean => first_length.map(|first| (first + second).div_ceil(2)),
            // The original came second; had it come first, its length was taken then.
            Lengths::Original => (!ack.rtx).then_some(second),
        };
        let reordering = length
            .filter(|&length| length > 0)
            .map(|length| self.reordering(length, true, now, observer));
        let suspicion = report.disproves.then_some(number);
        let (original, lateness) = (report.original_sent, report.lateness);
        Some(Spurious { end, suspicion, original, lateness, reordering, rtt, under })
    }

    /// A segment that the acknowledgement reports once more by DSACK: the receiver has another copy of
    /// what was resent more than once.
    pub(crate) fn repeated_spurious(&mut self, ack: &Ack<'_>) -> Option<SegNo> {
        let (left, right) = ack.dsack.filter(|&(_, right)| right <= self.una)?;
        self.retransmissions.on_repeated_dsack(left, right)
    }
}
