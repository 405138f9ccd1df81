//! Which of two packets was sent first: by timestamps, IP identifications, or the time between them.

use unruffled_units::Duration;

use super::Half;
use crate::outstanding::Mark;

/// Without anything better, a hole that is filled within this time was not filled by a
/// retransmission (Wireshark's rule).
const NO_ROUND_TRIP: Duration = Duration::from_millis(3);

/// Whether IP identifications count up, so that they tell the order of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ids {
    last: Option<u16>,
    up: u32,
    other: u32,
}

impl Ids {
    /// A packet that nothing sent before it can follow.
    pub(super) fn in_order(&mut self, id: Option<u16>, pieces: u64) {
        if let (Some(id), Some(last)) = (id, self.last) {
            match id.wrapping_sub(last) {
                1..=1000 => self.up += 1,
                _ => self.other += 1,
            }
        }
        // The pieces of a joined segment are numbered on.
        self.last = id.map(|id| id.wrapping_add(pieces.saturating_sub(1) as u16));
    }

    pub(super) fn tell(&self) -> bool {
        self.up >= 8 && self.other <= self.up / 32
    }
}

/// When something was sent, relative to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Before,
    After,
}

impl Half {
    /// Whether `mark` was sent before or after `other`, which passed here earlier.
    pub(super) fn order(&mut self, mark: Mark, other: Mark) -> Order {
        // A clock that has ticked in between decides (RFC 7323, section 4.1).
        let ticks = match (mark.stamp, other.stamp) {
            (Some(stamp), Some(theirs)) => Some(stamp.wrapping_sub(theirs) as i32),
            _ => None,
        };
        match ticks {
            Some(ticks) if ticks < 0 => return Order::Before,
            Some(ticks) if ticks > 0 => return Order::After,
            // Nothing is sent again for what it overtook within less than a round trip.
            Some(_) if self.clock_is_fine() => return Order::Before,
            _ => {}
        }
        if let (Some(id), Some(theirs)) = (mark.id, other.id)
            && self.ids.tell()
        {
            let before = (id.wrapping_sub(theirs) as i16) < 0;
            return if before { Order::Before } else { Order::After };
        }
        self.counts.guessed += 1;
        let since = mark.at.since(other.at);
        let soon = self.reaction().map_or(NO_ROUND_TRIP, |least| least.mul_f64(0.9));
        if since < soon { Order::Before } else { Order::After }
    }

    /// The minimum time in which the sender can answer what passes here: to the receiver, back to the
    /// sender, and here again; without the first part of it where that is not known.
    pub(super) fn reaction(&self) -> Option<Duration> {
        self.round_trip().or(self.trips.behind)
    }

    /// Whether the sender's clock ticks at least twice before it can answer what passes here.
    pub(super) fn clock_is_fine(&self) -> bool {
        let (Some((stamp, at)), Some((latest, now)), Some(reaction)) =
            (self.stamps.first, self.stamps.now, self.reaction())
        else {
            return false;
        };
        let ticks = u64::from(latest.wrapping_sub(stamp));
        ticks > 0 && (now.since(at) / ticks) * 2 < reaction
    }
}
