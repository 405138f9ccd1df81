//! Packets that the network or the capture has doubled, as on a mirrored port or several interfaces.

use std::hash::{DefaultHasher, Hasher as _};

use unruffled_units::{Duration, Instant};

use super::Half;
use crate::outstanding::Mark;
use crate::packet::{Packet, Segment};

/// What has nothing of its own that a second packet would not have is a copy within this time.
const SOON: Duration = Duration::from_millis(1);

/// No interface comes later than this after another.
pub(crate) const COPIED: Duration = Duration::from_millis(50);

/// The acknowledgements that passed last: when, and a digest of each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    last: [Option<(Instant, u64)>; 4],
    next: usize,
}

impl Half {
    /// Whether both are one packet.
    pub(super) fn is_copy(&self, mark: Mark, other: Mark) -> bool {
        if mark.stamp != other.stamp || mark.id != other.id {
            return false;
        }
        // Nothing is sent again within a tick of such a clock, nor with the same identification.
        let tells =
            mark.stamp.is_some() && self.clock_is_fine() || mark.id.is_some() && self.ids.tell();
        let soon = self.reaction().map_or(SOON, |rtt| SOON.min(rtt / 2));
        tells || mark.at.since(other.at) < soon
    }

    /// Whether this acknowledgement has passed already.
    pub(super) fn is_copied(&mut self, packet: &Packet, segment: &Segment) -> bool {
        let (now, digest) = (packet.at, digest(packet, segment));
        let within = if segment.syn || packet.id.is_some_and(|id| id != 0) {
            COPIED
        } else if segment.sack_count > 0 || self.counts.duplicates > self.counts.segments / 2 {
            SOON
        } else {
            // Without SACK one acknowledgement is as the other.
            Duration::ZERO
        };
        let heard = &mut self.heard;
        let same = |&(at, last): &(Instant, u64)| last == digest && now.since(at) < within;
        let copied = heard.last.iter().flatten().any(same);
        if !copied {
            heard.last[heard.next] = Some((now, digest));
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
