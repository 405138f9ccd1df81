//! Counts what a run's record needs, while it runs.

use unruffled_path::DropCause;
use unruffled_tcp::{Event, Segment};
use unruffled_units::{Duration, Instant, Rate};

use crate::curves::Curves;
use crate::link::LinkMeter;
use crate::{Crossing, End, FlowId, FlowMeter, LinkId, Monitor, Quantity, RunRecord};

/// A source of traffic, as it appears in the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
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

/// What a run is to be measured of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Nothing before the first instant is measured, nor after the second.
    pub measured: (Instant, Instant),
    /// The sources, by the numbers that [`Monitor::opened`] tells.
    pub sources: Vec<Source>,
    /// Name and rate of each direction of each link, by [`LinkId`]; none measures no links.
    pub links: Vec<(String, Option<Rate>)>,
    /// Which time series to keep.
    pub series: Vec<Quantity>,
    /// The time between their points.
    pub interval: Duration,
    /// Whether to time each segment's delivery.
    pub deliveries: bool,
}

/// Counts flows and links.
#[derive(Clone, Debug)]
pub struct Meter {
    plan: Plan,
    /// By source.
    flows: Vec<FlowMeter>,
    links: Vec<LinkMeter>,
    /// The source of each flow that is there.
    sources: Vec<u32>,
    curves: Option<(Curves, Vec<f64>)>,
}

impl Meter {
    /// Measures what `plan` says.
    pub fn new(plan: Plan) -> Self {
        let flow = || match FlowMeter::new(plan.measured.0) {
            flow if plan.deliveries => flow.with_deliveries(),
            flow => flow,
        };
        let link = |(name, rate): &(String, _)| LinkMeter::new(name.clone(), *rate, plan.measured);
        let curves = (!plan.series.is_empty()).then(|| {
            let sources = plan.sources.iter().map(|s| (format!("{}-{}", s.group, s.number), s.mss));
            let links = plan.links.iter().map(|(name, _)| name.clone());
            Curves::new(&plan.series, plan.interval, sources, links)
        });
        Self {
            flows: plan.sources.iter().map(|_| flow()).collect(),
            links: plan.links.iter().map(link).collect(),
            sources: Vec::new(),
            curves,
            plan,
        }
    }

    /// When the last octet of the source of that number was delivered.
    pub fn finished(&self, source: u32) -> Instant {
        self.flows.get(source as usize).map_or(Instant::ZERO, FlowMeter::finished)
    }

    /// What was counted, once the run has ended at `end`.
    pub fn record(mut self, end: Instant) -> RunRecord {
        let flows = self.flows.iter_mut().zip(&self.plan.sources).map(|(flow, source)| {
            let record = flow.record(end, source.start, source.mss);
            let (group, sender) = (source.group.clone(), source.sender.clone());
            crate::FlowRecord { group, sender, ..record }
        });
        let links = self.links.iter().map(|link| link.record(end));
        let series = self.curves.map_or_else(Vec::new, |(curves, _)| curves.into_series(end));
        RunRecord { flows: flows.collect(), links: links.collect(), series }
    }

    fn source(&self, flow: FlowId) -> usize {
        self.sources.get(flow.0 as usize).map_or(usize::MAX, |&source| source as usize)
    }
}

impl Monitor for Meter {
    fn opened(&mut self, flow: FlowId, source: u32, now: Instant) {
        let slot = flow.0 as usize;
        if self.sources.len() <= slot {
            self.sources.resize(slot + 1, u32::MAX);
        }
        self.sources[slot] = source;
        if let Some(flow) = self.flows.get_mut(source as usize) {
            flow.opened(now);
        }
    }

    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        let source = self.source(flow);
        let Some(flow) = self.flows.get_mut(source) else { return };
        flow.event(end, now, event);
        if let Some((curves, sizes)) = &mut self.curves {
            curves.event(source, sizes[source], (end, now, event), flow.last_delivery());
        }
    }

    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        let Some(meter) = self.links.get_mut(link.0 as usize) else { return };
        meter.crossed(crossing);
        if let Some((curves, _)) = &mut self.curves {
            curves.queue(link.0 as usize, crossing);
        }
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, _cause: DropCause, segment: &Segment) {
        let source = self.source(flow);
        if let Some(flow) = self.flows.get_mut(source) {
            flow.dropped(now, segment);
        }
    }

    fn transferred(&mut self, flow: FlowId) {
        let source = self.source(flow);
        if let Some(flow) = self.flows.get_mut(source) {
            flow.transferred();
        }
    }

    fn datagram(&mut self, flow: FlowId, passage: crate::Passage, now: Instant, octets: u32) {
        let source = self.source(flow);
        let Some(flow) = self.flows.get_mut(source) else { return };
        match passage {
            crate::Passage::Out => flow.datagram_sent(now),
            crate::Passage::In => flow.datagram_arrived(now, octets),
        }
    }
}
