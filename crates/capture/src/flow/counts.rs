//! Counters of one direction.

/// Counters of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) packets: u64,
    /// Octets of payload, retransmissions included.
    pub(super) payload: u64,
    /// Segments that passed for the first time.
    pub(super) segments: u64,
    pub(super) retransmitted: Retransmitted,
    /// Packets with data below the highest octet that had passed, or acknowledged before.
    pub(super) old_packets: u64,
    pub(super) spurious: Spurious,
    /// Copies of data that the network or the capture made.
    pub(super) duplicates: u64,
    /// Copies of SYNs that the network or the capture made.
    pub(super) syn_copies: u64,
    /// Acknowledgements that a capture on several interfaces has more than once.
    pub(super) copied_acks: u64,
    pub(super) keepalives: u64,
    /// Probes of a zero window.
    pub(super) probes: u64,
    /// Segments that only the time between packets classified as retransmitted or late.
    pub(super) judged_by_time: u64,
    /// Acknowledged segments that never passed the capture point.
    pub(super) not_captured: u64,
    /// Packets whose numbers are not those of the connection.
    pub(super) implausible: u64,
    pub(super) acks: Acks,
}

/// Retransmissions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retransmitted {
    pub(super) segments: u64,
    pub(super) octets: u64,
    pub(super) timeouts: u64,
    pub(super) syns: u64,
}

/// Retransmissions that proved spurious, and the reasons.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spurious {
    pub(super) total: u64,
    pub(super) octets: u64,
    pub(super) by_dsack: u64,
    pub(super) by_timestamps: u64,
    pub(super) by_acknowledgement: u64,
    pub(super) by_original: u64,
    pub(super) by_time: u64,
}

/// Reason why a retransmission counts as spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpuriousReason {
    /// A DSACK (RFC 2883).
    Dsack,
    /// An echoed timestamp (RFC 3522).
    Timestamps,
    /// The segment had been acknowledged.
    Acknowledgement,
    /// The original passed after all.
    Original,
    /// The acknowledgement came less than a round trip after the retransmission.
    Time,
}

/// Acknowledgements of this direction's data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acks {
    pub(super) all: u64,
    /// Acknowledgements of one segment, while nothing is missing.
    pub(super) of_one: u64,
    /// Acknowledgements of several segments, while nothing is missing.
    pub(super) of_more: u64,
    pub(super) duplicate: u64,
    pub(super) dsacks: u64,
    pub(super) dsacks_unexplained: u64,
    pub(super) zero_windows: u64,
    /// Acknowledgements whose options the capture cut off.
    pub(super) cut: u64,
}

impl Counts {
    /// Counts a retransmission of `segments` segments with `octets` octets in all.
    pub(super) fn retransmit(&mut self, segments: u16, octets: u64) {
        self.retransmitted.segments += u64::from(segments);
        self.retransmitted.octets += octets;
    }

    /// Counts `segments` retransmitted segments as spurious; returns how many were not counted before.
    ///
    /// The total is bounded by the number of retransmissions, because segments that were
    /// retransmitted one by one and then in one packet count with that packet's weight both times.
    pub(super) fn prove_spurious(
        &mut self,
        segments: u16,
        octets: u64,
        reason: SpuriousReason,
    ) -> u64 {
        let spurious = &mut self.spurious;
        let segments = u64::from(segments).min(self.retransmitted.segments - spurious.total);
        spurious.total += segments;
        match reason {
            SpuriousReason::Dsack => spurious.by_dsack += segments,
            SpuriousReason::Timestamps => spurious.by_timestamps += segments,
            SpuriousReason::Acknowledgement => spurious.by_acknowledgement += segments,
            SpuriousReason::Original => spurious.by_original += segments,
            SpuriousReason::Time => spurious.by_time += segments,
        }
        spurious.octets += octets.min(self.retransmitted.octets - spurious.octets);
        segments
    }

    /// Returns the number of retransmissions that nothing proved spurious.
    pub(super) fn needed(&self) -> u64 {
        self.retransmitted.segments - self.spurious.total
    }

    /// Returns whether most acknowledgements cover one segment, so that the receiver does not delay
    /// them.
    pub(super) fn acks_are_immediate(&self) -> bool {
        self.acks.of_one > self.acks.of_more
    }

    /// Returns whether the capture holds most packets twice.
    pub(super) fn most_are_duplicates(&self) -> bool {
        self.duplicates > self.segments / 2
    }
}
