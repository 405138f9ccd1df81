//! Delivery times: from the first transmission of a segment to its first arrival.

use std::collections::VecDeque;

use unruffled_tcp::Event;
use unruffled_units::{Duration, Instant};

use crate::End;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
struct SentSegment {
    offset: u64,
    sent: Instant,
    resent: bool,
    arrived: bool,
}

/// Delivery times of a source, which opens one connection after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deliveries {
    /// Segments in the order of the stream, from the first that has not arrived.
    segments: VecDeque<SentSegment>,
    /// Times of segments that were sent once.
    once: Sum,
    /// Times of segments that were retransmitted.
    resent: Sum,
    last: Option<Duration>,
}

/// Sum of times, in seconds, and their number.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    seconds: f64,
    count: u64,
}

impl Sum {
    fn add(&mut self, time: Duration) {
        self.seconds += time.as_secs_f64();
        self.count += 1;
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.seconds / self.count as f64)
    }
}

impl Deliveries {
    /// Begins a new connection.
    pub(crate) fn restart(&mut self) {
        self.segments.clear();
    }

    /// Records an event; delivery times count only if `measured` is set.
    pub(crate) fn event(&mut self, end: End, now: Instant, event: &Event, measured: bool) {
        match (end, *event) {
            (End::Sender, Event::Sent { offset, cause: None, .. }) => {
                let segment = SentSegment { offset, sent: now, resent: false, arrived: false };
                self.segments.push_back(segment);
            }
            (End::Sender, Event::Sent { offset, cause: Some(_), .. }) => {
                if let Some(segment) = self.find(offset) {
                    segment.resent = true;
                }
            }
            (End::Receiver, Event::Arrived { offset, duplicate: false, .. }) => {
                self.arrived(offset, now, measured);
            }
            _ => {}
        }
    }

    fn find(&mut self, offset: u64) -> Option<&mut SentSegment> {
        let at = self.segments.binary_search_by_key(&offset, |segment| segment.offset).ok()?;
        self.segments.get_mut(at)
    }

    fn arrived(&mut self, offset: u64, now: Instant, measured: bool) {
        self.last = None;
        let Some(segment) = self.find(offset).filter(|segment| !segment.arrived) else { return };
        segment.arrived = true;
        let time = now.since(segment.sent);
        let resent = segment.resent;
        if measured {
            let sum = if resent { &mut self.resent } else { &mut self.once };
            sum.add(time);
            self.last = Some(time);
        }
        while self.segments.front().is_some_and(|segment| segment.arrived) {
            self.segments.pop_front();
        }
    }

    /// Returns the delivery time of the last arrival, if it was the first of its segment.
    pub(crate) fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Returns the mean time of segments that were sent once, in seconds.
    pub(crate) fn mean_once(&self) -> Option<f64> {
        self.once.mean()
    }

    /// Returns the mean time of segments that were retransmitted, in seconds.
    pub(crate) fn mean_resent(&self) -> Option<f64> {
        self.resent.mean()
    }
}

#[cfg(test)]
mod tests {
    use unruffled_tcp::Cause;

    use super::*;

    #[test]
    fn a_segment_is_timed_from_its_first_transmission_to_its_first_arrival() {
        let mut deliveries = Deliveries::default();
        let mut at = |ms, end, event| {
            deliveries.event(end, Instant::from_millis(ms), &event, true);
        };
        let sent = |offset, cause| Event::Sent { offset, len: 1000, cause };
        let arrived = |offset, duplicate| Event::Arrived { offset, len: 1000, duplicate };
        at(0, End::Sender, sent(0, None));
        at(10, End::Sender, sent(1000, None));
        at(60, End::Receiver, arrived(1000, false));
        at(200, End::Sender, sent(0, Some(Cause::Timeout)));
        at(250, End::Receiver, arrived(0, false));
        at(260, End::Receiver, arrived(0, true));
        assert_eq!(deliveries.mean_once(), Some(0.05));
        assert_eq!(deliveries.mean_resent(), Some(0.25));
    }
}
