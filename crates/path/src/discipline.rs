//! Queue disciplines: which packets the queue in front of a link admits.

mod drop_tail;
mod red;

use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant, Rate};

use crate::ConfigError;
use crate::transmitter::{Transmission, Transmitter};

use drop_tail::DropTail;
pub use red::Red;
use red::RedQueue;

/// Queue discipline of a link.
#[derive(Clone, Debug)]
pub(crate) enum Discipline {
    DropTail(DropTail),
    Red(Box<RedQueue>),
}

impl Discipline {
    /// Creates the discipline of a link with that rate, delay and limit of its queue: RED with settings,
    /// else drop-tail. Only RED calls `rng`, for its random numbers.
    pub(crate) fn new(
        red: Option<&Red>,
        rate: Option<Rate>,
        delay: Duration,
        limit: Option<u32>,
        rng: impl FnOnce() -> Xoshiro256PlusPlus,
    ) -> Result<Self, ConfigError> {
        let drop_tail = DropTail::new(limit)?;
        Ok(match red {
            None => Self::DropTail(drop_tail),
            Some(red) => Self::Red(Box::new(RedQueue::new(red, rate, delay, limit, rng())?)),
        })
    }

    /// Returns whether a packet of `bytes` octets that arrives at `now` may join the queue of
    /// `transmitter`.
    #[inline]
    pub(crate) fn admits(
        &mut self,
        bytes: u32,
        now: Instant,
        transmitter: &mut Transmitter,
    ) -> bool {
        match self {
            Self::DropTail(queue) => !transmitter.is_full(queue.limit(), now),
            Self::Red(queue) => {
                transmitter.occupancy(now);
                queue.admits(bytes, now, transmitter.busy_until())
            }
        }
    }

    /// Returns whether the discipline depends on the number of packets at the link.
    pub(crate) fn counts_packets(&self) -> bool {
        matches!(self, Self::DropTail(queue) if queue.limit() < usize::MAX)
    }

    /// Records the transmission of a packet of `bytes` octets that was admitted at `now`.
    #[inline]
    pub(crate) fn record_admitted(&mut self, bytes: u32, now: Instant, transmission: Transmission) {
        if let Self::Red(queue) = self {
            queue.push(bytes, now + transmission.waited);
        }
    }
}
