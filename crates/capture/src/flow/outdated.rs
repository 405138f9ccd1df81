//! Timestamps by which a receiver discards segments (PAWS, RFC 7323, section 5.3).

/// TS.Recent of the receiver, as far as the packets that pass show it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RecentTimestamp {
    value: Option<u32>,
    /// Whether the last segment is older than the value.
    last_is_outdated: bool,
}

impl RecentTimestamp {
    /// Records the timestamp of a segment that begins at `start`; `una` is the first octet that is not
    /// acknowledged.
    ///
    /// The receiver keeps the timestamp of a segment that begins no later than what it has acknowledged
    /// (RFC 7323, section 4.3).
    pub(super) fn record(&mut self, start: u64, una: u64, timestamp: Option<u32>) {
        self.last_is_outdated = false;
        let Some(timestamp) = timestamp else { return };
        let is_older = self.value.is_some_and(|recent| (timestamp.wrapping_sub(recent) as i32) < 0);
        self.last_is_outdated = is_older;
        if !is_older && start <= una {
            self.value = Some(timestamp);
        }
    }

    /// Returns whether a receiver discards the last segment.
    pub(super) fn last_is_outdated(self) -> bool {
        self.last_is_outdated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_segment_is_outdated_once_a_retransmission_moved_the_left_edge() {
        let mut recent = RecentTimestamp::default();
        let mut outdated = |start, una, timestamp| {
            recent.record(start, una, Some(timestamp));
            recent.last_is_outdated()
        };
        assert!(!outdated(0, 0, 10));
        // Segments 1000 and 2000 are late, and 3000 is beyond the gap.
        assert!(!outdated(3000, 1000, 13));
        // The retransmission of 1000 moves the left edge, and then the original of 2000 comes.
        assert!(!outdated(1000, 1000, 20));
        assert!(outdated(2000, 2000, 12));
        assert!(!outdated(2000, 2000, 21));
    }
}
