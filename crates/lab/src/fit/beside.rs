//! Transfers that share a path with another: what they leave it.

use unruffled_capture::{Cause, Direction};

/// Together they may carry this much more than the rate of a path that they share, which is measured.
const BLUR: f64 = 1.1;

/// Transfers beside another, each by the share of its time in which they were there too.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Beside {
    /// How many that makes.
    pub transfers: f64,
    /// What those get that reordering slows: without it they get more.
    pub slowed_bps: f64,
    /// What the others get.
    pub steady_bps: f64,
}

impl Beside {
    /// Adds `other`, which was there in this `share` of the time of `own`, if it may take the same
    /// path: it goes the same way from or to the same host.
    pub(crate) fn add(&mut self, own: &Direction, other: &Direction, share: f64, cause: Cause) {
        let same = own.from.ip() == other.from.ip() || own.to.ip() == other.to.ip();
        if !same || share <= 0.0 {
            return;
        }
        let bps = other.traffic.goodput_bps * share;
        self.transfers += share;
        match cause {
            Cause::Reordering => self.slowed_bps += bps,
            _ => self.steady_bps += bps,
        }
    }

    /// What one that gets `own_bps` now and they get together.
    pub(crate) fn all_bps(&self, own_bps: f64) -> f64 {
        own_bps + self.slowed_bps + self.steady_bps
    }

    /// What they leave on a path of `rate_bps` to one that gets `own_bps` now: all who are slowed gain
    /// alike, and nobody is kept from an equal share. None if nobody is there, or if together they
    /// carry more than such a path does.
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
    fn those_who_are_slowed_gain_alike_and_nobody_has_less_than_an_equal_share() {
        let beside =
            |transfers, slowed_bps, steady_bps| Beside { transfers, slowed_bps, steady_bps };
        assert_eq!(Beside::default().left_bps(1.0, 12.0), None);
        // Three that are slowed alike.
        assert_eq!(beside(2.0, 2.0, 0.0).left_bps(1.0, 12.0), Some(4.0));
        // One that only takes what it needs, and one that takes what there is.
        assert_eq!(beside(1.0, 0.0, 2.0).left_bps(1.0, 12.0), Some(10.0));
        assert_eq!(beside(1.0, 0.0, 10.0).left_bps(1.0, 12.0), Some(6.0));
        // They cannot all be on this path.
        assert_eq!(beside(3.0, 0.0, 30.0).left_bps(1.0, 12.0), None);
    }
}
