//! Counts what the links do.

use unruffled_path::{DropCause, Verdict};
use unruffled_units::{Duration, Instant, Rate};

use crate::curves::GrowingSeries;
use crate::{Crossing, LinkId, LinkRecord, Measurement, Monitor, Quantity, Series, share};

/// Counts each direction of each link that the plan names: a monitor to put beside a
/// [`Meter`](crate::Meter), as a pair.
#[derive(Clone, Debug)]
pub struct LinkMeters {
    links: Vec<LinkMeter>,
    interval: Duration,
}

impl LinkMeters {
    /// Measures what `plan` says of links.
    pub fn new(plan: &Measurement) -> Self {
        let queues = plan.series.contains(&Quantity::Queue);
        let link = |(name, rate): &(String, _)| LinkMeter {
            queue: queues.then(|| GrowingSeries::new(name, Quantity::Queue)),
            name: name.clone(),
            rate: *rate,
            measured: plan.measured,
            counts: LinkRecord::default(),
            waited: Duration::ZERO,
        };
        Self { links: plan.links.iter().map(link).collect(), interval: plan.interval }
    }

    /// What was counted, once the run has ended at `end`, and the series.
    pub fn records(self, end: Instant) -> (Vec<LinkRecord>, Vec<Series>) {
        let records = self.links.iter().map(|link| link.record(end)).collect();
        let curves = self.links.into_iter().filter_map(|link| link.queue);
        (records, curves.map(GrowingSeries::into_series).collect())
    }
}

impl Monitor for LinkMeters {
    #[inline]
    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        let interval = self.interval;
        let Some(link) = self.links.get_mut(link.0 as usize) else { return };
        link.crossed(crossing);
        if let Some(queue) = &mut link.queue {
            queue.sample(crossing.at, interval, crossing.backlog as f64);
        }
    }
}

/// What is counted of a link between two instants.
#[derive(Clone, Debug)]
struct LinkMeter {
    name: String,
    rate: Option<Rate>,
    measured: (Instant, Instant),
    counts: LinkRecord,
    /// Time that packets waited within the measured time; over that time it is the mean number that
    /// wait (Little's law).
    waited: Duration,
    queue: Option<GrowingSeries>,
}

impl LinkMeter {
    fn crossed(&mut self, crossing: &Crossing<'_>) {
        let (from, until) = self.measured;
        let &Crossing { at, outcome, size, .. } = crossing;
        // A packet may begin to wait before the measured time and end after it.
        let begun = (at + outcome.waited).min(until);
        self.waited += begun.since(at.max(from));
        if at < from || at >= until {
            return;
        }
        let counts = &mut self.counts;
        counts.offered_packets += 1;
        match outcome.verdict {
            Verdict::Drop(DropCause::Queue) => counts.dropped_packets += 1,
            Verdict::Drop(DropCause::Loss) => {
                counts.lost_packets += 1;
                counts.sent_bytes += u64::from(size);
            }
            _ => counts.sent_bytes += u64::from(size),
        }
    }

    /// What was counted, once the run has ended at `end`.
    fn record(&self, end: Instant) -> LinkRecord {
        let seconds = end.min(self.measured.1).since(self.measured.0).as_secs_f64();
        let bits = self.counts.sent_bytes as f64 * 8.0;
        LinkRecord {
            name: self.name.clone(),
            drop_rate: share(self.counts.dropped_packets, self.counts.offered_packets),
            utilisation: self.rate.map(|rate| bits / (rate.bps() * seconds)),
            queue_mean: self.waited.as_secs_f64() / seconds,
            ..self.counts.clone()
        }
    }
}
