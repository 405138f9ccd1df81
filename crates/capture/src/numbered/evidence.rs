//! Evidence that a field of some packets is a number that counts them.
//!
//! Any payload may look like a header. A field counts as a number only after it has been nearly
//! consecutive in many packets, late ones among them.

use unruffled_units::Instant;

/// Packets whose number is near that of another one, from which on the field counts them. The first of
/// 16 consecutive packets is near none.
const MIN_NEAR: usize = 15;

/// Packets after which the evidence is collected anew.
const MAX_SAMPLES: usize = 48;

/// Greatest distance of two near numbers. Packets that a lossy path or a path of several ways carries are
/// not consecutive.
const MAX_DISTANCE: u64 = 8;

/// First packets of a flow, until it is known whether they are numbered.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    samples: Vec<Sample>,
    near: usize,
}

/// A packet of which it is not known whether it is numbered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) number: u64,
    pub(super) context: u32,
    pub(super) len: u32,
    /// Octets that differ from packet to packet if the packet is numbered, where the protocol has any.
    pub(super) tag: Option<[u8; 8]>,
    pub(super) at: Instant,
}

impl Evidence {
    /// Records a packet. Returns the packets so far if they are numbered.
    pub(super) fn record(&mut self, sample: Sample) -> Option<Vec<Sample>> {
        let others = self.samples.iter().filter(|other| other.context == sample.context);
        let nearest = others.map(|other| other.number.abs_diff(sample.number)).min();
        let is_known = |tag| self.samples.iter().any(|other| other.tag == Some(tag));
        let is_constant = sample.tag.is_some_and(is_known);
        // A capture may have each packet twice.
        if nearest == Some(0) || is_constant || sample.tag.is_some_and(is_text) {
            return None;
        }
        if self.samples.len() == MAX_SAMPLES {
            self.samples.clear();
            self.near = 0;
        } else {
            self.near += usize::from(nearest.is_some_and(|distance| distance <= MAX_DISTANCE));
        }
        self.samples.push(sample);
        (self.near >= MIN_NEAR).then(|| std::mem::take(&mut self.samples))
    }
}

/// Returns whether octets are text, and thus not encrypted.
fn is_text(octets: [u8; 8]) -> bool {
    octets.iter().all(|octet| octet.is_ascii_graphic() || *octet == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of packets after which their numbers are evidence.
    fn packets_needed(numbers: impl IntoIterator<Item = u64>) -> Option<usize> {
        let mut evidence = Evidence::default();
        let sample = |number| Sample { number, context: 1, len: 100, tag: None, at: Instant::ZERO };
        numbers.into_iter().position(|n| evidence.record(sample(n)).is_some()).map(|at| at + 1)
    }

    #[test]
    fn sixteen_consecutive_packets_are_evidence() {
        assert_eq!(packets_needed(70..1000), Some(16));
        assert_eq!(packets_needed((70..1000).rev()), Some(16));
        assert_eq!(packets_needed((0..1000).flat_map(|n| [n, n])), Some(31), "each comes twice");
        // Every second packet comes 201 packets late.
        assert_eq!(
            packets_needed((0..1000).map(|n| if n % 2 == 0 { n + 400 } else { n })),
            Some(17)
        );
    }

    #[test]
    fn packets_with_the_same_tag_are_no_evidence() {
        let mut evidence = Evidence::default();
        let sample =
            |number| Sample { number, context: 1, len: 100, tag: Some([3; 8]), at: Instant::ZERO };
        assert!((0..1000).all(|number| evidence.record(sample(number)).is_none()));
    }

    #[test]
    fn constant_and_scattered_numbers_are_no_evidence() {
        assert_eq!(packets_needed((0..1000).map(|_| 7)), None);
        assert_eq!(packets_needed((0..1000).map(|n| n * 9)), None, "a clock of 9 ms");
        let scattered = (0..100_000_u64).map(|n| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48);
        assert_eq!(packets_needed(scattered), None);
    }
}
