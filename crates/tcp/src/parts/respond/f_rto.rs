//! F-RTO (RFC 5682): after a timeout, the sender answers the first acknowledgement with new data,
//! and the second one shows whether the originals were only late. Sections 2.1 (basic) and 3.1
//! (with SACK).

/// An acknowledgement after a timeout. Numbers are stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckView {
    /// Whether SACK is in use, so that section 3.1 applies instead of 2.1.
    pub(crate) sack: bool,
    pub(crate) una: u64,
    pub(crate) nxt: u64,
    /// Whether it acknowledges new data cumulatively.
    pub(crate) advanced: bool,
    pub(crate) duplicate: bool,
    /// Whether it acknowledges or SACKs data for the first time.
    pub(crate) fresh: bool,
    /// End of the highest octet that it acknowledges or SACKs.
    pub(crate) highest: u64,
    /// Whether there is unsent data and room for it.
    pub(crate) can_send_new: bool,
}

/// Loss recovery during which a timeout occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum During {
    /// No recovery.
    Open,
    /// Fast recovery.
    FastRecovery,
    /// Recovery from an earlier timeout.
    Timeout,
}

/// Result of processing an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Finding {
    /// Not decided yet.
    Wait,
    /// The timeout counts as genuine, and cwnd is limited to this range.
    Conventional {
        /// Lower bound in segments.
        least: f64,
        /// Upper bound in segments.
        most: f64,
    },
    /// The timeout was spurious: SpuriousRecovery is SPUR_TO.
    Spurious,
}

/// Step of the algorithm, which determines what may be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Not running: the usual rules apply.
    Idle,
    /// Step 1: the first segment is to be retransmitted.
    Resend,
    /// Step 2: the first segment, up to `end`, was retransmitted. Nothing may be sent.
    First { end: u64 },
    /// Step 3: up to `new` more new segments may be sent, and nothing else.
    Second { new: u32 },
}

/// State of F-RTO.
#[derive(Clone, Debug)]
pub(crate) struct FRto {
    step: Step,
    /// Offset after "recover" of section 2.1 and RecoveryPoint of 3.1.
    recover: u64,
    /// Whether a timeout that may be spurious is being examined.
    watching: bool,
}

impl FRto {
    /// Description in a few words.
    pub(crate) const ABOUT: &'static str = "RFC 5682; response RFC 4015";

    pub(crate) fn new() -> Self {
        Self { step: Step::Idle, recover: 0, watching: false }
    }

    pub(crate) fn step(&self) -> Step {
        self.step
    }

    /// Called when the retransmission timer expired (step 1), with SND.UNA and SND.NXT. Returns
    /// whether this timeout is the one that may prove spurious: of several timeouts of the same
    /// segment, only the first.
    pub(crate) fn on_timeout(&mut self, una: u64, nxt: u64, during: During, sack: bool) -> bool {
        let barred = match during {
            During::Open => false,
            // Section 3.1: not while loss recovery by SACK is under way.
            During::FastRecovery => sack,
            // Acknowledgements have arrived since an earlier timeout, and have not covered its
            // recover yet.
            During::Timeout => self.recover > una,
        };
        if barred {
            self.recover = nxt;
            self.stop();
            return false;
        }
        self.step = Step::Resend;
        // RFC 4015, section 3.1.
        let watched = std::mem::replace(&mut self.watching, true);
        during != During::Timeout || !watched
    }

    /// Called when the first segment, which ends at `end`, was retransmitted.
    pub(crate) fn on_resent(&mut self, end: u64) {
        if self.step == Step::Resend {
            self.step = Step::First { end };
        }
    }

    /// Called when one of the new segments of step 3 was sent.
    pub(crate) fn on_sent_new(&mut self) {
        if let Step::Second { new } = &mut self.step {
            *new = new.saturating_sub(1);
        }
    }

    /// Called when recovery has ended.
    pub(crate) fn stop(&mut self) {
        self.step = Step::Idle;
        self.watching = false;
    }

