//! Reductions of the window because of lost packets, one for each window of data (RFC 9002, section
//! 7.3.1), and their undoing.

use std::collections::VecDeque;

use unruffled_units::Instant;

use crate::parts::control::{Snapshot, Window};
use crate::parts::respond::packets::{Restoration, Undo};

/// Number of reductions of which spurious losses are counted.
const COUNTED: usize = 8;

/// State before a reduction.
#[derive(Clone, Debug)]
pub(super) struct Prior {
    pub(super) window: Window,
    pub(super) control: Snapshot,
    /// Losses of packets up to this number belonged to the reduction before.
    boundary: u32,
    /// Packets deemed lost before.
    lost: u32,
}

/// The losses of one reduction.
#[derive(Clone, Copy, Debug)]
struct Cut {
    id: u32,
    lost: u32,
    spurious: u32,
}

/// The reductions.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    /// Losses of packets up to this number belong to the latest reduction.
    boundary: u32,
    /// When the latest reduction began.
    at: Instant,
    prior: Option<Prior>,
    /// Losses of the latest reduction that have not proved spurious; the window is restored when there are
    /// none.
    open: u32,
    /// Packets deemed lost so far.
    lost: u32,
    id: u32,
    counted: VecDeque<Cut>,
}

impl Cuts {
    /// Returns the number of the latest reduction.
    pub(super) fn id(&self) -> u32 {
        self.id
    }

    /// Returns whether a loss of packet `number`, or its acknowledgement, belongs to the latest reduction.
    pub(super) fn covers(&self, number: u32) -> bool {
        number <= self.boundary
    }

    /// Begins a reduction at `now`, when the last packet sent is `last`, with the state before it. `lost`
    /// packets had been deemed lost before the losses that brought it to light.
    pub(super) fn begin(
        &mut self,
        rules: &Restoration,
        last: u32,
        lost: u32,
        window: Window,
        control: Snapshot,
        now: Instant,
    ) {
        self.at = now;
        let prior = Prior { window, control, boundary: self.boundary, lost };
        let larger = self.prior.as_ref().is_none_or(|prior| prior.window.cwnd < window.cwnd);
        // ngtcp2 keeps the state with the largest window.
        if rules.undo != Undo::NoneLost || larger {
            self.prior = Some(prior);
        }
        self.boundary = last;
        self.open = 0;
        self.id += 1;
        if self.counted.len() == COUNTED {
            self.counted.pop_front();
        }
        self.counted.push_back(Cut { id: self.id, lost: 0, spurious: 0 });
    }

    /// Records that packet `number` is sent at `now`. Packets that leave at the instant of a reduction belong
    /// to it for stacks that compare times (RFC 9002, appendix B.5: "sent_time <=
    /// congestion_recovery_start_time").
    pub(super) fn on_sent(&mut self, number: u32, now: Instant) {
        if now == self.at && self.boundary > 0 && self.boundary + 1 == number {
            self.boundary = number;
        }
    }

    /// Returns the number of packets deemed lost so far.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// Counts the loss of packet `number` for the latest reduction.
    pub(super) fn count(&mut self, number: u32) {
        self.lost += 1;
        // One that belongs to the reduction before is accounted for in the state before the latest.
        let later = self.prior.as_ref().is_some_and(|prior| number > prior.boundary);
        self.open += u32::from(later && self.covers(number));
        if let Some(cut) = self.counted.back_mut() {
            cut.lost += 1;
        }
    }

    /// Counts a spurious loss of reduction `id`. Returns whether all its losses have now proved spurious.
    pub(super) fn count_spurious(&mut self, id: u32) -> bool {
        let Some(cut) = self.counted.iter_mut().find(|cut| cut.id == id) else { return false };
        cut.spurious += 1;
        cut.spurious == cut.lost
    }

    /// Takes a spurious loss of packet `number`. Returns the state to restore, if all losses of the latest
    /// reduction have now proved spurious.
    pub(super) fn on_spurious(&mut self, number: u32, window: Window) -> Option<Prior> {
        let prior = self.prior.as_ref()?;
        if self.open == 0 || number <= prior.boundary || !self.covers(number) {
            return None;
        }
        self.open -= 1;
        if self.open > 0 {
            return None;
        }
        let prior = self.prior.take()?;
        (window.cwnd <= prior.window.cwnd).then(|| {
            self.boundary = prior.boundary;
            prior
        })
    }

    /// Returns the state before the latest reduction, and returns to the reduction before it, as quiche
    /// does at any spurious loss: not if that would be slow start, nor if the window is as large.
    pub(super) fn roll_back(&mut self, window: Window) -> Option<Prior> {
        let prior = self.prior.as_ref()?;
        if prior.window.slow_start() || window.cwnd >= prior.window.cwnd {
            return None;
        }
        self.boundary = prior.boundary;
        Some(prior.clone())
    }

    /// Returns the state before the reductions, as ngtcp2 does when no lost packet is unacknowledged.
    pub(super) fn restore(&mut self, window: Window) -> Option<Prior> {
        let prior = self.prior.as_ref()?;
        if window.cwnd >= prior.window.cwnd {
            return None;
        }
        self.boundary = 0;
        self.prior.take()
    }

    /// Returns whether the latest reduction was for so few packets that it is no congestion. Losses since
    /// it began count.
    pub(super) fn is_small(&self, rules: &Restoration, cwnd: f64) -> bool {
        let lost = self.prior.as_ref().map(|prior| self.lost - prior.lost);
        self.boundary > 0 && lost.is_some_and(|lost| rules.is_small(lost, cwnd))
    }

