//! Which senders there are, and those that are asked for.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use unruffled_lab::{Scenario, senders};
use unruffled_tcp::Variant;

use crate::background::Ticket;
use crate::detector;
use crate::error::refused;

/// Give what the command's `variants --json` prints.
#[pyfunction]
#[pyo3(signature = (name = None))]
pub(crate) fn variants(name: Option<&str>) -> PyResult<String> {
    let chosen = match name {
        None => senders::all(),
        Some(name) => vec![Variant::parse(name).map_err(refused)?],
    };
    Ok(senders::json(&chosen).to_string())
}

/// The senders that were asked for, or the scenario's, which stand at `place`, in their order. Those
/// of Python's end the work of `ticket` with what they raise.
pub(crate) fn chosen(
    scenario: &Scenario,
    place: &str,
    asked: Option<&Bound<'_, PyAny>>,
    ticket: &Arc<Ticket>,
) -> PyResult<Vec<Variant>> {
    let Some(asked) = asked else {
        return scenario.senders(&scenario.variants, place).map_err(refused);
    };
    let (mut names, mut all) = (Vec::new(), Vec::new());
    for item in asked.try_iter()? {
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

/// Senders whose detector is Python's.
pub(crate) fn own(
    asked: Option<&Bound<'_, PyAny>>,
    ticket: &Arc<Ticket>,
) -> PyResult<Vec<Variant>> {
    let Some(asked) = asked else { return Ok(Vec::new()) };
    asked.try_iter()?.map(|item| one(&item?, ticket)).collect()
}

/// A sender of Python's: what `unruffled.Own` holds.
fn one(given: &Bound<'_, PyAny>, ticket: &Arc<Ticket>) -> PyResult<Variant> {
    let (base, name): (String, String) =
        (given.getattr("base")?.extract()?, given.getattr("name")?.extract()?);
    detector::variant(&base, &name, given.getattr("detector")?.unbind(), ticket)
}
