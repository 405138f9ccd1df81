//! Packets that do not belong to the stream: those of others, or damaged on their way.

use super::Half;

/// So much of the stream may be missing from a capture without a question.
const GAP: u64 = 1 << 20;

impl Half {
    /// Whether `position` lies further ahead than anything that was in flight so far, by much. Where the
    /// next such packet lies there as well, the capture lacks what is between.
    pub(super) fn is_stray(&mut self, position: u64) -> bool {
        let room = 2 * self.offer.largest_flight + GAP;
        if position <= self.numbers.next + room {
            return false;
        }
        let before = self.stray.replace(position);
        before.is_none_or(|other| other == position || other.abs_diff(position) > room)
    }
}