    /// Processes an acknowledgement.
    pub(crate) fn on_ack(&mut self, ack: &AckView) -> Finding {
        match self.step {
            Step::Idle | Step::Resend => Finding::Wait,
            Step::First { end } if ack.sack => {
                // With SACK, duplicates only fill the scoreboard.
                if !ack.advanced || ack.una < end {
                    return Finding::Wait;
                }
                self.recover = ack.nxt;
                if ack.una >= self.recover {
                    return self.conventional(0.0, 2.0);
                }
                self.go_forward(ack)
            }
            Step::First { end } => {
                if !ack.advanced && !ack.duplicate {
                    return Finding::Wait;
                }
                self.recover = ack.nxt;
                if ack.duplicate || ack.una >= self.recover || ack.una < end {
                    return self.conventional(0.0, f64::INFINITY);
                }
                self.go_forward(ack)
            }
            Step::Second { .. } => {
                if !ack.advanced && !ack.duplicate {
                    return Finding::Wait;
                }
                let spurious =
                    if ack.sack { ack.highest <= self.recover && ack.fresh } else { ack.advanced };
                if spurious && self.watching {
                    self.recover = ack.una;
                    self.stop();
                    return Finding::Spurious;
                }
                // Without SACK a duplicate removes nothing from the pipe, which holds the two new
                // segments: "The congestion window can be set to 3 * MSS".
                self.conventional(if ack.sack { 0.0 } else { 3.0 }, 3.0)
            }
        }
    }

    /// Takes branch (2b).
    fn go_forward(&mut self, ack: &AckView) -> Finding {
        if !ack.can_send_new {
            return self.conventional(0.0, f64::INFINITY);
        }
        self.step = Step::Second { new: 2 };
        Finding::Wait
    }

