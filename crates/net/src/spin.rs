//! A budget for spinning.
//!
//! While a thread with real-time priority spins, nothing else runs on its processor. Packets that are due
//! every few microseconds would take a whole processor away from the applications, so only a share of the
//! time may be spent spinning. When it is used up, the thread sleeps until a packet is due, and the packet
//! is some 10 to 50 µs late.

use unruffled_units::{Duration, Instant};

/// Time before a packet is due at which the thread stops sleeping and spins.
const SPIN_TIME: Duration = Duration::from_micros(60);

/// Divisor of the share of time that may be spent spinning.
const SPIN_DIVISOR: u64 = 8;

/// Maximum of the unused budget.
const MAX_BUDGET: Duration = Duration::from_millis(5);

/// The time that may be spent spinning.
#[derive(Debug)]
pub(crate) struct Budget {
    left: Duration,
    at: Instant,
    /// Time of the packet for which the budget was last reduced.
    paid: Option<Instant>,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { left: MAX_BUDGET, at: Instant::ZERO, paid: None }
    }

    /// Returns how long to sleep at `now` for a packet that is due at `due`.
    pub(crate) fn sleep(&mut self, now: Instant, due: Instant) -> Duration {
        let until = due.since(now);
        if self.paid != Some(due) {
            let saved = self.left + now.since(self.at) / SPIN_DIVISOR;
            self.left = saved.min(MAX_BUDGET);
            self.at = now;
            let cost = until.min(SPIN_TIME);
            if self.left < cost {
                return until;
            }
            self.left = self.left - cost;
            self.paid = Some(due);
        }
        until.saturating_sub(SPIN_TIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_nanos(us * 1000)
    }

    #[test]
    fn the_thread_spins_for_rare_packets() {
        let mut budget = Budget::new();
        for n in 0..1000 {
            let now = at(1000 * n);
            let due = at(1000 * n + 500);
            assert_eq!(budget.sleep(now, due), Duration::from_micros(440));
            assert_eq!(budget.sleep(due, due), Duration::ZERO);
        }
    }

    #[test]
    fn frequent_packets_use_up_the_share_for_spinning() {
        let mut budget = Budget::new();
        let spun = |n: &u64| budget.sleep(at(20 * n), at(20 * n + 20)) == Duration::ZERO;
        let spun = (0..100_000).filter(spun).count();
        // An eighth of 2 s, and the initial budget. Each packet costs 20 µs.
        assert!((12_500..12_800).contains(&spun), "{spun}");
    }
}
