//! The Eifel detection algorithm (RFC 3522). The timestamp of the first acknowledgement of new data
//! after a retransmission shows whether the original or the retransmission caused it.

use unruffled_units::Instant;

/// The properties of an acknowledgement that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acceptable {
    /// End of the tick of the timestamp clock that it echoes.
    pub(crate) echo: Option<Instant>,
    /// Whether it carries a DSACK.
    pub(crate) dsack: bool,
    /// Whether it acknowledges all outstanding data.
    pub(crate) all: bool,
    /// Whether it acknowledges new data, which makes it acceptable.
    pub(crate) advanced: bool,
}

/// A recovery, from its beginning to its first acceptable acknowledgement.
#[derive(Clone, Copy, Debug)]
struct ObservedRecovery {
    /// Time of its first retransmission (RetransmitTS).
    resent: Option<Instant>,
}

/// State of the Eifel detection algorithm.
#[derive(Clone, Debug)]
pub(crate) struct Eifel {
    recovery: Option<ObservedRecovery>,
    /// Whether the connection has ever received a DSACK.
    dsack_seen: bool,
}

impl Eifel {
    /// Description in a few words.
    pub(crate) const ABOUT: &'static str = "timestamps, RFC 3522; response RFC 4015";

    pub(crate) fn new() -> Self {
        Self { recovery: None, dsack_seen: false }
    }

    /// Called when loss recovery begins (step 1). The caller does not call it within a recovery.
    pub(crate) fn begin(&mut self) {
        self.recovery = Some(ObservedRecovery { resent: None });
    }

    /// Called when a recovery begins that no loss caused.
    pub(crate) fn stop(&mut self) {
        self.recovery = None;
    }

    /// Returns whether no recovery is observed, so that an acknowledgement without a DSACK has no
    /// effect.
    pub(crate) fn is_idle(&self) -> bool {
        self.recovery.is_none()
    }

    /// Called when a segment is retransmitted (step 2). Only the first time counts.
    pub(crate) fn on_retransmit(&mut self, now: Instant) {
        if let Some(recovery) = &mut self.recovery {
            recovery.resent.get_or_insert(now);
        }
    }

    /// Returns whether the acknowledgement proves the recovery spurious (steps 3 to 6).
    pub(crate) fn on_ack(&mut self, ack: &Acceptable) -> bool {
        let dsack_before = self.dsack_seen;
        self.dsack_seen |= ack.dsack;
        if !ack.advanced {
            return false;
        }
        let resent = self.recovery.take().and_then(|recovery| recovery.resent);
        // Step 4. The echo stands for the end of its tick, so it is earlier than the retransmission
        // exactly if the tick is.
        let (Some(echo), Some(resent)) = (ack.echo, resent) else { return false };
        // Step 5: an acknowledgement of everything may answer the retransmission of a segment whose
        // acknowledgements were all lost, unless the receiver is known to report duplicates.
        let original = !ack.dsack && (dsack_before || !ack.all);
        echo < resent && original
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unruffled_units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Returns the end of tick `ms`, as the connection computes it.
    fn tick(ms: u64) -> Option<Instant> {
        Some(Instant::from_nanos((ms + 1) * 1_000_000 - 1))
    }

    fn ack(echo_ms: u64) -> Acceptable {
        Acceptable { echo: tick(echo_ms), dsack: false, all: false, advanced: true }
    }

    /// Returns the state of a recovery that retransmitted its first segment at `at`.
    fn resent(at: Instant) -> Eifel {
        let mut eifel = Eifel::new();
        eifel.begin();
        eifel.on_retransmit(at);
        eifel
    }

    fn resent_at_100() -> Eifel {
        resent(at(100))
    }

    #[test]
    fn an_echo_older_than_the_retransmission_proves_it_spurious() {
        assert!(resent_at_100().on_ack(&ack(99)));
    }

    #[test]
    fn an_echo_of_the_same_tick_or_later_proves_nothing() {
        assert!(!resent_at_100().on_ack(&ack(100)));
        assert!(!resent_at_100().on_ack(&ack(140)));
        let last_of_tick_100 = at(101) - Duration::from_nanos(1);
        assert!(!resent(last_of_tick_100).on_ack(&ack(100)));
    }

    #[test]
    fn only_the_first_retransmission_counts() {
        let mut eifel = resent_at_100();
        eifel.on_retransmit(at(300));
        assert!(!eifel.on_ack(&ack(100)), "it answers the first retransmission");
    }

    #[test]
    fn only_the_first_acceptable_acknowledgement_counts() {
        let mut eifel = resent_at_100();
        assert!(!eifel.on_ack(&Acceptable { advanced: false, ..ack(20) }), "a duplicate");
        assert!(!eifel.on_ack(&ack(100)));
        assert!(!eifel.on_ack(&ack(20)), "after it");
    }

    #[test]
    fn an_acknowledgement_with_a_dsack_proves_nothing() {
        // Step 5: all acknowledgements of the flight were lost, and the duplicate is reported.
        assert!(!resent_at_100().on_ack(&Acceptable { dsack: true, ..ack(20) }));
    }

    #[test]
    fn an_acknowledgement_of_everything_proves_nothing_unless_the_receiver_reports_duplicates() {
        let all = Acceptable { all: true, ..ack(20) };
        assert!(!resent_at_100().on_ack(&all));
        let mut eifel = resent_at_100();
        eifel.on_ack(&Acceptable { dsack: true, advanced: false, ..ack(20) });
        assert!(eifel.on_ack(&all));
    }

    #[test]
    fn without_timestamps_nothing_is_found() {
        assert!(!resent_at_100().on_ack(&Acceptable { echo: None, ..ack(20) }));
    }
}
