//! Figures with bars.

use plotters::element::{Rectangle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::field::{Field, line, marker};
use super::style::{BELOW, ROW, WIDTH, said, shows, style, unit};
use crate::experiment::Panel;
use crate::report::axis::Axis;
use crate::reproduce::FigureOutcome;
use unruffled_lab::report::palette::{Ink, TEXT};
use unruffled_lab::report::plot::{self, Area, Drawn, LETTER_WIDTH};
use unruffled_lab::statistics::Estimate;
use unruffled_lab::text::cut;

/// The height of a bar with the space around it.
const BAR: i32 = 56;
/// The space above the bars, and the space to their right for numbers.
const ABOVE: i32 = 16;
const RIGHT: i32 = 130;
/// The number of letters of a label that fit into half of the drawing.
const ROOM: usize = ((WIDTH / 2 - 24) / LETTER_WIDTH) as usize;

/// A bar and the text beside it.
struct Bar {
    label: String,
    ink: Ink,
    measured: Estimate,
    /// The number that the paper prints.
    printed: Option<f64>,
}

/// Draws a bar for each line, and a diamond for the number that the paper prints.
pub(super) fn bars(outcome: &FigureOutcome<'_>, panel: &Panel) -> String {
    let experiment = outcome.experiment;
    let measure = &experiment.measures[panel.y];
    let shown = panel.lines.iter().copied().filter(|&l| shows(experiment, panel, l));
    let bars: Vec<Bar> = shown
        .map(|l| Bar {
            label: cut(&experiment.lines[l].label, ROOM),
            ink: style(outcome, l).ink,
            measured: outcome.lines[l].estimate(panel.y, panel.at),
            printed: experiment.paper_value(&measure.name, &experiment.lines[l].name),
        })
        .collect();
    let x = match panel.y_range {
        Some([low, high]) => Axis::new(low, high, panel.y_log),
        None => {
            let measured = bars.iter().map(|bar| bar.measured);
            // Positive values need no room for an interval below zero.
            let low = |e: &Estimate| if e.mean < 0.0 { e.mean - e.half_width } else { e.mean };
            let measured = measured.flat_map(|e| [low(&e), e.mean + e.half_width]);
            let printed = bars.iter().filter_map(|bar| bar.printed);
            Axis::of(measured.chain(printed).chain(panel.rule), panel.y_log, true)
        }
    };
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max();
    let left = 24 + LETTER_WIDTH * longest.unwrap_or(0).max(3) as i32;
    let field = Field {
        x,
        y: Axis::new(0.0, 1.0, false),
        left,
        right: WIDTH - RIGHT,
        top: ABOVE,
        bottom: ABOVE + BAR * bars.len() as i32,
    };
    let any_printed = bars.iter().any(|bar| bar.printed.is_some());
    let height = field.bottom + BELOW + if any_printed { ROW } else { 0 };
    let words = format!("{}, {}: {}", experiment.id, experiment.figure, experiment.title);
    let axis = panel.y_label.as_deref().unwrap_or(&measure.label);
    plot::svg((WIDTH as u32, height as u32), &words, |area, tips| {
        field.draw_ticks_of_x(area)?;
        for (i, bar) in bars.iter().enumerate() {
            let top = field.top + BAR * i as i32;
            draw_bar(area, &field, top + BAR / 2, bar)?;
            let mut text = said(bar.measured.mean, bar.measured.half_width, unit(axis));
            if let Some(printed) = bar.printed {
                text += &format!("; the paper’s {}", said(printed, 0.0, ""));
            }
            tips.add([(0, top), (WIDTH, top + BAR)], &format!("{}: {text}", bar.label));
        }
        field.draw_axes(area, axis)?;
        if any_printed {
            let y = field.bottom + BELOW + ROW / 2;
            marker(area, (field.left + 12, y), 3, TEXT.colour())?;
            let style = plot::text(TEXT, HPos::Left, VPos::Center);
            area.draw(&Text::new("the paper’s number", (field.left + 34, y), style))?;
        }
        Ok(())
    })
}

/// Draws the bar with its interval, its label and its number, at the height `middle`.
fn draw_bar(area: &Area<'_>, field: &Field, middle: i32, bar: &Bar) -> Drawn {
    let Estimate { mean, half_width: half } = bar.measured;
    let style = plot::text(TEXT, HPos::Right, VPos::Center);
    area.draw(&Text::new(bar.label.as_str(), (field.left - 12, middle), style))?;
    let style = plot::text(TEXT, HPos::Left, VPos::Center);
    area.draw(&Text::new(plot::value(mean), (field.right + 14, middle), style))?;
    let Some(end) = field.x.clamped(mean) else { return Ok(()) };
    let begin = field.x.clamped(0.0).unwrap_or(0.0);
    let (left, right) = (field.across(begin.min(end)), field.across(begin.max(end)));
    let colour = bar.ink.colour();
    let corners = [(left, middle - 15), (right, middle + 15)];
    area.draw(&Rectangle::new(corners, colour.filled()))?;
    if half > 0.0
        && let [Some(low), Some(high)] = [mean - half, mean + half].map(|v| field.x.clamped(v))
    {
        let (low, high) = (field.across(low), field.across(high));
        let style = TEXT.colour().stroke_width(3);
        line(area, &[(low, middle), (high, middle)], style)?;
        line(area, &[(low, middle - 10), (low, middle + 10)], style)?;
        line(area, &[(high, middle - 10), (high, middle + 10)], style)?;
    }
    if let Some(place) = bar.printed.and_then(|v| field.x.place(v)) {
        marker(area, (field.across(place), middle), 3, TEXT.colour())?;
    }
    Ok(())
}
