//! The functions that claims may use, and their evaluation.

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{Array, Dynamic, Engine, EvalAltResult, Scope};

use super::samples::{Samples, short};
use super::verdict::{self, Verdict};
use super::{tolerance, verdict as is};
use crate::error::Error;
use crate::experiment::{Check, Claim, Experiment, expression};

type Outcome<T> = Result<T, Box<EvalAltResult>>;

/// The names of functions, which no measure may take.
const FUNCTIONS: [&str; 45] = [
    "above",
    "abs",
    "all",
    "any",
    "at",
    "at_least",
    "at_most",
    "below",
    "between",
    "close",
    "close_by",
    "falls",
    "first",
    "flat",
    "flat_by",
    "from",
    "last",
    "ln",
    "log",
    "max",
    "max_over_x",
    "mean",
    "mean_over_x",
    "min",
    "min_over_x",
    "near",
    "near_by",
    "not",
    "not_above",
    "not_below",
    "paper",
    "print",
    "rises",
    "seeds",
    "sqrt",
    "sum_over_x",
    "type_of",
    "upto",
    "within",
    "within_everywhere",
    "x",
    "x_of_max",
    "x_of_min",
    "debug",
    "eval",
];

/// Whether a function has the name.
pub(crate) fn is_taken(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// What was measured: by line, measure, point and seed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) values: Vec<Vec<Vec<Vec<f64>>>>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Judged {
    Tested(Verdict),
    /// Why not.
    NotTested(String),
}

/// Judges the claims of an experiment.
pub(crate) struct Claims<'a> {
    experiment: &'a Experiment,
    engine: Engine,
    /// The point that an expression asked for in vain.
    missing: Rc<RefCell<Option<String>>>,
}

impl<'a> Claims<'a> {
    /// For claims of `experiment` about what was `found`.
    pub(crate) fn new(experiment: &'a Experiment, found: Found) -> Self {
        let mut engine = expression::engine();
        let missing = Rc::new(RefCell::new(None));
        arithmetic(&mut engine);
        selections(&mut engine, &missing);
        verdicts(&mut engine);
        measures(&mut engine, experiment, found);
        Self { experiment, engine, missing }
    }

    /// Whether the claim holds.
    ///
    /// # Errors
    /// An expression that makes no sense.
    pub(crate) fn judge(&self, claim: &Claim) -> Result<Judged, Error> {
        let ast = match &claim.check {
            Check::NotTested(why) => return Ok(Judged::NotTested(why.clone())),
            Check::Expression(ast) => ast,
        };
        self.missing.take();
        let result = self.engine.eval_ast_with_scope::<Dynamic>(&mut Scope::new(), ast);
        // The quick sweep has fewer points: what it cannot say is no failure.
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

    /// Judges all claims with made-up numbers: what makes no sense should be known before the runs.
    pub(crate) fn rehearse(experiment: &Experiment) -> Result<(), Error> {
        let seeds = |i: usize| (0..experiment.seeds).map(|s| 1.0 + i as f64 + s as f64).collect();
        let points: Vec<Vec<f64>> = (0..experiment.sweep.points.len()).map(seeds).collect();
        let measures = vec![points; experiment.measures.len()];
        let found = Found { values: vec![measures; experiment.lines.len()] };
        let claims = Claims::new(experiment, found);
        experiment.claims.iter().try_for_each(|claim| claims.judge(claim).map(drop))
    }
}

fn refused(message: String) -> Box<EvalAltResult> {
    message.into()
}

/// What a value is, in words.
fn kind(value: &Dynamic) -> &'static str {
    if value.is::<Samples>() {
        "measured values"
    } else if value.is::<Verdict>() {
        "a verdict"
    } else if value.is_array() {
        "a list"
    } else if value.is_string() {
        "a text"
    } else if expression::as_number(value).is_some() {
        "a number"
    } else {
        "something else"
    }
}

/// Samples, or a number as samples.
fn samples(value: Dynamic) -> Outcome<Samples> {
    if let Some(number) = expression::as_number(&value) {
        return Ok(Samples::number(number));
    }
    let found = kind(&value);
    let message = format!("expected measured values or a number, found {found}");
    value.try_cast::<Samples>().ok_or_else(|| refused(message))
}

