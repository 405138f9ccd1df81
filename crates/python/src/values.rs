//! Python's values as a scenario's: dictionaries as TOML, `set={…}` as what `--set` takes.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

use crate::error::refused;

/// Dictionaries and lists in each other at most: one that holds itself has no end.
const DEEPEST: usize = 64;

/// `key=value` for each entry.
pub(crate) fn overrides(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let entries = set.iter().flat_map(|set| set.iter());
    let entry = |(key, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = name("set", &key)?;
        if key.trim().is_empty() || key.contains('=') {
            let expected = "expected a dotted key, such as link.bottleneck.rate";
            return Err(refused(format!("set: {expected}, found {key:?}")));
        }
        // Text is what one would type.
        let text = match given.cast::<PyString>() {
            Ok(text) => said(&key, text)?,
            Err(_) => value(&key, &given, DEEPEST)?.to_string(),
        };
        if text.trim().is_empty() {
            return Err(refused(format!("set: {key}: expected a value, found {text:?}")));
        }
        Ok(format!("{key}={text}"))
    };
    entries.map(entry).collect()
}

/// A dictionary as a TOML table; `called` is what errors call it.
pub(crate) fn table(called: &str, dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    entries(called, "", dict, DEEPEST)
}

/// The same, of the dictionary at `key`, for so many levels.
fn entries(called: &str, key: &str, dict: &Bound<'_, PyDict>, levels: usize) -> PyResult<Table> {
    let mut table = Table::new();
    for (named, given) in dict {
        let name = name(if key.is_empty() { called } else { key }, &named)?;
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        table.insert(name, value(&key, &given, levels)?);
    }
    Ok(table)
}

/// A dictionary's key; `called` is what errors call the dictionary.
fn name(called: &str, given: &Bound<'_, PyAny>) -> PyResult<String> {
    match given.cast::<PyString>() {
        Ok(name) => said(called, name),
        Err(_) => {
            let kind = given.get_type().name()?;
            Err(refused(format!("{called}: expected strings as keys, found {kind}")))
        }
    }
}

/// A text, if it is one: Python's may hold halves of characters.
fn said(key: &str, text: &Bound<'_, PyString>) -> PyResult<String> {
    text.extract().map_err(|_| refused(format!("{key}: expected text that UTF-8 can hold")))
}

/// A file's path; `called` is the argument.
pub(crate) fn path(called: &str, given: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = if given.is_instance_of::<PyBytes>() { None } else { given.extract().ok() };
    path.ok_or_else(|| match given.get_type().name() {
        Ok(kind) => refused(format!("{called}: expected a file's path, found {kind}")),
        Err(error) => error,
    })
}

/// A whole number from `least` to the largest of its type; `called` is the argument.
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
            let most = T::MOST;
            let expected = format!("expected a whole number from {least} to {most}");
            Err(refused(format!("{called}: {expected}, found {found}")))
        },
        Ok,
    )
}

/// A type of whole numbers.
pub(crate) trait Bounded {
    /// The largest.
    const MOST: Self;
}

impl Bounded for u32 {
    const MOST: Self = Self::MAX;
}

impl Bounded for u64 {
    const MOST: Self = Self::MAX;
}

/// A truth value, also NumPy's; `called` is the argument.
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

/// A number of at least zero; `called` is the argument.
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

/// A whole number as TOML has them.
fn whole(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    let wide = |_| refused(format!("{key}: expected a number from -2^63 to 2^63 - 1"));
    given.extract().map(Value::Integer).map_err(wide)
}

/// A value with at most so many levels in it.
fn value(key: &str, given: &Bound<'_, PyAny>, levels: usize) -> PyResult<Value> {
    // A truth value is an integer, too.
    if given.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(given.extract()?));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return said(key, text).map(Value::String);
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
        return Err(refused(format!("{first}: expected at most {DEEPEST} levels of values")));
    }
    if let Ok(dict) = dict {
        return entries(key, key, dict, levels - 1).map(Value::Table);
    }
    if list {
        let values = given.try_iter()?.map(|item| value(key, &item?, levels - 1));
        return values.collect::<PyResult<_>>().map(Value::Array);
    }
    // Truth values and numbers of NumPy and the like.
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
