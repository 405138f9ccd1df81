//! Actions of applications: opening connections, and starting and ending transfers.

use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::Segment;

use super::{Simulation, World};
use crate::app::Action;
use crate::host::ENDLESS_OCTETS;
use crate::network::Label;
use crate::queue::FutureEvent;

impl Simulation {
    /// Completes the current transfer of a flow, when all its octets have been received.
    pub(super) fn complete(&mut self, id: FlowId, monitor: &mut impl Monitor) {
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        flow.expects = u64::MAX;
        monitor.transferred(id, flow.begun);
        let number = flow.source;
        let World { sources, queue, now, .. } = &mut self.world;
        let source = &mut sources[number as usize];
        if let Some(pause) = source.app.pause().filter(|_| source.active) {
            queue.plan(*now + pause, FutureEvent::Application(number));
        }
    }

    /// Performs the next action of a source's application.
    pub(super) fn act(&mut self, number: u32, monitor: &mut impl Monitor) {
        let source = &mut self.world.sources[number as usize];
        if !source.active {
            return;
        }
        match source.app.next() {
            Action::Transfer(bytes) => {
                let id = self.open(number, monitor);
                let Some(flow) = &mut self.flows[id.0 as usize] else { return };
                match bytes {
                    Some(bytes) => {
                        flow.write(bytes);
                        flow.expects = bytes;
                        flow.begun = self.world.now;
                        flow.close();
                    }
                    None => flow.write(ENDLESS_OCTETS),
                }
                self.world.pump_outlined(flow, (id, End::Sender), monitor);
            }
            Action::More(bytes) => self.send_more(number, bytes, monitor),
            Action::Request(bytes, next) => {
                let World { queue, now, .. } = &mut self.world;
                queue.plan(*now + next, FutureEvent::Application(number));
                self.send_more(number, bytes, monitor);
            }
            Action::Datagram(octets, interval) => {
                let World { network, sources, queue, now } = &mut self.world;
                let now = *now;
                let source = &mut sources[number as usize];
                let id = FlowId(number);
                if source.flow.is_none() {
                    source.flow = Some(number);
                    monitor.opened(id, number, now);
                }
                queue.plan(now + interval, FutureEvent::Application(number));
                let segment = Segment { len: octets, ..Segment::default() };
                let size = octets + source.header;
                let path = source.routes[0].next();
                monitor.datagram(id, Passage::Out, now, octets);
                let label = Label { flow: id, to: End::Receiver, size, path };
                network.send(&segment, label, now, queue, monitor);
            }
        }
    }

    /// Sends on the connection of a source, and opens one if there is none.
    fn send_more(&mut self, number: u32, bytes: u64, monitor: &mut impl Monitor) {
        let id = match self.world.sources[number as usize].flow {
            Some(flow) => FlowId(flow),
            None => self.open(number, monitor),
        };
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        flow.write(bytes);
        // A request before the previous one is complete belongs to the same transfer.
        if flow.expects == u64::MAX {
            flow.begun = self.world.now;
        }
        flow.expects = flow.has;
        self.world.pump_outlined(flow, (id, End::Sender), monitor);
    }

    /// Opens a connection of a source, without sending.
    fn open(&mut self, number: u32, monitor: &mut impl Monitor) -> FlowId {
        let source = &mut self.world.sources[number as usize];
        let flow = source.connect(number);
        let slot = if self.flows[number as usize].is_none() {
            number
        } else if let Some(free) = self.free.pop() {
            free
        } else {
            self.flows.push(None);
            self.flows.len() as u32 - 1
        };
        source.flow = Some(slot);
        self.flows[slot as usize] = Some(flow);
        monitor.opened(FlowId(slot), number, self.world.now);
        FlowId(slot)
    }

    /// Stops the application of a source, which then starts and writes nothing more.
    pub(super) fn stop(&mut self, number: u32, monitor: &mut impl Monitor) {
        let source = &mut self.world.sources[number as usize];
        source.active = false;
        let Some(id) = source.flow.map(FlowId) else { return };
        let Some(flow) = &mut self.flows[id.0 as usize] else { return };
        flow.stop();
        self.world.pump_outlined(flow, (id, End::Sender), monitor);
    }
}
