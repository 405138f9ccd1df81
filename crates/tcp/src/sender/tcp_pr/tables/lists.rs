//! The lists of TCP-PR's tables. To-be-ack is the set of packets that are `waiting`, in the order of
//! their sending in `transmissions`; memorize is the part of it that was sent before `snapshot`.
//! To-be-sent is not here: that are the scoreboard's lost packets, then new data.

use std::collections::VecDeque;

use unruffled_units::Instant;

use crate::ring;
use crate::sender::stream::{Renumbered, SegNo};

/// One packet that was sent and lies above the cumulative point: 24 octets, as much as a segment of 64
/// has left beside its place on the scoreboard and in [`Lists::transmissions`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// time(n) and cwnd(n): when it was last sent, and the window then.
    pub(super) time: Instant,
    pub(super) cwnd: f64,
    /// Which transmission that was, counted over all packets: the low bits, since no two that are
    /// compared are half their range apart.
    serial: u32,
    /// It is in to-be-ack.
    waiting: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    packets: VecDeque<Packet>,
    /// Number of the first of them.
    base: SegNo,
    /// Transmissions by the low bits of their packet's number, in the order of time; those that are not
    /// their packet's last, or whose packet waits no more, are passed over when they come to the front.
    transmissions: VecDeque<u32>,
    /// Serial number of the first of them.
    first_serial: u32,
    /// |to-be-ack|.
    to_be_ack: u32,
    /// Serial number of the first transmission after memorize was filled, and |memorize|.
    snapshot: u32,
    memorized: u32,
}

impl Lists {
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
        self.snapshot = self.next_serial();
        self.memorized = self.to_be_ack;
    }

    /// Packet `n` left with this window (lines 26 and 27).
    pub(super) fn on_sent(&mut self, n: SegNo, time: Instant, cwnd: f64) {
        let packet = Packet { time, cwnd, serial: self.next_serial(), waiting: true };
        match self.packets.get_mut((n - self.base) as usize) {
            Some(old) => {
                debug_assert!(!old.waiting, "sent again without having been dropped");
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
                && packet.waiting
                && packet.serial == self.first_serial
            {
                return Some((n, packet));
            }
            self.transmissions.pop_front();
            self.first_serial = self.first_serial.wrapping_add(1);
        }
        None
    }

    pub(super) fn packet(&self, n: SegNo) -> Option<Packet> {
        self.packets.get(n.checked_sub(self.base)? as usize).copied()
    }

    fn next_serial(&self) -> u32 {
        self.first_serial.wrapping_add(self.transmissions.len() as u32)
    }

    /// Takes packet `n` out of to-be-ack and memorize; says whether it was in memorize.
    pub(super) fn remove(&mut self, n: SegNo) -> bool {
        let Some(packet) = self.packets.get_mut((n - self.base) as usize) else { return false };
        if !std::mem::take(&mut packet.waiting) {
            return false;
        }
        self.to_be_ack -= 1;
        let before = (packet.serial.wrapping_sub(self.snapshot) as i32) < 0;
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