/// One, or each of a list.
fn several(value: Dynamic) -> Outcome<Vec<Samples>> {
    if !value.is_array() {
        return Ok(vec![samples(value)?]);
    }
    let list = value.into_array().map_err(|found| refused(format!("expected a list: {found}")))?;
    let list: Vec<Samples> = list.into_iter().map(samples).collect::<Outcome<_>>()?;
    if list.is_empty() {
        Err(refused("expected a list that is not empty".to_owned()))
    } else {
        Ok(list)
    }
}

fn number(value: Dynamic) -> Outcome<f64> {
    if let Some(number) = expression::as_number(&value) {
        return Ok(number);
    }
    // A single measured value will do for a limit.
    let found = kind(&value);
    match value.try_cast::<Samples>() {
        Some(samples) if samples.x.len() == 1 => Ok(samples.mean()),
        _ => Err(refused(format!("expected a number, found {found}"))),
    }
}

fn arithmetic(engine: &mut Engine) {
    engine.register_type_with_name::<Samples>("measured values");
    engine.register_type_with_name::<Verdict>("verdict");
    type Operation = fn(f64, f64) -> f64;
    let operations: [(&'static str, Operation); 4] =
        [("+", |a, b| a + b), ("-", |a, b| a - b), ("*", |a, b| a * b), ("/", |a, b| a / b)];
    for (sign, f) in operations {
        let apply = move |a: &Samples, b: &Samples| {
            let side = |s: &Samples| match &*s.label {
                label if label.contains(" - ") || label.contains(" + ") => format!("({label})"),
                label => label.to_owned(),
            };
            let loose = sign == "+" || sign == "-";
            let label = if loose {
                format!("{} {sign} {}", a.label, b.label)
            } else {
                format!("{} {sign} {}", side(a), side(b))
            };
            a.zip(b, label, f).map_err(refused)
        };
        engine.register_fn(sign, move |a: Samples, b: Samples| apply(&a, &b));
        engine.register_fn(sign, move |a: Samples, b: f64| apply(&a, &Samples::number(b)));
        engine.register_fn(sign, move |a: Samples, b: i64| apply(&a, &Samples::number(b as f64)));
        engine.register_fn(sign, move |a: f64, b: Samples| apply(&Samples::number(a), &b));
        engine.register_fn(sign, move |a: i64, b: Samples| apply(&Samples::number(a as f64), &b));
    }
    engine.register_fn("-", |a: Samples| a.map(format!("-{}", a.label), |v| -v));
    type Function = fn(f64) -> f64;
    let each: [(&'static str, Function); 4] =
        [("abs", f64::abs), ("sqrt", f64::sqrt), ("ln", f64::ln), ("log", f64::log10)];
    for (name, f) in each {
        engine.register_fn(name, move |a: Samples| a.map(format!("{name} of {}", a.label), f));
    }
    let of_both: [(&'static str, Operation); 2] = [("max", f64::max), ("min", f64::min)];
    for (name, f) in of_both {
        engine.register_fn(name, move |a: Samples, b: Samples| {
            a.zip(&b, format!("{name} of {}, {}", a.label, b.label), f).map_err(refused)
        });
        engine.register_fn(name, move |list: Array| -> Outcome<Samples> {
            let mut list = list.into_iter().map(samples);
            let first = list.next().ok_or_else(|| refused("expected a list".to_owned()))??;
            list.try_fold(first, |a, b| {
                let b = b?;
                a.zip(&b, format!("{name} of {}, {}", a.label, b.label), f).map_err(refused)
            })
        });
    }
    engine.register_fn("mean", |list: Array| -> Outcome<Samples> {
        let count = list.len() as f64;
        let mut list = list.into_iter().map(samples);
        let first = list.next().ok_or_else(|| refused("expected a list".to_owned()))??;
        let label = |a: &Samples, b: &Samples| format!("{}, {}", a.label, b.label);
        let sum = list.try_fold(first, |a, b| {
            let b = b?;
            a.zip(&b, label(&a, &b), |a, b| a + b).map_err(refused)
        })?;
        Ok(sum.map(format!("mean of {}", sum.label), |v| v / count))
    });
}

/// Some of the points, or one made of them.
fn selections(engine: &mut Engine, missing: &Rc<RefCell<Option<String>>>) {
    let missing = Rc::clone(missing);
    let chosen = move |a: &Samples, what: String, keep: &dyn Fn(f64) -> bool| {
        let selected = a.select(format!("{}{what}", a.label), keep);
        selected.ok_or_else(|| {
            let message = format!("no point{what}");
            missing.replace(Some(message.clone()));
            refused(format!("{message}: expected some of the values of [x]"))
        })
    };
    // Twelve digits, so that 0.1 + 0.2 finds 0.3.
    let same = |x: f64, y: f64| (x - y).abs() <= 1e-12 * f64::max(x.abs(), y.abs());
    let choose = chosen.clone();
    engine.register_fn("at", move |a: Samples, x: Dynamic| {
        let x = number(x)?;
        choose(&a, format!(" at {}", short(x)), &|y| same(x, y))
    });
    let choose = chosen.clone();
    engine.register_fn("from", move |a: Samples, x: Dynamic| {
        let x = number(x)?;
        choose(&a, format!(" from {} on", short(x)), &|y| y >= x)
    });
    let choose = chosen.clone();
    engine.register_fn("upto", move |a: Samples, x: Dynamic| {
        let x = number(x)?;
        choose(&a, format!(" up to {}", short(x)), &|y| y <= x)
    });
    engine.register_fn("between", move |a: Samples, low: Dynamic, high: Dynamic| {
        let (low, high) = (number(low)?, number(high)?);
        let what = format!(" from {} to {}", short(low), short(high));
        chosen(&a, what, &|y| y >= low && y <= high)
    });
    let end = |a: &Samples, last: bool| {
        let at = if last { a.x.len().saturating_sub(1) } else { 0 };
        let label = format!("{}{}", a.label, a.place(at));
        Samples { label: label.into(), x: vec![a.x[at]], values: vec![a.values[at].clone()] }
    };
    engine.register_fn("first", move |a: Samples| end(&a, false));
    engine.register_fn("last", move |a: Samples| end(&a, true));
    type Reduction = fn(&[f64]) -> f64;
    let reductions: [(&'static str, &'static str, Reduction); 4] = [
        ("mean_over_x", "mean over all points of", |v| v.iter().sum::<f64>() / v.len() as f64),
        ("sum_over_x", "sum over all points of", |v| v.iter().sum()),
        ("min_over_x", "minimum of", |v| v.iter().copied().fold(f64::NAN, f64::min)),
        ("max_over_x", "maximum of", |v| v.iter().copied().fold(f64::NAN, f64::max)),
    ];
    for (name, words, f) in reductions {
        let reduce = move |a: Samples| a.over_points(format!("{words} {}", a.label), f);
        engine.register_fn(name, reduce);
    }
    for (name, sign) in [("x_of_max", 1.0), ("x_of_min", -1.0)] {
        engine.register_fn(name, move |a: Samples| {
            let means = a.means();
            let value = |i: &usize| sign * means[*i];
            let best = (0..means.len()).max_by(|i, j| value(i).total_cmp(&value(j)));
            let x = best.and_then(|i| a.x[i]).unwrap_or(f64::NAN);
            let which = if sign > 0.0 { "maximum" } else { "minimum" };
            Samples::number(x).labelled(format!("place of the {which} of {}", a.label))
        });
    }
    engine.register_fn("seeds", |a: Samples| a.values.first().map_or(0, Vec::len) as i64);
}

fn verdicts(engine: &mut Engine) {
    type Pair = fn(&Samples, &Samples) -> Result<Verdict, String>;
    let pairs: [(&'static str, Pair); 5] = [
        ("above", is::above),
        ("below", is::below),
        ("not_below", is::not_below),
        ("not_above", is::not_above),
        ("close", |a, b| verdict::close_by(a, b, tolerance::CLOSE)),
    ];
    for (name, f) in pairs {
        engine.register_fn(name, move |a: Dynamic, b: Dynamic| -> Outcome<Verdict> {
            let (a, b) = (several(a)?, several(b)?);
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
            let verdicts = pairs.map(|(a, b)| f(a, b)).collect::<Result<_, _>>();
            Ok(verdict::of_pairs(verdicts.map_err(refused)?, &a, &b))
        });
    }
    engine.register_fn("close_by", |a: Dynamic, b: Dynamic, share: Dynamic| {
        verdict::close_by(&samples(a)?, &samples(b)?, number(share)?).map_err(refused)
    });
    type Limit = fn(&Samples, f64) -> Verdict;
    let limits: [(&'static str, Limit); 4] = [
        ("at_least", is::at_least),
        ("at_most", is::at_most),
        ("near", is::near),
        ("flat_by", is::flat_by),
    ];
    for (name, f) in limits {
        engine.register_fn(name, move |a: Dynamic, limit: Dynamic| -> Outcome<Verdict> {
            Ok(f(&samples(a)?, number(limit)?))
        });
    }
    type Range = fn(&Samples, f64, f64) -> Verdict;
    let ranges: [(&'static str, Range); 3] = [
        ("within", is::within),
        ("within_everywhere", is::within_everywhere),
        ("near_by", is::near_by),
    ];
    for (name, f) in ranges {
        let judge = move |a: Dynamic, low: Dynamic, high: Dynamic| -> Outcome<Verdict> {
            Ok(f(&samples(a)?, number(low)?, number(high)?))
        };
        engine.register_fn(name, judge);
    }
    engine.register_fn("falls", |a: Samples| is::falls(&a).map_err(refused));
    engine.register_fn("rises", |a: Samples| is::rises(&a).map_err(refused));
    engine.register_fn("flat", |a: Samples| is::flat_by(&a, tolerance::CLOSE));
    engine.register_fn("not", is::not);
    for (name, all) in [("all", true), ("any", false)] {
        engine.register_fn(name, move |list: Array| -> Outcome<Verdict> {
            let verdict = |value: Dynamic| {
                let found = kind(&value);
                let message = format!("expected a list of verdicts, found {found}");
                value.try_cast::<Verdict>().ok_or_else(|| refused(message))
            };
            let list: Vec<Verdict> = list.into_iter().map(verdict).collect::<Outcome<_>>()?;
            Ok(is::joined(list, all))
        });
    }
}

/// Each measure as a function of a line's name.
fn measures(engine: &mut Engine, experiment: &Experiment, found: Found) {
    let lines: Vec<String> = experiment.lines.iter().map(|l| l.name.clone()).collect();
    let lines: Rc<[String]> = lines.into();
    let x: Vec<f64> = experiment.sweep.points.iter().map(|p| p.x).collect();
    let swept = experiment.is_swept();
    let found = Rc::new(found);
    let place = |lines: &[String], name: &str| {
        lines.iter().position(|l| l == name).ok_or_else(|| {
            let expected = lines.join(", ");
            refused(format!("no line {name:?}: expected one of {expected}"))
        })
    };
    for (m, measure) in experiment.measures.iter().enumerate() {
        let (lines, x, found) = (Rc::clone(&lines), x.clone(), Rc::clone(&found));
        let name = measure.name.replace('_', " ");
        // What there is one of need not be named.
        let single = (experiment.measures.len() == 1, experiment.lines.len() == 1);
        let has: Vec<bool> = experiment.lines.iter().map(|line| measure.is_of(line)).collect();
        let of = move |line: &str| -> Outcome<Samples> {
            let at = place(&lines, line)?;
            if !has[at] {
                return Err(refused(format!("{name} is not measured of {line:?}")));
            }
            let label = match single {
                (_, true) => name.clone(),
                (true, false) => line.to_owned(),
                (false, false) => format!("{name} of {line}"),
            };
            let mut samples = Samples::new(&label, &x, found.values[at][m].clone());
            if !swept {
                samples.x = vec![None];
            }
            Ok(samples)
        };
        engine.register_fn(measure.name.as_str(), of);
    }
    let place_of = experiment.lines.iter().map(|l| (l.name.clone(), l.paper.clone()));
    let printed: Vec<(String, Vec<(String, f64)>)> = place_of.collect();
    engine.register_fn("paper", move |measure: &str, line: &str| -> Outcome<f64> {
        let line = printed.iter().find(|(name, _)| name == line);
        let value = line.and_then(|(_, values)| values.iter().find(|(name, _)| name == measure));
        value.map(|(_, value)| *value).ok_or_else(|| {
            refused(format!("the line gives no {measure}: expected paper = {{ {measure} = … }}"))
        })
    });
    let x: Vec<f64> = experiment.sweep.points.iter().map(|p| p.x).collect();
    let values: Vec<Vec<f64>> = x.iter().map(|&x| vec![x]).collect();
    let places = Samples::new("x", &x, values);
    engine.register_fn("x", move || places.clone());
}

#[cfg(test)]
mod tests;
