//! Notation of times, rates, fractions and sizes: a number and its unit.
//!
//! The number is a decimal without sign; the exponent and the space before the unit are optional. All
//! usual spellings of a unit are accepted. Their case matters only where it distinguishes bits (`b`)
//! from octets (`B`). A spelling with two meanings is rejected.
//!
//! Results print numbers without units, in seconds, bits per second, octets and fractions. The parsers
//! accept them as printed.

use std::fmt;

use thiserror::Error;

use crate::{Duration, Rate, hint};

/// Reason why a text is not the expected quantity; prints as one line.
///
/// ```
/// let error = unruffled_units::parse_duration("50").unwrap_err();
/// let line = "expected a time such as \"50 ms\", found \"50\": the unit is missing: \
///             expected ns, us, ms, s, min or h";
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
    #[error("it must lie between 0 and 1, or 0 and 100 %")]
    NotAFraction,
    #[error("the unit is missing: expected {0}")]
    NoUnit(&'static Units),
    #[error("unknown unit {found:?}: expected {units}{}", units.hint(found))]
    UnknownUnit { found: String, units: &'static Units },
    #[error("{found:?} may be {meanings}: expected {units}")]
    Ambiguous { found: String, meanings: &'static str, units: &'static Units },
}

/// Units of a quantity.
#[derive(Debug, PartialEq, Eq)]
struct Units {
    /// List for error messages.
    words: &'static str,
    /// Spellings for suggestions.
    each: &'static [&'static str],
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }
}

impl Units {
    fn hint(&self, found: &str) -> String {
        hint(found, self.each.iter().copied())
    }

    fn unknown(&'static self, found: &str) -> Problem {
        if found.is_empty() {
            Problem::NoUnit(self)
        } else {
            Problem::UnknownUnit { found: found.to_owned(), units: self }
        }
    }

    fn ambiguous(&'static self, found: &str, meanings: &'static str) -> Problem {
        Problem::Ambiguous { found: found.to_owned(), meanings, units: self }
    }
}

static TIMES: Units = Units {
    words: "ns, us, ms, s, min or h",
    each: &[
        "ns", "us", "ms", "s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour",
        "hours",
    ],
};
static RATES: Units = Units {
    words: "bit/s, kbit/s, Mbit/s, Gbit/s or Tbit/s",
    each: &["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
};
static FRACTIONS: Units = Units { words: "% or none", each: &["%", "percent"] };
static SIZES: Units = Units {
    words: "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB",
    each: &["B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"],
};

/// A parsed number.
struct Number {
    value: f64,
    /// Whether it has a decimal point or an exponent.
    is_decimal: bool,
}

/// Parses a duration in `ns`, `us`, `ms`, `s`, `min` or `h`, or a longer spelling of these, to the
/// nearest nanosecond.
///
/// Without a unit, `0` is zero, and a number with a decimal point or an exponent is in seconds, as
/// results print it. A whole number without a unit is rejected, because milliseconds may be meant.
///
/// # Errors
///
/// When the text is anything else, or the duration exceeds [`Duration::MAX`].
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    quantity(text, r#"a time such as "50 ms""#, |number, unit| {
        let nanos_per_unit = match unit.to_lowercase().as_str() {
            "" if number.value == 0.0 => 0.0,
            "" if number.is_decimal => 1e9,
            "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" => 1.0,
            // Unicode has two such signs: the micro sign, and mu.
            "us" | "usec" | "usecs" | "microsecond" | "microseconds" | "\u{b5}s" | "\u{3bc}s" => {
                1e3
            }
            "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" => 1e6,
            "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
            "min" | "mins" | "minute" | "minutes" => 60e9,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3600e9,
            "m" => return Err(TIMES.ambiguous(unit, "minutes or milliseconds")),
            _ => return Err(TIMES.unknown(unit)),
        };
        let nanos = (number.value * nanos_per_unit).round();
        if nanos >= u64::MAX as f64 {
            return Err(Problem::TooLarge);
        }
        Ok(Duration::from_nanos(nanos as u64))
    })
}

