//! Checks an experiment's file and compiles its expressions.

mod panels;

use std::ops::Range;

use rhai::{AST, Engine};
use toml::Spanned;

use super::class::{Cause, Class};
use super::file;
use super::model::{
    Base, Check, Claim, Experiment, Formula, Line, Measure, Point, Remarks, Scenarios, Setting,
    Sweep,
};
use crate::expression;
use unruffled_scenario::{Document, Error, Place, flags, leaves};

/// The number of seeds of a full sweep without `seeds`; quick sweeps have one.
const DEFAULT_SEEDS: u64 = 5;

/// The most points of a sweep: many times the points of any figure, and few enough for memory.
const MAX_POINTS: usize = 10_000;

/// Reads the experiment that `file` describes. Its text is `source`.
pub(super) fn read(source: Document, file: file::File, quick: bool) -> Result<Experiment, Error> {
    Reader { source, quick, engine: expression::engine() }.experiment(file)
}

struct Reader {
    source: Document,
    quick: bool,
    engine: Engine,
}

impl Reader {
    fn experiment(self, file: file::File) -> Result<Experiment, Error> {
        let id = file.id.get_ref();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if id.is_empty() || !id.chars().all(plain) {
            let message = format!("expected letters, digits and hyphens, found {id:?}");
            return Err(self.source.wrong(&file.id.span(), message));
        }
        let names = [("paper", &file.paper), ("figure", &file.figure), ("title", &file.title)];
        if let Some((key, _)) = names.iter().find(|(_, name)| name.trim().is_empty()) {
            let message = "expected what it is called, found no words";
            return Err(self.source.wrong_at(&[key], message));
        }
        let seeds = match &file.seeds {
            None if self.quick => 1,
            None => DEFAULT_SEEDS,
            Some(seeds) => {
                let usual = Spanned::new(0..0, 1);
                let quick = seeds.quick.as_ref().unwrap_or(&usual);
                let chosen = if self.quick { quick } else { &seeds.full };
                if !(1..=1000).contains(chosen.get_ref()) {
                    let message = "expected a whole number from 1 to 1000";
                    return Err(self.source.wrong(&chosen.span(), message));
                }
                *chosen.get_ref()
            }
        };
        let sweep = self.sweep(file.x.as_ref())?;
        let base = match &file.scenario {
            None => Base::None,
            Some(scenario) => match scenario.get_ref() {
                toml::Value::String(name) => Base::Named(name.clone(), scenario.span()),
                toml::Value::Table(table) => {
                    if let Some((key, message)) = table.keys().find_map(|key| each_runs_own(key)) {
                        return Err(self.source.wrong_at(&["scenario", key], message));
                    }
                    let mut table = table.clone();
                    // A comparison requires these keys; each run has its own name and sender.
                    let name = || toml::Value::String(id.clone());
                    table.entry("name").or_insert_with(name);
                    let senders = || toml::Value::Array(vec!["sack".into()]);
                    table.entry("variants").or_insert_with(senders);
                    Base::Inline(toml::to_string(&table).unwrap_or_default())
                }
                _ => {
                    let message = "expected a table of a scenario's keys, or a scenario's name";
                    return Err(self.source.wrong(&scenario.span(), message));
                }
            },
        };
        let measures = self.measures(&file)?;
        let lines = self.lines(&file, &measures, &base)?;
        let panels = self.panels(&file, &measures, &lines, &sweep)?;
        let claims = self.claims(&file)?;
        let (set, quick_set) = (self.settings(&file.set)?, self.settings(&file.quick_set)?);
        Ok(Experiment {
            id: id.clone(),
            paper: file.paper,
            figure: file.figure,
            title: file.title,
            section: file.section,
            remarks: Remarks { assumed: file.assumed, notes: file.notes.trim().to_owned() },
            sweep,
            lines,
            measures,
            panels,
            claims,
            seeds,
            quick: self.quick,
            scenario: Scenarios { base, set, quick_set },
            source: self.source,
        })
    }

    /// Rejects more points than [`MAX_POINTS`].
    fn at_most_points(&self, points: usize, span: &Range<usize>) -> Result<(), Error> {
        let message = || format!("expected at most {MAX_POINTS} points, found {points}");
        if points > MAX_POINTS { Err(self.source.wrong(span, message())) } else { Ok(()) }
    }

