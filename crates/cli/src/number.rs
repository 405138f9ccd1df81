//! Whole numbers as values of flags.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Returns a value parser for whole numbers within `range`.
pub(crate) fn within<T>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        let (min, max) = (range.start(), range.end());
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(number),
            // Also a number with a sign or with more digits than the type has.
            _ if is_whole(text) => Err(format!("expected a whole number from {min} to {max}")),
            _ => Err("expected a whole number".to_owned()),
        }
    }
}

/// Parses a seed of random numbers.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("expected a whole number from 0, found {text:?}"))
}

fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_range_names_the_range() {
        let jobs = within::<u16>(1..=1024);
        assert_eq!(jobs("1"), Ok(1));
        assert_eq!(jobs("1024"), Ok(1024));
        for text in ["0", "1025", "-1", "99999999999999999999"] {
            let expected = Err("expected a whole number from 1 to 1024".to_owned());
            assert_eq!(jobs(text), expected, "{text}");
        }
    }

    #[test]
    fn text_that_is_no_number_is_rejected_without_a_range() {
        for text in ["two", "1.5", "", "-", "1 "] {
            assert_eq!(
                within::<u32>(0..=9)(text),
                Err("expected a whole number".to_owned()),
                "{text}"
            );
        }
    }
}
