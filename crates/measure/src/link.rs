//! Counts what the links do.

use unruffled_path::{DropCause, Verdict};
use unruffled_units::{Duration, Instant, Rate};

use crate::curves::GrowingSeries;
use crate::{Crossing, LinkId, LinkRecord, Measurement, Monitor, Quantity, Series, share};

/// Counts each direction of each link that the plan names: a monitor to put beside a
/// [`Meter`](crate::Meter), as a pair. By default there are none.
#[derive(Clone, Debug, Default)]
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
            waited: 0,
            busy: Duration::ZERO,
            idle_from: Instant::ZERO,
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
    fn watches_links(&self) -> bool {
        !self.links.is_empty()
    }

    #[inline]
    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        let interval = self.interval;
        let Some(link) = self.links.get_mut(link.0 as usize) else { return };
        link.crossed(crossing);
        if let Some(queue) = &mut link.queue
            && !crossing.again
        {
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
    /// Nanoseconds that packets waited within the measured time; over that time it is the mean number
    /// that wait (Little's law). Millions that wait for hours are more than a span can hold.
    waited: u128,
    /// Time that packets took to be sent within the measured time.
    busy: Duration,
    /// When the last packet that was offered has been sent.
    idle_from: Instant,
    queue: Option<GrowingSeries>,
}

impl LinkMeter {
    fn crossed(&mut self, crossing: &Crossing<'_>) {
        let (from, until) = self.measured;
        let &Crossing { at, outcome, size, again, .. } = crossing;
        // A packet may begin to wait, or to be sent, before the measured time and end after it.
        let begun = at + outcome.waited;
        self.waited += u128::from(begun.min(until).since(at.max(from)).as_nanos());
        let counts = &mut self.counts;
        let measured = |at| (from..until).contains(&at);
        counts.offered_packets += u64::from(!again && measured(at));
        if outcome.verdict == Verdict::Drop(DropCause::Queue) {
            counts.dropped_packets += u64::from(measured(at));
            return;
        }
        if outcome.verdict == Verdict::Drop(DropCause::Loss) {
            counts.lost_packets += u64::from(measured(at));
        }
        if measured(outcome.departed) {
            counts.sent_bytes += u64::from(size);
        }
        self.busy += outcome.departed.min(until).since(begun.max(from));
        // What is sent again may be told of after those that are sent behind it.
        self.idle_from = self.idle_from.max(outcome.departed);
    }

