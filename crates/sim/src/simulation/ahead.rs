//! Memory that the next events need, asked for ahead of them.
//!
//! Among thousands of flows nearly all that an event touches comes from memory, and each thing tells
//! only where the next one is: a link its first packet, that its flow, that its path. Here many events
//! take each of these steps together, so that they wait for memory at the same time.

use unruffled_measure::End;

use super::Simulation;
use crate::prefetch::prefetch;
use crate::queue::FutureEvent;

/// What fewer flows need stays in the caches, where looking ahead costs more than it saves.
const MANY: usize = 500;

/// As many events look ahead together at most.
const MOST: usize = 64;

/// What is known of an event to come.
#[derive(Clone, Copy, Default)]
struct Upcoming {
    packet: Option<u32>,
    /// A flow's number, and which of its ends the event is about.
    end: Option<(u32, End)>,
}

impl Simulation {
    /// Looks ahead to the events that were just put in order.
    #[inline(never)]
    pub(super) fn look_ahead(&mut self) {
        let (network, plans) = (&self.world.network, self.world.queue.ordered());
        if self.flows.len() < MANY {
            return;
        }
        let mut upcoming = [Upcoming::default(); MOST];
        let number = plans.len().min(MOST);
        let upcoming = &mut upcoming[..number];
        for (next, plan) in upcoming.iter_mut().zip(plans) {
            match plan {
                FutureEvent::Line(link) => next.packet = network.first_in_line(link),
                FutureEvent::Packet(id) => next.packet = Some(id),
                FutureEvent::Timer(which) => next.end = Some(Self::end_of_timer(which)),
                _ => {}
            }
        }
        for next in upcoming.iter_mut() {
            if let Some((flow, end)) = next.packet.and_then(|id| network.expect(id)) {
                next.end = Some((flow.0, end));
            }
        }
        for packet in upcoming.iter().filter_map(|next| next.packet) {
            network.expect_to_pass(packet);
        }
        let end_of = |next: &Upcoming| {
            let (flow, end) = next.end?;
            self.flows[flow as usize].as_ref().map(|flow| &flow.ends[end.index()])
        };
        for end in upcoming.iter().filter_map(end_of) {
            prefetch(end);
        }
        for path in upcoming.iter().filter_map(end_of).filter_map(|end| end.path) {
            network.expect_to_send(path);
        }
    }
}
