//! Detection of copies that the network or the capture made, for example on a mirrored port or with
//! several interfaces.

use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::FixedState;
use unruffled_units::{Duration, Instant};

use super::FlowDirection;
use super::round_trips::RTT_MARGIN;
use super::scoreboard::{Entry, Fingerprint};
use crate::packet::{Packet, Segment};

/// Time within which two interfaces of a host see a packet. A packet without distinguishing features
/// counts as a copy within this time only.
const INTERFACE_DELAY: Duration = Duration::from_millis(1);

/// Time for which a queue between two interfaces holds a packet at most, if nothing shorter is known.
pub(super) const MAX_QUEUE_DELAY: Duration = Duration::from_millis(50);

/// Time within which routers forward a packet. Copies of a packet with an identification of its own
/// are recognised within this time.
const MAX_FORWARDING_DELAY: Duration = Duration::from_secs(1);

/// Features that identify copies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CopyDetector {
    recent_acks: RecentAcks,
    /// Whether no acknowledgement has passed since the newest data.
    pub(super) newest_data_is_unanswered: bool,
}

/// The last acknowledgements that passed.
#[derive(Clone, Copy, Debug, Default)]
struct RecentAcks {
    last: [Option<RecentAck>; 4],
    next: usize,
    id: Option<u16>,
    /// Acknowledgements whose identification differs from the one before.
    differing: u32,
    /// Acknowledgements whose identification is that of the one before.
    repeated: u32,
}

/// An acknowledgement that passed.
#[derive(Clone, Copy, Debug)]
struct RecentAck {
    at: Instant,
    /// Time to live and interface.
    point: (u8, u32),
    digest: u64,
}

impl RecentAcks {
    /// Returns whether each acknowledgement has an identification of its own.
    fn have_unique_ids(&self) -> bool {
        self.repeated <= self.differing / 32 + 1
    }

    fn record(&mut self, ack: RecentAck, id: Option<u16>) {
        if let (Some(id), Some(before)) = (id, self.id) {
            let count = if id == before { &mut self.repeated } else { &mut self.differing };
            *count = count.saturating_add(1);
        }
        self.id = id;
        self.last[self.next] = Some(ack);
        self.next = (self.next + 1) % self.last.len();
    }
}

impl FlowDirection {
    /// Returns whether a packet is a copy of a transmission of `entry`, the entry number `n` that the
    /// packet covers.
    ///
    /// A copy passes at once, or on another interface, or with another time to live. A sender may retransmit a packet
    /// unchanged; that passes later, at the same point. `newest` is whether the entry is the
    /// newest.
    pub(super) fn is_copy(
        &self,
        packet: Fingerprint,
        entry: &Entry,
        n: usize,
        newest: bool,
    ) -> bool {
        let clock_step = self.clues.clock_step;
        let unique = self.clues.ip_ids.is_unique(packet);
        let stamped = packet.timestamp.is_some() && self.has_fine_timestamps();
        let min_rtt = self.path.round_trips.min_rtt();
        let measurable_rtt = min_rtt.filter(|&rtt| !self.clues.is_below_clock_step(rtt));
        // Without a unique identification, a packet within half a round trip is no retransmission.
        let interface_delay = match measurable_rtt {
            Some(rtt) if !unique => INTERFACE_DELAY.min(rtt / 2),
            _ => INTERFACE_DELAY,
        };
        let interface_delay = if clock_step > INTERFACE_DELAY && !unique && !stamped {
            // A single step of a coarse clock may separate a retransmission from the original. Within
            // one step, a packet is a copy only if nothing else has passed in between.
            let at_once = newest && self.copies.newest_data_is_unanswered;
            if at_once { Duration::from_nanos(1) } else { Duration::ZERO }
        } else {
            interface_delay + clock_step
        };
        let forwarding_delay = match measurable_rtt {
            _ if unique => MAX_FORWARDING_DELAY,
            Some(rtt) => rtt.mul_f64(RTT_MARGIN),
            None => MAX_QUEUE_DELAY,
        };
        let since = |at: Instant| packet.at.since(at);
        if packet.matches(entry.last, n) {
            let seen_here = entry.sightings.contain(packet);
            // A fine timestamp clock would have ticked before a retransmission.
            let same_tick = stamped && min_rtt.is_some_and(|rtt| since(entry.last.at) < rtt / 2);
            return since(entry.sightings.last()) < interface_delay
                || same_tick
                || !seen_here && since(entry.last.at) < forwarding_delay;
        }
        let elsewhere =
            packet.point() != entry.first.point() && since(entry.first.at) < forwarding_delay;
        packet.matches(entry.first, n)
            && (unique || stamped)
            && (elsewhere || since(entry.first.at) < interface_delay)
    }

    /// Returns whether an acknowledgement is a copy of a recent one, and records it if it is not.
    pub(super) fn is_copied_ack(&mut self, packet: &Packet, segment: &Segment) -> bool {
        let now = packet.at;
        let point = (packet.ttl, packet.interface);
        let digest = digest(packet, segment);
        let id = packet.id.filter(|&id| id != 0);
        let acks = &mut self.copies.recent_acks;
        let delay = if segment.syn || id.is_some() && acks.have_unique_ids() {
            MAX_QUEUE_DELAY
        } else if segment.sack_count > 0 || self.counts.most_are_duplicates() {
            INTERFACE_DELAY
        } else {
            // Without SACK, duplicate acknowledgements look the same.
            Duration::ZERO
        };
        let is_copy = acks.last.iter().flatten().any(|other| {
            let delay = if other.point == point { delay } else { delay.max(MAX_QUEUE_DELAY) };
            other.digest == digest && now.since(other.at) < delay
        });
        if is_copy {
            self.counts.copied_acks += 1;
        } else {
            acks.record(RecentAck { at: now, point, digest }, id);
        }
        is_copy
    }
}

/// Returns a digest that distinguishes acknowledgements. It covers few fields, because it is computed
/// for each acknowledgement.
fn digest(packet: &Packet, segment: &Segment) -> u64 {
    let pair = |(high, low): (u32, u32)| u64::from(high) << 32 | u64::from(low);
    let small = u32::from(packet.id.unwrap_or(0)) << 16 | u32::from(segment.window);
    let mut digest = FixedState::with_seed(0).build_hasher();
    digest.write_u64(pair((segment.seq, segment.ack.unwrap_or(0))));
    digest.write_u64(pair((segment.len, small)));
    digest.write_u64(segment.timestamps.map_or(0, pair));
    // The latest arrival is in the first block (RFC 2018, section 4), or after a DSACK in the second.
    for block in &segment.sack[..usize::from(segment.sack_count).min(2)] {
        digest.write_u64(pair(*block));
    }
    digest.finish()
}
