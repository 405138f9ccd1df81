//! The rule of `unruffled`: resend on suspicion, slow down on proof (`docs/senders/unruffled.md`, sections 3
//! to 5). Windows and numbers of packets are in packets.

use unruffled_units::Duration;

use crate::Lateness;

/// Default of the maximum share of packets resent spuriously, if the share lost is not smaller.
pub const BUDGET: f64 = 0.01;
/// Default of the wait for confirmation, as a multiple of the longest lateness.
pub const MARGIN: f64 = 1.25;
/// Default of the minimum time for which a lateness counts.
pub const MEMORY: Duration = Duration::from_secs(3);
/// Default of the share of the window that confirms losses when suspected at a time.
pub const MANY: f64 = 0.1;
/// RACK's smallest reordering window, as a share of the minimum round trip (RFC 8985, section 6.2, step 4).
pub const SMALLEST_WINDOW: f64 = 0.25;

/// Upper bound on both waits, unless the retransmission timeout is longer (RFC 6298, rule 2.4: the
/// minimum of the timeout).
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Number of round trips that the second wait may last over long paths, or more with a large window.
const CONFIRM_ROUND_TRIPS: f64 = 16.0;
/// Minimum number of suspicions that indicate an overflow: the packet threshold of RFC 5681 and RFC 9002.
const MIN_OVERFLOW: f64 = 3.0;
/// Minimum time for which evidence against a suspicion is awaited: twice the longest wait.
const MIN_HORIZON: Duration = Duration::from_secs(2);

/// What the waits depend on beside the distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The smallest reordering window: a share of the minimum round trip.
    pub smallest_window: Duration,
    /// The retransmission timeout without backoff.
    pub timeout: Duration,
    /// The round-trip time of the front.
    pub reference: Duration,
    /// The congestion window.
    pub window: f64,
    /// The share of the window that indicates an overflow when suspected at a time.
    pub overflow_share: f64,
}

/// The two waits, each after the reference round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// τ_rtx: time until a packet is sent again.
    pub resend: Duration,
    /// τ_cc: time until its loss is confirmed.
    pub confirm: Duration,
}

impl Waits {
    /// Returns the waits for this distribution.
    pub fn new(lateness: &Lateness, path: &Path) -> Self {
        let bound = path.timeout.max(MAX_WAIT);
        let resend = lateness.quantile().max(path.smallest_window).min(bound);
        let safe = lateness.safe();
        if safe <= bound {
            return Self { resend, confirm: resend.max(safe) };
        }
        // During the wait, Reno grows by one packet per round trip, so by no more than the number of
        // suspicions that would confirm an overflow.
        let round_trips = CONFIRM_ROUND_TRIPS.max(libm::floor(path.window * path.overflow_share));
        let longest = bound.max(path.reference.mul_f64(round_trips));
        Self { resend, confirm: resend.max(safe.min(longest)) }
    }
}

/// Returns how many of `pending` suspicions lateness explains, if they indicate an overflow: at least `limit`,
/// at least three, and more than twice `usual`, the number that lateness leads to on average.
#[inline]
pub fn explained(pending: u32, limit: f64, usual: impl FnOnce() -> f64) -> Option<usize> {
    let pending = f64::from(pending);
    if pending < limit.max(MIN_OVERFLOW) {
        return None;
    }
    let usual = 2.0 * usual();
    (pending > usual).then_some(usual as usize)
}

/// Returns how many packets beyond `window` may be in flight because this share of it is late at any time. They do
/// not occupy the bottleneck's queue. The room is at most another window, which bounds the effect of a
/// receiver's false acknowledgements.
#[inline]
pub fn room_for_late(share: f64, window: f64) -> f64 {
    let late = (share * window + 0.5) as u32;
    f64::from(late).min(window)
}

/// Returns whether slow start is overflowing a queue: there are more holes than twice what lateness
/// explains plus three, so confirmation is only a matter of time.
#[inline]
pub fn slow_start_overflows(holes: u32, late_share: f64, window: f64) -> bool {
    f64::from(holes) > 2.0 * (late_share * window) + 3.0
}

/// Returns how long after a retransmission evidence that it was spurious may arrive. `wait` is the time from a
/// transmission to its confirmation.
#[inline]
pub fn horizon(timeout: Duration, wait: Duration) -> Duration {
    MIN_HORIZON.max(timeout * 8).max(wait * 2)
}

#[cfg(test)]
mod tests {
    use unruffled_units::Instant;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn of(late: u32, lateness_ms: u64) -> Lateness {
        let mut lateness = Lateness::new(MEMORY, BUDGET, MARGIN);
        (0..100).for_each(|_| lateness.in_order());
        (0..late).for_each(|_| lateness.late(MS(lateness_ms)));
        lateness.refresh(Instant::from_millis(1));
        lateness
    }

    #[test]
    fn the_second_wait_is_long_where_the_path_or_the_window_is() {
        let path = |reference, window| Path {
            smallest_window: MS(12),
            timeout: MS(300),
            reference: MS(reference),
            window,
            overflow_share: MANY,
        };
        let confirm = |ms, reference, window| {
            Waits::new(&of(5, ms), &path(reference, window)).confirm.as_nanos() / 1_000_000
        };
        assert_eq!(confirm(100, 50, 10.0), 125, "5/4 of the longest");
        assert_eq!(confirm(2000, 50, 10.0), 1000, "16 round trips are 800 ms, less than the bound");
        assert_eq!(confirm(2000, 100, 10.0), 1600, "16 round trips");
        assert_eq!(confirm(2000, 100, 209.0), 2000, "a tenth of the window: 20");
        assert_eq!(confirm(2000, 200, 10.0), 2500, "5/4 of the longest");
        assert_eq!(
            Waits::new(&of(0, 0), &path(50, 10.0)),
            Waits { resend: MS(12), confirm: MS(12) }
        );
    }

    #[test]
    fn an_overflow_is_more_than_twice_what_lateness_explains() {
        assert_eq!(explained(2, 0.0, || 0.0), None);
        assert_eq!(explained(3, 0.0, || 0.0), Some(0));
        assert_eq!(explained(9, 10.0, || 0.0), None);
        assert_eq!(explained(10, 10.0, || 5.0), None);
        assert_eq!(explained(11, 10.0, || 5.0), Some(10));
        assert!(!slow_start_overflows(23, 0.5, 20.0));
        assert!(slow_start_overflows(24, 0.5, 20.0));
    }

    #[test]
    fn there_is_room_for_what_is_late_up_to_another_window() {
        assert_eq!(room_for_late(0.0, 50.0), 0.0);
        assert_eq!(room_for_late(0.05, 50.0), 3.0, "2.5, rounded");
        assert_eq!(room_for_late(4.0, 50.0), 50.0);
    }
}
