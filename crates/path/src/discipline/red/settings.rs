//! The settings of a RED queue.

use crate::ConfigError;

/// A RED queue's settings, by default those of ns-2.35 with its thresholds of old, 5 and 15.
///
/// The queue never includes the packet in service. [`LinkConfig::queue`](crate::LinkConfig::queue)
/// limits how many may wait.
///
/// Use it as [`LinkConfig::red`](crate::LinkConfig::red) of a link that has a rate:
///
/// ```
/// use unruffled_path::{Direction, Link, LinkConfig, Red};
/// use unruffled_units::Rate;
///
/// let red = Some(Red { min: 20.0, max: 60.0, ..Red::default() });
/// let config = LinkConfig { rate: Rate::from_bps(8e6), red, ..LinkConfig::default() };
/// assert!(Link::new(&config, Direction::Forward, 1).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Red {
    /// The average queue from which packets are dropped, in packets (`thresh_`).
    pub min: f64,
    /// The average queue at which `max_p` of them are dropped, in packets (`maxthresh_`).
    pub max: f64,
    /// The weight of a new sample in the average (`q_weight_`); `None`: from the link's speed and
    /// delay, ns-2's −1.
    pub weight: Option<f64>,
    /// Between `max` and twice that, the probability grows on to 1 (`gentle_`); else it is 1 there.
    pub gentle: bool,
    /// Queue, thresholds and limit are counted in octets, a packet being `mean_packet` of them, and
    /// a packet is dropped in proportion to its size (`queue_in_bytes_` and `bytes_`); else in
    /// packets.
    pub bytes: bool,
    /// The typical packet, in octets (`mean_pktsize_`).
    pub mean_packet: u32,
    /// The share of packets dropped when the average is `max` (1 / `linterm_`).
    pub max_p: f64,
}

impl Default for Red {
    fn default() -> Self {
        Self {
            min: 5.0,
            max: 15.0,
            weight: None,
            gentle: true,
            bytes: true,
            mean_packet: 500,
            max_p: 0.1,
        }
    }
}

impl Red {
    /// Whether the settings make sense.
    ///
    /// # Errors
    ///
    /// When one is out of its range; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let wrong = |field, expected, found: f64| Err(ConfigError::new(field, expected, found));
        let &Self { min, max, weight, mean_packet, max_p, .. } = self;
        if !(min >= 0.0 && min.is_finite()) {
            return wrong("min", "at least 0 packets", min);
        }
        if !(max > min && max.is_finite()) {
            return wrong("max", "greater than min", max);
        }
        if let Some(weight) = weight
            && !(weight > 0.0 && weight <= 1.0)
        {
            return wrong("weight", "greater than 0 and at most 1", weight);
        }
        if mean_packet == 0 {
            return wrong("mean_packet", "at least 1 octet", 0.0);
        }
        if !(max_p > 0.0 && max_p <= 1.0) {
            return wrong("max_p", "greater than 0 and at most 1", max_p);
        }
        Ok(())
    }
}
