//! Goodput per variant: bars with confidence intervals, against the undisturbed path.

use plotters::chart::ChartBuilder;
use plotters::element::{PathElement, Rectangle, Text};
use plotters::series::DashedLineSeries;
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor};

use super::palette::{self, GRID, MUTED, TEXT};
use super::plot::{self, Area, CHARACTER, Drawn, ticks};
use crate::summary::{Summary, goodput_decimals, number};
use crate::text::cut;

/// Drawing units per variant, and above and below all of them.
const ROW: usize = 54;
const ABOVE: usize = 44;
const BELOW: usize = 84;
/// Longer names are cut.
const LONGEST_NAME: usize = 24;

/// The plot, `width` drawing units wide.
pub(super) fn svg(summaries: &[Summary<'_>], undisturbed_bps: f64, width: u32) -> String {
    let height = (ABOVE + BELOW + ROW * summaries.len()) as u32;
    let mut label = "Goodput of each variant in Mb/s".to_owned();
    if summaries.iter().any(|s| s.runs > 1) {
        label += ", with 95 % confidence intervals";
    }
    plot::svg((width, height), &label, |area| draw(area, summaries, undisturbed_bps / 1e6))
}

fn draw(area: &Area<'_>, summaries: &[Summary<'_>], undisturbed: f64) -> Drawn {
    let n = summaries.len() as f64;
    let bars: Vec<(f64, f64)> = summaries
        .iter()
        .map(|s| (s.goodput_bps.mean / 1e6, s.goodput_bps.half_width / 1e6))
        .map(|(mean, half)| if mean.is_finite() { (mean, half.max(0.0)) } else { (0.0, 0.0) })
        .collect();
    let largest = bars.iter().map(|b| b.0 + b.1).chain([undisturbed]);
    let largest = Some(plot::span(largest).end).filter(|end| *end > 0.0).unwrap_or(1e-3) * 1.04;
    let longest = summaries.iter().map(|s| name(s).chars().count()).max().unwrap_or(0);
    let decimals = goodput_decimals(summaries.iter().map(|s| s.goodput_bps.mean));
    let value = |s: &Summary<'_>| number(s.goodput_bps.mean / 1e6, decimals);
    let widest = summaries.iter().map(|s| value(s).chars().count()).max().unwrap_or(0);

    let mut chart = ChartBuilder::on(area)
        .margin_top(ABOVE as u32)
        .margin_right(24 + CHARACTER * widest.max(6) as u32)
        .x_label_area_size(BELOW as u32)
        .y_label_area_size(longest as u32 * CHARACTER + 24)
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
        .x_desc("goodput (Mb/s)")
        .draw()?;

    for (i, (summary, &(mean, half))) in summaries.iter().zip(&bars).enumerate() {
        let (middle, colour) = (i as f64 + 0.5, palette::variant(i).colour());
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
    }
    if undisturbed.is_finite() && undisturbed > 0.0 {
        let style = TEXT.colour().stroke_width(3);
        let line = [(undisturbed, 0.0), (undisturbed, n)];
        chart.draw_series(DashedLineSeries::new(line, 8, 8, style))?;
        let (x, y) = chart.backend_coord(&(undisturbed, 0.0));
        let text = format!("undisturbed {}", number(undisturbed, decimals));
        let side = if x > text.len() as i32 * CHARACTER as i32 { HPos::Right } else { HPos::Left };
        let style = plot::text(TEXT, side, VPos::Center);
        area.draw(&Text::new(text, (x, y - 22), style))?;
    }
    Ok(())
}

/// The interval as a line with caps that stand out of the bar.
fn whisker(mean: f64, half: f64, y: f64, colour: RGBColor) -> [PathElement<(f64, f64)>; 3] {
    let (low, high) = (f64::max(mean - half, 0.0), mean + half);
    [
        [(low, y), (high, y)],
        [(low, y - 0.34), (low, y + 0.34)],
        [(high, y - 0.34), (high, y + 0.34)],
    ]
    .map(|ends| PathElement::new(ends, colour.stroke_width(3)))
}

fn name(summary: &Summary<'_>) -> String {
    cut(summary.variant, LONGEST_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;
    use crate::summary::summaries;

    #[test]
    fn a_long_number_has_room_beside_its_bar() {
        let mut comparison = fake::comparison();
        for (bps, wanted) in [(9.7e6, "9.70"), (9.7e3, "0.00970"), (97.037e9, "97037.0")] {
            let rows = comparison.variants.iter_mut().flat_map(|v| &mut v.rows);
            rows.for_each(|row| row.flow.goodput_bps = bps);
            let drawing = svg(&summaries(&comparison), 0.0, 760);
            let mut texts = drawing.split("<text x=\"");
            let text = texts.find(|text| text.contains(&format!(">{wanted}<"))).expect(wanted);
            let (left, _) = text.split_once('"').expect("is a number");
            let left: usize = left.parse().expect("is a number");
            assert!(left + wanted.len() * CHARACTER as usize <= 760, "{wanted} at {left}");
        }
    }
}
