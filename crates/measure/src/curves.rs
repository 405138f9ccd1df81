//! Time series with one point per interval.

use unruffled_tcp::Event;
use unruffled_units::{Duration, Instant};

use crate::{End, Quantity, Series};

/// A time series in progress.
#[derive(Clone, Debug)]
pub(crate) struct GrowingSeries {
    subject: String,
    quantity: Quantity,
    points: Vec<(f64, f64)>,
    /// End of the current interval.
    due: Instant,
    /// Octets delivered in the current interval, for goodput.
    octets: u64,
}

/// Time series of flows that a run was configured to keep.
#[derive(Clone, Debug)]
pub(crate) struct Curves {
    interval: Duration,
    /// Octets in the segments of each source, and its time series.
    sources: Vec<(f64, Vec<GrowingSeries>)>,
}

impl Curves {
    /// Creates the time series of `quantities` for sources with these names and octets per segment.
    /// Quantities of links are ignored. Returns `None` if no quantity is left.
    pub(crate) fn new(
        quantities: &[Quantity],
        interval: Duration,
        sources: impl Iterator<Item = (String, u32)>,
    ) -> Option<Self> {
        let of_flows = || quantities.iter().filter(|q| **q != Quantity::Queue);
        of_flows().next()?;
        let curves = |subject: &str| of_flows().map(|&q| GrowingSeries::new(subject, q)).collect();
        let sources = sources.map(|(subject, mss)| (f64::from(mss), curves(&subject)));
        Some(Self { interval, sources: sources.collect() })
    }

    /// Records an event of a source. `delivery` is the delivery time of the segment that arrived.
    pub(crate) fn event(
        &mut self,
        source: usize,
        (end, now, event): (End, Instant, &Event),
        delivery: Option<Duration>,
    ) {
        let interval = self.interval;
        let Some((mss, curves)) = self.sources.get_mut(source) else { return };
        for curve in curves {
            match (curve.quantity, end, *event) {
                (Quantity::Goodput, End::Receiver, Event::Delivered { len }) => {
                    curve.deliver(now, interval, len);
                }
                (Quantity::Srtt, End::Sender, Event::Acknowledged { srtt: Some(srtt), .. }) => {
                    curve.sample(now, interval, srtt.as_secs_f64());
                }
                (
                    Quantity::Cwnd,
                    End::Sender,
                    Event::Acknowledged { cwnd, .. }
                    | Event::Timeout { cwnd }
                    | Event::EcnReduction { cwnd },
                ) => {
                    curve.sample(now, interval, cwnd);
                }
                (Quantity::Sequence, End::Sender, Event::Sent { offset, len: 1.., .. }) => {
                    curve.sample(now, interval, offset as f64 / *mss);
                }
                (Quantity::Delivery, End::Receiver, Event::Arrived { duplicate: false, .. }) => {
                    if let Some(time) = delivery {
                        curve.sample(now, interval, time.as_secs_f64());
                    }
                }
                _ => {}
            }
        }
    }

    /// Records the arrival of a packet without TCP with `octets` octets of payload.
    pub(crate) fn datagram(&mut self, source: usize, now: Instant, octets: u32) {
        let interval = self.interval;
        let curves = self.sources.get_mut(source).into_iter().flat_map(|(_, curves)| curves);
        for curve in curves.filter(|curve| curve.quantity == Quantity::Goodput) {
            curve.deliver(now, interval, u64::from(octets));
        }
    }

    /// Returns the time series of a run that ended at `end`.
    pub(crate) fn into_series(self, end: Instant) -> Vec<Series> {
        let interval = self.interval;
        let curves = self.sources.into_iter().flat_map(|(_, curves)| curves);
        let series = curves.map(|mut curve| {
            if curve.quantity == Quantity::Goodput {
                curve.close_intervals(end, interval);
            }
            curve.into_series()
        });
        series.collect()
    }
}

impl GrowingSeries {
    pub(crate) fn new(subject: &str, quantity: Quantity) -> Self {
        let subject = subject.to_owned();
        Self { subject, quantity, points: Vec::new(), due: Instant::ZERO, octets: 0 }
    }

    pub(crate) fn into_series(self) -> Series {
        Series { subject: self.subject, quantity: self.quantity, points: self.points }
    }

    /// Records a value if it is the first in its interval.
    pub(crate) fn sample(&mut self, now: Instant, interval: Duration, value: f64) {
        if now >= self.due {
            self.points.push((now.as_secs_f64(), value));
            self.due = now + interval;
        }
    }

    /// Records `octets` octets of goodput.
    fn deliver(&mut self, now: Instant, interval: Duration, octets: u64) {
        self.close_intervals(now, interval);
        self.octets += octets;
    }

    /// Closes all intervals that end by `now`, each with the goodput in it.
    fn close_intervals(&mut self, now: Instant, interval: Duration) {
        if interval == Duration::ZERO {
            return;
        }
        if self.due == Instant::ZERO {
            self.due = Instant::ZERO + interval;
        }
        while self.due <= now {
            let bits = self.octets as f64 * 8.0;
            self.points.push((self.due.as_secs_f64(), bits / interval.as_secs_f64()));
            self.octets = 0;
            self.due += interval;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goodput_covers_one_interval_per_point() {
        let sources = [("bulk-1".to_owned(), 1000)].into_iter();
        let quantities = [Quantity::Goodput, Quantity::Queue];
        let curves = Curves::new(&quantities, Duration::from_secs(1), sources);
        let mut curves = curves.expect("goodput is a quantity of flows");
        let mut delivered = |ms, len| {
            let event = (End::Receiver, Instant::from_millis(ms), &Event::Delivered { len });
            curves.event(0, event, None);
        };
        delivered(100, 1000);
        delivered(900, 1000);
        delivered(2500, 500);
        let series = curves.into_series(Instant::from_millis(3000));
        assert_eq!(series[0].subject, "bulk-1");
        assert_eq!(series[0].points, [(1.0, 16_000.0), (2.0, 0.0), (3.0, 4_000.0)]);
    }

    #[test]
    fn a_fin_is_not_part_of_the_sequence() {
        let sources = [("bulk-1".to_owned(), 1000)].into_iter();
        let curves = Curves::new(&[Quantity::Sequence], Duration::ZERO, sources);
        let mut curves = curves.expect("sequence is a quantity of flows");
        for (ms, offset, len) in [(1, 0, 1000), (2, 1000, 0)] {
            let event = Event::Sent { offset, len, cause: None };
            curves.event(0, (End::Sender, Instant::from_millis(ms), &event), None);
        }
        let series = curves.into_series(Instant::from_millis(3));
        assert_eq!(series[0].points, [(0.001, 0.0)]);
    }
}
