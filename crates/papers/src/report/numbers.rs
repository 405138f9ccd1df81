//! The numbers of a figure as tables.

use super::axis::label;
use crate::experiment::{Line, Point};
use crate::reproduce::FigureOutcome;
use unruffled_lab::text::short;

/// A table as text.
pub(super) struct Table {
    pub(super) title: String,
    pub(super) heads: Vec<String>,
    pub(super) lines: Vec<Vec<String>>,
}

/// Returns a table for each measure of a sweep, with a column for each point. Without a sweep,
/// there is one table with a column for each measure, and the paper's numbers beside them.
pub(super) fn tables(outcome: &FigureOutcome<'_>) -> Vec<Table> {
    if outcome.experiment.is_swept() { by_point(outcome) } else { by_measure(outcome) }
}

/// Formats the mean and its interval.
fn cell(outcome: &FigureOutcome<'_>, line: usize, measure: usize, point: usize) -> String {
    let estimate = outcome.lines[line].estimate(measure, point);
    if !estimate.mean.is_finite() {
        return String::new();
    }
    match estimate.half_width {
        half if half > 0.0 => format!("{} ± {}", short(estimate.mean), rounded(half)),
        _ => short(estimate.mean),
    }
}

/// Formats the half-width of an interval with two digits.
fn rounded(half: f64) -> String {
    let magnitude = half.log10().floor() as i32;
    if !(-4..6).contains(&magnitude) {
        return format!("{half:.1e}");
    }
    format!("{half:.*}", (1 - magnitude).max(0) as usize)
}

/// Returns the name of a point: its position, or the values of a grid.
fn name(point: &Point) -> String {
    if point.variables.is_empty() {
        return label(point.x);
    }
    let parts = point.variables.iter().map(|(name, value)| format!("{name} {}", label(*value)));
    parts.collect::<Vec<_>>().join(", ")
}

fn by_point(outcome: &FigureOutcome<'_>) -> Vec<Table> {
    let experiment = outcome.experiment;
    let points = &experiment.sweep.points;
    let swept = experiment.sweep.label.clone().unwrap_or_default();
    let has = |line: &Line, measure: usize| {
        experiment.measures[measure].is_of(line)
            && line.formula().is_none_or(|f| f.measure == measure)
    };
    let table = |(m, measure): (usize, &crate::experiment::Measure)| {
        let shown: Vec<(usize, &Line)> =
            experiment.lines.iter().enumerate().filter(|(_, line)| has(line, m)).collect();
        let grid = points.iter().any(|p| !p.variables.is_empty());
        // Combinations have long names, so they are lines.
        let (heads, lines): (Vec<String>, Vec<Vec<String>>) = if grid {
            let names = shown.iter().map(|(_, line)| line.name.clone());
            let line = |(p, point): (usize, &Point)| {
                let cells = shown.iter().map(|&(l, _)| cell(outcome, l, m, p));
                [name(point)].into_iter().chain(cells).collect()
            };
            (names.collect(), points.iter().enumerate().map(line).collect())
        } else {
            let line = |&(l, line): &(usize, &Line)| {
                let cells = (0..points.len()).map(|p| cell(outcome, l, m, p));
                [line.name.clone()].into_iter().chain(cells).collect()
            };
            (points.iter().map(name).collect(), shown.iter().map(line).collect())
        };
        let heads = [swept.clone()].into_iter().chain(heads).collect();
        Table { title: measure.label.clone(), heads, lines }
    };
    experiment.measures.iter().enumerate().map(table).collect()
}

fn by_measure(outcome: &FigureOutcome<'_>) -> Vec<Table> {
    let experiment = outcome.experiment;
    let mut heads = vec![String::new()];
    let mut columns = Vec::new();
    for (m, measure) in experiment.measures.iter().enumerate() {
        let printed = |line: &Line| experiment.paper_value(&measure.name, &line.name);
        let any = experiment.lines.iter().any(|line| printed(line).is_some());
        heads.push(measure.label.clone());
        if any {
            heads.push("the paper’s".to_owned());
        }
        columns.push((m, measure, any));
    }
    let line = |(l, line): (usize, &Line)| {
        let mut cells = vec![line.name.clone()];
        for &(m, measure, any) in &columns {
            cells.push(cell(outcome, l, m, 0));
            if any {
                let value = experiment.paper_value(&measure.name, &line.name);
                cells.push(value.map_or(String::new(), short));
            }
        }
        cells
    };
    let lines = experiment.lines.iter().enumerate().map(line).collect();
    vec![Table { title: "Means over the seeds".to_owned(), heads, lines }]
}
