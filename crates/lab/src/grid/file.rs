//! A grid file: the scenario, what is swept, with whom and how often.

use std::path::Path;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::{Table, Value};

use super::axis::Axis;
use crate::error::{Error, Place};
use crate::experiment::place::FileText;
use crate::scenario::BUILTIN;

/// What is swept, as a file has it.
#[derive(Clone, Debug)]
pub struct Grid {
    /// What errors call the scenario, and its text.
    pub(super) scenario: (String, String),
    /// Overrides of the scenario that hold at every point, the file's before those from outside.
    pub(super) set: Vec<String>,
    /// How many of these are the file's.
    own: usize,
    /// All combinations of these.
    axes: Vec<Axis>,
    sample: Option<Sample>,
    source: FileText,
}

/// Points that are drawn.
#[derive(Clone, Debug)]
struct Sample {
    points: usize,
    seed: u64,
    hypercube: bool,
    axes: Vec<Axis>,
}

/// A Latin hypercube that a grid asks for; SciPy draws it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypercube {
    /// How many points.
    pub points: usize,
    /// How many keys.
    pub dimensions: usize,
    /// What it is drawn from.
    pub seed: u64,
}

/// Points of a sweep at most.
const MOST: usize = 10_000_000;

/// The keys of the scenario that stand beside it.
const BESIDE: [&str; 3] = ["variants", "seeds", "duration"];

/// The keys of a grid file.
const KEYS: [&str; 7] = ["scenario", "variants", "seeds", "duration", "set", "grid", "sample"];

