//! Settings of a RED queue.

use crate::ConfigError;

/// Settings of a RED queue. The default is that of ns-2.35, with the former thresholds of 5 and 15
/// packets.
///
/// The queue does not include the packet in service. [`LinkConfig::queue`](crate::LinkConfig::queue)
/// limits the number of waiting packets.
///
/// A link with [`LinkConfig::red`](crate::LinkConfig::red) requires a rate:
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
    /// Lower threshold of the average queue, in packets (`thresh_`). Below it, nothing is dropped at
    /// random.
    pub min: f64,
    /// Upper threshold of the average queue, in packets (`maxthresh_`). There, `max_p` of the packets are
    /// dropped.
    pub max: f64,
    /// Weight of a new sample in the average (`q_weight_`). `None` computes it from the link's rate and
    /// delay, like −1 in ns-2.
    pub weight: Option<f64>,
    /// Whether the probability grows to 1 between `max` and twice `max` (`gentle_`). Otherwise it is 1 from
    /// `max` on.
    pub gentle: bool,
    /// Whether the queue is counted in octets instead of packets (`queue_in_bytes_` and `bytes_`). Then a
    /// packet of the thresholds and of the limit stands for `mean_packet` octets, and the probability of
    /// a drop is proportional to the size of the packet.
    pub bytes: bool,
    /// Size of a typical packet, in octets (`mean_pktsize_`).
    pub mean_packet: u32,
    /// Share of the packets that are dropped when the average is `max` (1 / `linterm_`), above 0 and at most
    /// 1.
    pub max_p: f64,
    /// Whether the queue marks ECN-capable packets instead of dropping them at random (`setbit_`). A full
    /// queue drops them, too.
    pub ecn: bool,
    /// Share of packets to be dropped, above 0 and at most 1, from which on the queue drops ECN-capable
    /// packets, too (`mark_p_`).
    pub mark_p: f64,
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
            ecn: false,
            mark_p: 0.1,
        }
    }
}

impl Red {
    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// When a setting is out of its range; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        let error = |field, expected, found: f64| Err(ConfigError::new(field, expected, found));
        let &Self { min, max, weight, mean_packet, max_p, mark_p, .. } = self;
        if !(min >= 0.0 && min.is_finite()) {
            return error("min", "at least 0 packets", min);
        }
        if !(max > min && max.is_finite()) {
            return error("max", "greater than min", max);
        }
        if let Some(weight) = weight
            && !(weight > 0.0 && weight <= 1.0)
        {
            return error("weight", "greater than 0 and at most 1", weight);
        }
        if mean_packet == 0 {
            return error("mean_packet", "at least 1 octet", 0.0);
        }
        if !(max_p > 0.0 && max_p <= 1.0) {
            return error("max_p", "greater than 0 and at most 1", max_p);
        }
        if !(mark_p > 0.0 && mark_p <= 1.0) {
            return error("mark_p", "greater than 0 and at most 1", mark_p);
        }
        Ok(())
    }
}
