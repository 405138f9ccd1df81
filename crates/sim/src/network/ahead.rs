//! Prefetches the memory that arriving packets will need.

use unruffled_measure::{End, FlowId};

use super::{NONE, Network, PathId, Step};
use crate::prefetch::prefetch;

impl Network {
    /// Returns the packet that reaches the far end of `link` next, if any.
    pub(crate) fn first_in_line(&self, link: u32) -> Option<u32> {
        Some(self.hops[link as usize].line.0).filter(|&id| id != NONE)
    }

    /// Prefetches the packet. Returns its flow and destination if it reaches it next.
    pub(crate) fn expect(&self, id: u32) -> Option<(FlowId, End)> {
        let packet = self.packet(id);
        prefetch(packet);
        self.steps[packet.step as usize].delivers.then_some((packet.flow, packet.to))
    }

    /// Prefetches the next packet in line, and the links that this packet reaches next.
    pub(crate) fn expect_to_pass(&self, id: u32) {
        let packet = self.packet(id);
        if let Some(next) = self.packets.get(packet.behind as usize) {
            prefetch(&next.arrival);
        }
        if !self.steps[packet.step as usize].last {
            self.expect_links(packet.step + 1);
        }
    }

    /// Prefetches the links that a packet on `path` crosses in its first step.
    pub(crate) fn expect_to_send(&self, PathId(step): PathId) {
        self.expect_links(step);
    }

    fn expect_links(&self, step: u32) {
        let ahead = &self.steps[step as usize..];
        for Step { link, .. } in &ahead[..ahead[0].plain.max(1) as usize] {
            prefetch(&self.hops[link.0 as usize]);
        }
    }
}
