//! Order of sending of two packets, by timestamps, IP identifications, or the time between them.

use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use super::round_trips::RTT_MARGIN;
use super::scoreboard::Fingerprint;

/// Maximum age of a hole at which the packet that fills it counts as late, and not as a retransmission,
/// if no round trip is known (Wireshark's rule).
const MAX_LATENESS_WITHOUT_RTT: Duration = Duration::from_millis(3);

/// Duplicate acknowledgements that cause a retransmission (RFC 5681, section 3.2).
const DUPTHRESH: u64 = 3;

/// Greatest step between the identifications of two consecutive packets of one counter, which may
/// serve a whole host. One in 65 random steps is as small and upwards.
const MAX_SMALL_STEP: u16 = 1000;

/// Steps upwards per tolerated step of another kind.
const STEPS_PER_EXCEPTION: u32 = 32;

/// Half the range of identifications. Random ones step upwards by less than this every other time.
const HALF_RANGE: u16 = 1 << 15;

/// Evidence that identifications count up, in bits. Random ones seem to count up once in 2^16 cases.
const MIN_EVIDENCE_BITS: u32 = 16;

/// Features that show the order of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OrderClues {
    pub(super) ip_ids: IpIds,
    pub(super) timestamps: TimestampClock,
    /// Step of the capture's clock where that is coarse, else zero.
    pub(super) clock_step: Duration,
}

impl OrderClues {
    /// Returns whether a duration is too short for the capture's clock.
    pub(super) fn is_below_clock_step(&self, duration: Duration) -> bool {
        self.clock_step > Duration::ZERO && duration < self.clock_step
    }
}

/// The timestamp clock of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TimestampClock {
    /// Whether the sender uses timestamps.
    pub(super) seen: bool,
    /// The first timestamp of data in order, and when it passed.
    first: Option<(u32, Instant)>,
    /// The latest timestamp of data in order, and when it passed.
    latest: Option<(u32, Instant)>,
}

impl TimestampClock {
    /// Records a packet of new data.
    pub(super) fn record(&mut self, packet: Fingerprint) {
        self.latest = packet.timestamp.map(|timestamp| (timestamp, packet.at));
        self.first = self.first.or(self.latest);
    }

    /// Returns whether the clock ticks at least twice within `duration`.
    fn ticks_twice_within(&self, duration: Duration) -> bool {
        let (Some((first, began)), Some((latest, ended))) = (self.first, self.latest) else {
            return false;
        };
        let ticks = u64::from(latest.wrapping_sub(first));
        ticks > 0 && (ended.since(began) / ticks) * 2 < duration
    }
}

/// IP identifications of a sender, and whether they count up, so that they show the order of sending.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IpIds {
    last: Option<(u16, Instant)>,
    /// Number of segments from which the last packet was joined, less one.
    joined: u16,
    steps: Steps,
    /// Longest step down of at most [`MAX_SMALL_STEP`]. Where several processors share a counter, and
    /// each has a stock of numbers, packets sent at about the same time are not in order.
    largest_step_down: u16,
    /// Sum of the steps up.
    advanced: u64,
    /// Time that the steps up took.
    advance_time: Duration,
    /// Retransmissions with the identification of the original.
    kept: u32,
    /// Retransmissions with an identification of their own.
    renewed: u32,
}

/// Numbers of steps between consecutive identifications, by kind.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    /// Up by at most [`MAX_SMALL_STEP`].
    small: u32,
    /// Up by more.
    long: u32,
    /// Down by at most [`MAX_SMALL_STEP`].
    down: u32,
    /// Down by more.
    long_down: u32,
    /// No step.
    none: u32,
}

impl Steps {
    fn up(&self) -> u32 {
        self.small.saturating_add(self.long)
    }

    fn all_but_none(&self) -> u32 {
        self.up().saturating_add(self.long_down).saturating_add(self.down)
    }
}

impl IpIds {
    /// Records a packet of new data, joined from `pieces` segments. No packet before it can follow it.
    pub(super) fn record(&mut self, packet: Fingerprint, pieces: u64) {
        if let (Some(id), Some((last, at))) = (packet.id, self.last) {
            // The pieces of a joined packet are numbered consecutively.
            let step = id.wrapping_sub(last.wrapping_add(self.joined));
            let steps = &mut self.steps;
            let count = match step {
                _ if id == last => &mut steps.none,
                0 => &mut steps.none,
                1..=MAX_SMALL_STEP => &mut steps.small,
                _ if step < HALF_RANGE => &mut steps.long,
                _ if step.wrapping_neg() <= MAX_SMALL_STEP => {
                    self.largest_step_down = self.largest_step_down.max(step.wrapping_neg());
                    &mut steps.down
                }
                _ => &mut steps.long_down,
            };
            *count = count.saturating_add(1);
            if (1..HALF_RANGE).contains(&step) {
                self.advanced += u64::from(step);
                self.advance_time += packet.at.since(at);
            }
        }
        self.last = packet.id.map(|id| (id, packet.at));
        self.joined = pieces.saturating_sub(1) as u16;
    }

