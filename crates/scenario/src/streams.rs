//! Seeds of the random numbers of a run, one for each purpose.

/// The purpose of a stream of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The access link of one source.
    Access = 1,
    /// The start times of a group.
    Arrivals = 2,
    /// The sizes and pauses of a source's application.
    Application = 3,
    /// The choices among the ways of a source.
    Spread = 4,
}

/// Returns the seed of the stream with this purpose and number in a run with `seed`. It uses
/// splitmix64, so that neighbouring seeds are unrelated.
pub fn stream(seed: u64, purpose: Purpose, number: u64) -> u64 {
    let mut z = seed
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add((purpose as u64) << 56)
        .wrapping_add(number.wrapping_mul(0xD134_2543_DE82_EF95));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_purpose_and_number() {
        let all = [
            stream(1, Purpose::Access, 0),
            stream(2, Purpose::Access, 0),
            stream(1, Purpose::Arrivals, 0),
            stream(1, Purpose::Access, 1),
            stream(1, Purpose::Application, 0),
            stream(1, Purpose::Spread, 0),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|b| a != b), "stream {i}");
        }
    }
}
