//! The notation in which people write times, rates, fractions and sizes: a number, then its unit.
//!
//! The number is a plain decimal without sign or exponent; the space before the unit is optional.
//! The case of a unit matters only where it tells bits (`b`) from octets (`B`).

use thiserror::Error;

use crate::{Duration, Rate};

/// Why a text is not the quantity that was expected; prints as one line.
///
/// ```
/// let error = unruffled_units::parse_duration("50").unwrap_err();
/// let line = "expected a time such as \"50 ms\", found \"50\": the unit is missing";
/// assert_eq!(error.to_string(), line);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("expected {expected}, found {found:?}: {problem}")]
pub struct ParseError {
    expected: &'static str,
    found: String,
    problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
enum Problem {
    #[error("nothing is written")]
    Empty,
    #[error("the number is missing or malformed")]
    NotANumber,
    #[error("it must not be negative")]
    Negative,
    #[error("it must be greater than zero")]
    Zero,
    #[error("it is too large")]
    TooLarge,
    #[error("it must be a whole number of octets")]
    NotWhole,
    #[error("it must lie between 0 and 100 %")]
    NotAFraction,
    #[error("the unit is missing")]
    NoUnit,
    #[error("unknown unit {0:?}")]
    UnknownUnit(String),
}

/// Reads a span of time in `ns`, `us`, `ms`, `s` or `min`, to the nearest nanosecond; `0` needs no
/// unit.
///
/// # Errors
///
/// When the text is anything else, or the span exceeds [`Duration::MAX`].
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    quantity(text, r#"a time such as "50 ms""#, |number, unit| {
        let nanos_per_unit = match unit.to_lowercase().as_str() {
            "" if number == 0.0 => 0.0,
            "ns" => 1.0,
            // Unicode has two: the micro sign, and mu, which is also the micro sign's upper case.
            "us" | "\u{b5}s" | "\u{3bc}s" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "min" => 60e9,
            _ => return Err(unknown(unit)),
        };
        let nanos = (number * nanos_per_unit).round();
        if nanos >= u64::MAX as f64 {
            return Err(Problem::TooLarge);
        }
        Ok(Duration::from_nanos(nanos as u64))
    })
}

/// Reads a bit rate greater than zero in `bit/s`, `b/s` or `bps`, with a decimal prefix `k`, `M`,
/// `G` or `T` or none.
///
/// # Errors
///
/// When the text is anything else; octets per second (`MB/s`) are not accepted.
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    quantity(text, r#"a rate such as "10 Mbit/s""#, |number, unit| {
        let (factor, base) = split_prefix(unit);
        if !(base.eq_ignore_ascii_case("bit/s") || base == "b/s" || base == "bps") {
            return Err(unknown(unit));
        }
        if number == 0.0 {
            return Err(Problem::Zero);
        }
        Rate::from_bps(number * factor as f64).ok_or(Problem::TooLarge)
    })
}

/// Reads a share of a whole, as a percentage (`10 %`) or bare (`0.1`); gives a number in 0..=1.
///
/// # Errors
///
/// When the text is anything else, or the share exceeds the whole.
pub fn parse_fraction(text: &str) -> Result<f64, ParseError> {
    quantity(text, r#"a fraction such as "10 %" or "0.1""#, |number, unit| {
        let fraction = match unit {
            "" => number,
            "%" => number / 100.0,
            _ => return Err(unknown(unit)),
        };
        if fraction <= 1.0 { Ok(fraction) } else { Err(Problem::NotAFraction) }
    })
}

/// Reads a size in octets: bare, or in `B` with a decimal (`k`, `M`, `G`, `T`) or binary (`Ki`,
/// `Mi`, `Gi`, `Ti`) prefix or none.
///
/// # Errors
///
/// When the text is anything else, is not a whole number of octets, or exceeds 2^53 octets, above
/// which they could not all be told apart; bits (`Mb`) are not accepted.
pub fn parse_bytes(text: &str) -> Result<u64, ParseError> {
    const LARGEST: f64 = (1_u64 << 53) as f64;
    quantity(text, r#"a size such as "33 MB""#, |number, unit| {
        let factor = match split_prefix(unit) {
            (factor, "B") => factor,
            (1, "") => 1,
            (factor, "iB") if factor > 1 => 1 << (10 * (factor.ilog10() / 3)),
            _ => return Err(unknown(unit)),
        };
        let bytes = number * factor as f64;
        // A product such as 4.35 kB misses its whole number by a rounding error.
        let whole = bytes.round();
        if whole >= LARGEST {
            Err(Problem::TooLarge)
        } else if (bytes - whole).abs() > whole * f64::EPSILON {
            Err(Problem::NotWhole)
        } else {
            Ok(whole as u64)
        }
    })
}

/// Splits `text` into a finite, non-negative number and its unit, and lets `read` judge the two.
fn quantity<T>(
    text: &str,
    expected: &'static str,
    read: impl FnOnce(f64, &str) -> Result<T, Problem>,
) -> Result<T, ParseError> {
    split_number(text.trim())
        .and_then(|(number, unit)| read(number, unit))
        .map_err(|problem| ParseError { expected, found: text.to_owned(), problem })
}

fn split_number(text: &str) -> Result<(f64, &str), Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    if text.starts_with(['-', '\u{2212}']) {
        return Err(Problem::Negative);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: f64 = number.parse().map_err(|_| Problem::NotANumber)?;
    if number.is_infinite() {
        return Err(Problem::TooLarge);
    }
    Ok((number, unit.trim_start()))
}

