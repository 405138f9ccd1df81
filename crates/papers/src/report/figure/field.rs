//! The part of a drawing between its axes, with lines and markers.

use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, VPos};
use plotters::style::{Color, RGBColor, ShapeStyle};

use super::style::WIDTH;
use crate::report::axis::Axis;
use unruffled_lab::report::palette::{GRID, MUTED};
use unruffled_lab::report::plot::{self, Area, CHARACTER_WIDTH, Drawn};
use unruffled_lab::text::cut;

/// Half of the width of a marker.
const MARK: i32 = 9;

/// The labels of the axes.
pub(super) struct Labels<'a> {
    pub(super) x: &'a str,
    pub(super) y: &'a str,
}

/// The part of a drawing between its axes.
pub(super) struct Field {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) left: i32,
    pub(super) right: i32,
    pub(super) top: i32,
    pub(super) bottom: i32,
}

impl Field {
    /// Returns the drawing unit at a position from 0, the left end, to 1, the right end.
    pub(super) fn across(&self, place: f64) -> i32 {
        self.left + (place * f64::from(self.right - self.left)).round() as i32
    }

    /// Returns the drawing unit at a position from 0, the lower end, to 1, the upper end.
    pub(super) fn up(&self, place: f64) -> i32 {
        self.bottom - (place * f64::from(self.bottom - self.top)).round() as i32
    }

    /// Draws grid, axes, ticks and labels.
    pub(super) fn draw(&self, area: &Area<'_>, labels: &Labels<'_>) -> Drawn {
        self.draw_ticks_of_x(area)?;
        for (place, text) in self.y.ticks() {
            let y = self.up(place);
            line(area, &[(self.left, y), (self.right, y)], GRID.colour().stroke_width(2))?;
            let style = plot::text(MUTED, HPos::Right, VPos::Center);
            area.draw(&Text::new(text, (self.left - 12, y), style))?;
        }
        self.draw_axes(area, labels.x)?;
        let style = plot::text(MUTED, HPos::Left, VPos::Center);
        area.draw(&Text::new(cut(labels.y, fitting(WIDTH)), (2, 20), style))
    }

    /// Draws the ticks of the lower axis, with the grid above them.
    pub(super) fn draw_ticks_of_x(&self, area: &Area<'_>) -> Drawn {
        for (place, text) in self.x.ticks() {
            let x = self.across(place);
            line(area, &[(x, self.top), (x, self.bottom)], GRID.colour().stroke_width(2))?;
            let style = plot::text(MUTED, HPos::Center, VPos::Center);
            area.draw(&Text::new(text, (x, self.bottom + 26), style))?;
        }
        Ok(())
    }

    /// Draws both axes, and the label of the lower one.
    pub(super) fn draw_axes(&self, area: &Area<'_>, label: &str) -> Drawn {
        let corner = (self.left, self.bottom);
        let axes = [(self.left, self.top), corner, (self.right, self.bottom)];
        line(area, &axes, MUTED.colour().stroke_width(2))?;
        let style = plot::text(MUTED, HPos::Center, VPos::Center);
        let middle = (self.left + self.right) / 2;
        let label = cut(label, fitting(2 * middle.min(WIDTH - middle)));
        area.draw(&Text::new(label, (middle, self.bottom + 66), style))
    }

    /// Returns the drawing units of a point, if it is within both axes.
    pub(super) fn place(&self, x: f64, y: f64) -> Option<(i32, i32)> {
        Some((self.across(self.x.place(x)?), self.up(self.y.place(y)?)))
    }
}

/// Returns the number of characters that fit into so many units.
fn fitting(units: i32) -> usize {
    (units / CHARACTER_WIDTH as i32).max(1) as usize
}

/// Draws a line through these points.
pub(super) fn line(area: &Area<'_>, points: &[(i32, i32)], style: ShapeStyle) -> Drawn {
    area.draw(&PathElement::new(points.to_vec(), style))
}

/// Draws a dashed line from left to right, with gaps as long as the dashes.
pub(super) fn dashed(
    area: &Area<'_>,
    from: (i32, i32),
    to: (i32, i32),
    style: ShapeStyle,
) -> Drawn {
    in_dashes(area, &[from, to], &[14, 14], style)
}

