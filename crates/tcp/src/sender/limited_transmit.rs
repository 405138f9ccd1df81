//! Limited transmit, generalised (RFC 3042): what may be sent beyond cwnd while a hole waits.

use unruffled_units::Instant;

use super::scoreboard::Delivery;
use super::{Ack, Phase, Sender};
use crate::detect::Idle;

/// How much new data duplicate acknowledgements release before anything counts as lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitedTransmit {
    /// Nothing.
    None,
    /// One segment for each of the first two (RFC 3042).
    Rfc3042,
    /// One segment for each, up to this many congestion windows beyond the window (RR-TCP).
    Windows(f64),
    /// One segment for each two that left the network (RFC 4653, Careful).
    Careful,
    /// One segment for each that left the network (RFC 4653, Aggressive).
    Aggressive,
    /// One segment for each of the first two, then one for every second (Blanton–Allman, AVG-DEV):
    /// the acknowledgements keep coming, at half the rate.
    EveryOther,
}

impl LimitedTransmit {
    /// Segments allowed beyond cwnd after `dupacks` duplicate acknowledgements.
    pub(crate) fn allowance(self, dupacks: u32, cwnd: f64) -> u32 {
        match self {
            // What RFC 4653 sends goes by the pipe, not by a count (see `ncr`).
            Self::None | Self::Careful | Self::Aggressive => 0,
            Self::Rfc3042 => dupacks.min(2),
            Self::Windows(windows) => dupacks.min((windows * cwnd) as u32),
            Self::EveryOther => dupacks.min(2) + dupacks.saturating_sub(2) / 2,
        }
    }

    /// How many of `dupacks` have come beyond the bound, once that is used up.
    pub(crate) fn beyond(self, dupacks: u32, cwnd: f64) -> Option<u32> {
        match self {
            Self::Windows(windows) => dupacks.checked_sub((windows * cwnd) as u32),
            _ => None,
        }
    }
}

impl core::fmt::Display for LimitedTransmit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Rfc3042 => f.write_str("RFC 3042, first two duplicates"),
            Self::Careful => f.write_str("RFC 4653, one per two SACKed"),
            Self::Aggressive => f.write_str("RFC 4653, one per SACKed"),
            Self::Windows(w) if w.is_infinite() => f.write_str("one per duplicate"),
            Self::Windows(w) => write!(f, "one per duplicate up to {w} cwnd more"),
            Self::EveryOther => f.write_str("first two duplicates, then every second"),
        }
    }
}

/// Watches for periods in which limited transmit is exhausted (RR-TCP, section 4.3): from the
/// duplicate that uses up the bound to the acknowledgement that advances the window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdleWatch {
    since: Option<(Instant, u32)>,
}

impl IdleWatch {
    /// Duplicates, `new` of them segments newly SACKed, have come with the bound used up, `beyond`
    /// of them beyond it. The segments are counted and not the acknowledgements: what the paper
    /// takes off is what "partially filled the pipe", also where acknowledgements were lost.
    pub(crate) fn exhausted(&mut self, new: u32, beyond: u32, now: Instant) {
        match &mut self.since {
            Some((_, dupacks)) => *dupacks += new,
            None => self.since = Some((now, new.min(beyond))),
        }
    }

    /// The window advanced: gives the idle period, if there was one.
    pub(crate) fn advanced(&mut self, now: Instant) -> Option<Idle> {
        let (since, dupacks) = self.since.take()?;
        Some(Idle { duration: now.since(since), dupacks })
    }

    /// Loss recovery began: the period does not count.
    pub(crate) fn cancel(&mut self) {
        self.since = None;
    }
}

impl Sender {
    /// Limited transmit that has run out makes the sender idle; RR-TCP puts a cost on that.
    #[inline]
    pub(super) fn watch_idle(
        &mut self,
        ack: &Ack<'_>,
        delivery: &Delivery,
        advanced: bool,
        now: Instant,
    ) {
        if self.phase != Phase::Open {
            self.idle.cancel();
        } else if advanced {
            if let Some(idle) = self.idle.advanced(now) {
                let view = self.view(now);
                self.detector.on_idle(idle, &view);
            }
        } else if delivery.sacked > 0 || ack.duplicate {
            let waiting = self.board.sacked().max(self.dupacks);
            if let Some(beyond) = self.parts.limited_transmit.beyond(waiting, self.window.cwnd) {
                self.idle.exhausted(delivery.sacked.max(1), beyond, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_releases_two_and_then_half() {
        let allowance = |dupacks| LimitedTransmit::EveryOther.allowance(dupacks, 4.0);
        let released: Vec<u32> = (0..=9).map(allowance).collect();
        assert_eq!(released, [0, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    }

    #[test]
    fn the_bound_is_used_up_by_the_duplicate_that_releases_the_last_segment() {
        let limited = LimitedTransmit::Windows(1.0);
        for (dupacks, beyond) in [(9, None), (10, Some(0)), (13, Some(3))] {
            // 10.7: ten whole segments.
            assert_eq!(limited.beyond(dupacks, 10.7), beyond);
            assert_eq!(limited.allowance(dupacks, 10.7), dupacks.min(10));
        }
        assert_eq!(LimitedTransmit::Windows(f64::INFINITY).beyond(1000, 10.0), None);
        assert_eq!(LimitedTransmit::EveryOther.beyond(1000, 10.0), None);
    }

    #[test]
    fn an_idle_period_counts_what_is_sacked_beyond_the_bound() {
        let at = Instant::from_millis;
        let mut watch = IdleWatch::default();
        assert_eq!(watch.advanced(at(0)), None);
        // Four at once, of which three are beyond; then two, and one.
        watch.exhausted(4, 3, at(100));
        watch.exhausted(2, 5, at(110));
        watch.exhausted(1, 6, at(120));
        let idle = watch.advanced(at(150)).expect("was exhausted");
        assert_eq!((idle.duration.as_millis_f64(), idle.dupacks), (50.0, 6));
        // The next hole: the bound is used up from its first duplicate on.
        watch.exhausted(1, 7, at(200));
        assert_eq!(watch.advanced(at(210)).expect("was exhausted").dupacks, 1);
        watch.exhausted(1, 7, at(300));
        watch.cancel();
        assert_eq!(watch.advanced(at(310)), None);
    }
}
