//! Two-stage detection: a segment is sent again on suspicion, and the window is reduced on confirmation.

use unruffled_units::{Duration, Instant};

use super::View;

/// Model of how late the segments of a connection are, for two-stage detection
/// (`docs/senders/unruffled.md`, section 4).
///
/// A [`LossDetector`](super::LossDetector) that returns a model from
/// [`two_stage`](super::LossDetector::two_stage) lets the sender treat what its
/// [`Rule`](super::Rule) calls lost as *suspected*. The sender sends a suspected segment again at once.
/// It reduces the window when [`Rule::confirm_after`](super::Rule::confirm_after) has passed and
/// nothing has refuted the suspicion, and undoes a reduction whose suspicions are all refuted later.
///
/// Every method has a default that suits a model which keeps no record.
pub trait LatenessModel {
    /// Returns the share of the window, 0…1, from which on suspicions confirm each other as losses when
    /// that much of the window is suspected at a time.
    fn overflow_share(&self) -> f64 {
        0.1
    }

    /// Called when a segment sent at `sent` has arrived by its first transmission: for each such segment
    /// of an acknowledgement, before [`LossDetector::on_ack`](super::LossDetector::on_ack).
    fn on_arrival(&mut self, _sent: Instant, _now: Instant) {}

    /// Returns how late a segment sent at `sent` is if it arrives now by its first transmission; none if
    /// it is in order.
    fn lateness(&self, _sent: Instant, _now: Instant) -> Option<Duration> {
        None
    }

    /// Called when a segment that was sent again proves to have arrived by its first transmission, with
    /// this lateness.
    fn on_late(&mut self, _lateness: Duration) {}

    /// Called when a suspicion is confirmed: the suspected transmission counts as lost.
    fn on_confirmed(&mut self) {}

    /// Called when a suspicion that had been confirmed is refuted.
    fn on_refuted(&mut self) {}

    /// Called with the outcome of a DSACK for a segment that was sent again.
    fn on_dsack(&mut self, _outcome: DsackOutcome) {}

    /// Returns whether a missing DSACK may be explained by the loss of the acknowledgement that carried
    /// it, and uses up one such explanation.
    fn take_dsack_loss_credit(&mut self) -> bool {
        false
    }

    /// Returns the share of the window that is late at a time, on average.
    fn late_share(&self) -> f64 {
        0.0
    }

    /// Returns the share of the window that is suspected at a time, on average.
    fn suspected_share(&self, _view: &View) -> f64 {
        0.0
    }

    /// Returns the earliest time from which on an unconfirmed retransmission more likely replaced a
    /// reordered segment than a lost one. It applies to retransmissions that were made before any
    /// segment had been late.
    fn likely_reordered_since(&self, _view: &View) -> Option<Instant> {
        None
    }
}

/// The outcome of the DSACK for a segment that was sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DsackOutcome {
    /// The DSACK was due, because the original had arrived, and it came.
    Expected,
    /// The DSACK was due and did not come.
    Missed,
    /// The DSACK came, and it alone shows that the original arrived.
    Informative,
}
