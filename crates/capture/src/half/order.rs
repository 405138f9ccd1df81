//! Which of two packets was sent first: by timestamps, IP identifications, or the time between them.

use unruffled_units::{Duration, Instant};

use super::Half;
use crate::outstanding::Mark;

/// Without anything better, a hole that is filled within this time was not filled by a
/// retransmission (Wireshark's rule).
const NO_ROUND_TRIP: Duration = Duration::from_millis(3);

/// So many later segments have a sender resend (RFC 5681, section 3.2).
const DUPLICATES: u64 = 3;

/// What a sender, or a host with one counter for all that it sends, moves its identification by from
/// one packet to the next. One in 65 random steps is as small, and goes up.
const SMALL_STEP: u16 = 1000;

/// Fewer steps in so many that go another way count for nothing.
const FEW: u32 = 32;

/// Random identifications go up by so much or less every other time.
const FORWARD: u16 = 1 << 15;

/// Random identifications seem to count up once in two to the power of this.
const ENOUGH_BITS: u32 = 16;

/// Whether IP identifications count up, so that they tell the order of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ids {
    last: Option<(u16, Instant)>,
    /// How many segments the last was joined of, less one.
    joined: u16,
    /// Steps of at most [`SMALL_STEP`], and longer ones that go up.
    small: u32,
    long: u32,
    /// Those of at most [`SMALL_STEP`] that go down, and the longest: a counter that several processors
    /// share, each with some in stock, does not tell what was sent at about the same time.
    back: u32,
    blur: u16,
    down: u32,
    same: u32,
    /// What the steps that go up come to, and the time that they took.
    advanced: u64,
    span: Duration,
    /// Retransmissions with the identification of what they repeat, and with one of their own.
    kept: u32,
    renewed: u32,
}

impl Ids {
    /// A packet that nothing sent before it can follow.
    pub(super) fn in_order(&mut self, mark: Mark, pieces: u64) {
        if let (Some(id), Some((last, at))) = (mark.id, self.last) {
            // The pieces of a joined segment are numbered on.
            let step = id.wrapping_sub(last.wrapping_add(self.joined));
            let count = match step {
                _ if id == last => &mut self.same,
                0 => &mut self.same,
                1..=SMALL_STEP => &mut self.small,
                _ if step < FORWARD => &mut self.long,
                _ if step.wrapping_neg() <= SMALL_STEP => {
                    self.blur = self.blur.max(step.wrapping_neg());
                    &mut self.back
                }
                _ => &mut self.down,
            };
            *count = count.saturating_add(1);
            if (1..FORWARD).contains(&step) {
                self.advanced += u64::from(step);
                self.span += mark.at.since(at);
            }
        }
        self.last = mark.id.map(|id| (id, mark.at));
        self.joined = pieces.saturating_sub(1) as u16;
    }

    /// Whether they count up: a small step is worth six bits of evidence against chance, a longer one
    /// a bit.
    fn count_up(&self) -> bool {
        let up = self.small.saturating_add(self.long);
        let bits = self.small.saturating_mul(6).saturating_add(self.long);
        bits >= ENOUGH_BITS && self.down.saturating_add(self.same) <= up / FEW && self.back < up
    }

    /// A packet is sent again.
    pub(super) fn resent(&mut self, mark: Mark, before: Mark) {
        let kept = self.is_own(mark) && mark.id == before.id;
        let count = if kept { &mut self.kept } else { &mut self.renewed };
        *count = count.saturating_add(1);
    }

    /// Whether each packet has one of its own, whatever their order.
    fn distinct(&self) -> bool {
        self.same <= self.differing() / FEW
    }

    fn differing(&self) -> u32 {
        let up = self.small.saturating_add(self.long);
        up.saturating_add(self.down).saturating_add(self.back)
    }

    /// Whether no other packet has that of `mark`. One of 0 often says nothing (RFC 6864, section 4.1).
    pub(super) fn is_own(&self, mark: Mark) -> bool {
        let told = mark.id.is_some_and(|id| id != 0 || self.differing() > 0);
        told && self.distinct()
    }

    /// Identifications that are no further apart do not tell the order of sending.
    fn blur(&self) -> u16 {
        let up = self.small.saturating_add(self.long);
        if self.back <= up / FEW { 0 } else { self.blur.saturating_mul(2) }
    }

    /// Whether `mark` was sent before or after `other`, as far as identifications tell.
    fn order(&self, mark: Mark, other: Mark) -> Option<Order> {
        let (id, theirs) = (mark.id?, other.id?);
        let (ahead, back) = (id.wrapping_sub(theirs), theirs.wrapping_sub(id));
        // A sender that keeps them sends again what seems to be older.
        if self.kept > self.renewed && ahead >= FORWARD {
            return None;
        }
        if !self.count_up() || ahead.min(back) < self.blur() {
            return None;
        }
        if (1..=SMALL_STEP).contains(&back) {
            return Some(Order::Before);
        }
        // Where the counter may have gone half its way since, larger does not mean later.
        let moved = self.advanced as f64 * mark.at.since(other.at).ratio(self.span);
        if self.span > Duration::ZERO && moved > f64::from(FORWARD / 2) {
            return None;
        }
        Some(if ahead < FORWARD { Order::After } else { Order::Before })
    }
}

/// When something was sent, relative to something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Before,
    After,
}

impl Half {
    /// Whether `mark` was sent before or after `other`, which passed here earlier, as did `behind`
    /// segments that follow in the stream.
    pub(super) fn order(&mut self, mark: Mark, other: Mark, behind: u64) -> Order {
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
        if let Some(order) = self.ids.order(mark, other) {
            return order;
        }
        self.counts.guessed += 1;
        let before = match self.reaction().filter(|&least| !self.is_below_tick(least)) {
            Some(least) => mark.at.since(other.at) < least.mul_f64(0.9),
            // The capture's clock tells nothing: no sender resends for fewer.
            None if self.tick > NO_ROUND_TRIP => behind < DUPLICATES,
            None => mark.at.since(other.at) < NO_ROUND_TRIP,
        };
        if before { Order::Before } else { Order::After }
    }

    /// Whether a span is too short for the capture's clock.
    pub(crate) fn is_below_tick(&self, span: Duration) -> bool {
        self.tick > Duration::ZERO && span < self.tick
    }

    /// The minimum time in which the sender can answer what passes here: to the receiver, back to the
    /// sender, and here again; without the first part of it where that is not known.
    pub(super) fn reaction(&self) -> Option<Duration> {
        self.round_trip().or(self.trips.behind.least)
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
