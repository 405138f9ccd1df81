//! Queue disciplines: whom the queue in front of a link lets in.

mod drop_tail;
mod red;

use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::Instant;

use crate::transmitter::{Sent, Transmitter};
use crate::{ConfigError, LinkConfig};

use drop_tail::DropTail;
pub use red::Red;
use red::RedQueue;

/// A discipline at work.
#[derive(Clone, Debug)]
pub(crate) enum Discipline {
    DropTail(DropTail),
    Red(Box<RedQueue>),
}

impl Discipline {
    /// The discipline that `config` asks for; `rng` serves the one that needs it.
    pub(crate) fn new(
        config: &LinkConfig,
        rng: impl FnOnce() -> Xoshiro256PlusPlus,
    ) -> Result<Self, ConfigError> {
        let drop_tail = DropTail::new(config.queue)?;
        Ok(match &config.red {
            None => Self::DropTail(drop_tail),
            Some(red) => Self::Red(Box::new(RedQueue::new(red, config, rng())?)),
        })
    }

    /// Whether a packet of `bytes` octets that comes at `now` may join those of `line`.
    #[inline]
    pub(crate) fn admits(&mut self, bytes: u32, now: Instant, line: &mut Transmitter) -> bool {
        match self {
            Self::DropTail(queue) => !line.is_full(queue.limit(), now),
            Self::Red(queue) => {
                line.occupancy(now);
                queue.admits(bytes, now, line.busy_until())
            }
        }
    }

    /// Whether it asks how many packets are there.
    pub(crate) fn counts(&self) -> bool {
        matches!(self, Self::DropTail(queue) if queue.limit() < usize::MAX)
    }

    /// A packet of `bytes` octets that was admitted at `now` will be sent like this.
    #[inline]
    pub(crate) fn admitted(&mut self, bytes: u32, now: Instant, sent: Sent) {
        if let Self::Red(queue) = self {
            queue.push(bytes, now + sent.waited);
        }
    }
}
