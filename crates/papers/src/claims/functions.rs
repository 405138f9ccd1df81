//! The functions of claims: arithmetic with samples, choices of points, and verdicts.

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{Array, Dynamic, Engine};

use super::combine::{MAX_PARTS, joined, not, of_pairs};
use super::limits::{
    at_least, at_most, close_by, flat_by, near, near_by, within, within_everywhere,
};
use super::ordering::{above, below, falls, not_above, not_below, rises};
use super::samples::{Mismatch, Samples, finite};
use super::tolerance;
use super::values::{function_error, kind, number, samples, several};
use super::verdict::Verdict;
use crate::expression::{self, Evaluated, Function, OF_REALS};
use unruffled_lab::text::short;

/// The names of functions, which measures cannot have.
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

/// Returns whether a function has this name.
pub(crate) fn is_taken(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Returns an engine with all functions. A function that looks up an absent point stores its
/// description in `missing`.
pub(crate) fn engine(missing: &Rc<RefCell<Option<String>>>) -> Engine {
    let mut engine = expression::engine();
    arithmetic(&mut engine);
    selections(&mut engine, missing);
    verdicts(&mut engine);
    engine
}

/// Registers arithmetic, and functions of each value.
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
            a.zip(b, label, f).map_err(function_error)
        };
        engine.register_fn(sign, move |a: Samples, b: Samples| apply(&a, &b));
        engine.register_fn(sign, move |a: Samples, b: f64| apply(&a, &Samples::number(b)));
        engine.register_fn(sign, move |a: Samples, b: i64| apply(&a, &Samples::number(b as f64)));
        engine.register_fn(sign, move |a: f64, b: Samples| apply(&Samples::number(a), &b));
        engine.register_fn(sign, move |a: i64, b: Samples| apply(&Samples::number(a as f64), &b));
    }
    engine.register_fn("-", |a: Samples| a.map(format!("-{}", a.label), |v| -v));
    for (name, f) in OF_REALS.into_iter().chain([("abs", f64::abs as Function)]) {
        engine.register_fn(name, move |a: Samples| a.map(format!("{name} of {}", a.label), f));
    }
    let of_both: [(&'static str, Operation); 2] = [("max", f64::max), ("min", f64::min)];
    for (name, f) in of_both {
        engine.register_fn(name, move |a: Samples, b: Samples| {
            a.zip(&b, format!("{name} of {}, {}", a.label, b.label), f).map_err(function_error)
        });
        engine.register_fn(name, move |list: Array| -> Evaluated<Samples> {
            let mut list = list.into_iter().map(samples);
            let first =
                list.next().ok_or_else(|| function_error("expected a list".to_owned()))??;
            list.try_fold(first, |a, b| {
                let b = b?;
                a.zip(&b, format!("{name} of {}, {}", a.label, b.label), f).map_err(function_error)
            })
        });
    }
    engine.register_fn("mean", |list: Array| -> Evaluated<Samples> {
        let count = list.len() as f64;
        let mut list = list.into_iter().map(samples);
        let first = list.next().ok_or_else(|| function_error("expected a list".to_owned()))??;
        let label = |a: &Samples, b: &Samples| format!("{}, {}", a.label, b.label);
        let sum = list.try_fold(first, |a, b| {
            let b = b?;
            a.zip(&b, label(&a, &b), |a, b| a + b).map_err(function_error)
        })?;
        Ok(sum.map(format!("mean of {}", sum.label), |v| v / count))
    });
}

/// Registers functions that choose points, or combine them into one.
fn selections(engine: &mut Engine, missing: &Rc<RefCell<Option<String>>>) {
    let missing = Rc::clone(missing);
    let chosen = move |a: &Samples, what: String, keep: &dyn Fn(f64) -> bool| {
        let selected = a.select(format!("{}{what}", a.label), keep);
        selected.ok_or_else(|| {
            let message = format!("no point{what}");
            missing.replace(Some(message.clone()));
            function_error(format!("{message}: expected some of the values of [x]"))
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
        Samples::of(label.into(), [a.x[at]].into(), vec![a.values[at].clone()])
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
            let known = means.iter().all(|mean| mean.is_finite());
            let best = (0..means.len()).max_by(|i, j| value(i).total_cmp(&value(j)));
            let x = best.filter(|_| known).and_then(|i| a.x[i]).unwrap_or(f64::NAN);
            let which = if sign > 0.0 { "maximum" } else { "minimum" };
            Samples::number(x).labelled(format!("place of the {which} of {}", a.label))
        });
    }
    engine.register_fn("seeds", |a: Samples| a.values.first().map_or(0, Vec::len) as i64);
}

/// Registers comparisons of samples with each other and with numbers of the paper.
fn verdicts(engine: &mut Engine) {
    type Pair = fn(&Samples, &Samples) -> Result<Verdict, Mismatch>;
    let pairs: [(&'static str, Pair); 5] = [
        ("above", above),
        ("below", below),
        ("not_below", not_below),
        ("not_above", not_above),
        ("close", |a, b| close_by(a, b, tolerance::MAX_DIFFERENCE)),
    ];
    for (name, f) in pairs {
        engine.register_fn(name, move |a: Dynamic, b: Dynamic| -> Evaluated<Verdict> {
            let (a, b) = (several(a)?, several(b)?);
            at_most_parts(a.len() * b.len())?;
            let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
            let verdicts = pairs.map(|(a, b)| f(a, b)).collect::<Result<_, _>>();
            Ok(of_pairs(verdicts.map_err(function_error)?, &a, &b))
        });
    }
    engine.register_fn("close_by", |a: Dynamic, b: Dynamic, share: Dynamic| {
        close_by(&samples(a)?, &samples(b)?, finite(number(share)?)).map_err(function_error)
    });
    type Limit = fn(&Samples, f64) -> Verdict;
    let limits: [(&'static str, Limit); 4] =
        [("at_least", at_least), ("at_most", at_most), ("near", near), ("flat_by", flat_by)];
    for (name, f) in limits {
        engine.register_fn(name, move |a: Dynamic, limit: Dynamic| -> Evaluated<Verdict> {
            Ok(f(&samples(a)?, finite(number(limit)?)))
        });
    }
    type Range = fn(&Samples, f64, f64) -> Verdict;
    let ranges: [(&'static str, Range); 2] =
        [("within", within), ("within_everywhere", within_everywhere)];
    for (name, f) in ranges {
        let judge = move |a: Dynamic, low: Dynamic, high: Dynamic| -> Evaluated<Verdict> {
            let (low, high) = (finite(number(low)?), finite(number(high)?));
            if low > high {
                let (low, high) = (short(low), short(high));
                let message = format!("expected the lower end first, found {low} to {high}");
                return Err(function_error(message));
            }
            Ok(f(&samples(a)?, low, high))
        };
        engine.register_fn(name, judge);
    }
    engine.register_fn(
        "near_by",
        |a: Dynamic, to: Dynamic, share: Dynamic| -> Evaluated<Verdict> {
            Ok(near_by(&samples(a)?, finite(number(to)?), finite(number(share)?)))
        },
    );
    engine.register_fn("falls", |a: Samples| falls(&a).map_err(function_error));
    engine.register_fn("rises", |a: Samples| rises(&a).map_err(function_error));
    engine.register_fn("flat", |a: Samples| flat_by(&a, tolerance::MAX_DIFFERENCE));
    engine.register_fn("not", not);
    for (name, all) in [("all", true), ("any", false)] {
        engine.register_fn(name, move |list: Array| -> Evaluated<Verdict> {
            let verdict = |value: Dynamic| {
                let found = kind(&value);
                let message = format!("expected a list of verdicts, found {found}");
                value.try_cast::<Verdict>().ok_or_else(|| function_error(message))
            };
            if list.is_empty() {
                return Err(function_error("expected a list that is not empty"));
            }
            at_most_parts(list.len())?;
            let list: Vec<Verdict> = list.into_iter().map(verdict).collect::<Evaluated<_>>()?;
            Ok(joined(list, all))
        });
    }
}

/// Rejects too many verdicts in one.
fn at_most_parts(count: usize) -> Evaluated<()> {
    let most = MAX_PARTS;
    let message =
        || function_error(format!("expected at most {most} comparisons in one, found {count}"));
    if count > most { Err(message()) } else { Ok(()) }
}
