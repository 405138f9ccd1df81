//! Pickling of complete results, for processes with the same version.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;

use crate::error::refused;

/// Result of `__reduce__`: the function [`restore`](crate::restore::restore) and its arguments.
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
