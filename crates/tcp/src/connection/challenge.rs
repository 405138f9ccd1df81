//! Rate limit of answers to segments that may be forged (RFC 5961, section 7). The limit is per
//! connection, because a counter shared between connections leaks information.

use unruffled_units::{Duration, Instant};

/// Period over which challenge ACKs are counted.
const PERIOD: Duration = Duration::from_secs(1);

/// Counts the challenge ACKs of the current period.
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

    /// Returns whether another challenge ACK may be sent now, and counts it.
    pub(super) fn allows(&mut self, now: Instant) -> bool {
        if now.since(self.since) >= PERIOD {
            self.since = now;
            self.count = 0;
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
    fn challenge_acks_are_limited_per_second() {
        let mut limit = ChallengeLimit::new(2);
        let allowed: Vec<bool> =
            [0, 1, 999, 1000, 1001, 1002].map(|ms| limit.allows(Instant::from_millis(ms))).to_vec();
        assert_eq!(allowed, [true, true, false, true, true, false]);
    }
}