/// Parses a bit rate greater than zero in `bit/s`, or another spelling of it (`b/s`, `bps`, `bit`).
///
/// The prefix is decimal (`k`, `M`, `G`, `T`), binary (`Ki` …) or missing. A prefix alone is sufficient
/// (`10M`), and a number alone is in bits per second.
///
/// # Errors
///
/// When the text is anything else. Octets per second (`MB/s`) are not accepted.
pub fn parse_rate(text: &str) -> Result<Rate, ParseError> {
    quantity(text, r#"a rate such as "10 Mbit/s""#, |number, unit| {
        let (factor, base) = split_prefix(unit);
        let (factor, base) = match base.strip_prefix('i') {
            Some(base) if factor > 1 && !base.is_empty() => (binary(factor), base),
            _ => (factor, base),
        };
        let per_second = ["/second", "/sec", "/s", "ps", " per second"];
        let count = per_second.iter().find_map(|per| strip_suffix(base, per)).unwrap_or(base);
        let lower = count.to_lowercase();
        let octets = count == "B" || lower.starts_with("byte") || lower.starts_with("octet");
        if octets {
            return Err(RATES.ambiguous(unit, "octets or bits"));
        }
        // A suffix such as `/s` requires a unit before it.
        let bits = match lower.as_str() {
            "b" | "bit" | "bits" => true,
            "" => base.is_empty(),
            _ => false,
        };
        if !bits {
            return Err(RATES.unknown(unit));
        }
        if number.value == 0.0 {
            return Err(Problem::Zero);
        }
        Rate::from_bps(number.value * factor as f64).ok_or(Problem::TooLarge)
    })
}

/// Parses a fraction, written as a percentage (`10 %`, `10 percent`) or as a number (`0.1`); the result
/// is from 0 to 1.
///
/// # Errors
///
/// When the text is anything else, or the fraction exceeds 1.
pub fn parse_fraction(text: &str) -> Result<f64, ParseError> {
    quantity(text, r#"a fraction such as "10 %" or "0.1""#, |number, unit| {
        let fraction = match unit.to_lowercase().as_str() {
            "" => number.value,
            "%" | "percent" | "per cent" | "pct" => number.value / 100.0,
            _ => return Err(FRACTIONS.unknown(unit)),
        };
        if fraction <= 1.0 { Ok(fraction) } else { Err(Problem::NotAFraction) }
    })
}

/// Parses a size in octets, without a unit or in `B`, `bytes` or `octets`.
///
/// The prefix is decimal (`k`, `M`, `G`, `T`), binary (`Ki`, `Mi`, `Gi`, `Ti`) or missing.
///
/// # Errors
///
/// When the text is anything else, is not a whole number of octets, or exceeds 2^53 octets, above which
/// a float does not represent every whole number. Bits (`Mb`) are not accepted, nor prefixes alone
/// (`M`), which some programs treat as decimal and others as binary.
pub fn parse_bytes(text: &str) -> Result<u64, ParseError> {
    const MAX_OCTETS: f64 = (1_u64 << 53) as f64;
    quantity(text, r#"a size such as "33 MB""#, |number, unit| {
        let (prefix, base) = split_prefix(unit);
        let (factor, base) = match base.strip_prefix('i') {
            Some(base) if prefix > 1 => (binary(prefix), base),
            _ => (prefix, base),
        };
        match base.to_lowercase().as_str() {
            _ if base == "B" => {}
            "byte" | "bytes" | "octet" | "octets" => {}
            "" if factor == 1 => {}
            "" => return Err(SIZES.ambiguous(unit, "decimal or binary")),
            "b" => return Err(SIZES.ambiguous(unit, "bits or octets")),
            _ => return Err(SIZES.unknown(unit)),
        }
        let bytes = number.value * factor as f64;
        // A product such as 4.35 kB deviates from a whole number by a rounding error.
        let whole = bytes.round();
        if whole >= MAX_OCTETS {
            Err(Problem::TooLarge)
        } else if (bytes - whole).abs() > whole * f64::EPSILON {
            Err(Problem::NotWhole)
        } else {
            Ok(whole as u64)
        }
    })
}

/// Splits `text` into a finite, non-negative number and its unit, and converts them with `read`.
fn quantity<T>(
    text: &str,
    expected: &'static str,
    read: impl FnOnce(Number, &str) -> Result<T, Problem>,
) -> Result<T, ParseError> {
    split_number(text.trim())
        .and_then(|(number, unit)| read(number, unit))
        .map_err(|problem| ParseError { expected, found: text.to_owned(), problem })
}

