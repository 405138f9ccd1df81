//! How long segments take from their first transmission to their first arrival.

use std::collections::VecDeque;

use unruffled_tcp::Event;
use unruffled_units::{Duration, Instant};

use crate::End;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
struct Underway {
    offset: u64,
    sent: Instant,
    resent: bool,
    arrived: bool,
}

/// Times the segments of one connection after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deliveries {
    /// In the order of the stream; the first has not arrived.
    underway: VecDeque<Underway>,
    /// Sum and number of the times of segments sent once, and of those sent again.
    once: (f64, u64),
    resent: (f64, u64),
    last: Option<Duration>,
}

impl Deliveries {
    pub(crate) fn restart(&mut self) {
        self.underway.clear();
    }

    pub(crate) fn event(&mut self, end: End, now: Instant, event: &Event, measured: bool) {
        match (end, *event) {
            (End::Sender, Event::Sent { offset, cause: None, .. }) => {
                let segment = Underway { offset, sent: now, resent: false, arrived: false };
                self.underway.push_back(segment);
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

    fn find(&mut self, offset: u64) -> Option<&mut Underway> {
        let at = self.underway.binary_search_by_key(&offset, |segment| segment.offset).ok()?;
        self.underway.get_mut(at)
    }

    fn arrived(&mut self, offset: u64, now: Instant, measured: bool) {
        self.last = None;
        let Some(segment) = self.find(offset).filter(|segment| !segment.arrived) else { return };
        segment.arrived = true;
        let (time, resent) = (now.since(segment.sent), segment.resent);
        if measured {
            let sum = if resent { &mut self.resent } else { &mut self.once };
            *sum = (sum.0 + time.as_secs_f64(), sum.1 + 1);
            self.last = Some(time);
        }
        while self.underway.front().is_some_and(|segment| segment.arrived) {
            self.underway.pop_front();
        }
    }

    /// The time of the segment that arrived last, if it was its first arrival.
    pub(crate) fn last(&self) -> Option<Duration> {
        self.last
    }

    /// Mean times in seconds: of segments sent once, and of those sent again.
    pub(crate) fn means(&self) -> (Option<f64>, Option<f64>) {
        let mean = |(sum, n): (f64, u64)| (n > 0).then(|| sum / n as f64);
        (mean(self.once), mean(self.resent))
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
        assert_eq!(deliveries.means(), (Some(0.05), Some(0.25)));
    }
}
