//! Whether late packets slow a sender down.
//!
//! A hold makes the round trip longer, so it pays only for a sender that late packets slow down. A sender that takes
//! late packets for lost sends them again. Reno and CUBIC also reduce the window. BBR does not, and a sender that
//! adapts to reordering seldom sends again. The difference is visible where packets arrive: while nothing is held, a
//! sender that reduces its window has no larger window than its response function allows at the rate of its
//! retransmissions.

use unruffled_units::{Duration, Instant};

/// Number of round trips with a spurious retransmission that are needed for a verdict that a sender is slowed down.
/// With fewer, the window is that of slow start.
const MIN_EVENTS: u32 = 4;

/// Number of round trips after which rarer retransmissions count as harmless.
const MAX_ROUNDS: u32 = 64;

/// Number of round trips after which earlier ones count for half.
const MEMORY_ROUNDS: u32 = 1024;

/// Mean window of Reno, in packets per round trip between two reductions: the window grows from W/2 to W in W/2
/// round trips, and its mean is 3/4 W.
const RENO_WINDOW: f64 = 1.5;

/// Multiple of Reno's mean window up to which a sender counts as slowed down. It covers CUBIC's faster growth,
/// timeouts of slow start, and reductions that the sender undoes.
const WINDOW_MARGIN: f64 = 4.0;

/// Mean window up to which a sender counts as slowed down, in packets: two initial windows (RFC 6928), which a sender
/// has before it responds to anything.
const MIN_WINDOW: f64 = 20.0;

/// What a round trip of a flow showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    pub(crate) packets: u32,
    /// Whether a packet was sent again that was late, not lost.
    pub(crate) is_spurious: bool,
    /// Whether a packet was sent again that had not arrived.
    pub(crate) is_resent: bool,
}

/// Effect of late packets on a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// They slow it down.
    Harmed,
    /// They do not slow it down.
    Unharmed,
}

/// What a flow has shown while nothing was held.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Exposure {
    /// Begin of the current round trip, and what it has shown.
    since: Option<Instant>,
    current: Round,
    rounds: u32,
    packets: u32,
    /// Round trips with a spurious retransmission.
    spurious: u32,
    /// Round trips with any retransmission.
    events: u32,
    verdict: Option<Verdict>,
}

impl Exposure {
    /// Counts a packet that arrives while nothing is held. Returns the verdict if it is new.
    #[inline]
    pub(crate) fn arrive(&mut self, round_trip: Duration, now: Instant) -> Option<Verdict> {
        let since = *self.since.get_or_insert(now);
        let mut verdict = None;
        if now.since(since) >= round_trip {
            let round = std::mem::take(&mut self.current);
            self.since = Some(now);
            verdict = self.record(round);
        }
        self.current.packets = self.current.packets.saturating_add(1);
        verdict
    }

    /// Discards the current round trip, when packets are held.
    #[inline]
    pub(crate) fn interrupt(&mut self) {
        self.since = None;
        self.current = Round::default();
    }

    /// Records that a packet was sent again which was late, not lost.
    pub(crate) fn spurious(&mut self) {
        self.current.is_spurious = true;
    }

    /// Records that a packet was sent again which had not arrived.
    pub(crate) fn resent(&mut self) {
        self.current.is_resent = true;
    }

    /// Records a whole round trip. Returns the verdict if it is new.
    fn record(&mut self, round: Round) -> Option<Verdict> {
        if self.rounds == 0 && !round.is_spurious {
            // The window before the first response to a late packet shows nothing.
            return None;
        }
        self.rounds += 1;
        self.packets = self.packets.saturating_add(round.packets);
        self.spurious += u32::from(round.is_spurious);
        self.events += u32::from(round.is_spurious || round.is_resent);
        let before = self.verdict;
        if self.spurious >= MIN_EVENTS {
            let is_harmed = self.is_limited() && self.is_mostly_spurious();
            self.verdict = Some(if is_harmed { Verdict::Harmed } else { Verdict::Unharmed });
        } else if self.rounds >= MAX_ROUNDS {
            self.verdict = Some(Verdict::Unharmed);
        }
        if self.spurious >= 2 * MIN_EVENTS || self.rounds >= MEMORY_ROUNDS {
            self.rounds /= 2;
            self.packets /= 2;
            self.spurious /= 2;
            self.events /= 2;
        }
        self.verdict.filter(|_| self.verdict != before)
    }

