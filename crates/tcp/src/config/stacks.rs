//! The settings of user-space stacks at both ends of a connection: what their receivers keep, report and
//! discard, and when they acknowledge.

use unruffled_units::Duration;

use super::ReceiverConfig;
use crate::Config;

/// max_ack_delay of RFC 9000, section 18.2.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// Minimum timeout of gVisor (`TCPMinRTO`).
const GVISOR_MIN_RTO: Duration = Duration::from_millis(200);
/// Delay of an acknowledgement in smoltcp (`ACK_DELAY_DEFAULT`).
const SMOLTCP_DELAYED_ACK: Duration = Duration::from_millis(10);
/// Minimum timeout of smoltcp (`RTTE_MIN_RTO`).
const SMOLTCP_MIN_RTO: Duration = Duration::from_millis(1000);
/// Buffers of smoltcp's examples, in octets.
const SMOLTCP_BUFFER: u64 = 65_535;

impl Config {
    /// Returns the settings with what all QUIC stacks have: packet numbers, round-trip times smoothed by
    /// the sample (RFC 9002, section 5.3), and no timestamps.
    fn with_packets(self, delayed_ack: Option<Duration>, receiver: ReceiverConfig) -> Self {
        self.with(|c| {
            c.receiver = Some(Box::new(ReceiverConfig { packets: true, ..receiver }));
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
        self.with_packets(None, receiver)
    }

    /// Returns the settings of ngtcp2 0.12.1: an acknowledgement every 2 packets, or after an eighth of a
    /// round trip (`conn_compute_ack_delay` in `lib/ngtcp2_conn.c`), of 32 ranges out of 1024
    /// (`lib/ngtcp2_acktr.h`). A packet is acknowledged at once if it does not follow the newest one that
    /// had to be (`pktns_commit_recv_pkt_num`). After three acknowledgements the next asks to be
    /// acknowledged (`NGTCP2_MAX_NON_ACK_TX_PKT`), and what it reported is forgotten then
    /// (`acktr_on_ack` in `lib/ngtcp2_acktr.c`).
    #[must_use]
    pub fn as_ngtcp2(self) -> Self {
        let receiver = ReceiverConfig {
            reported_ranges: Some(32),
            kept_ranges: Some(1024),
            acknowledged_ack: Some(4),
            discards_acknowledged: false,
            delay_divisor: Some(8),
            order_of_answered: true,
            ..ReceiverConfig::default()
        };
        self.with_packets(Some(MAX_ACK_DELAY), receiver)
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
        self.with_packets(Some(MAX_ACK_DELAY), receiver)
    }

    /// Returns the settings of gVisor's netstack at both ends: timestamps, three SACK blocks, no DSACK
    /// (`pkg/tcpip/transport/tcp/sack.go`, `rcv.go`), an acknowledgement of each segment
    /// (`handleSegmentsLocked` in `connect.go`), and a minimum timeout of 200 ms.
    #[must_use]
    pub fn as_gvisor(self) -> Self {
        self.with(|c| {
            c.receiver = Some(Box::new(ReceiverConfig {
                reported_ranges: Some(3),
                dsack: false,
                ..ReceiverConfig::default()
            }));
            c.timestamps.offer = true;
            c.delayed_ack = None;
            c.rto.min = GVISOR_MIN_RTO;
            c.window.byte_counting = u32::MAX;
        })
    }

    /// Returns the settings of smoltcp 0.14.0 at both ends: buffers of 65,535 octets, which alone limit what
    /// is in flight, one SACK block, and a segment that would begin a fifth island of data is dropped
    /// without an answer (`src/socket/tcp.rs`, `src/storage/assembler.rs`).
    #[must_use]
    pub fn as_smoltcp(self) -> Self {
        self.with(|c| {
            c.receiver = Some(Box::new(ReceiverConfig {
                reported_ranges: Some(1),
                islands: Some(4),
                dsack: false,
                acknowledges_unread: true,
                ..ReceiverConfig::default()
            }));
            c.delayed_ack = Some(SMOLTCP_DELAYED_ACK);
            c.receive_buffer = SMOLTCP_BUFFER;
            c.initial_receive_buffer = None;
            c.rto.min = SMOLTCP_MIN_RTO;
            c.ring = core::num::NonZeroU32::new(SMOLTCP_BUFFER as u32);
        })
    }
}
