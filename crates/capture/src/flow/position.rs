//! Position in the stream: sequence numbers extended to 64 bits.

use crate::packet::Segment;

/// Greatest plausible distance between two positions, in octets. No window is larger (RFC 7323,
/// section 2.3).
const MAX_WINDOW_OCTETS: u64 = 1 << 30;

/// Length of the stream that a capture may lack before a packet further ahead counts as implausible,
/// in octets. Twice the largest flight comes on top.
const MAX_GAP_OCTETS: u64 = 1 << 20;

/// Progress of the stream of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StreamPosition {
    /// First known octet. The low 32 bits of a position are the sequence number.
    pub(super) origin: Option<u64>,
    /// The octet after the last one known to have been sent.
    pub(super) next: u64,
    /// The octet after the last one that a captured packet of the sender shows to have been sent.
    pub(super) passed: u64,
    /// The first octet that is not acknowledged.
    pub(super) una: u64,
    /// Number of segments sent, each counted once.
    pub(super) segments: u64,
    /// Largest number of octets in flight.
    pub(super) largest_flight: u64,
    /// The last position that was rejected as implausible.
    rejected: Option<u64>,
}

impl StreamPosition {
    /// Begins the stream at `origin` if it has not begun; returns where it begins.
    pub(super) fn begin(&mut self, origin: u64) -> u64 {
        if let Some(origin) = self.origin {
            return origin;
        }
        self.origin = Some(origin);
        self.next = origin;
        self.una = origin;
        origin
    }

    /// Returns the octets in flight.
    pub(super) fn flight(&self) -> u64 {
        self.next.saturating_sub(self.una)
    }

    /// Returns the octets of the stream that passed or were acknowledged.
    pub(super) fn len(&self) -> u64 {
        self.origin.map_or(0, |origin| self.next - origin)
    }

    /// Returns the octets that the receiver has acknowledged.
    pub(super) fn acknowledged(&self) -> u64 {
        self.origin.map_or(0, |origin| self.una.saturating_sub(origin))
    }

    /// Returns whether a SYN begins at another number than this stream.
    pub(super) fn conflicts_with(&self, syn: &Segment) -> bool {
        self.origin.is_some_and(|origin| origin != after_syn(syn))
    }

    /// Returns whether `position` lies no further from what was sent than a window or a gap in a capture.
    pub(super) fn is_near(&self, position: u64) -> bool {
        position.abs_diff(self.next) <= 2 * self.largest_flight + MAX_GAP_OCTETS
    }

    /// Returns whether `position` is no plausible continuation, because the packet is damaged or
    /// belongs to another connection.
    ///
    /// A position is implausible if it lies much further ahead than anything that was in flight so
    /// far. If the next such packet is close to the last, the capture lacks what is between, and the
    /// position is plausible.
    pub(super) fn is_implausible(&mut self, position: u64) -> bool {
        if position.abs_diff(self.next) > MAX_WINDOW_OCTETS {
            return true;
        }
        let room = 2 * self.largest_flight + MAX_GAP_OCTETS;
        if position <= self.next + room {
            return false;
        }
        let before = self.rejected.replace(position);
        before.is_none_or(|other| other == position || other.abs_diff(position) > room)
    }
}

/// Returns the position of `seq` in a stream whose first octet is unknown. The offset permits positions
/// before it.
pub(super) fn first_position(seq: u32) -> u64 {
    1 << 32 | u64::from(seq)
}

/// Returns the position of the first octet after a SYN.
pub(super) fn after_syn(syn: &Segment) -> u64 {
    first_position(syn.seq) + 1
}

/// Returns the position nearest to `near` whose low 32 bits are `seq`.
pub(super) fn position_of(seq: u32, near: u64) -> u64 {
    near.saturating_add_signed(i64::from(seq.wrapping_sub(near as u32) as i32))
}
