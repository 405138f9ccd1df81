//! Transfers that share a path with another one, and the capacity that they leave to it.

use unruffled_capture::{Cause, Direction};

/// The factor by which all of them together may exceed the measured rate of their path.
const BLUR: f64 = 1.1;

/// The transfers beside another one, each weighted by the share of its time in which they were
/// active, too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// The weighted number of transfers.
    pub transfers: f64,
    /// The goodput of the transfers that reordering slows; without it they get more.
    pub slowed_bps: f64,
    /// The goodput of the other transfers.
    pub steady_bps: f64,
}

impl Beside {
    /// Adds `other`, which was active in this `share` of the time of `own`, if both may take the
    /// same path: if they go in the same direction from or to the same host.
    pub(crate) fn add(&mut self, own: &Direction, other: &Direction, share: f64, cause: Cause) {
        let same = own.from.ip() == other.from.ip() || own.to.ip() == other.to.ip();
        if !same || share <= 0.0 {
            return;
        }
        let bps = other.traffic.goodput_bps * share;
        self.transfers += share;
        match cause {
            Cause::Reordering | Cause::Paws => self.slowed_bps += bps,
            _ => self.steady_bps += bps,
        }
    }

    /// Returns the goodput of all transfers together, with `own_bps` for the one beside them.
    pub(crate) fn all_bps(&self, own_bps: f64) -> f64 {
        own_bps + self.slowed_bps + self.steady_bps
    }

    /// Returns the capacity that they leave on a path of `rate_bps` to a transfer that gets
    /// `own_bps` now. All slowed transfers gain alike, and each gets at least an equal share. None
    /// if there are no others, or if they exceed the rate of the path.
    pub(crate) fn left_bps(&self, own_bps: f64, rate_bps: f64) -> Option<f64> {
        if self.transfers <= 0.0 || self.all_bps(own_bps) > rate_bps * BLUR {
            return None;
        }
        let gained = (rate_bps - self.steady_bps) * own_bps / (own_bps + self.slowed_bps);
        Some(gained.max(rate_bps / (1.0 + self.transfers)).max(own_bps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowed_transfers_gain_alike_and_none_has_less_than_an_equal_share() {
        let beside =
            |transfers, slowed_bps, steady_bps| Beside { transfers, slowed_bps, steady_bps };
        assert_eq!(Beside::default().left_bps(1.0, 12.0), None);
        // Three transfers that are slowed alike.
        assert_eq!(beside(2.0, 2.0, 0.0).left_bps(1.0, 12.0), Some(4.0));
        // One transfer that takes only what it needs, and one that takes all it can get.
        assert_eq!(beside(1.0, 0.0, 2.0).left_bps(1.0, 12.0), Some(10.0));
        assert_eq!(beside(1.0, 0.0, 10.0).left_bps(1.0, 12.0), Some(6.0));
        // They exceed the rate, so they cannot all take this path.
        assert_eq!(beside(3.0, 0.0, 30.0).left_bps(1.0, 12.0), None);
    }
}
