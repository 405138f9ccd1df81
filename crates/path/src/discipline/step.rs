//! Step marking: a queue marks every ECN-capable packet that arrives above a threshold, as the switches of
//! DCTCP do (RFC 8257, section 3.1).

use unruffled_units::{Duration, Instant};

use crate::transmitter::Transmitter;

/// Threshold of step marking, for [`LinkConfig::mark_above`](crate::LinkConfig::mark_above). Packets
/// without ECT are not marked, and step marking does not drop them.
///
/// ```
/// use unruffled_path::{Direction, Link, LinkConfig, MarkAbove, Packet};
/// use unruffled_units::{Instant, Rate};
///
/// let mark_above = Some(MarkAbove::Packets(1));
/// let config = LinkConfig { rate: Rate::from_bps(8e6), mark_above, ..LinkConfig::default() };
/// let mut link = Link::new(&config, Direction::Forward, 1)?;
/// let packet = Packet { bytes: 1000, direction: Direction::Forward, ect: true, flow: 0 };
/// let marked = [0, 1, 2].map(|_| link.offer_packet(packet, Instant::ZERO).marked);
/// assert_eq!(marked, [false, false, true]);
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkAbove {
    /// Marks a packet that finds more than this number of packets at the link, the one in service
    /// included.
    Packets(u32),
    /// Marks a packet that waits longer than this until its transmission begins.
    Delay(Duration),
}

impl MarkAbove {
    /// Returns whether a packet that arrives at `now` at the queue of `transmitter` is above the threshold.
    pub(super) fn is_exceeded(self, now: Instant, transmitter: &mut Transmitter) -> bool {
        match self {
            Self::Packets(packets) => transmitter.occupancy(now) > packets as usize,
            Self::Delay(delay) => transmitter.busy_until().since(now) > delay,
        }
    }
}
