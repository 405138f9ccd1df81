//! Packets that leave, connection by connection, segment by segment or joined for offload.

use unruffled_tcp::{Flags, Segment};
use unruffled_units::Instant;

use super::{Relay, Stack};
use crate::address::FourTuple;
use crate::codec;
use crate::departure::{Departure, Offload};
use crate::ids::ConnectionId;

/// Maximum payload of joined segments, in octets: with all headers they stay below 65,536.
const MAX_JOINED_OCTETS: u32 = 65_000;

impl Stack {
    /// Appends the next packet to `out` and returns its length; `None` if there is no packet to
    /// send.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        self.poll_departure(false, now, out).map(|departure| departure.len)
    }

    /// Appends the next packet to `out`. With `offload`, consecutive segments are sent as one packet,
    /// and the device fills in the checksums; without, it equals [`Stack::poll_transmit`].
    pub fn poll_departure(
        &mut self,
        offload: bool,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Departure> {
        let start = out.len();
        let mut departure = self.poll_unsummed(offload, now, out)?;
        if let Some(pending) = departure.offload.take_if(|_| !offload) {
            codec::sum_up(&mut out[start..], usize::from(pending.transport));
        }
        Some(departure)
    }

    /// Appends the next packet to `out` without its checksum, which [`codec::sum_up`] fills in
    /// where the device does not. A driver can thus complete checksums after it has released its
    /// lock on the stack. With `join`, consecutive segments are sent as one packet.
    pub fn poll_unsummed(
        &mut self,
        join: bool,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Departure> {
        while let Some((ends, segment)) = self.replies.pop() {
            let FourTuple { local, remote } = ends;
            if let Some(len) = codec::encode(local, remote, &segment, (&[], &[]), out) {
                self.counters.sent += 1;
                return Some(Departure { len, offload: None });
            }
        }
        loop {
            let (id, mut segment) = match self.turns.take_held() {
                Some((id, held)) => match self.connections.get(id) {
                    Some(socket) => (id, socket.still_to_send(held)),
                    None => continue,
                },
                None => self.next_segment(now)?,
            };
            let each = segment.len;
            let joined = if join { self.join(id, &mut segment, now) } else { 1 };
            let Some(socket) = self.connections.get(id) else { continue };
            let FourTuple { local, remote } = socket.ends();
            let payload = socket.payload(&segment);
            if payload.0.len() + payload.1.len() != segment.len as usize {
                // The send buffer no longer has these octets.
                continue;
            }
            let encoded = codec::encode_for_offload(local, remote, &segment, payload, out);
            let Some((len, transport)) = encoded else { continue };
            self.counters.sent += joined;
            let offload = Offload {
                segment: (joined > 1).then_some(each as u16),
                headers: (len - segment.len as usize) as u16,
                transport: transport as u16,
                v6: remote.is_ipv6(),
            };
            return Some(Departure { len, offload: Some(offload) });
        }
    }

    /// Returns the next segment of the connection whose turn it is.
    fn next_segment(&mut self, now: Instant) -> Option<(ConnectionId, Segment)> {
        loop {
            let id = self.turns.current()?;
            if let Some(segment) = self.transmit(id, now) {
                self.turns.count_segment();
                return Some((id, segment));
            }
            self.turns.remove_current();
            self.end_turn(id, now);
        }
    }

    fn transmit(&mut self, id: ConnectionId, now: Instant) -> Option<Segment> {
        let allowance = self.budget.allowance();
        let mut relay = Relay { watcher: &mut self.watcher, id };
        self.connections.get_mut(id)?.transmit(allowance, now, &mut relay)
    }

    /// Joins to `first` the segments behind it that differ from it only in their place in the
    /// stream; returns the number of segments joined.
    fn join(&mut self, id: ConnectionId, first: &mut Segment, now: Instant) -> u64 {
        let each = first.len;
        let mut joined = 1;
        while is_joinable(first)
            && first.len == each * joined
            && first.len + each <= MAX_JOINED_OCTETS
        {
            let Some(next) = self.transmit(id, now) else { break };
            let like_first = Segment {
                seq: next.seq,
                len: next.len,
                flags: Flags { psh: next.flags.psh, ..first.flags },
                ..*first
            };
            let follows = next.seq == first.seq.add(first.len) && (1..=each).contains(&next.len);
            if !follows || next != like_first {
                self.turns.hold(id, next);
                break;
            }
            first.len += next.len;
            first.flags.psh = next.flags.psh;
            joined += 1;
        }
        u64::from(joined)
    }
}

/// Returns whether other segments may follow this one in the same packet.
fn is_joinable(segment: &Segment) -> bool {
    let flags = segment.flags;
    segment.len > 0 && !(flags.syn || flags.fin || flags.rst) && segment.sack.is_empty()
}
