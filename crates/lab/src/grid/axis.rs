//! A key of a sweep and its values.

use std::collections::BTreeSet;

use toml::{Table, Value};
use unruffled_scenario::{Document, Error, flags, leaves};
use unruffled_units::hint;

use super::quantity::number;

/// A key and the values that a sweep gives it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// The key, in the form of `--set`.
    pub(super) key: String,
    pub(super) values: Values,
}

/// The values of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Values {
    /// A list of values, as TOML.
    List(Vec<String>),
    Range(Range),
}

/// A range from one value to another of the same unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    from: f64,
    to: f64,
    unit: String,
    /// Whether a bound is written with a decimal point, as results print numbers without a unit.
    decimal: bool,
    /// Whether the values are spaced evenly on a logarithmic scale.
    log: bool,
    /// Whether the values are whole numbers.
    whole: bool,
    /// The number of values in a grid.
    count: Option<usize>,
}

/// The largest number of values of one key.
const MAX_VALUES: usize = 1_000_000;

/// The keys of a scenario that a sweep has beside `scenario`, and not at its points.
const NOT_SWEPT: [&str; 3] = ["name", "seeds", "variants"];

/// Reads all keys of a section of the grid file `source`.
///
/// # Errors
/// The key cannot be swept, or its values are invalid. The message names the place and what was
/// expected.
pub(super) fn read_all(
    section: &str,
    value: Option<&Value>,
    source: &Document,
) -> Result<Vec<Axis>, Error> {
    // A table is a range if it has a `from` that is a plain value. Otherwise it holds further keys,
    // one of which may be named `from`.
    let is_range =
        |table: &Table| table.get("from").is_some_and(|v| !v.is_array() && !v.is_table());
    let keys = keys_of(value, is_range);
    let axes = keys.into_iter().map(|(key, value)| {
        let path: Vec<&str> = section.split('.').chain([key.as_str()]).collect();
        let wrong = |message: String| source.wrong_at(&path, message);
        flags::dotted(&key).map_err(|error| wrong(error.to_string()))?;
        if NOT_SWEPT.contains(&key.as_str()) {
            return Err(wrong(format!("not for sweeps: expected {key} beside scenario")));
        }
        let axis = Axis::read(key.clone(), value).map_err(wrong)?;
        if section != "grid" && axis.is_counted() {
            let message = "expected a range without count or step: points says how many are drawn";
            return Err(wrong(message.to_owned()));
        }
        // In a sample, a repeated value is drawn more often. In a grid, it would count its runs
        // twice.
        match first_repeated(value).filter(|_| section == "grid") {
            Some(value) => Err(wrong(format!("{value} stands twice: expected each value once"))),
            None => Ok(axis),
        }
    });
    axes.collect()
}

impl Axis {
    /// Parses the value that a file has for `key`.
    ///
    /// # Errors
    /// The message says what was expected.
    fn read(key: String, value: &Value) -> Result<Self, String> {
        let values = match value {
            Value::Array(items) if !items.is_empty() => {
                Values::List(items.iter().map(literal).collect::<Result<_, _>>()?)
            }
            Value::Table(table) => Values::Range(Range::read(table)?),
            _ => return Err("expected a list of values, or a range { from, to, count }".to_owned()),
        };
        Ok(Self { key, values })
    }

    /// Returns whether the values are a range with a count or a step.
    fn is_counted(&self) -> bool {
        matches!(&self.values, Values::Range(range) if range.count.is_some())
    }

    /// Returns all values, for a grid.
    ///
    /// # Errors
    /// The range has neither a count nor a step.
    pub(super) fn all(&self) -> Result<Vec<String>, String> {
        match &self.values {
            Values::List(list) => Ok(list.clone()),
            Values::Range(range) => {
                let count = range.count.ok_or("expected count or step in a range of a grid")?;
                let at = |i: usize| match count {
                    1 => 0.0,
                    _ => i as f64 / (count - 1) as f64,
                };
                let mut values: Vec<String> = (0..count).map(|i| range.at(at(i))).collect();
                // After rounding, neighbours may be equal.
                values.dedup();
                Ok(values)
            }
        }
    }

    /// Returns the value for a sample at this share of the way, from 0 to 1 (1 excluded).
    pub(super) fn at(&self, share: f64) -> String {
        match &self.values {
            Values::List(list) => {
                let at = (share * list.len() as f64) as usize;
                list[at.min(list.len() - 1)].clone()
            }
            Values::Range(range) => range.sampled(share),
        }
    }
}

