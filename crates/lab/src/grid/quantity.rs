//! Values of swept keys as numbers.

use unruffled_units::{parse_bytes, parse_duration, parse_fraction, parse_rate};

/// The most points of a sweep.
pub(super) const MAX_POINTS: usize = 10_000_000;

/// Returns a TOML value as users write it: a string without its quotes.
pub(super) fn plain(value: &str) -> String {
    match value.parse() {
        Ok(toml::Value::String(text)) => text,
        _ => value.to_owned(),
    }
}

/// Converts a quantity to the unit of rows: seconds, bits per second, shares, octets.
pub(super) fn number(text: &str) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .or_else(|| parse_duration(text).ok().map(|time| time.as_secs_f64()))
        .or_else(|| parse_rate(text).ok().map(|rate| rate.bps()))
        .or_else(|| parse_fraction(text).ok())
        .or_else(|| parse_bytes(text).ok().map(|octets| octets as f64))
}
