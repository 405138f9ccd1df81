//! The payload: the number of each word of eight octets, so that no octet can be lost, repeated or
//! moved without notice.

/// Fills `buffer` with the octets of the payload from `offset` on.
pub fn fill(offset: u64, buffer: &mut [u8]) {
    for (at, octet) in (offset..).zip(buffer) {
        *octet = octet_at(at);
    }
}

fn octet_at(offset: u64) -> u8 {
    (offset / 8).to_be_bytes()[(offset % 8) as usize]
}

/// Checks the octets that the receiver reads, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pattern {
    received: u64,
}

impl Pattern {
    /// Takes the next octets; an error where one differs from what was sent.
    pub fn check(&mut self, data: &[u8]) -> Result<(), String> {
        for (at, &octet) in (self.received..).zip(data) {
            if octet != octet_at(at) {
                return Err(format!("octet {at} of the payload differs from what was sent"));
            }
        }
        self.received += data.len() as u64;
        Ok(())
    }

    /// Octets read so far.
    pub fn received(&self) -> u64 {
        self.received
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbered() {
        let mut octets = [0; 12];
        fill(8 * 258 + 6, &mut octets);
        assert_eq!(octets, [1, 2, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0]);
    }

    #[test]
    fn a_word_that_is_missing_shows() {
        let mut octets = [0; 64];
        fill(0, &mut octets);
        let mut pattern = Pattern::default();
        assert_eq!(pattern.check(&octets[..13]), Ok(()));
        assert_eq!(pattern.check(&octets[13..24]), Ok(()));
        assert_eq!(
            pattern.check(&octets[32..]),
            Err("octet 31 of the payload differs from what was sent".to_owned())
        );
        assert_eq!(pattern.received(), 24);
    }
}