impl Grid {
    /// Reads a grid file. The scenario is one that ships with the program, or a file seen from the
    /// grid file's folder.
    ///
    /// # Errors
    /// No such file, or one that makes no sense.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, Error> {
        let name = path.display().to_string();
        let unreadable = |reason| Error::Unreadable { name: name.clone(), reason };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Self::parse(&name, &text, None, overrides)
    }

    /// Reads a grid from `text`, which errors call `file`; `scenario` has the name and the text of
    /// the one that stands for the file's. `overrides` come after those of the file.
    ///
    /// # Errors
    /// One that makes no sense: says where, and what was expected.
    pub fn parse(
        file: &str,
        text: &str,
        scenario: Option<(String, String)>,
        overrides: &[String],
    ) -> Result<Self, Error> {
        let source = FileText { file: file.to_owned(), text: text.to_owned() };
        let table: Table = toml::from_str(text).map_err(|e| source.syntax(&e))?;
        let wrong = |path: &[&str], message: String| source_error(&source, path, message);
        if let Some(key) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let message = format!("unknown key: expected one of {}", KEYS.join(", "));
            return Err(wrong(&[key], message));
        }
        let scenario = match (scenario, table.get("scenario")) {
            (Some(scenario), _) => scenario,
            (None, Some(Value::String(name))) => {
                found(file, name).map_err(|refused| wrong(&["scenario"], refused.to_string()))?
            }
            (None, _) => {
                let expected = "expected a scenario's name, such as \"rr-3\", or its file";
                return Err(wrong(&["scenario"], expected.to_owned()));
            }
        };
        let mut set = Vec::new();
        for (key, value) in leaves(table.get("set"), |_| false) {
            set.push(format!("{key}={value}"));
        }
        for key in BESIDE {
            set.extend(table.get(key).map(|value| format!("{key}={value}")));
        }
        let own = set.len();
        set.extend_from_slice(overrides);
        let axes = |section: &str, value: Option<&Value>| {
            let mut axes: Vec<Axis> = Vec::new();
            for (key, value) in leaves(value, |table| table.contains_key("from")) {
                let refused = |message| {
                    let path: Vec<&str> = section.split('.').chain([key.as_str()]).collect();
                    wrong(&path, message)
                };
                if ["name", "seeds", "variants"].contains(&key.as_str()) {
                    let message = format!("not for sweeps: expected {key} beside scenario");
                    return Err(refused(message));
                }
                axes.push(Axis::read(key.clone(), &value).map_err(refused)?);
            }
            Ok(axes)
        };
        let grid = axes("grid", table.get("grid"))?;
        let sample = match table.get("sample") {
            None => None,
            Some(Value::Table(sample)) => {
                let known = ["method", "points", "seed", "keys"];
                if let Some(key) = sample.keys().find(|key| !known.contains(&key.as_str())) {
                    let message = format!("unknown key: expected one of {}", known.join(", "));
                    return Err(wrong(&["sample", key], message));
                }
                let hypercube = match sample.get("method").map(Value::as_str) {
                    Some(Some("random")) => false,
                    Some(Some("latin")) => true,
                    _ => {
                        let message = "expected \"random\" or \"latin\"".to_owned();
                        return Err(wrong(&["sample", "method"], message));
                    }
                };
                let whole = |key: &str, least: u64, usual: Option<u64>| {
                    let given = match sample.get(key) {
                        None => usual,
                        Some(value) => value.as_integer().and_then(|n| u64::try_from(n).ok()),
                    };
                    let message = format!("expected a whole number from {least}");
                    given.filter(|n| *n >= least).ok_or_else(|| wrong(&["sample", key], message))
                };
                let (points, seed) = (whole("points", 1, None)?, whole("seed", 0, Some(1))?);
                let axes = axes("sample.keys", sample.get("keys"))?;
                if axes.is_empty() {
                    let message = "expected keys of the scenario to draw".to_owned();
                    return Err(wrong(&["sample", "keys"], message));
                }
                let points = usize::try_from(points).unwrap_or(usize::MAX);
                Some(Sample { points, seed, hypercube, axes })
            }
            Some(_) => return Err(wrong(&["sample"], "expected a table [sample]".to_owned())),
        };
        let grid = Self { scenario, set, own, axes: grid, sample, source };
        let keys: Vec<&str> = grid.keys().collect();
        if let Some((_, key)) = keys.iter().enumerate().find(|(at, k)| keys[..*at].contains(k)) {
            return Err(grid.wrong(&["grid", key], "stands twice: expected each key once"));
        }
        Ok(grid)
    }

    /// The keys that are swept, in the order of the file.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let drawn = self.sample.iter().flat_map(|sample| &sample.axes);
        self.axes.iter().chain(drawn).map(|axis| axis.key.as_str())
    }

    /// The Latin hypercube that somebody has to draw, if one is asked for.
    pub fn hypercube(&self) -> Option<Hypercube> {
        let sample = self.sample.as_ref().filter(|sample| sample.hypercube)?;
        let dimensions = sample.axes.len();
        Some(Hypercube { points: sample.points, dimensions, seed: sample.seed })
    }

    /// What the keys are set to, point by point. `hypercube` has the points that were asked for, each
    /// as so many numbers from 0 to 1.
    pub(super) fn points(&self, hypercube: Option<&[f64]>) -> Result<Vec<Vec<String>>, Error> {
        let mut all: Vec<Vec<String>> = Vec::new();
        for axis in &self.axes {
            let wrong = |message: String| self.wrong(&["grid", &axis.key], message);
            all.push(axis.all().map_err(wrong)?);
        }
        let drawn = self.drawn(hypercube)?;
        let total = all.iter().map(Vec::len).chain([drawn.len()]);
        let total = total.fold(1_usize, usize::saturating_mul);
        if total > MOST {
            let message = format!("expected at most {MOST} points, found {total}");
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

    /// The points that are drawn; a single one without keys where none are.
    fn drawn(&self, hypercube: Option<&[f64]>) -> Result<Vec<Vec<String>>, Error> {
        let Some(Sample { points, seed, axes, .. }) = &self.sample else {
            return Ok(vec![Vec::new()]);
        };
        if *points > MOST {
            let message = format!("expected at most {MOST}, found {points}");
            return Err(self.wrong(&["sample", "points"], message));
        }
        let wanted = points * axes.len();
        let shares = match self.hypercube() {
            Some(_) => {
                let fits = |shares: &&[f64]| {
                    shares.len() == wanted && shares.iter().all(|s| (0.0..=1.0).contains(s))
                };
                let message = format!("expected {wanted} numbers from 0 to 1 for the hypercube");
                let shares = hypercube.filter(fits);
                shares.ok_or_else(|| self.wrong(&["sample", "method"], message))?.to_vec()
            }
            None => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
                (0..wanted).map(|_| random.random::<f64>()).collect()
            }
        };
        let point = |shares: &[f64]| axes.iter().zip(shares).map(|(axis, &s)| axis.at(s)).collect();
        Ok(shares.chunks(axes.len()).map(point).collect())
    }

    /// The error with the place in the file that it is about, if it is about what the file sets.
    pub(super) fn blame(&self, error: Error) -> Error {
        match error {
            Error::Key { place: Place::CommandLine("--set"), key, message } => {
                match self.origin(&key) {
                    Some((section, written)) => {
                        let path: Vec<&str> =
                            section.split_terminator('.').chain([written]).collect();
                        self.wrong(&path, message)
                    }
                    None => Error::Key { place: Place::CommandLine("--set"), key, message },
                }
            }
            Error::Variant { place, reason } => match self.origin("variants") {
                Some(_) => self.wrong(&["variants"], reason.to_string()),
                None => Error::Variant { place, reason },
            },
            other => other,
        }
    }

    /// The section that sets a key of the scenario, and the key as it stands there; none where it is
    /// set from outside, which comes last but for the keys that are swept.
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
        let keys = self.set.iter().map(|set| set.split('=').next().unwrap_or_default().trim());
        let (at, key) = keys.enumerate().rfind(|(_, key)| is_named(key))?;
        let section = if BESIDE.contains(&key) { "" } else { "set" };
        (at < self.own).then_some((section, key))
    }

    fn wrong(&self, path: &[&str], message: impl Into<String>) -> Error {
        source_error(&self.source, path, message.into())
    }
}

