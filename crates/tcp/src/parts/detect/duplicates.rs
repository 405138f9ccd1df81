//! Runs of duplicate acknowledgements, each caused by one hole, from which senders measure delays.

use unruffled_units::Instant;

use super::{AckFacts, View};

/// Duplicate acknowledgements since the cumulative acknowledgement last advanced. After it has
/// advanced to another hole, the next duplicate is that hole's first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Duplicates {
    first: Option<Instant>,
    count: u32,
}

impl Duplicates {
    /// Counts an acknowledgement, and returns whether it began a run. A duplicate that was lost
    /// counts nevertheless, because the next one SACKs its segment as well.
    pub(crate) fn on_ack(&mut self, facts: &AckFacts, view: &View) -> bool {
        if facts.advanced {
            *self = Self::default();
        }
        if facts.sacked == 0 {
            return false;
        }
        self.count += facts.sacked;
        let began = self.first.is_none();
        self.first.get_or_insert(view.now);
        began
    }

    /// Returns the number of duplicates in the run.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns when the first duplicate of the present run arrived.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.first
    }
}
