//! The fixed duplicate threshold (RFC 5681, section 3.2; RFC 6675, section 2).

use std::borrow::Cow;

use super::{Detector, LossDetector, Rule, View};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

/// DupThresh of RFC 5681 and RFC 6675, in segments.
pub(crate) const DUPTHRESH: u32 = 3;

settings! {
    /// Tunable parameters.
    "fixed" Settings {
        dupthresh: u32 = Parameter {
            name: "dupthresh",
            unit: Unit::Segments,
            default: DUPTHRESH as f64,
            range: (1.0, 1e6),
            about: "how many segments above a hole make it a loss",
            source: "RFC 5681, section 3.2",
        },
    }
}

/// Detector with a fixed threshold.
pub(crate) const FIXED: Kind<Detector> = Kind::new::<Settings>("fixed", |values| {
    maker(values, |settings: Settings, _| Detector::Fixed(Fixed { dupthresh: settings.dupthresh }))
});

/// A detector that deems a hole lost when `dupthresh` segments above it have arrived.
#[derive(Debug)]
pub(crate) struct Fixed {
    dupthresh: u32,
}

impl Fixed {
    /// Returns the detector with the standard threshold, three.
    pub(crate) fn standard() -> Self {
        Self { dupthresh: DUPTHRESH }
    }
}

impl LossDetector for Fixed {
    fn about(&self) -> Cow<'static, str> {
        "fixed dupthresh".into()
    }

    #[inline]
    fn rule(&self, _view: &View) -> Rule {
        Rule::dupthresh(self.dupthresh)
    }

    #[inline]
    fn dupthresh(&self) -> Option<u32> {
        Some(self.dupthresh)
    }
}
