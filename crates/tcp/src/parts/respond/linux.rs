//! How Linux finds that a reduction of the window was spurious (`net/ipv4/tcp_input.c`,
//! `tcp_may_undo`, `tcp_packet_delayed`, `tcp_check_dsack`).
//!
//! Linux stores what stood before the last reduction alone. It restores that if DSACKs report all
//! retransmissions since, or if the echoed timestamp of an acknowledgement of new data is older than the
//! first retransmission. A reduction that begins before the evidence arrives replaces the stored state,
//! and the earlier reduction stays.

use unruffled_units::Instant;

use crate::parts::control::Window;

/// The last reduction of the window, and the evidence against it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastReduction {
    /// SND.UNA when it began (`undo_marker`); the maximum without a reduction that could be undone.
    marker: u64,
    /// Retransmissions that no DSACK has reported (`undo_retrans`). `None` before the first one.
    unreported: Option<u32>,
    /// Time of the first retransmission of the recovery (`retrans_stamp`); the maximum before it.
    first_resent: Instant,
    /// The window before it (`prior_cwnd`, `prior_ssthresh`).
    before: Window,
}

impl LastReduction {
    /// Returns the state without a reduction.
    pub(crate) const fn none() -> Self {
        Self {
            marker: u64::MAX,
            unreported: None,
            first_resent: Instant::MAX,
            before: Window { cwnd: 0.0, ssthresh: 0.0 },
        }
    }

    /// Returns whether there is a reduction that could be undone.
    fn is_watched(&self) -> bool {
        self.marker != u64::MAX
    }

    /// Called when a reduction begins, with SND.UNA, the retransmissions in flight, and the `window`
    /// before it.
    pub(crate) fn begin(&mut self, una: u64, resent: u32, window: Window) {
        // tcp_current_ssthresh: three quarters of the window, should that be more.
        let ssthresh = window.ssthresh.max((window.cwnd * 0.75).floor());
        *self = Self {
            marker: una,
            unreported: Some(resent).filter(|&resent| resent > 0),
            first_resent: if resent > 0 { self.first_resent } else { Instant::MAX },
            before: Window { ssthresh, ..window },
        };
    }

    /// Called when a segment is retransmitted.
    pub(crate) fn on_retransmit(&mut self, now: Instant) {
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
        self.first_resent = self.first_resent.min(now);
    }

    /// Called when no retransmission is in flight any more.
    pub(crate) fn settle(&mut self) {
        self.first_resent = Instant::MAX;
    }

    /// Called when a DSACK reports `segments` that end at `end`.
    pub(crate) fn on_dsack(&mut self, end: u64, segments: u32) {
        if self.is_watched()
            && end > self.marker
            && let Some(unreported) = &mut self.unreported
        {
            *unreported = unreported.saturating_sub(segments);
        }
    }

    /// Returns whether DSACKs report all retransmissions.
    pub(crate) fn duplicates_prove(&self) -> bool {
        self.is_watched() && self.unreported == Some(0)
    }

    /// Returns whether the `echo` of an acknowledgement of new data shows that an original arrived.
    /// Without a retransmission, it can only have been one.
    pub(crate) fn original_proves(&self, echo: Option<Instant>) -> bool {
        let before =
            self.first_resent == Instant::MAX || echo.is_some_and(|e| e < self.first_resent);
        self.is_watched() && before
    }

    /// Ends the watch, and returns the window that is restored.
    pub(crate) fn undo(&mut self, window: Window) -> Window {
        self.marker = u64::MAX;
        let Window { cwnd, ssthresh } = self.before;
        Window { cwnd: window.cwnd.max(cwnd), ssthresh: window.ssthresh.max(ssthresh) }
    }

    /// Adapts the stored window when segments become smaller by the factor `ratio`.
    pub(crate) fn on_smaller_segments(&mut self, ratio: f64) {
        self.before.scale(ratio);
    }

    /// Ends the watch without a result: what was resent was too big for the path.
    pub(crate) fn give_up(&mut self) {
        self.marker = u64::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Window = Window { cwnd: 40.0, ssthresh: 20.0 };
    const AFTER: Window = Window { cwnd: 28.0, ssthresh: 28.0 };

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Returns a reduction at offset 1000 that resent segments at these times.
    fn resent(times: &[u64]) -> LastReduction {
        let mut last = LastReduction::none();
        last.begin(1000, 0, BEFORE);
        times.iter().for_each(|&ms| last.on_retransmit(at(ms)));
        last
    }

    #[test]
    fn duplicates_of_all_retransmissions_restore_the_window() {
        let mut last = resent(&[100, 110]);
        last.on_dsack(2000, 1);
        assert!(!last.duplicates_prove(), "one of two");
        last.on_dsack(3000, 1);
        assert!(last.duplicates_prove());
        // ssthresh: max(20, 3/4 · 40) = 30.
        assert_eq!(last.undo(AFTER), Window { cwnd: 40.0, ssthresh: 30.0 });
        assert!(!last.duplicates_prove(), "once");
    }

    #[test]
    fn a_duplicate_from_before_the_reduction_counts_as_no_evidence() {
        let mut last = resent(&[100]);
        last.on_dsack(1000, 1);
        assert!(!last.duplicates_prove());
    }

    #[test]
    fn without_a_retransmission_duplicates_prove_nothing() {
        assert!(!resent(&[]).duplicates_prove());
        let mut last = LastReduction::none();
        last.begin(1000, 1, BEFORE);
        last.on_dsack(2000, 1);
        assert!(last.duplicates_prove(), "one was in flight before");
    }

    #[test]
    fn an_echo_older_than_the_first_retransmission_proves_the_reduction_spurious() {
        let last = resent(&[100, 200]);
        assert!(last.original_proves(Some(at(99))));
        assert!(!last.original_proves(Some(at(100))));
        assert!(!last.original_proves(None));
        assert!(resent(&[]).original_proves(None), "nothing was resent");
        assert!(!LastReduction::none().original_proves(Some(at(0))), "nothing was reduced");
    }

    #[test]
    fn a_later_reduction_replaces_the_earlier_one() {
        let mut last = resent(&[100]);
        last.begin(5000, 1, AFTER);
        last.on_dsack(4000, 1);
        assert!(!last.duplicates_prove(), "it belongs to the earlier one");
        assert!(last.original_proves(Some(at(99))), "the first retransmission is still in flight");
        assert_eq!(last.undo(Window { cwnd: 19.0, ssthresh: 19.0 }).cwnd, 28.0);
    }
}
