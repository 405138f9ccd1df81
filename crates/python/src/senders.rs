//! Which senders there are, and those that are asked for.

use pyo3::prelude::*;
use pyo3::types::PyString;
use unruffled_lab::{Scenario, compare, senders};
use unruffled_tcp::Variant;

use crate::error::refused;

/// What the command's `variants --json` prints.
#[pyfunction]
#[pyo3(signature = (name = None))]
pub(crate) fn variants(name: Option<&str>) -> PyResult<String> {
    let chosen = match name {
        None => senders::all(),
        Some(name) => vec![Variant::parse(name).map_err(refused)?],
    };
    Ok(senders::json(&chosen).to_string())
}

/// The senders that were asked for, or the scenario's; `file` is what errors call the scenario.
pub(crate) fn chosen(
    scenario: &Scenario,
    file: &str,
    asked: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Variant>> {
    let Some(asked) = asked else {
        let place = format!("{file}: variants");
        return compare::variants(scenario, &scenario.variants, &place).map_err(refused);
    };
    let names: Vec<String> = match asked.cast::<PyString>() {
        Ok(names) => names.to_string().split(',').map(str::to_owned).collect(),
        Err(_) => asked.extract()?,
    };
    compare::variants(scenario, &names, "--variants").map_err(refused)
}
