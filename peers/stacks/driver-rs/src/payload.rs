//! The payload: the number of each word of eight octets, so that no octet can be lost, repeated or
//! moved without notice.

/// Octets of a word.
const WORD: usize = 8;

/// Fills `buffer` with the octets of the payload from `offset` on.
pub fn fill(offset: u64, buffer: &mut [u8]) {
    let (head, words) = buffer.split_at_mut(head(offset, buffer.len()));
    head.iter_mut().zip(offset..).for_each(|(octet, at)| *octet = octet_at(at));
    let first = offset.div_ceil(WORD as u64);
    for (word, number) in words.chunks_mut(WORD).zip(first..) {
        word.copy_from_slice(&number.to_be_bytes()[..word.len()]);
    }
}

/// Octets before the first word that begins at `offset` or later, at most `length`.
fn head(offset: u64, length: usize) -> usize {
    let octets = offset.next_multiple_of(WORD as u64) - offset;
    length.min(octets as usize)
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
        let offset = self.received;
        let (head, words) = data.split_at(head(offset, data.len()));
        let first = offset.div_ceil(WORD as u64);
        let same = head.iter().zip(offset..).all(|(&octet, at)| octet == octet_at(at))
            && words
                .chunks(WORD)
                .zip(first..)
                .all(|(word, number)| number.to_be_bytes().starts_with(word));
        if !same {
            let differs = (offset..).zip(data).find(|&(at, &octet)| octet != octet_at(at));
            let at = differs.map_or(offset, |(at, _)| at);
            return Err(format!("octet {at} of the payload differs from what was sent"));
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
    fn any_part_is_that_of_the_whole() {
        let mut whole = [0; 48];
        fill(0, &mut whole);
        for from in 0..whole.len() {
            for to in from..whole.len() {
                let mut part = vec![0; to - from];
                fill(from as u64, &mut part);
                assert_eq!(part, whole[from..to]);
                let mut pattern = Pattern { received: from as u64 };
                assert_eq!(pattern.check(&part), Ok(()));
            }
        }
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
