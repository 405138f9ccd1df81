//! Packets that are about to go in are looked at before the first of them does.
//!
//! A packet for a connection that has long been idle costs mostly what it waits for memory. Looked up
//! together, and touched together, the connections of a batch come while the processor asks for the
//! next; and none is looked up twice.

use super::{ConnectionId, FourTuple, Stack};
use crate::codec::{Malformed, Packet};

/// With fewer connections than this, those that matter are in the processor's cache.
const FEW: usize = 64;

impl Stack {
    /// These packets go in next, in this order, one after another: some tens of them, so that all their
    /// connections have room in the processor's cache. That they then do so is not required.
    pub fn look_ahead<'a>(
        &mut self,
        packets: impl IntoIterator<Item = &'a Result<Packet<'a>, Malformed>>,
    ) {
        let Self { directory, sockets, .. } = self;
        directory.expected.forget();
        if directory.len() < FEW {
            return;
        }
        let mut expected = std::mem::take(&mut directory.expected);
        // Each step for all packets before the next step: so the processor asks for what one of them
        // needs before it has what another does.
        expected.hashes.clear();
        for packet in packets {
            let Ok(Packet::Tcp(arrival)) = packet else { continue };
            let ends = FourTuple { local: arrival.to, remote: arrival.from };
            let hash = match expected.hashes.last() {
                Some(&(last, same)) if same == ends => last,
                _ => directory.hash(ends),
            };
            expected.hashes.push((hash, ends));
        }
        let ids = expected.hashes.iter().filter_map(|&(hash, _)| {
            // Ends of the same hash are the same but for a chance of one in 2^64; compared they are
            // when the packet comes.
            Some((hash, directory.get(hash, |_| true)?))
        });
        expected.found.extend(ids);
        let mut sum = 0;
        let found = || expected.found.iter().filter_map(|(_, id)| sockets.get(id.0));
        // First where each of them lies, for which the processor asks its page tables.
        for socket in found() {
            sum ^= u64::from(socket.finished);
        }
        for socket in found() {
            sum ^= socket.touch();
        }
        // Nobody wants to know it; but what nobody wants is not read.
        std::hint::black_box(sum);
        directory.expected = expected;
    }

    /// The connection between these ends.
    pub(super) fn connection_between(&self, ends: FourTuple) -> Option<ConnectionId> {
        self.directory.get(self.directory.hash(ends), |id| self.is_between(id, ends))
    }

    /// As [`Stack::connection_between`], for the next packet.
    pub(super) fn connection_for_next(&mut self, ends: FourTuple) -> Option<ConnectionId> {
        if let Some(&(_, id)) = self.directory.expected.found.front()
            && self.is_between(id, ends)
        {
            self.directory.expected.found.pop_front();
            return Some(id);
        }
        let last = self.directory.expected.last.filter(|&id| self.is_between(id, ends));
        let found = last.or_else(|| self.connection_between(ends));
        self.directory.expected.last = found;
        found
    }

    fn is_between(&self, id: ConnectionId, ends: FourTuple) -> bool {
        self.sockets.get(id.0).is_some_and(|socket| socket.tuple == ends)
    }

    /// From now on `id` is the connection between these ends.
    pub(super) fn enter(&mut self, ends: FourTuple, id: ConnectionId) {
        self.directory.enter(self.directory.hash(ends), id);
    }

    /// `id` is no more the connection between these ends, if it was.
    pub(super) fn strike(&mut self, ends: FourTuple, id: ConnectionId) -> bool {
        self.directory.strike(self.directory.hash(ends), id)
    }
}
