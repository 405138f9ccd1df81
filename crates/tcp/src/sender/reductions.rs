//! Reductions of the window that may still prove spurious.
//!
//! The [`ledger`] lies below the [stream](super::stream): it knows times, windows and causes, and
//! nothing of segments. A retransmission remembers under which reduction it was made.

mod ledger;

pub(crate) use ledger::{Basis, Evidence, Inherit, Ledger, ReductionId, Saved, Undo};
