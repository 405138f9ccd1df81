//! Loss detection of QUIC stacks that raise RFC 9002's thresholds after spurious losses (section 6.1.1:
//! "an endpoint can adapt"), or with the flight.

use std::borrow::Cow;

use unruffled_units::{Duration, Instant};

use super::{Detector, LossDetector, Overdue, Rule, SpuriousLoss, View, boxed};
use crate::parameter::{Parameter, Unit, choice, settings};
use crate::parts::{Kind, Variable, maker};

choice! {
    /// What becomes of the packet threshold.
    Packets {
        /// It stays.
        Fixed = "fixed",
        /// After a spurious loss it covers that packet's distance, up to the maximum.
        Growing = "growing",
        /// It is half of what is in flight, at least the threshold, up to the maximum.
        HalfFlight = "half-flight",
        /// After the first spurious loss there is none.
        OffAfterOne = "off-after-one",
    }
}

choice! {
    /// What becomes of the time threshold.
    Time {
        /// It stays.
        Fixed = "fixed",
        /// It is the maximum from the first spurious loss on.
        Once = "once",
        /// Its excess over one round trip doubles, up to the maximum, when a packet arrives later than it.
        Doubling = "doubling",
    }
}

const PACKET_THRESHOLD: Parameter = Parameter {
    name: "packet_threshold",
    unit: Unit::Segments,
    default: 3.0,
    range: (1.0, 1e6),
    about: "how far behind the highest acknowledged packet one is lost (kPacketThreshold)",
    source: "RFC 9002, section 6.1.1",
};
const TIME_THRESHOLD: Parameter = Parameter {
    name: "time_threshold",
    unit: Unit::Number,
    default: 9.0 / 8.0,
    range: (0.0, 100.0),
    about: "how old a packet is lost, in round trips (kTimeThreshold)",
    source: "RFC 9002, section 6.1.2",
};
const GRANULARITY: Parameter = Parameter {
    name: "granularity",
    unit: Unit::Time,
    default: 0.001,
    range: (0.0, 1.0),
    about: "minimum time threshold (kGranularity)",
    source: "RFC 9002, section 6.1.2",
};
const MAX_PACKETS: Parameter = Parameter {
    name: "max_packet_threshold",
    about: "maximum of the packet threshold",
    ..PACKET_THRESHOLD
};
const MAX_TIME: Parameter = Parameter {
    name: "max_time_threshold",
    about: "maximum of the time threshold, in round trips",
    ..TIME_THRESHOLD
};

/// Returns the parameter `packets` with this default.
const fn packets(default: Packets, source: &'static str) -> Parameter {
    let about = "what becomes of the packet threshold";
    let choice = Parameter::choice("packets", Packets::NAMES, about, source);
    Parameter { default: default as u8 as f64, ..choice }
}

/// Returns the parameter `time` with this default.
const fn time(default: Time, source: &'static str) -> Parameter {
    let about = "what becomes of the time threshold";
    let choice = Parameter::choice("time", Time::NAMES, about, source);
    Parameter { default: default as u8 as f64, ..choice }
}

