//! Packets of a bulk transfer on a path where lateness is common: each goes on a constant time after it should
//! have arrived, in the order of sending. The path seems to be in order, and longer.
//!
//! A round trip that varies makes a sender leave slow start (HyStart in CUBIC), overflow the queue of the path,
//! or take its window for too large (BBR). And a receiver drops what was sent before the latest data in order
//! (PAWS, RFC 7323, section 5), so that retransmissions must not overtake what was sent before them. The order
//! of sending follows from the sender's clock (TSval), and the numbers where it shows the same time.

use std::collections::BTreeMap;
use std::ops::Bound;

use unruffled_units::Instant;

use crate::held::{Held, level};

/// Place in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    /// TSval, without wraps.
    sent: i64,
    number: u64,
    serial: u64,
}

/// The line.
#[derive(Debug)]
pub(crate) struct Line<T> {
    packets: BTreeMap<Turn, Held<T>>,
    /// Latest TSval that has arrived, as it is in the packet and without wraps.
    latest: Option<(u32, i64)>,
    serial: u64,
}

impl<T> Line<T> {
    pub(crate) fn new() -> Self {
        Self { packets: BTreeMap::new(), latest: None, serial: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns whether nothing that was sent later than `sent` has arrived.
    #[inline]
    pub(crate) fn is_latest(&self, sent: u32) -> bool {
        self.latest.is_none_or(|(latest, _)| sent.wrapping_sub(latest) as i32 >= 0)
    }

    /// Records the time of sending of a packet that passes, or will be in line.
    #[inline]
    pub(crate) fn note(&mut self, sent: u32) -> i64 {
        let Some((latest, place)) = self.latest else {
            self.latest = Some((sent, 0));
            return 0;
        };
        let later = sent.wrapping_sub(latest) as i32;
        let this = place + i64::from(later);
        if later > 0 {
            self.latest = Some((sent, this));
        }
        this
    }

    /// Returns the latest TSval that has arrived, without wraps.
    pub(crate) fn latest(&self) -> Option<i64> {
        self.latest.map(|(_, place)| place)
    }

    /// Forgets the sender's clock, on a new connection.
    pub(crate) fn forget(&mut self) {
        self.latest = None;
    }

    /// Puts a packet in line that was sent at `sent`, as [`note`](Self::note) returned it, and that begins with
    /// `number`. `is_latest` is whether nothing that was sent later has arrived. Returns the packet if all that
    /// was sent later has gone on.
    pub(crate) fn join(
        &mut self,
        sent: i64,
        is_latest: bool,
        number: u64,
        mut packet: Held<T>,
    ) -> Result<(), Held<T>> {
        match self.nominal_behind(sent, number) {
            // None that overtook it has gone on before it should have.
            Some(nominal) => packet.nominal = nominal,
            None if is_latest => {}
            None => return Err(packet),
        }
        self.insert(sent, number, packet);
        Ok(())
    }

    /// Puts packets in line that waited for gaps, with their times of sending and first numbers.
    pub(crate) fn take_over(&mut self, packets: impl Iterator<Item = (u64, Held<T>)>) {
        for (number, packet) in packets {
            let sent = packet.timestamp.map_or(i64::MIN, |sent| self.note(sent));
            self.insert(sent, number, packet);
        }
        level(&mut self.packets);
    }

    /// Returns when the packet behind a place should have arrived.
    fn nominal_behind(&self, sent: i64, number: u64) -> Option<Instant> {
        let place = Turn { sent, number, serial: u64::MAX };
        let behind = (Bound::Excluded(place), Bound::Unbounded);
        self.packets.range(behind).next().map(|(_, first)| first.nominal)
    }

    fn insert(&mut self, sent: i64, number: u64, packet: Held<T>) {
        self.serial += 1;
        self.packets.insert(Turn { sent, number, serial: self.serial }, packet);
    }

    /// Returns the first number of the first packet, and when it should have arrived.
    pub(crate) fn first(&self) -> Option<(u64, Instant)> {
        let (turn, first) = self.packets.first_key_value()?;
        Some((turn.number, first.nominal))
    }

    /// Removes the first packet, and returns it with its first number.
    pub(crate) fn pop(&mut self) -> Option<(u64, Held<T>)> {
        self.packets.pop_first().map(|(turn, packet)| (turn.number, packet))
    }
}
