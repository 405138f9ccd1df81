//! Values of keys as the types that their readers request.

use toml::Value;
use unruffled_units::{Duration, Rate, hint};

use super::{Keys, printable};
use crate::error::Error;

/// The largest whole number up to which floating-point numbers are exact.
const MAX_EXACT: f64 = (1_u64 << f64::MANTISSA_DIGITS) as f64;

/// Parses a list that is written as a string, as results print it.
fn unquoted(value: Value) -> Value {
    let list = value.as_str().filter(|text| text.trim_start().starts_with('['));
    list.and_then(|text| text.parse().ok()).unwrap_or(value)
}

impl Keys {
    /// Returns the value as `parse` reads it from text. Numbers are read from their digits.
    fn read<T, E: std::fmt::Display>(
        &mut self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, Error> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let text = match value {
            Value::String(text) => text,
            // Short, instead of hundreds of digits.
            Value::Float(n) if n.abs() >= 1e17 => format!("{n:e}"),
            other => other.to_string(),
        };
        parse(&text).map(Some).map_err(|e| self.wrong(key, e.to_string()))
    }

    pub(crate) fn string(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.read(key, printable)
    }

    /// Returns a name: a text with visible characters.
    pub(crate) fn name(&mut self, key: &str) -> Result<Option<String>, Error> {
        self.read(key, |text| match text.trim() {
            "" => Err(format!("expected some text, found {text:?}")),
            _ => printable(text),
        })
    }

    /// Returns the meaning of one of a few words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        key: &str,
        among: &[(&str, T)],
    ) -> Result<Option<T>, Error> {
        self.read(key, |text| {
            let found = among.iter().find(|(word, _)| *word == text);
            found.map(|&(_, meaning)| meaning).ok_or_else(|| {
                let mut words: Vec<_> = among.iter().map(|&(word, _)| word).collect();
                let meant = hint(text, words.iter().copied());
                let last = words.pop().unwrap_or_default();
                format!("expected {} or {last}, found {text:?}{meant}", words.join(", "))
            })
        })
    }

    pub(crate) fn duration(&mut self, key: &str) -> Result<Option<Duration>, Error> {
        self.read(key, unruffled_units::parse_duration)
    }

    pub(crate) fn rate(&mut self, key: &str) -> Result<Option<Rate>, Error> {
        self.read(key, unruffled_units::parse_rate)
    }

    pub(crate) fn fraction(&mut self, key: &str) -> Result<Option<f64>, Error> {
        self.read(key, unruffled_units::parse_fraction)
    }

    pub(crate) fn bytes(&mut self, key: &str) -> Result<Option<u64>, Error> {
        self.read(key, unruffled_units::parse_bytes)
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<Option<f64>, Error> {
        self.read(key, |text| {
            let wrong = || format!("expected a number, found {text:?}");
            text.parse::<f64>().ok().filter(|n| n.is_finite()).ok_or_else(wrong)
        })
    }

    /// Returns a whole number from `min` to `max`.
    pub(crate) fn count(&mut self, key: &str, min: u64, max: u64) -> Result<Option<u64>, Error> {
        self.read(key, |text| {
            // Results print whole numbers like all others: 20.0.
            let whole = |n: &f64| n.fract() == 0.0 && (0.0..=MAX_EXACT).contains(n);
            let printed = || text.parse().ok().filter(whole).map(|n| n as u64);
            let count = text.parse().ok().or_else(printed).filter(|n| (min..=max).contains(n));
            count.ok_or_else(|| {
                format!("expected a whole number from {min} to {max}, found {text:?}")
            })
        })
    }

    pub(crate) fn switch(&mut self, key: &str) -> Result<Option<bool>, Error> {
        self.read(key, |text| {
            text.parse().map_err(|_| format!("expected true or false, found {text:?}"))
        })
    }

    /// Returns a list of whole numbers; the inner value is none if the value is something else.
    pub(crate) fn whole_numbers(&mut self, key: &str) -> Option<Option<Vec<u64>>> {
        let value = unquoted(self.get(key)?);
        let whole = |value: &Value| u64::try_from(value.as_integer()?).ok();
        Some(value.as_array().and_then(|values| values.iter().map(whole).collect()))
    }

    /// Returns a list of `count` numbers.
    pub(crate) fn numbers(&mut self, key: &str, count: usize) -> Result<Option<Vec<f64>>, Error> {
        let Some(value) = self.get(key).map(unquoted) else { return Ok(None) };
        let number = |value: &Value| match value {
            Value::Integer(n) => Some(*n as f64),
            Value::Float(n) => Some(*n).filter(|n| n.is_finite()),
            // Experiments compute texts.
            Value::String(text) => text.parse().ok().filter(|n: &f64| n.is_finite()),
            _ => None,
        };
        let numbers = match &value {
            Value::Array(values) => values.iter().map(number).collect::<Option<Vec<f64>>>(),
            _ => None,
        };
        let numbers = numbers.filter(|numbers| numbers.len() == count);
        numbers
            .map(Some)
            .ok_or_else(|| self.wrong(key, format!("expected a list of {count} numbers")))
    }

    /// Returns a list of names, which may be one string with commas.
    pub(crate) fn list(&mut self, key: &str) -> Result<Option<Vec<String>>, Error> {
        self.list_of(key, "names")
    }

    /// Returns a list of strings, which may be one string with commas. Errors call it a list of
    /// `what`.
    pub(crate) fn list_of(&mut self, key: &str, what: &str) -> Result<Option<Vec<String>>, Error> {
        let Some(value) = self.get(key).map(unquoted) else { return Ok(None) };
        let strings = match value {
            Value::String(text) => text.split(',').map(|s| Some(s.trim().to_owned())).collect(),
            Value::Array(values) => {
                values.iter().map(|v| v.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>()
            }
            _ => None,
        };
        let strings = strings.filter(|s| !s.is_empty() && s.iter().all(|s| !s.is_empty()));
        strings.map(Some).ok_or_else(|| self.wrong(key, format!("expected a list of {what}")))
    }
}
