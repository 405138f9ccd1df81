//! The acknowledgement field of an arriving segment, its SACK blocks and its window (RFC 9293,
//! section 3.10.7.4, fifth check; RFC 5961, section 5; RFC 2018; RFC 2883).

use unruffled_units::Instant;

use super::{Connection, State};
use crate::observer::{Ignored, Observer};
use crate::segment::{SackBlocks, Segment};
use crate::sender::Ack;

/// Which segment last told of the peer's window, and how its field is to be read.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// The shift of the window field.
    pub(super) scale: u8,
    /// SND.WL1 and SND.WL2, as stream offsets.
    wl1: u64,
    wl2: u64,
    /// The field of the last acknowledgement: one that changes it is no duplicate.
    pub(super) last_field: u16,
}

/// SACK blocks as stream offsets.
struct Offsets {
    blocks: [(u64, u64); SackBlocks::CAPACITY],
    count: usize,
}

impl Offsets {
    fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count]
    }
}

impl PeerWindow {
    /// The window of the segment at `seq` that acknowledges `ack` counts.
    pub(super) fn take(&mut self, seq: u64, ack: u64) {
        (self.wl1, self.wl2) = (seq, ack);
    }

    /// "SND.WL1 < SEG.SEQ or (SND.WL1 = SEG.SEQ and SND.WL2 =< SEG.ACK)". Of two with the same numbers the
    /// one that comes last may be the older: then only a larger window counts, and one that is closed, as
    /// in Linux, for a peer out of memory does that; if it was the older one, the probe will tell.
    fn is_current(&self, seq: u64, ack: u64, larger_or_closed: bool) -> bool {
        self.wl1 < seq
            || (self.wl1 == seq && (self.wl2 < ack || (self.wl2 == ack && larger_or_closed)))
    }
}

impl Connection {
    /// The stream offset that the segment acknowledges, if that can be true: no more than what was
    /// sent, and not longer ago than the peer's greatest window. That may be before the stream began.
    #[inline(always)]
    fn acceptable_ack(&self, segment: &Segment) -> Option<Option<u64>> {
        let una = self.sender.stream.una();
        let ahead = i64::from(segment.ack.distance(self.numbers.ours.add(1).at(una)));
        if ahead >= 0 {
            let acked = una + ahead as u64;
            (acked <= self.sender.stream.max_ack()).then_some(Some(acked))
        } else {
            let behind = ahead.unsigned_abs();
            (behind <= self.sender.stream.max_window()).then(|| una.checked_sub(behind))
        }
    }

    #[inline(always)]
    pub(super) fn on_ack(
        &mut self,
        segment: &Segment,
        offset: u64,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Result<(), Ignored> {
        let Some(acked) = self.acceptable_ack(segment) else {
            self.challenge(now);
            return Err(Ignored::UnacceptableAck);
        };
        let Some(acked) = acked else {
            // It tells of nothing that was sent, but what comes with it counts.
            return Ok(());
        };
        self.sender.settle_probe(acked);
        let (una, nxt) = (self.sender.stream.una(), self.sender.stream.nxt());
        let window = u64::from(segment.window) << self.peer_window.scale;
        let larger_or_closed = window == 0 || acked + window > self.sender.stream.window_end();
        if acked >= una && self.peer_window.is_current(offset, acked, larger_or_closed) {
            self.peer_window.take(offset, acked);
            self.sender.stream.set_window(acked, window);
        }
        if acked > una || (self.sender.stream.window_closed() && acked == una) {
            self.answered(now);
        }
        let unchanged = segment.window == self.peer_window.last_field;
        self.peer_window.last_field = segment.window;
        if nxt == una && segment.sack.is_empty() && (segment.len > 0 || self.sender.settled()) {
            // Nothing is on its way, and this tells of nothing that was.
            return Ok(());
        }
        // A FIN has a number of its own, as text has: it leaves whatever arrived (RFC 5681, section 2).
        let repeated = acked == una && segment.len == 0 && !segment.flags.fin && unchanged;
        self.read_ack(segment, acked, repeated, now, observer);
        Ok(())
    }

    /// An acknowledgement may tell of what is on its way; `repeated` if it says what the last one said.
    #[inline(never)]
    fn read_ack(
        &mut self,
        segment: &Segment,
        acked: u64,
        repeated: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let (una, nxt) = (self.sender.stream.una(), self.sender.stream.nxt());
        let (mut blocks, mut dsack) = ([].as_slice(), None);
        let offsets;
        if !segment.sack.is_empty() {
            offsets = self.block_offsets(segment);
            blocks = offsets.as_slice();
            // RFC 2883: a first block below the cumulative point, or inside the second, is a DSACK.
            if let Some((&first, rest)) = blocks.split_first() {
                let within = |&(l, r): &(u64, u64)| l <= first.0 && first.1 <= r;
                if first.0 < acked || rest.first().is_some_and(within) {
                    dsack = Some(first);
                    blocks = rest;
                }
            }
        }
        let ack = Ack {
            una: acked.max(una),
            blocks,
            dsack,
            repeated,
            duplicate: repeated && nxt > una,
            rtx: segment.rtx,
            echo: self.clock.echoed(segment, now),
        };
        self.sender.on_ack(ack, now, observer);
        if self.sender.stream.finished() && self.sender.stream.done() {
            self.on_fin_acknowledged(now);
        }
    }

    /// The SACK blocks that can be true, as stream offsets.
    #[inline]
    fn block_offsets(&self, segment: &Segment) -> Offsets {
        let origin = self.numbers.ours.add(1);
        let (una, nxt) = (self.sender.stream.una(), self.sender.stream.nxt());
        let mut offsets = Offsets { blocks: [(0, 0); SackBlocks::CAPACITY], count: 0 };
        for block in segment.sack.as_slice() {
            let left = block.left.unwrap(origin, una);
            let right = block.right.unwrap(origin, una);
            if let (Some(left), Some(right)) = (left, right)
                && left < right
                && right <= nxt
            {
                offsets.blocks[offsets.count] = (left, right);
                offsets.count += 1;
            }
        }
        offsets
    }

    fn on_fin_acknowledged(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.wait_out(now),
            State::LastAck => self.close(),
            _ => {}
        }
    }
}
