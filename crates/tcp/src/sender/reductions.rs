//! Reductions of the window that may still prove spurious.
//!
//! The [`Ledger`] records each reduction and the evidence against it. [`Suspicions`] are the
//! transmissions that two-stage detection suspects to be lost, until each is confirmed or refuted. This
//! module does not depend on the [stream](super::stream): it works with times, windows, causes and
//! segment numbers.

mod arrivals;
mod ledger;
mod suspicions;

pub(crate) use ledger::{Basis, Evidence, Inherit, Ledger, ReductionId, Saved, Undo};
pub(crate) use suspicions::{Load, Suspicions};