    /// What was counted, once the run has ended at `end`.
    fn record(&self, end: Instant) -> LinkRecord {
        let (from, until) = self.measured;
        let end = end.min(until);
        let seconds = end.since(from).as_secs_f64();
        // What is left at the end would be sent without a gap.
        let left = self.idle_from.min(until).since(end.max(from));
        let busy = self.busy.saturating_sub(left).as_secs_f64();
        LinkRecord {
            name: self.name.clone(),
            drop_rate: share(self.counts.dropped_packets, self.counts.offered_packets),
            utilisation: self.rate.map(|_| busy / seconds),
            queue_mean: self.waited as f64 / 1e9 / seconds,
            ..self.counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use unruffled_path::{Applies, Direction, Impairment, Link, LinkConfig, Outcome};

    use super::*;
    use crate::FlowId;

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Offers 1000 octets at these milliseconds to a link that sends them in 2 ms, and measures it
    /// from 5 to 25 ms, or to `end`.
    fn record(arrivals: impl IntoIterator<Item = u64>, end: Instant) -> LinkRecord {
        let rate = Rate::from_bps(4e6);
        let config = LinkConfig { rate, queue: Some(20), ..LinkConfig::default() };
        let mut link = Link::new(&config, Direction::Forward, 1).expect("a good link");
        let mut meters = meters();
        for ms in arrivals {
            let outcome = link.offer(1000, Direction::Forward, at(ms));
            cross(&mut meters, at(ms), false, &outcome);
        }
        meters.records(end).0.remove(0)
    }

    #[test]
    fn what_waits_is_counted_when_it_is_sent() {
        // 20 of 30 are admitted: those that leave from 6 to 24 ms, of which the first began before.
        let before = record([0; 30], at(25));
        assert_eq!((before.offered_packets, before.dropped_packets), (0, 0));
        assert_eq!((before.sent_bytes, before.utilisation), (10_000, Some(1.0)));
        // The fifth leaves at 25 ms, when it is too late to count.
        let within = record([15; 20], at(25));
        assert_eq!((within.offered_packets, within.dropped_packets), (20, 0));
        assert_eq!((within.sent_bytes, within.utilisation), (4_000, Some(0.5)));
        let apart = record([3, 4, 10, 20], at(25));
        assert_eq!((apart.offered_packets, apart.sent_bytes), (2, 4_000));
        assert_eq!(apart.utilisation, Some(0.3));
    }

    #[test]
    fn what_is_left_at_the_end_keeps_no_link_busy() {
        assert_eq!(record([0; 20], at(15)).utilisation, Some(1.0));
        assert_eq!(record([10; 20], at(15)).utilisation, Some(0.5));
        assert_eq!(record([6, 8], at(15)).utilisation, Some(0.4));
    }

    /// A link that sends 1000 octets in 2 ms, measured from 5 to 25 ms.
    fn meters() -> LinkMeters {
        LinkMeters::new(&Measurement {
            links: vec![("bottleneck".to_owned(), Rate::from_bps(4e6))],
            measured: (at(5), at(25)),
            ..Measurement::default()
        })
    }

    fn cross(meters: &mut LinkMeters, at: Instant, again: bool, outcome: &Outcome) {
        let crossing = Crossing { flow: FlowId(0), at, size: 1000, backlog: 1, again, outcome };
        meters.crossed(LinkId(0), &crossing);
    }

    /// What was damaged is sent before those that came while it could not be, and told of after them.
    #[test]
    fn what_is_sent_again_does_not_end_what_is_left() {
        let (applies, after) = (Applies::Both, Duration::from_millis(9));
        let resend = Impairment::Resend { errors: 1.0, after, attempts: Some(9), applies };
        let impairment = Box::new(resend);
        let first = Impairment::During { from: at(0), until: at(1), impairment };
        let config = LinkConfig {
            rate: Rate::from_bps(4e6),
            impairments: vec![first],
            ..LinkConfig::default()
        };
        let mut link = Link::new(&config, Direction::Forward, 1).expect("a good link");
        let mut meters = meters();
        let damaged = link.offer(1000, Direction::Forward, at(0));
        cross(&mut meters, at(0), false, &damaged);
        let Verdict::Held { until, ticket } = damaged.verdict else { panic!("{damaged:?}") };
        for _ in 0..5 {
            let outcome = link.offer(1000, Direction::Forward, at(6));
            cross(&mut meters, at(6), false, &outcome);
        }
        let again = link.resume(ticket).expect("is held");
        cross(&mut meters, until, true, &again);
        // Busy from 6 to 18 ms, of which 6 to 15 count.
        let busy = meters.records(at(15)).0[0].utilisation.expect("it has a rate");
        assert!((busy - 0.9).abs() < 1e-9, "{busy}");
    }

    #[test]
    fn nine_million_packets_may_wait_for_hours() {
        const PACKETS: u64 = 9_000_000;
        let mut meters = LinkMeters::new(&Measurement {
            links: vec![("bottleneck".to_owned(), Rate::from_bps(8e6))],
            measured: (at(0), at(PACKETS)),
            ..Measurement::default()
        });
        // All at once, each sent in a millisecond.
        for n in 0..PACKETS {
            let (waited, departed) = (Duration::from_millis(n), at(n + 1));
            let verdict = Verdict::Deliver(departed);
            let outcome = Outcome { verdict, duplicate: false, detoured: false, waited, departed };
            cross(&mut meters, at(0), false, &outcome);
        }
        assert_eq!(meters.records(at(PACKETS)).0[0].queue_mean, (PACKETS - 1) as f64 / 2.0);
    }
}
