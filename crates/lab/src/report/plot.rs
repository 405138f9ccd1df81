//! The common base of all plots: the drawing, the axes, and the SVG element.
//!
//! Plotters has integer coordinates. For a finer resolution, two drawing units are about one pixel of
//! the page: sizes of text and marks are twice those on the screen.

use std::io;
use std::ops::Range;

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
use crate::text::{grouped, short};

/// The result of drawing. Drawing into a string does not fail.
pub type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<io::Error>>;

/// A drawing, or a part of it.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A chart with two axes of real numbers.
pub type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// The width and height of a panel, in drawing units.
pub const PANEL_SIZE: (u32, u32) = (800, 450);

/// The mean width of a character, in drawing units.
pub const CHARACTER_WIDTH: u32 = 14;

/// The width to reserve for a character of a name that has something beside it, in drawing units.
pub const LETTER_WIDTH: i32 = CHARACTER_WIDTH as i32 + 1;

/// The distance from a mark to the edges of its tooltip, in drawing units.
const REACH: i32 = 13;

/// The distance from a mark that leads elsewhere to the edges around it, in drawing units: 24 pixels are
/// easy to hit.
const LINK_REACH: i32 = 24;

/// The tooltips of a drawing.
#[derive(Debug, Default)]
pub struct Tips(String);

impl Tips {
    /// Adds a tooltip for the rectangle between two corners, in drawing units.
    pub fn add(&mut self, corners: [(i32, i32); 2], text: &str) {
        let [(x, y), (right, below)] = corners;
        let left = x.min(right);
        let top = y.min(below);
        // A smaller rectangle would be hard to point at.
        let wide = (x - right).abs().max(4);
        let high = (y - below).abs().max(4);
        let text = escaped(text);
        self.0 += &format!(
            "<rect x=\"{left}\" y=\"{top}\" width=\"{wide}\" height=\"{high}\"><title>{text}</title></rect>"
        );
    }

    /// Adds a tooltip for the surroundings of a mark.
    pub fn mark(&mut self, (x, y): (i32, i32), text: &str) {
        self.add([(x - REACH, y - REACH), (x + REACH, y + REACH)], text);
    }

    /// Adds a tooltip for the surroundings of a mark, which lead to the element with that identifier.
    pub fn link(&mut self, (x, y): (i32, i32), text: &str, id: &str) {
        self.0 += &format!("<a href=\"#{}\" aria-label=\"{}\">", escaped(id), escaped(text));
        self.add([(x - LINK_REACH, y - LINK_REACH), (x + LINK_REACH, y + LINK_REACH)], text);
        self.0 += "</a>";
    }
}

/// Escapes text for HTML and SVG.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// Returns an SVG element of this size for a page; `label` is its text for screen readers.
pub fn svg(
    size: (u32, u32),
    label: &str,
    draw: impl FnOnce(&Area<'_>, &mut Tips) -> Drawn,
) -> String {
    let mut drawing = String::new();
    let mut tips = Tips::default();
    let root = SVGBackend::with_string(&mut drawing, size).into_drawing_area();
    let drawn = draw(&root, &mut tips).and_then(|()| root.present());
    drawn.expect("drawing into a string does not fail");
    drop(root);

    // A size of its own would prevent the element from scaling. The removed attributes are defaults, or
    // set by the style sheet.
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
    let label = escaped(label);
    // What is within an image cannot be reached by keyboard or screen reader.
    let role = if tips.0.contains("<a ") { "group" } else { "img" };
    let body = body.trim_end().trim_end_matches("</svg>");
    let tips = match tips.0 {
        tips if tips.is_empty() => tips,
        tips => format!("<g class=\"tips\" fill=\"none\" pointer-events=\"all\">{tips}</g>"),
    };
    format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"{role}\" aria-label=\"{label}\">{body}{tips}</svg>"
    )
}

/// Returns the style of text with this colour and anchor.
pub fn text(ink: Ink, horizontal: HPos, vertical: VPos) -> TextStyle<'static> {
    // Plotters divides the size by 1.24: `font-size` is 25.
    let font = FontDesc::new(FontFamily::SansSerif, 31.0, FontStyle::Normal);
    font.color(&ink.colour()).pos(Pos::new(horizontal, vertical))
}

/// The ranges and labels of the two axes.
pub struct Axes<'a> {
    /// The range of the horizontal axis.
    pub x: Range<f64>,
    /// The range of the vertical axis.
    pub y: Range<f64>,
    /// The label of the horizontal axis, with the unit.
    pub x_label: &'a str,
    /// The label of the vertical axis, with the unit.
    pub y_label: &'a str,
}

