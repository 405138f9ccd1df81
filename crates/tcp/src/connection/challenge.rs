//! How often to answer what may be forged (RFC 5961, section 7): per connection, so that no counter
//! that others share tells anything.

use unruffled_units::{Duration, Instant};

const PERIOD: Duration = Duration::from_secs(1);

/// Counts the challenge ACKs of the current second.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChallengeLimit {
    limit: u32,
    since: Instant,
    count: u32,
}

impl ChallengeLimit {
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, since: Instant::ZERO, count: 0 }
    }

    /// Whether one more may leave now.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        if now.since(self.since) >= PERIOD {
            (self.since, self.count) = (now, 0);
        }
        let allowed = self.count < self.limit;
        self.count += u32::from(allowed);
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_in_a_second_and_no_more() {
        let mut limit = ChallengeLimit::new(2);
        let allowed: Vec<bool> =
            [0, 1, 999, 1000, 1001, 1002].map(|ms| limit.allows(Instant::from_millis(ms))).to_vec();
        assert_eq!(allowed, [true, true, false, true, true, false]);
    }
}
