//! What was counted of one direction.

/// What was counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    pub(crate) payload: u64,
    /// Segments that passed for the first time.
    pub(crate) segments: u64,
    pub(crate) resent: u64,
    pub(crate) resent_octets: u64,
    pub(crate) spurious: Spurious,
    pub(crate) timeouts: u64,
    pub(crate) syn_resent: u64,
    pub(crate) duplicates: u64,
    pub(crate) keepalives: u64,
    /// Probes of a closed window.
    pub(crate) probes: u64,
    /// Judged by time alone, retransmitted or late.
    pub(crate) guessed: u64,
    /// Segments acknowledged that never passed here.
    pub(crate) unseen: u64,
    /// Packets whose numbers fit nowhere.
    pub(crate) strange: u64,
    pub(crate) acks: Acks,
}

impl Counts {
    /// Counts a retransmission of `segments` segments, `octets` in all.
    pub(super) fn resent(&mut self, segments: u16, octets: u64) {
        self.resent += u64::from(segments);
        self.resent_octets += octets;
    }

    /// Counts `segments` of the retransmitted segments as spurious; gives how many of them were not
    /// counted as spurious before. Segments that were retransmitted one by one and then in one packet
    /// count by that packet's weight both times, which can be more than was retransmitted.
    pub(super) fn prove(
        &mut self,
        segments: u16,
        octets: u64,
        reason: impl Fn(&mut Self) -> &mut u64,
    ) -> u64 {
        let segments = u64::from(segments).min(self.resent - self.spurious.total);
        self.spurious.total += segments;
        *reason(self) += segments;
        self.spurious.octets += octets.min(self.resent_octets - self.spurious.octets);
        segments
    }
}

/// Retransmissions that proved spurious, and by what.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spurious {
    pub(crate) total: u64,
    pub(crate) octets: u64,
    pub(crate) by_dsack: u64,
    pub(crate) by_timestamps: u64,
    pub(crate) by_acknowledgement: u64,
    pub(crate) by_original: u64,
    pub(crate) by_time: u64,
}

/// Acknowledgements that came back.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    pub(crate) all: u64,
    /// Of one segment where nothing is missing, and of more.
    pub(crate) of_one: u64,
    pub(crate) of_more: u64,
    pub(crate) duplicate: u64,
    pub(crate) dsacks: u64,
    pub(crate) dsacks_unexplained: u64,
    pub(crate) zero_windows: u64,
    /// Those whose options the capture cut off.
    pub(crate) cut: u64,
}
