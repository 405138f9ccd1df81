//! Conversion of Python's values: dictionaries to TOML, and `set={…}` to overrides as in `--set`.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

use crate::error::refused;

/// Maximum nesting of dictionaries and lists, since one may contain itself.
const MAX_LEVELS: usize = 64;

/// Returns `key=value` for each entry.
pub(crate) fn overrides(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let entries = set.iter().flat_map(|set| set.iter());
    let entry = |(key, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = name("set", &key)?;
        if key.trim().is_empty() || key.contains('=') {
            let expected = "expected a dotted key, such as link.bottleneck.rate";
            return Err(refused(format!("set: {expected}, found {key:?}")));
        }
        // Text is used as on a command line.
        let text = match given.cast::<PyString>() {
            Ok(text) => utf8(&key, text)?,
            Err(_) => value(&key, &given, MAX_LEVELS)?.to_string(),
        };
        if text.trim().is_empty() {
            return Err(refused(format!("set: {key}: expected a value, found {text:?}")));
        }
        Ok(format!("{key}={text}"))
    };
    entries.map(entry).collect()
}

/// Converts a dictionary to a TOML table. Errors name it as `called`.
pub(crate) fn table(called: &str, dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    entries(called, "", dict, MAX_LEVELS)
}

/// Converts the dictionary at `key`, with at most `levels` of nesting.
fn entries(called: &str, key: &str, dict: &Bound<'_, PyDict>, levels: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for (named, given) in dict {
        let name = name(if key.is_empty() { called } else { key }, &named)?;
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        table.insert(name, value(&key, &given, levels)?);
    }
    Ok(table)
}

/// Returns a dictionary's key. Errors name the dictionary as `called`.
fn name(called: &str, given: &Bound<'_, PyAny>) -> PyResult<String> {
    match given.cast::<PyString>() {
        Ok(name) => utf8(called, name),
        Err(_) => {
            let kind = given.get_type().name()?;
            Err(refused(format!("{called}: expected strings as keys, found {kind}")))
        }
    }
}

/// Returns a text as UTF-8. Python's may contain lone surrogates.
fn utf8(key: &str, text: &Bound<'_, PyString>) -> PyResult<String> {
    text.extract().map_err(|_| refused(format!("{key}: expected text that UTF-8 can hold")))
}

/// Returns a file's path. Errors name the argument as `called`.
pub(crate) fn path(called: &str, given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = if given.is_instance_of::<PyBytes>() { None } else { given.extract().ok() };
    path.ok_or_else(|| match given.get_type().name() {
        Ok(kind) => refused(format!("{called}: expected a file's path, found {kind}")),
        Err(error) => error,
    })
}

/// Returns a whole number from `least` to the maximum of its type. Errors name the argument as `called`.
pub(crate) fn number<T>(called: &str, given: &Bound<'_, PyAny>, least: T) -> PyResult<T>
where
    T: Bounded + PartialOrd + std::fmt::Display + TryFrom<i128>,
{
    let whole = given.call_method0("__index__").ok().and_then(|index| index.extract::<i128>().ok());
    let number =
        whole.and_then(|number| T::try_from(number).ok()).filter(|number| *number >= least);
    number.map_or_else(
        || {
            let found = match whole {
                Some(number) => number.to_string(),
                None => given.get_type().name()?.to_string(),
            };
            let max = T::MAX;
            let expected = format!("expected a whole number from {least} to {max}");
            Err(refused(format!("{called}: {expected}, found {found}")))
        },
        Ok,
    )
}

/// A type of whole numbers.
pub(crate) trait Bounded {
    /// Maximum value.
    const MAX: Self;
}

impl Bounded for u32 {
    const MAX: Self = Self::MAX;
}

impl Bounded for u64 {
    const MAX: Self = Self::MAX;
}

/// Returns a truth value, also NumPy's. Errors name the argument as `called`.
pub(crate) fn truth(called: &str, given: &Bound<'_, PyAny>) -> PyResult<bool> {
    if is_truth(given)? {
        return given.is_truthy();
    }
    let kind = given.get_type().name()?;
    Err(refused(format!("{called}: expected True or False, found {kind}")))
}

fn is_truth(given: &Bound<'_, PyAny>) -> PyResult<bool> {
    let kind = given.get_type().name()?;
    Ok(["bool", "bool_"].contains(&kind.to_cow()?.as_ref()))
}

/// Returns a number of at least zero. Errors name the argument as `called`.
pub(crate) fn amount(called: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = match given.is_instance_of::<PyString>() {
        false => given.call_method0("__float__").ok().and_then(|number| number.extract().ok()),
        true => None,
    };
    match number {
        Some(number) if f64::is_finite(number) && number >= 0.0 => Ok(number),
        Some(number) => {
            Err(refused(format!("{called}: expected a number of 0 or more, found {number}")))
        }
        None => {
            let kind = given.get_type().name()?;
            Err(refused(format!("{called}: expected a number of 0 or more, found {kind}")))
        }
    }
}

/// Returns a whole number in TOML's range.
fn whole(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    let wide = |_| refused(format!("{key}: expected a number from -2^63 to 2^63 - 1"));
    given.extract().map(Value::Integer).map_err(wide)
}

/// Converts a value with at most `levels` of nesting.
fn value(key: &str, given: &Bound<'_, PyAny>, levels: usize) -> PyResult<Value> {
    // Before integers, since Python's truth values are integers.
    if given.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(given.extract()?));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return utf8(key, text).map(Value::String);
    }
    if given.is_instance_of::<PyInt>() {
        return whole(key, given);
    }
    if given.is_instance_of::<PyFloat>() {
        return given.extract().map(Value::Float);
    }
    let dict = given.cast::<PyDict>();
    let list = given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>();
    if levels == 0 && (dict.is_ok() || list) {
        let first = key.split('.').next().unwrap_or(key);
        return Err(refused(format!("{first}: expected at most {MAX_LEVELS} levels of values")));
    }
    if let Ok(dict) = dict {
        return entries(key, key, dict, levels - 1).map(Value::Table);
    }
    if list {
        let values = given.try_iter()?.map(|item| value(key, &item?, levels - 1));
        return values.collect::<PyResult<_>>().map(Value::Array);
    }
    // Truth values and numbers of NumPy and similar libraries.
    if is_truth(given)? {
        return Ok(Value::Boolean(given.is_truthy()?));
    }
    if let Ok(index) = given.call_method0("__index__") {
        return whole(key, &index);
    }
    if let Ok(float) = given.call_method0("__float__") {
        return float.extract().map(Value::Float);
    }
    let kind = given.get_type().name()?;
    let kind = if given.is_none() { "None".into() } else { kind.to_string() };
    let expected = "expected a string, number, boolean or list of them";
    Err(refused(format!("{key}: {expected}, found {kind}")))
}
