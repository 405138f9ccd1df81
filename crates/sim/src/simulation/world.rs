//! The state of the simulation besides the flows: links, sources, event queue and time.

use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::{Event, Observer, Segment};
use unruffled_units::Instant;

use crate::host::{Flow, TrafficSource};
use crate::network::{Label, Network};
use crate::queue::{FutureEvent, Queue};

/// The state of the simulation besides the flows.
#[derive(Debug, Default)]
pub(super) struct World {
    pub(super) network: Network,
    pub(super) sources: Vec<TrafficSource>,
    pub(super) queue: Queue,
    pub(super) now: Instant,
}

/// Passes a connection's events on to the monitor.
pub(super) struct Relay<'a, M> {
    pub(super) monitor: &'a mut M,
    pub(super) flow: FlowId,
    pub(super) end: End,
}

impl<M: Monitor> Observer for Relay<'_, M> {
    #[inline(always)]
    fn on_event(&mut self, now: Instant, event: &Event) {
        self.monitor.event(self.flow, self.end, now, event);
    }
}

impl World {
    /// [`Self::pump`] as a separate function, for events that are rarer than deliveries.
    #[inline(never)]
    pub(super) fn pump_outlined(
        &mut self,
        flow: &mut Flow,
        end: (FlowId, End),
        monitor: &mut impl Monitor,
    ) {
        self.pump(flow, end, monitor);
    }

    /// Sends all segments that the connection at one end of `flow` has to send, and plans its next timer.
    // Inlined with the functions that it calls often: 7 % fewer instructions.
    #[inline(always)]
    pub(super) fn pump(
        &mut self,
        flow: &mut Flow,
        (id, end): (FlowId, End),
        monitor: &mut impl Monitor,
    ) {
        let now = self.now;
        loop {
            let connection = &mut flow.ends[end.index()].connection;
            let mut relay = Relay { monitor: &mut *monitor, flow: id, end };
            let polled = connection.poll_transmit(now, &mut relay);
            // By reference, since a move would copy it field by field.
            let Some(segment) = &polled else {
                if end == End::Sender && flow.write_on() {
                    continue;
                }
                break;
            };
            self.send(flow, (id, end), segment, monitor);
        }
        // A planned event that is too early is planned again when it comes. An earlier event replaces one
        // that would be too late.
        let endpoint = &mut flow.ends[end.index()];
        if let Some(due) = endpoint.connection.poll_timeout()
            && endpoint.armed.is_none_or(|armed| due < armed)
        {
            let due = due.max(now);
            endpoint.armed = Some(due);
            self.queue.plan(due, FutureEvent::Timer(id.0 * 2 + end.index() as u32));
        }
    }

    /// [`Self::send`] as a separate function, for resets.
    #[inline(never)]
    pub(super) fn reset(
        &mut self,
        flow: &mut Flow,
        end: (FlowId, End),
        segment: &Segment,
        monitor: &mut impl Monitor,
    ) {
        self.send(flow, end, segment, monitor);
    }

    /// Sends a segment of one end of `flow` to the other.
    #[inline(always)]
    fn send(
        &mut self,
        flow: &mut Flow,
        (id, end): (FlowId, End),
        segment: &Segment,
        monitor: &mut impl Monitor,
    ) {
        let World { network, sources, queue, now } = self;
        monitor.segment(id, end, Passage::Out, *now, segment);
        let blocks = segment.sack.as_slice().len() as u32;
        let size = segment.len + flow.header + flow.sack_block * blocks;
        let path = match flow.ends[end.index()].path {
            Some(path) => path,
            None => sources[flow.source as usize].routes[end.index()].next(),
        };
        let label = Label { flow: id, to: end.other(), size, path };
        flow.underway += network.send(segment, label, *now, queue, monitor).copies();
    }
}
