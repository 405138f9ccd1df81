//! How the lines of a figure look: sizes, inks, markers and dashes.

use std::collections::BTreeMap;

use minijinja::Value;
use unruffled_lab::report::look::{self, Look};
use unruffled_lab::report::palette::Ink;
use unruffled_lab::report::plot;

use crate::experiment::{Experiment, Kind, Panel};
use crate::reproduce::FigureOutcome;

/// The width of a drawing.
pub(super) const WIDTH: i32 = 1060;
/// The space below the axes for ticks and the label.
pub(super) const BELOW: i32 = 96;
/// The height of a line of the legend.
pub(super) const ROW: i32 = 40;

/// Returns whether a panel shows a line: whether the line has the panel's measure.
pub(super) fn shows(experiment: &Experiment, panel: &Panel, line: usize) -> bool {
    let line = &experiment.lines[line];
    experiment.measures[panel.y].is_of(line)
        && line.formula().is_none_or(|formula| formula.measure == panel.y)
}

/// Returns whether any drawing shows a line.
pub(super) fn is_drawn(experiment: &Experiment, line: usize) -> bool {
    experiment.panels.iter().any(|panel| {
        panel.lines.contains(&line)
            && match panel.kind {
                Kind::Table => false,
                Kind::Time => true,
                Kind::Line | Kind::Points | Kind::Bars => shows(experiment, panel, line),
            }
    })
}

/// The style of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    pub(super) ink: Ink,
    /// The index of the marker.
    pub(super) marker: usize,
    /// The index of the dash pattern; 0 is solid.
    pub(super) dash: usize,
}

/// Returns the sender of the flows of a line; none for a formula.
pub(super) fn sender<'o>(outcome: &'o FigureOutcome<'_>, line: usize) -> Option<&'o str> {
    let own = &outcome.experiment.lines[line];
    let of_group = own.group.as_ref().map(|_| outcome.lines[line].variant.as_str());
    of_group.filter(|name| !name.is_empty()).or(own.variant.as_deref())
}

/// Returns the style of a line, which is the same in all panels. The colour is that of its sender
/// in all reports. Several lines of one sender, with different names in the legend, differ by
/// marker and dashes.
pub(super) fn style(outcome: &FigureOutcome<'_>, line: usize) -> Style {
    let experiment = outcome.experiment;
    let of = sender(outcome, line);
    let mut labels: Vec<&str> = Vec::new();
    let earlier = (0..=line).filter(|&l| is_drawn(experiment, l) && sender(outcome, l) == of);
    for label in earlier.map(|l| experiment.lines[l].label.as_str()) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let label = &experiment.lines[line].label;
    let nth = labels.iter().position(|known| known == label).unwrap_or(0);
    match of {
        Some(sender) => {
            let Look { ink, marker } = look::of(sender);
            Style { ink, marker: marker + nth, dash: nth }
        }
        None => {
            let Look { ink, marker } = look::other(nth);
            Style { ink, marker, dash: nth / look::OTHERS.len() }
        }
    }
}

/// Returns the inks of all lines.
pub(in crate::report) fn inks(outcome: &FigureOutcome<'_>) -> Vec<Ink> {
    let lines = (0..outcome.experiment.lines.len()).map(|line| style(outcome, line).ink);
    lines.chain((0..look::OTHERS.len()).map(|nth| look::other(nth).ink)).collect()
}

/// Returns the custom property of the colour of each drawn line, by name.
pub(in crate::report) fn colours(outcome: &FigureOutcome<'_>) -> Value {
    let experiment = outcome.experiment;
    let drawn = (0..experiment.lines.len()).filter(|&line| is_drawn(experiment, line));
    let colour =
        |line: usize| (experiment.lines[line].name.clone(), style(outcome, line).ink.property());
    Value::from(drawn.map(colour).collect::<BTreeMap<_, _>>())
}

/// Returns the unit in the label of an axis: the text in parentheses at its end.
pub(super) fn unit(label: &str) -> &str {
    let inside = label.strip_suffix(')').and_then(|label| label.rsplit_once('('));
    inside.map_or("", |(_, unit)| unit)
}

/// Formats a number for a tooltip, with the half-width of its interval and its unit.
pub(super) fn said(mean: f64, half: f64, unit: &str) -> String {
    let half = if half > 0.0 { format!(" ± {}", plot::value(half)) } else { String::new() };
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{}{half}{unit}", plot::value(mean))
}
