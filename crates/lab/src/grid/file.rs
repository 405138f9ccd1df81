//! A grid file: the scenario, the swept keys, the senders and the seeds.

use std::path::Path;

use toml::{Table, Value};
use unruffled_units::hint;

use super::axis::{self, Axis};
use super::quantity::MAX_POINTS;
use super::sample::{Hypercube, Sample};
use unruffled_scenario::{
    BUILTIN, Document, Error, Place, Scenario, flags, place_of_variants, text, unreadable,
};

/// A grid file that has been checked.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The name that errors give the scenario, and its text.
    pub(super) scenario: (String, String),
    /// The overrides of the scenario at every point: those of the file, then those from outside.
    pub(super) set: Vec<String>,
    /// The number of overrides in `set` that are the file's own.
    own: usize,
    /// The axes, all of whose values are combined.
    axes: Vec<Axis>,
    sample: Option<Sample>,
    source: Document,
}

/// The keys of the scenario that a grid file has beside `scenario`.
const SCENARIO_KEYS: [&str; 3] = ["variants", "seeds", "duration"];

/// The keys of a grid file.
const KEYS: [&str; 7] = ["scenario", "variants", "seeds", "duration", "set", "grid", "sample"];

impl Grid {
    /// Reads a grid file. The scenario is a built-in one, or a file relative to the folder of the
    /// grid file, unless `scenario` has the name and the text of another one. `overrides` are
    /// applied after those of the file.
    ///
    /// # Errors
    /// A missing or invalid file.
    pub fn load(
        path: &Path,
        scenario: Option<(String, String)>,
        overrides: &[String],
    ) -> Result<Self, crate::Error> {
        let name = path.display().to_string();
        let text = text::read(path).map_err(|reason| match unreadable(path, reason) {
            Error::Missing { name, .. } if BUILTIN.iter().any(|(builtin, _)| *builtin == name) => {
                let hint = format!("; {name} is a scenario: expected a grid file");
                Error::Missing { name, hint }
            }
            other => other,
        })?;
        Ok(Self::read(&name, path, &text, scenario, overrides)?)
    }

    /// Reads a grid from `text`, which errors call `file`.
    ///
    /// # Errors
    /// An invalid grid. The error names the place and what was expected.
    pub fn parse(
        file: &str,
        text: &str,
        scenario: Option<(String, String)>,
        overrides: &[String],
    ) -> Result<Self, crate::Error> {
        Ok(Self::read(file, Path::new(file), text, scenario, overrides)?)
    }

