//! Counters of links.

use unruffled_path::{DropCause, Verdict};
use unruffled_units::{Duration, Instant, Rate};

use crate::curves::GrowingSeries;
use crate::{Crossing, LinkId, LinkRecord, Measurement, Monitor, Quantity, Series, share};

/// Counters of each direction of each link in a [`Measurement`].
///
/// A pair of this and a [`Meter`](crate::Meter) is a monitor of both flows and links. The default has no
/// links.
#[derive(Clone, Debug, Default)]
pub struct LinkMeters {
    links: Vec<LinkMeter>,
    interval: Duration,
}

impl LinkMeters {
    /// Creates the counters of the links in `plan`.
    pub fn new(plan: &Measurement) -> Self {
        let queues = plan.series.contains(&Quantity::Queue);
        let link = |(name, rate): &(String, _)| LinkMeter {
            queue: queues.then(|| GrowingSeries::new(name, Quantity::Queue)),
            name: name.clone(),
            rate: *rate,
            measured: plan.measured,
            counts: LinkRecord::default(),
            waiting_ns: 0,
            busy: Duration::ZERO,
            idle_from: Instant::ZERO,
        };
        Self { links: plan.links.iter().map(link).collect(), interval: plan.interval }
    }

    /// Returns the records and the time series of a run that ended at `end`.
    pub fn records(self, end: Instant) -> (Vec<LinkRecord>, Vec<Series>) {
        let records = self.links.iter().map(|link| link.record(end)).collect();
        let curves = self.links.into_iter().filter_map(|link| link.queue);
        (records, curves.map(GrowingSeries::into_series).collect())
    }
}

impl Monitor for LinkMeters {
    fn watches(&self, link: LinkId) -> bool {
        (link.0 as usize) < self.links.len()
    }

    #[inline]
    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        let interval = self.interval;
        let Some(link) = self.links.get_mut(link.0 as usize) else { return };
        link.crossed(crossing);
        if let Some(queue) = &mut link.queue
            && !crossing.resent
        {
            queue.sample(crossing.at, interval, crossing.backlog as f64);
        }
    }

    fn rejected(&mut self, link: LinkId, now: Instant, cause: DropCause) {
        if let Some(link) = self.links.get_mut(link.0 as usize) {
            link.rejected(now, cause);
        }
    }
}

/// Counters of one direction of a link.
#[derive(Clone, Debug)]
struct LinkMeter {
    name: String,
    rate: Option<Rate>,
    /// Beginning and end of the measured time.
    measured: (Instant, Instant),
    counts: LinkRecord,
    /// Nanoseconds that packets waited within the measured time, in all. Divided by that time, it is the
    /// mean queue (Little's law). Millions of packets that wait for hours exceed 64 bits.
    waiting_ns: u128,
    /// Time within the measured time that the transmission of packets took.
    busy: Duration,
    /// Time at which the last packet offered has been sent.
    idle_from: Instant,
    queue: Option<GrowingSeries>,
}

impl LinkMeter {
    fn crossed(&mut self, crossing: &Crossing<'_>) {
        let (from, until) = self.measured;
        let &Crossing { at, outcome, size, resent, .. } = crossing;
        // The waiting and the transmission of a packet may begin before the measured time, and end after
        // it.
        let begun = at + outcome.waited;
        self.waiting_ns += u128::from(begun.min(until).since(at.max(from)).as_nanos());
        let counts = &mut self.counts;
        let measured = |at| (from..until).contains(&at);
        counts.offered_packets += u64::from(!resent && measured(at));
        if outcome.verdict == Verdict::Drop(DropCause::Queue) {
            counts.dropped_packets += u64::from(measured(at));
            return;
        }
        counts.marked_packets += u64::from(outcome.marked && measured(at));
        if outcome.verdict == Verdict::Drop(DropCause::Loss) {
            counts.lost_packets += u64::from(measured(at));
        }
        if measured(outcome.departed) {
            counts.sent_bytes += u64::from(size);
        }
        self.busy += outcome.departed.min(until).since(begun.max(from));
        // A packet that the link resends may be reported after those that it sends next.
        self.idle_from = self.idle_from.max(outcome.departed);
    }

    fn rejected(&mut self, now: Instant, cause: DropCause) {
        let (from, until) = self.measured;
        let counted = u64::from((from..until).contains(&now));
        match cause {
            DropCause::Queue | DropCause::Loss => {}
            DropCause::Replay => self.counts.replay_drops += counted,
            DropCause::Ranges => self.counts.range_drops += counted,
            DropCause::Fragments => self.counts.fragment_drops += counted,
        }
    }

