//! Proportional rate reduction (RFC 9937, section 6): PRR, PRR-CRB and PRR-SSRB.

/// Input from one acknowledgement, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delivered {
    /// Segments newly delivered, cumulatively or selectively (DeliveredData).
    pub(crate) segments: u32,
    /// Segments in flight by the scoreboard after the acknowledgement (inflight).
    pub(crate) pipe: u32,
    /// Whether SND.UNA advances and no further loss is indicated (SafeACK).
    pub(crate) safe: bool,
    /// Whether segments that the reduction has held back may be sent at once when losses are found, as
    /// in RFC 9937.
    pub(crate) catches_up: bool,
}

/// The state of one recovery, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prr {
    delivered: u32,
    out: u32,
    recover_fs: u32,
    /// Segments that the last acknowledgement permitted and that have not been sent.
    budget: u32,
}

impl Prr {
    /// Begins a recovery with `outstanding` segments, of which `sacked` are SACKed and `delivered` were
    /// delivered by this acknowledgement. Segments SACKed before it cannot be delivered during the
    /// recovery, so RecoverFS does not count them.
    pub(crate) fn begin(&mut self, outstanding: u32, sacked: u32, delivered: u32) {
        let flight = outstanding.saturating_sub(sacked) + delivered;
        *self = Self { delivered: 0, out: 0, recover_fs: flight.max(1), budget: 0 };
    }

    /// Returns how many segments may be sent after this acknowledgement (SndCnt), or `None` if it
    /// delivers nothing and so has no effect.
    pub(crate) fn on_ack(&mut self, ack: Delivered, ssthresh: u32) -> Option<u32> {
        let Delivered { segments: delivered, pipe, safe, catches_up } = ack;
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let count = if pipe > ssthresh {
            let due = u64::from(self.delivered) * u64::from(ssthresh);
            // No more is sent than has been delivered. The maximum matters if less was in flight when
            // recovery began than ssthresh permits, because most of the window was SACKed.
            let due = due.div_ceil(u64::from(self.recover_fs.max(ssthresh))) as u32;
            due.saturating_sub(self.out)
        } else {
            // PRR-CRB, and with good progress PRR-SSRB.
            let held_back = if catches_up { self.delivered.saturating_sub(self.out) } else { 0 };
            (ssthresh - pipe).min(held_back.max(delivered) + u32::from(safe))
        };
        // "Force a fast retransmit upon entering recovery."
        self.budget = if self.out == 0 { count.max(1) } else { count };
        Some(self.budget)
    }

    /// Permits as many segments as a timer has found lost, `lost`.
    pub(crate) fn make_up_for(&mut self, lost: u32) {
        self.budget += lost;
    }

    /// Returns the number of segments that may be sent now.
    pub(crate) fn budget(&self) -> u32 {
        self.budget
    }

    /// Counts a segment that was sent, new or old (prr_out).
    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
        self.budget = self.budget.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays acknowledgements of one segment each; returns how many segments may be sent after each.
    fn play(prr: &mut Prr, pipe: &mut u32, safe: bool, acks: usize) -> Vec<u32> {
        (0..acks)
            .map(|_| {
                *pipe -= 1;
                let ack = Delivered { segments: 1, pipe: *pipe, safe, catches_up: true };
                let count = prr.on_ack(ack, 10).expect("a segment is delivered");
                (0..count).for_each(|_| prr.on_sent());
                *pipe += count;
                count
            })
            .collect()
    }

    #[test]
    fn one_loss_of_twenty_spreads_the_reduction_over_the_round() {
        // Segment 0 of 20 is lost, and ssthresh is 10. After acknowledgements 1 and 2 limited transmit
        // sends a new segment each. Acknowledgement 3 begins recovery, with 22 segments outstanding and
        // 3 SACKed, 1 of them just now.
        let mut prr = Prr::default();
        prr.begin(22, 3, 1);
        assert_eq!(prr.recover_fs, 20);
        // The lost one is not in flight.
        let mut pipe = 19;
        let sent = play(&mut prr, &mut pipe, false, 19);
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0], "every second one: {sent:?}");
        assert_eq!(pipe, 10, "ends at ssthresh");
    }

    #[test]
    fn a_burst_of_losses_is_made_up_for_as_it_is_delivered() {
        // 15 of 20 are lost. Three were SACKed before, and one is now.
        let mut prr = Prr::default();
        prr.begin(20, 4, 1);
        // While more losses may follow, as many are sent as are delivered.
        let mut pipe = 2;
        assert_eq!(play(&mut prr, &mut pipe, false, 1), [1]);
        // One more is sent each time once SND.UNA advances and no loss is indicated.
        assert_eq!(play(&mut prr, &mut pipe, true, 2), [2, 2]);
        assert_eq!(pipe, 4);
    }

    #[test]
    fn segments_held_back_make_up_for_losses_or_are_given_up() {
        let permitted = |catches_up| {
            let mut prr = Prr::default();
            prr.begin(20, 0, 0);
            let ack = Delivered { segments: 8, pipe: 12, safe: false, catches_up };
            assert_eq!(prr.on_ack(ack, 10), Some(4));
            (0..4).for_each(|_| prr.on_sent());
            // Ten of the rest are found to be lost.
            prr.on_ack(Delivered { segments: 1, pipe: 5, safe: false, catches_up }, 10)
        };
        assert_eq!(permitted(true), Some(5));
        assert_eq!(permitted(false), Some(1));
    }

    #[test]
    fn no_more_is_sent_than_delivered_if_most_segments_were_sacked_before() {
        // One of 20 segments was in flight when recovery began, and ssthresh is 10. Much of what was
        // deemed lost turns out to be in flight.
        let mut prr = Prr::default();
        prr.begin(20, 19, 0);
        let ack = Delivered { segments: 5, pipe: 12, safe: false, catches_up: true };
        assert_eq!(prr.on_ack(ack, 10), Some(5));
    }

    #[test]
    fn an_acknowledgement_that_delivers_nothing_permits_nothing() {
        let mut prr = Prr::default();
        prr.begin(20, 3, 3);
        let nothing = Delivered { segments: 0, pipe: 2, safe: true, catches_up: true };
        assert_eq!(prr.on_ack(nothing, 10), None);
        assert_eq!(prr.delivered, 0);
    }

    #[test]
    fn the_first_segment_is_sent_regardless_of_the_flight() {
        let mut prr = Prr::default();
        prr.begin(20, 0, 0);
        let ack = Delivered { segments: 1, pipe: 10, safe: false, catches_up: true };
        assert_eq!(prr.on_ack(ack, 10), Some(1));
        prr.on_sent();
        assert_eq!(prr.on_ack(ack, 10), Some(0));
    }
}
