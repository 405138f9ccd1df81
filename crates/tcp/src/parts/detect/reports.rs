//! How many of the receiver's reports of duplicates are lost on their way, and so how many late segments
//! nothing is heard of (`docs/senders/unruffled.md`, section 4).

/// What became of the DSACK for a segment that was resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Report {
    /// It came, as it had to: the original had been there before.
    Came,
    /// It had to come, and did not.
    Missed,
    /// It came, and nothing else told that the original had arrived.
    Told,
}

/// Reports within memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reports {
    came: u32,
    missed: u32,
    told: u32,
    /// Missing ones that were taken to be lost.
    excused: u32,
}

impl Reports {
    pub(super) fn count(&mut self, report: Report) {
        match report {
            Report::Came => self.came += 1,
            Report::Missed => self.missed += 1,
            Report::Told => self.told += 1,
        }
    }

    /// Whether a report that is missing was lost rather than its segment: as many are taken to be as can
    /// be expected of those that alone would have told, each of which is lost as often as those that had
    /// to come. More than every second one is not believed.
    pub(super) fn excuse(&mut self) -> bool {
        if self.came == 0 {
            return false;
        }
        let odds = f64::from(self.missed.min(self.came)) / f64::from(self.came);
        let excused = f64::from(self.excused) < (f64::from(self.told) * odds).round();
        self.excused += u32::from(excused);
        excused
    }

    /// Memory fades.
    pub(super) fn fade(&mut self) {
        let Self { came, missed, told, excused } = *self;
        *self = Self { came: came / 2, missed: missed / 2, told: told / 2, excused: excused / 2 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(came: u32, missed: u32, told: u32) -> Reports {
        Reports { came, missed, told, excused: 0 }
    }

    fn excuses(mut reports: Reports) -> u32 {
        (0..1000).map(|_| u32::from(reports.excuse())).sum()
    }

    #[test]
    fn as_many_are_excused_as_can_be_expected_to_be_lost() {
        // One of ten that were due was lost, so that the 90 that told are nine tenths of all.
        assert_eq!(excuses(of(90, 10, 90)), 10);
        assert_eq!(excuses(of(90, 10, 4)), 0);
        assert_eq!(excuses(of(90, 10, 5)), 1, "0.56, rounded");
        assert_eq!(excuses(of(90, 0, 90)), 0);
    }

    #[test]
    fn a_receiver_that_reports_less_than_every_second_gains_nothing_by_it() {
        assert_eq!(excuses(of(10, 10, 7)), 7);
        assert_eq!(excuses(of(10, 1000, 7)), 7);
        assert_eq!(excuses(of(0, 1000, 7)), 0);
    }

    #[test]
    fn what_was_excused_counts_until_it_is_forgotten() {
        let mut reports = Reports::default();
        for report in [Report::Came, Report::Missed, Report::Told, Report::Told] {
            reports.count(report);
        }
        assert!(reports.excuse() && reports.excuse() && !reports.excuse());
        reports.fade();
        assert_eq!(excuses(reports), 0, "one told, none missed");
    }
}
