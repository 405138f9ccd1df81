//! What leaves, connection by connection, segment by segment or in bursts.

use unruffled_tcp::Segment;
use unruffled_units::Instant;

use super::{ConnectionId, FourTuple, QUANTUM, Relay, Stack};
use crate::codec;

/// Most octets of payload in a burst: with all headers it stays below 65,536.
const LARGEST_BURST: u32 = 65_000;

/// How a packet is to be cut and summed up behind us, as a `virtio_net_hdr` says it. Use it where the
/// device cuts large packets itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offload {
    /// Payload of each segment but the last; none where it is one segment.
    pub segment: Option<u16>,
    /// Octets of all headers.
    pub headers: u16,
    /// Where the TCP header begins.
    pub transport: u16,
    /// It is IPv6.
    pub v6: bool,
}

/// A packet that leaves. Write it to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Octets of it, headers and all.
    pub len: usize,
    /// What others have to do with it, if they are to do anything.
    pub offload: Option<Offload>,
}

impl Stack {
    /// Appends the next packet to `out` and gives its length; nothing when there is none.
    pub fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<usize> {
        self.poll_departure(false, now, out).map(|departure| departure.len)
    }

    /// As [`Stack::poll_transmit`]; with `offload`, segments that follow each other leave as one
    /// packet, and checksums are left to others.
    pub fn poll_departure(
        &mut self,
        offload: bool,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Departure> {
        let start = out.len();
        let mut departure = self.poll_unsummed(offload, now, out)?;
        if let Some(todo) = departure.offload.take_if(|_| !offload) {
            codec::sum_up(&mut out[start..], usize::from(todo.transport));
        }
        Some(departure)
    }

    /// The next packet, its checksum left to others; with `join`, segments that follow each other
    /// leave as one. Summing it up can wait until the stack is not held any more:
    /// [`codec::sum_up`].
    pub fn poll_unsummed(
        &mut self,
        join: bool,
        now: Instant,
        out: &mut Vec<u8>,
    ) -> Option<Departure> {
        while let Some((tuple, segment)) = self.replies.queue.pop_front() {
            let FourTuple { local, remote } = tuple;
            if let Some(len) = codec::encode(local, remote, &segment, (&[], &[]), out) {
                self.counters.sent += 1;
                return Some(Departure { len, offload: None });
            }
        }
        loop {
            let (id, mut segment) = match self.turns.held.take() {
                Some((id, held)) => match self.sockets.get(id.0) {
                    Some(socket) => (id, socket.still_to_send(held)),
                    None => continue,
                },
                None => self.next_segment(now)?,
            };
            let each = segment.len;
            let joined = if join { self.join(id, &mut segment, now) } else { 1 };
            let Some(socket) = self.sockets.get(id.0) else { continue };
            let FourTuple { local, remote } = socket.tuple;
            let payload = socket.payload(&segment);
            if payload.0.len() + payload.1.len() != segment.len as usize {
                // What is not there cannot leave.
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

    /// The next segment of the connection whose turn it is.
    fn next_segment(&mut self, now: Instant) -> Option<(ConnectionId, Segment)> {
        let allowance = self.budget.allowance();
        loop {
            let id = *self.turns.eager.front()?;
            let mut relay = Relay { watcher: &mut self.watcher, id };
            let next =
                self.sockets.get_mut(id.0).and_then(|s| s.transmit(allowance, now, &mut relay));
            let Some(segment) = next else {
                self.turns.eager.pop_front();
                self.turns.quantum = QUANTUM;
                self.rest(id, now);
                continue;
            };
            self.turns.quantum -= 1;
            if self.turns.quantum == 0 {
                self.turns.quantum = QUANTUM;
                self.turns.eager.rotate_left(1);
            }
            return Some((id, segment));
        }
    }

    /// Joins to `first` the segments behind it that differ from it in nothing but their place in the
    /// stream, and says of how many it then consists.
    fn join(&mut self, id: ConnectionId, first: &mut Segment, now: Instant) -> u64 {
        let each = first.len;
        let mut joined = 1;
        let allowance = self.budget.allowance();
        while joinable(first) && first.len == each * joined && first.len + each <= LARGEST_BURST {
            let mut relay = Relay { watcher: &mut self.watcher, id };
            let next =
                self.sockets.get_mut(id.0).and_then(|s| s.transmit(allowance, now, &mut relay));
            let Some(next) = next else { break };
            let like_first = Segment {
                seq: next.seq,
                len: next.len,
                flags: unruffled_tcp::Flags { psh: next.flags.psh, ..first.flags },
                ..*first
            };
            let follows = next.seq == first.seq.add(first.len) && (1..=each).contains(&next.len);
            if !follows || next != like_first {
                self.turns.held = Some((id, next));
                break;
            }
            first.len += next.len;
            first.flags.psh = next.flags.psh;
            joined += 1;
        }
        u64::from(joined)
    }
}

/// Whether others may follow in the same packet.
fn joinable(segment: &Segment) -> bool {
    let flags = segment.flags;
    segment.len > 0 && !(flags.syn || flags.fin || flags.rst) && segment.sack.is_empty()
}
