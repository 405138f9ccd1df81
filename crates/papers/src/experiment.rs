//! An experiment: one figure or table of a paper as data. What is run, what is measured of each run,
//! what the paper claims of it, and how it is drawn.
//!
//! docs/experiments.md describes the file format.

mod class;
mod file;
mod model;
mod reader;
mod scenarios;

use std::ops::Range;
use std::path::Path;

use unruffled_units::hint;

use crate::error::Error;
pub use class::{Cause, Class};
pub(crate) use file::Kind;
pub(crate) use model::{Check, Claim, Panel, TimeCurve};
pub use model::{Experiment, Line, Measure, Point, Remarks, Sweep};
use unruffled_scenario::{Document, is_path, missing, text};

include!(concat!(env!("OUT_DIR"), "/experiments.rs"));

impl Experiment {
    /// Loads an experiment that ships with the program by its id, or a file.
    ///
    /// # Errors
    /// No such experiment, or one that makes no sense.
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

    /// All that ship with the program, in the order of the papers.
    ///
    /// # Errors
    /// None, as the program's tests load each.
    pub fn all(quick: bool) -> Result<Vec<Self>, Error> {
        BUILTIN.iter().map(|(id, text)| Self::parse(id, text, quick)).collect()
    }

    /// Reads an experiment from `text`, which errors call `file`.
    ///
    /// # Errors
    /// One that makes no sense: says where, and what was expected.
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

    /// The experiment whose quick version this may be.
    pub(crate) fn in_full(&self) -> Result<Self, unruffled_scenario::Error> {
        Self::read(self.source.file(), self.source.text(), false)
    }

    /// An error about this experiment's file.
    pub(crate) fn wrong(
        &self,
        span: &Range<usize>,
        message: impl Into<String>,
    ) -> unruffled_scenario::Error {
        self.source.wrong(span, message)
    }

    /// The value that the paper prints for this measure of this line.
    pub(crate) fn paper_value(&self, measure: &str, line: &str) -> Option<f64> {
        let line = self.lines.iter().find(|l| l.name == line)?;
        line.paper.iter().find(|(name, _)| name == measure).map(|(_, value)| *value)
    }

    /// What the command calls it: its id, or its file.
    pub(crate) fn name_or_file(&self) -> &str {
        if BUILTIN.iter().any(|(id, text)| *id == self.id && *text == self.source.text()) {
            &self.id
        } else {
            self.source.file()
        }
    }

    /// Whether there is a sweep.
    pub(crate) fn is_swept(&self) -> bool {
        self.sweep.label.is_some()
    }
}

#[cfg(test)]
mod tests;
