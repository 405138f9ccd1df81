//! The evaluation of an experiment's measures on the record of a run.

mod functions;
mod run;

use std::cell::RefCell;
use std::rc::Rc;

use rhai::{AST, Dynamic, Engine};
use unruffled_measure::RunRecord;

use self::run::{Run, fields};
use super::curve::{self, TimeSeries};
use crate::experiment::Point;
use crate::expression::{self, ExpressionError};

/// An evaluator of measures.
pub(super) struct Meter {
    engine: Engine,
    run: Rc<RefCell<Run>>,
}

impl Meter {
    pub(super) fn new() -> Self {
        let mut engine = expression::engine();
        let run = Rc::default();
        curve::register(&mut engine);
        functions::register(&mut engine, &run);
        Self { engine, run }
    }

    /// Sets the run that expressions are about.
    pub(super) fn set_run(&self, record: RunRecord, group: Option<&str>) {
        let flows = record.flows.iter().map(fields).collect();
        let links = record.links.iter().map(fields).collect();
        self.run.replace(Run { record, flows, links, group: group.map(str::to_owned) });
    }

    /// Returns the senders of the line's group, or of all groups.
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

    /// Evaluates the expression to a number.
    pub(super) fn number(&self, ast: &AST, point: &Point) -> Result<f64, ExpressionError> {
        expression::number(&self.engine, &mut point.scope(), ast)
    }

    /// Evaluates the expression to a time series.
    pub(super) fn curve(&self, ast: &AST, point: &Point) -> Result<TimeSeries, ExpressionError> {
        let value = self.engine.eval_ast_with_scope::<Dynamic>(&mut point.scope(), ast)?;
        let found = value.type_name();
        let expected = "a time series";
        value.try_cast().ok_or(ExpressionError::Kind { expected, found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unruffled_measure::{FlowRecord, LinkRecord, Quantity, SenderCounts, Series};

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
        meter.set_run(record, group);
        meter
    }

    fn number(meter: &Meter, text: &str) -> Result<f64, String> {
        let point = Point { x: 2.0, variables: vec![("p".to_owned(), 5.0)] };
        let ast = expression::compile(&meter.engine, text);
        ast.and_then(|ast| meter.number(&ast, &point)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_record_is_read_by_flow_group_link_and_series() {
        let all = meter(None);
        for (text, expected) in [
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
            assert_eq!(number(&all, text), Ok(expected), "{text}");
        }
        assert_eq!(all.senders(), "sender of a, sender of b");
    }

    #[test]
    fn measures_of_a_line_with_a_group_are_of_that_group() {
        let own = meter(Some("a"));
        assert_eq!(number(&own, "goodput()"), Ok(4.0));
        assert_eq!(number(&own, "goodput('b')"), Ok(8.0));
        assert_eq!(own.senders(), "sender of a");
    }

    #[test]
    fn a_metric_that_a_sender_lacks_is_nan() {
        assert!(number(&meter(None), "mean('fa_ratio')").is_ok_and(f64::is_nan));
        assert_eq!(number(&meter(None), "finite(mean('fa_ratio'), 0)"), Ok(0.0));
    }

    #[test]
    fn lists_of_series_do_not_fill_memory() {
        let meter = meter(None);
        let points = (0..1000).map(|second| (f64::from(second), 1.0)).collect();
        let series = Series { subject: "l".to_owned(), quantity: Quantity::Queue, points };
        meter.set_run(RunRecord { series: vec![series], ..RunRecord::default() }, None);
        let text = "let c = series('l', 'queue'); let a = []; for i in 0..N { a.push(c); } N";
        assert_eq!(number(&meter, &text.replace('N', "200")), Ok(200.0));
        let message = number(&meter, &text.replace('N', "19000")).expect_err("is too much");
        assert!(message.contains("too large: expected at most 5 MB of measured"), "{message}");
    }

    #[test]
    fn infinite_numbers_become_nan() {
        for text in ["1 / 0", "-1 / 0", "ln(0)"] {
            assert!(number(&meter(None), text).is_ok_and(f64::is_nan), "{text}");
        }
    }

    #[test]
    fn an_absent_name_is_an_error_that_lists_the_alternatives() {
        for (text, expected) in [
            ("goodput('c')", "no flows of \"c\": expected one of a, b"),
            ("sum('speed')", "no number \"speed\": expected one of "),
            ("link('m', 'drop_rate')", "no link \"m\": expected one of l"),
            ("series('l', 'srtt')", "no srtt of \"l\": expected record.series = [\"srtt\"]"),
            ("series('m', 'queue')", "no queue of \"m\": expected one of l"),
            ("series('l', 'depth')", "no quantity \"depth\": expected one of queue, "),
            ("'a'", "expected a number, found string"),
            ("frobnicate()", "no function frobnicate()"),
        ] {
            let message = number(&meter(None), text).expect_err(text);
            assert!(message.contains(expected), "{text}: {message}");
        }
    }
}