/// The factor of a decimal prefix in either case (1 when there is none), and what follows it.
fn split_prefix(unit: &str) -> (u64, &str) {
    let factor = match unit.as_bytes().first() {
        Some(b'k' | b'K') => 1_000,
        Some(b'm' | b'M') => 1_000_000,
        Some(b'g' | b'G') => 1_000_000_000,
        Some(b't' | b'T') => 1_000_000_000_000,
        _ => return (1, unit),
    };
    (factor, &unit[1..])
}

fn unknown(unit: &str) -> Problem {
    if unit.is_empty() { Problem::NoUnit } else { Problem::UnknownUnit(unit.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: core::fmt::Debug>(result: Result<T, ParseError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn times_are_read_to_the_nanosecond() {
        let nanos = |text| parse_duration(text).unwrap().as_nanos();
        assert_eq!(nanos("50 ms"), 50_000_000);
        assert_eq!(nanos("1000 s"), 1_000_000_000_000);
        assert_eq!(nanos("2.08us"), 2_080);
        assert_eq!(nanos("2.08 \u{b5}s"), 2_080);
        assert_eq!(nanos("2.08 \u{3bc}s"), 2_080);
        assert_eq!(nanos("10 ns"), 10);
        assert_eq!(nanos(" 5 MIN "), 300_000_000_000);
        assert_eq!(nanos("0"), 0);
        assert_eq!(nanos("0.29 s"), 290_000_000);
    }

    #[test]
    fn rates_are_read_in_bits_per_second() {
        let bps = |text| parse_rate(text).unwrap().bps();
        assert_eq!(bps("3.84615 Mbit/s"), 3_846_150.0);
        assert_eq!(bps("10 Mb/s"), 1e7);
        assert_eq!(bps("10Mbps"), 1e7);
        assert_eq!(bps("1 Gbit/s"), 1e9);
        assert_eq!(bps("10 KBIT/S"), 1e4);
        assert_eq!(bps("500 bit/s"), 500.0);
    }

    #[test]
    fn fractions_are_read_bare_or_in_percent() {
        assert_eq!(parse_fraction("10 %"), Ok(0.1));
        assert_eq!(parse_fraction("0.5%"), Ok(0.005));
        assert_eq!(parse_fraction("0.1"), Ok(0.1));
        assert_eq!(parse_fraction("100 %"), Ok(1.0));
        assert_eq!(parse_fraction("0"), Ok(0.0));
    }

    #[test]
    fn sizes_are_read_in_decimal_and_binary_units() {
        assert_eq!(parse_bytes("1000"), Ok(1_000));
        assert_eq!(parse_bytes("1000 B"), Ok(1_000));
        assert_eq!(parse_bytes("33 MB"), Ok(33_000_000));
        assert_eq!(parse_bytes("1 kB"), Ok(1_000));
        assert_eq!(parse_bytes("4.35kB"), Ok(4_350));
        assert_eq!(parse_bytes("1 KiB"), Ok(1 << 10));
        assert_eq!(parse_bytes("4 MiB"), Ok(4 << 20));
        assert_eq!(parse_bytes("1 GiB"), Ok(1 << 30));
        assert_eq!(parse_bytes("1 TiB"), Ok(1 << 40));
        assert_eq!(parse_bytes("0"), Ok(0));
    }

    #[test]
    fn an_error_says_what_was_expected_and_what_is_wrong() {
        assert_eq!(
            error(parse_duration("5 parsecs")),
            r#"expected a time such as "50 ms", found "5 parsecs": unknown unit "parsecs""#
        );
        assert_eq!(
            error(parse_rate("")),
            r#"expected a rate such as "10 Mbit/s", found "": nothing is written"#
        );
        assert_eq!(
            error(parse_fraction("101 %")),
            r#"expected a fraction such as "10 %" or "0.1", found "101 %": it must lie between 0 and 100 %"#
        );
        assert_eq!(
            error(parse_bytes("1.5 B")),
            r#"expected a size such as "33 MB", found "1.5 B": it must be a whole number of octets"#
        );
    }

    #[test]
    fn what_is_not_a_quantity_is_refused() {
        for text in ["", " ", "ms", "NaN s", "inf s", "-1 s", "+1 s", "1.2.3 s", ".", "1e3 s", "5"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["0 bit/s", "-1 bit/s", "inf", "10 MB/s", "10 MBps", "10", "10 Mbit", "M"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        for text in ["1.1", "100.1 %", "-0.1", "NaN", "inf", "10 percent", "10 % %"] {
            assert!(parse_fraction(text).is_err(), "{text}");
        }
        for text in ["1 Mb", "1 Mib", "1 iB", "1 i", "1 M", "0.5", "-1 B", "1 \u{e9}B"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(error(parse_duration("18446744074 s")).ends_with("too large"));
        assert!(error(parse_bytes("9007199254740993")).ends_with("too large"));
        assert!(error(parse_bytes("10000 TB")).ends_with("too large"));
        assert!(error(parse_rate(&format!("{} bit/s", "9".repeat(400)))).ends_with("too large"));
        assert!(error(parse_rate(&format!("{} Gbit/s", "9".repeat(305)))).ends_with("too large"));
    }

    #[test]
    fn what_is_printed_reads_back_the_same() {
        let mut nanos = 1_u64;
        while nanos < 1 << 52 {
            let span = Duration::from_nanos(nanos);
            assert_eq!(parse_duration(&span.to_string()), Ok(span));
            nanos = nanos * 17 / 10 + 1;
        }
        for bps in [1.0, 0.25, 500.0, 3_846_150.0, 1e7, 1_234_567.0, 4e10] {
            let rate = Rate::from_bps(bps).unwrap();
            assert_eq!(parse_rate(&rate.to_string()), Ok(rate));
        }
    }
}
