//! The queue that drops who finds it full.

use crate::ConfigError;

/// Lets packets in until `limit` are there, the one in service included, as ns-2's `DropTail`.
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

    /// A packet that finds so many others there is dropped.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_room_for_a_packet_or_more() {
        assert_eq!(DropTail::new(Some(2)).unwrap().limit(), 2);
        assert_eq!(DropTail::new(None).unwrap().limit(), usize::MAX);
        assert!(DropTail::new(Some(0)).is_err());
    }
}
