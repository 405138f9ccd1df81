//! The run of duplicate acknowledgements that one hole causes: what senders that wait count from.

use unruffled_units::Instant;

use super::{AckFacts, View};

/// Duplicate acknowledgements since the cumulative point last moved. When it moves on to another
/// hole, the next duplicate is that hole's first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Duplicates {
    first: Option<Instant>,
    count: u32,
}

impl Duplicates {
    /// Counts an acknowledgement; says whether it began a run. A duplicate that was lost on its way
    /// counts all the same: the next one SACKs its segment as well.
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

    /// How many there were.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// When the first came, while the run goes on.
    pub(crate) fn first(&self) -> Option<Instant> {
        self.first
    }
}
