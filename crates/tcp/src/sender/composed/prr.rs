//! Proportional rate reduction (RFC 9937, section 6): PRR, PRR-CRB and PRR-SSRB.

/// What one acknowledgement says, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// Newly delivered, cumulatively or selectively (DeliveredData).
    pub(crate) delivered: u32,
    /// In flight by the scoreboard, after it was read (inflight).
    pub(crate) pipe: u32,
    /// SND.UNA advances, and it indicates no further loss (SafeACK).
    pub(crate) safe: bool,
    /// What the reduction kept back may leave at once when losses are found, as RFC 9937 has it.
    pub(crate) catches_up: bool,
}

/// The state of one recovery, in segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prr {
    delivered: u32,
    out: u32,
    recover_fs: u32,
    /// What the last acknowledgement let go and was not sent yet.
    budget: u32,
}

impl Prr {
    /// Recovery begins with so many segments outstanding and SACKed; an acknowledgement that has
    /// just delivered `delivered` of them begins it. What was SACKed before can not be delivered
    /// during the recovery any more, and is not counted in RecoverFS.
    pub(crate) fn begin(&mut self, outstanding: u32, sacked: u32, delivered: u32) {
        let flight = outstanding.saturating_sub(sacked) + delivered;
        *self = Self { delivered: 0, out: 0, recover_fs: flight.max(1), budget: 0 };
    }

    /// How many segments this acknowledgement lets go (SndCnt); none, if it changes nothing because
    /// it delivers nothing.
    pub(crate) fn on_ack(&mut self, told: Told, ssthresh: u32) -> Option<u32> {
        let Told { delivered, pipe, safe, catches_up } = told;
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let count = if pipe > ssthresh {
            let due = u64::from(self.delivered) * u64::from(ssthresh);
            // No more than has been delivered, though less was in flight when recovery began than
            // ssthresh allows, most of it having been SACKed before.
            let due = due.div_ceil(u64::from(self.recover_fs.max(ssthresh))) as u32;
            due.saturating_sub(self.out)
        } else {
            // PRR-CRB, and with good progress PRR-SSRB.
            let kept = if catches_up { self.delivered.saturating_sub(self.out) } else { 0 };
            (ssthresh - pipe).min(kept.max(delivered) + u32::from(safe))
        };
        // "Force a fast retransmit upon entering recovery."
        self.budget = if self.out == 0 { count.max(1) } else { count };
        Some(self.budget)
    }

    /// A timer, not an acknowledgement, has found so many segments lost: as many may leave in their place.
    pub(crate) fn make_up_for(&mut self, lost: u32) {
        self.budget += lost;
    }

    /// Segments that may leave now.
    pub(crate) fn budget(&self) -> u32 {
        self.budget
    }

    /// A segment, new or old, was sent (prr_out).
    pub(crate) fn on_sent(&mut self) {
        self.out += 1;
        self.budget = self.budget.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays acknowledgements of one segment each, and gives what each lets go.
    fn play(prr: &mut Prr, pipe: &mut u32, safe: bool, acks: usize) -> Vec<u32> {
        (0..acks)
            .map(|_| {
                *pipe -= 1;
                let told = Told { delivered: 1, pipe: *pipe, safe, catches_up: true };
                let count = prr.on_ack(told, 10).expect("it delivers");
                (0..count).for_each(|_| prr.on_sent());
                *pipe += count;
                count
            })
            .collect()
    }

    #[test]
    fn one_loss_of_twenty_spreads_the_reduction_over_the_round() {
        // Segment 0 of 20 is lost, ssthresh 10. Acknowledgements 1 and 2 each let a new segment go
        // by limited transmit; 3 begins recovery: 22 outstanding, 3 SACKed, 1 of them just now.
        let mut prr = Prr::default();
        prr.begin(22, 3, 1);
        assert_eq!(prr.recover_fs, 20);
        // The one that is lost is not in flight.
        let mut pipe = 19;
        let sent = play(&mut prr, &mut pipe, false, 19);
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0], "every second one: {sent:?}");
        assert_eq!(pipe, 10, "ends at ssthresh");
    }

    #[test]
    fn a_burst_of_losses_is_made_up_for_as_it_is_delivered() {
        // 15 of 20 are lost; three were SACKed before, and one now.
        let mut prr = Prr::default();
        prr.begin(20, 4, 1);
        // As many as are delivered, while more losses may follow.
        let mut pipe = 2;
        assert_eq!(play(&mut prr, &mut pipe, false, 1), [1]);
        // One more each, once SND.UNA advances and nothing more is lost.
        assert_eq!(play(&mut prr, &mut pipe, true, 2), [2, 2]);
        assert_eq!(pipe, 4);
    }

    #[test]
    fn what_was_kept_back_may_make_up_for_losses_or_be_given_up() {
        let lets_go = |catches_up| {
            let mut prr = Prr::default();
            prr.begin(20, 0, 0);
            let told = Told { delivered: 8, pipe: 12, safe: false, catches_up };
            assert_eq!(prr.on_ack(told, 10), Some(4));
            (0..4).for_each(|_| prr.on_sent());
            // Ten of the rest are found to be lost.
            prr.on_ack(Told { delivered: 1, pipe: 5, safe: false, catches_up }, 10)
        };
        assert_eq!((lets_go(true), lets_go(false)), (Some(5), Some(1)));
    }

    #[test]
    fn no_more_goes_than_is_delivered_though_most_was_sacked_before() {
        // One of 20 was in flight when recovery began, and ssthresh is half of all. Of what was deemed
        // lost much proves to be on its way.
        let mut prr = Prr::default();
        prr.begin(20, 19, 0);
        let told = Told { delivered: 5, pipe: 12, safe: false, catches_up: true };
        assert_eq!(prr.on_ack(told, 10), Some(5));
    }

    #[test]
    fn what_delivers_nothing_lets_nothing_go() {
        let mut prr = Prr::default();
        prr.begin(20, 3, 3);
        let nothing = Told { delivered: 0, pipe: 2, safe: true, catches_up: true };
        assert_eq!(prr.on_ack(nothing, 10), None);
        assert_eq!(prr.delivered, 0);
    }

    #[test]
    fn the_first_segment_goes_whatever_is_in_flight() {
        let mut prr = Prr::default();
        prr.begin(20, 0, 0);
        let told = Told { delivered: 1, pipe: 10, safe: false, catches_up: true };
        assert_eq!(prr.on_ack(told, 10), Some(1));
        prr.on_sent();
        assert_eq!(prr.on_ack(told, 10), Some(0));
    }
}
