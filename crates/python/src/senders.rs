//! The list of senders, and the selected ones.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use unruffled_lab::{Scenario, senders};
use unruffled_tcp::Variant;

use crate::background::Ticket;
use crate::detector;
use crate::error::refused;

/// Return the output of the command's `variants --json`.
#[pyfunction]
#[pyo3(signature = (name = None))]
pub(crate) fn variants(name: Option<&str>) -> PyResult<String> {
    let chosen = match name {
        None => senders::all(),
        Some(name) => vec![Variant::parse(name).map_err(refused)?],
    };
    Ok(senders::json(&chosen).to_string())
}

/// Returns the given `senders` in order, or the scenario's, which are at `place`. An exception in a detector
/// written in Python stops the work of `ticket`.
pub(crate) fn chosen(
    scenario: &Scenario,
    place: &str,
    senders: Option<&Bound<'_, PyAny>>,
    ticket: &Arc<Ticket>,
) -> PyResult<Vec<Variant>> {
    let Some(senders) = senders else {
        return scenario.senders(&scenario.variants, place).map_err(refused);
    };
    let mut names = Vec::new();
    let mut all = Vec::new();
    for item in senders.try_iter()? {
        let item = item?;
        match item.cast::<PyString>() {
            Ok(name) => {
                names.push(name.to_string());
                all.push(None);
            }
            Err(_) => {
                let mut own = one(&item, ticket)?;
                scenario.parametrise(&mut own).map_err(refused)?;
                all.push(Some(own));
            }
        }
    }
    let named = scenario.senders(&names, "variants").map_err(refused)?;
    let mut named = named.into_iter();
    Ok(all.into_iter().filter_map(|own| own.or_else(|| named.next())).collect())
}

/// Returns senders with detectors written in Python.
pub(crate) fn own(
    senders: Option<&Bound<'_, PyAny>>,
    ticket: &Arc<Ticket>,
) -> PyResult<Vec<Variant>> {
    let Some(senders) = senders else { return Ok(Vec::new()) };
    senders.try_iter()?.map(|item| one(&item?, ticket)).collect()
}

/// Returns the sender of an `unruffled.Own`.
fn one(given: &Bound<'_, PyAny>, ticket: &Arc<Ticket>) -> PyResult<Variant> {
    let base: String = given.getattr("base")?.extract()?;
    let name: String = given.getattr("name")?.extract()?;
    detector::variant(&base, &name, given.getattr("detector")?.unbind(), ticket)
}
