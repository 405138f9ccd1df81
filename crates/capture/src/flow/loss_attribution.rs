//! Evidence of what caused losses: the path, its queue, or packets that came late.
//!
//! A retransmission that nothing proves spurious counts as a loss. Once no further report on it is
//! expected, two facts about it are recorded: how full the queue was, and whether packets were late
//! at about the same time. Acknowledgements that repeat the one before are counted as well, because a
//! receiver with timestamps answers that way to a segment that it discards (RFC 7323, section 5.3).

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use super::scoreboard::Entry;
use crate::analysis::LossEvidence;
use crate::packet::Segment;

/// Loss events, and late packets, that are kept.
const MAX_EVENTS: usize = 4096;

/// Greatest distance from a loss to a neighbour whose round trip shows the length of the queue, in
/// segments.
const MAX_NEIGHBOUR_SEGMENTS: usize = 32;

/// Resolution of measured round trips, as a share. Round trips that differ by less are ties.
const RTT_TOLERANCE: f64 = 0.01;

/// State from which [`LossEvidence`] is computed.
#[derive(Clone, Debug, Default)]
pub(super) struct LossAttribution {
    /// Times at which late packets were sent, in ascending order.
    late: VecDeque<Instant>,
    /// Time at which the first loss of the last event was sent.
    last_event: Option<Instant>,
    events: u64,
    /// Events without late packets within a round trip.
    events_away_from_late: u64,
    /// Time within a round trip of late packets.
    covered: Duration,
    covered_until: Option<Instant>,
    /// Round trip of the last segment that has one.
    last_rtt: Option<Duration>,
    /// Round trips before and after the first loss of each event.
    neighbour_rtts: Vec<[Duration; 2]>,
    last_ack: Option<AckContent>,
    /// Segments that the receiver discarded.
    refused: u64,
    /// Losses whose original passed the capture point.
    passed_here: u64,
    /// Losses whose original did not pass the capture point.
    not_passed_here: u64,
    /// Losses whose original passed the capture point with a timestamp by which the receiver discards it.
    outdated: u64,
}

/// Content of an acknowledgement that changes when new data arrives: the first block reports the
/// latest arrival (RFC 2018, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AckContent {
    ack: Option<u32>,
    block: Option<(u32, u32)>,
    /// `None` if there are blocks. Without blocks, a new window alone may cause an acknowledgement,
    /// when the application has read data.
    window: Option<u16>,
}

impl LossAttribution {
    /// Records a late packet that was sent at `sent`.
    pub(super) fn record_late(&mut self, sent: Instant) {
        let at = self.late.partition_point(|&other| other < sent);
        self.late.insert(at, sent);
        if self.late.len() > MAX_EVENTS {
            self.late.pop_front();
        }
    }

    /// Records an acknowledgement; `advances` is whether it covers new data.
    pub(super) fn record_ack(&mut self, segment: &Segment, advances: bool) {
        if segment.timestamps.is_none() || segment.syn || segment.fin || segment.len > 0 {
            self.last_ack = None;
            return;
        }
        let blocks = &segment.sack[..usize::from(segment.sack_count).min(segment.sack.len())];
        let is_dsack = is_dsack(segment.ack, blocks);
        let block = blocks.get(usize::from(is_dsack)).copied();
        let window = block.is_none().then_some(segment.window);
        let content = Some(AckContent { ack: segment.ack, block, window });
        self.refused += u64::from(!advances && !is_dsack && self.last_ack == content);
        self.last_ack = content;
    }

    /// Records an entry on which no further report is expected. `following` are the entries after it,
    /// and `rtt` is the minimum round trip.
    pub(super) fn settle<'a>(
        &mut self,
        entry: &Entry,
        following: impl Iterator<Item = &'a Entry>,
        rtt: Duration,
    ) {
        let sent = entry.first.at;
        let needed = entry.transmissions.saturating_sub(1).saturating_sub(entry.spurious());
        if entry.original_passed {
            self.passed_here += u64::from(needed);
            self.outdated += u64::from(needed > 0 && entry.is_outdated);
        } else {
            self.not_passed_here += u64::from(needed);
        }
        if needed > 0 && self.last_event.is_none_or(|last| sent.since(last) > rtt) {
            self.last_event = Some(sent);
            self.events += 1;
            let next_rtt = following.take(MAX_NEIGHBOUR_SEGMENTS).find_map(|entry| entry.rtt);
            if let (Some(before), Some(after)) = (self.last_rtt, next_rtt)
                && self.neighbour_rtts.len() < MAX_EVENTS
            {
                self.neighbour_rtts.push([before, after]);
            }
            self.events_away_from_late += u64::from(!self.is_near_late(sent, rtt));
        }
        self.last_rtt = entry.rtt.or(self.last_rtt);
        // Packets that were late more than a round trip before this entry are not near to later ones.
        while self.late.front().is_some_and(|&late| sent.since(late) > rtt) {
            if let Some(late) = self.late.pop_front() {
                self.cover(late, rtt);
            }
        }
    }

    /// Returns whether a late packet was sent within a round trip of `sent`.
    fn is_near_late(&self, sent: Instant, rtt: Duration) -> bool {
        let after = self.late.partition_point(|&late| late < sent);
        let before = after.checked_sub(1).and_then(|at| self.late.get(at));
        let neighbours = [before, self.late.get(after)];
        neighbours.into_iter().flatten().any(|&late| late.since(sent).max(sent.since(late)) <= rtt)
    }

    /// Adds the time within a round trip of a late packet to the covered time.
    fn cover(&mut self, late: Instant, rtt: Duration) {
        let until = late + rtt;
        let from = self.covered_until.map_or(late - rtt, |covered| covered.max(late - rtt));
        self.covered += until.since(from);
        self.covered_until = Some(until.max(from));
    }
}

