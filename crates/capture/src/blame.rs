//! What tells whose doing losses were: the path's, its queue's, or that of late packets.
//!
//! A retransmission that nothing proves spurious counts as a loss. Of each it is kept, when no report
//! on it is to be expected any more, how full the queue was and whether packets were late about then;
//! and acknowledgements that repeat the one before are counted, since a receiver with timestamps
//! answers so to what it discards (RFC 7323, section 5.3).

use std::collections::VecDeque;

use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::half::Half;
use crate::outstanding::Entry;
use crate::packet::Segment;

/// Losses, and late packets, that are remembered.
const REMEMBERED: usize = 4096;

/// A neighbour that tells of the queue is at most so many segments away.
const NEIGHBOURS: usize = 32;

/// What tells whose doing losses were. An event is the losses of one round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LossEvidence {
    /// Loss events of which nothing more is to be expected.
    pub events: u64,
    /// Those of them within a round trip of which no late packet was sent.
    pub away_from_late: u64,
    /// The share of the transfer's time within a round trip of late packets.
    pub near_late_share: f64,
    /// The mean, over the events, of the share of segments whose round trip was shorter than those
    /// beside the loss: 0.5 where losses do not depend on the queue, near 1 where it overflows.
    pub queue_rank: Option<f64>,
    /// Events that this is the mean of.
    pub queue_events: u64,
    /// Retransmissions that were needed though the original passed here: at the receiver, those of
    /// what it discarded.
    pub passed_here: u64,
    /// Those whose original did not pass here: it was lost before.
    pub not_passed_here: u64,
    /// Acknowledgements that only repeat the one before, of a connection with timestamps: a segment
    /// came, and the receiver discarded it.
    pub refused: u64,
}

/// What is kept for [`LossEvidence`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Blame {
    /// When late packets were sent, in that order.
    late: VecDeque<Instant>,
    /// When the first loss of the last event was sent, and how many events there were.
    last: Option<Instant>,
    events: u64,
    away: u64,
    /// Within a round trip of late packets.
    covered: Duration,
    covered_to: Option<Instant>,
    /// The round trip of the segment before.
    before: Option<Duration>,
    /// Round trips before and behind the first loss of each event.
    beside: Vec<[Duration; 2]>,
    acknowledgement: Option<Acknowledgement>,
    refused: u64,
    passed: u64,
    missing: u64,
}

/// What an acknowledgement that follows on new data differs in: the block of what came last is the
/// first (RFC 2018, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Acknowledgement {
    ack: Option<u32>,
    block: Option<(u32, u32)>,
    /// Told by itself where data in order wait to be read.
    window: Option<u16>,
}

impl Blame {
    /// A packet that was sent at `sent` came late.
    pub(crate) fn late(&mut self, sent: Instant) {
        let at = self.late.partition_point(|&other| other < sent);
        self.late.insert(at, sent);
        if self.late.len() > REMEMBERED {
            self.late.pop_front();
        }
    }

    /// An acknowledgement comes back.
    pub(crate) fn acknowledged(&mut self, segment: &Segment, advances: bool) {
        if segment.timestamps.is_none() || segment.syn || segment.fin || segment.len > 0 {
            self.acknowledgement = None;
            return;
        }
        let blocks = &segment.sack[..usize::from(segment.sack_count).min(segment.sack.len())];
        let reports = is_duplicate_report(segment.ack, blocks);
        let block = blocks.get(usize::from(reports)).copied();
        let window = block.is_none().then_some(segment.window);
        let told = Some(Acknowledgement { ack: segment.ack, block, window });
        self.refused += u64::from(!advances && !reports && self.acknowledgement == told);
        self.acknowledgement = told;
    }

    /// Nothing more is to be expected of `entry`, which `rest` follows, at a minimum round trip `rtt`.
    pub(crate) fn settle<'a>(
        &mut self,
        entry: &Entry,
        rest: impl Iterator<Item = &'a Entry>,
        rtt: Duration,
    ) {
        let sent = entry.first.at;
        let needed = entry.transmissions.saturating_sub(1).saturating_sub(entry.spurious());
        match entry.original {
            true => self.passed += u64::from(needed),
            false => self.missing += u64::from(needed),
        }
        if needed > 0 && self.last.is_none_or(|last| sent.since(last) > rtt) {
            self.last = Some(sent);
            self.events += 1;
            let next = rest.take(NEIGHBOURS).find_map(|entry| entry.trip);
            if let (Some(before), Some(next), true) =
                (self.before, next, self.beside.len() < REMEMBERED)
            {
                self.beside.push([before, next]);
            }
            let after = self.late.partition_point(|&late| late < sent);
            let near = |late: Option<&Instant>| {
                late.is_some_and(|&late| late.since(sent).max(sent.since(late)) <= rtt)
            };
            let before = after.checked_sub(1).and_then(|at| self.late.get(at));
            self.away += u64::from(!near(before) && !near(self.late.get(after)));
        }
        self.before = entry.trip.or(self.before);
        // What was late more than a round trip before this is near to nothing that follows.
        while self.late.front().is_some_and(|&late| sent.since(late) > rtt) {
            if let Some(late) = self.late.pop_front() {
                self.cover(late, rtt);
            }
        }
    }

    /// Adds the time about a late packet to what is near to one.
    fn cover(&mut self, late: Instant, rtt: Duration) {
        let (from, to) = (late - rtt, late + rtt);
        let from = self.covered_to.map_or(from, |covered| covered.max(from));
        self.covered += to.since(from);
        self.covered_to = Some(to.max(from));
    }
}