    fn read(
        file: &str,
        path: &Path,
        text: &str,
        scenario: Option<(String, String)>,
        overrides: &[String],
    ) -> Result<Self, Error> {
        let source = Document::parse(file, text)?;
        let table: Table = source.read()?;
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let meant = hint(key, KEYS);
            let message = format!("unknown key: expected one of {}{meant}", KEYS.join(", "));
            return Err(source.wrong_at(&[key], message));
        }
        for key in ["set", "grid", "sample"] {
            if table.get(key).is_some_and(|value| !value.is_table()) {
                return Err(source.wrong_at(&[key], format!("expected a table [{key}]")));
            }
        }
        let scenario = match scenario {
            Some(scenario) => scenario,
            None => named(table.get("scenario"), path, &source)?,
        };
        let mut set = Vec::new();
        for (key, value) in axis::keys_of(table.get("set"), |_| false) {
            flags::dotted(&key)
                .map_err(|error| source.wrong_at(&["set", &key], error.to_string()))?;
            if SCENARIO_KEYS.contains(&key.as_str()) && table.contains_key(&key) {
                let message = format!("expected this or {key} beside scenario, not both");
                return Err(source.wrong_at(&["set", &key], message));
            }
            set.push(format!("{key}={value}"));
        }
        for key in SCENARIO_KEYS {
            set.extend(table.get(key).map(|value| format!("{key}={value}")));
        }
        let own = set.len();
        set.extend_from_slice(overrides);
        let axes = axis::read_all("grid", table.get("grid"), &source)?;
        let sample = table.get("sample").and_then(Value::as_table);
        let sample = sample.map(|sample| Sample::read(sample, &source)).transpose()?;
        let grid = Self { scenario, set, own, axes, sample, source };
        let keys: Vec<&str> = grid.keys().collect();
        if let Some((_, key)) = keys.iter().enumerate().find(|(at, k)| keys[..*at].contains(k)) {
            return Err(grid.wrong(&["grid", key], "stands twice: expected each key once"));
        }
        Ok(grid)
    }

    /// Returns the name that errors give the file, and its text.
    pub(crate) fn text(&self) -> (&str, &str) {
        (self.source.file(), self.source.text())
    }

    /// Returns the overrides from outside the file.
    pub(crate) fn outside(&self) -> &[String] {
        &self.set[self.own..]
    }

    /// Returns the overrides from outside that replace keys beside `scenario`: the key, its value
    /// in the file, and the new value.
    pub fn replaced(&self) -> Vec<(&'static str, String, String)> {
        let (own, outside) = self.set.split_at(self.own);
        let value = |of: &[String], key: &str| {
            let set = of.iter().rfind(|set| flags::key(set) == key)?;
            set.split_once('=').map(|(_, value)| value.trim().to_owned())
        };
        let both = |key| Some((key, value(own, key)?, value(outside, key)?));
        SCENARIO_KEYS.into_iter().filter_map(both).collect()
    }

    /// Returns the swept keys in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let drawn = self.sample.iter().flat_map(|sample| &sample.axes);
        self.axes.iter().chain(drawn).map(|axis| axis.key.as_str())
    }

    /// Returns the Latin hypercube that the caller has to draw, if the file has one.
    pub fn hypercube(&self) -> Option<Hypercube> {
        self.sample.as_ref().and_then(Sample::hypercube)
    }

    /// Returns the values of the keys at each point. `hypercube` has the requested points as
    /// numbers from 0 to 1.
    pub(super) fn points(&self, hypercube: Option<&[f64]>) -> Result<Vec<Vec<String>>, Error> {
        let mut all: Vec<Vec<String>> = Vec::new();
        for axis in &self.axes {
            let wrong = |message: String| self.wrong(&["grid", &axis.key], message);
            all.push(axis.all().map_err(wrong)?);
        }
        // Without a sample there is a single point without keys.
        let drawn = match &self.sample {
            None => vec![Vec::new()],
            Some(sample) => sample.draw(hypercube, &self.source)?,
        };
        let total = all.iter().map(Vec::len).chain([drawn.len()]);
        let total = total.fold(1_usize, usize::saturating_mul);
        if total > MAX_POINTS {
            let message = format!("expected at most {MAX_POINTS} points, found {total}");
            return Err(self.wrong(&["grid"], message));
        }
        let mut points: Vec<Vec<String>> = vec![Vec::new()];
        for values in &all {
            let with = |point: &Vec<String>| {
                let point = point.clone();
                values.iter().map(move |value| [&point[..], std::slice::from_ref(value)].concat())
            };
            points = points.iter().flat_map(with).collect();
        }
        let with = |point: &Vec<String>| {
            let point = point.clone();
            drawn.iter().map(move |values| [&point[..], values].concat())
        };
        Ok(points.iter().flat_map(with).collect())
    }

    /// Rejects a key that is both swept and set, or swept twice, in any notation. `overrides` are
    /// those of a point.
    pub(super) fn check_once(&self, overrides: &[String]) -> Result<(), Error> {
        let (file, text) = &self.scenario;
        let whole = Scenario::replaced(file, text, overrides).map_err(|e| self.blame(e))?;
        let (set, swept) = whole.split_at(self.set.len());
        // Overrides from outside may replace those of the file.
        let twice = |of: &[String]| (0..of.len()).find(|&at| of[..at].contains(&of[at]));
        if let Some(at) = twice(&set[..self.own]) {
            let written = flags::key(&self.set[at]);
            let message = "stands twice: expected each key once";
            return Err(self.wrong_in(self.section(written), written, message));
        }
        if let Some(at) = twice(&set[self.own..]) {
            return Err(flags::twice(flags::key(&self.set[self.own + at])));
        }
        let section = |at: usize| if at < self.axes.len() { "grid" } else { "sample.keys" };
        for (at, (whole, key)) in swept.iter().zip(self.keys()).enumerate() {
            if swept[..at].contains(whole) {
                return Err(self.wrong(&[section(at), key], "stands twice: expected each key once"));
            }
            let Some(by) = set.iter().rposition(|set| set == whole) else { continue };
            let message = format!("expected a key that is not swept, as {}.{key} is", section(at));
            let written = flags::key(&self.set[by]);
            return Err(if by >= self.own {
                Error::Key {
                    place: Place::CommandLine("--set"),
                    key: written.to_owned(),
                    message: format!("{message} in {}", self.source.file()),
                }
            } else {
                self.wrong_in(self.section(written), written, message)
            });
        }
        Ok(())
    }

    /// Returns the error with its place in the file, if it is about a key of the file.
    pub(super) fn blame(&self, error: Error) -> Error {
        let senders = self.origin("variants");
        match (error, senders) {
            (Error::Key { place: Place::CommandLine("--set"), key, message }, _) => {
                match self.origin(&key) {
                    Some((section, written)) => self.wrong_in(section, written, message),
                    None => Error::Key { place: Place::CommandLine("--set"), key, message },
                }
            }
            (Error::Variant { source, .. }, Some((section, written))) => {
                self.wrong_in(section, written, source.to_string())
            }
            (Error::Twice { name, .. }, Some((section, written))) => {
                let message = format!("{name} stands twice: expected each once");
                self.wrong_in(section, written, message)
            }
            (other, _) => other,
        }
    }

    /// Returns the section that sets a key of the scenario, and the key as written there; none if
    /// it is set from outside.
    fn origin(&self, key: &str) -> Option<(&'static str, &str)> {
        let is_named = |written: &str| {
            let before = key.strip_suffix(written);
            before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
        };
        let drawn = self.sample.iter().flat_map(|sample| &sample.axes);
        let swept = self.axes.iter().map(|axis| ("grid", axis));
        let mut swept = swept.chain(drawn.map(|axis| ("sample.keys", axis)));
        if let Some((section, axis)) = swept.find(|(_, axis)| is_named(&axis.key)) {
            return Some((section, &axis.key));
        }
        let keys = self.set.iter().map(|set| flags::key(set));
        let (at, key) = keys.enumerate().rfind(|(_, key)| is_named(key))?;
        (at < self.own).then(|| (self.section(key), key))
    }

    /// Returns the section in which the file sets a key that is not swept.
    fn section(&self, key: &str) -> &'static str {
        let beside = SCENARIO_KEYS.contains(&key) && self.source.find(&[key]).is_some();
        if beside { "" } else { "set" }
    }

    /// Returns the place of the names of senders outside this file.
    pub(super) fn place_of_variants(&self) -> String {
        place_of_variants(&self.scenario.0, &self.set[self.own..])
    }

    pub(super) fn wrong(&self, path: &[&str], message: impl Into<String>) -> Error {
        self.source.wrong_at(path, message)
    }

    /// Returns an error at a key of a section, which may be dotted, or empty.
    fn wrong_in(&self, section: &str, key: &str, message: impl Into<String>) -> Error {
        let path: Vec<&str> = section.split_terminator('.').chain([key]).collect();
        self.wrong(&path, message)
    }
}

/// Returns the name and the text of the scenario that the grid file at `path` names.
fn named(name: Option<&Value>, path: &Path, source: &Document) -> Result<(String, String), Error> {
    let wrong = |message: String| source.wrong_at(&["scenario"], message);
    match name {
        Some(Value::String(name)) if !name.trim().is_empty() => {
            let folder = path.parent().unwrap_or(Path::new(""));
            Scenario::text_beside(folder, name).map_err(|refused| wrong(refused.to_string()))
        }
        _ => Err(wrong("expected a scenario's name, such as \"rr-3\", or its file".to_owned())),
    }
}
