//! Rates, and delays, that change during a run.

use unruffled_units::{Duration, Instant};

use crate::trace::Opportunities;
use crate::{Changes, Trace};

/// Course of a link's rate, and of its delay, in place of constant ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying {
    /// A recorded rate. The delay of the link is constant.
    Trace(Trace),
    /// A table of rates and delays.
    Table(Changes),
}

impl Varying {
    /// Returns the propagation delay of a packet whose last bit is sent at `departed`, where it is not
    /// constant.
    pub(crate) fn delay_at(&self, departed: Instant) -> Option<Duration> {
        match self {
            Self::Trace(_) => None,
            Self::Table(changes) => Some(changes.delay_at(departed)),
        }
    }

    /// Returns whether no packet can overtake those before it.
    pub(crate) fn keeps_order(&self) -> bool {
        match self {
            Self::Trace(_) => true,
            Self::Table(changes) => changes.keeps_order(),
        }
    }
}

/// Transmissions at a rate that varies.
#[derive(Clone, Debug)]
pub(crate) enum Course {
    Trace(Opportunities),
    Table(Changes),
}

impl Course {
    pub(crate) fn new(varying: &Varying) -> Self {
        match varying {
            Varying::Trace(trace) => Self::Trace(Opportunities::new(trace.clone())),
            Varying::Table(changes) => Self::Table(changes.clone()),
        }
    }

    /// Returns the end of a transmission of `bytes` octets that begins at `begun`, which must not decrease.
    pub(crate) fn end_of_transmission(&mut self, bytes: u32, begun: Instant) -> Instant {
        match self {
            Self::Trace(opportunities) => opportunities.deliver(bytes, begun),
            Self::Table(changes) => changes.end_of_transmission(bytes, begun),
        }
    }
}
