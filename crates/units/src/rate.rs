//! Bit rates.

use core::fmt;

use crate::Duration;

/// A bit rate; finite and greater than zero. Links and paced senders have one.
///
/// ```
/// use unruffled_units::{Duration, Rate, parse_rate};
///
/// let rate = parse_rate("8 Mbit/s")?;
/// assert_eq!(Some(rate), Rate::from_bps(8e6));
/// assert_eq!(rate.time_for(1000), Duration::from_millis(1));
/// # Ok::<(), unruffled_units::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// Creates a rate of `bps` bits per second; `None` if that is not finite and positive.
    pub fn from_bps(bps: f64) -> Option<Self> {
        (bps.is_finite() && bps > 0.0).then_some(Self(bps))
    }

    /// Returns the bits per second.
    pub fn bps(self) -> f64 {
        self.0
    }

    /// Returns the time that `bytes` octets take to send, to the nearest nanosecond.
    pub fn time_for(self, bytes: u32) -> Duration {
        Duration::from_secs_f64(f64::from(bytes) * 8.0 / self.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            bps if bps >= 1e9 => (bps / 1e9, "Gbit/s"),
            bps if bps >= 1e6 => (bps / 1e6, "Mbit/s"),
            bps if bps >= 1e3 => (bps / 1e3, "kbit/s"),
            bps => (bps, "bit/s"),
        };
        write!(f, "{value} {unit}")
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