    /// Ends the latest reduction (RFC 9002, section 7.6.2).
    pub(super) fn end(&mut self) {
        self.boundary = 0;
    }

    /// Adapts the saved windows to smaller segments.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        if let Some(prior) = &mut self.prior {
            prior.window.scale(ratio);
            prior.control.scale(ratio);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use crate::parts::respond::packets;

    fn rules(kind: &crate::parts::Kind<Restoration>) -> Restoration {
        let defaults: Vec<f64> = kind.parameters.iter().map(|p| p.default).collect();
        (kind.read)(&defaults)(&Config::simulated())
    }

    fn window(cwnd: f64) -> Window {
        Window { cwnd, ssthresh: 10.0 }
    }

    const AT: Instant = Instant::from_millis(100);

    /// Begins a reduction at [`AT`] when packet `last` was sent last, and counts these losses.
    fn cut(cuts: &mut Cuts, rules: &Restoration, last: u32, cwnd: f64, lost: &[u32]) {
        let before = cuts.lost();
        cuts.begin(rules, last, before, window(cwnd), Snapshot::default(), AT);
        lost.iter().for_each(|&number| cuts.count(number));
    }

    #[test]
    fn quic_go_restores_once_all_losses_of_the_reduction_were_spurious() {
        let rules = rules(&packets::QUIC_GO);
        let mut cuts = Cuts::default();
        cut(&mut cuts, &rules, 50, 40.0, &[21, 33]);
        assert!(cuts.on_spurious(21, window(28.0)).is_none());
        let prior = cuts.on_spurious(33, window(28.0)).expect("both were spurious");
        assert_eq!(prior.window, window(40.0));
        assert!(!cuts.covers(34), "further losses of that window reduce it again");
    }

    #[test]
    fn quic_go_restores_nothing_for_losses_of_an_earlier_reduction() {
        let rules = rules(&packets::QUIC_GO);
        let mut cuts = Cuts::default();
        cut(&mut cuts, &rules, 50, 40.0, &[21]);
        cut(&mut cuts, &rules, 80, 28.0, &[60]);
        assert!(cuts.on_spurious(21, window(19.6)).is_none());
        assert_eq!(cuts.on_spurious(60, window(19.6)).map(|p| p.window.cwnd), Some(28.0));
    }

    #[test]
    fn ngtcp2_restores_the_largest_window_since_it_last_did() {
        let rules = rules(&packets::NGTCP2);
        let mut cuts = Cuts::default();
        cut(&mut cuts, &rules, 50, 40.0, &[21]);
        cut(&mut cuts, &rules, 80, 28.0, &[60]);
        assert_eq!(cuts.restore(window(19.6)).map(|p| p.window.cwnd), Some(40.0));
        assert!(cuts.restore(window(19.6)).is_none(), "once");
    }

    #[test]
    fn quiche_does_not_go_back_to_slow_start_or_to_a_smaller_window() {
        let rules = rules(&packets::QUICHE);
        let mut cuts = Cuts::default();
        let slow_start = Window { cwnd: 20.0, ssthresh: f64::INFINITY };
        cuts.begin(&rules, 50, 0, slow_start, Snapshot::default(), AT);
        assert!(cuts.roll_back(window(14.0)).is_none());
        cut(&mut cuts, &rules, 80, 16.0, &[70]);
        assert!(cuts.roll_back(window(16.0)).is_none());
        assert_eq!(cuts.roll_back(window(11.2)).map(|p| p.window.cwnd), Some(16.0));
        assert!(cuts.covers(50) && !cuts.covers(51), "the reduction before is the latest again");
    }

    #[test]
    fn quiche_takes_few_losses_for_no_congestion_whatever_came_of_them() {
        let rules = rules(&packets::QUICHE);
        let mut cuts = Cuts::default();
        cut(&mut cuts, &rules, 50, 40.0, &[21, 22, 23, 24]);
        // A fifth of 28 is 5.6: fewer than 5.
        assert!(cuts.is_small(&rules, 28.0));
        cuts.count(25);
        assert!(!cuts.is_small(&rules, 28.0));
    }

    /// Packet 20 belonged to the reduction before, and was found to be lost together with 21.
    #[test]
    fn losses_found_together_with_the_one_that_reduces_count() {
        let rules = rules(&packets::QUICHE);
        let mut cuts = Cuts::default();
        let before = cuts.lost();
        cuts.count(20);
        cuts.begin(&rules, 50, before, window(10.0), Snapshot::default(), AT);
        cuts.count(21);
        assert!(!cuts.is_small(&rules, 7.0), "two losses");
    }

    #[test]
    fn packets_of_the_instant_of_a_reduction_belong_to_it() {
        let rules = rules(&packets::QUICHE);
        let mut cuts = Cuts::default();
        cut(&mut cuts, &rules, 50, 40.0, &[21]);
        cuts.on_sent(51, AT);
        cuts.on_sent(52, AT);
        cuts.on_sent(53, Instant::from_millis(101));
        assert!(cuts.covers(52) && !cuts.covers(53));
    }

    #[test]
    fn a_reduction_is_spurious_when_each_of_its_losses_was() {
        let rules = rules(&packets::QUICHE);
        let mut cuts = Cuts::default();
        cut(&mut cuts, &rules, 50, 40.0, &[21, 22]);
        let first = cuts.id();
        cut(&mut cuts, &rules, 90, 30.0, &[60]);
        assert_eq!([first, first].map(|id| cuts.count_spurious(id)), [false, true]);
        assert!(cuts.count_spurious(cuts.id()));
    }
}
