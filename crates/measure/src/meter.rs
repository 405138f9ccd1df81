//! Counters of the flows of a run, and the settings of a measurement.

use unruffled_path::DropCause;
use unruffled_tcp::{Event, Segment};
use unruffled_units::{Duration, Instant, Rate};

use crate::curves::Curves;
use crate::{End, FlowId, FlowMeter, FlowRecord, LinkId, Monitor, Passage, Quantity, Series};

/// Source of traffic, as its record names it.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSource {
    /// Name of its `[[traffic]]`.
    pub group: String,
    /// Number within the group, from 1 on.
    pub number: u32,
    /// Full name of the sender's variant, or `udp`.
    pub sender: String,
    /// Payload of a full segment, in octets.
    pub mss: u32,
    /// Start of its traffic.
    pub start: Instant,
    /// Whether its sender requests ECN.
    pub ecn: bool,
}

/// Settings of a measurement: what a [`Meter`] and [`LinkMeters`](crate::LinkMeters) count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Beginning and end of the measured time.
    pub measured: (Instant, Instant),
    /// Sources, by their numbers in [`Monitor::opened`].
    pub sources: Vec<MeasuredSource>,
    /// Names and rates of each direction of the links, by [`LinkId`](crate::LinkId).
    pub links: Vec<(String, Option<Rate>)>,
    /// Time series to keep.
    pub series: Vec<Quantity>,
    /// Time between the points of a time series.
    pub interval: Duration,
    /// Whether to measure the delivery time of each segment.
    pub deliveries: bool,
    /// Whether to count what far ends of links drop.
    pub exits: bool,
}

/// Flag on the source number of a flow that is not the latest of its source.
const PAST_FLOW: u32 = 1 << 31;

/// Counters of the flows of each source, for [`FlowRecord`]s.
///
/// ```
/// use unruffled_measure::{FlowId, Meter, Monitor, Passage, Measurement, MeasuredSource};
/// use unruffled_units::Instant;
///
/// let start = Instant::ZERO;
/// let end = Instant::from_millis(1_000);
/// let source = MeasuredSource {
///     group: "voice".to_owned(),
///     number: 1,
///     sender: "udp".to_owned(),
///     mss: 200,
///     start,
///     ecn: false,
/// };
/// let plan = Measurement { measured: (start, end), sources: vec![source], ..Measurement::default() };
/// let mut meter = Meter::new(plan);
/// meter.opened(FlowId(0), 0, start);
/// meter.datagram(FlowId(0), Passage::Out, start, 200);
/// let (records, _) = meter.records(end);
/// assert_eq!(records[0].sending.sent_segments, 1);
/// ```
#[derive(Clone, Debug)]
pub struct Meter {
    plan: Measurement,
    /// Counters of each source.
    flows: Vec<FlowMeter>,
    /// Source of each current flow, with [`PAST_FLOW`] if the source has opened another since.
    sources: Vec<u32>,
    /// Latest flow of each source.
    latest: Vec<u32>,
    curves: Option<Curves>,
    /// Whether delivery times or time series are kept.
    detailed: bool,
}

impl Meter {
    /// Creates the counters of the sources in `plan`.
    pub fn new(plan: Measurement) -> Self {
        let flow = || match FlowMeter::new(plan.measured.0) {
            flow if plan.deliveries => flow.with_deliveries(),
            flow => flow,
        };
        let sources = plan.sources.iter().map(|s| (format!("{}-{}", s.group, s.number), s.mss));
        let curves = Curves::new(&plan.series, plan.interval, sources);
        Self {
            flows: plan
                .sources
                .iter()
                .map(|source| flow().with_ecn(source.ecn).with_exits(plan.exits))
                .collect(),
            sources: Vec::new(),
            latest: vec![u32::MAX; plan.sources.len()],
            detailed: curves.is_some() || plan.deliveries,
            curves,
            plan,
        }
    }

    /// Returns the time at which the last octet of source number `source` was delivered, once a transfer
    /// is complete.
    pub fn finished(&self, source: u32) -> Option<Instant> {
        self.flows.get(source as usize).and_then(FlowMeter::finished)
    }

