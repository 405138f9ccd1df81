//! Packets that the network or the capture has doubled, as on a mirrored port or several interfaces.

use std::hash::{DefaultHasher, Hasher as _};

use unruffled_units::{Duration, Instant};

use super::Half;
use crate::outstanding::{Entry, Mark};
use crate::packet::{Packet, Segment};

/// Two interfaces of a host see a packet within this time. What has nothing of its own that a second
/// packet would not have is a copy within it, too.
const SOON: Duration = Duration::from_millis(1);

/// A queue between two interfaces holds a packet for less than this, if nothing else bounds it.
pub(crate) const COPIED: Duration = Duration::from_millis(50);

/// A router, or several, forward a packet within this time: what is known by an identification of its
/// own is looked for so long.
const FORWARDED: Duration = Duration::from_secs(1);

/// A retransmission passes a round trip after what it repeats; this share of it allows for jitter.
const SURELY: f64 = 0.9;

/// The acknowledgements that passed last: when, with which time to live, and a digest of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    last: [Option<(Instant, u8, u64)>; 4],
    next: usize,
    id: Option<u16>,
    /// Acknowledgements whose identification differs from the one before, and those that repeat it.
    differing: u32,
    repeated: u32,
}

impl Heard {
    /// Whether each acknowledgement has an identification of its own.
    fn distinct(&self) -> bool {
        self.repeated <= self.differing / 32 + 1
    }

    fn note(&mut self, id: Option<u16>) {
        if let (Some(id), Some(before)) = (id, self.id) {
            let count = if id == before { &mut self.repeated } else { &mut self.differing };
            *count = count.saturating_add(1);
        }
        self.id = id;
    }
}

impl Half {
    /// Whether the packet of that mark is one that entry `entry`, the `nth` that it covers, was sent in,
    /// seen once more: at once, or where its time to live is another. A sender may send a packet again
    /// as it stands in its memory; that comes later, and with the same time to live.
    pub(super) fn is_copy(&self, mark: Mark, entry: &Entry, nth: usize, newest: bool) -> bool {
        let alike = |other: Mark| mark.is_alike(other, nth);
        let known = self.ids.is_own(mark);
        let stamped = mark.stamp.is_some() && self.clock_is_fine();
        // What tells nothing is sent again no sooner than a sender can answer.
        let soon = match self.round_trip() {
            Some(rtt) if !known && !self.is_below_tick(rtt) => SOON.min(rtt / 2),
            _ => SOON,
        };
        // A clock that has moved once may have done so just in between.
        let soon = if self.tick > SOON && !known && !stamped {
            // Nothing has happened in between.
            if newest && self.unanswered { Duration::from_nanos(1) } else { Duration::ZERO }
        } else {
            soon + self.tick
        };
        let forwarded = match self.round_trip() {
            _ if known => FORWARDED,
            Some(rtt) if !self.is_below_tick(rtt) => rtt.mul_f64(SURELY),
            _ => COPIED,
        };
        let since = |at: Instant| mark.at.since(at);
        if alike(entry.last) {
            let again = entry.passings.at(mark.ttl);
            // A clock that ticks between a packet and its retransmission shows that there was none.
            let same_tick =
                stamped && self.round_trip().is_some_and(|rtt| since(entry.last.at) < rtt / 2);
            return since(entry.passings.last) < soon
                || same_tick
                || !again && since(entry.last.at) < forwarded;
        }
        let another_place = mark.ttl != entry.first.ttl && since(entry.first.at) < forwarded;
        alike(entry.first) && (known || stamped) && (another_place || since(entry.first.at) < soon)
    }

    /// Whether this acknowledgement has passed already.
    pub(super) fn is_copied(&mut self, packet: &Packet, segment: &Segment) -> bool {
        let (now, ttl, digest) = (packet.at, packet.ttl, digest(packet, segment));
        let id = packet.id.filter(|&id| id != 0);
        let within = if segment.syn || id.is_some() && self.heard.distinct() {
            COPIED
        } else if segment.sack_count > 0 || self.counts.duplicates > self.counts.segments / 2 {
            SOON
        } else {
            // Without SACK one acknowledgement is as the other.
            Duration::ZERO
        };
        let heard = &mut self.heard;
        let copied = heard.last.iter().flatten().any(|&(at, place, last)| {
            let within = if place == ttl { within } else { within.max(COPIED) };
            last == digest && now.since(at) < within
        });
        if !copied {
            heard.note(id);
            heard.last[heard.next] = Some((now, ttl, digest));
            heard.next = (heard.next + 1) % heard.last.len();
        }
        copied
    }
}

/// What tells an acknowledgement from others; few words, for each that passes has one made of it.
fn digest(packet: &Packet, segment: &Segment) -> u64 {
    let pair = |(high, low): (u32, u32)| u64::from(high) << 32 | u64::from(low);
    let small = u32::from(packet.id.unwrap_or(0)) << 16 | u32::from(segment.window);
    let mut digest = DefaultHasher::new();
    digest.write_u64(pair((segment.seq, segment.ack.unwrap_or(0))));
    digest.write_u64(pair((segment.len, small)));
    digest.write_u64(segment.timestamps.map_or(0, pair));
    // What came last is in the first of its blocks (RFC 2018, section 4), or the second (RFC 2883).
    for block in &segment.sack[..usize::from(segment.sack_count).min(2)] {
        digest.write_u64(pair(*block));
    }
    digest.finish()
}
