//! Restoring of pickled results.

use std::sync::Arc;

use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use unruffled_lab::grid::Sweep as Swept;

use crate::background::{self, Ticket};
use crate::comparison::Comparison;
use crate::error::refused;
use crate::scenario::Scenario;
use crate::senders;
use crate::sweep::Sweep;
use crate::table::Table;

/// Restore a pickled value.
#[pyfunction]
#[pyo3(signature = (kind, octets, own = None))]
pub(crate) fn restore(
    py: Python<'_>,
    kind: &str,
    octets: &[u8],
    own: Option<Py<PyAny>>,
) -> PyResult<Py<PyAny>> {
    let value = match kind {
        "Table" => Py::new(py, Table::of(read::<Vec<(String, _)>>(kind, octets)?)?)?.into_any(),
        "Scenario" => Py::new(py, Scenario::restored(read(kind, octets)?)?)?.into_any(),
        "Comparison" => Py::new(py, Comparison::restored(read(kind, octets)?)?)?.into_any(),
        "Sweep" => {
            let ticket = Arc::new(Ticket::default());
            let senders = senders::own(own.as_ref().map(|own| own.bind(py)), &ticket)?;
            let (shared, octets) = (Arc::clone(&ticket), octets.to_vec());
            let swept = background::work(py, &ticket, None, move || {
                Swept::unpack(&octets, senders, &shared.stop)
            })?;
            let swept = swept.map_err(refused)?;
            Py::new(py, Sweep::restored(swept, ticket, own))?.into_any()
        }
        _ => return Err(unreadable(kind)),
    };
    Ok(value)
}

fn read<T: DeserializeOwned>(class: &str, octets: &[u8]) -> PyResult<T> {
    ciborium::from_reader(octets).map_err(|_| unreadable(class))
}

fn unreadable(class: &str) -> PyErr {
    let version = env!("CARGO_PKG_VERSION");
    refused(format!("{class}: pickled by another version: expected unruffled {version}"))
}