/// Splits `text` into a number and the text after it.
fn split_number(text: &str) -> Result<(Number, &str), Problem> {
    if text.is_empty() {
        return Err(Problem::Empty);
    }
    if text.starts_with(['-', '\u{2212}']) {
        return Err(Problem::Negative);
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let end = end + exponent(&text[end..]);
    let (number, unit) = text.split_at(end);
    let value: f64 = number.parse().map_err(|_| Problem::NotANumber)?;
    if value.is_infinite() {
        return Err(Problem::TooLarge);
    }
    let is_decimal = number.contains(['.', 'e', 'E']);
    Ok((Number { value, is_decimal }, unit.trim_start()))
}

/// Returns the length of the exponent with which `text` begins, or 0 if it begins with none.
fn exponent(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if after.len() == digits.len() { 0 } else { text.len() - after.len() }
}

/// Returns `text` without `suffix`, regardless of case, or `None` if it does not end with it.
fn strip_suffix<'a>(text: &'a str, suffix: &str) -> Option<&'a str> {
    let at = text.len().checked_sub(suffix.len()).filter(|&at| text.is_char_boundary(at))?;
    let (before, end) = text.split_at(at);
    end.eq_ignore_ascii_case(suffix).then_some(before)
}

/// Returns the factor of a decimal prefix, regardless of case, and the text after it. Without a prefix
/// the factor is 1.
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

