//! A figure of a paper, redrawn from what was measured: curves with markers, bars or time series.
//!
//! Two drawing units make about a pixel, as in all plots.

mod bars;
mod curves;
mod field;

use std::collections::BTreeMap;

use minijinja::Value;

use crate::experiment::{Experiment, Kind, Panel};
use crate::reproduce::FigureOutcome;
use unruffled_lab::report::look::{self, Look};
use unruffled_lab::report::palette::{self, Ink};
use unruffled_lab::report::plot;

/// Width of a drawing.
const WIDTH: i32 = 1060;
/// Below the axes, for ticks and label.
const BELOW: i32 = 96;
/// Height of a line of the legend.
const ROW: i32 = 40;

/// The drawings of an outcome: the panel's place, its title and the SVG. None for tables.
pub(super) fn panels(outcome: &FigureOutcome<'_>) -> Vec<(usize, String, String)> {
    let drawn = |(i, panel): (usize, &Panel)| {
        let svg = match panel.kind {
            Kind::Table => return None,
            Kind::Line | Kind::Points => curves::sweep(outcome, panel),
            Kind::Bars => bars::bars(outcome, panel),
            Kind::Time => curves::time(outcome, panel, i),
        };
        Some((i, panel.title.clone().unwrap_or_default(), svg))
    };
    outcome.experiment.panels.iter().enumerate().filter_map(drawn).collect()
}

/// Whether a panel shows a line: it has the panel's measure.
fn shows(experiment: &Experiment, panel: &Panel, line: usize) -> bool {
    let line = &experiment.lines[line];
    experiment.measures[panel.y].is_of(line)
        && line.formula().is_none_or(|formula| formula.measure == panel.y)
}

/// Whether any drawing shows a line.
fn is_drawn(experiment: &Experiment, line: usize) -> bool {
    experiment.panels.iter().any(|panel| {
        panel.lines.contains(&line)
            && match panel.kind {
                Kind::Table => false,
                Kind::Time => true,
                Kind::Line | Kind::Points | Kind::Bars => shows(experiment, panel, line),
            }
    })
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Style {
    ink: Ink,
    /// Its marker's place in their list.
    marker: usize,
    /// Its dashes' place in their list; 0 has none.
    dash: usize,
}

/// Who sends the flows that a line is about; none where it is a formula.
fn sender<'o>(outcome: &'o FigureOutcome<'_>, line: usize) -> Option<&'o str> {
    let own = &outcome.experiment.lines[line];
    let of_group = own.group.as_ref().map(|_| outcome.lines[line].variant.as_str());
    of_group.filter(|name| !name.is_empty()).or(own.variant.as_deref())
}

/// The style of a line, the same in all panels: the colour is its sender's, as everywhere; what else one
/// sender has in the figure, under another name in the legends, differs in its marker and its dashes.
fn style(outcome: &FigureOutcome<'_>, line: usize) -> Style {
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

/// The inks of all lines that are drawn.
pub(super) fn inks(outcome: &FigureOutcome<'_>) -> Vec<Ink> {
    let lines = (0..outcome.experiment.lines.len()).map(|line| style(outcome, line).ink);
    lines.chain((0..look::OTHERS.len()).map(|nth| look::other(nth).ink)).collect()
}

/// The custom property of the colour of each line that is drawn, by its name.
pub(super) fn colours(outcome: &FigureOutcome<'_>) -> Value {
    let experiment = outcome.experiment;
    let drawn = (0..experiment.lines.len()).filter(|&line| is_drawn(experiment, line));
    let colour =
        |line: usize| (experiment.lines[line].name.clone(), style(outcome, line).ink.property());
    Value::from(drawn.map(colour).collect::<BTreeMap<_, _>>())
}

/// The unit in an axis' label: what stands in parentheses at its end.
fn unit(label: &str) -> &str {
    let inside = label.strip_suffix(')').and_then(|label| label.rsplit_once('('));
    inside.map_or("", |(_, unit)| unit)
}

/// A number as it is said where the pointer rests, with the half-width of its interval and its unit.
fn said(mean: f64, half: f64, unit: &str) -> String {
    let half = if half > 0.0 { format!(" ± {}", plot::value(half)) } else { String::new() };
    let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
    format!("{}{half}{unit}", plot::value(mean))
}

/// The figure as one SVG that stands alone; none for tables.
pub fn figure_file(outcome: &FigureOutcome<'_>) -> Option<String> {
    /// Height of a title, and space around all.
    const TITLE: usize = 30;
    const EDGE: usize = 12;
    /// Half of the drawing units, as on a page.
    const SCALE: usize = 2;
    let panels = panels(outcome);
    if panels.is_empty() {
        return None;
    }
    let columns = if panels.len() > 1 { 2 } else { 1 };
    let (cell, mut body, mut y) = (WIDTH as usize / SCALE, String::new(), EDGE);
    for row in panels.chunks(columns) {
        let titled = row.iter().any(|(_, title, _)| !title.is_empty());
        let head = if titled { TITLE } else { 0 };
        let mut tallest = 0;
        for (i, (_, title, svg)) in row.iter().enumerate() {
            let x = EDGE + i * (cell + EDGE);
            let height = height_of(svg) / SCALE;
            tallest = tallest.max(height);
            if titled {
                body += &format!(
                    "<text x=\"{x}\" y=\"{}\" font-size=\"14\" font-weight=\"bold\" \
                     style=\"fill:var(--text)\">{}</text>\n",
                    y + 16,
                    minijinja::HtmlEscape(title)
                );
            }
            let top = y + head;
            let place = format!("<svg x=\"{x}\" y=\"{top}\" width=\"{cell}\" height=\"{height}\"");
            body += &svg.replacen("<svg", &place, 1);
            body.push('\n');
        }
        y += head + tallest + EDGE;
    }
    let width = EDGE + columns * (cell + EDGE);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {y}\" width=\"{width}\" \
         height=\"{y}\" font-family=\"sans-serif\">\n<style>\n{}svg polyline{{stroke-linejoin:\
         round}}\n</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill:var(--paper)\"/>\n\
         {body}</svg>\n",
        palette::stylesheet(inks(outcome))
    ))
}

