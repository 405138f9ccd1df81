//! The results of experiments, as text and as JSON.

use comfy_table::{Attribute, Cell, Color};
use serde::Serialize;

use super::curve::TimeSeries;
use crate::experiment::{Cause, Class, Experiment};
use unruffled_lab::stacked;
use unruffled_lab::statistics::Estimate;
use unruffled_lab::table;

/// The results of an experiment.
#[derive(Clone, Debug)]
pub struct FigureOutcome<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// The results of each line.
    pub lines: Vec<LineOutcome>,
    /// The result of each claim.
    pub claims: Vec<ClaimOutcome>,
    /// The time series by panel: name and curve.
    pub(crate) curves: Vec<Vec<(String, TimeSeries)>>,
    /// The scenario of the first line at the first point.
    pub(crate) scenario_toml: Option<String>,
}

/// The results of a line.
#[derive(Clone, Debug, PartialEq)]
pub struct LineOutcome {
    /// The sender.
    pub variant: String,
    /// Whether all points share the same runs.
    pub constant: bool,
    /// The values by measure, point and seed.
    pub values: Vec<Vec<Vec<f64>>>,
}

impl LineOutcome {
    /// Returns the mean over the seeds with its interval.
    pub(crate) fn estimate(&self, measure: usize, point: usize) -> Estimate {
        Estimate::of(self.values[measure][point].iter().copied())
    }
}

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// The claim holds.
    Yes,
    /// The claim fails.
    No,
    /// The claim was not tested.
    NotTested,
}

/// The result of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimOutcome {
    /// The statement of the paper.
    pub text: String,
    /// The section of the paper.
    pub source: Option<String>,
    /// The expectation in numbers.
    pub expected: String,
    /// The measured numbers.
    pub measured: String,
    /// Whether the claim holds.
    pub holds: Holds,
    /// Whether the claim holds if curves must be close at every point instead of on the mean; none
    /// if it compares no curves for closeness.
    pub at_every_point: Option<bool>,
    /// The known reasons of a failure without a class.
    pub known: Option<String>,
    /// Why the full version fails.
    pub cause: Option<Cause>,
    /// Another reading of the paper, which its evaluation contradicts. The claim is evaluated for
    /// comparison and does not count.
    pub other_reading: Option<String>,
}

impl ClaimOutcome {
    /// Returns why the claim fails, if it does.
    pub fn failure(&self) -> Option<&Cause> {
        self.cause.as_ref().filter(|_| self.holds == Holds::No)
    }

    /// Returns the known reason of a failure: that of its class, or the one in the file.
    pub fn why(&self) -> Option<&str> {
        let known = self.known.as_deref().filter(|_| self.holds == Holds::No);
        self.failure().map(|cause| cause.why.as_str()).or(known)
    }
}

/// The numbers of claims by result. Claims of other readings are counted separately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) hold: usize,
    pub(crate) fail: usize,
    pub(crate) not_tested: usize,
    pub(crate) other_readings: usize,
    /// The number that hold if curves must be close at every point.
    pub(crate) strictly: usize,
    /// The number of failures by class.
    pub(crate) classes: [usize; Class::ALL.len()],
}

impl Count {
    pub(crate) fn of<'c>(claims: impl IntoIterator<Item = &'c ClaimOutcome>) -> Self {
        let mut count = Self::default();
        for claim in claims {
            if claim.other_reading.is_none() {
                let holds = claim.at_every_point.unwrap_or(claim.holds == Holds::Yes);
                count.strictly += usize::from(holds);
            }
            if let Some(cause) = claim.failure() {
                count.classes[cause.class as usize] += 1;
            }
            match claim.holds {
                _ if claim.other_reading.is_some() => count.other_readings += 1,
                Holds::Yes => count.hold += 1,
                Holds::No => count.fail += 1,
                Holds::NotTested => count.not_tested += 1,
            }
        }
        count
    }

    pub(crate) fn total(self) -> usize {
        self.hold + self.fail + self.not_tested
    }
}

/// The standard deviation over the seeds; none for one seed.
fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (values.len() > 1).then(|| square.sqrt())
}

#[derive(Serialize)]
struct Document<'a> {
    quick: bool,
    model: &'a str,
    rows: Vec<MeasuredRow<'a>>,
    claims: Vec<Claimed<'a>>,
}

#[derive(Serialize)]
struct MeasuredRow<'a> {
    id: &'a str,
    x: Option<f64>,
    line: &'a str,
    variant: &'a str,
    metric: &'a str,
    mean: f64,
    sd: Option<f64>,
    seeds: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    paper: Option<f64>,
}

#[derive(Serialize)]
struct Claimed<'a> {
    id: &'a str,
    paper: &'a str,
    claim: &'a str,
    expected: &'a str,
    measured: &'a str,
    holds: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    holds_at_every_point: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_reading: Option<&'a str>,
}

/// Returns the verdict on each claim, a line each: `ID: VERDICT: CLAIM`. Another reading's is `not counted`.
pub fn verdicts(outcomes: &[FigureOutcome<'_>]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        for claim in &outcome.claims {
            let verdict = match claim.holds {
                Holds::Yes => "holds",
                Holds::No => "fails",
                Holds::NotTested => "not tested",
            };
            let other = if claim.other_reading.is_some() { "; not counted" } else { "" };
            let claim = claim.text.split_whitespace().collect::<Vec<_>>().join(" ");
            text += &format!("{}: {verdict}{other}: {claim}\n", outcome.experiment.id);
        }
    }
    text
}