/// Returns the factor of the binary prefix that corresponds to a decimal one.
fn binary(decimal: u64) -> u64 {
    1 << (10 * (decimal.ilog10() / 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: core::fmt::Debug>(result: Result<T, ParseError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn times_are_parsed_to_the_nanosecond() {
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
        assert_eq!(nanos("1e3 s"), 1_000_000_000_000);
    }

    #[test]
    fn all_usual_spellings_of_a_unit_are_accepted() {
        for (spellings, nanos) in [
            (&["10 s", "10s", "10 sec", "10 Secs", "10 second", "10seconds"][..], 10_000_000_000),
            (&["20 ms", "20msec", "20 msecs", "20 milliseconds"], 20_000_000),
            (&["7 us", "7usec", "7 microseconds"], 7_000),
            (&["3 ns", "3 nsec", "3 nanoseconds"], 3),
            (&["5 min", "5 mins", "5 minutes", "5minute"], 300_000_000_000),
            (&["1 h", "1 hr", "1 hour", "60 min"], 3_600_000_000_000),
        ] {
            for text in spellings {
                assert_eq!(parse_duration(text), Ok(Duration::from_nanos(nanos)), "{text}");
            }
        }
        for (spellings, bps) in [
            (
                &[
                    "10M",
                    "10 m",
                    "10 Mbit/s",
                    "10mbit",
                    "10 Mbits",
                    "10Mbps",
                    "10 Mb",
                    "10 Mb/s",
                    "10 Mbit/sec",
                    "10 Mbits/second",
                    "10 mbit per second",
                    "10000k",
                    "10000000",
                    "10000000.0",
                    "1e7",
                    "10 MBIT/S",
                ][..],
                1e7,
            ),
            (&["1.5 Gb/s", "1.5G", "1500 mbit"], 1.5e9),
            (&["100kbit", "100k", "100 Kbps", "100000 b"], 1e5),
            (&["1 Kibit/s", "1Kibit", "1024 bit/s"], 1024.0),
        ] {
            for text in spellings {
                assert_eq!(parse_rate(text).map(Rate::bps), Ok(bps), "{text}");
            }
        }
        for text in ["10 %", "10%", "10 percent", "10 pct", "0.1", "1e-1"] {
            assert_eq!(parse_fraction(text), Ok(0.1), "{text}");
        }
        for text in ["1KiB", "1 kiB", "1024", "1024.0", "1024 bytes", "1.024 kB", "1 Kibyte"] {
            assert_eq!(parse_bytes(text), Ok(1024), "{text}");
        }
    }

    #[test]
    fn ambiguous_units_are_rejected_with_both_meanings() {
        for (message, expected) in [
            (
                error(parse_duration("5 m")),
                "\"m\" may be minutes or milliseconds: expected ns, us, ",
            ),
            (
                error(parse_duration("5 M")),
                "\"M\" may be minutes or milliseconds: expected ns, us, ",
            ),
            (error(parse_rate("5 MB/s")), "\"MB/s\" may be octets or bits: expected bit"),
            (error(parse_rate("5 MBps")), "\"MBps\" may be octets or bits: expected bit"),
            (error(parse_bytes("5 M")), "\"M\" may be decimal or binary: expected B, kB, MB, "),
            (error(parse_bytes("5 Mb")), "\"Mb\" may be bits or octets: expected B, kB, MB, "),
            (error(parse_duration("50")), "the unit is missing: expected ns, us, ms, s, min or h"),
        ] {
            assert!(message.contains(expected), "{message}");
        }
    }

    #[test]
    fn misspelt_units_are_rejected_with_a_suggestion() {
        for (message, expected) in [
            (error(parse_duration("5 mss")), "expected ns, us, ms, s, min or h; did you mean ms?"),
            (error(parse_duration("5 secnds")), "; did you mean seconds?"),
            (error(parse_rate("5 Mbitt/s")), "Gbit/s or Tbit/s; did you mean Mbit/s?"),
            (error(parse_bytes("5 kbb")), "; did you mean kB?"),
        ] {
            assert!(message.ends_with(expected), "{message}");
        }
    }

    #[test]
    fn rates_are_parsed_in_bits_per_second() {
        let bps = |text| parse_rate(text).unwrap().bps();
        assert_eq!(bps("3.84615 Mbit/s"), 3_846_150.0);
        assert_eq!(bps("10 Mb/s"), 1e7);
        assert_eq!(bps("10Mbps"), 1e7);
        assert_eq!(bps("1 Gbit/s"), 1e9);
        assert_eq!(bps("10 KBIT/S"), 1e4);
        assert_eq!(bps("500 bit/s"), 500.0);
    }

    #[test]
    fn fractions_are_parsed_as_numbers_or_in_percent() {
        assert_eq!(parse_fraction("10 %"), Ok(0.1));
        assert_eq!(parse_fraction("0.5%"), Ok(0.005));
        assert_eq!(parse_fraction("0.1"), Ok(0.1));
        assert_eq!(parse_fraction("100 %"), Ok(1.0));
        assert_eq!(parse_fraction("0"), Ok(0.0));
    }

    #[test]
    fn sizes_are_parsed_in_decimal_and_binary_units() {
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
    fn an_error_states_what_was_expected_and_what_is_wrong() {
        assert_eq!(
            error(parse_duration("5 parsecs")),
            r#"expected a time such as "50 ms", found "5 parsecs": unknown unit "parsecs": expected ns, us, ms, s, min or h"#
        );
        assert_eq!(
            error(parse_rate("")),
            r#"expected a rate such as "10 Mbit/s", found "": nothing is written"#
        );
        assert_eq!(
            error(parse_fraction("101 %")),
            r#"expected a fraction such as "10 %" or "0.1", found "101 %": it must lie between 0 and 1, or 0 and 100 %"#
        );
        assert_eq!(
            error(parse_bytes("1.5 B")),
            r#"expected a size such as "33 MB", found "1.5 B": it must be a whole number of octets"#
        );
    }

    #[test]
    fn other_texts_are_rejected() {
        for text in
            ["", " ", "ms", "NaN s", "inf s", "-1 s", "+1 s", "1.2.3 s", ".", "5", "1e s", "1 e3 s"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in [
            "0 bit/s", "0", "-1 bit/s", "inf", "10 MB/s", "10 MBps", "10 /s", "10 M/s", "M", "1 Ki",
        ] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        for text in ["1.1", "100.1 %", "-0.1", "NaN", "inf", "10 percents", "10 % %"] {
            assert!(parse_fraction(text).is_err(), "{text}");
        }
        for text in ["1 Mb", "1 Mib", "1 iB", "1 i", "1 M", "0.5", "-1 B", "1 \u{e9}B"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_out_of_range_are_rejected() {
        assert!(error(parse_duration("18446744074 s")).ends_with("too large"));
        assert!(error(parse_bytes("9007199254740993")).ends_with("too large"));
        assert!(error(parse_bytes("10000 TB")).ends_with("too large"));
        assert!(error(parse_rate(&format!("{} bit/s", "9".repeat(400)))).ends_with("too large"));
        assert!(error(parse_rate(&format!("{} Gbit/s", "9".repeat(305)))).ends_with("too large"));
    }

    #[test]
    fn printed_values_are_parsed_to_the_same_values() {
        let mut nanos = 1_u64;
        while nanos < 1 << 52 {
            let span = Duration::from_nanos(nanos);
            assert_eq!(parse_duration(&span.to_string()), Ok(span));
            nanos = nanos * 17 / 10 + 1;
        }
        // Results print times as numbers of seconds.
        for seconds in [0.05, 20.0, 1e-7, 3.5e-6, 86_400.0] {
            let printed = format!("{seconds:?}");
            assert_eq!(parse_duration(&printed), Ok(Duration::from_secs_f64(seconds)), "{printed}");
        }
        for bps in [1.0, 0.25, 500.0, 3_846_150.0, 1e7, 1_234_567.0, 4e10] {
            let rate = Rate::from_bps(bps).unwrap();
            assert_eq!(parse_rate(&rate.to_string()), Ok(rate));
        }
    }
}
