//! The monotonic clock, as the core's instants.

use rustix::time::{ClockId, clock_gettime};
use unruffled_units::Instant;

/// Returns the time since the machine was started. All processes share this clock.
pub(crate) fn now() -> Instant {
    let now = clock_gettime(ClockId::Monotonic);
    Instant::from_nanos(now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64)
}
