//! How much a thread may spin.
//!
//! With real-time priority nothing else runs on the processor that a thread spins on, so packets
//! that are due every few microseconds would take a whole processor away from the applications. A
//! share of the time is set aside for spinning; what is due when that is used up is slept for to
//! the end, and some 10 to 50 µs late for it.

use unruffled_units::{Duration, Instant};

/// How long before a packet is due the thread stops sleeping.
const SPIN: Duration = Duration::from_micros(60);

/// One in so many nanoseconds may be spent spinning.
const SHARE: u64 = 8;

/// The most that can be saved up.
const SAVINGS: Duration = Duration::from_millis(5);

/// The time that may be spent spinning.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Duration,
    at: Instant,
    /// What was last paid for.
    paid: Option<Instant>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: SAVINGS, at: Instant::ZERO, paid: None }
    }

    /// For how long to sleep at `now` before something that is due at `due`.
    pub(crate) fn sleep(&mut self, now: Instant, due: Instant) -> Duration {
        let until = due.since(now);
        if self.paid != Some(due) {
            let saved = self.left + now.since(self.at) / SHARE;
            self.left = saved.min(SAVINGS);
            self.at = now;
            let cost = until.min(SPIN);
            if self.left < cost {
                return until;
            }
            self.left = self.left - cost;
            self.paid = Some(due);
        }
        until.saturating_sub(SPIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    #[test]
    fn what_is_rare_is_spun_for() {
        let mut budget = Budget::new();
        for n in 0..1000 {
            let (now, due) = (at(1000 * n), at(1000 * n + 500));
            assert_eq!(budget.sleep(now, due), Duration::from_micros(440));
            assert_eq!(budget.sleep(due, due), Duration::ZERO);
        }
    }

    #[test]
    fn what_is_frequent_takes_its_share_and_no_more() {
        let mut budget = Budget::new();
        let spun = |n: &u64| budget.sleep(at(20 * n), at(20 * n + 20)) == Duration::ZERO;
        let spun = (0..100_000).filter(spun).count();
        // An eighth of 2 s, and what was saved up before; each costs 20 µs.
        assert!((12_500..12_800).contains(&spun), "{spun}");
    }
}
