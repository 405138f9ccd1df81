//! Samples of the delivery rate (draft-ietf-ccwg-bbr, section 4.1; Linux, `net/ipv4/tcp_rate.c`), and what
//! counts as lost.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::parts::control::{DeliveryRate, LostSegment, SentState};
use crate::ring;
use crate::sender::numbers::{Renumbered, SegNo};

/// The last transmission of a segment.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    state: SentState,
}

/// A transmission that was replaced on suspicion.
#[derive(Clone, Copy, Debug)]
struct Suspected {
    segment: SegNo,
    /// `None` without a record, as for the octet of a window probe.
    sent: Option<Sent>,
}

/// Samples the rate of delivery.
#[derive(Clone, Debug, Default)]
pub(super) struct RateSampler {
    /// The last transmission of each outstanding segment, from number `base` on.
    sent: VecDeque<Option<Sent>>,
    base: SegNo,
    /// Suspected transmissions in the order of suspicion, from the first one that is pending.
    suspected: VecDeque<Suspected>,
    /// Segments delivered so far, and when the last one was (C.delivered, C.delivered_time).
    delivered: u64,
    delivered_at: Instant,
    /// Time of transmission of the segment delivered last (C.first_send_time).
    first_sent: Instant,
    /// Segments lost so far (C.lost), and since the last sample.
    lost: u64,
    newly_lost: u32,
    /// Samples count as limited by the application until more than this is delivered (C.app_limited).
    app_limited_until: Option<u64>,
    /// Of the segments that the present acknowledgement covers: their number, and the one sent last.
    newly_delivered: u32,
    newest: Option<(Sent, SegNo)>,
}

impl RateSampler {
    /// Maximum memory that an outstanding segment takes in the tables, in octets.
    pub(super) const SEGMENT_OCTETS: usize = size_of::<Option<Sent>>() + size_of::<Suspected>();

    /// Returns the memory that the tables take, in octets.
    pub(super) fn table_octets(&self) -> usize {
        self.sent.capacity() * size_of::<Option<Sent>>()
            + self.suspected.capacity() * size_of::<Suspected>()
    }

