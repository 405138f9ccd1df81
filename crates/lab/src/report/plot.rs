//! What all plots share: the drawing, the axes, the SVG as it goes into the page.
//!
//! Plotters has whole coordinates. Two drawing units therefore make about one pixel of the page, and
//! sizes of text and marks are twice what the reader sees.

use std::io;
use std::ops::Range;

use minijinja::HtmlEscape;
use plotters::backend::SVGBackend;
use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::types::RangedCoordf64;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::element::Text;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, TextStyle};

use super::palette::{GRID, Ink, MUTED};

/// What drawing returns; into a string it does not fail.
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<io::Error>>;

/// The drawing, or a part of it.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Two axes of real numbers and what is drawn between them.
pub(super) type Chart<'a> =
    ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Width and height of a panel among small multiples.
pub(super) const PANEL: (u32, u32) = (800, 450);

/// Mean width of a character of text.
pub(super) const CHARACTER: u32 = 14;

/// The same of a name that something stands beside, which it must not run into.
pub(super) const LETTER: i32 = CHARACTER as i32 + 1;

/// An SVG element of this size for a page, with `label` for those who cannot see it.
pub(super) fn svg(size: (u32, u32), label: &str, draw: impl FnOnce(&Area<'_>) -> Drawn) -> String {
    let mut drawing = String::new();
    let root = SVGBackend::with_string(&mut drawing, size).into_drawing_area();
    draw(&root).and_then(|()| root.present()).expect("drawing into a string does not fail");
    drop(root);

    // The element's own size would keep it from scaling; the rest are defaults, or in the stylesheet.
    let body = drawing.split_once('>').map_or("", |(_, body)| body);
    let body = [
        " opacity=\"1\"",
        " stroke=\"none\"",
        " stroke-width=\"1\"",
        " font-family=\"sans-serif\"",
        "\n",
    ]
    .iter()
    .fold(body.to_owned(), |body, default| body.replace(default, ""))
    .replace(" \"/>", "\"/>");
    let (width, height) = size;
    let label = HtmlEscape(label);
    format!("<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{body}")
}

/// Text in drawing units.
pub(super) fn text(ink: Ink, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    // Plotters divides the size by 1.24 on the way to `font-size`, which is to be 25.
    let font = FontDesc::new(FontFamily::SansSerif, 31.0, FontStyle::Normal);
    font.color(&ink.colour()).pos(Pos::new(horizontal, vertical))
}

/// Ranges and labels of the two axes.
pub(super) struct Axes<'a> {
    pub(super) x: Range<f64>,
    pub(super) y: Range<f64>,
    pub(super) x_label: &'a str,
    pub(super) y_label: &'a str,
}

/// Draws axes, grid and labels; the label of the upright axis lies above it.
pub(super) fn chart<'a>(area: &Area<'a>, axes: &Axes<'_>) -> Drawn<Chart<'a>> {
    let (x, y) = (proper(&axes.x), proper(&axes.y));
    // What follows the point takes room where there is much of it.
    let fraction = Some(decimals(&y)).filter(|&n| n > DECIMALS).map_or(0, |n| n as usize);
    let whole = |v: f64| tick(v.trunc(), DECIMALS).chars().count();
    let widest = whole(y.start).max(whole(y.end)) + fraction;
    let mut chart = ChartBuilder::on(area)
        .margin_top(54)
        .margin_right(34)
        .x_label_area_size(76)
        .y_label_area_size(24 + CHARACTER * widest.max(4) as u32)
        .build_cartesian_2d(x.clone(), y.clone())?;
    let label = text(MUTED, HPos::Center, VPos::Center);
    chart
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID.colour().stroke_width(2))
        .axis_style(MUTED.colour().stroke_width(2))
        .x_labels(6)
        .y_labels(5)
        .x_label_formatter(&ticks(&x))
        .y_label_formatter(&ticks(&y))
        .label_style(label.clone())
        .axis_desc_style(label)
        .x_desc(axes.x_label)
        .draw()?;
    let style = text(MUTED, HPos::Left, VPos::Center);
    area.draw(&Text::new(axes.y_label, (2, 20), style))?;
    Ok(chart)
}

