//! Initial sequence numbers that an off-path attacker cannot guess (RFC 6528).

use core::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher24;
use unruffled_units::Instant;

/// Tick of the clock M of RFC 6528, section 3, in nanoseconds: 4 µs.
const TICK_NANOS: u64 = 4_000;

/// Returns an initial sequence number: ISN = M + F(local address and port, remote address and port,
/// secret key), where F is SipHash-2-4. The key must be random and stay the same while the host is
/// up.
pub fn initial_sequence_number(
    key: &[u8; 16],
    local: SocketAddr,
    remote: SocketAddr,
    now: Instant,
) -> u32 {
    let mut hash = SipHasher24::new_with_key(key);
    for end in [local, remote] {
        match end {
            SocketAddr::V4(v4) => hash.write(&v4.ip().octets()),
            SocketAddr::V6(v6) => hash.write(&v6.ip().octets()),
        }
        hash.write(&end.port().to_be_bytes());
    }
    ((now.as_nanos() / TICK_NANOS) as u32).wrapping_add(hash.finish() as u32)
}

/// Returns the start of the timestamp clock for connections between two hosts. It hides the host's
/// uptime, and differs for each peer (RFC 7323, section 7.1). It does not depend on ports, so that
/// a later connection between the same hosts has later timestamps than an earlier one (RFC 6191).
pub fn timestamp_offset(key: &[u8; 16], local: IpAddr, remote: IpAddr) -> u32 {
    let mut hash = SipHasher24::new_with_key(key);
    hash.write(b"timestamps");
    for end in [local, remote] {
        match end {
            IpAddr::V4(v4) => hash.write(&v4.octets()),
            IpAddr::V6(v6) => hash.write(&v6.octets()),
        }
    }
    hash.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn isn(key: u8, port: u16, ms: u64) -> u32 {
        let local = SocketAddr::from(([192, 0, 2, 1], port));
        let remote = SocketAddr::from(([192, 0, 2, 2], 80));
        initial_sequence_number(&[key; 16], local, remote, Instant::from_millis(ms))
    }

    #[test]
    fn numbers_of_one_connection_advance_with_the_clock() {
        // 1 ms is 250 ticks of 4 µs.
        assert_eq!(isn(1, 4000, 1001).wrapping_sub(isn(1, 4000, 1000)), 250);
    }

    #[test]
    fn timestamps_start_at_a_different_value_for_each_peer_and_key() {
        let offset = |key, last: u8| {
            timestamp_offset(&[key; 16], [192, 0, 2, 1].into(), [192, 0, 2, last].into())
        };
        assert_eq!(offset(1, 2), offset(1, 2));
        assert_ne!(offset(1, 2), offset(1, 3));
        assert_ne!(offset(1, 2), offset(2, 2));
    }

    #[test]
    fn other_connections_and_other_keys_have_unrelated_numbers() {
        assert_ne!(isn(1, 4000, 0), isn(1, 4001, 0));
        assert_ne!(isn(1, 4000, 0), isn(2, 4000, 0));
    }
}