    fn sweep(&self, x: Option<&file::X>) -> Result<Sweep, Error> {
        let Some(x) = x else {
            let point = Point { x: 0.0, variables: Vec::new() };
            return Ok(Sweep { label: None, log: false, even: false, points: vec![point] });
        };
        let points = match (&x.values, &x.grid) {
            (Some(full), None) => {
                let values = x.quick.as_ref().filter(|_| self.quick).unwrap_or(full);
                self.at_most_points(values.get_ref().len(), &values.span())?;
                let sorted = values.get_ref().is_sorted_by(|a, b| a < b)
                    && values.get_ref().iter().all(|value| value.is_finite());
                if values.get_ref().is_empty() || !sorted {
                    let message = "expected numbers, each greater than the one before";
                    return Err(self.source.wrong(&values.span(), message));
                }
                if x.log && values.get_ref().iter().any(|&value| value <= 0.0) {
                    let message = "expected numbers above 0 on a logarithmic axis";
                    return Err(self.source.wrong(&values.span(), message));
                }
                let point = |&x: &f64| Point { x, variables: Vec::new() };
                values.get_ref().iter().map(point).collect()
            }
            (None, Some(full)) => {
                let grid = x.quick_grid.as_ref().filter(|_| self.quick).unwrap_or(full);
                let counts = grid.get_ref().values().map(Vec::len);
                self.at_most_points(counts.fold(1, usize::saturating_mul), &grid.span())?;
                let mut points = vec![Vec::new()];
                for (name, values) in grid.get_ref() {
                    let with = |point: &Vec<_>, value: f64| {
                        let mut point = point.clone();
                        point.push((name.clone(), value));
                        point
                    };
                    points = points
                        .iter()
                        .flat_map(|point| values.iter().map(move |&value| with(point, value)))
                        .collect();
                }
                let finite = grid.get_ref().values().flatten().all(|value| value.is_finite());
                if points.is_empty() || grid.get_ref().is_empty() || !finite {
                    let message = "expected lists of numbers by name, none of them empty";
                    return Err(self.source.wrong(&grid.span(), message));
                }
                let numbered = |(i, variables)| Point { x: i as f64 + 1.0, variables };
                points.into_iter().enumerate().map(numbered).collect()
            }
            (Some(values), Some(_)) => {
                return Err(self.source.wrong(&values.span(), "expected either values or a grid"));
            }
            (None, None) => {
                let (place, key) = self.source.find(&["x"]).unwrap_or_else(|| {
                    (Place::File(self.source.file().to_owned()), "x".to_owned())
                });
                let message = "expected values = [1, 2, 5] or a grid".to_owned();
                return Err(Error::Key { place, key, message });
            }
        };
        let even = match &x.even {
            Some(even) if *even.get_ref() && x.log => {
                let message = "expected a logarithmic axis or an even one, not both";
                return Err(self.source.wrong(&even.span(), message));
            }
            even => even.as_ref().is_some_and(|even| *even.get_ref()),
        };
        Ok(Sweep { label: Some(x.label.clone()), log: x.log, even, points })
    }

    fn compile(&self, text: &Spanned<String>) -> Result<AST, Error> {
        expression::compile(&self.engine, text.get_ref())
            .map_err(|error| self.source.wrong(&text.span(), error.to_string()))
    }

    fn measures(&self, file: &file::File) -> Result<Vec<Measure>, Error> {
        let mut measures: Vec<Measure> = Vec::new();
        for measure in file.measure.iter().map(Spanned::get_ref) {
            let name = measure.name.get_ref();
            let mut letters = name.chars();
            let plain = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
                && letters.all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !plain || crate::claims::is_taken(name) {
                let message = format!(
                    "expected a name that no function has, of letters, digits and _, found {name:?}"
                );
                return Err(self.source.wrong(&measure.name.span(), message));
            }
            if measures.iter().any(|m| m.name == *name) {
                let message = format!("{name} stands twice: expected each once");
                return Err(self.source.wrong(&measure.name.span(), message));
            }
            if let Some(lines) = &measure.lines {
                let known = |l: &String| file.line.iter().any(|k| k.get_ref().name.get_ref() == l);
                if let Some(unknown) = lines.get_ref().iter().find(|l| !known(l)) {
                    let message = format!("no line {unknown:?}: expected names of lines");
                    return Err(self.source.wrong(&lines.span(), message));
                }
            }
            measures.push(Measure {
                name: name.clone(),
                label: measure.label.clone().unwrap_or_else(|| name.clone()),
                lines: measure.lines.as_ref().map(|l| l.get_ref().clone()).unwrap_or_default(),
                ast: self.compile(&measure.value)?,
                span: measure.value.span(),
            });
        }
        if measures.is_empty() {
            let message = "missing: expected at least one [[measure]]";
            return Err(self.missing("measure", message));
        }
        Ok(measures)
    }

