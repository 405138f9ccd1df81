//! Counts what one direction of a link does.

use unruffled_path::{DropCause, Verdict};
use unruffled_units::{Duration, Instant, Rate};

use crate::{Crossing, LinkRecord, share};

/// What is counted of a link between two instants.
#[derive(Clone, Debug)]
pub(crate) struct LinkMeter {
    name: String,
    rate: Option<Rate>,
    measured: (Instant, Instant),
    counts: LinkRecord,
    /// Time that packets waited within the measured time; over that time it is the mean number that
    /// wait (Little's law).
    waited: Duration,
}

impl LinkMeter {
    pub(crate) fn new(name: String, rate: Option<Rate>, measured: (Instant, Instant)) -> Self {
        Self { name, rate, measured, counts: LinkRecord::default(), waited: Duration::ZERO }
    }

    pub(crate) fn crossed(&mut self, crossing: &Crossing<'_>) {
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
    pub(crate) fn record(&self, end: Instant) -> LinkRecord {
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
