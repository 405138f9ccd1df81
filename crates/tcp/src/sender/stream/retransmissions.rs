//! What became of each retransmission: needed, or proved spurious by a DSACK (RFC 2883; RFC 3708,
//! section 3), and under which reduction of the window it was made. Also keeps what a retransmitted segment's ambiguous acknowledgements said, until the
//! DSACK that tells them apart comes or does not come (RR-TCP, sections 4.1.1 and 4).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::SegNo;
use crate::sender::reductions::ReductionId;

/// A segment that was retransmitted, kept until its DSACK can no longer come.
#[derive(Clone, Copy, Debug)]
struct Record {
    number: SegNo,
    start: u64,
    end: u64,
    /// The reduction of the window under which it was resent last, if under one.
    under: Option<ReductionId>,
    original_sent: Instant,
    resent: Instant,
    retransmissions: u32,
    /// Those of them by which no transmission was given up.
    unsuspected: u32,
    /// When an acknowledgement first covered it, and whether that was too early for the last copy.
    covered: Option<Instant>,
    original_first: bool,
    /// How late the original was, if it was and that is what the acknowledgement covered: unknown as
    /// yet.
    lateness: Option<Duration>,
    /// The reordering length at that time, if it could be measured.
    length: Option<u32>,
    reported: bool,
    /// DSACKs beyond the first.
    repeated: u32,
}

/// What it means that a segment is resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resent {
    /// It is made under this reduction of the window, whose evidence it becomes.
    pub(crate) under: Option<ReductionId>,
    /// The last transmission is given up, and that is on the books.
    pub(crate) suspected: bool,
}

/// What a DSACK said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DsackReport {
    /// The segment, and the stream offsets that it covers.
    pub(crate) number: SegNo,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Its reordering length when its first copy was acknowledged, if that could be measured.
    pub(crate) first_length: Option<u32>,
    /// Mean of the round-trip times of both copies, whichever acknowledgement was whose.
    pub(crate) rtt: Option<Duration>,
    /// More copies arrived than were sent without a suspicion: one that was suspected is among them.
    pub(crate) disproves: bool,
    /// When the original was sent, if it is the copy that came second.
    pub(crate) original_sent: Option<Instant>,
    /// How late it was, if it came first and that was not known.
    pub(crate) lateness: Option<Duration>,
    /// The reduction under which it was resent.
    pub(crate) under: Option<ReductionId>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Retransmissions {
    /// In the order of the stream.
    records: VecDeque<Record>,
}

impl Retransmissions {
    /// What a segment takes here at the most, in octets.
    pub(crate) const SEGMENT_OCTETS: usize = size_of::<Record>();

