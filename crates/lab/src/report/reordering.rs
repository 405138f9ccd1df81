//! Histograms of the lengths of reordering events.

use plotters::element::Rectangle;
use plotters::style::Color;

use super::look;
use super::panel::Panel;
use super::plot::{self, Axes, PANEL_SIZE};
use crate::record::{Comparison, Trace, VariantRuns};
use crate::text::grouped;

/// The most bars of a histogram; longer ranges have wider bins.
const MAX_BARS: usize = 40;

/// Returns a panel for each variant that detected reordering. The axis of lengths is common; each
/// panel has its own scale of shares.
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
        let svg = plot::svg(PANEL_SIZE, &label, |area, tips| {
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
                // The tooltip covers the full height, because low bars are hard to point at.
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
                tip(at, format!("more than {} segments", Trace::MAX_REORDERING_LENGTH - 1), beyond);
                chart.draw_series([Rectangle::new(at, colour.stroke_width(2))])?;
            }
            Ok(())
        });
        Some(Panel::new(variant, &note, svg))
    };
    comparison.variants.iter().filter_map(panel).collect()
}

/// Returns the count of each recorded length, and the count of all longer ones together.
fn split_lengths(lengths: &[u64]) -> (&[u64], u64) {
    let own = &lengths[..lengths.len().min(Trace::MAX_REORDERING_LENGTH)];
    (own, lengths.get(Trace::MAX_REORDERING_LENGTH).copied().unwrap_or(0))
}

/// Returns the longest recorded length, without the longer ones that are counted together.
fn longest(comparison: &Comparison) -> usize {
    let longest = |v: &VariantRuns| {
        let (own, _) = split_lengths(&v.trace.reordering_lengths);
        own.iter().rposition(|&count| count > 0).unwrap_or(0)
    };
    comparison.variants.iter().map(longest).max().unwrap_or(0).max(1)
}

/// Returns the smallest of 1, 2, 5, 10, 20, … that needs at most [`MAX_BARS`] bars.
fn bin_width(longest: usize) -> usize {
    let mut widths = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_usize.pow(power)));
    widths.find(|width| longest.div_ceil(*width) <= MAX_BARS).unwrap_or(longest)
}

/// Returns the percentage of events in each bin, the first of which begins at length 1, and the
/// percentage of the longer events that are counted together.
fn shares(lengths: &[u64], width: usize) -> (Vec<f64>, f64) {
    let (own, beyond) = split_lengths(lengths);
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
    fn each_bar_has_a_tooltip_with_its_value() {
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
    fn bins_are_as_narrow_as_the_number_of_bars_allows() {
        assert_eq!([1, 40, 41, 81, 1000].map(bin_width), [1, 1, 2, 5, 50]);
    }

    #[test]
    fn lengths_are_binned_and_only_the_longest_are_counted_separately() {
        // Lengths 1 to 5; index 0 is unused.
        let mut lengths = vec![99, 4, 2, 2, 1, 1];
        assert_eq!(shares(&lengths, 2), (vec![60.0, 30.0, 10.0], 0.0));
        let mut comparison = fake::comparison();
        comparison.variants.iter_mut().for_each(|v| v.trace.reordering_lengths = lengths.clone());
        assert_eq!(longest(&comparison), 5);
        lengths.resize(Trace::MAX_REORDERING_LENGTH, 0);
        lengths.push(10);
        let (bars, beyond) = shares(&lengths, 2);
        assert_eq!((&bars[..3], beyond), (&[30.0, 15.0, 5.0][..], 50.0));
        assert_eq!(shares(&[], 2), (vec![], 0.0));
    }
}
