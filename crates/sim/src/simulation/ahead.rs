//! Prefetches the memory that the next events need.
//!
//! With thousands of flows, nearly all data of an event is outside the caches, and each access depends on
//! the previous one: from a link to its first packet, to its flow, to its path. This module makes each of
//! these steps for many events together, so that their memory accesses overlap.

use unruffled_measure::End;

use super::Simulation;
use crate::prefetch::prefetch;
use crate::queue::FutureEvent;

/// Minimum number of flows for prefetching. The data of fewer flows stays in the caches, where prefetching
/// costs more than it saves.
const MIN_FLOWS: usize = 500;

/// Maximum number of events that are prefetched together.
const MAX_EVENTS: usize = 64;

/// Data of a future event.
#[derive(Clone, Copy, Default)]
struct Upcoming {
    packet: Option<u32>,
    /// Number of the flow, and the end.
    end: Option<(u32, End)>,
}

impl Simulation {
    /// Prefetches for the events that were just sorted.
    #[inline(never)]
    pub(super) fn look_ahead(&mut self) {
        let network = &self.world.network;
        let plans = self.world.queue.ordered();
        if self.flows.len() < MIN_FLOWS {
            return;
        }
        let mut upcoming = [Upcoming::default(); MAX_EVENTS];
        let number = plans.len().min(MAX_EVENTS);
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
