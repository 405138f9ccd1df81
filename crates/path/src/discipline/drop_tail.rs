//! Drop-tail queue: drops packets that arrive while it is full.

use unruffled_units::Instant;

use super::{Admission, MarkAbove};
use crate::ConfigError;
use crate::transmitter::Transmitter;

/// Queue that admits packets until it holds `limit`, the one in service included, like ns-2's
/// `DropTail`.
#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: usize,
    mark_above: Option<MarkAbove>,
}

impl DropTail {
    pub(crate) fn new(
        limit: Option<u32>,
        mark_above: Option<MarkAbove>,
    ) -> Result<Self, ConfigError> {
        match limit {
            Some(0) => Err(ConfigError::new("queue", "at least 1 packet", 0)),
            _ => {
                let limit = limit.map_or(usize::MAX, |limit| limit as usize);
                Ok(Self { limit, mark_above })
            }
        }
    }

    /// Decides about a packet, ECN-capable if `ect`, that arrives at `now`.
    #[inline]
    pub(crate) fn admit(
        &self,
        ect: bool,
        now: Instant,
        transmitter: &mut Transmitter,
    ) -> Admission {
        if transmitter.is_full(self.limit, now) {
            return Admission::Refused;
        }
        let marked = ect && self.mark_above.is_some_and(|step| step.is_exceeded(now, transmitter));
        Admission::Admitted { marked }
    }

    /// Returns whether the number of packets at the link has an effect.
    pub(crate) fn counts_packets(&self) -> bool {
        self.limit < usize::MAX || matches!(self.mark_above, Some(MarkAbove::Packets(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_holds_at_least_one_packet() {
        assert_eq!(DropTail::new(Some(2), None).unwrap().limit, 2);
        assert_eq!(DropTail::new(None, None).unwrap().limit, usize::MAX);
        assert!(DropTail::new(Some(0), None).is_err());
    }
}
