//! Scenarios by name, from a file, or from a dictionary.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use unruffled_scenario::{Error, Scenario as Loaded, flags};

use crate::background::{self, Ticket};
use crate::error::refused;
use crate::pickle::{self, Kept};
use crate::{html, values};

/// Name of a scenario in errors, if it is a dictionary.
const DICTIONARY: &str = "scenario";

/// A checked scenario: traffic, path and duration.
///
/// :func:`unruffled.scenario` returns it. Scenarios are equal if all of their keys are.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct Scenario {
    /// Name of the file, or its substitute in errors.
    pub(crate) file: String,
    /// Path of the file, if the scenario was read from one.
    pub(crate) path: Option<PathBuf>,
    pub(crate) loaded: Loaded,
}

/// Source of a scenario: its name in errors, and its text.
pub(crate) struct Origin {
    pub(crate) file: String,
    pub(crate) text: String,
    /// Absolute path of the file, if any.
    pub(crate) path: Option<PathBuf>,
}

impl Origin {
    /// Reads an argument that names or contains a scenario.
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        if let Ok(scenario) = given.cast::<Scenario>() {
            let Scenario { file, path, loaded } = scenario.get();
            let text = loaded.toml.clone();
            return Ok(Self { file: file.clone(), text, path: path.clone() });
        }
        if let Ok(dict) = given.cast::<PyDict>() {
            let table = values::table(DICTIONARY, dict)?;
            let text = toml::to_string(&table).map_err(refused)?;
            return Ok(Self { file: DICTIONARY.to_owned(), text, path: None });
        }
        let file = match given.cast::<PyString>() {
            Ok(name) => name.to_string_lossy().into_owned(),
            Err(_) => values::path(DICTIONARY, given)?.display().to_string(),
        };
        let path = std::path::absolute(&file).ok();
        let name = file.clone();
        // In the background, since a read of a pipe may block.
        let read = move || Loaded::text(&name);
        let text = background::work(py, &Arc::new(Ticket::default()), None, read)?;
        Ok(Self { file, text: text.map_err(refused)?, path })
    }

    /// Returns the scenario. Each key may be set once.
    pub(crate) fn load(&self, overrides: &[String]) -> Result<Loaded, Error> {
        flags::once(&self.file, &self.text, overrides)?;
        Loaded::parse(&self.file, &self.text, overrides)
    }

    /// [`load`](Self::load) for a scenario whose network real packets can cross.
    #[cfg(target_os = "linux")]
    pub(crate) fn load_for_real_packets(&self, overrides: &[String]) -> Result<Loaded, Error> {
        flags::once(&self.file, &self.text, overrides)?;
        Loaded::parse_for_real_packets(&self.file, &self.text, overrides)
    }
}

/// Load a scenario by name, from a file, or from a dictionary.
#[pyfunction]
#[pyo3(signature = (given, set = None))]
pub(crate) fn scenario(
    given: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Scenario> {
    let overrides = values::overrides(set)?;
    let origin = Origin::of(given)?;
    let loaded = origin.load(&overrides).map_err(refused)?;
    Ok(Scenario { file: origin.file, path: origin.path, loaded })
}

/// Contents of a pickled scenario: its name in errors, its file, and its text.
type Parts = (String, Option<PathBuf>, String);

impl Scenario {
    /// Restores a pickled scenario.
    pub(crate) fn restored((file, path, toml): Parts) -> PyResult<Self> {
        let loaded = Loaded::parse(&file, &toml, &[]).map_err(refused)?;
        Ok(Self { file, path, loaded })
    }
}

#[pymethods]
impl Scenario {
    /// The short name.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// A one-line description.
    #[getter]
    fn title(&self) -> &str {
        &self.loaded.title
    }

    /// The source, such as a paper and its section.
    #[getter]
    fn source(&self) -> &str {
        &self.loaded.source
    }

    /// The simulated time in seconds, warm-up included.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.loaded.duration.as_secs_f64()
    }

    /// The number of seeds.
    #[getter]
    fn seeds(&self) -> u64 {
        self.loaded.seeds
    }

    /// The names of the compared senders.
    #[getter]
    fn variants(&self) -> Vec<String> {
        self.loaded.variants.clone()
    }

    /// The scenario as a TOML file, with every override applied.
    #[getter]
    fn toml(&self) -> &str {
        &self.loaded.toml
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.loaded.toml == other.loaded.toml
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.loaded.toml.hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Kept<'py>> {
        let parts: Parts = (self.file.clone(), self.path.clone(), self.loaded.toml.clone());
        pickle::kept(py, "Scenario", &parts)
    }

    fn __repr__(&self) -> String {
        format!("<unruffled.Scenario {}: {}>", self.loaded.name, self.loaded.title)
    }

    fn _repr_html_(&self) -> String {
        let line = |name: &str, value: String| vec![name.to_owned(), value];
        let lines = [
            line("title", self.loaded.title.clone()),
            line("source", self.loaded.source.clone()),
            line("duration", format!("{} s", self.duration_s())),
            line("seeds", self.loaded.seeds.to_string()),
            line("variants", self.loaded.variants.join(", ")),
        ];
        let table = html::table(&self.loaded.name, &["key", "value"], &lines);
        let toml = html::escaped(&self.loaded.toml);
        format!("{table}<details><summary>TOML</summary><pre>{toml}</pre></details>\n")
    }
}
