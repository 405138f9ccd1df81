//! Python's values as a scenario's: dictionaries as TOML, `set={…}` as what `--set` takes.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use toml::{Table, Value};

use crate::error::refused;

/// `key=value` for each entry.
pub(crate) fn overrides(set: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let entries = set.iter().flat_map(|set| set.iter());
    let entry = |(key, given): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let key: String = key.extract()?;
        // Text is what one would type.
        let text = match given.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => value(&key, &given)?.to_string(),
        };
        Ok(format!("{key}={text}"))
    };
    entries.map(entry).collect()
}

/// A dictionary as a TOML table; `key` is what errors call it.
pub(crate) fn table(key: &str, dict: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut table = Table::new();
    for (name, given) in dict {
        let name: String = name.extract()?;
        let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
        table.insert(name, value(&key, &given)?);
    }
    Ok(table)
}

fn value(key: &str, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    // A truth value is an integer, too.
    if given.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(given.extract()?));
    }
    if given.is_instance_of::<PyString>() {
        return Ok(Value::String(given.extract()?));
    }
    if given.is_instance_of::<PyInt>() {
        return given.extract().map(Value::Integer);
    }
    if given.is_instance_of::<PyFloat>() {
        return given.extract().map(Value::Float);
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        return table(key, dict).map(Value::Table);
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let values = given.try_iter()?.map(|item| value(key, &item?));
        return values.collect::<PyResult<_>>().map(Value::Array);
    }
    // Numbers of NumPy and the like.
    if let Ok(index) = given.call_method0("__index__") {
        return index.extract().map(Value::Integer);
    }
    if let Ok(float) = given.call_method0("__float__") {
        return float.extract().map(Value::Float);
    }
    let kind = given.get_type().name()?;
    let kind = if given.is_none() { "None".into() } else { kind.to_string() };
    let expected = "expected a string, number, boolean or list of them";
    Err(refused(format!("{key}: {expected}, found {kind}")))
}