/// An error at this key, or at the nearest table above it that is there.
fn source_error(source: &FileText, path: &[&str], message: String) -> Error {
    let key = path.join(".");
    let parts: Vec<&str> = path.iter().flat_map(|part| part.split('.')).collect();
    let there = source.find(path).or_else(|| source.find(&parts));
    let there = there.or_else(|| source.find(&parts[..1]));
    let place = there.map_or(Place::File(source.file.clone()), |(place, _)| place);
    Error::Key { place, key, message }
}

/// Name and text of the scenario that a grid file names.
fn found(file: &str, name: &str) -> Result<(String, String), Error> {
    if let Some((name, text)) = BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
        return Ok(((*name).to_owned(), (*text).to_owned()));
    }
    let beside = Path::new(file).parent().unwrap_or(Path::new("")).join(name);
    let read = std::fs::read_to_string(&beside);
    let text = read.map_err(|reason| match reason.kind() {
        std::io::ErrorKind::NotFound => Error::no_scenario(name, reason),
        _ => Error::Unreadable { name: beside.display().to_string(), reason },
    })?;
    Ok((beside.display().to_string(), text))
}

/// The dotted keys below `value` with their values, in the order of the file; a table for which
/// `is_leaf` holds is a value.
fn leaves(value: Option<&Value>, is_leaf: fn(&Table) -> bool) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    if let Some(Value::Table(table)) = value {
        walk("", table, is_leaf, &mut found);
    }
    found
}

fn walk(prefix: &str, table: &Table, is_leaf: fn(&Table) -> bool, into: &mut Vec<(String, Value)>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            Value::Table(inner) if !is_leaf(inner) => walk(&key, inner, is_leaf, into),
            value => into.push((key, value.clone())),
        }
    }
}
