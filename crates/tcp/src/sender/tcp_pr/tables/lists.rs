//! The lists of TCP-PR's tables. To-be-ack is the set of packets that are `waiting`, in the order of
//! their sending in `transmissions`; memorize is the part of it that was sent before `snapshot`.
//! To-be-sent is not here: that are the scoreboard's lost packets, then new data.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use unruffled_units::Instant;

use crate::ring;
use crate::sender::stream::{Renumbered, SegNo};

/// One packet that was sent and lies above the cumulative point. In 20 octets, so that with its place on
/// the scoreboard, that in [`Lists::transmissions`] and the room for more a segment has no more than 64.
#[derive(Clone, Copy, Debug)]
#[repr(Rust, packed(4))]
pub(super) struct Packet {
    /// time(n) and cwnd(n): when it was last sent, and the window then.
    pub(super) time: Instant,
    pub(super) cwnd: f64,
    /// Which transmission that was, while the packet is in to-be-ack.
    waiting: Option<Serial>,
}

/// Which transmission, counted over all packets: the low 31 bits, since no two that are compared are
/// half that range apart, above one that is set.
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

#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    packets: VecDeque<Packet>,
    /// Number of the first of them.
    base: SegNo,
    /// Transmissions by the low bits of their packet's number, in the order of time; those that are not
    /// their packet's last, or whose packet waits no more, are passed over when they come to the front.
    transmissions: VecDeque<u32>,
    /// How many there were before them.
    passed: u32,
    /// |to-be-ack|.
    to_be_ack: u32,
    /// How many transmissions there had been when memorize was filled, and |memorize|.
    snapshot: u32,
    memorized: u32,
}

impl Lists {
    /// What they take, in octets.
    pub(super) fn octets(&self) -> usize {
        self.packets.capacity() * size_of::<Packet>()
            + self.transmissions.capacity() * size_of::<u32>()
    }

    /// Frees what is not in use.
    pub(super) fn shrink(&mut self) {
        self.packets.shrink_to_fit();
        self.transmissions.shrink_to_fit();
    }

    /// Nothing is above the cumulative point.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// |to-be-ack|.
    pub(super) fn to_be_ack(&self) -> u32 {
        self.to_be_ack
    }

    /// |memorize|.
    pub(super) fn memorized(&self) -> u32 {
        self.memorized
    }

    /// Fills memorize with to-be-ack (line 8).
    pub(super) fn memorize(&mut self) {
        self.snapshot = self.count();
        self.memorized = self.to_be_ack;
    }

    /// Packet `n` left with this window (lines 26 and 27).
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

    /// Every packet below `n` has been acknowledged.
    pub(super) fn forget_below(&mut self, n: SegNo) {
        while self.base < n && self.packets.pop_front().is_some() {
            self.base += 1;
        }
    }

    /// Packets are smaller than before by `ratio`.
    pub(super) fn scale(&mut self, ratio: f64) {
        self.packets.iter_mut().for_each(|packet| packet.cwnd *= ratio);
    }

    /// Every packet was sent with this window.
    #[cfg(test)]
    pub(super) fn set_windows(&mut self, cwnd: f64) {
        self.packets.iter_mut().for_each(|packet| packet.cwnd = cwnd);
    }

    /// Packets were split; those that are `lost` for it are in to-be-ack no more.
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
            *low = numbers.first(whole(*low, base)) as u32;
        }
    }

    /// The packet of to-be-ack that was sent first.
    pub(super) fn earliest(&mut self) -> Option<(SegNo, Packet)> {
        while let Some(&low) = self.transmissions.front() {
            let n = whole(low, self.base);
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

    pub(super) fn packet(&self, n: SegNo) -> Option<Packet> {
        self.packets.get(n.checked_sub(self.base)? as usize).copied()
    }

    /// Transmissions so far.
    fn count(&self) -> u32 {
        self.passed.wrapping_add(self.transmissions.len() as u32)
    }

    /// Takes packet `n` out of to-be-ack and memorize; says whether it was in memorize.
    pub(super) fn remove(&mut self, n: SegNo) -> bool {
        let Some(packet) = self.packets.get_mut((n - self.base) as usize) else { return false };
        let Some(serial) = packet.waiting else { return false };
        packet.waiting = None;
        self.to_be_ack -= 1;
        let before = serial.is_before(Serial::of(self.snapshot));
        // Where memorize is empty, the snapshot may be any number of transmissions ago.
        let memorized = self.memorized > 0 && before;
        self.memorized -= u32::from(memorized);
        memorized
    }
}

/// The number with these low bits that is nearest to `base`.
fn whole(low: u32, base: SegNo) -> SegNo {
    base.wrapping_add_signed(i64::from(low.wrapping_sub(base as u32) as i32))
}
