//! A key of a sweep with its values.

use std::collections::BTreeSet;

use toml::{Table, Value};
use unruffled_scenario::{Document, Error, flags, leaves};
use unruffled_units::hint;

use super::quantity::number;

/// A swept key with its values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    /// The key, as in `--set`.
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

/// A range between two values with the same unit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    from: f64,
    to: f64,
    unit: String,
    /// Whether values without a unit have a decimal point, as numbers in results do.
    decimal: bool,
    /// Whether values are spaced evenly on a logarithmic scale.
    log: bool,
    /// Whether values are rounded to whole numbers.
    whole: bool,
    /// The number of values in a grid; none in samples.
    count: Option<usize>,
}

/// The most values of a key.
const MAX_VALUES: usize = 1_000_000;

/// Keys of a scenario that cannot be swept; a grid file has them beside `scenario`.
const NOT_SWEPT: [&str; 3] = ["name", "seeds", "variants"];

/// Reads the keys of a section of the grid file `source`.
///
/// # Errors
/// A key that cannot be swept, or invalid values. The error names the place and what was expected.
pub(super) fn read_all(
    section: &str,
    value: Option<&Value>,
    source: &Document,
) -> Result<Vec<Axis>, Error> {
    // If `from` is a list or a table, it is a key of the scenario and not the start of a range.
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
            let message = "expected a range without count or step: points is their number";
            return Err(wrong(message.to_owned()));
        }
        // A repeated value is drawn more often in a sample; in a grid its runs would count twice.
        match first_repeated(value).filter(|_| section == "grid") {
            Some(value) => Err(wrong(format!("{value} stands twice: expected each value once"))),
            None => Ok(axis),
        }
    });
    axes.collect()
}

impl Axis {
    /// Reads the values of `key`.
    ///
    /// # Errors
    /// A message that names what was expected.
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

    /// Returns whether the axis is a range with a number of values.
    fn is_counted(&self) -> bool {
        matches!(&self.values, Values::Range(range) if range.count.is_some())
    }

    /// Returns all values, for a grid.
    ///
    /// # Errors
    /// A range without a number of values.
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
                // Rounding to whole numbers may repeat a value.
                values.dedup();
                Ok(values)
            }
        }
    }

    /// Returns the value at a fraction of the axis, from 0 to 1, for a sample.
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
    /// Reads a range.
    ///
    /// # Errors
    /// A message that names what was expected.
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
        let (from, unit) = bound("from")?;
        let (to, other) = bound("to")?;
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
                // Rounding errors must not lose the last step.
                let steps = (steps + 1e-9).floor();
                let to = from + steps * step;
                let count = Some(steps as usize + 1);
                return Ok(Self { from, to, unit, decimal, log, whole, count });
            }
            (None, None) => None,
        };
        Ok(Self { from, to, unit, decimal, log, whole, count })
    }

    /// Returns the value at a fraction of the range, as TOML.
    fn at(&self, share: f64) -> String {
        self.to_toml(self.interpolate(self.from, self.to, share))
    }

    /// Returns the value at a fraction of the range for a sample, as TOML. All whole numbers are
    /// equally likely, including those at the ends.
    fn sampled(&self, share: f64) -> String {
        if !self.whole {
            return self.at(share);
        }
        let from = self.from.round();
        let to = self.to.round();
        let low = from.min(to);
        let high = from.max(to);
        self.to_toml(self.interpolate(low - 0.5, high + 0.5, share).round().clamp(low, high))
    }

    /// Interpolates between `low` and `high` on the scale of the range.
    fn interpolate(&self, low: f64, high: f64, share: f64) -> f64 {
        match self.log {
            true => (low.ln() + share * (high.ln() - low.ln())).exp(),
            false => low + share * (high - low),
        }
    }

    /// Formats a value as TOML.
    fn to_toml(&self, exact: f64) -> String {
        // Twelve digits remove the rounding errors, as in 0.30000000000000004.
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

/// Returns the first repeated value of a list, in any notation.
fn first_repeated(list: &Value) -> Option<&Value> {
    let mut seen = BTreeSet::new();
    let same = |value: &Value| match measured(value) {
        Some(number) => number.to_string(),
        None => value.to_string(),
    };
    list.as_array()?.iter().find(|value| !seen.insert(same(value)))
}

/// Returns the number of a value in the unit of rows, if it is one.
fn measured(value: &Value) -> Option<f64> {
    match value {
        // Larger integers are not exact as floating-point numbers.
        Value::Integer(n) => (n.unsigned_abs() < 1 << f64::MANTISSA_DIGITS).then_some(*n as f64),
        Value::Float(n) => Some(*n),
        Value::String(text) => number(text.trim()),
        _ => None,
    }
}

/// Splits a quantity into its number and its unit.
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

/// Returns the dotted keys of a section with their values; empty without the section.
pub(super) fn keys_of(table: Option<&Value>, is_leaf: fn(&Table) -> bool) -> Vec<(String, &Value)> {
    table.and_then(Value::as_table).map_or_else(Vec::new, |table| leaves(table, is_leaf))
}