/// Returns rows and claims as one JSON object with a final line feed. Absent numbers are `null`.
pub fn json(outcomes: &[FigureOutcome<'_>]) -> String {
    let mut rows = Vec::new();
    let mut claims = Vec::new();
    for outcome in outcomes {
        let experiment = outcome.experiment;
        for (line, found) in experiment.lines.iter().zip(&outcome.lines) {
            for (p, point) in experiment.sweep.points.iter().enumerate() {
                for (m, measure) in experiment.measures.iter().enumerate() {
                    let formula = line.formula().is_some_and(|f| f.measure != m);
                    if !measure.is_of(line) || formula {
                        continue;
                    }
                    let values = &found.values[m][p];
                    rows.push(MeasuredRow {
                        id: &experiment.id,
                        x: experiment.is_swept().then_some(point.x),
                        line: &line.name,
                        variant: &found.variant,
                        metric: &measure.name,
                        mean: found.estimate(m, p).mean,
                        sd: deviation(values),
                        seeds: values.len(),
                        paper: experiment.paper_value(&measure.name, &line.name),
                    });
                }
            }
        }
        claims.extend(outcome.claims.iter().map(|claim| Claimed {
            id: &experiment.id,
            paper: &experiment.paper,
            claim: &claim.text,
            expected: &claim.expected,
            measured: &claim.measured,
            holds: match claim.holds {
                Holds::Yes => Some(true),
                Holds::No => Some(false),
                Holds::NotTested => None,
            },
            holds_at_every_point: claim.at_every_point,
            known: claim.known.as_deref(),
            class: claim.failure().map(|cause| cause.class.name()),
            why: claim.failure().map(|cause| cause.why.as_str()),
            other_reading: claim.other_reading.as_deref(),
        }));
    }
    let quick = outcomes.iter().any(|o| o.experiment.quick);
    let document = Document { quick, model: unruffled_lab::store::MODEL, rows, claims };
    let text = serde_json::to_string_pretty(&document);
    text.expect("the document has string keys only") + "\n"
}

/// Lists the experiments, a line each. Titles are wrapped to the width of the terminal.
pub fn list(experiments: &[Experiment], width: Option<usize>) -> String {
    let mut table = width.map_or_else(table::plain, table::plain_within);
    table.set_header(["id", "paper", "figure", "claims", "shows"]);
    for e in experiments {
        let claims = e.claims.len().to_string();
        table.add_row([&e.id, &e.paper, &e.figure, &claims, &e.title]);
    }
    if let Some(stacked) = stacked::instead_of(&table) {
        return stacked;
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Formats the results for a terminal: a line for each experiment, then the claims that fail.
pub fn table(outcomes: &[FigureOutcome<'_>], width: usize, colour: bool) -> String {
    let mut table = table::plain_within(width);
    if colour {
        table.enforce_styling();
    }
    let heads = ["", "hold", "fail", "not tested", "figure"];
    table.set_header(heads.map(|h| Cell::new(h).add_attribute(Attribute::Bold)));
    for outcome in outcomes {
        let count = Count::of(&outcome.claims);
        let number = |n: usize| if n == 0 { String::new() } else { n.to_string() };
        let fail = match Cell::new(number(count.fail)) {
            cell if colour => cell.fg(Color::Red),
            cell => cell,
        };
        let e = outcome.experiment;
        table.add_row([
            Cell::new(&e.id),
            Cell::new(number(count.hold)),
            fail,
            Cell::new(number(count.not_tested)),
            Cell::new(format!("{}, {}", e.paper, e.figure)),
        ]);
    }
    let mut text = table::lines(table);
    let total = Count::of(outcomes.iter().flat_map(|o| &o.claims));
    text += &format!("\n{}\n", summary(total));
    if let Some(classes) = by_class(total) {
        text += &format!("Those that fail: {classes}\n");
    }
    for (outcome, claim) in failing(outcomes) {
        text += &format!("\n{}: {}\n", outcome.experiment.id, claim.text);
        text += &format!("  expected: {}\n  measured: {}\n", claim.expected, claim.measured);
        if let Some(cause) = claim.failure() {
            text += &format!("  class: {}\n", cause.class);
        }
        if let Some(why) = claim.why() {
            text += &format!("  why: {}\n", why.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    text
}

/// Describes the numbers of claims by result.
pub(crate) fn summary(count: Count) -> String {
    if count.total() == 0 {
        return "No claims".to_owned();
    }
    let mut text = format!("{} of {} claims hold", count.hold, count.total());
    if count.fail > 0 {
        text += &format!(", {} fail", count.fail);
    }
    if count.not_tested > 0 {
        text += &format!(", {} not tested", count.not_tested);
    }
    if count.strictly != count.hold {
        text += &format!("; {} hold where curves must be close at every point", count.strictly);
    }
    if count.other_readings > 0 {
        text += &format!("; {} more are judged for other readings", count.other_readings);
    }
    text
}

/// Describes the numbers of failures by class; none if no failure has one.
pub(crate) fn by_class(count: Count) -> Option<String> {
    let classes = Class::ALL.into_iter().zip(count.classes).filter(|(_, n)| *n > 0);
    let words: Vec<String> = classes.map(|(class, n)| format!("{class} {n}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns the claims that fail, without those of other readings.
pub(crate) fn failing<'o, 'a>(
    outcomes: &'o [FigureOutcome<'a>],
) -> impl Iterator<Item = (&'o FigureOutcome<'a>, &'o ClaimOutcome)> {
    let claims = |outcome: &'o FigureOutcome<'a>| outcome.claims.iter().map(move |c| (outcome, c));
    let counts = |claim: &ClaimOutcome| claim.other_reading.is_none();
    outcomes.iter().flat_map(claims).filter(move |(_, c)| c.holds == Holds::No && counts(c))
}