    /// Returns whether the mean window is as small as the retransmissions make it.
    fn is_limited(&self) -> bool {
        let rounds = f64::from(self.rounds);
        let window = f64::from(self.packets) / rounds;
        let between = rounds / f64::from(self.events.max(1));
        window < (WINDOW_MARGIN * RENO_WINDOW * between).max(MIN_WINDOW)
    }

    /// Returns whether at least half of the retransmissions would not be sent if nothing were late.
    fn is_mostly_spurious(&self) -> bool {
        self.spurious * 2 >= self.events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the latest verdict on a flow, given the packets of each round trip and whether a retransmission in
    /// it was spurious (`Some(true)`) or not.
    fn verdict(rounds: impl IntoIterator<Item = (u32, Option<bool>)>) -> Option<Verdict> {
        let mut exposure = Exposure::default();
        for (packets, resent) in rounds {
            let is_spurious = resent == Some(true);
            exposure.record(Round { packets, is_spurious, is_resent: resent == Some(false) });
        }
        exposure.verdict
    }

    #[test]
    fn a_window_that_retransmissions_keep_small_is_harmed() {
        // Every second round trip: Reno's mean window is 3 packets, and 20 are the minimum.
        let every_second = |packets| (0..8).map(move |n| (packets, (n % 2 == 0).then_some(true)));
        assert_eq!(verdict(every_second(19)), Some(Verdict::Harmed));
        assert_eq!(verdict(every_second(20)), Some(Verdict::Unharmed));
        // Every tenth: Reno's mean window is 15 packets at most, four times that are 60. The 4th event is in the
        // 31st round trip, 31/4 = 7.75 round trips per event: 46.5 packets.
        let every_tenth = |packets| (0..31).map(move |n| (packets, (n % 10 == 0).then_some(true)));
        assert_eq!(verdict(every_tenth(46)), Some(Verdict::Harmed));
        assert_eq!(verdict(every_tenth(47)), Some(Verdict::Unharmed));
    }

    #[test]
    fn three_round_trips_with_retransmissions_are_no_verdict() {
        assert_eq!(verdict([(10, Some(true)); 3]), None);
        assert_eq!(verdict([(10, Some(true)); 4]), Some(Verdict::Harmed));
    }

    #[test]
    fn the_window_of_slow_start_does_not_hide_the_harm() {
        let slow_start = [(40, Some(true)), (80, Some(true)), (40, Some(true)), (20, Some(true))];
        assert_eq!(verdict(slow_start), Some(Verdict::Unharmed));
        let after = std::iter::repeat_n((10, Some(true)), 8);
        assert_eq!(verdict(slow_start.into_iter().chain(after)), Some(Verdict::Harmed));
    }

    #[test]
    fn losses_that_outnumber_late_packets_are_not_their_harm() {
        let rounds = |lost: usize| {
            let one = std::iter::once((10, Some(true)));
            one.chain(std::iter::repeat_n((10, Some(false)), lost)).cycle().take(4 * (lost + 1))
        };
        assert_eq!(verdict(rounds(1)), Some(Verdict::Harmed), "one in two");
        assert_eq!(verdict(rounds(3)), Some(Verdict::Unharmed), "one in four");
    }

    #[test]
    fn rare_retransmissions_are_harmless() {
        let mut rounds = vec![(10, None); 64];
        rounds[0] = (10, Some(true));
        assert_eq!(verdict(rounds[..63].to_vec()), None);
        assert_eq!(verdict(rounds), Some(Verdict::Unharmed));
    }
}
