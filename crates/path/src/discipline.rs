//! Queue disciplines: which packets the queue in front of a link admits, and which of them it marks.

mod drop_tail;
mod red;
mod step;

use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::Instant;

use crate::transmitter::{Transmission, Transmitter};
use crate::{ConfigError, LinkConfig, Packet};

use drop_tail::DropTail;
pub use red::Red;
use red::RedQueue;
pub use step::MarkAbove;

/// Queue discipline of a link.
#[derive(Clone, Debug)]
pub(crate) enum Discipline {
    DropTail(DropTail),
    Red(Box<RedQueue>),
}

/// What a queue does with a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It drops the packet.
    Refused,
    /// The packet joins the queue.
    Admitted {
        /// Whether the queue marks it with CE.
        marked: bool,
    },
}

impl Discipline {
    /// Creates the discipline of a link: RED with settings, else drop-tail. Only RED calls `rng`, for its
    /// random numbers.
    pub(crate) fn new(
        config: &LinkConfig,
        rng: impl FnOnce() -> Xoshiro256PlusPlus,
    ) -> Result<Self, ConfigError> {
        let &LinkConfig { rate, delay, queue, ref red, mark_above, .. } = config;
        let drop_tail = DropTail::new(queue, mark_above)?;
        if mark_above.is_some() && rate.is_none() {
            return Err(ConfigError::new("rate", "given for a queue that marks", "infinite"));
        }
        Ok(match red {
            None => Self::DropTail(drop_tail),
            Some(_) if mark_above.is_some() => {
                return Err(ConfigError::new("mark_above", "without RED", "both"));
            }
            Some(red) => Self::Red(Box::new(RedQueue::new(red, rate, delay, queue, rng())?)),
        })
    }

    /// Decides about `packet`, which arrives at `now` at the queue of `transmitter`.
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        packet: Packet,
        now: Instant,
        transmitter: &mut Transmitter,
    ) -> Admission {
        match self {
            Self::DropTail(queue) => queue.admit(packet.ect, now, transmitter),
            Self::Red(queue) => {
                transmitter.occupancy(now);
                queue.admit(packet, now, transmitter.busy_until())
            }
        }
    }

    /// Returns whether the discipline depends on the number of packets at the link.
    pub(crate) fn counts_packets(&self) -> bool {
        matches!(self, Self::DropTail(queue) if queue.counts_packets())
    }

    /// Records the transmission of a packet of `bytes` octets that was admitted at `now`.
    #[inline]
    pub(crate) fn record_admitted(&mut self, bytes: u32, now: Instant, transmission: Transmission) {
        if let Self::Red(queue) = self {
            queue.push(bytes, now + transmission.waited);
        }
    }
}
