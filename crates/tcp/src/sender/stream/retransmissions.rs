//! The record of each retransmitted segment: whether a DSACK proved a retransmission spurious (RFC
//! 2883; RFC 3708, section 3), and under which reduction of the window it was made.
//!
//! The acknowledgement of a retransmitted segment is ambiguous. The record keeps what was measured
//! by it until the DSACK that resolves the ambiguity comes, or can no longer come (RR-TCP, sections
//! 4.1.1 and 4).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::SegNo;
use crate::ring;
use crate::sender::reductions::ReductionId;

/// A segment that was retransmitted, kept until its DSACK can no longer come.
#[derive(Clone, Copy, Debug)]
struct Record {
    number: SegNo,
    start: u64,
    end: u64,
    /// The reduction of the window under which it was last resent, if there was one.
    under: Option<ReductionId>,
    original_sent: Instant,
    resent: Instant,
    retransmissions: u32,
    /// Number of retransmissions that replaced no suspected transmission.
    unsuspected: u32,
    /// Time of the first acknowledgement that covers it.
    covered: Option<Instant>,
    /// The first acknowledgement that covers it came too early to answer the last copy.
    original_first: bool,
    /// Lateness of the original, if the first acknowledgement answered the original. It is not yet
    /// known whether it did.
    lateness: Option<Duration>,
    /// The reordering length at the first acknowledgement, if it could be measured.
    length: Option<u32>,
    /// Whether a DSACK reported it.
    reported: bool,
    /// Number of DSACKs beyond the first.
    repeated: u32,
}

/// Record of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Retransmission {
    /// The reduction of the window under which it is made, if there is one. A DSACK for it is
    /// evidence against this reduction.
    pub(crate) under: Option<ReductionId>,
    /// Whether it replaces a transmission that is recorded as suspected.
    pub(crate) suspected: bool,
}

/// A retransmitted segment that a DSACK reports for the first time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DsackReport {
    /// The segment.
    pub(crate) number: SegNo,
    /// Stream offset of its first octet.
    pub(crate) start: u64,
    /// Stream offset of the octet behind its last.
    pub(crate) end: u64,
    /// Its reordering length when its first copy was acknowledged, if that could be measured.
    pub(crate) first_length: Option<u32>,
    /// Mean of the round-trip times of both copies. It does not depend on which acknowledgement
    /// answered which copy.
    pub(crate) rtt: Option<Duration>,
    /// Whether more copies arrived than were sent without a suspicion, so that a suspected one is among
    /// them.
    pub(crate) refutes_suspicion: bool,
    /// Time of the original transmission, if the original arrived second.
    pub(crate) original_sent: Option<Instant>,
    /// Lateness of the original, if it arrived first and that was not yet known.
    pub(crate) lateness: Option<Duration>,
    /// The reduction under which it was last resent.
    pub(crate) under: Option<ReductionId>,
}

/// The retransmitted segments of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Retransmissions {
    /// Records in stream order.
    records: VecDeque<Record>,
    /// Number of those that no acknowledgement covers yet.
    uncovered: u32,
}

impl Retransmissions {
    /// Maximum memory that a segment takes here, in octets.
    pub(crate) const SEGMENT_OCTETS: usize = size_of::<Record>();