/// Whether the first block tells of what came twice (RFC 2883, section 4).
fn is_duplicate_report(ack: Option<u32>, blocks: &[(u32, u32)]) -> bool {
    let not_after = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
    let (Some(ack), Some(&(left, right))) = (ack, blocks.first()) else { return false };
    let within = |&(from, to): &(u32, u32)| not_after(from, left) && not_after(right, to);
    not_after(right, ack) || blocks.get(1).is_some_and(within)
}

impl Half {
    /// What tells whose doing the losses were.
    pub(crate) fn loss_evidence(&self) -> LossEvidence {
        if self.counts.resent == 0 {
            return LossEvidence::default();
        }
        let mut blame = self.blame.clone();
        let rtt = self.round_trip().or(self.trips.beyond.least).unwrap_or_default();
        // Reports on what was sent last are on their way.
        let end = self.moments.last_ack.or(self.moments.last_data).unwrap_or_default();
        let samples = self.trips.samples.summary();
        let longest = samples.as_ref().map_or(0.0, |samples| samples.max_ms);
        let pending = Duration::from_nanos((longest * 2e6) as u64) + rtt;
        let entries = self.entries();
        for (at, entry) in entries.iter().enumerate() {
            if end.since(entry.last.at) < pending {
                break;
            }
            blame.settle(entry, entries.range(at + 1..), rtt);
        }
        for late in std::mem::take(&mut blame.late) {
            blame.cover(late, rtt);
        }
        let rank = |trip: &Duration| {
            let percentiles = &samples.as_ref()?.percentiles_ms;
            let ms = trip.as_millis_f64();
            // Ties are split: round trips are told to 1 %.
            let [below, upto] = [ms * 0.99, ms * 1.01]
                .map(|ms| percentiles.partition_point(|&other| other < ms) as f64);
            Some((below + upto) / 2.0 / percentiles.len().max(1) as f64)
        };
        let ranks: Vec<f64> = blame.beside.iter().flatten().filter_map(rank).collect();
        let begun = self.moments.first_data.unwrap_or(end);
        let time_s = end.since(begun).as_secs_f64();
        LossEvidence {
            events: blame.events,
            away_from_late: blame.away,
            near_late_share: match time_s > 0.0 {
                true => (blame.covered.as_secs_f64() / time_s).min(1.0),
                false => 0.0,
            },
            queue_rank: (!ranks.is_empty()).then(|| ranks.iter().sum::<f64>() / ranks.len() as f64),
            queue_events: blame.beside.len() as u64,
            passed_here: blame.passed,
            not_passed_here: blame.missing,
            refused: blame.refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An acknowledgement with these blocks, the first of which may report a duplicate.
    fn acknowledgement(ack: u32, blocks: &[(u32, u32)], window: u16) -> Segment {
        let mut sack = [(0, 0); 4];
        sack[..blocks.len()].copy_from_slice(blocks);
        let (ack, timestamps) = (Some(ack), Some((1, 1)));
        let sack_count = blocks.len() as u8;
        Segment { ack, timestamps, sack, sack_count, window, ..Segment::default() }
    }

    #[test]
    fn an_acknowledgement_that_repeats_the_one_before_answers_to_what_was_discarded() {
        let mut blame = Blame::default();
        let mut see = |segment: &Segment, advances| {
            blame.acknowledged(segment, advances);
            blame.refused
        };
        assert_eq!(see(&acknowledgement(1000, &[], 100), true), 0);
        // A later segment comes, then another; then one is discarded, and one more.
        assert_eq!(see(&acknowledgement(1000, &[(2000, 3000)], 100), false), 0);
        assert_eq!(see(&acknowledgement(1000, &[(2000, 4000)], 100), false), 0);
        assert_eq!(see(&acknowledgement(1000, &[(2000, 4000)], 100), false), 1);
        assert_eq!(see(&acknowledgement(1000, &[(2000, 4000)], 90), false), 2);
        // A duplicate is reported, and what follows it repeats what was known.
        let report = [(500, 1000), (2000, 4000)];
        assert_eq!(see(&acknowledgement(1000, &report, 100), false), 2);
        assert_eq!(see(&acknowledgement(1000, &[(2000, 4000)], 100), false), 3);
        let within = [(2000, 2500), (2000, 4000)];
        assert_eq!(see(&acknowledgement(1000, &within, 100), false), 3);
        // Where nothing is missing, the window alone may change; an acknowledgement that advances
        // answers to what it covers.
        assert_eq!(see(&acknowledgement(5000, &[], 100), true), 3);
        assert_eq!(see(&acknowledgement(5000, &[], 200), false), 3);
        assert_eq!(see(&acknowledgement(5000, &[], 200), false), 4);
        // Without timestamps nothing is discarded so.
        let bare = Segment { timestamps: None, ..acknowledgement(5000, &[], 200) };
        assert_eq!((see(&bare, false), see(&bare, false)), (4, 4));
    }
}
