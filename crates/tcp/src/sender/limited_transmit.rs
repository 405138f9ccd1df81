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

    /// Whether the bound, and not the number of duplicates, holds the sender back.
    pub(crate) fn exhausted(self, dupacks: u32, cwnd: f64) -> bool {
        match self {
            Self::Windows(windows) => f64::from(dupacks) > windows * cwnd,
            _ => false,
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

/// Watches for periods in which limited transmit was exhausted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdleWatch {
    since: Option<(Instant, u32)>,
}

impl IdleWatch {
    /// A duplicate acknowledgement came and limited transmit's bound forbade a segment.
    pub(crate) fn blocked(&mut self, now: Instant) {
        match &mut self.since {
            Some((_, dupacks)) => *dupacks += 1,
            None => self.since = Some((now, 0)),
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
            if self.parts.limited_transmit.exhausted(waiting, self.window.cwnd) {
                self.idle.blocked(now);
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
}