/// The height of a drawing, in its own units.
fn height_of(svg: &str) -> usize {
    let view = svg.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"'));
    view.and_then(|(view, _)| view.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Outcomes without numbers, as far as styles need them.
    fn outcome(experiment: &Experiment) -> FigureOutcome<'_> {
        let line = |line: &crate::experiment::Line| crate::reproduce::LineOutcome {
            // The groups of the papers' experiments are called as those who send in them.
            variant: line.group.clone().or(line.variant.clone()).unwrap_or_default(),
            constant: false,
            values: Vec::new(),
        };
        FigureOutcome {
            experiment,
            lines: experiment.lines.iter().map(line).collect(),
            claims: Vec::new(),
            curves: Vec::new(),
            scenario_toml: None,
        }
    }

    #[test]
    fn a_line_has_its_senders_colour_in_every_figure_and_no_two_look_alike() {
        for experiment in Experiment::all(false).expect("the program's own") {
            let outcome = outcome(&experiment);
            for panel in experiment.panels.iter().filter(|panel| panel.kind != Kind::Table) {
                let mut labels: HashMap<(u32, usize, usize), &str> = HashMap::new();
                for &line in panel.lines.iter().filter(|&&l| shows(&experiment, panel, l)) {
                    let Style { ink, marker, dash } = style(&outcome, line);
                    if let Some(sender) = sender(&outcome, line) {
                        assert_eq!(ink, look::of(sender).ink, "{}: {sender}", experiment.id);
                    }
                    let label = &experiment.lines[line].label;
                    let seen = (ink.light, marker % field::MARKERS, dash % field::DASHES.len());
                    let known = labels.entry(seen).or_insert(label);
                    assert_eq!(known, label, "{}: {seen:?}", experiment.id);
                }
            }
        }
    }

    #[test]
    fn a_units_place_is_at_the_end_of_a_label() {
        assert_eq!(["goodput (Mb/s)", "share (of all) (%)", "β"].map(unit), ["Mb/s", "%", ""]);
        assert_eq!(said(3.0, 0.25, "Mb/s"), "3 ± 0.25 Mb/s");
        assert_eq!(said(12_345.0, 0.0, ""), "12,345");
    }
}
