//! Scenarios: by name, from a file, or written as a dictionary.

use std::borrow::Cow;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use unruffled_lab as lab;

use crate::error::refused;
use crate::values;

/// What errors call a scenario that is a dictionary.
const DICTIONARY: &str = "scenario";

/// A scenario, checked: what flows, over which path, for how long.
#[pyclass(frozen, module = "unruffled")]
pub(crate) struct Scenario {
    /// The file's name, or what stands for it.
    pub(crate) file: String,
    /// The file, if it was read from one.
    pub(crate) path: Option<PathBuf>,
    pub(crate) loaded: lab::Scenario,
}

/// Where a scenario comes from: what errors call it, and its text if it is no file.
pub(crate) struct Origin {
    pub(crate) file: String,
    pub(crate) text: Option<String>,
    /// The file, if it is one, wherever the process goes.
    pub(crate) path: Option<PathBuf>,
}

impl Origin {
    pub(crate) fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(scenario) = given.cast::<Scenario>() {
            let Scenario { file, path, loaded } = scenario.get();
            let (file, path) = (file.clone(), path.clone());
            return Ok(Self { file, text: Some(loaded.toml.clone()), path });
        }
        if let Ok(dict) = given.cast::<PyDict>() {
            let table = values::table(DICTIONARY, dict)?;
            let text = toml::to_string(&table).map_err(refused)?;
            return Ok(Self { file: DICTIONARY.to_owned(), text: Some(text), path: None });
        }
        let file = match given.cast::<PyString>() {
            Ok(name) => name.to_string(),
            Err(_) => given.extract::<PathBuf>()?.display().to_string(),
        };
        let path = std::path::absolute(&file).ok();
        Ok(Self { file, text: None, path })
    }

    /// The scenario; a key is set once.
    pub(crate) fn load(&self, overrides: &[String]) -> Result<lab::Scenario, lab::Error> {
        let text = self.text_with(overrides)?;
        lab::Scenario::parse(&self.file, &text, overrides)
    }

    /// The same, of a scenario whose network real packets can cross.
    #[cfg(target_os = "linux")]
    pub(crate) fn load_for_real_packets(
        &self,
        overrides: &[String],
    ) -> Result<lab::Scenario, lab::Error> {
        let text = self.text_with(overrides)?;
        lab::Scenario::parse_for_real_packets(&self.file, &text, overrides)
    }

    /// The text, of which these `overrides` set each key once.
    fn text_with(&self, overrides: &[String]) -> Result<Cow<'_, str>, lab::Error> {
        let Some(text) = &self.text else {
            return lab::flags::text(&self.file, overrides).map(Cow::Owned);
        };
        lab::flags::once(&self.file, text, overrides)?;
        Ok(Cow::Borrowed(text))
    }
}

/// Loads a scenario by name, from a file, or from a dictionary.
#[pyfunction]
#[pyo3(signature = (given, set = None))]
pub(crate) fn scenario(
    given: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyDict>>,
) -> PyResult<Scenario> {
    let origin = Origin::of(given)?;
    let loaded = origin.load(&values::overrides(set)?).map_err(refused)?;
    Ok(Scenario { file: origin.file, path: origin.path, loaded })
}

#[pymethods]
impl Scenario {
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.loaded.title
    }

    #[getter]
    fn source(&self) -> &str {
        &self.loaded.source
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.loaded.duration.as_secs_f64()
    }

    #[getter]
    fn seeds(&self) -> u64 {
        self.loaded.seeds
    }

    #[getter]
    fn variants(&self) -> Vec<String> {
        self.loaded.variants.clone()
    }

    #[getter]
    fn toml(&self) -> &str {
        &self.loaded.toml
    }

    fn __repr__(&self) -> String {
        format!("<unruffled.Scenario {}: {}>", self.loaded.name, self.loaded.title)
    }
}