/// Returns whether the first block is a DSACK (RFC 2883, section 4).
fn is_dsack(ack: Option<u32>, blocks: &[(u32, u32)]) -> bool {
    let not_after = |a: u32, b: u32| b.wrapping_sub(a) as i32 >= 0;
    let (Some(ack), Some(&(left, right))) = (ack, blocks.first()) else { return false };
    let within = |&(from, to): &(u32, u32)| not_after(from, left) && not_after(right, to);
    not_after(right, ack) || blocks.get(1).is_some_and(within)
}

impl FlowDirection {
    /// Returns the evidence of what caused the losses.
    pub(super) fn loss_evidence(&self) -> LossEvidence {
        if self.counts.retransmitted.segments == 0 {
            return LossEvidence::default();
        }
        let mut attribution = self.loss_attribution.clone();
        let rtt = self.path.round_trips.min_rtt_or_part();
        // Reports on the last segments were still on their way when the capture ended.
        let events = &self.activity.events;
        let end = events.last_ack.or(events.last_data).unwrap_or_default();
        let samples = self.path.round_trips.samples.summary();
        let max_ms = samples.as_ref().map_or(0.0, |samples| samples.max_ms);
        let report_delay = Duration::from_nanos((max_ms * 2e6) as u64) + rtt;
        let entries = self.scoreboard.entries();
        for (at, entry) in entries.iter().enumerate() {
            if end.since(entry.last.at) < report_delay {
                break;
            }
            attribution.settle(entry, entries.range(at + 1..), rtt);
        }
        for late in std::mem::take(&mut attribution.late) {
            attribution.cover(late, rtt);
        }
        let rank = |rtt: &Duration| {
            let percentiles = &samples.as_ref()?.percentiles_ms;
            let count_below = |ms: f64| percentiles.partition_point(|&other| other < ms) as f64;
            let ms = rtt.as_millis_f64();
            // Of ties, half count as below.
            let below = count_below(ms * (1.0 - RTT_TOLERANCE));
            let up_to = count_below(ms * (1.0 + RTT_TOLERANCE));
            Some((below + up_to) / 2.0 / percentiles.len().max(1) as f64)
        };
        let ranks: Vec<f64> =
            attribution.neighbour_rtts.iter().flatten().filter_map(rank).collect();
        let mean_rank = ranks.iter().sum::<f64>() / ranks.len() as f64;
        let began = events.first_data.unwrap_or(end);
        let time_s = end.since(began).as_secs_f64();
        let near_late_share = (attribution.covered.as_secs_f64() / time_s).min(1.0);
        LossEvidence {
            events: attribution.events,
            away_from_late: attribution.events_away_from_late,
            near_late_share: if time_s > 0.0 { near_late_share } else { 0.0 },
            queue_rank: (!ranks.is_empty()).then_some(mean_rank),
            queue_events: attribution.neighbour_rtts.len() as u64,
            passed_here: attribution.passed_here,
            not_passed_here: attribution.not_passed_here,
            refused: attribution.refused,
            outdated: attribution.outdated,
            ranges: self.ranges.evidence(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an acknowledgement with these blocks; the first may be a DSACK.
    fn acknowledgement(ack: u32, blocks: &[(u32, u32)], window: u16) -> Segment {
        let mut sack = [(0, 0); 4];
        sack[..blocks.len()].copy_from_slice(blocks);
        let sack_count = blocks.len() as u8;
        let timestamps = Some((1, 1));
        Segment { ack: Some(ack), timestamps, sack, sack_count, window, ..Segment::default() }
    }

    #[test]
    fn an_acknowledgement_that_repeats_the_one_before_shows_a_discarded_segment() {
        let mut attribution = LossAttribution::default();
        let mut refused_after = |segment: &Segment, advances| {
            attribution.record_ack(segment, advances);
            attribution.refused
        };
        assert_eq!(refused_after(&acknowledgement(1000, &[], 100), true), 0);
        // Two later segments arrive, then the receiver discards two.
        assert_eq!(refused_after(&acknowledgement(1000, &[(2000, 3000)], 100), false), 0);
        assert_eq!(refused_after(&acknowledgement(1000, &[(2000, 4000)], 100), false), 0);
        assert_eq!(refused_after(&acknowledgement(1000, &[(2000, 4000)], 100), false), 1);
        assert_eq!(refused_after(&acknowledgement(1000, &[(2000, 4000)], 90), false), 2);
        // A DSACK is not a repetition, but an acknowledgement that repeats the rest of it is.
        let dsack = [(500, 1000), (2000, 4000)];
        assert_eq!(refused_after(&acknowledgement(1000, &dsack, 100), false), 2);
        assert_eq!(refused_after(&acknowledgement(1000, &[(2000, 4000)], 100), false), 3);
        let dsack_within = [(2000, 2500), (2000, 4000)];
        assert_eq!(refused_after(&acknowledgement(1000, &dsack_within, 100), false), 3);
        // Without blocks, the window alone may change. An acknowledgement that advances is due to the
        // data that it covers.
        assert_eq!(refused_after(&acknowledgement(5000, &[], 100), true), 3);
        assert_eq!(refused_after(&acknowledgement(5000, &[], 200), false), 3);
        assert_eq!(refused_after(&acknowledgement(5000, &[], 200), false), 4);
        // Without timestamps, the receiver does not discard segments in this way.
        let bare = Segment { timestamps: None, ..acknowledgement(5000, &[], 200) };
        assert_eq!(refused_after(&bare, false), 4);
        assert_eq!(refused_after(&bare, false), 4);
    }
}