/// The lengths of dashes and gaps in drawing units, which distinguish lines of one colour; the
/// first pattern is solid.
pub(super) const DASHES: [&[i32]; 4] = [&[], &[16, 10], &[4, 9], &[22, 8, 4, 8]];

/// Draws a line through these points with the dash pattern of that index.
pub(super) fn line_in(
    area: &Area<'_>,
    points: &[(i32, i32)],
    dash: usize,
    style: ShapeStyle,
) -> Drawn {
    match DASHES[dash % DASHES.len()] {
        [] => line(area, points, style),
        pattern => in_dashes(area, points, pattern, style),
    }
}

/// Draws a dashed line through these points; the pattern continues around corners.
fn in_dashes(area: &Area<'_>, points: &[(i32, i32)], pattern: &[i32], style: ShapeStyle) -> Drawn {
    let lengths = pattern.iter().map(|&length| f64::from(length));
    let mut lengths = lengths.enumerate().cycle();
    let Some((mut index, mut left)) = lengths.next() else { return line(area, points, style) };
    let mut dash: Vec<(i32, i32)> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let [from, to] = [pair[0], pair[1]].map(|(x, y)| (f64::from(x), f64::from(y)));
        let long = (to.0 - from.0).hypot(to.1 - from.1);
        let mut gone = 0.0;
        while long - gone > left {
            gone += left;
            let share = gone / long;
            let at =
                [(from.0, to.0), (from.1, to.1)].map(|(a, b)| (a + (b - a) * share).round() as i32);
            dash.push((at[0], at[1]));
            if index.is_multiple_of(2) {
                line(area, &dash, style)?;
            }
            dash = vec![(at[0], at[1])];
            (index, left) = lengths.next().unwrap_or((0, f64::INFINITY));
        }
        left -= long - gone;
        dash.push(pair[1]);
    }
    if index.is_multiple_of(2) && dash.len() > 1 { line(area, &dash, style) } else { Ok(()) }
}

/// The number of markers.
pub(super) const MARKERS: usize = 11;

/// Draws one of several shapes, which distinguish curves without their colours.
pub(super) fn marker(area: &Area<'_>, (x, y): (i32, i32), which: usize, colour: RGBColor) -> Drawn {
    let r = MARK;
    let fill = colour.filled();
    let edge = colour.stroke_width(4);
    let polygon = |points: &[(i32, i32)]| {
        let points: Vec<_> = points.iter().map(|p| (x + p.0, y + p.1)).collect();
        area.draw(&Polygon::new(points, fill))
    };
    let outline = |points: &[(i32, i32)]| {
        let around = points.iter().chain(points.first());
        line(area, &around.map(|p| (x + p.0, y + p.1)).collect::<Vec<_>>(), edge)
    };
    match which % MARKERS {
        0 => area.draw(&Circle::new((x, y), r, fill)),
        1 => polygon(&[(-r - 1, r - 1), (r + 1, r - 1), (0, -r - 2)]),
        2 => area.draw(&Rectangle::new([(x - r + 1, y - r + 1), (x + r - 1, y + r - 1)], fill)),
        3 => polygon(&[(0, -r - 3), (r + 3, 0), (0, r + 3), (-r - 3, 0)]),
        4 => {
            line(area, &[(x - r, y - r), (x + r, y + r)], edge)?;
            line(area, &[(x - r, y + r), (x + r, y - r)], edge)
        }
        5 => area.draw(&Circle::new((x, y), r, edge)),
        6 => polygon(&[(-r - 1, -r + 1), (r + 1, -r + 1), (0, r + 2)]),
        7 => {
            line(area, &[(x - r - 2, y), (x + r + 2, y)], edge)?;
            line(area, &[(x, y - r - 2), (x, y + r + 2)], edge)
        }
        8 => outline(&[(-r + 1, -r + 1), (r - 1, -r + 1), (r - 1, r - 1), (-r + 1, r - 1)]),
        9 => outline(&[(0, -r - 2), (r + 2, 0), (0, r + 2), (-r - 2, 0)]),
        _ => outline(&[(-r - 1, r - 1), (r + 1, r - 1), (0, -r - 2)]),
    }
}