    fn missing(&self, key: &str, message: &str) -> Error {
        let place = Place::File(self.source.file().to_owned());
        Error::Key { place, key: key.to_owned(), message: message.to_owned() }
    }

    fn measure(&self, measures: &[Measure], name: &Spanned<String>) -> Result<usize, Error> {
        measures.iter().position(|m| m.name == *name.get_ref()).ok_or_else(|| {
            let names: Vec<&str> = measures.iter().map(|m| m.name.as_str()).collect();
            let expected = names.join(", ");
            let message = format!("no measure {:?}: expected one of {expected}", name.get_ref());
            self.source.wrong(&name.span(), message)
        })
    }

    /// Checks that a name is not blank.
    fn name<'a>(&self, name: &'a Spanned<String>) -> Result<&'a String, Error> {
        if name.get_ref().trim().is_empty() {
            return Err(self.source.wrong(&name.span(), "expected a name, found no words"));
        }
        Ok(name.get_ref())
    }

    fn lines(
        &self,
        file: &file::File,
        measures: &[Measure],
        base: &Base,
    ) -> Result<Vec<Line>, Error> {
        let mut lines: Vec<Line> = Vec::new();
        for spanned in &file.line {
            let line = spanned.get_ref();
            let name = self.name(&line.name)?;
            if lines.iter().any(|l| l.name == *name) {
                let message = format!("{name} stands twice: expected each once");
                return Err(self.source.wrong(&line.name.span(), message));
            }
            let formula = match &line.formula {
                None => None,
                Some(text) => Some(Formula {
                    ast: self.compile(text)?,
                    measure: match &line.measure {
                        Some(name) => self.measure(measures, name)?,
                        None => 0,
                    },
                    span: text.span(),
                }),
            };
            if formula.is_none() && matches!(base, Base::None) {
                let message = "missing: expected a [scenario], as not all lines are formulae";
                return Err(self.missing("scenario", message));
            }
            if let (Some(variant), Some(_)) = (&line.variant, &formula) {
                let message = "expected a variant or a formula, which has no runs, not both";
                return Err(self.source.wrong(&variant.span(), message));
            }
            if formula.is_some() {
                let set = line.set.keys().next().map(Spanned::span);
                if let Some(span) = set.or(line.group.as_ref().map(Spanned::span)) {
                    let message = "expected for a line with runs, and a formula has none";
                    return Err(self.source.wrong(&span, message));
                }
            }
            if let (Some(measure), None) = (&line.measure, &formula) {
                let message = "expected beside a formula only";
                return Err(self.source.wrong(&measure.span(), message));
            }
            let mut paper = Vec::new();
            for (name, value) in &line.paper {
                self.measure(measures, name)?;
                paper.push((name.get_ref().clone(), *value));
            }
            if let Some(variant) = &line.variant {
                unruffled_tcp::Variant::parse(self.name(variant)?)
                    .map_err(|reason| self.source.wrong(&variant.span(), reason.to_string()))?;
            }
            lines.push(Line {
                name: name.clone(),
                label: line.label.clone().unwrap_or_else(|| name.clone()),
                variant: line.variant.as_ref().map(|v| v.get_ref().clone()),
                group: line.group.as_ref().map(|group| group.get_ref().clone()),
                paper,
                formula,
                set: self.settings(&line.set)?,
                span: line.name.span(),
            });
        }
        if lines.is_empty() {
            return Err(self.missing("line", "missing: expected at least one [[line]]"));
        }
        Ok(lines)
    }

    fn claims(&self, file: &file::File) -> Result<Vec<Claim>, Error> {
        let mut claims: Vec<Claim> = Vec::new();
        for claim in &file.claim {
            let claim = claim.get_ref();
            let text = claim.text.get_ref();
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.is_empty() {
                let message = "expected what the paper says, found no words";
                return Err(self.source.wrong(&claim.text.span(), message));
            }
            if claims.iter().any(|c| c.text == text) {
                let message = "stands twice: expected each claim once";
                return Err(self.source.wrong(&claim.text.span(), message));
            }
            let (check, span) = match (&claim.check, &claim.not_tested) {
                (Some(check), None) => {
                    (Check::Expression(Box::new(self.compile(check)?)), check.span())
                }
                (None, Some(why)) => (Check::NotTested(why.clone()), claim.text.span()),
                _ => {
                    let message = "expected beside it either check or not-tested";
                    return Err(self.source.wrong(&claim.text.span(), message));
                }
            };
            let known = claim.known.as_ref().map(|k| k.get_ref().trim().to_owned());
            claims.push(Claim {
                text,
                source: claim.source.clone(),
                check,
                expected: claim.expected.clone(),
                known: known.filter(|k| !k.is_empty()),
                cause: self.cause(claim)?,
                other_reading: claim.other_reading.clone(),
                span,
            });
        }
        Ok(claims)
    }

    /// Reads why a claim fails, if the file has that.
    fn cause(&self, claim: &file::Claim) -> Result<Option<Cause>, Error> {
        let (class, why) = match (&claim.class, &claim.why) {
            (None, None) => return Ok(None),
            (Some(class), Some(why)) => (class, why),
            (Some(class), None) => {
                return Err(self.source.wrong(&class.span(), "expected why beside it"));
            }
            (None, Some(why)) => {
                return Err(self.source.wrong(&why.span(), "expected class beside it"));
            }
        };
        let beside = [
            (claim.known.is_some(), "expected either this and why, or known"),
            (
                claim.other_reading.is_some(),
                "expected for claims that count, not with other-reading",
            ),
            (claim.not_tested.is_some(), "expected with check, not with not-tested"),
        ];
        if let Some((_, message)) = beside.iter().find(|(stands, _)| *stands) {
            return Err(self.source.wrong(&class.span(), *message));
        }
        let found = Class::named(class.get_ref()).ok_or_else(|| {
            let names = Class::ALL.map(Class::name).join(", ");
            let message = format!("expected one of {names}, found {:?}", class.get_ref());
            self.source.wrong(&class.span(), message)
        })?;
        let words = why.get_ref().trim();
        if !words.contains(|c: char| c.is_ascii_digit()) {
            let message = format!("expected a reason with numbers, found {words:?}");
            return Err(self.source.wrong(&why.span(), message));
        }
        Ok(Some(Cause { class: found, why: words.to_owned() }))
    }

    /// Reads settings with dotted keys, written as such or as tables.
    fn settings(&self, table: &file::Settings) -> Result<Vec<Setting>, Error> {
        let mut settings = Vec::new();
        for (key, value) in table {
            let (key, span) = (key.get_ref(), key.span());
            let mut set = |key: String, value: &toml::Value| {
                settings.push(Setting { key, value: value.clone(), span: span.clone() });
            };
            match value.get_ref() {
                toml::Value::Table(inner) => {
                    for (below, value) in leaves(inner, |_| false) {
                        set(format!("{key}.{below}"), value);
                    }
                }
                value => set(key.clone(), value),
            }
        }
        for setting in &settings {
            if let Some((_, message)) = each_runs_own(&setting.key) {
                return Err(self.source.wrong(&setting.span, message));
            }
        }
        for setting in &settings {
            flags::dotted(&setting.key)
                .map_err(|error| self.source.wrong(&setting.span, error.to_string()))?;
        }
        Ok(settings)
    }
}

/// The error of a key that would be ignored: each run has its own seed and sender.
fn each_runs_own(key: &str) -> Option<(&str, &'static str)> {
    match key {
        "seeds" => Some((key, "not for experiments: expected full = 5 below [seeds]")),
        "variants" => Some((key, "not for experiments: expected a variant in each [[line]]")),
        _ => None,
    }
}
