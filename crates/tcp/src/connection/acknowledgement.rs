//! The acknowledgement field of an arriving segment, its SACK blocks and its window (RFC 9293,
//! section 3.10.7.4, fifth check; RFC 5961, section 5; RFC 2018; RFC 2883).

use super::State;
use super::arrival::Arrival;
use crate::observer::{Ignored, Observer};
use crate::segment::SackBlocks;
use crate::sender::Ack;

/// Segment that last updated the peer's window, and how the window field is scaled.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// Shift of the window field.
    pub(super) scale: u8,
    /// SND.WL1 and SND.WL2, as stream offsets.
    wl1: u64,
    wl2: u64,
    /// Window field of the last acknowledgement. One that changes the field is not a duplicate.
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
    /// Records that the window of the segment at `seq`, which acknowledges `ack`, is in force.
    pub(super) fn update(&mut self, seq: u64, ack: u64) {
        self.wl1 = seq;
        self.wl2 = ack;
    }

    /// Returns whether the window of a segment is current: "SND.WL1 < SEG.SEQ or (SND.WL1 = SEG.SEQ
    /// and SND.WL2 =< SEG.ACK)". Of two segments with the same numbers, the one that arrives last
    /// may be the older one. Then only a larger window counts, or, as in Linux, a closed one, which
    /// a peer out of memory sends. If that was the older segment, the window probe corrects it.
    fn is_current(&self, seq: u64, ack: u64, larger_or_closed: bool) -> bool {
        self.wl1 < seq
            || (self.wl1 == seq && (self.wl2 < ack || (self.wl2 == ack && larger_or_closed)))
    }
}

impl<O: Observer> Arrival<'_, O> {
    /// Returns the stream offset that the segment acknowledges, or `None` if it is implausible:
    /// beyond what was sent, or further back than the peer's largest window. The inner value is
    /// `None` if the offset is before the start of the stream.
    #[inline(always)]
    fn acceptable_ack(&self) -> Option<Option<u64>> {
        let una = self.connection.sender.stream.una();
        let ahead =
            i64::from(self.segment.ack.distance(self.connection.numbers.ours.add(1).at(una)));
        if ahead >= 0 {
            let acked = una + ahead as u64;
            (acked <= self.connection.sender.stream.max_ack()).then_some(Some(acked))
        } else {
            let behind = ahead.unsigned_abs();
            (behind <= self.connection.sender.stream.max_window()).then(|| una.checked_sub(behind))
        }
    }

    #[inline(always)]
    pub(super) fn on_ack(&mut self, offset: u64) -> Result<(), Ignored> {
        let Some(acked) = self.acceptable_ack() else {
            self.challenge();
            return Err(Ignored::UnacceptableAck);
        };
        let Some(acked) = acked else {
            // The segment acknowledges nothing of the stream, but its other fields count.
            return Ok(());
        };
        self.connection.sender.check_window_probe(acked);
        let una = self.connection.sender.stream.una();
        let nxt = self.connection.sender.stream.nxt();
        let window = u64::from(self.segment.window) << self.connection.peer_window.scale;
        let larger_or_closed =
            window == 0 || acked + window > self.connection.sender.stream.window_end();
        if acked >= una && self.connection.peer_window.is_current(offset, acked, larger_or_closed) {
            self.connection.peer_window.update(offset, acked);
            self.connection.sender.stream.set_window(acked, window);
        }
        if acked > una || (self.connection.sender.stream.window_closed() && acked == una) {
            let give_up = self.connection.config.timeouts.give_up;
            self.connection.timers.on_answer(give_up, self.now);
        }
        let unchanged = self.segment.window == self.connection.peer_window.last_field;
        self.connection.peer_window.last_field = self.segment.window;
        if nxt == una
            && self.segment.sack.is_empty()
            && (self.segment.len > 0 || self.connection.sender.settled())
        {
            // Nothing is in flight, and this segment acknowledges nothing new.
            return Ok(());
        }
        // A FIN occupies a sequence number, as text does, and is sent whatever arrived (RFC 5681,
        // section 2).
        let repeated =
            acked == una && self.segment.len == 0 && !self.segment.flags.fin && unchanged;
        self.reborrow().read_ack(acked, repeated);
        Ok(())
    }

    /// Processes an acknowledgement that may acknowledge data in flight; `repeated` if it equals
    /// the last one.
    #[inline(never)]
    fn read_ack(mut self, acked: u64, repeated: bool) {
        let plain = self.segment.sack.is_empty() && !self.segment.ecn.has_ece();
        if plain && self.connection.sender.predicts(acked) {
            self.connection.sender.on_predicted_ack(acked, self.now, self.observer);
        } else {
            self.reborrow().read_any_ack(acked, repeated);
        }
        if self.connection.sender.stream.finished() && self.connection.sender.stream.done() {
            self.on_fin_acknowledged();
        }
    }

    /// Processes an acknowledgement that is not predicted, with its SACK blocks, marks and timestamps.
    #[inline(never)]
    fn read_any_ack(self, acked: u64, repeated: bool) {
        let una = self.connection.sender.stream.una();
        let nxt = self.connection.sender.stream.nxt();
        let mut blocks = [].as_slice();
        let mut dsack = None;
        let mut packets = [].as_slice();
        let offsets;
        if self.connection.receiver.reports_packets() {
            packets = self.segment.sack.as_slice();
            self.connection.receiver.on_acknowledged_packets(packets);
        } else if !self.segment.sack.is_empty() {
            offsets = self.block_offsets();
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
            rtx: self.segment.rtx,
            // An older acknowledgement than the last may precede the arrival of CWR.
            ece: self.reports_mark() && acked >= una,
            echo: self.connection.clock.echoed(self.segment, self.now),
            packets,
            ack_delay: self.segment.packet.ack_delay(),
        };
        self.connection.sender.on_ack(ack, self.now, self.observer);
    }

    /// Returns the plausible SACK blocks as stream offsets.
    #[inline]
    fn block_offsets(&self) -> Offsets {
        let origin = self.connection.numbers.ours.add(1);
        let una = self.connection.sender.stream.una();
        let nxt = self.connection.sender.stream.nxt();
        let mut offsets = Offsets { blocks: [(0, 0); SackBlocks::CAPACITY], count: 0 };
        for block in self.segment.sack.as_slice() {
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

    fn on_fin_acknowledged(&mut self) {
        match self.connection.state {
            State::FinWait1 => self.connection.state = State::FinWait2,
            State::Closing => self.enter_time_wait(),
            State::LastAck => self.connection.close(),
            _ => {}
        }
    }
}
