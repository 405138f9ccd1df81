//! The parts of an experiment, checked and with compiled expressions.

use std::ops::Range;

use rhai::{AST, Scope};
use unruffled_scenario::Document;

use super::class::Cause;
use super::file::Kind;

/// An experiment that has been checked and can be planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The id, such as `rr-3`.
    pub id: String,
    /// The paper, such as `rr-tcp`.
    pub paper: String,
    /// The number of the figure, such as `Figure 3`.
    pub figure: String,
    /// The title.
    pub title: String,
    /// The section of the paper about the figure.
    pub section: Option<String>,
    /// Assumptions and notes.
    pub remarks: Remarks,
    /// The sweep.
    pub sweep: Sweep,
    /// The curves, bars or rows.
    pub lines: Vec<Line>,
    /// The numbers computed from each run. The first is drawn unless a panel names another.
    pub measures: Vec<Measure>,
    /// The drawings, at least one.
    pub(crate) panels: Vec<Panel>,
    /// The claims of the paper.
    pub(crate) claims: Vec<Claim>,
    /// The number of seeds, which are 1, 2, 3 …
    pub seeds: u64,
    /// Whether this is the quick version.
    pub quick: bool,
    /// The file.
    pub(crate) source: Document,
    pub(super) scenario: Scenarios,
}

/// Assumptions and notes of an experiment.
#[derive(Clone, Debug)]
pub struct Remarks {
    /// The settings that the paper leaves open and the file chooses.
    pub assumed: Vec<String>,
    /// The findings.
    pub notes: String,
}

/// The base and the settings of the lines' scenarios.
#[derive(Clone, Debug)]
pub(super) struct Scenarios {
    pub(super) base: Base,
    pub(super) set: Vec<Setting>,
    pub(super) quick_set: Vec<Setting>,
}

/// The sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The label of the axis; none without a sweep.
    pub label: Option<String>,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// Whether the values are evenly spaced on the axis, instead of to scale.
    pub even: bool,
    /// The values.
    pub points: Vec<Point>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The position on the axis.
    pub x: f64,
    /// The values by name, in sweeps of several quantities.
    pub variables: Vec<(String, f64)>,
}

impl Point {
    /// Returns the variables of expressions at this point.
    pub(crate) fn scope(&self) -> Scope<'static> {
        let mut scope = Scope::new();
        scope.push("x", self.x);
        for (name, value) in &self.variables {
            scope.push(name.as_str(), *value);
        }
        scope
    }
}

/// A key of the scenario with its value, which may contain `${…}`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: toml::Value,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Base {
    /// A built-in scenario.
    Named(String, Range<usize>),
    /// The scenario of the file, as TOML.
    Inline(String),
    /// No scenario, because all lines are formulae.
    None,
}

/// A curve, bar or row.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name in claims.
    pub name: String,
    /// The name in the legend.
    pub label: String,
    /// The sender's name in the table of senders.
    pub variant: Option<String>,
    /// The `[[traffic]]` whose flows the measures are about, unless they name another.
    pub group: Option<String>,
    /// The numbers that the paper prints: measure and value.
    pub paper: Vec<(String, f64)>,
    pub(super) formula: Option<Formula>,
    pub(super) set: Vec<Setting>,
    pub(super) span: Range<usize>,
}

/// The formula of a line without runs.
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    pub(crate) ast: AST,
    /// The index of the measure that the formula computes.
    pub(crate) measure: usize,
    pub(super) span: Range<usize>,
}

impl Line {
    /// Returns the formula of a line without runs.
    pub(crate) fn formula(&self) -> Option<&Formula> {
        self.formula.as_ref()
    }
}

/// A number computed from each run.
#[derive(Clone, Debug)]
pub struct Measure {
    /// The name in claims.
    pub name: String,
    /// The name on axes, with the unit.
    pub label: String,
    /// The lines that have the measure; all lines if empty.
    pub(super) lines: Vec<String>,
    pub(crate) ast: AST,
    pub(crate) span: Range<usize>,
}

impl Measure {
    /// Returns whether the line has this measure.
    pub(crate) fn is_of(&self, line: &Line) -> bool {
        self.lines.is_empty() || self.lines.contains(&line.name)
    }
}

/// A drawing.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: Option<String>,
    pub(crate) kind: Kind,
    /// The index of the measure.
    pub(crate) y: usize,
    pub(crate) y_label: Option<String>,
    pub(crate) y_range: Option<[f64; 2]>,
    pub(crate) y_log: bool,
    pub(crate) x_label: Option<String>,
    pub(crate) x_range: Option<[f64; 2]>,
    /// The indices of the lines.
    pub(crate) lines: Vec<usize>,
    pub(crate) curves: Vec<TimeCurve>,
    /// The index of the point whose series are drawn.
    pub(crate) at: usize,
    pub(crate) dots: bool,
    /// The height of a horizontal rule.
    pub(crate) rule: Option<f64>,
}

/// A time series that a panel draws.
#[derive(Clone, Debug)]
pub(crate) struct TimeCurve {
    pub(crate) name: String,
    /// The index of the line whose run has the series.
    pub(crate) line: usize,
    pub(crate) ast: AST,
    pub(crate) span: Range<usize>,
}

/// A claim of the paper about the results.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) source: Option<String>,
    pub(crate) check: Check,
    pub(crate) expected: Option<String>,
    pub(crate) known: Option<String>,
    /// Why the full version fails.
    pub(crate) cause: Option<Cause>,
    pub(crate) other_reading: Option<String>,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Check {
    Expression(Box<AST>),
    /// Why the claim cannot be tested.
    NotTested(String),
}
