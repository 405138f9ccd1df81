//! Slices of a line: its range and its mean within a span of time.

use std::ops::Range;

use super::plot;

/// Returns the lowest and the highest value of a line within a slice of time; none if the line does
/// not reach into it.
pub fn within(line: &[(f64, f64)], slice: &Range<f64>) -> Option<(f64, f64)> {
    let cut = cut(line, slice);
    let range = plot::span(cut.iter().map(|p| p.1));
    (!cut.is_empty()).then_some((range.start, range.end))
}

/// Returns the mean over time of a line within a slice; none if the line does not reach into it.
pub(super) fn mean(line: &[(f64, f64)], slice: &Range<f64>) -> Option<f64> {
    let cut = cut(line, slice);
    let first = cut.first()?;
    let last = cut.last()?;
    let area: f64 = cut.windows(2).map(|w| (w[1].0 - w[0].0) * f64::midpoint(w[0].1, w[1].1)).sum();
    Some(if last.0 > first.0 { area / (last.0 - first.0) } else { first.1 })
}

/// Returns the part of a line within a slice of time, with interpolated values at the edges.
fn cut(line: &[(f64, f64)], slice: &Range<f64>) -> Vec<(f64, f64)> {
    let from = line.partition_point(|p| p.0 < slice.start);
    let until = line.partition_point(|p| p.0 <= slice.end);
    let at = |i: usize, time: f64| {
        let a = line.get(i.checked_sub(1)?)?;
        let b = line.get(i)?;
        (b.0 > a.0).then(|| (time, a.1 + (b.1 - a.1) * (time - a.0) / (b.0 - a.0)))
    };
    let inside = line[from..until.max(from)].iter().copied();
    let before =
        at(from, slice.start).filter(|_| line.get(from).is_some_and(|p| p.0 > slice.start));
    let after = at(until, slice.end);
    before.into_iter().chain(inside).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_of_a_line_has_its_range_and_its_mean() {
        // The line rises from 0 to 10 in 10 s and falls to 0 in 5 s.
        let line = [(0.0, 0.0), (10.0, 10.0), (15.0, 0.0)];
        assert_eq!(within(&line, &(2.0..4.0)), Some((2.0, 4.0)), "between two points");
        assert_eq!(within(&line, &(8.0..12.0)), Some((6.0, 10.0)));
        assert_eq!(within(&line, &(14.0..20.0)), Some((0.0, 2.0)), "beyond the end");
        assert_eq!((within(&line, &(16.0..20.0)), within(&[], &(0.0..1.0))), (None, None));
        assert_eq!(within(&[(3.0, 7.0)], &(2.0..4.0)), Some((7.0, 7.0)));
        // 2 s from 8 to 10, then 2 s from 10 to 6: (2 * 9 + 2 * 8) / 4.
        assert_eq!(mean(&line, &(8.0..12.0)), Some(8.5));
        assert_eq!(mean(&[(3.0, 7.0)], &(2.0..4.0)), Some(7.0));
        assert_eq!(mean(&line, &(20.0..21.0)), None);
    }
}
