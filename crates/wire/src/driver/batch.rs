//! Packets in one piece of memory.

use std::collections::VecDeque;

/// Packets that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    lengths: VecDeque<usize>,
    /// Where the first one that waits begins.
    start: usize,
}

impl Outbox {
    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Lets `write` append a packet and say how long it is; says whether it did.
    pub(super) fn push(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Option<usize>) -> bool {
        if self.lengths.is_empty() {
            self.bytes.clear();
            self.start = 0;
        }
        let len = write(&mut self.bytes);
        self.lengths.extend(len);
        len.is_some()
    }

    /// The first packet.
    pub(super) fn first(&self) -> Option<&[u8]> {
        self.lengths.front().map(|&len| &self.bytes[self.start..self.start + len])
    }

    /// The first packet has been written.
    pub(super) fn pop(&mut self) {
        self.start += self.lengths.pop_front().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_order_and_memory_is_used_again() {
        let mut outbox = Outbox::default();
        let push = |outbox: &mut Outbox, packet: &'static [u8]| {
            outbox.push(|bytes| {
                bytes.extend_from_slice(packet);
                Some(packet.len())
            })
        };
        assert!(push(&mut outbox, b"one") && push(&mut outbox, b"three"));
        assert!(!outbox.push(|_| None));
        assert_eq!((outbox.len(), outbox.first()), (2, Some(&b"one"[..])));
        outbox.pop();
        assert_eq!(outbox.first(), Some(&b"three"[..]));
        outbox.pop();
        assert!(outbox.is_empty() && outbox.first().is_none());
        push(&mut outbox, b"four");
        assert_eq!((outbox.first(), outbox.bytes.len()), (Some(&b"four"[..]), 4));
    }
}