    /// Returns the records and the time series of a run that ended at `end`.
    pub fn records(mut self, end: Instant) -> (Vec<FlowRecord>, Vec<Series>) {
        let flows = self.flows.iter_mut().zip(&self.plan.sources).map(|(flow, source)| {
            let record = flow.record(end, source.start, source.mss);
            FlowRecord { group: source.group.clone(), sender: source.sender.clone(), ..record }
        });
        let flows = flows.collect();
        (flows, self.curves.map_or_else(Vec::new, |curves| curves.into_series(end)))
    }

    /// Updates delivery times and time series.
    ///
    /// The event is passed by value so that the fast path keeps it in registers.
    #[inline(never)]
    fn record_details(&mut self, source: usize, (end, now, event): (End, Instant, Event)) {
        let Some(flow) = self.flows.get_mut(source) else { return };
        flow.time_deliveries(end, now, &event);
        if let Some(curves) = &mut self.curves {
            curves.event(source, (end, now, &event), flow.last_delivery());
        }
    }

    /// Records an event of a connection that is not the latest of its source. Spurious retransmissions
    /// may arrive after the next connection has begun.
    #[inline(never)]
    fn past_event(&mut self, flow: FlowId, end: End, now: Instant, event: Event) {
        let source = self.source(flow);
        if let Some(flow) = self.flows.get_mut(source) {
            flow.past_event(end, now, &event);
        }
    }

    /// Returns the source of a flow.
    fn source(&self, flow: FlowId) -> usize {
        self.sources
            .get(flow.0 as usize)
            .map_or(usize::MAX, |&source| (source & !PAST_FLOW) as usize)
    }

    /// Returns the source of a flow that is its latest, else an index out of range.
    #[inline]
    fn source_of_latest(&self, flow: FlowId) -> usize {
        self.sources.get(flow.0 as usize).map_or(usize::MAX, |&source| source as usize)
    }
}

impl Monitor for Meter {
    fn opened(&mut self, flow: FlowId, source: u32, _now: Instant) {
        let slot = flow.0 as usize;
        if self.sources.len() <= slot {
            self.sources.resize(slot + 1, u32::MAX);
        }
        if let Some(latest) = self.latest.get_mut(source as usize) {
            let before = std::mem::replace(latest, flow.0);
            // The flow's number may belong to another source by now.
            if let Some(before) = self.sources.get_mut(before as usize).filter(|s| **s == source) {
                *before |= PAST_FLOW;
            }
        }
        self.sources[slot] = source;
        if let Some(flow) = self.flows.get_mut(source as usize) {
            flow.opened();
        }
    }

    // Inlined where the engine reports an event, this reduces to the few counters that the event changes.
    #[inline(always)]
    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        let source = self.source_of_latest(flow);
        let Some(flow) = self.flows.get_mut(source) else {
            return self.past_event(flow, end, now, *event);
        };
        flow.event(end, now, event);
        if self.detailed {
            self.record_details(source, (end, now, *event));
        }
    }

    fn watches(&self, _link: LinkId) -> bool {
        false
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        let source = self.source(flow);
        // Drops after several links are reported ahead of time.
        if let Some(flow) = self.flows.get_mut(source).filter(|_| now < self.plan.measured.1) {
            flow.dropped(now, cause, segment);
        }
    }

    fn marked(&mut self, flow: FlowId, now: Instant, segment: &Segment) {
        let source = self.source(flow);
        // Marks after several links are reported ahead of time.
        if let Some(flow) = self.flows.get_mut(source).filter(|_| now < self.plan.measured.1) {
            flow.marked(now, segment);
        }
    }

    fn transferred(&mut self, flow: FlowId, begun: Instant) {
        let source = self.source(flow);
        if let Some(flow) = self.flows.get_mut(source) {
            flow.transferred(begun);
        }
    }

    fn datagram(&mut self, flow: FlowId, passage: Passage, now: Instant, octets: u32) {
        let source = self.source(flow);
        let Some(flow) = self.flows.get_mut(source) else { return };
        match passage {
            Passage::Out => flow.datagram_sent(now),
            Passage::In => {
                flow.datagram_arrived(now, octets);
                if let Some(curves) = &mut self.curves {
                    curves.datagram(source, now, octets);
                }
            }
        }
    }
}
