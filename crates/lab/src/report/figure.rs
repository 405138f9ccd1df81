//! A figure of a paper, redrawn from what was measured: curves with markers, bars or time series.
//!
//! Two drawing units make about a pixel, as in all plots.

mod bars;
mod curves;
mod field;

use super::palette;
use crate::experiment::{Experiment, Kind, Panel};
use crate::reproduce::FigureOutcome;

/// Width of a drawing.
const WIDTH: i32 = 1060;
/// Below the axes, for ticks and label.
const BELOW: i32 = 96;
/// Height of a line of the legend.
const ROW: i32 = 40;

/// The drawings of an outcome: title and SVG. None for tables.
pub(super) fn panels(outcome: &FigureOutcome<'_>) -> Vec<(String, String)> {
    let drawn = |(i, panel): (usize, &Panel)| {
        let svg = match panel.kind {
            Kind::Table => return None,
            Kind::Line | Kind::Points => curves::sweep(outcome, panel),
            Kind::Bars => bars::bars(outcome, panel),
            Kind::Time => curves::time(outcome, panel, i),
        };
        Some((panel.title.clone().unwrap_or_default(), svg))
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

/// The place of a line's colour and marker among those of all that are drawn: what has one name in the
/// legends has one look in all panels.
fn style(experiment: &Experiment, line: usize) -> usize {
    let mut labels: Vec<&str> = Vec::new();
    for drawn in (0..=line).filter(|&l| is_drawn(experiment, l)) {
        let label = experiment.lines[drawn].label.as_str();
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let label = &experiment.lines[line].label;
    labels.iter().position(|known| known == label).unwrap_or(line)
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
        let titled = row.iter().any(|(title, _)| !title.is_empty());
        let head = if titled { TITLE } else { 0 };
        let mut tallest = 0;
        for (i, (title, svg)) in row.iter().enumerate() {
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
        palette::stylesheet()
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

    #[test]
    fn no_two_lines_of_a_drawing_have_one_colour() {
        for experiment in Experiment::all(false).expect("the program's own") {
            for panel in &experiment.panels {
                let mut labels: HashMap<&str, &str> = HashMap::new();
                for &line in panel.lines.iter().filter(|&&l| shows(&experiment, panel, l)) {
                    let (name, label) = (
                        palette::variant(style(&experiment, line)).name,
                        &experiment.lines[line].label,
                    );
                    let known = labels.entry(name).or_insert(label);
                    assert_eq!(known, label, "{}: {name}", experiment.id);
                }
            }
        }
    }
}
