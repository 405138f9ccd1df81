//! Counts what the flows of a run do, and what a run is to be measured of.

use unruffled_path::DropCause;
use unruffled_tcp::{Event, Segment};
use unruffled_units::{Duration, Instant, Rate};

use crate::curves::Curves;
use crate::{End, FlowId, FlowMeter, FlowRecord, Monitor, Passage, Quantity, Series};

/// A source of traffic, as it appears in the record; one for each in [`Measurement::sources`].
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSource {
    /// The name of its `[[traffic]]`.
    pub group: String,
    /// Which of the group it is, from 1 on.
    pub number: u32,
    /// Who sends: a variant's full name, or `udp`.
    pub sender: String,
    /// Octets of a segment's payload.
    pub mss: u32,
    /// When it starts.
    pub start: Instant,
}

/// What a run is to be measured of; tells a [`Meter`] and [`LinkMeters`](crate::LinkMeters) what to
/// count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurement {
    /// Nothing before the first instant is measured, nor after the second.
    pub measured: (Instant, Instant),
    /// The sources, by the numbers that [`Monitor::opened`] tells.
    pub sources: Vec<MeasuredSource>,
    /// Name and rate of each direction of each link to measure, by [`LinkId`](crate::LinkId).
    pub links: Vec<(String, Option<Rate>)>,
    /// Which time series to keep.
    pub series: Vec<Quantity>,
    /// The time between their points.
    pub interval: Duration,
    /// Whether to time each segment's delivery.
    pub deliveries: bool,
}

/// Marks the source of a flow that is not its latest: no source has such a number.
const PAST: u32 = 1 << 31;

/// Counts each source's flows: the monitor of a run whose [`FlowRecord`]s are wanted.
///
/// ```
/// use unruffled_measure::{FlowId, Meter, Monitor, Passage, Measurement, MeasuredSource};
/// use unruffled_units::Instant;
///
/// let (start, end) = (Instant::ZERO, Instant::from_millis(1_000));
/// let source = MeasuredSource {
///     group: "voice".to_owned(),
///     number: 1,
///     sender: "udp".to_owned(),
///     mss: 200,
///     start,
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
    /// By source.
    flows: Vec<FlowMeter>,
    /// The source of each flow that is there, and [`PAST`] besides where that has opened another since.
    sources: Vec<u32>,
    /// The flow that each source opened last.
    latest: Vec<u32>,
    curves: Option<Curves>,
    /// More is kept than counts.
    detailed: bool,
}

impl Meter {
    /// Measures what `plan` says.
    pub fn new(plan: Measurement) -> Self {
        let flow = || match FlowMeter::new(plan.measured.0) {
            flow if plan.deliveries => flow.with_deliveries(),
            flow => flow,
        };
        let sources = plan.sources.iter().map(|s| (format!("{}-{}", s.group, s.number), s.mss));
        let curves = Curves::new(&plan.series, plan.interval, sources);
        Self {
            flows: plan.sources.iter().map(|_| flow()).collect(),
            sources: Vec::new(),
            latest: vec![u32::MAX; plan.sources.len()],
            detailed: curves.is_some() || plan.deliveries,
            curves,
            plan,
        }
    }

    /// When the last octet of the source of that number was delivered, once a transfer is complete.
    pub fn finished(&self, source: u32) -> Option<Instant> {
        self.flows.get(source as usize).and_then(FlowMeter::finished)
    }

    /// What was counted, once the run has ended at `end`, and the series.
    pub fn records(mut self, end: Instant) -> (Vec<FlowRecord>, Vec<Series>) {
        let flows = self.flows.iter_mut().zip(&self.plan.sources).map(|(flow, source)| {
            let record = flow.record(end, source.start, source.mss);
            let (group, sender) = (source.group.clone(), source.sender.clone());
            FlowRecord { group, sender, ..record }
        });
        let flows = flows.collect();
        (flows, self.curves.map_or_else(Vec::new, |curves| curves.into_series(end)))
    }

    /// What costs more than counting. It takes the event by value: else each would have to be in memory.
    #[inline(never)]
    fn keep(&mut self, source: usize, (end, now, event): (End, Instant, Event)) {
        let Some(flow) = self.flows.get_mut(source) else { return };
        flow.time_deliveries(end, now, &event);
        if let Some(curves) = &mut self.curves {
            curves.event(source, (end, now, &event), flow.last_delivery());
        }
    }

    /// Something happened in a connection that is not its source's latest: what was sent again in vain
    /// may still come.
    #[inline(never)]
    fn after(&mut self, flow: FlowId, end: End, now: Instant, event: Event) {
        let source = self.source(flow);
        if let Some(flow) = self.flows.get_mut(source) {
            flow.after(end, now, &event);
        }
    }

    fn source(&self, flow: FlowId) -> usize {
        self.sources.get(flow.0 as usize).map_or(usize::MAX, |&source| (source & !PAST) as usize)
    }

    /// The source of a flow that is its latest.
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
            // Unless that number is another source's by now.
            if let Some(before) = self.sources.get_mut(before as usize).filter(|s| **s == source) {
                *before |= PAST;
            }
        }
        self.sources[slot] = source;
        if let Some(flow) = self.flows.get_mut(source as usize) {
            flow.opened();
        }
    }

    // Inlined where the engine tells something, it comes down to the few counts that this changes.
    #[inline(always)]
    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        let source = self.source_of_latest(flow);
        let Some(flow) = self.flows.get_mut(source) else {
            return self.after(flow, end, now, *event);
        };
        flow.event(end, now, event);
        if self.detailed {
            self.keep(source, (end, now, *event));
        }
    }

    fn watches_links(&self) -> bool {
        false
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, _cause: DropCause, segment: &Segment) {
        let source = self.source(flow);
        // What is dropped behind several links is told ahead of time.
        if let Some(flow) = self.flows.get_mut(source).filter(|_| now < self.plan.measured.1) {
            flow.dropped(now, segment);
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
