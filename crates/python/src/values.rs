//! Python's values as a scenario's: dictionaries as TOML, `set={…}` as what `--set` takes.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

use crate::error::refused;

/// Dictionaries and lists in each other at most: one that holds itself has no end.
const DEEPEST: usize = 64;

/// `key=value` for each entry.
pub(crate) fn overrides(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let entries = set.iter().flat_map(|set| set.iter());
    let entry = |(key, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key = name("set", &key)?;
        // Text is what one would type.
        let text = match given.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => value(&key, &given, DEEPEST)?.to_string(),
        };
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
        Ok(name) => name.extract(),
        Err(_) => {
            let kind = given.get_type().name()?;
            Err(refused(format!("{called}: expected strings as keys, found {kind}")))
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
    if given.is_instance_of::<PyString>() {
        return Ok(Value::String(given.extract()?));
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
    if ["bool", "bool_"].contains(&given.get_type().name()?.to_cow()?.as_ref()) {
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
