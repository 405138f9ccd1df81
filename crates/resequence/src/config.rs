//! Configuration: bounds on time and memory.

use unruffled_units::Duration;

/// Bounds on what is held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// Maximum time for which a packet is held. Default: 1 s, the minimum of the retransmission timeout
    /// in RFC 6298: a sender that receives no acknowledgement for longer sends again in any case.
    pub max_hold: Duration,
    /// Whether SYNs are held as the first data of a connection are. Default: no, since it delays every new
    /// connection. BBR takes the round trip of the handshake for that of the path for ten seconds.
    pub hold_handshake: bool,
    /// Whether packets are held for every sender. Default: no, only for the senders of a path that late packets
    /// slow down, which a flow shows in at least four round trips while nothing is held.
    pub always_hold: bool,
    /// Maximum sum of [`Packet::octets`](crate::Packet::octets) held. Default: 128 MiB. At the limit the
    /// packets whose wait would end first go on, in order.
    pub budget: u64,
    /// Maximum number of packets held. Default: 32 768, half of what a queue of the kernel holds.
    pub max_packets: usize,
    /// Maximum number of flows. Default: 65 536. At the limit the flow that was idle for longest is
    /// forgotten; what it held goes on.
    pub max_flows: usize,
    /// Maximum number of paths. Default: 4096. At the limit the path that was idle for longest is
    /// forgotten.
    pub max_paths: usize,
    /// Secret key of the tables' hash, so that no sender can choose flows that collide.
    pub key: [u8; 16],
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_hold: Duration::from_secs(1),
            hold_handshake: false,
            always_hold: false,
            budget: 128 << 20,
            max_packets: 32_768,
            max_flows: 65_536,
            max_paths: 4096,
            key: [0; 16],
        }
    }
}
