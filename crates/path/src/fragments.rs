//! IPv4 fragmentation of packets that are larger than a link's MTU.

use crate::ConfigError;

/// Octets of an IPv4 header without options, which each fragment has.
const HEADER: u32 = 20;

/// Fragmentation at the near end of a link, and reassembly at its far end as Linux does it.
///
/// All fragments have the same source address, as those of a tunnel have. The far end counts them: if more
/// than `max_distance` fragments arrive after one fragment of a datagram until the next one, the datagram is
/// lost (Linux `net/ipv4/ip_fragment.c`, `ip_frag_too_far`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fragments {
    /// Size of the largest packet that crosses whole, in octets, from 68 (RFC 791).
    pub mtu: u32,
    /// Maximum number of fragments from one fragment of a datagram to the next one, which counts
    /// (`ipfrag_max_dist`); 0 for no limit.
    pub max_distance: u32,
}

impl Fragments {
    /// Linux's default of `net.ipv4.ipfrag_max_dist`.
    pub const MAX_DISTANCE: u32 = 64;

    /// Smallest MTU of a link (RFC 791).
    const MIN_MTU: u32 = 68;

    /// Creates the fragmentation of a link with this MTU, with Linux's default distance.
    pub const fn new(mtu: u32) -> Self {
        Self { mtu, max_distance: Self::MAX_DISTANCE }
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// When the MTU is too small for IPv4.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self.mtu {
            Self::MIN_MTU.. => Ok(()),
            mtu => Err(ConfigError::new("mtu", "at least 68 B", mtu)),
        }
    }

    /// Returns the sizes of the fragments of a packet of `bytes` octets, headers included; a packet that fits
    /// is whole. All but the last carry a multiple of 8 octets.
    pub(crate) fn sizes(self, bytes: u32) -> impl Iterator<Item = u32> {
        let payload = bytes.saturating_sub(HEADER);
        let per_fragment = match bytes > self.mtu {
            true => (self.mtu - HEADER) / 8 * 8,
            false => payload.max(1),
        };
        let count = payload.div_ceil(per_fragment).max(1);
        let size = move |index| match count {
            1 => bytes,
            _ => HEADER + per_fragment.min(payload - index * per_fragment),
        };
        (0..count).map(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(mtu: u32, bytes: u32) -> Vec<u32> {
        Fragments::new(mtu).sizes(bytes).collect()
    }

    /// 1480 octets of payload in fragments of 1376, the largest multiple of 8 that fits into 1380.
    #[test]
    fn all_fragments_but_the_last_carry_a_multiple_of_8_octets() {
        assert_eq!(sizes(1400, 1500), [1396, 124]);
        assert_eq!(sizes(576, 1500), [572, 572, 396]);
        assert_eq!(sizes(68, 200), [68, 68, 68, 56]);
    }

    #[test]
    fn a_packet_that_fits_is_whole() {
        assert_eq!(sizes(1500, 1500), [1500]);
        assert_eq!(sizes(1400, 40), [40]);
        assert_eq!(sizes(1400, 20), [20]);
        assert_eq!(sizes(1400, 8), [8]);
    }
}
