//! The standard's fixed duplicate threshold (RFC 5681, section 3.2; RFC 6675, section 2).

use super::{LossDetector, Rule, View};

/// DupThresh of the standards.
pub(crate) const DUPTHRESH: u32 = 3;

/// A hole is lost when `dupthresh` segments above it have arrived.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) dupthresh: u32,
}

impl LossDetector for Fixed {
    fn rule(&self, _view: &View) -> Rule {
        Rule { dupthresh: Some(self.dupthresh), overdue: None }
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }
}
