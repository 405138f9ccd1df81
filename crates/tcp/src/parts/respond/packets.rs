//! Restoration of the window by senders that number their packets, and so know of each lost packet whether
//! it has arrived after all; and for how long they remember lost packets.

use unruffled_units::Duration;

use crate::parameter::{Parameter, Unit, choice, settings};
use crate::parts::{Kind, maker};

choice! {
    /// The evidence that restores the window.
    Undo {
        /// None: the window is never restored.
        Never = "never",
        /// All losses of the latest reduction were spurious.
        AllOfCut = "all-of-cut",
        /// No lost packet is remembered any more, and the last of them has arrived.
        NoneLost = "none-lost",
        /// Any loss was spurious.
        Any = "any",
    }
}

choice! {
    /// The unit of the time for which lost packets are remembered.
    Memory {
        /// Smoothed round-trip times.
        RoundTrips = "round-trips",
        /// Probe timeouts.
        ProbeTimeouts = "probe-timeouts",
    }
}

const REMEMBERED: Parameter = Parameter {
    name: "remembered",
    unit: Unit::Number,
    default: 1.0,
    range: (0.0, 1e3),
    about: "how long a lost packet is remembered, in units of remembered_in",
    source: "",
};
const REMEMBERED_PACKETS: Parameter = Parameter {
    name: "remembered_packets",
    unit: Unit::Segments,
    default: 1e6,
    range: (0.0, 1e6),
    about: "how many lost packets are remembered",
    source: "",
};
const SMALL_CUT: Parameter = Parameter {
    name: "small_cut",
    unit: Unit::Fraction,
    default: 0.0,
    range: (0.0, 1.0),
    about: "share of the window of which fewer lost packets than this, or than two, are no congestion",
    source: "",
};

/// Returns the parameter `undo` with this default.
const fn undo(default: Undo, source: &'static str) -> Parameter {
    let about = "which spurious losses restore the window";
    let choice = Parameter::choice("undo", Undo::NAMES, about, source);
    Parameter { default: default as u8 as f64, ..choice }
}

/// Returns the parameter `remembered_in` with this default.
const fn memory(default: Memory, source: &'static str) -> Parameter {
    let about = "unit of remembered";
    let choice = Parameter::choice("remembered_in", Memory::NAMES, about, source);
    Parameter { default: default as u8 as f64, ..choice }
}

/// Declares the parameters of a stack's response, whose defaults are the stack's.
macro_rules! restoration {
    (
        $(#[$doc:meta])* $kind:ident, $part:literal, $settings:ident, $source:literal,
        $undo:ident, $remembered:literal $memory:ident, $packets:literal packets, small $small:literal
    ) => {
        settings! {
            $(#[$doc])*
            $part $settings {
                undo: Undo = undo(Undo::$undo, $source),
                small_cut: f64 = Parameter { default: $small, source: $source, ..SMALL_CUT },
                remembered: f64 = Parameter { default: $remembered, source: $source, ..REMEMBERED },
                remembered_in: Memory = memory(Memory::$memory, $source),
                remembered_packets: u32 =
                    Parameter { default: $packets, source: $source, ..REMEMBERED_PACKETS },
            }
        }

        $(#[$doc])*
        pub(crate) const $kind: Kind<Restoration> = Kind::new::<$settings>($part, |values| {
            maker(values, |s: $settings, _| Restoration {
                undo: s.undo,
                small_cut: s.small_cut,
                remembered: s.remembered,
                remembered_in: s.remembered_in,
                remembered_packets: s.remembered_packets,
            })
        });
    };
}

restoration! {
    /// quiche with CUBIC.
    QUICHE, "quiche", QuicheSettings, "quiche 0.30.0, congestion/cubic.rs, recovery.rs",
    Any, 1.0 RoundTrips, 1e6 packets, small 0.2
}
restoration! {
    /// ngtcp2 with CUBIC.
    NGTCP2, "ngtcp2", Ngtcp2Settings, "ngtcp2 0.12.1, lib/ngtcp2_rtb.c, ngtcp2_cc.c",
    NoneLost, 1.0 ProbeTimeouts, 1e6 packets, small 0.0
}
restoration! {
    /// quic-go with Reno.
    QUIC_GO, "quic-go", QuicGoSettings, "quic-go 0.65.0, lost_packet_tracker.go, cubic_sender.go",
    AllOfCut, 3.0 ProbeTimeouts, 64.0 packets, small 0.0
}

/// When the window is restored, and how long lost packets are remembered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Restoration {
    pub(crate) undo: Undo,
    /// Share of the window of which fewer lost packets are no congestion; zero for none.
    pub(crate) small_cut: f64,
    remembered: f64,
    remembered_in: Memory,
    /// How many lost packets are remembered.
    pub(crate) remembered_packets: u32,
}

impl Restoration {
    /// Describes the response in a few words.
    pub(crate) fn about(&self) -> &'static str {
        match self.undo {
            Undo::Never => "none",
            Undo::AllOfCut => "restored once all losses of the reduction were spurious",
            Undo::NoneLost => "restored once no lost packet is unacknowledged",
            Undo::Any => "restored at any spurious loss, and where few packets were lost",
        }
    }

    /// Returns how long a lost packet is remembered.
    pub(crate) fn memory(&self, srtt: Duration, probe_timeout: Duration) -> Duration {
        match self.remembered_in {
            Memory::RoundTrips => srtt.mul_f64(self.remembered),
            Memory::ProbeTimeouts => probe_timeout.mul_f64(self.remembered),
        }
    }

    /// Returns whether so few packets were lost that it is no congestion: fewer than two, or than a share
    /// of the window.
    pub(crate) fn is_small(&self, lost: u32, cwnd: f64) -> bool {
        self.small_cut > 0.0 && f64::from(lost) < (cwnd.floor() * self.small_cut).floor().max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICHE_LIKE: Restoration = Restoration {
        undo: Undo::Any,
        small_cut: 0.2,
        remembered: 1.0,
        remembered_in: Memory::RoundTrips,
        remembered_packets: 10,
    };

    #[test]
    fn a_reduction_is_small_below_two_packets_and_below_a_fifth_of_the_window() {
        let lost = |cwnd| (0..100).find(|&lost| !QUICHE_LIKE.is_small(lost, cwnd));
        assert_eq!(lost(4.0), Some(2), "a fifth of 4 is less than 2");
        assert_eq!(lost(14.9), Some(2), "a fifth of 14 is 2.8: two whole packets");
        assert_eq!(lost(15.0), Some(3));
        let never = Restoration { small_cut: 0.0, ..QUICHE_LIKE };
        assert!(!never.is_small(0, 100.0));
    }

    #[test]
    fn a_lost_packet_is_remembered_for_a_round_trip_or_some_probe_timeouts() {
        let ms = Duration::from_millis;
        assert_eq!(QUICHE_LIKE.memory(ms(50), ms(135)), ms(50));
        let probes =
            Restoration { remembered: 3.0, remembered_in: Memory::ProbeTimeouts, ..QUICHE_LIKE };
        assert_eq!(probes.memory(ms(50), ms(135)), ms(405));
    }
}
