//! Who is told of what happens in a simulation.

use unruffled_path::DropCause;
use unruffled_tcp::{Event, Segment};
use unruffled_units::Instant;

use crate::FlowId;

/// The two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that has data to send.
    Sender,
    /// The one that receives it.
    Receiver,
}

/// Which way a segment passes an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It leaves this end.
    Out,
    /// It arrives at this end.
    In,
}

/// Counts, draws or prints; every method does nothing unless it is written.
pub trait Monitor {
    /// Something happened inside the connection at `end` of `flow`.
    fn event(&mut self, _flow: FlowId, _end: End, _now: Instant, _event: &Event) {}

    /// A segment left or reached `end` of `flow`.
    fn segment(
        &mut self,
        _flow: FlowId,
        _end: End,
        _passage: Passage,
        _now: Instant,
        _segment: &Segment,
    ) {
    }

    /// The path dropped a segment of `flow`.
    fn dropped(&mut self, _flow: FlowId, _now: Instant, _cause: DropCause, _segment: &Segment) {}
}

impl Monitor for () {}

impl<M: Monitor> Monitor for Option<M> {
    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        if let Some(monitor) = self {
            monitor.event(flow, end, now, event);
        }
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        if let Some(monitor) = self {
            monitor.segment(flow, end, way, now, segment);
        }
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        if let Some(monitor) = self {
            monitor.dropped(flow, now, cause, segment);
        }
    }
}

impl<A: Monitor, B: Monitor> Monitor for (A, B) {
    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        self.0.event(flow, end, now, event);
        self.1.event(flow, end, now, event);
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        self.0.segment(flow, end, way, now, segment);
        self.1.segment(flow, end, way, now, segment);
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        self.0.dropped(flow, now, cause, segment);
        self.1.dropped(flow, now, cause, segment);
    }
}
