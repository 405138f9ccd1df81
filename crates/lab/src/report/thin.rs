//! Reduction of points that does not change the drawing.

use std::collections::HashSet;

/// Returns at most four points for each of `columns` slices of time: the first, the lowest, the
/// highest and the last. They give the same line as all points (M4: Jugel et al., VLDB 2014).
///
/// The points must be in order of time; those that are not finite are dropped.
pub fn line(points: &[(f64, f64)], columns: usize) -> Vec<(f64, f64)> {
    let points: Vec<_> = finite(points).collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return points;
    };
    if points.len() <= 4 * columns || first.0 >= last.0 {
        return points;
    }
    let column = |p: &(f64, f64)| {
        ((p.0 - first.0) / (last.0 - first.0) * columns as f64).min(columns as f64 - 1.0) as usize
    };
    let mut kept = Vec::with_capacity(4 * columns);
    for slice in points.chunk_by(|a, b| column(a) == column(b)) {
        let mut corners = [0, 0, 0, slice.len() - 1];
        for (i, point) in slice.iter().enumerate() {
            if point.1 < slice[corners[1]].1 {
                corners[1] = i;
            }
            if point.1 > slice[corners[2]].1 {
                corners[2] = i;
            }
        }
        corners.sort_unstable();
        let mut before = None;
        kept.extend(
            corners.into_iter().filter(|i| before.replace(*i) != Some(*i)).map(|i| slice[i]),
        );
    }
    kept
}

/// Returns the first dot in each cell of a grid; later ones would cover it.
///
/// `place` maps a dot to drawing units; `cell` is the side of a cell in drawing units.
pub fn dots<T>(
    dots: impl IntoIterator<Item = T>,
    cell: i32,
    place: impl Fn(&T) -> (i32, i32),
) -> Vec<T> {
    let mut taken = HashSet::new();
    let free = |dot: &T| {
        let (x, y) = place(dot);
        taken.insert((x.div_euclid(cell), y.div_euclid(cell)))
    };
    dots.into_iter().filter(free).collect()
}

/// Returns the points with finite coordinates.
pub fn finite(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    points.iter().copied().filter(|p| p.0.is_finite() && p.1.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_line_is_not_changed() {
        let points = [(0.0, 1.0), (1.0, 5.0), (2.0, 2.0)];
        assert_eq!(line(&points, 10), points);
    }

    #[test]
    fn a_long_line_keeps_its_ends_and_its_peaks() {
        let mut points: Vec<_> = (0..10_000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        points[4321].1 = 99.0;
        points[7654].1 = -99.0;
        let thin = line(&points, 100);
        assert!(thin.len() <= 400, "{}", thin.len());
        assert_eq!(thin.first(), points.first());
        assert_eq!(thin.last(), points.last());
        assert!(thin.contains(&(4321.0, 99.0)) && thin.contains(&(7654.0, -99.0)));
        assert!(thin.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn one_of_several_dots_in_a_cell_remains() {
        let kept = dots([(0, 0), (1, 1), (3, 0), (-1, 0)], 3, |&dot| dot);
        assert_eq!(kept, [(0, 0), (3, 0), (-1, 0)]);
    }
}
