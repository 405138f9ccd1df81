//! The Eifel detection algorithm (RFC 3522): the first acknowledgement of new data after a
//! retransmission tells by its timestamp whether the original or the retransmission caused it.

use unruffled_units::Instant;

use super::Before;

/// An acknowledgement, as far as it matters here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acceptable {
    /// The end of the timestamp clock's tick that it echoes.
    pub(crate) echo: Option<Instant>,
    /// It carries a DSACK.
    pub(crate) dsack: bool,
    /// It acknowledges all that is outstanding.
    pub(crate) all: bool,
    /// It acknowledges new data: it is acceptable.
    pub(crate) advanced: bool,
}

/// The recovery that is watched, from its beginning to its first acceptable acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Watch {
    before: Before,
    /// When its first retransmission left (RetransmitTS).
    resent: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(crate) struct Eifel {
    watch: Option<Watch>,
    /// A DSACK has come at some time of the connection.
    dsack_seen: bool,
}

impl Eifel {
    /// What it does, in a few words.
    pub(crate) const ABOUT: &'static str = "timestamps, RFC 3522; response RFC 4015";

    pub(crate) fn new() -> Self {
        Self { watch: None, dsack_seen: false }
    }

    /// Loss recovery begins (step 1). The caller leaves out what happens within one.
    pub(crate) fn begin(&mut self, before: Before) {
        self.watch = Some(Watch { before, resent: None });
    }

    /// Something else than a loss is recovered from.
    pub(crate) fn stop(&mut self) {
        self.watch = None;
    }

    /// No recovery is watched: an acknowledgement without a DSACK tells nothing.
    pub(crate) fn is_idle(&self) -> bool {
        self.watch.is_none()
    }

    /// A segment is sent again (step 2): only the first time counts.
    pub(crate) fn on_retransmit(&mut self, now: Instant) {
        if let Some(watch) = &mut self.watch {
            watch.resent.get_or_insert(now);
        }
    }

    /// Steps 3 to 6: what stood before the recovery, if the acknowledgement shows it spurious.
    pub(crate) fn on_ack(&mut self, ack: &Acceptable) -> Option<Before> {
        let dsack_before = self.dsack_seen;
        self.dsack_seen |= ack.dsack;
        if !ack.advanced {
            return None;
        }
        let Watch { before, resent } = self.watch.take()?;
        // Step 4. The echo stands for the end of its tick, so that it is earlier than the
        // retransmission exactly if the tick is.
        let earlier = ack.echo? < resent?;
        // Step 5: an acknowledgement of everything may answer the retransmission of a segment whose
        // acknowledgements were all lost, unless the receiver is known to tell of duplicates.
        let original = !ack.dsack && (dsack_before || !ack.all);
        (earlier && original).then_some(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unruffled_units::Duration;

    const BEFORE: Before =
        Before { episode: 0, timeout: true, pipe_prev: 20.0, rtt: None, point: 9000 };

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// The end of tick `ms`, as the connection gives it.
    fn tick(ms: u64) -> Option<Instant> {
        Some(Instant::from_nanos((ms + 1) * 1_000_000 - 1))
    }

    fn ack(echo_ms: u64) -> Acceptable {
        Acceptable { echo: tick(echo_ms), dsack: false, all: false, advanced: true }
    }

    /// A recovery that resent its first segment `at` that time.
    fn resent(at: Instant) -> Eifel {
        let mut eifel = Eifel::new();
        eifel.begin(BEFORE);
        eifel.on_retransmit(at);
        eifel
    }

    fn resent_at_100() -> Eifel {
        resent(at(100))
    }

    #[test]
    fn an_echo_older_than_the_retransmission_shows_it_spurious() {
        assert_eq!(resent_at_100().on_ack(&ack(99)), Some(BEFORE));
    }

    #[test]
    fn an_echo_of_the_same_tick_or_later_does_not() {
        assert_eq!(resent_at_100().on_ack(&ack(100)), None);
        assert_eq!(resent_at_100().on_ack(&ack(140)), None);
        let last_of_tick_100 = at(101) - Duration::from_nanos(1);
        assert_eq!(resent(last_of_tick_100).on_ack(&ack(100)), None);
    }

    #[test]
    fn only_the_first_retransmission_counts() {
        let mut eifel = resent_at_100();
        eifel.on_retransmit(at(300));
        assert_eq!(eifel.on_ack(&ack(100)), None, "it answers the first retransmission");
    }

    #[test]
    fn only_the_first_acceptable_acknowledgement_counts() {
        let mut eifel = resent_at_100();
        assert_eq!(eifel.on_ack(&Acceptable { advanced: false, ..ack(20) }), None, "a duplicate");
        assert_eq!(eifel.on_ack(&ack(100)), None);
        assert_eq!(eifel.on_ack(&ack(20)), None, "after it");
    }

    #[test]
    fn an_acknowledgement_with_a_dsack_proves_nothing() {
        // Step 5: all acknowledgements of the flight were lost, and the duplicate is reported.
        assert_eq!(resent_at_100().on_ack(&Acceptable { dsack: true, ..ack(20) }), None);
    }

    #[test]
    fn an_acknowledgement_of_everything_proves_nothing_unless_the_receiver_reports_duplicates() {
        let all = Acceptable { all: true, ..ack(20) };
        assert_eq!(resent_at_100().on_ack(&all), None);
        let mut eifel = resent_at_100();
        eifel.on_ack(&Acceptable { dsack: true, advanced: false, ..ack(20) });
        assert_eq!(eifel.on_ack(&all), Some(BEFORE));
    }

    #[test]
    fn without_timestamps_it_finds_nothing() {
        assert_eq!(resent_at_100().on_ack(&Acceptable { echo: None, ..ack(20) }), None);
    }
}
