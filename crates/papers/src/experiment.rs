//! An experiment: one figure or table of a paper as data. It defines the runs, the measures of each
//! run, the claims of the paper, and the drawings.
//!
//! docs/experiments.md describes the file format.

mod class;
mod example;
mod file;
mod model;
mod reader;
mod scenarios;

use std::ops::Range;
use std::path::Path;

use unruffled_units::hint;

use crate::error::Error;
pub use class::{Cause, Class};
pub use example::Example;
pub(crate) use file::Kind;
pub(crate) use model::{Check, Claim, Panel, TimeCurve};
pub use model::{Experiment, Line, Measure, Point, Remarks, Sweep};
use unruffled_scenario::{Document, is_path, missing, text};

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

impl Experiment {
    /// Loads a built-in experiment by its id, or an experiment from a file.
    ///
    /// # Errors
    /// An unknown experiment, or an invalid one.
    pub fn load(name: &str, quick: bool) -> Result<Self, Error> {
        if let Some((_, text)) = BUILTIN.iter().find(|(id, _)| *id == name) {
            return Self::parse(name, text, quick);
        }
        let text = text::read(Path::new(name)).map_err(|source| {
            let ids = BUILTIN.iter().map(|(id, _)| *id);
            match source.kind() {
                std::io::ErrorKind::NotFound if is_path(name) => {
                    missing(Path::new(name), ids).into()
                }
                std::io::ErrorKind::NotFound => {
                    Error::NoExperiment { name: name.to_owned(), hint: hint(name, ids), source }
                }
                _ => unruffled_scenario::Error::Unreadable { name: name.to_owned(), source }.into(),
            }
        })?;
        Self::parse(name, &text, quick)
    }

    /// Returns all built-in experiments, in the order of the papers.
    ///
    /// # Errors
    /// None: the tests load each of them.
    pub fn all(quick: bool) -> Result<Vec<Self>, Error> {
        BUILTIN.iter().map(|(id, text)| Self::parse(id, text, quick)).collect()
    }

    /// Reads an experiment from `text`, which errors call `file`.
    ///
    /// # Errors
    /// An invalid experiment. The error names the place and what was expected.
    pub fn parse(file: &str, text: &str, quick: bool) -> Result<Self, Error> {
        Ok(Self::read(file, text, quick)?)
    }

    fn read(file: &str, text: &str, quick: bool) -> Result<Self, unruffled_scenario::Error> {
        let name = if BUILTIN.iter().any(|(id, _)| *id == file) {
            format!("{file}.toml")
        } else {
            file.to_owned()
        };
        let source = Document::parse(&name, text)?;
        let file: file::File = source.read()?;
        source.check_printable()?;
        reader::read(source, file, quick)
    }

    /// Returns the full version of the experiment.
    pub(crate) fn in_full(&self) -> Result<Self, unruffled_scenario::Error> {
        Self::read(self.source.file(), self.source.text(), false)
    }

    /// Returns an error about the experiment's file.
    pub(crate) fn wrong(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> unruffled_scenario::Error {
        self.source.wrong(span, message)
    }

    /// Returns the value that the paper prints for this measure of this line.
    pub(crate) fn paper_value(&self, measure: &str, line: &str) -> Option<f64> {
        let line = self.lines.iter().find(|l| l.name == line)?;
        line.paper.iter().find(|(name, _)| name == measure).map(|(_, value)| *value)
    }

    /// Returns the name that the command takes: the id, or the file.
    pub(crate) fn name_or_file(&self) -> &str {
        if BUILTIN.iter().any(|(id, text)| *id == self.id && *text == self.source.text()) {
            &self.id
        } else {
            self.source.file()
        }
    }

    /// Returns whether a measure or a curve may read the record of a link: whether it has the function `link`.
    /// Queues are time series of links, which the scenario requests.
    pub(crate) fn reads_links(&self) -> bool {
        let curves = self.panels.iter().flat_map(|panel| &panel.curves).map(|curve| &curve.span);
        let mut spans = self.measures.iter().map(|measure| &measure.span).chain(curves);
        spans.any(|span| {
            self.source.text().get(span.clone()).is_none_or(|text| text.contains("link"))
        })
    }

    /// Returns whether the experiment has a sweep.
    pub(crate) fn is_swept(&self) -> bool {
        self.sweep.label.is_some()
    }
}

#[cfg(test)]
mod tests;
