//! The standard's fixed duplicate threshold (RFC 5681, section 3.2; RFC 6675, section 2).

use super::{LossDetector, Rule, View};
use crate::parameter::{Parameter, Unit, Values};

/// DupThresh of the standards.
pub(crate) const DUPTHRESH: u32 = 3;

/// What can be set of it.
pub(crate) const PARAMETERS: &[Parameter] = &[Parameter {
    name: "dupthresh",
    unit: Unit::Segments,
    default: DUPTHRESH as f64,
    range: (1.0, 1e6),
    about: "how many segments above a hole make it a loss",
    source: "RFC 5681, section 3.2",
}];

/// A hole is lost when `dupthresh` segments above it have arrived.
#[derive(Debug)]
pub(crate) struct Fixed {
    dupthresh: u32,
}

impl Fixed {
    /// The standard's.
    pub(crate) fn standard() -> Self {
        Self { dupthresh: DUPTHRESH }
    }

    pub(crate) fn build(values: &Values<'_>) -> Box<dyn LossDetector> {
        Box::new(Self { dupthresh: values.segments("dupthresh") })
    }
}

impl LossDetector for Fixed {
    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }
}
