//! The settings of user-space stacks at both ends of a connection: what their receivers keep, report and
//! discard, and when they acknowledge.

use unruffled_units::Duration;

use super::ReceiverConfig;
use crate::Config;

/// max_ack_delay of RFC 9000, section 18.2.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

impl Config {
    /// Returns the settings with what all QUIC stacks have: packet numbers, round-trip times smoothed by
    /// the sample (RFC 9002, section 5.3), and no timestamps.
    fn as_quic(self, delayed_ack: Option<Duration>, receiver: ReceiverConfig) -> Self {
        self.with(|c| {
            c.receiver = ReceiverConfig { packets: true, ..receiver };
            c.delayed_ack = delayed_ack;
            c.timestamps.offer = false;
            c.rto.segments_per_ack = u32::MAX;
        })
    }

    /// Returns the settings of quiche 0.30.0: every packet is acknowledged at once, with 68 ranges, and one
    /// more than 128 behind the newest is discarded (`src/packet.rs`, `PktNumWindow`).
    #[must_use]
    pub fn as_quiche(self) -> Self {
        let receiver = ReceiverConfig {
            duplicate_filter: Some(127),
            kept_ranges: Some(68),
            ..ReceiverConfig::default()
        };
        self.as_quic(None, receiver)
    }

    /// Returns the settings of ngtcp2 0.12.1: an acknowledgement every 2 packets, of 32 ranges out of 1024
    /// (`lib/ngtcp2_conn.c`, `lib/ngtcp2_acktr.h`).
    #[must_use]
    pub fn as_ngtcp2(self) -> Self {
        let receiver = ReceiverConfig {
            reported_ranges: Some(32),
            kept_ranges: Some(1024),
            ..ReceiverConfig::default()
        };
        self.as_quic(Some(MAX_ACK_DELAY), receiver)
    }

    /// Returns the settings of quic-go 0.65.0: an acknowledgement every 2 packets, of 64 ranges. One in 20
    /// asks to be acknowledged, and what is older than the newest packet that it reported is discarded then
    /// (`internal/ackhandler/received_packet_tracker.go`, `received_packet_history.go`).
    #[must_use]
    pub fn as_quic_go(self) -> Self {
        let receiver = ReceiverConfig {
            kept_ranges: Some(64),
            acknowledged_ack: Some(20),
            ..ReceiverConfig::default()
        };
        self.as_quic(Some(MAX_ACK_DELAY), receiver)
    }
}
