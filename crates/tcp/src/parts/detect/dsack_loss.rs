//! Estimate of how many of the receiver's DSACKs are lost (`docs/senders/unruffled.md`, section 4).

use super::two_stage::DsackOutcome;

/// Recent DSACKs, by outcome.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DsackLoss {
    expected: u32,
    missed: u32,
    informative: u32,
    /// Missing DSACKs that were counted as lost.
    credited: u32,
}

impl DsackLoss {
    pub(super) fn count(&mut self, outcome: DsackOutcome) {
        match outcome {
            DsackOutcome::Expected => self.expected += 1,
            DsackOutcome::Missed => self.missed += 1,
            DsackOutcome::Informative => self.informative += 1,
        }
    }

    /// Returns whether a missing DSACK may count as lost, instead of its segment, and uses up one credit
    /// if so. Informative DSACKs are lost as often as those that were due, which gives the expected
    /// number of such losses. If more than half of the DSACKs are missing, the rest does not count as
    /// lost.
    pub(super) fn take_credit(&mut self) -> bool {
        if self.expected == 0 {
            return false;
        }
        let odds = f64::from(self.missed.min(self.expected)) / f64::from(self.expected);
        let credit = f64::from(self.credited) < (f64::from(self.informative) * odds).round();
        self.credited += u32::from(credit);
        credit
    }

    /// Halves all counts.
    pub(super) fn fade(&mut self) {
        self.expected /= 2;
        self.missed /= 2;
        self.informative /= 2;
        self.credited /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::DsackOutcome::{Expected, Informative, Missed};
    use super::*;

    fn of(expected: u32, missed: u32, informative: u32) -> DsackLoss {
        DsackLoss { expected, missed, informative, credited: 0 }
    }

    fn credits(mut loss: DsackLoss) -> u32 {
        (0..1000).map(|_| u32::from(loss.take_credit())).sum()
    }

    #[test]
    fn there_are_as_many_credits_as_informative_dsacks_probably_lost() {
        // One of ten that were due was lost, so the 90 informative ones are nine tenths of all.
        assert_eq!(credits(of(90, 10, 90)), 10);
        assert_eq!(credits(of(90, 10, 4)), 0);
        assert_eq!(credits(of(90, 10, 5)), 1, "0.56, rounded");
        assert_eq!(credits(of(90, 0, 90)), 0);
    }

    #[test]
    fn a_receiver_that_omits_more_than_half_of_its_dsacks_gains_no_more_credits() {
        assert_eq!(credits(of(10, 10, 7)), 7);
        assert_eq!(credits(of(10, 1000, 7)), 7);
        assert_eq!(credits(of(0, 1000, 7)), 0);
    }

    #[test]
    fn used_credits_count_until_they_fade() {
        let mut loss = DsackLoss::default();
        for outcome in [Expected, Missed, Informative, Informative] {
            loss.count(outcome);
        }
        assert!(loss.take_credit() && loss.take_credit() && !loss.take_credit());
        loss.fade();
        assert_eq!(credits(loss), 0, "one informative, none missed");
    }
}
