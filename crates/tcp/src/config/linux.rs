//! The settings of Linux 6.18 at both ends of a connection.

use unruffled_units::Duration;

use crate::Config;

/// Linux's minimum of a retransmission timeout (`TCP_RTO_MIN`).
const RTO_MIN: Duration = Duration::from_millis(200);
/// Linux's minimum of a delayed acknowledgement (`TCP_DELACK_MIN`).
const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Age by which a segment may be older than the last timestamp (`TCP_PAWS_WINDOW`).
const PAWS_WINDOW: Duration = Duration::from_millis(1);
/// The window that a receiver advertises at first (`net/ipv4/tcp_output.c`,
/// `tcp_select_initial_window`, with the default `tcp_rmem`), in octets.
const INITIAL_RECEIVE_BUFFER: u64 = 64 << 10;
/// The send buffer (the maximum of the default `tcp_wmem`), in octets.
const SEND_BUFFER: u32 = 4 << 20;

impl Config {
    /// Returns the settings with the rules of Linux 6.18 at both ends: timestamps and PAWS, delayed
    /// acknowledgements, a minimum timeout of 200 ms, growth by all that an acknowledgement covers, and
    /// a receive window that begins with 64 KiB and grows to [`receive_buffer`](Self::receive_buffer).
    #[must_use]
    pub fn as_linux(self) -> Self {
        self.with(|c| {
            c.timestamps.offer = true;
            c.timestamps.paws = Some(PAWS_WINDOW);
            c.delayed_ack = Some(DELAYED_ACK);
            c.rto.min = RTO_MIN;
            // No more is in flight than the send buffer holds.
            let buffered = (SEND_BUFFER / c.mss.max(1)).max(1);
            c.window.max = Some(c.window.max.map_or(buffered, |max| max.min(buffered)));
            // Each round-trip time has the weight that RFC 6298 gives to one per round trip.
            c.rto.segments_per_ack = u32::MAX;
            c.window.byte_counting = u32::MAX;
            c.initial_receive_buffer = Some(INITIAL_RECEIVE_BUFFER.min(c.receive_buffer));
        })
    }
}
