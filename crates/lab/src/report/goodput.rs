//! The goodput of each variant: bars with confidence intervals, and a line for the undisturbed path.

use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::series::DashedLineSeries;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::look;
use super::palette::{GRID, MUTED, TEXT};
use super::plot::{self, Area, CHARACTER_WIDTH, Drawn, Tips, ticks};
use crate::rate::Scale;
use crate::summary::{Summary, goodput};
use crate::text::cut;
use crate::text::number;

/// The height of a variant's row, in drawing units.
const ROW_HEIGHT: usize = 54;
/// The margins above and below all rows, in drawing units.
const MARGIN_ABOVE: usize = 44;
const MARGIN_BELOW: usize = 84;
/// The most characters of a name; longer names are shortened.
const MAX_NAME_LENGTH: usize = 24;

/// Returns the plot, `width` drawing units wide, in the unit of the table.
pub(super) fn svg(
    summaries: &[Summary<'_>],
    undisturbed_bps: f64,
    scale: Scale,
    width: u32,
) -> String {
    let height = (MARGIN_ABOVE + MARGIN_BELOW + ROW_HEIGHT * summaries.len()) as u32;
    let mut label = format!("Goodput of each variant in {}", scale.name());
    if summaries.iter().any(|s| s.runs > 1) {
        label += ", with 95 % confidence intervals";
    }
    let draw =
        |area: &Area<'_>, tips: &mut Tips| draw(area, tips, summaries, undisturbed_bps, scale);
    plot::svg((width, height), &label, draw)
}

fn draw(
    area: &Area<'_>,
    tips: &mut Tips,
    summaries: &[Summary<'_>],
    undisturbed_bps: f64,
    scale: Scale,
) -> Drawn {
    let n = summaries.len() as f64;
    let undisturbed = scale.value(undisturbed_bps);
    let bars: Vec<(f64, f64)> = summaries
        .iter()
        .map(|s| (scale.value(s.goodput_bps.mean), scale.value(s.goodput_bps.half_width)))
        .map(|(mean, half)| if mean.is_finite() { (mean, half.max(0.0)) } else { (0.0, 0.0) })
        .collect();
    let largest = bars.iter().map(|b| b.0 + b.1).chain([undisturbed]);
    let largest = Some(plot::span(largest).end).filter(|end| *end > 0.0).unwrap_or(1e-3) * 1.04;
    let longest = summaries.iter().map(|s| name(s).chars().count()).max().unwrap_or(0);
    let value = |s: &Summary<'_>| scale.number(s.goodput_bps.mean);
    let widest = summaries.iter().map(|s| value(s).chars().count()).max().unwrap_or(0);

    let mut chart = ChartBuilder::on(area)
        .margin_top(MARGIN_ABOVE as u32)
        .margin_right(24 + CHARACTER_WIDTH * widest.max(6) as u32)
        .x_label_area_size(MARGIN_BELOW as u32)
        .y_label_area_size(longest as u32 * CHARACTER_WIDTH + 24)
        .build_cartesian_2d(0.0..largest, n..0.0)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID.colour().stroke_width(2))
        .axis_style(MUTED.colour().stroke_width(2))
        .x_labels(6)
        .y_labels(0)
        .x_label_formatter(&ticks(&(0.0..largest)))
        .label_style(plot::text(MUTED, HPos::Center, VPos::Center))
        .axis_desc_style(plot::text(MUTED, HPos::Center, VPos::Center))
        .x_desc(format!("goodput ({})", scale.name()))
        .draw()?;

    for (i, (summary, &(mean, half))) in summaries.iter().zip(&bars).enumerate() {
        let middle = i as f64 + 0.5;
        let colour = look::of(summary.variant).ink.colour();
        let corners = [(0.0, middle - 0.22), (mean, middle + 0.22)];
        chart.draw_series([Rectangle::new(corners, colour.filled())])?;
        if half > 0.0 {
            chart.draw_series(whisker(mean, half, middle, TEXT.colour()))?;
        }

        let (left, y) = chart.backend_coord(&(0.0, middle));
        let right = chart.backend_coord(&(largest, middle)).0;
        let style = plot::text(TEXT, HPos::Right, VPos::Center);
        area.draw(&Text::new(name(summary), (left - 12, y), style))?;
        let style = plot::text(TEXT, HPos::Left, VPos::Center);
        area.draw(&Text::new(value(summary), (right + 14, y), style))?;
        let half_row = ROW_HEIGHT as i32 / 2;
        tips.add([(0, y - half_row), (right + 14, y + half_row)], &tip(summary, scale));
    }
    if undisturbed.is_finite() && undisturbed > 0.0 {
        let style = TEXT.colour().stroke_width(3);
        let line = [(undisturbed, 0.0), (undisturbed, n)];
        chart.draw_series(DashedLineSeries::new(line, 8, 8, style))?;
        let (x, y) = chart.backend_coord(&(undisturbed, 0.0));
        let text = format!("undisturbed {}", scale.number(undisturbed_bps));
        let side =
            if x > text.len() as i32 * CHARACTER_WIDTH as i32 { HPos::Right } else { HPos::Left };
        let style = plot::text(TEXT, side, VPos::Center);
        area.draw(&Text::new(text, (x, y - 22), style))?;
    }
    Ok(())
}

/// Returns the tooltip of a bar: the goodput, its interval and its share.
fn tip(summary: &Summary<'_>, scale: Scale) -> String {
    let mut text = format!("{}: {} {}", summary.variant, goodput(summary, scale), scale.name());
    if summary.share.mean.is_finite() {
        text += &format!(", {} % of undisturbed", number(summary.share.mean * 100.0, 1));
    }
    text
}

/// Returns the interval as a line with caps that are wider than the bar.
fn whisker(mean: f64, half: f64, y: f64, colour: RGBColor) -> [PathElement<(f64, f64)>; 3] {
    let low = f64::max(mean - half, 0.0);
    let high = mean + half;
    [
        [(low, y), (high, y)],
        [(low, y - 0.34), (low, y + 0.34)],
        [(high, y - 0.34), (high, y + 0.34)],
    ]
    .map(|ends| PathElement::new(ends, colour.stroke_width(3)))
}

fn name(summary: &Summary<'_>) -> String {
    cut(summary.variant, MAX_NAME_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;
    use crate::reference::{Limit, Reference};
    use crate::summary::{scale, summaries};

    #[test]
    fn a_long_number_has_room_beside_its_bar() {
        let mut comparison = fake::comparison();
        comparison.reference = Reference::new(0.0, Limit::Links);
        for (bps, expected) in [(9.7e6, "9.70"), (9.7e3, "9.70"), (9703.7e9, "9,703.7")] {
            let rows = comparison.variants.iter_mut().flat_map(|v| &mut v.rows);
            rows.for_each(|row| row.flow.goodput_bps = bps);
            let summaries = summaries(&comparison);
            let drawing = svg(&summaries, 0.0, scale(&comparison, &summaries), 760);
            let mut texts = drawing.split("<text x=\"");
            let text = texts.find(|text| text.contains(&format!(">{expected}<"))).expect(expected);
            let (left, _) = text.split_once('"').expect("is a number");
            let left: usize = left.parse().expect("is a number");
            assert!(
                left + expected.len() * CHARACTER_WIDTH as usize <= 760,
                "{expected} at {left}"
            );
        }
    }

    #[test]
    fn the_tooltip_of_a_bar_has_value_interval_and_share() {
        let mut comparison = fake::comparison();
        comparison.variants.truncate(1);
        comparison.reference = Reference::new(20e9, Limit::Links);
        // 4 and 6 Gb/s: the mean is 5, the half-width t(0.975, 1) * sqrt 2 / sqrt 2 = 12.706.
        comparison.variants[0].rows.truncate(2);
        comparison.variants[0].rows[0].flow.goodput_bps = 4e9;
        comparison.variants[0].rows[1].flow.goodput_bps = 6e9;
        let summaries = summaries(&comparison);
        let drawing = svg(&summaries, 20e9, scale(&comparison, &summaries), 760);
        let title = "<title>sack: 5.00 ± 12.71 Gb/s, 25.0 % of undisturbed</title>";
        assert!(drawing.contains(title), "{drawing}");
        assert!(drawing.contains("goodput (Gb/s)") && drawing.contains("undisturbed 20.00"));
    }
}
