//! The queue of packets to write, in one piece of memory.

use std::collections::VecDeque;

use unruffled_stack::{Departure, Offload, codec};

/// The packets that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    packets: VecDeque<Departure>,
    /// Offset of the first packet.
    start: usize,
}

impl Outbox {
    pub(super) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns the octets of the packets that wait and of those written before them.
    pub(super) fn octets(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Adds the packet that `write` appends; returns false if it appends none.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Option<Departure>) -> bool {
        if self.packets.is_empty() {
            self.bytes.clear();
            self.start = 0;
        }
        let Some(packet) = write(&mut self.bytes) else { return false };
        self.packets.push_back(packet);
        true
    }

    /// Returns the first packet, and what the device must do with it.
    pub(super) fn first(&self) -> Option<(&[u8], Option<Offload>)> {
        let packet = self.packets.front()?;
        Some((&self.bytes[self.start..self.start + packet.len], packet.offload))
    }

    /// Completes the checksum of the first packet, for a device without offload.
    pub(super) fn sum_first(&mut self) {
        if let Some(packet) = self.packets.front_mut()
            && let Some(pending) = packet.offload.take()
        {
            let bytes = &mut self.bytes[self.start..self.start + packet.len];
            codec::sum_up(bytes, usize::from(pending.transport));
        }
    }

    /// Removes the first packet.
    pub(super) fn pop(&mut self) {
        self.start += self.packets.pop_front().map_or(0, |packet| packet.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(outbox: &Outbox) -> Option<&[u8]> {
        outbox.first().map(|first| first.0)
    }

    #[test]
    fn packets_leave_in_order_and_their_memory_is_reused() {
        let mut outbox = Outbox::default();
        let push = |outbox: &mut Outbox, packet: &'static [u8]| {
            outbox.push(|bytes| {
                bytes.extend_from_slice(packet);
                Some(Departure { len: packet.len(), offload: None })
            })
        };
        assert!(push(&mut outbox, b"one") && push(&mut outbox, b"three"));
        assert!(!outbox.push(|_| None));
        assert_eq!((outbox.len(), first(&outbox)), (2, Some(&b"one"[..])));
        outbox.pop();
        assert_eq!(first(&outbox), Some(&b"three"[..]));
        outbox.pop();
        assert!(outbox.is_empty() && outbox.first().is_none());
        push(&mut outbox, b"four");
        assert_eq!((first(&outbox), outbox.bytes.len()), (Some(&b"four"[..]), 4));
    }
}