    /// Returns the memory of the records, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
    }

    /// Frees memory that is not in use.
    pub(crate) fn shrink(&mut self) {
        self.records.shrink_to_fit();
    }

    /// Returns the number of retransmitted segments that no acknowledgement covers yet.
    pub(crate) fn uncovered(&self) -> u32 {
        self.uncovered
    }

    /// Returns whether there is no record.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Records that segment `number`, last sent at `sent`, is sent again at `now`. If it had been
    /// resent before, returns the reduction under which that was last done.
    pub(crate) fn on_retransmit(
        &mut self,
        number: SegNo,
        range: (u64, u64),
        sent: Instant,
        retransmission: Retransmission,
        now: Instant,
    ) -> Option<Option<ReductionId>> {
        let Retransmission { under, suspected } = retransmission;
        match self.records.binary_search_by_key(&number, |r| r.number) {
            Ok(at) => {
                let record = &mut self.records[at];
                record.retransmissions += 1;
                record.unsuspected += u32::from(!suspected);
                record.resent = now;
                Some(std::mem::replace(&mut record.under, under))
            }
            Err(at) => {
                self.uncovered += 1;
                ring::reserve(&mut self.records, 2, 1);
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

    /// Records that an acknowledgement covers the retransmitted segment `number` for the first
    /// time. `original`: it came too early to answer the last copy. Returns when the original was
    /// sent, if it is certain that the original arrived.
    pub(crate) fn on_covered(
        &mut self,
        number: SegNo,
        original: bool,
        now: Instant,
    ) -> Option<Instant> {
        let record = self.record(number)?;
        let first = record.covered.replace(now).is_none();
        record.original_first = original;
        let original = (original && record.retransmissions == 1).then_some(record.original_sent);
        self.uncovered -= u32::from(first);
        original
    }

    /// Records how late the original of segment `number` was, should it prove to be what the
    /// acknowledgement covered.
    pub(crate) fn set_lateness(&mut self, number: SegNo, lateness: Duration) {
        if let Some(record) = self.record(number) {
            record.lateness = Some(lateness);
        }
    }

    /// Takes the lateness that [`Self::set_lateness`] recorded, once the original proves to have
    /// arrived.
    pub(crate) fn take_lateness(&mut self, number: SegNo) -> Option<Duration> {
        self.record(number)?.lateness.take()
    }

    /// Records the reordering length of segment `number` at its first acknowledgement.
    pub(crate) fn set_length(&mut self, number: SegNo, length: u32) {
        if let Some(record) = self.record(number) {
            record.length = Some(length);
        }
    }

    /// Returns the record of segment `number`, if there is one.
    fn record(&mut self, number: SegNo) -> Option<&mut Record> {
        let at = self.records.binary_search_by_key(&number, |r| r.number).ok()?;
        Some(&mut self.records[at])
    }

    /// Processes a plausible DSACK for offsets `left..right`. Returns the first segment in it that
    /// was retransmitted and not reported before; others are duplicates that the network made. More
    /// can follow behind the end of that segment, because receivers merge duplicates that arrive
    /// together into one block.
    pub(crate) fn on_dsack(&mut self, left: u64, right: u64, now: Instant) -> Option<DsackReport> {
        let at = self.records.partition_point(|r| r.start < left);
        let mut covered = self.records.range_mut(at..).take_while(|r| r.end <= right);
        let record = covered.find(|r| !r.reported)?;
        record.reported = true;
        let lateness = record.lateness.take();
        let record = *record;
        // After several retransmissions it is unknown which copy arrived twice (RFC 3708, A.3).
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
            refutes_suspicion: record.unsuspected == 0,
            original_sent: (once && !record.original_first).then_some(record.original_sent),
            lateness,
            under: record.under,
        })
    }

    /// Processes a plausible DSACK for offsets `left..right` that reports no segment for the first
    /// time. Counts it for the first segment in it that was resent more often than reported.
    /// Returns that segment if the report refutes a suspicion.
    pub(crate) fn on_repeated_dsack(&mut self, left: u64, right: u64) -> Option<SegNo> {
        let at = self.records.partition_point(|r| r.start < left);
        let mut covered = self.records.range_mut(at..).take_while(|r| r.end <= right);
        let record = covered.find(|r| r.reported && r.repeated + 1 < r.retransmissions)?;
        record.repeated += 1;
        Some(record.number).filter(|_| record.repeated >= record.unsuspected)
    }

    /// Renumbers the records after segments were split. The order stays the same.
    pub(crate) fn renumber(&mut self, number: impl Fn(SegNo) -> SegNo) {
        for record in &mut self.records {
            record.number = number(record.number);
        }
    }

    /// Returns the reordering length of the first segment that was last resent under this
    /// reduction, if it could be measured.
    pub(crate) fn length_under(&self, under: ReductionId) -> Option<u32> {
        self.records.iter().find(|record| record.under == Some(under))?.length
    }

    /// Discards the records of segments covered longer than `horizon` ago. Their DSACKs can no
    /// longer come.
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
