//! Segment numbers over time, within a short window: segments sent, and acknowledgements received.

use std::ops::Range;

use plotters::element::{Circle, Cross, TriangleMarker};
use plotters::series::LineSeries;
use plotters::style::Color;

use super::look;
use super::palette::{ALERT, MUTED, PAPER, TEXT};
use super::panel::Panel;
use super::plot::{self, Area, Axes, Drawn, Tips};
use super::series::steps;
use super::thin;
use crate::record::{Comparison, SendKind, Sent, Trace, VariantRuns};

/// The width and height of a panel, in drawing units. It is taller than other panels, so that the gap
/// between segments and acknowledgements is visible.
const PANEL_SIZE: (u32, u32) = (800, 600);

/// The number of segments of the fastest sender in its panel. More would not be distinguishable.
const MAX_SEGMENTS: f64 = 700.0;

/// Returns a panel for each variant with a trace. The time axis is common; each panel has its own
/// range of segments.
pub(super) fn panels(comparison: &Comparison) -> Vec<Panel> {
    let traces: Vec<&Trace> = comparison.variants.iter().map(|v| &v.trace).collect();
    let window = window(&traces);
    let panel = |variant: &VariantRuns| {
        let trace = within(&variant.trace, &window);
        if trace.sent.is_empty() {
            return None;
        }
        let segments = trace.sent.iter().map(|s| s.segment).chain(trace.acked.iter().map(|a| a.1));
        let segments = plot::span(segments);
        let edge = 0.03 * (segments.end - segments.start).max(1.0);
        let axes = Axes {
            x: window.clone(),
            y: segments.start - edge..segments.end + edge,
            x_label: "time (s)",
            y_label: "segment number",
        };
        let count = |kind| trace.sent.iter().filter(|s| s.kind == kind).count();
        let needed = count(SendKind::Retransmit);
        let spurious = count(SendKind::SpuriousRetransmit);
        let note = format!("{} retransmitted, {spurious} spuriously", needed + spurious);
        let label = format!("Segments sent by {} over time: {note}", variant.name);
        let svg = plot::svg(PANEL_SIZE, &label, |area, tips| {
            draw(area, tips, &axes, &trace, &variant.name)
        });
        Some(Panel::new(variant, &note, svg))
    };
    comparison.variants.iter().filter_map(panel).collect()
}

/// Returns the window to show: short enough for the fastest sender, and the one in which most
/// variants retransmit something; the earliest of equal ones.
fn window(traces: &[&Trace]) -> Range<f64> {
    let whole = plot::span(traces.iter().flat_map(|t| t.sent.iter().map(|s| s.time_s)));
    let most = traces.iter().map(|t| t.sent.len()).max().unwrap_or(0);
    // A recorder stops at a fixed number of segments, which the fastest sender reaches first.
    let fastest = traces.iter().filter(|t| t.sent.len() == most).filter_map(|t| t.sent.last());
    let end = plot::span(fastest.map(|s| s.time_s)).start.min(whole.end);
    let length = (end - whole.start) * f64::min(MAX_SEGMENTS / most as f64, 1.0);
    if !length.is_finite() {
        return whole;
    }
    let retransmits = |trace: &Trace, window: &Range<f64>| {
        let mut again = trace.sent.iter().filter(|s| s.kind != SendKind::New);
        again.any(|s| window.contains(&s.time_s))
    };
    let quarters = (0..).map(|i| whole.start + f64::from(i) * length / 4.0);
    let windows = quarters.map(|start| start..start + length);
    windows
        .take_while(|w| length > 0.0 && w.end <= end)
        .map(|w| (traces.iter().filter(|t| retransmits(t, &w)).count(), w))
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map_or(whole.start..end, |(_, window)| window)
}

/// Returns the part of a trace within the window.
fn within(trace: &Trace, window: &Range<f64>) -> Trace {
    let inside = |time: f64| window.start <= time && time <= window.end;
    Trace {
        sent: trace.sent.iter().filter(|s| inside(s.time_s)).copied().collect(),
        acked: thin::finite(&trace.acked).filter(|a| inside(a.0)).collect(),
        ..Trace::default()
    }
}

