//! What the next packets to arrive will touch, asked for ahead of them.

use unruffled_measure::{End, FlowId};

use super::{NONE, Network, PathId, Step};
use crate::prefetch::prefetch;

impl Network {
    /// The packet that gets to the far end of `link` next, if one is on its way there.
    pub(crate) fn first_in_line(&self, link: u32) -> Option<u32> {
        Some(self.hops[link as usize].line.0).filter(|&id| id != NONE)
    }

    /// Asks for the packet; gives the end that it has got to, if it is on its last step.
    pub(crate) fn expect(&self, id: u32) -> Option<(FlowId, End)> {
        let packet = self.packet(id);
        prefetch(packet);
        self.steps[packet.step as usize].last.then_some((packet.flow, packet.to))
    }

    /// Asks for what the packet's arrival looks up: the one behind it, and the links before it.
    pub(crate) fn expect_to_pass(&self, id: u32) {
        let packet = self.packet(id);
        if let Some(next) = self.packets.get(packet.behind as usize) {
            prefetch(&next.arrival);
        }
        if !self.steps[packet.step as usize].last {
            self.expect_links(packet.step + 1);
        }
    }

    /// Asks for the links that a packet crosses at once when it is sent on `path`.
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