/// Declares the parameters of a stack's detector, whose defaults are the stack's.
macro_rules! detector {
    (
        $(#[$doc:meta])* $kind:ident, $part:literal, $settings:ident, $source:literal,
        $packets:ident up to $max_packets:literal, $time:ident up to $max_time:literal
    ) => {
        settings! {
            $(#[$doc])*
            $part $settings {
                packets: Packets = packets(Packets::$packets, $source),
                packet_threshold: u32 = PACKET_THRESHOLD,
                max_packet_threshold: u32 =
                    Parameter { default: $max_packets, source: $source, ..MAX_PACKETS },
                time: Time = time(Time::$time, $source),
                time_threshold: f64 = TIME_THRESHOLD,
                max_time_threshold: f64 =
                    Parameter { default: $max_time, source: $source, ..MAX_TIME },
                granularity: Duration = GRANULARITY,
            }
        }

        $(#[$doc])*
        pub(crate) const $kind: Kind<Detector> = Kind::new::<$settings>($part, |values| {
            maker(values, |s: $settings, _| {
                boxed(Thresholds::new(Rules {
                    packets: s.packets,
                    packet_threshold: s.packet_threshold,
                    max_packet_threshold: s.max_packet_threshold,
                    time: s.time,
                    time_threshold: s.time_threshold,
                    max_time_threshold: s.max_time_threshold,
                    granularity: s.granularity,
                }))
            })
        });
    };
}

detector! {
    /// quiche: both thresholds grow once a loss was spurious.
    QUICHE, "quiche", QuicheSettings, "quiche 0.30.0, recovery/mod.rs",
    Growing up to 20.0, Once up to 1.25
}
detector! {
    /// ngtcp2: half of the flight.
    NGTCP2, "ngtcp2", Ngtcp2Settings, "ngtcp2 0.12.1, lib/ngtcp2_rtb.c",
    HalfFlight up to 256.0, Fixed up to 1.125
}
detector! {
    /// quic-go: time alone once a loss was spurious.
    QUIC_GO, "quic-go", QuicGoSettings, "quic-go 0.65.0, sent_packet_handler.go",
    OffAfterOne up to 3.0, Doubling up to 2.0
}

/// Values of the parameters.
#[derive(Clone, Copy, Debug)]
struct Rules {
    packets: Packets,
    packet_threshold: u32,
    max_packet_threshold: u32,
    time: Time,
    time_threshold: f64,
    max_time_threshold: f64,
    granularity: Duration,
}

/// Thresholds that adapt.
#[derive(Debug)]
struct Thresholds {
    rules: Rules,
    /// Packet threshold in force, unless it follows the flight; `None` if there is none.
    packets: Option<u32>,
    /// Time threshold in force, in round trips.
    time: f64,
    /// Time at which the time threshold last grew. Packets sent before do not let it grow again.
    grew: Instant,
}

impl Thresholds {
    fn new(rules: Rules) -> Self {
        let packets = Some(rules.packet_threshold);
        Self { rules, packets, time: rules.time_threshold, grew: Instant::ZERO }
    }

    fn packet_threshold(&self, flight: u32) -> Option<u32> {
        let Rules { packets, packet_threshold, max_packet_threshold, .. } = self.rules;
        match packets {
            Packets::HalfFlight => {
                Some((flight / 2).max(packet_threshold).min(max_packet_threshold))
            }
            _ => self.packets,
        }
    }

    /// Returns the time after which a packet is lost.
    fn wait(&self, view: &View) -> Option<Duration> {
        let rtt = view.srtt.max(view.latest_rtt)?;
        Some(rtt.mul_f64(self.time).max(self.rules.granularity))
    }
}

impl LossDetector for Thresholds {
    fn about(&self) -> Cow<'static, str> {
        let packets = match self.rules.packets {
            Packets::Fixed => "fixed",
            Packets::Growing => "grows after spurious losses",
            Packets::HalfFlight => "is half the flight",
            Packets::OffAfterOne => "ends with the first spurious loss",
        };
        let time = match self.rules.time {
            Time::Fixed => "fixed",
            Time::Once | Time::Doubling => "grows after spurious losses",
        };
        format!("packet threshold that {packets}, time threshold that {time}")
            .replace("that fixed", "that is fixed")
            .into()
    }

    fn rule(&self, view: &View) -> Rule {
        let distance = self.packet_threshold(view.flight);
        let overdue = self.wait(view).map(|wait| Overdue { wait, eager: true });
        Rule { distance, overdue, dupthresh: distance, ..Rule::default() }
    }

    fn dupthresh(&self) -> Option<u32> {
        self.packets
    }

    fn on_spurious_loss(&mut self, loss: SpuriousLoss, view: &View) {
        let Rules { max_packet_threshold, max_time_threshold, .. } = self.rules;
        let late = self.wait(view).is_some_and(|wait| view.now.since(loss.sent) > wait);
        match self.rules.packets {
            Packets::Growing => {
                let covers = (loss.packets + 1).min(max_packet_threshold);
                self.packets = self.packets.map(|packets| packets.max(covers));
            }
            Packets::OffAfterOne => self.packets = None,
            Packets::Fixed | Packets::HalfFlight => {}
        }
        match self.rules.time {
            Time::Once => self.time = self.time.max(max_time_threshold),
            Time::Doubling if late && loss.sent >= self.grew && self.time < max_time_threshold => {
                self.time = (1.0 + 2.0 * (self.time - 1.0)).min(max_time_threshold);
                self.grew = view.now;
            }
            Time::Fixed | Time::Doubling => {}
        }
    }

    fn variables(&self, view: &View, show: &mut dyn FnMut(Variable)) {
        if let Some(packets) = self.packet_threshold(view.flight) {
            show(Variable::segments("packet_threshold", f64::from(packets)));
        }
        show(Variable::number("time_threshold", self.time));
    }
}

#[cfg(test)]
mod tests;
