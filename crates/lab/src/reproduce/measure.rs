//! The functions that measures may use of a run's record, and their evaluation.

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{AST, Array, Dynamic, Engine, EvalAltResult};
use serde::Serialize;
use serde_json::{Map, Value};
use unruffled_measure::{Quantity, RunRecord, jain};

use super::curve::{self, TimeSeries};
use crate::experiment::Point;
use crate::experiment::expression::{self, Evaluated, ExpressionError};

/// A run's record as expressions see it.
#[derive(Debug, Default)]
struct Run {
    record: RunRecord,
    /// The fields of each flow and each link by name.
    flows: Vec<Map<String, Value>>,
    links: Vec<Map<String, Value>>,
    /// The line's own group.
    group: Option<String>,
}

/// Evaluates measures.
pub(super) struct Meter {
    engine: Engine,
    run: Rc<RefCell<Run>>,
}

fn fields(of: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

impl Meter {
    pub(super) fn new() -> Self {
        let mut engine = expression::engine();
        let run = Rc::default();
        curve::register(&mut engine);
        of_flows(&mut engine, &run);
        of_links(&mut engine, &run);
        of_time(&mut engine, &run);
        Self { engine, run }
    }

    /// What follows is about this run.
    pub(super) fn turn_to(&self, record: RunRecord, group: Option<&str>) {
        let flows = record.flows.iter().map(fields).collect();
        let links = record.links.iter().map(fields).collect();
        self.run.replace(Run { record, flows, links, group: group.map(str::to_owned) });
    }

    /// Who sends in the line's group, or in all.
    pub(super) fn senders(&self) -> String {
        let run = self.run.borrow();
        let mut names: Vec<&str> = Vec::new();
        for flow in &run.record.flows {
            let own = run.group.as_ref().is_none_or(|group| *group == flow.group);
            if own && !names.contains(&flow.sender.as_str()) {
                names.push(&flow.sender);
            }
        }
        names.join(", ")
    }

    /// The number that the expression gives of the run.
    pub(super) fn number(&self, ast: &AST, point: &Point) -> Result<f64, ExpressionError> {
        expression::number(&self.engine, &mut point.scope(), ast)
    }

    /// The time series that the expression gives of the run.
    pub(super) fn curve(&self, ast: &AST, point: &Point) -> Result<TimeSeries, ExpressionError> {
        let value = self.engine.eval_ast_with_scope::<Dynamic>(&mut point.scope(), ast)?;
        let found = value.type_name();
        let expected = "a time series";
        value.try_cast().ok_or(ExpressionError::Kind { expected, found })
    }
}

impl Run {
    /// The values of `field` of the flows of a group: of the line's own if none is named, of all if
    /// the line has none.
    fn values(&self, field: &str, group: Option<&str>) -> Evaluated<Vec<f64>> {
        let group = group.or(self.group.as_deref());
        let mut values = Vec::new();
        for (flow, fields) in self.record.flows.iter().zip(&self.flows) {
            if group.is_none_or(|group| group == flow.group) {
                values.push(value(fields, field)?);
            }
        }
        match group {
            Some(group) if values.is_empty() => {
                let mut names: Vec<&str> = Vec::new();
                for flow in &self.record.flows {
                    if !names.contains(&flow.group.as_str()) {
                        names.push(&flow.group);
                    }
                }
                let expected = names.join(", ");
                Err(format!("no flows of {group:?}: expected one of {expected}").into())
            }
            _ => Ok(values),
        }
    }

    fn series(&self, subject: &str, quantity: &str) -> Evaluated<TimeSeries> {
        let wanted = Quantity::ALL.into_iter().find(|q| q.name() == quantity).ok_or_else(|| {
            let names = Quantity::ALL.map(Quantity::name).join(", ");
            format!("no quantity {quantity:?}: expected one of {names}")
        })?;
        let found =
            self.record.series.iter().find(|s| s.subject == subject && s.quantity == wanted);
        let found = found.ok_or_else(|| {
            let known = self.record.series.iter().filter(|s| s.quantity == wanted);
            let known: Vec<&str> = known.map(|s| s.subject.as_str()).collect();
            let expected = if known.is_empty() {
                format!("record.series = [{quantity:?}] in the scenario")
            } else {
                format!("one of {}", known.join(", "))
            };
            format!("no {quantity} of {subject:?}: expected {expected}")
        })?;
        Ok(TimeSeries { points: found.points.clone() })
    }
}

/// A field as a number; what a sender does not have is no number.
fn value(fields: &Map<String, Value>, name: &str) -> Evaluated<f64> {
    match fields.get(name) {
        Some(Value::Null) => Ok(f64::NAN),
        Some(Value::Number(number)) => Ok(number.as_f64().unwrap_or(f64::NAN)),
        _ => {
            let numeric = fields.iter().filter(|(_, v)| !v.is_string() && !v.is_array());
            let names: Vec<&str> = numeric.map(|(name, _)| name.as_str()).collect();
            Err(format!("no number {name:?}: expected one of {}", names.join(", ")).into())
        }
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn mean(values: &[f64]) -> f64 {
    sum(values) / values.len() as f64
}

/// Standard deviation over mean.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    square.sqrt() / mean
}

const GOODPUT: &str = "goodput_bps";

fn of_flows(engine: &mut Engine, run: &Rc<RefCell<Run>>) {
    type Reduction = fn(&[f64]) -> f64;
    // Of the goodputs, for short: name() of the line's flows, name("group") of that group's.
    let of_goodput: [(&'static str, Reduction); 4] = [
        ("goodput", sum),
        ("mean_goodput", mean),
        ("jain", |values| jain(values.iter().copied())),
        ("cov", variation),
    ];
    for (name, f) in of_goodput {
        let at = Rc::clone(run);
        engine.register_fn(name, move || -> Evaluated<f64> {
            Ok(f(&at.borrow().values(GOODPUT, None)?))
        });
        let at = Rc::clone(run);
        engine.register_fn(name, move |group: &str| -> Evaluated<f64> {
            Ok(f(&at.borrow().values(GOODPUT, Some(group))?))
        });
    }
    // Of any field: name("field") of the line's flows, name("field", "group") of that group's.
    let of_field: [(&'static str, Reduction); 4] = [
        ("sum", sum),
        ("mean", mean),
        ("max", |values| values.iter().copied().fold(f64::NAN, f64::max)),
        ("min", |values| values.iter().copied().fold(f64::NAN, f64::min)),
    ];
    for (name, f) in of_field {
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
    let at = Rc::clone(run);
    engine.register_fn("flows", move || -> Evaluated<f64> {
        Ok(at.borrow().values(GOODPUT, None)?.len() as f64)
    });
    let at = Rc::clone(run);
    engine.register_fn("flows", move |group: &str| -> Evaluated<f64> {
        Ok(at.borrow().values(GOODPUT, Some(group))?.len() as f64)
    });
    // Mean goodput over the mean of the flows of all named groups.
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
    let numbers = |list: Array| -> Evaluated<Vec<f64>> {
        let number = |value: Dynamic| {
            let found = value.type_name();
            let wrong = || format!("expected a list of numbers, found {found}").into();
            expression::as_number(&value).ok_or_else(wrong)
        };
        list.into_iter().map(number).collect()
    };
    let of_list: [(&'static str, Reduction); 6] = [
        ("sum", sum),
        ("mean", mean),
        ("max", |values| values.iter().copied().fold(f64::NAN, f64::max)),
        ("min", |values| values.iter().copied().fold(f64::NAN, f64::min)),
        ("jain", |values| jain(values.iter().copied())),
        ("cov", variation),
    ];
    for (name, f) in of_list {
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
    // The sum over the sources of a group, `bulk-1` and so on, at the times that all have.
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
            let of_group = |s: &&unruffled_measure::Series| {
                s.quantity.name() == quantity && numbered(&s.subject)
            };
            for series in run.record.series.iter().filter(of_group) {
                let curve = TimeSeries { points: series.points.clone() };
                total = Some(match total {
                    None => curve,
                    Some(total) => total.zip(&curve, |a, b| a + b),
                });
            }
            match total {
                Some(total) => Ok(total),
                // Says what there is.
                None => run.series(group, quantity),
            }
        },
    );
    engine.register_fn("finite", |value: f64, otherwise: Dynamic| -> f64 {
        let otherwise = expression::as_number(&otherwise).unwrap_or(f64::NAN);
        if value.is_finite() { value } else { otherwise }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use unruffled_measure::{FlowRecord, LinkRecord, SenderCounts, Series};

    fn meter(group: Option<&str>) -> Meter {
        let flow = |group: &str, goodput_bps: f64, retransmits: u64| FlowRecord {
            group: group.to_owned(),
            sender: format!("sender of {group}"),
            goodput_bps,
            sending: SenderCounts { retransmits, ..SenderCounts::default() },
            ..FlowRecord::default()
        };
        let record = RunRecord {
            flows: vec![flow("a", 1.0, 4), flow("a", 3.0, 6), flow("b", 8.0, 0)],
            links: vec![LinkRecord { name: "l".to_owned(), drop_rate: 0.5, ..Default::default() }],
            series: vec![Series {
                subject: "l".to_owned(),
                quantity: Quantity::Queue,
                points: vec![(0.0, 1.0), (1.0, 3.0)],
            }],
        };
        let meter = Meter::new();
        meter.turn_to(record, group);
        meter
    }

    fn number(meter: &Meter, text: &str) -> Result<f64, String> {
        let point = Point { x: 2.0, variables: vec![("p".to_owned(), 5.0)] };
        let ast = expression::compile(&meter.engine, text);
        ast.and_then(|ast| meter.number(&ast, &point)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_record_answers_by_flow_group_link_and_series() {
        let all = meter(None);
        for (text, wanted) in [
            ("goodput()", 12.0),
            ("goodput('a') / 1e6", 4e-6),
            ("mean_goodput('a')", 2.0),
            ("sum('retransmits')", 10.0),
            ("sum('retransmits', 'a') / flows('a')", 5.0),
            ("max('goodput_bps')", 8.0),
            ("jain('a')", 0.8),
            ("cov('a')", 0.5),
            ("normalised('a', ['a', 'b'])", 0.5),
            ("max(per_flow('goodput_bps', 'a'))", 3.0),
            ("count_below(per_flow('goodput_bps'), 2)", 1.0),
            ("link('l', 'drop_rate')", 0.5),
            ("mean(series('l', 'queue'))", 2.0),
            ("x + p", 7.0),
            ("1 / 2", 0.5),
            ("flows()", 3.0),
        ] {
            assert_eq!(number(&all, text), Ok(wanted), "{text}");
        }
        assert_eq!(all.senders(), "sender of a, sender of b");
    }

    #[test]
    fn a_line_of_a_group_means_that() {
        let own = meter(Some("a"));
        assert_eq!(number(&own, "goodput()"), Ok(4.0));
        assert_eq!(number(&own, "goodput('b')"), Ok(8.0));
        assert_eq!(own.senders(), "sender of a");
    }

    #[test]
    fn what_a_sender_does_not_have_is_no_number() {
        assert!(number(&meter(None), "mean('fa_ratio')").is_ok_and(f64::is_nan));
        assert_eq!(number(&meter(None), "finite(mean('fa_ratio'), 0)"), Ok(0.0));
    }

    #[test]
    fn what_is_not_there_is_an_error_that_says_what_is() {
        for (text, wanted) in [
            ("goodput('c')", "no flows of \"c\": expected one of a, b"),
            ("sum('speed')", "no number \"speed\": expected one of "),
            ("link('m', 'drop_rate')", "no link \"m\": expected one of l"),
            ("series('l', 'srtt')", "no srtt of \"l\": expected record.series = [\"srtt\"]"),
            ("series('m', 'queue')", "no queue of \"m\": expected one of l"),
            ("series('l', 'depth')", "no quantity \"depth\": expected one of queue, "),
            ("'a'", "expected a number, found string"),
            ("frobnicate()", "Function not found: frobnicate"),
        ] {
            let message = number(&meter(None), text).expect_err(text);
            assert!(message.contains(wanted), "{text}: {message}");
        }
    }
}
