//! QUIC's loss detection (RFC 9002, section 6.1): a packet is lost when one sent later was
//! acknowledged and it is either far enough behind or old enough.

use std::borrow::Cow;

use unruffled_units::Duration;

use super::{Detector, LossDetector, Overdue, Rule, View, boxed};
use crate::parameter::{Parameter, Unit, settings};
use crate::parts::{Kind, maker};

settings! {
    /// Tunable parameters.
    "quic" Settings {
        packet_threshold: u32 = Parameter {
            name: "packet_threshold",
            unit: Unit::Segments,
            default: 3.0,
            range: (1.0, 1e6),
            about: "how far behind the highest acknowledged packet one is lost (kPacketThreshold)",
            source: "RFC 9002, section 6.1.1",
        },
        time_threshold: f64 = Parameter {
            name: "time_threshold",
            unit: Unit::Number,
            default: 9.0 / 8.0,
            range: (0.0, 100.0),
            about: "how old a packet is lost, in round trips (kTimeThreshold)",
            source: "RFC 9002, section 6.1.2",
        },
        granularity: Duration = Parameter {
            name: "granularity",
            unit: Unit::Time,
            default: 0.001,
            range: (0.0, 1.0),
            about: "minimum time threshold (kGranularity)",
            source: "RFC 9002, section 6.1.2",
        },
    }
}

/// QUIC's detector.
pub(crate) const QUIC: Kind<Detector> = Kind::new::<Settings>("quic", |values| {
    maker(values, |settings: Settings, _| boxed(Quic { settings }))
});

/// RFC 9002's two thresholds, which do not adapt.
#[derive(Debug)]
pub(crate) struct Quic {
    settings: Settings,
}

impl LossDetector for Quic {
    fn about(&self) -> Cow<'static, str> {
        "packet threshold and time threshold, both fixed".into()
    }

    fn rule(&self, view: &View) -> Rule {
        let Settings { packet_threshold, time_threshold, granularity } = self.settings;
        let rtt = view.srtt.max(view.latest_rtt);
        // "max(kTimeThreshold * max(smoothed_rtt, latest_rtt), kGranularity)", and "if packets sent
        // prior to the largest acknowledged packet cannot yet be declared lost, then a timer SHOULD
        // be set for the remaining time". The timer is for the first of them that is due.
        let overdue = rtt
            .map(|rtt| Overdue { wait: rtt.mul_f64(time_threshold).max(granularity), eager: true });
        Rule {
            distance: Some(packet_threshold),
            overdue,
            // With SACK this adds nothing, because as many segments above a hole put it as far
            // behind. Without SACK only duplicates can be counted.
            dupthresh: Some(packet_threshold),
            ..Rule::default()
        }
    }

    fn dupthresh(&self) -> Option<u32> {
        Some(self.settings.packet_threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{detector, found_spurious, late, ms, view};
    use super::*;

    fn wait(srtt: u64, latest: u64) -> Duration {
        let view = View { srtt: Some(ms(srtt)), latest_rtt: Some(ms(latest)), ..view(0) };
        let overdue = detector("quic").rule(&view).overdue.expect("a time threshold");
        assert!(overdue.eager);
        overdue.wait
    }

    #[test]
    fn a_packet_three_behind_is_lost() {
        assert_eq!(detector("quic").rule(&view(0)).distance, Some(3));
    }

    #[test]
    fn nine_eighths_of_the_larger_round_trip_is_lost() {
        assert_eq!(wait(80, 80), ms(90));
        assert_eq!(wait(80, 160), ms(180), "the round trip has just grown");
        assert_eq!(wait(160, 80), ms(180), "one acknowledgement took a shorter path");
        assert_eq!(wait(0, 0), ms(1), "kGranularity");
    }

    #[test]
    fn without_a_round_trip_time_only_packets_count() {
        let view = View { srtt: None, latest_rtt: None, ..view(0) };
        assert_eq!(detector("quic").rule(&view).overdue, None);
    }

    #[test]
    fn the_thresholds_do_not_adapt() {
        let mut detector = detector("quic");
        let before = detector.rule(&view(0));
        detector.on_reordering(late(40), &view(0));
        detector.on_spurious_fast_retransmit(found_spurious(40), &view(0));
        detector.on_timeout(true, &view(0));
        assert_eq!(detector.rule(&view(0)), before);
    }
}
