//! The standard's fixed duplicate threshold (RFC 5681, section 3.2; RFC 6675, section 2).

use std::borrow::Cow;

use super::{Detector, LossDetector, Rule, View};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

/// DupThresh of the standards.
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

/// The standard's detector.
pub(crate) const FIXED: Kind<Detector> = Kind::new::<Settings>("fixed", |values| {
    maker(values, |settings: Settings, _| Detector::Fixed(Fixed { dupthresh: settings.dupthresh }))
});

/// A hole is lost when `dupthresh` segments above it have arrived.
#[derive(Debug)]
pub(crate) struct Fixed {
    dupthresh: u32,
}

impl Fixed {
    /// With the standard's threshold, three.
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
