//! The evaluation of claims on measured numbers.

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{Dynamic, Engine, Scope};

use crate::claims::{self, Samples, Verdict, function_error, kind};
use crate::experiment::{Check, Claim, Experiment, Line};
use crate::expression::{self, Evaluated};
use unruffled_scenario::Error;

/// The measured numbers by line, measure, point and seed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) values: Vec<Vec<Vec<Vec<f64>>>>,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Judged {
    Tested(Verdict),
    /// Why the claim was not tested.
    NotTested(String),
}

/// An evaluator of the claims of an experiment.
pub(crate) struct Claims<'a> {
    experiment: &'a Experiment,
    engine: Engine,
    /// The last absent point that an expression looked up.
    missing: Rc<RefCell<Option<String>>>,
}

impl<'a> Claims<'a> {
    /// Returns an evaluator for the claims of `experiment` on the numbers `found`.
    pub(crate) fn new(experiment: &'a Experiment, found: Found) -> Self {
        let missing = Rc::new(RefCell::new(None));
        let mut engine = claims::engine(&missing);
        measures(&mut engine, experiment, found);
        Self { experiment, engine, missing }
    }

    /// Evaluates a claim.
    ///
    /// # Errors
    /// An invalid expression.
    pub(crate) fn judge(&self, claim: &Claim) -> Result<Judged, Error> {
        let ast = match &claim.check {
            Check::NotTested(why) => return Ok(Judged::NotTested(why.clone())),
            Check::Expression(ast) => ast,
        };
        self.missing.take();
        let result = self.engine.eval_ast_with_scope::<Dynamic>(&mut Scope::new(), ast);
        // The quick sweep has fewer points. An absent point is no failure there.
        if let (Err(_), true, Some(what)) =
            (&result, self.experiment.quick, self.missing.borrow().as_ref())
        {
            return Ok(Judged::NotTested(format!("{what}, in the quick run")));
        }
        let wrong = |message: String| self.experiment.wrong(&claim.span, message);
        let value = result.map_err(|e| wrong(expression::plain(&e)))?;
        let found = kind(&value);
        let verdict = value.try_cast::<Verdict>();
        let verdict = verdict.ok_or_else(|| {
            wrong(format!("expected a verdict, such as above(a, b), found {found}"))
        })?;
        Ok(Judged::Tested(verdict))
    }

    /// Evaluates all claims with made-up numbers, to report errors before the runs. The full sweep
    /// shows which points are absent altogether.
    pub(crate) fn rehearse(experiment: &Experiment) -> Result<(), Error> {
        if experiment.quick {
            Self::rehearse(&experiment.in_full()?)?;
        }
        let seeds = |i: usize| (0..experiment.seeds).map(|s| 1.0 + i as f64 + s as f64).collect();
        let points: Vec<Vec<f64>> = (0..experiment.sweep.points.len()).map(seeds).collect();
        let measures = vec![points; experiment.measures.len()];
        let found = Found { values: vec![measures; experiment.lines.len()] };
        let claims = Claims::new(experiment, found);
        experiment.claims.iter().try_for_each(|claim| claims.judge(claim).map(drop))
    }
}

/// Registers each measure as a function of a line's name.
fn measures(engine: &mut Engine, experiment: &Experiment, found: Found) {
    let lines: Vec<String> = experiment.lines.iter().map(|l| l.name.clone()).collect();
    let lines: Rc<[String]> = lines.into();
    let x: Vec<f64> = experiment.sweep.points.iter().map(|p| p.x).collect();
    let swept = experiment.is_swept();
    let place = |lines: &[String], name: &str| {
        lines.iter().position(|l| l == name).ok_or_else(|| {
            let expected = lines.join(", ");
            function_error(format!("no line {name:?}: expected one of {expected}"))
        })
    };
    for (m, measure) in experiment.measures.iter().enumerate() {
        let names = Rc::clone(&lines);
        let name = measure.name.replace('_', " ");
        // The only line need not be named.
        let single = (experiment.measures.len() == 1, experiment.lines.len() == 1);
        let samples = |(line, of_line): (&Line, &Vec<Vec<Vec<f64>>>)| {
            let label = match single {
                (_, true) => name.clone(),
                (true, false) => line.name.clone(),
                (false, false) => format!("{name} of {}", line.name),
            };
            let values = of_line[m].clone();
            measure.is_of(line).then(|| match swept {
                true => Samples::new(&label, &x, values),
                false => Samples::of(label.into(), [None].into(), values),
            })
        };
        // Shared by all calls, because a list may contain it thousands of times.
        let all = experiment.lines.iter().zip(&found.values).map(samples);
        let all: Vec<Option<Samples>> = all.collect();
        let of = move |line: &str| -> Evaluated<Samples> {
            let samples = all[place(&names, line)?].clone();
            samples.ok_or_else(|| function_error(format!("{name} is not measured of {line:?}")))
        };
        engine.register_fn(measure.name.as_str(), of);
    }
    let place_of = experiment.lines.iter().map(|l| (l.name.clone(), l.paper.clone()));
    let printed: Vec<(String, Vec<(String, f64)>)> = place_of.collect();
    engine.register_fn("paper", move |measure: &str, line: &str| -> Evaluated<f64> {
        let line = printed.iter().find(|(name, _)| name == line);
        let value = line.and_then(|(_, values)| values.iter().find(|(name, _)| name == measure));
        value.map(|(_, value)| *value).ok_or_else(|| {
            function_error(format!(
                "the line gives no {measure}: expected paper = {{ {measure} = … }}"
            ))
        })
    });
    let x: Vec<f64> = experiment.sweep.points.iter().map(|p| p.x).collect();
    let values: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
    let places = Samples::new("x", &x, values);
    engine.register_fn("x", move || places.clone());
}

#[cfg(test)]
mod tests;
