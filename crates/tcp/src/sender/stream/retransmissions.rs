//! What became of each retransmission: needed, or proved spurious by a DSACK (RFC 2883; RFC 3708,
//! section 3). Also keeps what a retransmitted segment's ambiguous acknowledgements said, until the
//! DSACK that tells them apart comes or does not come (RR-TCP, sections 4.1.1 and 4).

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::SegNo;
use crate::observer::Cause;
use crate::parts::control::Window;

/// Reductions of the window that can be waiting for their DSACKs at a time.
const EPISODES: usize = 8;

/// One reduction of the window and the retransmissions made under it.
#[derive(Clone, Copy, Debug)]
struct Episode {
    number: u32,
    cause: Cause,
    began: Instant,
    /// The window before the reduction.
    saved: Window,
    /// Retransmissions, and those of them reported as duplicates.
    retransmitted: u32,
    duplicates: u32,
    /// RFC 3708 (A.1), (A.3): cannot prove spurious.
    barred: bool,
    /// Proved spurious.
    spurious: bool,
}

/// A segment that was retransmitted, kept until its DSACK can no longer come.
#[derive(Clone, Copy, Debug)]
struct Record {
    number: SegNo,
    start: u64,
    end: u64,
    episode: u32,
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
    /// It says nothing of a reduction of the window.
    pub(crate) alone: bool,
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
    /// With this one, every retransmission under the reduction proved spurious.
    pub(crate) reduction: Option<SpuriousReduction>,
}

/// A reduction of the window that proved spurious.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpuriousReduction {
    pub(crate) cause: Cause,
    pub(crate) lasted: Duration,
    /// The window to go back to.
    pub(crate) saved: Window,
    /// No later reduction is still in doubt.
    pub(crate) latest: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Retransmissions {
    /// In the order of the stream.
    records: VecDeque<Record>,
    episodes: VecDeque<Episode>,
    next_episode: u32,
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
        self.records.is_empty() && self.episodes.is_empty()
    }

    /// The number that the next reduction of the window will get.
    pub(crate) fn next_episode(&self) -> u32 {
        self.next_episode
    }

    /// The window is about to be reduced because of `cause`.
    pub(crate) fn begin(&mut self, cause: Cause, saved: Window, now: Instant) {
        if self.episodes.len() == EPISODES {
            self.episodes.pop_front();
        }
        let number = self.next_episode;
        self.next_episode += 1;
        self.episodes.push_back(Episode {
            number,
            cause,
            began: now,
            saved,
            retransmitted: 0,
            duplicates: 0,
            barred: false,
            spurious: false,
        });
    }

    /// Segment `number`, sent last at `sent`, is sent again at `now`.
    pub(crate) fn on_retransmit(
        &mut self,
        number: SegNo,
        range: (u64, u64),
        sent: Instant,
        why: Resent,
        now: Instant,
    ) {
        // A probe, or what is only suspected, is no reduction of the window: it belongs to none.
        let Resent { alone, suspected } = why;
        let episode = if alone { u32::MAX } else { self.next_episode.wrapping_sub(1) };
        match self.records.binary_search_by_key(&number, |r| r.number) {
            Ok(at) => {
                let record = &mut self.records[at];
                record.retransmissions += 1;
                record.unsuspected += u32::from(!suspected);
                record.resent = now;
                let earlier = record.episode;
                record.episode = episode;
                self.bar(earlier);
                self.bar(episode);
            }
            Err(at) => self.records.insert(
                at,
                Record {
                    number,
                    start: range.0,
                    end: range.1,
                    episode,
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
            ),
        }
        if let Some(episode) = self.episode(episode) {
            episode.retransmitted += 1;
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
        let reduction = self.count_duplicate(record.episode, now);
        Some(DsackReport {
            number: record.number,
            start: record.start,
            end: record.end,
            first_length: record.length.filter(|_| once),
            rtt,
            disproves: record.unsuspected == 0,
            original_sent: (once && !record.original_first).then_some(record.original_sent),
            lateness,
            reduction,
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

    /// Segments are smaller by `ratio`: windows that may come back stay, in octets.
    pub(crate) fn on_smaller_segments(&mut self, ratio: f64) {
        for episode in &mut self.episodes {
            episode.saved.scale(ratio);
        }
    }

    /// Segments were split: they have other numbers, in the same order.
    pub(crate) fn renumber(&mut self, number: impl Fn(SegNo) -> SegNo) {
        for record in &mut self.records {
            record.number = number(record.number);
        }
    }

    /// All reductions from number `from` on proved spurious, and not by DSACKs: gives the first that
    /// was not known to be, with the reordering length of a segment resent under it, if that could be
    /// measured.
    pub(crate) fn prove_spurious(
        &mut self,
        from: u32,
        now: Instant,
    ) -> Option<(SpuriousReduction, Option<u32>)> {
        let episode = self.episodes.iter_mut().find(|e| e.number >= from && !e.spurious)?;
        episode.spurious = true;
        let Episode { number, cause, began, saved, .. } = *episode;
        let length = self.records.iter().find(|r| r.episode == number).and_then(|r| r.length);
        Some((SpuriousReduction { cause, lasted: now.since(began), saved, latest: true }, length))
    }

    /// Forgets segments covered longer than `horizon` ago: their DSACK will not come any more.
    #[inline]
    pub(crate) fn expire(&mut self, now: Instant, horizon: impl Fn() -> Duration) {
        while let Some(front) = self.records.front() {
            match front.covered {
                Some(covered) if now.since(covered) > horizon() => self.records.pop_front(),
                _ => break,
            };
        }
    }

    /// One more retransmission under reduction `number` proved spurious; was it the last?
    fn count_duplicate(&mut self, number: u32, now: Instant) -> Option<SpuriousReduction> {
        let latest = self.episodes.iter().all(|e| e.number <= number || e.spurious);
        let episode = self.episode(number)?;
        episode.duplicates += 1;
        if episode.barred || episode.spurious || episode.duplicates < episode.retransmitted {
            return None;
        }
        episode.spurious = true;
        let Episode { cause, began, saved, .. } = *episode;
        if !latest {
            self.hand_on(number, saved);
        }
        Some(SpuriousReduction { cause, lasted: now.since(began), saved, latest })
    }

    /// The reduction with this number cannot prove spurious (RFC 3708, A.1 and A.3).
    fn bar(&mut self, number: u32) {
        if let Some(episode) = self.episode(number) {
            episode.barred = true;
        }
    }

    fn episode(&mut self, number: u32) -> Option<&mut Episode> {
        self.episodes.iter_mut().find(|e| e.number == number)
    }

    /// A reduction proved spurious while a later one is in doubt: should that one prove spurious as
    /// well, it is this one's window that comes back. If it is genuine, nothing does.
    fn hand_on(&mut self, from: u32, saved: Window) {
        for episode in self.episodes.iter_mut().filter(|e| e.number > from) {
            episode.saved.cwnd = episode.saved.cwnd.max(saved.cwnd);
            episode.saved.ssthresh = episode.saved.ssthresh.max(saved.ssthresh);
        }
    }
}
