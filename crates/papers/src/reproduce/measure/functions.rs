//! The functions of measures.

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{Array, Dynamic, Engine, EvalAltResult};
use unruffled_measure::{Series, jain};

use super::super::curve::TimeSeries;
use super::run::{Run, value};
use crate::expression::{self, Evaluated};

/// Registers the functions. They read the run that `run` holds when they are called.
pub(super) fn register(engine: &mut Engine, run: &Rc<RefCell<Run>>) {
    of_goodput(engine, run);
    of_flows(engine, run);
    of_lists(engine);
    of_links(engine, run);
    of_time(engine, run);
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// The standard deviation divided by the mean.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    square.sqrt() / mean
}

fn max(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

fn min(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

fn fairness(values: &[f64]) -> f64 {
    jain(values.iter().copied())
}

/// A function that reduces several numbers to one.
type Reduction = fn(&[f64]) -> f64;

const GOODPUT: &str = "goodput_bps";

/// Registers a function of goodputs: `name()` for the line's flows, `name("group")` for the flows
/// of that group.
fn of_goodput(engine: &mut Engine, run: &Rc<RefCell<Run>>) {
    let functions: [(&'static str, Reduction); 5] = [
        ("goodput", sum),
        ("mean_goodput", mean),
        ("jain", fairness),
        ("cov", variation),
        ("flows", |values| values.len() as f64),
    ];
    for (name, f) in functions {
        let at = Rc::clone(run);
        engine.register_fn(name, move || -> Evaluated<f64> {
            Ok(f(&at.borrow().values(GOODPUT, None)?))
        });
        let at = Rc::clone(run);
        engine.register_fn(name, move |group: &str| -> Evaluated<f64> {
            Ok(f(&at.borrow().values(GOODPUT, Some(group))?))
        });
    }
    // The mean goodput divided by that of the flows of all named groups.
    let at = Rc::clone(run);
    engine.register_fn("normalised", move |group: &str, among: Array| -> Evaluated<f64> {
        let run = at.borrow();
        let mut all = Vec::new();
        for name in among {
            let name = name.into_string().map_err(|found| {
                Box::<EvalAltResult>::from(format!("expected names of groups, found {found}"))
            })?;
            all.extend(run.values(GOODPUT, Some(&name))?);
        }
        Ok(mean(&run.values(GOODPUT, Some(group))?) / mean(&all))
    });
}

/// Registers a function of any field: `name("field")` for the line's flows, `name("field",
/// "group")` for the flows of that group.
fn of_flows(engine: &mut Engine, run: &Rc<RefCell<Run>>) {
    let functions: [(&'static str, Reduction); 4] =
        [("sum", sum), ("mean", mean), ("max", max), ("min", min)];
    for (name, f) in functions {
        let at = Rc::clone(run);
        engine.register_fn(name, move |field: &str| -> Evaluated<f64> {
            Ok(f(&at.borrow().values(field, None)?))
        });
        let at = Rc::clone(run);
        engine.register_fn(name, move |field: &str, group: &str| -> Evaluated<f64> {
            Ok(f(&at.borrow().values(field, Some(group))?))
        });
    }
    let list =
        |values: Vec<f64>| -> Array { values.into_iter().map(Dynamic::from_float).collect() };
    let at = Rc::clone(run);
    engine.register_fn("per_flow", move |field: &str| -> Evaluated<Array> {
        Ok(list(at.borrow().values(field, None)?))
    });
    let at = Rc::clone(run);
    engine.register_fn("per_flow", move |field: &str, group: &str| -> Evaluated<Array> {
        Ok(list(at.borrow().values(field, Some(group))?))
    });
}

/// Registers functions of lists of numbers.
fn of_lists(engine: &mut Engine) {
    let numbers = |list: Array| -> Evaluated<Vec<f64>> {
        let number = |value: Dynamic| {
            let found = value.type_name();
            let wrong = || format!("expected a list of numbers, found {found}").into();
            expression::as_number(&value).ok_or_else(wrong)
        };
        list.into_iter().map(number).collect()
    };
    let functions: [(&'static str, Reduction); 6] = [
        ("sum", sum),
        ("mean", mean),
        ("max", max),
        ("min", min),
        ("jain", fairness),
        ("cov", variation),
    ];
    for (name, f) in functions {
        engine.register_fn(name, move |list: Array| -> Evaluated<f64> { Ok(f(&numbers(list)?)) });
    }
    engine.register_fn("count_below", move |list: Array, limit: Dynamic| -> Evaluated<f64> {
        let limit = expression::as_number(&limit).unwrap_or(f64::NAN);
        Ok(numbers(list)?.into_iter().filter(|v| *v < limit).count() as f64)
    });
}

fn of_links(engine: &mut Engine, run: &Rc<RefCell<Run>>) {
    let at = Rc::clone(run);
    engine.register_fn("link", move |name: &str, field: &str| -> Evaluated<f64> {
        let run = at.borrow();
        match run.record.links.iter().position(|link| link.name == name) {
            Some(i) => value(&run.links[i], field),
            None => {
                let names: Vec<&str> = run.record.links.iter().map(|l| l.name.as_str()).collect();
                Err(format!("no link {name:?}: expected one of {}", names.join(", ")).into())
            }
        }
    });
}

fn of_time(engine: &mut Engine, run: &Rc<RefCell<Run>>) {
    let at = Rc::clone(run);
    engine.register_fn("series", move |subject: &str, quantity: &str| -> Evaluated<TimeSeries> {
        at.borrow().series(subject, quantity)
    });
    // The sum over the sources of a group, such as `bulk-1`, at the times that all of them have.
    let at = Rc::clone(run);
    engine.register_fn(
        "group_series",
        move |group: &str, quantity: &str| -> Evaluated<TimeSeries> {
            let run = at.borrow();
            let numbered = |s: &str| {
                let number = s.strip_prefix(group).and_then(|rest| rest.strip_prefix('-'));
                s == group || number.is_some_and(|n| n.bytes().all(|c| c.is_ascii_digit()))
            };
            let mut total: Option<TimeSeries> = None;
            let of_group = |s: &&Series| s.quantity.name() == quantity && numbered(&s.subject);
            for series in run.record.series.iter().filter(of_group) {
                let curve = TimeSeries::new(series.points.clone());
                total = Some(match total {
                    None => curve,
                    // Other quantities are sampled at events of a flow, so there are no common
                    // times.
                    Some(_) if quantity != "goodput" => {
                        let message = format!("expected goodput, not {quantity}, of several flows");
                        return Err(message.into());
                    }
                    Some(total) => total.zip(&curve, |a, b| a + b),
                });
            }
            match total {
                Some(total) => Ok(total),
                // The error lists the alternatives.
                None => run.series(group, quantity),
            }
        },
    );
    engine.register_fn("finite", |value: f64, otherwise: Dynamic| -> f64 {
        let otherwise = expression::as_number(&otherwise).unwrap_or(f64::NAN);
        if value.is_finite() { value } else { otherwise }
    });
}