    fn conventional(&mut self, least: f64, most: f64) -> Finding {
        self.stop();
        Finding::Conventional { least, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments have 1000 octets; 0 to 9 were outstanding at the timeout.
    const CONVENTIONAL: Finding = Finding::Conventional { least: 0.0, most: f64::INFINITY };

    fn view(sack: bool, una: u64) -> AckView {
        AckView {
            sack,
            una,
            nxt: 10_000,
            advanced: true,
            duplicate: false,
            fresh: true,
            highest: una,
            can_send_new: true,
        }
    }

    fn duplicate(sack: bool, una: u64) -> AckView {
        AckView { advanced: false, duplicate: true, fresh: false, ..view(sack, una) }
    }

    /// Returns the state after step 1: segment 0 was retransmitted.
    fn resent(sack: bool) -> FRto {
        let mut f_rto = FRto::new();
        assert!(f_rto.on_timeout(0, 10_000, During::Open, sack));
        assert_eq!(f_rto.step(), Step::Resend);
        f_rto.on_resent(1000);
        f_rto
    }

    /// Returns the state after step 2, branch (2b): segment 0 was acknowledged, 10 and 11 were
    /// sent.
    fn forward(sack: bool) -> FRto {
        let mut f_rto = resent(sack);
        assert_eq!(f_rto.on_ack(&view(sack, 1000)), Finding::Wait);
        assert_eq!(f_rto.step(), Step::Second { new: 2 });
        f_rto.on_sent_new();
        f_rto.on_sent_new();
        assert_eq!(f_rto.step(), Step::Second { new: 0 });
        f_rto
    }

    /// Returns `view` after 10 and 11 were sent.
    fn later(sack: bool, una: u64) -> AckView {
        AckView { nxt: 12_000, ..view(sack, una) }
    }

    #[test]
    fn basic_2a_a_duplicate_or_everything_or_too_little_ends_it() {
        assert_eq!(resent(false).on_ack(&duplicate(false, 0)), CONVENTIONAL);
        assert_eq!(resent(false).on_ack(&view(false, 10_000)), CONVENTIONAL);
        assert_eq!(resent(false).on_ack(&view(false, 500)), CONVENTIONAL);
    }

    #[test]
    fn basic_2b_without_unsent_data_ends_it() {
        let stuck = AckView { can_send_new: false, ..view(false, 1000) };
        assert_eq!(resent(false).on_ack(&stuck), CONVENTIONAL);
    }

    #[test]
    fn basic_an_acknowledgement_that_neither_advances_nor_repeats_is_ignored() {
        let neither = AckView { duplicate: false, ..duplicate(false, 0) };
        let mut f_rto = resent(false);
        assert_eq!(f_rto.on_ack(&neither), Finding::Wait);
        assert_eq!(f_rto.step(), Step::First { end: 1000 });
        let mut f_rto = forward(false);
        assert_eq!(f_rto.on_ack(&AckView { una: 1000, ..neither }), Finding::Wait);
        assert_eq!(f_rto.step(), Step::Second { new: 0 });
    }

    #[test]
    fn basic_3a_a_duplicate_means_loss() {
        let verdict = forward(false).on_ack(&duplicate(false, 1000));
        assert_eq!(verdict, Finding::Conventional { least: 3.0, most: 3.0 });
    }

    #[test]
    fn basic_3b_an_advance_means_a_spurious_timeout() {
        let mut f_rto = forward(false);
        assert_eq!(f_rto.on_ack(&later(false, 2000)), Finding::Spurious);
        assert_eq!((f_rto.step(), f_rto.recover), (Step::Idle, 2000));
    }

    #[test]
    fn sack_2_duplicates_are_ignored() {
        let mut f_rto = resent(true);
        assert_eq!(f_rto.on_ack(&duplicate(true, 0)), Finding::Wait);
        assert_eq!(f_rto.on_ack(&view(true, 500)), Finding::Wait, "half of what was resent");
        assert_eq!(f_rto.step(), Step::First { end: 1000 });
    }

    #[test]
    fn sack_2a_everything_ends_it() {
        assert_eq!(
            resent(true).on_ack(&view(true, 10_000)),
            Finding::Conventional { least: 0.0, most: 2.0 }
        );
    }

    #[test]
    fn sack_2b_without_unsent_data_ends_it() {
        let stuck = AckView { can_send_new: false, ..view(true, 1000) };
        assert_eq!(resent(true).on_ack(&stuck), CONVENTIONAL);
    }

    #[test]
    fn sack_3a_an_answer_to_the_new_segments_means_loss() {
        let lost = Finding::Conventional { least: 0.0, most: 3.0 };
        // Segment 10 is SACKed: 1 is missing.
        let new = AckView { highest: 11_000, fresh: true, ..duplicate(true, 1000) };
        assert_eq!(forward(true).on_ack(&new), lost);
        // Cumulative beyond RecoveryPoint.
        assert_eq!(forward(true).on_ack(&later(true, 11_000)), lost);
        // A duplicate without new information.
        assert_eq!(forward(true).on_ack(&duplicate(true, 1000)), lost);
    }

    #[test]
    fn sack_3b_an_answer_to_an_original_means_a_spurious_timeout() {
        assert_eq!(forward(true).on_ack(&later(true, 2000)), Finding::Spurious);
        assert_eq!(forward(true).on_ack(&later(true, 10_000)), Finding::Spurious);
        // Segment 4 is SACKed, below RecoveryPoint.
        let original = AckView { highest: 5000, fresh: true, ..duplicate(true, 1000) };
        assert_eq!(forward(true).on_ack(&original), Finding::Spurious);
    }

    #[test]
    fn a_second_timeout_of_the_same_segment_restarts_and_only_the_first_may_prove_spurious() {
        for sack in [false, true] {
            let mut f_rto = resent(sack);
            assert!(!f_rto.on_timeout(0, 10_000, During::Timeout, sack));
            assert_eq!(f_rto.step(), Step::Resend);
        }
    }

    #[test]
    fn a_timeout_later_in_the_same_recovery_is_conventional() {
        for sack in [false, true] {
            let mut f_rto = forward(sack);
            assert!(!f_rto.on_timeout(1000, 10_000, During::Timeout, sack));
            assert_eq!(f_rto.step(), Step::Idle);
            // Beyond recover it may run again.
            assert!(f_rto.on_timeout(10_000, 10_000, During::Open, sack));
            assert_eq!(f_rto.step(), Step::Resend);
        }
    }

    #[test]
    fn in_fast_recovery_only_the_basic_version_runs() {
        let recovery = During::FastRecovery;
        let mut f_rto = FRto::new();
        assert!(!f_rto.on_timeout(0, 10_000, recovery, true));
        assert_eq!(f_rto.step(), Step::Idle);
        assert!(f_rto.on_timeout(0, 10_000, recovery, false));
        assert_eq!(f_rto.step(), Step::Resend);
    }
}
