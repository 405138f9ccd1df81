//! The built-in scenarios.

use std::path::PathBuf;

use pyo3::prelude::*;
use unruffled_lab::files::{holds, write_text};
use unruffled_scenario::{self as scenario, Error, Scenario};

use crate::error::refused;

/// Return the output of the command's `scenarios --json`.
#[pyfunction]
pub(crate) fn scenarios() -> PyResult<String> {
    let all = scenario::BUILTIN.iter().map(|(name, text)| scenario::description(name, text));
    let all = all.collect::<Result<Vec<_>, Error>>().map_err(refused)?;
    Ok(serde_json::Value::Array(all).to_string())
}

/// Write the file of a built-in scenario to `path`, or to ``NAME.toml``, and return the path.
#[pyfunction]
#[pyo3(signature = (name, path = None, force = false))]
pub(crate) fn save_scenario(name: &str, path: Option<PathBuf>, force: bool) -> PyResult<PathBuf> {
    let text = Scenario::text(name).map_err(refused)?;
    let path = path.unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    if !force && path.exists() && !holds(&path, &text) {
        let shown = path.display();
        return Err(refused(format!(
            "{shown}: there already: expected another path, or force=True"
        )));
    }
    write_text(&path, &text)
        .map_err(|reason| refused(unruffled_lab::Error::output(&path, reason)))?;
    Ok(path)
}
