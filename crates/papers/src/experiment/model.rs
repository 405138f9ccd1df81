//! What an experiment consists of, checked and with its expressions compiled.

use std::ops::Range;

use rhai::{AST, Scope};
use unruffled_scenario::Document;

use super::class::Cause;
use super::file::Kind;

/// A figure or table, checked and ready to plan.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// `rr-3`.
    pub id: String,
    /// `rr-tcp`.
    pub paper: String,
    /// `Figure 3`.
    pub figure: String,
    /// What it shows.
    pub title: String,
    /// The section of the paper that speaks of it.
    pub section: Option<String>,
    /// What there is to say of it.
    pub remarks: Remarks,
    /// What is swept.
    pub sweep: Sweep,
    /// Curves, bars or rows.
    pub lines: Vec<Line>,
    /// What is computed of each run; the first is what is drawn unless a panel says otherwise.
    pub measures: Vec<Measure>,
    /// The drawings, at least one.
    pub(crate) panels: Vec<Panel>,
    /// What the paper says of the results.
    pub(crate) claims: Vec<Claim>,
    /// Seeds of a run; they are 1, 2, 3 …
    pub seeds: u64,
    /// Whether this is the quick version.
    pub quick: bool,
    /// The whole file.
    pub(crate) source: Document,
    pub(super) scenario: Scenarios,
}

/// What there is to say of an experiment.
#[derive(Clone, Debug)]
pub struct Remarks {
    /// What the paper leaves open and the file decides.
    pub assumed: Vec<String>,
    /// What was found.
    pub notes: String,
}

/// What the lines' scenarios are made of.
#[derive(Clone, Debug)]
pub(super) struct Scenarios {
    pub(super) base: Base,
    pub(super) set: Vec<Setting>,
    pub(super) quick_set: Vec<Setting>,
}

/// What is swept.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The axis' label; none without a sweep.
    pub label: Option<String>,
    /// Whether its axis is logarithmic.
    pub log: bool,
    /// Whether its values stand on the axis at equal distances, in place of to scale.
    pub even: bool,
    /// The values.
    pub points: Vec<Point>,
}

/// A point of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Its place on the axis.
    pub x: f64,
    /// The values by name, for sweeps of several quantities.
    pub variables: Vec<(String, f64)>,
}

impl Point {
    /// The variables that expressions at this point may use.
    pub(crate) fn scope(&self) -> Scope<'static> {
        let mut scope = Scope::new();
        scope.push("x", self.x);
        for (name, value) in &self.variables {
            scope.push(name.as_str(), *value);
        }
        scope
    }
}

/// A key of the scenario with its value, which may hold `${…}`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) key: String,
    pub(super) value: toml::Value,
    pub(super) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(super) enum Base {
    /// A scenario that ships with the program.
    Named(String, Range<usize>),
    /// The file's own, as TOML.
    Inline(String),
    /// None: all lines are formulae.
    None,
}

/// A curve, bar or row.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its name in claims.
    pub name: String,
    /// Its name in the legend.
    pub label: String,
    /// The sender, as its row in the table of senders is called.
    pub variant: Option<String>,
    /// The `[[traffic]]` whose flows measures are about, unless they name another.
    pub group: Option<String>,
    /// What the paper prints for it: measure and value.
    pub paper: Vec<(String, f64)>,
    pub(super) formula: Option<Formula>,
    pub(super) set: Vec<Setting>,
    pub(super) span: Range<usize>,
}

/// A line without runs.
#[derive(Clone, Debug)]
pub(crate) struct Formula {
    pub(crate) ast: AST,
    /// The index of the measure whose value it gives.
    pub(crate) measure: usize,
    pub(super) span: Range<usize>,
}

impl Line {
    /// The formula, for lines that have one in place of runs.
    pub(crate) fn formula(&self) -> Option<&Formula> {
        self.formula.as_ref()
    }
}

/// A number that is computed of each run.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its name in claims.
    pub name: String,
    /// Its name on axes, with the unit.
    pub label: String,
    /// The lines that have it; all if empty.
    pub(super) lines: Vec<String>,
    pub(crate) ast: AST,
    pub(crate) span: Range<usize>,
}

impl Measure {
    /// Whether the line has this measure.
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
    /// Indices of lines.
    pub(crate) lines: Vec<usize>,
    pub(crate) curves: Vec<TimeCurve>,
    /// The index of the point whose series are drawn.
    pub(crate) at: usize,
    pub(crate) dots: bool,
    /// A horizontal rule at this height.
    pub(crate) rule: Option<f64>,
}

/// A time series to draw.
#[derive(Clone, Debug)]
pub(crate) struct TimeCurve {
    pub(crate) name: String,
    /// The index of the line whose run it is taken from.
    pub(crate) line: usize,
    pub(crate) ast: AST,
    pub(crate) span: Range<usize>,
}

/// Something that the paper says of the results.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) text: String,
    pub(crate) source: Option<String>,
    pub(crate) check: Check,
    pub(crate) expected: Option<String>,
    pub(crate) known: Option<String>,
    /// Why it fails in full.
    pub(crate) cause: Option<Cause>,
    pub(crate) other_reading: Option<String>,
    pub(crate) span: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) enum Check {
    Expression(Box<AST>),
    /// Why it cannot be tested.
    NotTested(String),
}
