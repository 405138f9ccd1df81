//! Shares of a whole, and their fairness.

/// Returns `part` divided by `of`, or zero if `of` is zero.
pub fn share(part: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Returns Jain's fairness index, (Σx)² / (n Σx²): 1 if all values are equal, 1/n if all but one are zero,
/// NaN if there are none.
///
/// Source: R. Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness", DEC-TR-301, 1984.
pub fn jain(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut n = 0.0;
    let mut sum = 0.0;
    let mut squares = 0.0;
    for value in values {
        n += 1.0;
        sum += value;
        squares += value * value;
    }
    sum * sum / (n * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_have_index_one_and_a_monopoly_one_over_n() {
        assert_eq!(jain([3.0, 3.0, 3.0]), 1.0);
        assert_eq!(jain([5.0, 0.0, 0.0, 0.0]), 0.25);
        // (1 + 2 + 3)² / (3 · 14)
        assert!((jain([1.0, 2.0, 3.0]) - 36.0 / 42.0).abs() < 1e-12);
        assert!(jain([]).is_nan());
    }

    #[test]
    fn a_share_of_zero_is_zero() {
        assert_eq!((share(1, 4), share(0, 0)), (0.25, 0.0));
    }
}
