//! Drop-tail queue: drops packets that arrive while it is full.

use crate::ConfigError;

/// Queue that admits packets until it holds `limit`, the one in service included, like ns-2's
/// `DropTail`.
#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    limit: usize,
}

impl DropTail {
    pub(crate) fn new(limit: Option<u32>) -> Result<Self, ConfigError> {
        match limit {
            Some(0) => Err(ConfigError::new("queue", "at least 1 packet", 0)),
            _ => Ok(Self { limit: limit.map_or(usize::MAX, |limit| limit as usize) }),
        }
    }

    /// Returns the number of packets at which the queue is full.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_holds_at_least_one_packet() {
        assert_eq!(DropTail::new(Some(2)).unwrap().limit(), 2);
        assert_eq!(DropTail::new(None).unwrap().limit(), usize::MAX);
        assert!(DropTail::new(Some(0)).is_err());
    }
}