    /// Returns the record of a run that ended at `end`.
    fn record(&self, end: Instant) -> LinkRecord {
        let (from, until) = self.measured;
        let end = end.min(until);
        let seconds = end.since(from).as_secs_f64();
        // Packets left at the end would be sent without gaps after it.
        let left = self.idle_from.min(until).since(end.max(from));
        let busy = self.busy.saturating_sub(left).as_secs_f64();
        LinkRecord {
            name: self.name.clone(),
            drop_rate: share(self.counts.dropped_packets, self.counts.offered_packets),
            utilisation: self.rate.map(|_| busy / seconds),
            queue_mean: self.waiting_ns as f64 / 1e9 / seconds,
            ..self.counts.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use unruffled_path::{Applies, Direction, Impairment, Link, LinkConfig, Outcome};

    use super::*;
    use crate::{FlowId, PacketId};

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Offers packets at these milliseconds to a link that sends one in 2 ms; returns the record from
    /// 5 ms to 25 ms or `end`, whichever is earlier.
    fn record(arrivals: impl IntoIterator<Item = u64>, end: Instant) -> LinkRecord {
        let rate = Rate::from_bps(4e6);
        let config = LinkConfig { rate, queue: Some(20), ..LinkConfig::default() };
        let mut link = Link::new(&config, Direction::Forward, 1).expect("a valid link");
        let mut meters = meters();
        for ms in arrivals {
            let outcome = link.offer(1000, Direction::Forward, at(ms));
            cross(&mut meters, at(ms), false, &outcome);
        }
        meters.records(end).0.remove(0)
    }

    #[test]
    fn packets_count_when_they_are_sent() {
        // The queue accepts 20 of 30. Those sent from 4 to 24 ms count, the first of them in part.
        let before = record([0; 30], at(25));
        assert_eq!((before.offered_packets, before.dropped_packets), (0, 0));
        assert_eq!((before.sent_bytes, before.utilisation), (10_000, Some(1.0)));
        // The fifth leaves at 25 ms, which is too late to count.
        let within = record([15; 20], at(25));
        assert_eq!((within.offered_packets, within.dropped_packets), (20, 0));
        assert_eq!((within.sent_bytes, within.utilisation), (4_000, Some(0.5)));
        let apart = record([3, 4, 10, 20], at(25));
        assert_eq!((apart.offered_packets, apart.sent_bytes), (2, 4_000));
        assert_eq!(apart.utilisation, Some(0.3));
    }

    #[test]
    fn packets_left_at_the_end_do_not_count_as_busy_time() {
        assert_eq!(record([0; 20], at(15)).utilisation, Some(1.0));
        assert_eq!(record([10; 20], at(15)).utilisation, Some(0.5));
        assert_eq!(record([6, 8], at(15)).utilisation, Some(0.4));
    }

    /// Returns the counters of a link of 4 Mbit/s, measured from 5 to 25 ms.
    fn meters() -> LinkMeters {
        LinkMeters::new(&Measurement {
            links: vec![("bottleneck".to_owned(), Rate::from_bps(4e6))],
            measured: (at(5), at(25)),
            ..Measurement::default()
        })
    }

    fn cross(meters: &mut LinkMeters, at: Instant, resent: bool, outcome: &Outcome) {
        let (packet, flow) = (PacketId(0), FlowId(0));
        let crossing = Crossing { packet, flow, at, size: 1000, backlog: 1, resent, outcome };
        meters.crossed(LinkId(0), &crossing);
    }

    /// The link resends a damaged packet before five that arrive in the meantime, but reports it after
    /// them.
    #[test]
    fn a_resent_packet_does_not_shorten_the_busy_time() {
        let resend = Impairment::Resend {
            errors: 1.0,
            after: Duration::from_millis(9),
            attempts: Some(9),
            applies: Applies::Both,
        };
        let impairment = Box::new(resend);
        let first = Impairment::During { from: at(0), until: at(1), impairment };
        let config = LinkConfig {
            rate: Rate::from_bps(4e6),
            impairments: vec![first],
            ..LinkConfig::default()
        };
        let mut link = Link::new(&config, Direction::Forward, 1).expect("a valid link");
        let mut meters = meters();
        let damaged = link.offer(1000, Direction::Forward, at(0));
        cross(&mut meters, at(0), false, &damaged);
        let Verdict::Held { until, ticket } = damaged.verdict else { panic!("{damaged:?}") };
        for _ in 0..5 {
            let outcome = link.offer(1000, Direction::Forward, at(6));
            cross(&mut meters, at(6), false, &outcome);
        }
        let again = link.resume(ticket).expect("the link holds the packet");
        cross(&mut meters, until, true, &again);
        // The link is busy from 6 to 18 ms, of which 6 to 15 ms count.
        let busy = meters.records(at(15)).0[0].utilisation.expect("the link has a rate");
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
        // All arrive at once, and each takes a millisecond to send.
        for n in 0..PACKETS {
            let departed = at(n + 1);
            let outcome = Outcome {
                verdict: Verdict::Deliver(departed),
                duplicate: false,
                detoured: false,
                marked: false,
                late_by: 0,
                waited: Duration::from_millis(n),
                departed,
            };
            cross(&mut meters, at(0), false, &outcome);
        }
        assert_eq!(meters.records(at(PACKETS)).0[0].queue_mean, (PACKETS - 1) as f64 / 2.0);
    }
}