/// A range that plotters can divide by.
fn proper(range: &Range<f64>) -> Range<f64> {
    let usable = range.start.is_finite() && range.end.is_finite() && range.start < range.end;
    if usable { range.clone() } else { 0.0..1.0 }
}

/// The smallest range that holds all values; empty if there are none.
pub(super) fn span(values: impl IntoIterator<Item = f64>) -> Range<f64> {
    let widen = |r: Range<f64>, v: f64| r.start.min(v)..r.end.max(v);
    values.into_iter().filter(|v| v.is_finite()).fold(f64::INFINITY..f64::NEG_INFINITY, widen)
}

/// The next number above with three digits, so that an axis ends on a round one.
pub(super) fn round_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.abs().log10().floor() - 2.0);
    if unit.is_normal() { (value / unit).ceil() * unit } else { value }
}

/// Decimals at an axis, unless it is so short that these do not tell its numbers apart.
const DECIMALS: i32 = 3;

/// How many decimals tell the numbers at an axis apart.
fn decimals(range: &Range<f64>) -> i32 {
    let magnitude = (range.end - range.start).log10().floor() as i32;
    (2 - magnitude).clamp(DECIMALS, 12)
}

/// Writes the numbers at the axis.
pub(super) fn ticks(range: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let decimals = decimals(range);
    move |&value| tick(value, decimals)
}

/// A number at an axis: so many decimals at most, thousands apart.
fn tick(value: f64, decimals: i32) -> String {
    let text = format!("{value:.*}", decimals as usize);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    grouped(whole) + fraction
}

/// Thousands apart, by a narrow space that does not break.
pub(super) fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        let inside = text.ends_with(|before: char| before.is_ascii_digit());
        if inside && digits.len() > 4 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short() {
        let shown = [0.0, 0.1 + 0.2, 500.25, 1000.0].map(|v| ticks(&(0.0..1000.0))(&v));
        assert_eq!(shown, ["0", "0.3", "500.25", "1000"]);
        let shown = [81_250.0, -812_500.0, 1_200_000.0].map(|v| ticks(&(-1e6..2e6))(&v));
        assert_eq!(shown, ["81\u{202f}250", "-812\u{202f}500", "1\u{202f}200\u{202f}000"]);
    }

    #[test]
    fn ticks_of_a_short_axis_are_told_apart() {
        let shown = [0.0, 0.0002, 0.0004].map(|v| ticks(&(0.0..0.001))(&v));
        assert_eq!(shown, ["0", "0.0002", "0.0004"]);
        let shown = [5.0, 5.000_05, 5.000_1].map(|v| ticks(&(5.0..5.000_12))(&v));
        assert_eq!(shown, ["5", "5.00005", "5.0001"]);
    }

    #[test]
    fn an_axis_ends_on_a_round_number() {
        assert_eq!([0.0, 999.5, 437.2, 1000.0].map(round_up), [0.0, 1000.0, 438.0, 1000.0]);
    }

    #[test]
    fn a_drawing_scales_and_says_what_it_shows() {
        let drawing = svg((80, 40), "cwnd of <a>", |area| area.fill(&GRID.colour()));
        assert!(drawing.starts_with("<svg viewBox=\"0 0 80 40\" role=\"img\" "), "{drawing}");
        assert!(drawing.contains("aria-label=\"cwnd of &lt;a&gt;\""), "{drawing}");
        assert!(drawing.ends_with("</svg>"), "{drawing}");
    }

    #[test]
    fn axes_without_data_are_drawn_all_the_same() {
        let axes = Axes { x: span([]), y: 3.0..3.0, x_label: "time", y_label: "cwnd" };
        let drawing = svg(PANEL, "nothing", |area| chart(area, &axes).map(drop));
        assert!(drawing.contains("time"), "{drawing}");
    }
}
