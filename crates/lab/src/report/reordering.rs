//! Histograms of the lengths of reordering events.

use plotters::element::Rectangle;
use plotters::style::Color;

use super::look;
use super::panel::Panel;
use super::plot::{self, Axes, PANEL};
use crate::record::{Comparison, Trace, VariantRuns};
use crate::text::grouped;

/// The largest number of bars. With more lengths, bins are wider.
const MAX_BARS: usize = 40;

/// Returns a panel for each variant with reordering. The panels share the axis of lengths. Shares
/// are of the events in each panel.
pub(super) fn panels(comparison: &Comparison) -> Vec<Panel> {
    let width = bin_width(longest(comparison));
    let bins = longest(comparison).div_ceil(width);
    let panel = |variant: &VariantRuns| {
        let events: u64 = variant.trace.reordering_lengths.iter().skip(1).sum();
        if events == 0 {
            return None;
        }
        let (bars, beyond) = shares(&variant.trace.reordering_lengths, width);
        let highest = bars.iter().copied().chain([beyond]).fold(0.0, f64::max);
        let end = (bins * width) as f64 + 0.5;
        let axes = Axes {
            x: 0.5..end + 1.5 * width as f64,
            y: 0.0..highest * 1.05,
            x_label: "length (segments)",
            y_label: "share of events (%)",
        };
        let note = format!("{} events", grouped(&events.to_string()));
        let label = format!("Lengths of reordering events that {} saw: {note}", variant.name);
        let svg = plot::svg(PANEL, &label, |area, tips| {
            let mut chart = plot::chart(area, &axes)?;
            let colour = look::of(&variant.name).ink.colour();
            let bar = |start: f64, share: f64| [(start, 0.0), (start + 0.84 * width as f64, share)];
            let filled = || {
                let filled = bars.iter().enumerate().filter(|(_, share)| **share > 0.0);
                filled.map(|(b, &share)| {
                    (b * width + 1, share, bar((b * width) as f64 + 0.58, share))
                })
            };
            let rectangle = |(_, _, at)| Rectangle::new(at, colour.filled());
            chart.draw_series(filled().map(rectangle))?;
            let mut tip = |at: [(f64, f64); 2], lengths: String, share: f64| {
                // The tip covers the full height, so that it can be found above a low bar.
                let corners =
                    [(at[0].0, axes.y.end), at[1], at[0]].map(|p| chart.backend_coord(&p));
                let text = format!("{lengths}: {} % of the events", plot::value(share));
                tips.add([corners[0], (corners[1].0, corners[2].1)], &text);
            };
            for (first, share, at) in filled() {
                let segments = plot::values(first as f64, (first + width - 1) as f64);
                let plural = if first + width == 2 { "" } else { "s" };
                tip(at, format!("{segments} segment{plural}"), share);
            }
            if beyond > 0.0 {
                let at = bar(end + 0.5 * width as f64, beyond);
                tip(at, format!("more than {} segments", Trace::LONGEST - 1), beyond);
                chart.draw_series([Rectangle::new(at, colour.stroke_width(2))])?;
            }
            Ok(())
        });
        Some(Panel::new(variant, &note, svg))
    };
    comparison.variants.iter().filter_map(panel).collect()
}

/// Splits the counts into those of single lengths and that of all longer ones.
fn split(lengths: &[u64]) -> (&[u64], u64) {
    let own = &lengths[..lengths.len().min(Trace::LONGEST)];
    (own, lengths.get(Trace::LONGEST).copied().unwrap_or(0))
}

/// Returns the largest single length that occurs.
fn longest(comparison: &Comparison) -> usize {
    let longest = |v: &VariantRuns| {
        let (own, _) = split(&v.trace.reordering_lengths);
        own.iter().rposition(|&count| count > 0).unwrap_or(0)
    };
    comparison.variants.iter().map(longest).max().unwrap_or(0).max(1)
}

/// Returns the smallest width of 1, 2, 5, 10, 20, … that needs no more than [`MAX_BARS`] bars.
fn bin_width(longest: usize) -> usize {
    let mut widths = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_usize.pow(power)));
    widths.find(|width| longest.div_ceil(*width) <= MAX_BARS).unwrap_or(longest)
}

/// Returns the share of the events in each bin, in per cent, and that of all longer events. The
/// first bin begins at length 1.
fn shares(lengths: &[u64], width: usize) -> (Vec<f64>, f64) {
    let (own, beyond) = split(lengths);
    let own = own.get(1..).unwrap_or_default();
    let events = own.iter().sum::<u64>() + beyond;
    let percent = |count: u64| count as f64 * 100.0 / events.max(1) as f64;
    let bars = own.chunks(width).map(|bin| percent(bin.iter().sum())).collect();
    (bars, percent(beyond))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::fake;

    #[test]
    fn each_bar_has_its_value() {
        let mut comparison = fake::comparison();
        comparison.variants.truncate(1);
        comparison.variants[0].trace.reordering_lengths = vec![0, 3, 0, 1];
        let panels = panels(&comparison);
        let svg = &panels[0].svg;
        assert!(svg.contains("<title>1 segment: 75 % of the events</title>"), "{svg}");
        assert!(svg.contains("<title>3 segments: 25 % of the events</title>"), "{svg}");
        assert_eq!(svg.matches("<title>").count(), 2);
    }

    #[test]
    fn bins_are_as_narrow_as_possible() {
        assert_eq!([1, 40, 41, 81, 1000].map(bin_width), [1, 1, 2, 5, 50]);
    }

    #[test]
    fn lengths_are_binned_and_longer_ones_are_counted_separately() {
        // Lengths 1 to 5. Index 0 is not used.
        let mut lengths = vec![99, 4, 2, 2, 1, 1];
        assert_eq!(shares(&lengths, 2), (vec![60.0, 30.0, 10.0], 0.0));
        let mut comparison = fake::comparison();
        comparison.variants.iter_mut().for_each(|v| v.trace.reordering_lengths = lengths.clone());
        assert_eq!(longest(&comparison), 5);
        lengths.resize(Trace::LONGEST, 0);
        lengths.push(10);
        let (bars, beyond) = shares(&lengths, 2);
        assert_eq!((&bars[..3], beyond), (&[30.0, 15.0, 5.0][..], 50.0));
        assert_eq!(shares(&[], 2), (vec![], 0.0));
    }
}
