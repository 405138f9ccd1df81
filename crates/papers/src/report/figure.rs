//! A figure of a paper, redrawn from the measured numbers: curves with markers, bars or time
//! series.
//!
//! Two drawing units are about one pixel, as in all plots.

mod bars;
mod curves;
mod field;
mod style;

use unruffled_lab::report::palette;

use crate::experiment::{Kind, Panel};
use crate::reproduce::FigureOutcome;
use style::WIDTH;
pub(super) use style::{colours, inks};

/// Returns the drawings of an outcome: the panel's index, its title and the SVG. Tables have none.
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

/// Returns the figure as one self-contained SVG; none for tables.
pub fn figure_file(outcome: &FigureOutcome<'_>) -> Option<String> {
    /// The height of a title, and the margin.
    const TITLE: usize = 30;
    const EDGE: usize = 12;
    /// Drawing units per pixel, as on a page.
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

/// Returns the height of a drawing in its units.
fn height_of(svg: &str) -> usize {
    let view = svg.split_once("viewBox=\"").and_then(|(_, rest)| rest.split_once('"'));
    view.and_then(|(view, _)| view.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::style::{Style, said, sender, shows, style, unit};
    use super::*;
    use crate::experiment::Experiment;
    use unruffled_lab::report::look;

    /// An outcome without numbers, sufficient for styles.
    fn outcome(experiment: &Experiment) -> FigureOutcome<'_> {
        let line = |line: &crate::experiment::Line| crate::reproduce::LineOutcome {
            // The groups of the papers' experiments have the names of their senders.
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
    fn a_line_has_the_colour_of_its_sender_in_every_figure_and_no_two_lines_look_alike() {
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
    fn a_unit_is_read_from_the_end_of_a_label() {
        assert_eq!(["goodput (Mb/s)", "share (of all) (%)", "β"].map(unit), ["Mb/s", "%", ""]);
        assert_eq!(said(3.0, 0.25, "Mb/s"), "3 ± 0.25 Mb/s");
        assert_eq!(said(12_345.0, 0.0, ""), "12,345");
    }
}