    /// Records a retransmission of the packet `before`.
    pub(super) fn record_retransmission(&mut self, packet: Fingerprint, before: Fingerprint) {
        let kept = self.is_unique(packet) && packet.id == before.id;
        let count = if kept { &mut self.kept } else { &mut self.renewed };
        *count = count.saturating_add(1);
    }

    /// Returns whether the identifications count up. Against chance, a small step is six bits of
    /// evidence, and a longer one is one bit.
    fn count_up(&self) -> bool {
        let Steps { small, long, down, long_down, none } = self.steps;
        let up = self.steps.up();
        let bits = small.saturating_mul(6).saturating_add(long);
        bits >= MIN_EVIDENCE_BITS
            && long_down.saturating_add(none) <= up / STEPS_PER_EXCEPTION
            && down < up
    }

    /// Returns whether no other packet has the identification of `packet`. An identification of 0 is
    /// often none (RFC 6864, section 4.1).
    pub(super) fn is_unique(&self, packet: Fingerprint) -> bool {
        let differing = self.steps.all_but_none();
        let present = packet.id.is_some_and(|id| id != 0 || differing > 0);
        present && self.steps.none <= differing / STEPS_PER_EXCEPTION
    }

    /// Returns the smallest difference between identifications that shows the order of sending.
    fn min_difference(&self) -> u16 {
        let in_order = self.steps.down <= self.steps.up() / STEPS_PER_EXCEPTION;
        if in_order { 0 } else { self.largest_step_down.saturating_mul(2) }
    }

    /// Returns whether `packet` was sent before or after `other`, if identifications show it.
    fn order(&self, packet: Fingerprint, other: Fingerprint) -> Option<SendOrder> {
        let id = packet.id?;
        let other_id = other.id?;
        let ahead = id.wrapping_sub(other_id);
        let behind = other_id.wrapping_sub(id);
        // Where retransmissions keep the identification, a retransmission looks older.
        if self.kept > self.renewed && ahead >= HALF_RANGE {
            return None;
        }
        if !self.count_up() || ahead.min(behind) < self.min_difference() {
            return None;
        }
        if (1..=MAX_SMALL_STEP).contains(&behind) {
            return Some(SendOrder::Before);
        }
        // If the counter may have passed half of the range meanwhile, larger does not mean later.
        let elapsed = packet.at.since(other.at);
        let moved = self.advanced as f64 * elapsed.ratio(self.advance_time);
        if self.advance_time > Duration::ZERO && moved > f64::from(HALF_RANGE / 2) {
            return None;
        }
        Some(if ahead < HALF_RANGE { SendOrder::After } else { SendOrder::Before })
    }
}

/// Order in which two packets were sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendOrder {
    Before,
    After,
}

impl FlowDirection {
    /// Returns whether `packet` was sent before or after `other`, which passed earlier.
    ///
    /// `followers` is the number of segments that passed and follow `packet` in the stream.
    pub(super) fn send_order(
        &mut self,
        packet: Fingerprint,
        other: Fingerprint,
        followers: u64,
    ) -> SendOrder {
        // A timestamp clock that has ticked in between decides (RFC 7323, section 4.1).
        let ticks = match (packet.timestamp, other.timestamp) {
            (Some(timestamp), Some(other)) => Some(timestamp.wrapping_sub(other) as i32),
            _ => None,
        };
        match ticks {
            Some(ticks) if ticks < 0 => return SendOrder::Before,
            Some(ticks) if ticks > 0 => return SendOrder::After,
            // A retransmission follows what it overtakes by a round trip at least.
            Some(_) if self.has_fine_timestamps() => return SendOrder::Before,
            _ => {}
        }
        if let Some(order) = self.clues.ip_ids.order(packet, other) {
            return order;
        }
        self.counts.judged_by_time += 1;
        let elapsed = packet.at.since(other.at);
        let reaction_time = self.path.round_trips.reaction_time();
        let is_before = match reaction_time.filter(|&time| !self.clues.is_below_clock_step(time)) {
            Some(time) => elapsed < time.mul_f64(RTT_MARGIN),
            // The capture's clock is too coarse. No sender retransmits after fewer duplicates.
            None if self.clues.clock_step > MAX_LATENESS_WITHOUT_RTT => followers < DUPTHRESH,
            None => elapsed < MAX_LATENESS_WITHOUT_RTT,
        };
        if is_before { SendOrder::Before } else { SendOrder::After }
    }

    /// Returns whether the sender's timestamp clock ticks at least twice before the sender can react
    /// to what passes the capture point.
    pub(super) fn has_fine_timestamps(&self) -> bool {
        let reaction_time = self.path.round_trips.reaction_time();
        reaction_time.is_some_and(|time| self.clues.timestamps.ticks_twice_within(time))
    }
}