/// Draws a panel.
fn draw(area: &Area<'_>, tips: &mut Tips, axes: &Axes<'_>, trace: &Trace, variant: &str) -> Drawn {
    let mut chart = plot::chart(area, axes)?;
    let line = steps(&thin::line(&trace.acked, 300), axes.x.end);
    chart.draw_series(LineSeries::new(line, MUTED.colour().stroke_width(2)))?;

    let marks = |kind, cell| {
        let sent = trace.sent.iter().filter(|s| s.kind == kind);
        let sent = sent.filter(|s| s.time_s.is_finite() && s.segment.is_finite());
        let at = |s: &Sent| (s.time_s, s.segment);
        thin::dots(sent.map(at), cell, |point| chart.backend_coord(point))
    };
    let new = marks(SendKind::New, 4);
    let needed = marks(SendKind::Retransmit, 5);
    let spurious = marks(SendKind::SpuriousRetransmit, 5);

    let colour = look::of(variant).ink.colour();
    let ink = TEXT.colour();
    chart.draw_series(new.into_iter().map(|at| Circle::new(at, 3, colour.filled())))?;
    chart.draw_series(needed.iter().map(|&at| TriangleMarker::new(at, 9, ink.filled())))?;
    let halos = spurious.iter().map(|&at| Cross::new(at, 9, PAPER.colour().stroke_width(9)));
    chart.draw_series(halos)?;
    let crosses = spurious.iter().map(|&at| Cross::new(at, 7, ALERT.colour().stroke_width(4)));
    chart.draw_series(crosses)?;
    for slice in plot::slices(&axes.x) {
        let Some(text) = sent_within(trace, &slice) else { continue };
        let corners = [(slice.start, axes.y.end), (slice.end, axes.y.start)];
        tips.add(corners.map(|corner| chart.backend_coord(&corner)), &text);
    }
    for (marks, what) in [(&needed, "retransmission"), (&spurious, "spurious retransmission")] {
        for at in marks {
            let text = format!("{:.4} s: {what} of segment {}", at.0, plot::value(at.1));
            tips.mark(chart.backend_coord(at), &text);
        }
    }
    Ok(())
}

/// Describes the segments that were sent in a slice of time; none if there were none.
fn sent_within(trace: &Trace, slice: &Range<f64>) -> Option<String> {
    let inside = || trace.sent.iter().filter(|s| slice.contains(&s.time_s));
    let segments = plot::span(inside().map(|s| s.segment));
    let again = inside().filter(|s| s.kind != SendKind::New).count();
    let segments = (segments.start <= segments.end).then_some(segments)?;
    let from = slice.start;
    let until = slice.end;
    let which = plot::values(segments.start, segments.end);
    let again = if again > 0 { format!(", {again} of them again") } else { String::new() };
    Some(format!("{from:.3} to {until:.3} s: {} sent, {which}{again}", inside().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a trace with a segment for each of these times; the one at `again_at` is a retransmission.
    fn sends(times: impl Iterator<Item = f64>, again_at: f64) -> Trace {
        let kind = |t| if t == again_at { SendKind::Retransmit } else { SendKind::New };
        let sent = times.map(|t| Sent { time_s: t, segment: t, kind: kind(t) });
        Trace { sent: sent.collect(), ..Trace::default() }
    }

    #[test]
    fn a_short_trace_is_shown_whole() {
        assert_eq!(window(&[&sends((5..50).map(f64::from), 7.0)]), 5.0..49.0);
        assert_eq!(window(&[&sends([3.0].into_iter(), 3.0)]), 3.0..3.0);
        assert!(window(&[]).is_empty());
    }

    #[test]
    fn the_tooltip_of_a_slice_describes_its_segments() {
        let trace = sends((5..50).map(f64::from), 7.0);
        let text = sent_within(&trace, &(6.0..9.0));
        assert_eq!(text.as_deref(), Some("6.000 to 9.000 s: 3 sent, 6 to 8, 1 of them again"));
        assert_eq!(sent_within(&trace, &(50.0..60.0)), None);
    }

    #[test]
    fn the_window_of_a_long_trace_has_retransmissions() {
        let fast = sends((0..7001).map(f64::from), 4321.0);
        let slow = sends((0..70).map(|i| f64::from(i) * 100.0), 4400.0);
        let window = window(&[&fast, &slow]);
        assert!(window.contains(&4321.0) && window.contains(&4400.0), "{window:?}");
        assert!((window.end - window.start - MAX_SEGMENTS).abs() < 1.0, "{window:?}");
    }
}
