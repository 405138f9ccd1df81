//! The scenario of each run of an experiment.

use rhai::Engine;
use unruffled_tcp::Variant;

use super::model::{Base, Experiment, Formula, Line, Point, Setting};
use crate::expression::{self, ExpressionError};
use unruffled_scenario::Scenario;
use unruffled_scenario::{Error, Place};

/// The sender of lines that name none; the traffic of their scenario names its own.
const USUAL_VARIANT: &str = "sack";

impl Experiment {
    /// Returns the scenario and the sender of a line at a point.
    ///
    /// # Errors
    /// Invalid settings. The error names their place in the experiment's file.
    pub(crate) fn scenario(
        &self,
        line: &Line,
        point: &Point,
    ) -> Result<(Scenario, Variant), Error> {
        self.scenario_of(self.quick, line, point)
    }

    /// Returns the scenario and the sender in the quick or in the full version.
    ///
    /// # Errors
    /// Invalid settings.
    pub(crate) fn scenario_of(
        &self,
        quick: bool,
        line: &Line,
        point: &Point,
    ) -> Result<(Scenario, Variant), Error> {
        let engine = expression::engine();
        let mut overrides = Vec::new();
        for setting in self.scenario.set.iter().chain(&line.set).chain(self.quick_set(quick)) {
            overrides.push(self.assignment(&engine, setting, point)?);
        }
        let scenario = match &self.scenario.base {
            Base::Named(name, span) => {
                if !unruffled_scenario::BUILTIN.iter().any(|(builtin, _)| builtin == name) {
                    let names: Vec<&str> =
                        unruffled_scenario::BUILTIN.iter().map(|b| b.0).collect();
                    let message = format!("{name}: expected one of {}", names.join(", "));
                    return Err(self.wrong(span, message));
                }
                Scenario::load(name, &overrides)
            }
            Base::Inline(text) => Scenario::parse(self.source.file(), text, &overrides),
            Base::None => Err(self.wrong(&line.span, "expected a [scenario]")),
        };
        let scenario = scenario.map_err(|error| self.blame(error, quick, line))?;
        // A run is identified by its scenario's TOML, whose keys may be in another order. The
        // scenario must be read from that TOML.
        let scenario = Scenario::parse(self.source.file(), &scenario.toml, &[])?;
        if let (None, Some(group)) = (&line.variant, scenario.of_variant()) {
            let message =
                format!("expected a variant beside it, which sends traffic.{}", group.name);
            return Err(self.wrong(&line.span, message));
        }
        let name = line.variant.as_deref().unwrap_or(USUAL_VARIANT);
        let mut variant =
            Variant::parse(name).map_err(|e| self.wrong(&line.span, e.to_string()))?;
        scenario.parametrise(&mut variant).map_err(|error| self.blame(error, quick, line))?;
        Ok((scenario, variant))
    }

    /// Returns the additional settings of the quick version.
    fn quick_set(&self, quick: bool) -> impl Iterator<Item = &Setting> {
        self.scenario.quick_set.iter().filter(move |_| quick)
    }

    /// Returns the value of a line's formula at a point.
    pub(crate) fn formula(
        &self,
        engine: &Engine,
        formula: &Formula,
        point: &Point,
    ) -> Result<f64, Error> {
        expression::number(engine, &mut point.scope(), &formula.ast)
            .map_err(|error| self.wrong(&formula.span, error.to_string()))
    }

    /// Returns `KEY=VALUE` with the computed value.
    fn assignment(
        &self,
        engine: &Engine,
        setting: &Setting,
        point: &Point,
    ) -> Result<String, Error> {
        let value = computed(engine, &setting.value, point)
            .map_err(|error| self.wrong(&setting.span, error.to_string()))?;
        Ok(format!("{}={value}", setting.key))
    }

    /// Replaces the place of a scenario's error by its place in the experiment's file.
    fn blame(&self, error: Error, quick: bool, line: &Line) -> Error {
        let Error::Key { place, key, message } = error else { return error };
        let settings = self.quick_set(quick).chain(&line.set).chain(&self.scenario.set);
        let ending =
            |setting: &&Setting| key == setting.key || key.ends_with(&format!(".{}", setting.key));
        if let Some(setting) = settings.into_iter().find(ending) {
            return match self.wrong(&setting.span, message) {
                Error::Key { place, message, .. } => Error::Key { place, key, message },
                other => other,
            };
        }
        let path: Vec<&str> = ["scenario"].into_iter().chain(key.split('.')).collect();
        if let Some((place, key)) = self.source.find(&path) {
            return Error::Key { place, key, message };
        }
        let place = match place {
            Place::Line(..) | Place::CommandLine(_) => Place::File(self.source.file().to_owned()),
            place => place,
        };
        Error::Key { place, key: format!("scenario.{key}"), message }
    }
}

/// Returns the value with every `${…}` in its texts computed.
fn computed(
    engine: &Engine,
    value: &toml::Value,
    point: &Point,
) -> Result<toml::Value, ExpressionError> {
    Ok(match value {
        toml::Value::String(text) => {
            let text = expression::interpolate(engine, &mut point.scope(), text)?;
            toml::Value::String(text)
        }
        toml::Value::Array(values) => {
            let values = values.iter().map(|value| computed(engine, value, point));
            toml::Value::Array(values.collect::<Result<_, _>>()?)
        }
        other => other.clone(),
    })
}