/// Draws axes, grid and labels. The label of the vertical axis is above it.
pub fn chart<'a>(area: &Area<'a>, axes: &Axes<'_>) -> Drawn<Chart<'a>> {
    let x = proper(&axes.x);
    let y = proper(&axes.y);
    // More decimals than usual need more room.
    let fraction = Some(decimals(&y)).filter(|&n| n > MIN_DECIMALS).map_or(0, |n| n as usize);
    let whole = |v: f64| tick(v.trunc(), MIN_DECIMALS).chars().count();
    let widest = whole(y.start).max(whole(y.end)) + fraction;
    let mut chart = ChartBuilder::on(area)
        .margin_top(54)
        .margin_right(34)
        .x_label_area_size(76)
        .y_label_area_size(24 + CHARACTER_WIDTH * widest.max(4) as u32)
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

/// Returns the range if it is finite and not empty, which plotters requires; otherwise 0 to 1.
fn proper(range: &Range<f64>) -> Range<f64> {
    let usable = range.start.is_finite() && range.end.is_finite() && range.start < range.end;
    if usable { range.clone() } else { 0.0..1.0 }
}

/// Returns the smallest range that contains all finite values; empty if there are none.
pub fn span(values: impl IntoIterator<Item = f64>) -> Range<f64> {
    let widen = |r: Range<f64>, v: f64| r.start.min(v)..r.end.max(v);
    values.into_iter().filter(|v| v.is_finite()).fold(f64::INFINITY..f64::NEG_INFINITY, widen)
}

/// Rounds up to three digits, so that an axis ends at a round number.
pub fn round_up(value: f64) -> f64 {
    let unit = 10_f64.powf(value.abs().log10().floor() - 2.0);
    if unit.is_normal() { (value / unit).ceil() * unit } else { value }
}

/// The decimals of numbers at an axis, unless a short axis needs more to distinguish them.
const MIN_DECIMALS: i32 = 3;

/// Returns the number of decimals that distinguish the numbers at an axis.
fn decimals(range: &Range<f64>) -> i32 {
    let magnitude = (range.end - range.start).log10().floor() as i32;
    (2 - magnitude).clamp(MIN_DECIMALS, 12)
}

/// Returns a function that formats the numbers at an axis.
pub fn ticks(range: &Range<f64>) -> impl Fn(&f64) -> String + use<> {
    let decimals = decimals(range);
    move |&value| tick(value, decimals)
}

/// Formats a number at an axis with at most `decimals` decimals and separated thousands.
fn tick(value: f64, decimals: i32) -> String {
    let text = format!("{value:.*}", decimals as usize);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    grouped(whole) + fraction
}

/// Returns the unit for times up to `largest_s` seconds: the factor from seconds, and the name.
pub fn time_unit(largest_s: f64) -> (f64, &'static str) {
    match largest_s {
        largest if largest >= 1.0 || largest.is_nan() || largest <= 0.0 => (1.0, "s"),
        largest if largest >= 1e-3 => (1e3, "ms"),
        _ => (1e6, "µs"),
    }
}

/// Formats a number with about four digits and separated thousands.
pub fn value(number: f64) -> String {
    grouped(&short(number))
}

/// Formats a range of numbers, or a single number if both are the same.
pub fn values(low: f64, high: f64) -> String {
    match (value(low), value(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{low} to {high}"),
    }
}

/// The number of slices of time with a tooltip of their own.
const TOOLTIP_SLICES: u32 = 60;

/// Returns the slices of a time axis.
pub fn slices(axis: &Range<f64>) -> impl Iterator<Item = Range<f64>> + use<> {
    let start = axis.start;
    let wide = (axis.end - axis.start) / f64::from(TOOLTIP_SLICES);
    let usable = wide.is_finite() && wide > 0.0;
    let edge = move |i: u32| start + f64::from(i) * wide;
    (0..if usable { TOOLTIP_SLICES } else { 0 }).map(move |i| edge(i)..edge(i + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_few_decimals() {
        let shown = [0.0, 0.1 + 0.2, 500.25, 1000.0].map(|v| ticks(&(0.0..1000.0))(&v));
        assert_eq!(shown, ["0", "0.3", "500.25", "1,000"]);
        let shown = [81_250.0, -812_500.0, 1_200_000.0].map(|v| ticks(&(-1e6..2e6))(&v));
        assert_eq!(shown, ["81,250", "-812,500", "1,200,000"]);
    }

    #[test]
    fn the_ticks_of_a_short_axis_are_distinguished() {
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
    fn a_drawing_scales_and_has_a_label_and_tooltips() {
        let drawing = svg((80, 40), "cwnd of <a>", |area, tips| {
            tips.add([(1, 2), (11, 22)], "3 < 4 & 5");
            area.fill(&GRID.colour())
        });
        assert!(drawing.starts_with("<svg viewBox=\"0 0 80 40\" role=\"img\" "), "{drawing}");
        assert!(drawing.contains("aria-label=\"cwnd of &lt;a&gt;\""), "{drawing}");
        assert!(drawing.ends_with("</rect></g></svg>"), "{drawing}");
        let tip = "<rect x=\"1\" y=\"2\" width=\"10\" height=\"20\"><title>3 &lt; 4 &amp; 5</title></rect>";
        assert!(drawing.contains(tip), "{drawing}");
    }

    #[test]
    fn times_and_values_have_suitable_units_and_few_digits() {
        assert_eq!([1000.0, 0.5, 0.0005, 0.0].map(|s| time_unit(s).1), ["s", "ms", "µs", "s"]);
        assert_eq!([values(2.0, 2.0), values(1.0, 12_345.0)], ["2", "1 to 12,345"]);
        let slices: Vec<_> = slices(&(0.0..120.0)).collect();
        assert_eq!((slices.len(), slices[59].clone()), (60, 118.0..120.0));
        assert_eq!(super::slices(&(1.0..1.0)).count(), 0);
    }

    #[test]
    fn axes_without_data_can_be_drawn() {
        let axes = Axes { x: span([]), y: 3.0..3.0, x_label: "time", y_label: "cwnd" };
        let drawing = svg(PANEL_SIZE, "nothing", |area, _| chart(area, &axes).map(drop));
        assert!(drawing.contains("time"), "{drawing}");
    }
}