    /// Frees memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.sent.shrink_to_fit();
        self.suspected.shrink_to_fit();
    }

    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Records a transmission of `segment`, after which `in_flight` segments are in flight. `first`: no
    /// other is outstanding.
    pub(super) fn on_sent(&mut self, segment: SegNo, first: bool, in_flight: u32, now: Instant) {
        if first {
            self.first_sent = now;
            self.delivered_at = now;
            // There was nothing to send until now.
            self.mark_app_limited(0);
        }
        let state = SentState {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            lost: self.lost,
            in_flight,
            app_limited: self.app_limited_until.is_some(),
        };
        let Some(index) = segment.checked_sub(self.base) else { return };
        let index = index as usize;
        if self.sent.is_empty() {
            self.base = segment;
            ring::push(&mut self.sent, Some(Sent { at: now, state }));
            return;
        }
        // The octet of a window probe has no record.
        while self.sent.len() <= index {
            ring::push(&mut self.sent, None);
        }
        self.sent[index] = Some(Sent { at: now, state });
    }

    /// Marks what is sent from now on as limited by the application, until `in_flight` segments have been
    /// delivered.
    pub(super) fn mark_app_limited(&mut self, in_flight: u32) {
        self.app_limited_until = Some((self.delivered + u64::from(in_flight)).max(1));
    }

    fn record(&self, segment: SegNo) -> Option<Sent> {
        let index = segment.checked_sub(self.base)?;
        self.sent.get(index as usize).copied().flatten()
    }

    /// Records that the present acknowledgement covers `segment` for the first time.
    pub(super) fn on_delivered(&mut self, segment: SegNo) {
        self.delivered += 1;
        self.newly_delivered += 1;
        let Some(sent) = self.record(segment) else { return };
        let key = |sent: &Sent, segment: SegNo| (sent.at, segment);
        if self.newest.is_none_or(|(newest, number)| key(&sent, segment) > key(&newest, number)) {
            self.newest = Some((sent, segment));
        }
    }

    /// Keeps the last transmission of `segment`, which is replaced on suspicion.
    pub(super) fn on_suspected(&mut self, segment: SegNo) {
        let sent = self.record(segment);
        ring::push(&mut self.suspected, Suspected { segment, sent });
    }

    /// Counts the last transmission of `segment` as lost.
    pub(super) fn on_lost(&mut self, segment: SegNo) -> Option<LostSegment> {
        let sent = self.record(segment);
        self.count_lost(segment, sent)
    }

    /// Counts a suspected transmission of `segment` as lost. Those suspected before it were not lost.
    pub(super) fn on_confirmed(&mut self, segment: SegNo) -> Option<LostSegment> {
        let at = self.suspected.iter().position(|suspected| suspected.segment == segment);
        let sent = at.and_then(|at| self.suspected.drain(..=at).next_back());
        self.count_lost(segment, sent.and_then(|suspected| suspected.sent))
    }

    /// Discards the suspected transmissions before `pending`, the first segment whose suspicion is neither
    /// confirmed nor refuted, and the time of its suspected transmission.
    pub(super) fn discard_decided(&mut self, pending: Option<(SegNo, Instant)>) {
        let is_decided = |suspected: &Suspected| {
            pending.is_none_or(|(segment, at)| {
                suspected.segment != segment || suspected.sent.is_some_and(|sent| sent.at != at)
            })
        };
        while self.suspected.front().is_some_and(is_decided) {
            self.suspected.pop_front();
        }
    }

    fn count_lost(&mut self, number: SegNo, sent: Option<Sent>) -> Option<LostSegment> {
        self.lost += 1;
        self.newly_lost += 1;
        sent.map(|sent| LostSegment {
            number,
            sent: sent.state,
            lost_total: self.lost,
            delivered_total: self.delivered,
        })
    }

    /// Takes back a loss that proves spurious.
    pub(super) fn on_refuted(&mut self) {
        self.lost = self.lost.saturating_sub(1);
        self.newly_lost = self.newly_lost.saturating_sub(1);
    }

    /// Ends the processing of an acknowledgement, before which segments up to `first` were acknowledged.
    /// Returns what it delivered, what was lost since the last one, and the rate, unless that is unknown or
    /// shorter than `min_rtt`.
    pub(super) fn sample(
        &mut self,
        first: SegNo,
        min_rtt: Option<Duration>,
        now: Instant,
    ) -> (u32, u32, Option<DeliveryRate>) {
        while self.base < first && self.sent.pop_front().is_some() {
            self.base += 1;
        }
        self.base = self.base.max(first);
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        let delivered = std::mem::take(&mut self.newly_delivered);
        let lost = std::mem::take(&mut self.newly_lost);
        if delivered > 0 {
            self.delivered_at = now;
        }
        let rate = self.newest.take().and_then(|(sent, _)| {
            self.first_sent = sent.at;
            let Sent { at, state } = sent;
            // Sending and acknowledging are two phases, of which the longer one shows the rate.
            let interval = at.since(state.first_sent).max(now.since(state.delivered_at));
            let valid = interval.as_nanos() > 0 && min_rtt.is_none_or(|min| interval >= min);
            valid.then(|| DeliveryRate {
                sent: state,
                delivered: self.delivered - state.delivered,
                lost: self.lost.saturating_sub(state.lost),
                interval,
            })
        });
        (delivered, lost, rate)
    }

    /// Renumbers segments after some were split.
    pub(super) fn renumber(&mut self, numbers: &Renumbered) {
        let before = std::mem::take(&mut self.sent);
        let base = self.base;
        self.base = numbers.first(base);
        for (old, sent) in (base..).zip(before) {
            let pieces = numbers.first(old + 1) - numbers.first(old);
            self.sent.extend((0..pieces).map(|_| sent));
        }
        for suspected in &mut self.suspected {
            suspected.segment = numbers.first(suspected.segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    const RTT: Option<Duration> = Some(Duration::from_millis(100));

    #[test]
    fn the_rate_is_what_was_delivered_from_transmission_to_acknowledgement() {
        let mut sampler = RateSampler::default();
        // Ten segments, 10 ms apart, and a round trip of 100 ms.
        for n in 0..10 {
            sampler.on_sent(n, n == 0, n as u32 + 1, at(10 * n));
        }
        sampler.on_delivered(0);
        let (delivered, lost, rate) = sampler.sample(1, RTT, at(100));
        let rate = rate.expect("a round trip has passed");
        assert_eq!((delivered, lost, rate.delivered), (1, 0, 1));
        assert_eq!(rate.interval, Duration::from_millis(100));
        assert!(rate.sent.app_limited, "the application had nothing to send before");
        sampler.on_delivered(1);
        sampler.sample(2, RTT, at(110));
        sampler.on_sent(10, false, 9, at(110));
        for n in 2..10 {
            sampler.on_delivered(n);
            sampler.sample(n + 1, RTT, at(100 + 10 * n));
        }
        sampler.on_delivered(10);
        let (_, _, rate) = sampler.sample(11, RTT, at(210));
        let rate = rate.expect("a round trip has passed");
        assert_eq!((rate.delivered, rate.sent.delivered), (9, 2));
        assert_eq!(rate.per_second(), 90.0);
        assert!(!rate.sent.app_limited);
    }

    #[test]
    fn a_burst_of_acknowledgements_does_not_exceed_the_rate_of_sending() {
        let mut sampler = RateSampler::default();
        for n in 0..11 {
            sampler.on_sent(n, n == 0, n as u32 + 1, at(20 * n));
        }
        sampler.on_delivered(0);
        sampler.sample(1, RTT, at(290));
        // All others arrive together, 10 ms later. They were sent in 200 ms.
        (1..11).for_each(|n| sampler.on_delivered(n));
        let (_, _, rate) = sampler.sample(11, RTT, at(300));
        let rate = rate.expect("a round trip has passed");
        assert_eq!((rate.delivered, rate.interval), (11, Duration::from_millis(300)));
    }

    #[test]
    fn an_interval_below_the_minimum_round_trip_time_gives_no_rate() {
        let mut sampler = RateSampler::default();
        sampler.on_sent(0, true, 1, at(0));
        sampler.on_delivered(0);
        assert_eq!(sampler.sample(1, RTT, at(99)), (1, 0, None));
    }

    #[test]
    fn a_late_segment_is_a_sample_of_its_own_delivery() {
        let mut sampler = RateSampler::default();
        // Segments 0 to 9, 10 ms apart; 0 comes 250 ms late, after all others.
        for n in 0..10 {
            sampler.on_sent(n, n == 0, n as u32 + 1, at(10 * n));
        }
        for n in 1..10 {
            sampler.on_delivered(n);
            sampler.sample(0, RTT, at(100 + 10 * n));
        }
        sampler.on_delivered(0);
        let (_, lost, rate) = sampler.sample(10, RTT, at(350));
        let rate = rate.expect("a round trip has passed");
        // Ten segments came in the 350 ms after it was sent, and none is lost.
        assert_eq!((lost, rate.delivered, rate.interval), (0, 10, Duration::from_millis(350)));
    }

    #[test]
    fn a_confirmed_suspicion_counts_as_lost_and_a_refuted_one_does_not() {
        let mut sampler = RateSampler::default();
        for n in 0..4 {
            sampler.on_sent(n, n == 0, n as u32 + 1, at(n));
        }
        sampler.on_suspected(0);
        sampler.on_sent(0, false, 4, at(150));
        sampler.on_suspected(2);
        sampler.on_sent(2, false, 4, at(151));
        // Segment 0 was late. The suspected transmission of 2 had three segments in flight.
        let lost = sampler.on_confirmed(2).expect("was recorded");
        assert_eq!((lost.sent.in_flight, lost.lost_total), (3, 1));
        assert!(sampler.suspected.is_empty());
        assert_eq!(sampler.sample(0, RTT, at(160)).1, 1);
        sampler.on_refuted();
        assert_eq!(sampler.lost(), 0);
    }

    #[test]
    fn the_pieces_of_a_segment_have_its_record() {
        let mut sampler = RateSampler::default();
        for n in 0..3 {
            sampler.on_sent(n, n == 0, n as u32 + 1, at(n));
        }
        // Segment 1 becomes 1, 2 and 3.
        sampler.renumber(&Renumbered::new(0, vec![0, 1, 4, 5]));
        assert_eq!(sampler.sent.len(), 5);
        assert_eq!(sampler.record(3).map(|sent| sent.state.in_flight), Some(2));
        assert_eq!(sampler.record(4).map(|sent| sent.state.in_flight), Some(3));
    }

    /// Segment 3 is suspected twice. Its first suspicion and that of segment 2 are decided.
    #[test]
    fn decided_suspicions_are_discarded() {
        let mut sampler = RateSampler::default();
        for n in 0..4 {
            sampler.on_sent(n, n == 0, n as u32 + 1, at(10 * n));
        }
        for n in [3, 2] {
            sampler.on_suspected(n);
            sampler.on_sent(n, false, 4, at(100 + n));
        }
        sampler.on_suspected(3);
        sampler.discard_decided(Some((3, at(103))));
        assert_eq!(sampler.suspected.len(), 1);
        let lost = sampler.on_confirmed(3).expect("was recorded");
        assert_eq!((lost.number, lost.sent.in_flight), (3, 4));
        sampler.on_suspected(3);
        sampler.discard_decided(None);
        assert!(sampler.suspected.is_empty());
    }
}
