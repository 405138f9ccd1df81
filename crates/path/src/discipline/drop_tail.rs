//! The queue that drops who finds it full.

use crate::ConfigError;

/// Lets packets in until `limit` are there, the one in service included, as ns-2's `DropTail`.
#[derive(Clone, Debug)]
pub(crate) struct DropTail {
    /// Packets; `None` lets everybody in.
    limit: Option<u32>,
}

impl DropTail {
    pub(crate) fn new(limit: Option<u32>) -> Result<Self, ConfigError> {
        match limit {
            Some(0) => Err(ConfigError::new("queue", "at least 1 packet", 0)),
            _ => Ok(Self { limit }),
        }
    }

    /// Whether a packet that finds `occupancy` others there may join them.
    pub(crate) fn admits(&self, occupancy: usize) -> bool {
        self.limit.is_none_or(|limit| occupancy < limit as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_drops_its_tail() {
        let queue = DropTail::new(Some(2)).unwrap();
        assert!(queue.admits(1));
        assert!(!queue.admits(2));
        assert!(DropTail::new(None).unwrap().admits(1_000_000));
        assert!(DropTail::new(Some(0)).is_err());
    }
}
