//! The lists of TCP-PR's tables. To-be-ack is the set of packets that are `waiting`. The list
//! `transmissions` has them in the order of transmission. Memorize is the subset that was sent
//! before `snapshot`. To-be-sent is not in this module: it consists of the scoreboard's lost
//! packets and of new data.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use unruffled_units::Instant;

use crate::ring;
use crate::sender::stream::{Renumbered, SegNo};

/// A packet that was sent and lies above the cumulative point. It takes 20 octets, so that a
/// segment takes at most 64 together with its entry on the scoreboard, its entry in
/// [`Lists::transmissions`] and the spare capacity.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
pub(super) struct Packet {
    /// time(n): time of the last transmission.
    pub(super) time: Instant,
    /// cwnd(n): the window at that time.
    pub(super) cwnd: f64,
    /// The number of that transmission, while the packet is in to-be-ack.
    waiting: Option<Serial>,
}

/// The number of a transmission, counted over all packets. The low 31 bits of the number are stored
/// above a bit that is always set. Transmissions that are compared are less than half of that range
/// apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Serial(NonZeroU32);

impl Serial {
    fn of(count: u32) -> Self {
        Self(NonZeroU32::MIN | count << 1)
    }

    fn is_before(self, other: Self) -> bool {
        (self.0.get().wrapping_sub(other.0.get()) as i32) < 0
    }
}

/// To-be-ack and memorize.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    packets: VecDeque<Packet>,
    /// Number of the first packet.
    base: SegNo,
    /// The low bits of the packet's number for each transmission, in order of time. An entry is
    /// skipped at the front if its packet was sent again or is no longer in to-be-ack.
    transmissions: VecDeque<u32>,
    /// Number of transmissions before the first entry.
    passed: u32,
    /// Returns |to-be-ack|.
    to_be_ack: u32,
    /// Number of transmissions before memorize was last filled.
    snapshot: u32,
    /// Returns |memorize|.
    memorized: u32,
}

impl Lists {
    /// Returns the memory of the lists, in octets.
    pub(super) fn octets(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>()
            + self.transmissions.capacity() * size_of::<u32>()
    }

    /// Frees memory that is not in use.
    pub(super) fn shrink(&mut self) {
        self.packets.shrink_to_fit();
        self.transmissions.shrink_to_fit();
    }

    /// Returns whether no packet lies above the cumulative point.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns |to-be-ack|.
    pub(super) fn to_be_ack(&self) -> u32 {
        self.to_be_ack
    }

    /// Returns |memorize|.
    pub(super) fn memorized(&self) -> u32 {
        self.memorized
    }

    /// Fills memorize with to-be-ack (line 8).
    pub(super) fn memorize(&mut self) {
        self.snapshot = self.count();
        self.memorized = self.to_be_ack;
    }

    /// Records that packet `n` was sent at `time` with this window (lines 26 and 27).
    pub(super) fn on_sent(&mut self, n: SegNo, time: Instant, cwnd: f64) {
        let packet = Packet { time, cwnd, waiting: Some(Serial::of(self.count())) };
        match self.packets.get_mut((n - self.base) as usize) {
            Some(old) => {
                debug_assert_eq!({ old.waiting }, None, "sent again without having been dropped");
                *old = packet;
            }
            None => ring::push(&mut self.packets, packet),
        }
        ring::push(&mut self.transmissions, n as u32);
        self.to_be_ack += 1;
    }

    /// Discards the packets below `n`, which have all been acknowledged.
    pub(super) fn discard_below(&mut self, n: SegNo) {
        while self.base < n && self.packets.pop_front().is_some() {
            self.base += 1;
        }
    }

    /// Multiplies each cwnd(n) by `ratio`.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.packets.iter_mut().for_each(|packet| packet.cwnd *= ratio);
    }

    /// Sets each cwnd(n).
    #[cfg(test)]
    pub(super) fn set_windows(&mut self, cwnd: f64) {
        self.packets.iter_mut().for_each(|packet| packet.cwnd = cwnd);
    }

    /// Renumbers packets after some were split. Removes those for which `lost` holds from
    /// to-be-ack.
    pub(super) fn split(&mut self, numbers: &Renumbered, lost: impl Fn(SegNo) -> bool) {
        let mut packets = VecDeque::with_capacity(self.packets.len());
        for n in self.base..self.base + self.packets.len() as u64 {
            let pieces = numbers.first(n)..numbers.first(n + 1);
            if lost(pieces.start) {
                self.remove(n);
            }
            packets.extend(pieces.filter_map(|_| self.packet(n)));
        }
        self.packets = packets;
        let base = self.base;
        self.base = numbers.first(base);
        for low in &mut self.transmissions {
            *low = numbers.first(full_number(*low, base)) as u32;
        }
    }

    /// Returns the packet of to-be-ack that was sent first.
    pub(super) fn earliest(&mut self) -> Option<(SegNo, Packet)> {
        while let Some(&low) = self.transmissions.front() {
            let n = full_number(low, self.base);
            if let Some(packet) = self.packet(n)
                && packet.waiting == Some(Serial::of(self.passed))
            {
                return Some((n, packet));
            }
            self.transmissions.pop_front();
            self.passed = self.passed.wrapping_add(1);
        }
        None
    }

    /// Returns packet `n`, if it was sent and is above the cumulative point.
    pub(super) fn packet(&self, n: SegNo) -> Option<Packet> {
        self.packets.get(n.checked_sub(self.base)? as usize).copied()
    }

    /// Returns the number of transmissions so far.
    fn count(&self) -> u32 {
        self.passed.wrapping_add(self.transmissions.len() as u32)
    }

    /// Removes packet `n` from to-be-ack and memorize. Returns whether it was in memorize.
    pub(super) fn remove(&mut self, n: SegNo) -> bool {
        let Some(packet) = self.packets.get_mut((n - self.base) as usize) else { return false };
        let Some(serial) = packet.waiting else { return false };
        packet.waiting = None;
        self.to_be_ack -= 1;
        let before = serial.is_before(Serial::of(self.snapshot));
        // While memorize is empty, the snapshot may be too old to be compared with.
        let memorized = self.memorized > 0 && before;
        self.memorized -= u32::from(memorized);
        memorized
    }
}

/// Returns the number with these low bits that is nearest to `base`.
fn full_number(low: u32, base: SegNo) -> SegNo {
    base.wrapping_add_signed(i64::from(low.wrapping_sub(base as u32) as i32))
}
