//! The parts of a QUIC stack, and the rules of its recovery that are no part's.

use unruffled_units::Duration;

use crate::Config;
use crate::parts::Maker;
use crate::parts::control::{AnyControl, CongestionControl};
use crate::parts::detect::{Detector, LossDetector};
use crate::parts::respond::packets::Restoration;

/// Rules of recovery in which stacks differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Recovery {
    /// Initial window in packets, if it is the stack's own.
    pub(crate) initial_window: Option<u32>,
    /// Whether proportional rate reduction permits packets in recovery.
    pub(crate) prr: bool,
    /// Whether losses over a long time end in the minimum window (RFC 9002, section 7.6).
    pub(crate) persistent_congestion: bool,
    /// Whether packets that leave at the instant of a reduction belong to it.
    pub(crate) recovers_by_time: bool,
    /// Whether the data of a packet that was deemed lost is not sent again if that packet is acknowledged
    /// first.
    pub(crate) cancels: bool,
    /// Present if a burst is followed by a pause, of the time that it takes at 5/4 of the window in a round
    /// trip (RFC 9002, section 7.7): how long before its end the next burst may leave, if there is another
    /// reason to act then.
    pub(crate) paces: Option<Duration>,
    /// A full packet as a share of the unit in which the window is counted.
    pub(crate) share: f64,
    /// Whether the window grows although it is not full.
    pub(crate) grows_unused: bool,
    /// When a packet may leave.
    pub(crate) room: Room,
}

/// The room in the window that lets a packet leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Any: the packet may exceed the window.
    Any,
    /// Any: the packet is cut to it. It has so many octets besides data, and at least so many in all.
    Cut { header: u32, least: u32 },
}

/// The parts that a QUIC stack is made of.
#[derive(Clone)]
pub(crate) struct Composition {
    pub(crate) detector: Maker<Detector>,
    pub(crate) restoration: Maker<Restoration>,
    pub(crate) control: Maker<AnyControl>,
    pub(crate) recovery: Recovery,
}

impl core::fmt::Debug for Composition {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Composition({:?})", self.recovery)
    }
}

impl Composition {
    /// Returns a description of each part.
    pub(crate) fn about(&self) -> Vec<(&'static str, String)> {
        let config = Config::simulated();
        let reduction =
            if self.recovery.prr { "at once, and proportional rate reduction" } else { "at once" };
        vec![
            ("acknowledgements", "ranges of packet numbers".to_owned()),
            ("loss detection", (self.detector)(&config).about().into_owned()),
            ("spurious response", (self.restoration)(&config).about().to_owned()),
            ("retransmission timer", "probe timeout, RFC 9002".to_owned()),
            ("limited transmit", "none".to_owned()),
            ("window reduction", reduction.to_owned()),
            ("congestion control", (self.control)(&config).about().into_owned()),
        ]
    }
}
