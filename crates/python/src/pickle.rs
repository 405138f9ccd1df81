//! Pickling of complete results, for processes with the same version.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use unruffled_lab::grid::Sweep as Swept;

use crate::background::{self, Ticket};
use crate::comparison::Comparison;
use crate::error::refused;
use crate::scenario::Scenario;
use crate::senders;
use crate::sweep::Sweep;
use crate::table::Table;

/// Result of `__reduce__`: [`restore`] and its arguments.
pub(crate) type Kept<'py> =
    (Bound<'py, PyAny>, (&'static str, Bound<'py, PyBytes>, Option<Py<PyAny>>));

/// Pickles a value of a class.
pub(crate) fn kept<'py>(
    py: Python<'py>,
    class: &'static str,
    value: &(impl Serialize + Sync),
) -> PyResult<Kept<'py>> {
    let octets = py.detach(|| {
        let mut octets = Vec::new();
        ciborium::into_writer(value, &mut octets).map(|()| octets)
    });
    let octets = octets.map_err(|error| refused(format!("{class}: cannot be pickled: {error}")))?;
    as_octets(py, class, &octets, None)
}

/// Pickles a value from its octets, with its senders whose detectors are written in Python.
pub(crate) fn as_octets<'py>(
    py: Python<'py>,
    class: &'static str,
    octets: &[u8],
    own: Option<Py<PyAny>>,
) -> PyResult<Kept<'py>> {
    let restore = py.import("unruffled._core")?.getattr("restore")?;
    Ok((restore, (class, PyBytes::new(py, octets), own)))
}

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
