//! No detection: for TCP-PR, which times every packet itself (see `sender/tcp_pr.rs`).

use super::{LossDetector, Rule, View};
use crate::parameter::Values;

/// Holds nothing for lost.
#[derive(Debug)]
pub(crate) struct Never;

impl Never {
    pub(crate) fn build(_values: &Values<'_>) -> Box<dyn LossDetector> {
        Box::new(Self)
    }
}

impl LossDetector for Never {
    fn rule(&self, _view: &View) -> Rule {
        Rule::default()
    }
}
