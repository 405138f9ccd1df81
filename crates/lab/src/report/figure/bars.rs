//! Bars.

use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::field::{Field, line, marker};
use super::{BELOW, ROW, WIDTH, shows};
use crate::experiment::Panel;
use crate::report::axis::Axis;
use crate::report::palette::{self, GRID, MUTED, TEXT};
use crate::report::plot::{self, CHARACTER};
use crate::reproduce::FigureOutcome;

/// Height of a bar with the space around it.
const BAR: i32 = 56;

/// A bar for each line; a diamond where the paper prints its own number.
pub(super) fn bars(outcome: &FigureOutcome<'_>, panel: &Panel) -> String {
    let experiment = outcome.experiment;
    let measure = &experiment.measures[panel.y];
    let shown: Vec<usize> =
        panel.lines.iter().copied().filter(|&l| shows(experiment, panel, l)).collect();
    let estimates: Vec<_> =
        shown.iter().map(|&l| outcome.lines[l].estimate(panel.y, panel.at)).collect();
    let printed: Vec<Option<f64>> = shown
        .iter()
        .map(|&l| experiment.paper_value(&measure.name, &experiment.lines[l].name))
        .collect();
    let values = estimates.iter().flat_map(|e| [e.mean, e.mean + e.half_width]);
    let x = match panel.y_range {
        Some([low, high]) => Axis::new(low, high, panel.y_log),
        None => {
            let all = values.chain(printed.iter().copied().flatten()).chain(panel.rule);
            Axis::of(all, panel.y_log, true)
        }
    };
    let longest = shown.iter().map(|&l| experiment.lines[l].label.chars().count()).max();
    let left = 24 + (CHARACTER as i32 + 1) * longest.unwrap_or(0).max(3) as i32;
    let height = BAR * shown.len() as i32;
    let any_printed = printed.iter().any(Option::is_some);
    let label = panel.y_label.as_deref().unwrap_or(&measure.label);
    let top = 16;
    let field = Field {
        x,
        y: Axis::new(0.0, 1.0, false),
        left: left.min(WIDTH / 2),
        right: WIDTH - 130,
        top,
        bottom: top + height,
    };
    let whole = top + height + BELOW + if any_printed { ROW } else { 0 };
    let words = format!("{}, {}: {}", experiment.id, experiment.figure, experiment.title);
    plot::svg((WIDTH as u32, whole as u32), &words, |area| {
        for (place, text) in field.x.ticks() {
            let x = field.across(place);
            line(area, &[(x, field.top), (x, field.bottom)], GRID.colour().stroke_width(2))?;
            let style = plot::text(MUTED, HPos::Center, VPos::Center);
            area.draw(&Text::new(text, (x, field.bottom + 26), style))?;
        }
        for (i, (&l, estimate)) in shown.iter().zip(&estimates).enumerate() {
            let middle = field.top + BAR * i as i32 + BAR / 2;
            let colour = palette::variant(l).colour();
            let style = plot::text(TEXT, HPos::Right, VPos::Center);
            let name = experiment.lines[l].label.clone();
            area.draw(&Text::new(name, (field.left - 12, middle), style))?;
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            let value = crate::claims::short(estimate.mean);
            area.draw(&Text::new(value, (field.right + 14, middle), style))?;
            let Some(end) = field.x.clamped(estimate.mean) else { continue };
            let begin = field.x.clamped(0.0).unwrap_or(0.0);
            let ends = [field.across(begin.min(end)), field.across(begin.max(end))];
            let corners = [(ends[0], middle - 15), (ends[1], middle + 15)];
            area.draw(&Rectangle::new(corners, colour.filled()))?;
            if estimate.half_width > 0.0 {
                let half = estimate.half_width;
                let ends = [estimate.mean - half, estimate.mean + half];
                if let [Some(low), Some(high)] = ends.map(|v| field.x.clamped(v)) {
                    let (low, high) = (field.across(low), field.across(high));
                    let style = TEXT.colour().stroke_width(3);
                    line(area, &[(low, middle), (high, middle)], style)?;
                    line(area, &[(low, middle - 10), (low, middle + 10)], style)?;
                    line(area, &[(high, middle - 10), (high, middle + 10)], style)?;
                }
            }
            if let Some(place) = printed[i].and_then(|v| field.x.place(v)) {
                marker(area, (field.across(place), middle), 3, TEXT.colour())?;
            }
        }
        let corner = (field.left, field.bottom);
        let axis = [(field.left, field.top), corner, (field.right, field.bottom)];
        line(area, &axis, MUTED.colour().stroke_width(2))?;
        let style = plot::text(MUTED, HPos::Center, VPos::Center);
        let middle = (field.left + field.right) / 2;
        area.draw(&Text::new(label.to_owned(), (middle, field.bottom + 66), style))?;
        if any_printed {
            let y = field.bottom + BELOW + ROW / 2;
            marker(area, (field.left + 12, y), 3, TEXT.colour())?;
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new("the paper’s number", (field.left + 34, y), style))?;
        }
        Ok(())
    })
}