    /// What the records take, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
    }

    /// Frees what is not in use.
    pub(crate) fn shrink(&mut self) {
        self.records.shrink_to_fit();
    }

    /// Nothing is remembered that an acknowledgement could still concern.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Segment `number`, sent last at `sent`, is sent again at `now`. If that is not for the first time,
    /// gives the reduction under which it was resent before.
    pub(crate) fn on_retransmit(
        &mut self,
        number: SegNo,
        range: (u64, u64),
        sent: Instant,
        why: Resent,
        now: Instant,
    ) -> Option<Option<ReductionId>> {
        let Resent { under, suspected } = why;
        match self.records.binary_search_by_key(&number, |r| r.number) {
            Ok(at) => {
                let record = &mut self.records[at];
                record.retransmissions += 1;
                record.unsuspected += u32::from(!suspected);
                record.resent = now;
                Some(std::mem::replace(&mut record.under, under))
            }
            Err(at) => {
                self.records.insert(
                    at,
                    Record {
                        number,
                        start: range.0,
                        end: range.1,
                        under,
                        original_sent: sent,
                        resent: now,
                        retransmissions: 1,
                        unsuspected: u32::from(!suspected),
                        covered: None,
                        original_first: false,
                        lateness: None,
                        length: None,
                        reported: false,
                        repeated: 0,
                    },
                );
                None
            }
        }
    }

    /// An acknowledgement covers the retransmitted segment `number` for the first time.
    /// `original`: too early for its last copy. Gives when the original was sent, if it is that.
    pub(crate) fn on_covered(
        &mut self,
        number: SegNo,
        original: bool,
        now: Instant,
    ) -> Option<Instant> {
        let record = self.record(number)?;
        record.covered = Some(now);
        record.original_first = original;
        (original && record.retransmissions == 1).then_some(record.original_sent)
    }

    /// If it is the original of segment `number` that an acknowledgement covered, it was late by this.
    pub(crate) fn set_lateness(&mut self, number: SegNo, lateness: Duration) {
        if let Some(record) = self.record(number) {
            record.lateness = Some(lateness);
        }
    }

    /// It was: how late, if that was not known.
    pub(crate) fn take_lateness(&mut self, number: SegNo) -> Option<Duration> {
        self.record(number)?.lateness.take()
    }

    /// The reordering length of segment `number` as of its first acknowledgement.
    pub(crate) fn set_length(&mut self, number: SegNo, length: u32) {
        if let Some(record) = self.record(number) {
            record.length = Some(length);
        }
    }

    /// What is known of segment `number`, if it was retransmitted and not forgotten.
    fn record(&mut self, number: SegNo) -> Option<&mut Record> {
        let at = self.records.binary_search_by_key(&number, |r| r.number).ok()?;
        Some(&mut self.records[at])
    }

    /// A believable DSACK for offsets `left..right` came: gives the first segment that it reports,
    /// unless that is the network's duplication or was reported before. More may follow behind that
    /// segment's end: receivers merge duplicates that arrive together into one block.
    pub(crate) fn on_dsack(&mut self, left: u64, right: u64, now: Instant) -> Option<DsackReport> {
        let at = self.records.partition_point(|r| r.start < left);
        let mut covered = self.records.range_mut(at..).take_while(|r| r.end <= right);
        let record = covered.find(|r| !r.reported)?;
        record.reported = true;
        let lateness = record.lateness.take();
        let record = *record;
        // Exactly one retransmission, or one cannot say which copy came twice (RFC 3708, A.3).
        let once = record.retransmissions == 1;
        let rtt = record
            .covered
            .filter(|_| once)
            .map(|covered| (covered.since(record.original_sent) + now.since(record.resent)) / 2);
        Some(DsackReport {
            number: record.number,
            start: record.start,
            end: record.end,
            first_length: record.length.filter(|_| once),
            rtt,
            disproves: record.unsuspected == 0,
            original_sent: (once && !record.original_first).then_some(record.original_sent),
            lateness,
            under: record.under,
        })
    }

    /// A believable DSACK for these offsets reports nothing for the first time: gives a segment in
    /// it that was resent more often than reported, if that disproves a suspicion.
    pub(crate) fn on_repeated_dsack(&mut self, left: u64, right: u64) -> Option<SegNo> {
        let at = self.records.partition_point(|r| r.start < left);
        let mut covered = self.records.range_mut(at..).take_while(|r| r.end <= right);
        let record = covered.find(|r| r.reported && r.repeated + 1 < r.retransmissions)?;
        record.repeated += 1;
        Some(record.number).filter(|_| record.repeated >= record.unsuspected)
    }

    /// Segments were split: they have other numbers, in the same order.
    pub(crate) fn renumber(&mut self, number: impl Fn(SegNo) -> SegNo) {
        for record in &mut self.records {
            record.number = number(record.number);
        }
    }

    /// The reordering length of the first segment resent last under this reduction, if it could be
    /// measured.
    pub(crate) fn length_under(&self, under: ReductionId) -> Option<u32> {
        self.records.iter().find(|record| record.under == Some(under))?.length
    }

    /// Forgets segments covered longer than `horizon` ago: their DSACK will not come any more.
    #[inline]
    pub(crate) fn expire(&mut self, now: Instant, horizon: Duration) {
        while let Some(front) = self.records.front() {
            match front.covered {
                Some(covered) if now.since(covered) > horizon => self.records.pop_front(),
                _ => break,
            };
        }
    }
}
