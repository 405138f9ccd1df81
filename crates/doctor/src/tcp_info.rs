//! The kernel's counters of a connection (`struct tcp_info` of `linux/tcp.h`).

use std::time::Duration;

/// Counters and state of a connection. Counts start with the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Whether the connection has TCP timestamps.
    pub has_timestamps: bool,
    /// Maximum segment size of segments that this end sends, in octets.
    pub mss: u32,
    /// Estimated size of segments that this end receives, in octets.
    pub received_mss: u32,
    /// Segments that are sent and not yet acknowledged.
    pub unacked: u32,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub rtt: Duration,
    /// Round-trip time as estimated by the receiver; zero before the first sample.
    pub receiver_rtt: Duration,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Largest distance in segments by which a packet was overtaken; 3 at first.
    pub reordering: u32,
    /// Retransmitted segments.
    pub retransmitted: u32,
    /// Octets that the receiver has acknowledged.
    pub bytes_acked: u64,
    /// Octets received in order.
    pub bytes_received: u64,
    /// Octets that wait to be sent.
    pub unsent: u32,
    /// Received segments with data, duplicates included.
    pub data_segments_in: u32,
    /// Sent segments with data, retransmissions included.
    pub data_segments_out: u32,
    /// Time with data to send or to acknowledge.
    pub busy: Duration,
    /// Part of [`busy`](Self::busy) in which the receive window was the limit.
    pub receive_window_limited: Duration,
    /// Part of [`busy`](Self::busy) in which the send buffer was the limit.
    pub send_buffer_limited: Duration,
    /// Segments that have arrived, as acknowledgements report.
    pub delivered: u32,
    /// Segments that the receiver reported by DSACK as duplicates.
    pub duplicates_reported: u32,
    /// Times that a packet arrived after packets that were sent later.
    pub reordered: u32,
    /// Received segments that did not follow the one before.
    pub out_of_order_in: u32,
    /// Times that the retransmission timer expired; `None` before Linux 6.7.
    pub timeouts: Option<u32>,
}

/// Octets of the structure up to the counter of segments out of order, the last that is required. Linux has
/// them since 5.4.
const REQUIRED: usize = 228;

/// `TCPI_OPT_TIMESTAMPS`.
const TIMESTAMPS: u8 = 1;

impl TcpInfo {
    /// Parses the structure, whose length depends on the kernel. Returns `None` for a kernel before Linux 5.4,
    /// which does not count reordering.
    pub fn parse(octets: &[u8]) -> Option<Self> {
        if octets.len() < REQUIRED {
            return None;
        }
        let u16_at = |at| octets.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes);
        let u32_at = |at| u32::from_ne_bytes(array(octets, at));
        let u64_at = |at| u64::from_ne_bytes(array(octets, at));
        let micros_u32 = |at| Duration::from_micros(u64::from(u32_at(at)));
        let micros_u64 = |at| Duration::from_micros(u64_at(at));
        Some(Self {
            has_timestamps: octets[5] & TIMESTAMPS != 0,
            mss: u32_at(16),
            received_mss: u32_at(20),
            unacked: u32_at(24),
            rtt: micros_u32(68),
            cwnd: u32_at(80),
            reordering: u32_at(88),
            receiver_rtt: micros_u32(92),
            retransmitted: u32_at(100),
            bytes_acked: u64_at(120),
            bytes_received: u64_at(128),
            unsent: u32_at(144),
            data_segments_in: u32_at(152),
            data_segments_out: u32_at(156),
            busy: micros_u64(168),
            receive_window_limited: micros_u64(176),
            send_buffer_limited: micros_u64(184),
            delivered: u32_at(192),
            duplicates_reported: u32_at(216),
            reordered: u32_at(220),
            out_of_order_in: u32_at(224),
            timeouts: u16_at(240).map(u32::from),
        })
    }
}

/// Returns the octets at `at`, which the caller has checked to be there.
fn array<const N: usize>(octets: &[u8], at: usize) -> [u8; N] {
    let mut value = [0; N];
    value.copy_from_slice(&octets[at..at + N]);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a structure of Linux 6.18, in which each 32-bit word is its own offset.
    fn octets() -> Vec<u8> {
        (0..62_u32).flat_map(|word| (4 * word).to_ne_bytes()).collect()
    }

    #[test]
    fn each_counter_is_at_its_offset() {
        let info = TcpInfo::parse(&octets()).expect("is long enough");
        let found = [
            (info.mss, 16),
            (info.received_mss, 20),
            (info.unacked, 24),
            (info.cwnd, 80),
            (info.reordering, 88),
            (info.retransmitted, 100),
            (info.unsent, 144),
            (info.data_segments_in, 152),
            (info.data_segments_out, 156),
            (info.delivered, 192),
            (info.duplicates_reported, 216),
            (info.reordered, 220),
            (info.out_of_order_in, 224),
            (info.timeouts.expect("Linux 6.18 has it"), 240),
        ];
        for (value, offset) in found {
            assert_eq!(value, offset);
        }
        assert_eq!(info.rtt, Duration::from_micros(68));
        assert_eq!(info.receiver_rtt, Duration::from_micros(92));
        let wide = |low: u64| {
            if cfg!(target_endian = "little") {
                low | (low + 4) << 32
            } else {
                low << 32 | (low + 4)
            }
        };
        assert_eq!((info.bytes_acked, info.bytes_received), (wide(120), wide(128)));
        assert_eq!(info.busy, Duration::from_micros(wide(168)));
        assert_eq!(info.send_buffer_limited, Duration::from_micros(wide(184)));
    }

    /// 228 octets: Linux 5.4. 232: Linux 5.5 to 6.1. 248: since Linux 6.7.
    #[test]
    fn a_structure_of_any_length_is_parsed_or_refused() {
        let octets = octets();
        for length in 0..=octets.len() {
            let info = TcpInfo::parse(&octets[..length]);
            assert_eq!(info.is_some(), length >= 228, "{length}");
            let timeouts = info.and_then(|info| info.timeouts);
            assert_eq!(timeouts, (length >= 242).then_some(240), "{length}");
        }
        let longer = [&octets[..], &[0xff; 64]].concat();
        assert_eq!(TcpInfo::parse(&longer), TcpInfo::parse(&octets));
    }
}