impl Range {
    fn read(table: &Table) -> Result<Self, String> {
        let known = ["from", "to", "count", "step", "scale", "whole"];
        if let Some(unknown) = table.keys().find(|key| !known.contains(&key.as_str())) {
            let suggestion = hint(unknown, known);
            return Err(format!("{unknown}: expected one of {}{suggestion}", known.join(", ")));
        }
        let bound = |name: &str| {
            let value = table.get(name).ok_or_else(|| format!("expected {name} in a range"))?;
            quantity(value).ok_or_else(|| {
                format!("{name}: expected a number, with its unit if it has one, found {value}")
            })
        };
        let ((from, unit), (to, other)) = (bound("from")?, bound("to")?);
        let is_decimal = |name| table.get(name).is_some_and(Value::is_float);
        let decimal = is_decimal("from") || is_decimal("to");
        if unit != other {
            return Err(format!("expected from and to in one unit, found {unit:?} and {other:?}"));
        }
        let log = match table.get("scale").map(|scale| scale.as_str()) {
            None | Some(Some("linear")) => false,
            Some(Some("log")) => true,
            Some(_) => return Err("scale: expected \"linear\" or \"log\"".to_owned()),
        };
        if log && (from <= 0.0 || to <= 0.0) {
            return Err("expected more than 0 on a logarithmic scale".to_owned());
        }
        let whole = match table.get("whole") {
            None => false,
            Some(Value::Boolean(whole)) => *whole,
            Some(_) => return Err("whole: expected true or false".to_owned()),
        };
        if log && whole && (from < 0.5 || to < 0.5) {
            return Err("expected whole numbers from 1 on a logarithmic scale".to_owned());
        }
        let count = match (table.get("count"), table.get("step")) {
            (Some(_), Some(_)) => return Err("expected count or step, not both".to_owned()),
            (Some(count), None) => {
                let count = count.as_integer().and_then(|n| usize::try_from(n).ok());
                let count = count.filter(|n| (1..=MAX_VALUES).contains(n));
                Some(
                    count
                        .ok_or(format!("count: expected a whole number from 1 to {MAX_VALUES}"))?,
                )
            }
            (None, Some(_)) if log => {
                return Err("expected count in place of step on a logarithmic scale".to_owned());
            }
            (None, Some(step)) => {
                let (step, of) = quantity(step).ok_or("step: expected a number with its unit")?;
                let steps = (to - from) / step;
                if of != unit || !steps.is_finite() || steps < 0.0 {
                    return Err(match unit.as_str() {
                        "" => "step: expected steps, without a unit, that lead there".to_owned(),
                        unit => format!("step: expected steps in {unit} that lead there"),
                    });
                }
                if steps >= MAX_VALUES as f64 {
                    return Err(format!("step: expected at most {MAX_VALUES} steps"));
                }
                // The tolerance allows for rounding errors in the last step.
                let steps = (steps + 1e-9).floor();
                let to = from + steps * step;
                let count = Some(steps as usize + 1);
                return Ok(Self { from, to, unit, decimal, log, whole, count });
            }
            (None, None) => None,
        };
        Ok(Self { from, to, unit, decimal, log, whole, count })
    }

    /// Returns the value at this share of the way, as TOML.
    fn at(&self, share: f64) -> String {
        self.to_toml(self.interpolate(self.from, self.to, share))
    }

    /// Returns the value for a sample at this share of the way, as TOML. Each whole number is
    /// equally likely, including those at the ends.
    fn sampled(&self, share: f64) -> String {
        if !self.whole {
            return self.at(share);
        }
        let (from, to) = (self.from.round(), self.to.round());
        let (low, high) = (from.min(to), from.max(to));
        self.to_toml(self.interpolate(low - 0.5, high + 0.5, share).round().clamp(low, high))
    }

    /// Interpolates between `low` and `high`.
    fn interpolate(&self, low: f64, high: f64, share: f64) -> f64 {
        match self.log {
            true => (low.ln() + share * (high.ln() - low.ln())).exp(),
            false => low + share * (high - low),
        }
    }

    /// Formats the value as TOML.
    fn to_toml(&self, exact: f64) -> String {
        // Twelve digits hide the rounding error of the last digit.
        let number = format!("{exact:.11e}").parse().unwrap_or(exact);
        let number: f64 = if self.whole { number.round() } else { number };
        if self.unit.is_empty() && self.decimal {
            Value::Float(number).to_string()
        } else if self.unit.is_empty() {
            number.to_string()
        } else {
            Value::String(format!("{number} {}", self.unit)).to_string()
        }
    }
}

/// Formats a value of a list as TOML.
fn literal(value: &Value) -> Result<String, String> {
    match value {
        Value::Table(_) | Value::Datetime(_) => {
            Err("expected a list of strings, numbers, booleans or lists of them".to_owned())
        }
        value => Ok(value.to_string()),
    }
}

/// Returns the first value of a list that equals an earlier one, in any notation.
fn first_repeated(list: &Value) -> Option<&Value> {
    let mut seen = BTreeSet::new();
    let normalised = |value: &Value| match measured(value) {
        Some(number) => number.to_string(),
        None => value.to_string(),
    };
    list.as_array()?.iter().find(|value| !seen.insert(normalised(value)))
}

/// Returns the value as a number in the unit of a row.
fn measured(value: &Value) -> Option<f64> {
    match value {
        // Larger integers are not exact as floats.
        Value::Integer(n) => (n.unsigned_abs() < 1 << f64::MANTISSA_DIGITS).then_some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::String(text) => number(text.trim()),
        _ => None,
    }
}

/// Splits a value into its number and its unit.
fn quantity(value: &Value) -> Option<(f64, String)> {
    match value {
        Value::Integer(n) => Some((*n as f64, String::new())),
        Value::Float(n) if n.is_finite() => Some((*n, String::new())),
        Value::String(text) => {
            let text = text.trim();
            if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
                return None;
            }
            let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]).rev();
            let mut numbers = ends.filter_map(|at| {
                let number: f64 = text[..at].trim_end().parse().ok()?;
                Some((number, text[at..].trim().to_owned()))
            });
            numbers.next().filter(|(number, _)| number.is_finite())
        }
        _ => None,
    }
}

/// Returns the dotted keys of a section with their values. Empty if the file lacks the section.
pub(super) fn keys_of(table: Option<&Value>, is_leaf: fn(&Table) -> bool) -> Vec<(String, &Value)> {
    table.and_then(Value::as_table).map_or_else(Vec::new, |table| leaves(table, is_leaf))
}
