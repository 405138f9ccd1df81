//! Time series in expressions.

use rhai::{Array, Dynamic, Engine};

use crate::expression::{Evaluated, Held, as_number};

/// A quantity over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TimeSeries {
    /// The points, in order of time: seconds since the start of the run, and value.
    pub(crate) points: Vec<(f64, f64)>,
    held: Held,
}

impl TimeSeries {
    pub(crate) fn new(points: Vec<(f64, f64)>) -> Self {
        let held = Held::new(points.capacity() * size_of::<(f64, f64)>());
        Self { points, held }
    }

    fn between(&self, from: f64, until: f64) -> Self {
        let inside = self.points.iter().filter(|p| p.0 >= from && p.0 < until);
        Self::new(inside.copied().collect())
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|p| p.1)
    }

    fn mean(&self) -> f64 {
        self.values().sum::<f64>() / self.points.len() as f64
    }

    /// Returns the share of points that satisfy `is`.
    fn share(&self, is: impl Fn(f64) -> bool) -> f64 {
        self.values().filter(|&v| is(v)).count() as f64 / self.points.len() as f64
    }

    /// Returns the time of the first point that satisfies `is`.
    fn first(&self, is: impl Fn(f64) -> bool) -> f64 {
        self.points.iter().find(|p| is(p.1)).map_or(f64::NAN, |p| p.0)
    }

    /// Returns the time from which on all points satisfy `is`.
    fn settled(&self, is: impl Fn(f64) -> bool) -> f64 {
        match self.points.iter().rposition(|p| !is(p.1)) {
            None => self.points.first().map_or(f64::NAN, |p| p.0),
            Some(last) => self.points.get(last + 1).map_or(f64::NAN, |p| p.0),
        }
    }

    /// Returns the moving mean over the last `span` seconds at each point.
    fn smooth(&self, span: f64) -> Self {
        let mut from = 0;
        let mut sum = 0.0;
        let mut points = Vec::with_capacity(self.points.len());
        for (i, &(time, value)) in self.points.iter().enumerate() {
            sum += value;
            while from < i && self.points[from].0 <= time - span {
                sum -= self.points[from].1;
                from += 1;
            }
            points.push((time, sum / (i + 1 - from) as f64));
        }
        Self::new(points)
    }

    /// Applies `f` to the values at the times that both series have.
    pub(crate) fn zip(&self, other: &Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut others = other.points.iter().peekable();
        let mut points = Vec::new();
        for &(time, value) in &self.points {
            while others.next_if(|p| p.0 < time).is_some() {}
            if let Some(&&(_, other)) = others.peek().filter(|p| p.0 == time) {
                points.push((time, f(value, other)));
            }
        }
        Self::new(points)
    }

    fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(self.points.iter().map(|&(time, value)| (time, f(value))).collect())
    }
}

/// Registers the functions of time series.
pub(super) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<TimeSeries>("time series");
    fn number(value: &Dynamic) -> Evaluated<f64> {
        as_number(value)
            .ok_or_else(|| format!("expected a number, found {}", value.type_name()).into())
    }
    engine.register_fn(
        "between",
        |c: TimeSeries, from: Dynamic, until: Dynamic| -> Evaluated<TimeSeries> {
            Ok(c.between(number(&from)?, number(&until)?))
        },
    );
    engine.register_fn("mean", |c: TimeSeries| c.mean());
    engine.register_fn("min", |c: TimeSeries| c.values().fold(f64::NAN, f64::min));
    engine.register_fn("max", |c: TimeSeries| c.values().fold(f64::NAN, f64::max));
    engine.register_fn("last", |c: TimeSeries| c.points.last().map_or(f64::NAN, |p| p.1));
    engine.register_fn("points", |c: TimeSeries| c.points.len() as i64);
    engine.register_fn("share_above", |c: TimeSeries, v: Dynamic| -> Evaluated<f64> {
        let v = number(&v)?;
        Ok(c.share(|value| value > v))
    });
    engine.register_fn("share_below", |c: TimeSeries, v: Dynamic| -> Evaluated<f64> {
        let v = number(&v)?;
        Ok(c.share(|value| value < v))
    });
    engine.register_fn("first_above", |c: TimeSeries, v: Dynamic| -> Evaluated<f64> {
        let v = number(&v)?;
        Ok(c.first(|value| value > v))
    });
    engine.register_fn("first_below", |c: TimeSeries, v: Dynamic| -> Evaluated<f64> {
        let v = number(&v)?;
        Ok(c.first(|value| value < v))
    });
    engine.register_fn("stays_above", |c: TimeSeries, v: Dynamic| -> Evaluated<f64> {
        let v = number(&v)?;
        Ok(c.settled(|value| value > v))
    });
    engine.register_fn("stays_below", |c: TimeSeries, v: Dynamic| -> Evaluated<f64> {
        let v = number(&v)?;
        Ok(c.settled(|value| value < v))
    });
    engine.register_fn("smooth", |c: TimeSeries, span: Dynamic| -> Evaluated<TimeSeries> {
        let span = number(&span)?;
        if span > 0.0 { Ok(c.smooth(span)) } else { Err("expected more than 0 s".into()) }
    });
    type Operation = fn(f64, f64) -> f64;
    let operations: [(&'static str, Operation); 4] =
        [("+", |a, b| a + b), ("-", |a, b| a - b), ("*", |a, b| a * b), ("/", |a, b| a / b)];
    for (sign, f) in operations {
        engine.register_fn(sign, move |a: TimeSeries, b: TimeSeries| a.zip(&b, f));
        engine.register_fn(sign, move |a: TimeSeries, b: f64| a.map(|a| f(a, b)));
        engine.register_fn(sign, move |a: TimeSeries, b: i64| a.map(|a| f(a, b as f64)));
    }
    engine.register_fn("times", |c: TimeSeries| -> Array {
        c.points.iter().map(|p| Dynamic::from_float(p.0)).collect()
    });
    engine.register_fn("values", |c: TimeSeries| -> Array {
        c.values().map(Dynamic::from_float).collect()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(values: &[f64]) -> TimeSeries {
        TimeSeries::new(values.iter().enumerate().map(|(i, &v)| (i as f64, v)).collect())
    }

    #[test]
    fn the_times_at_which_a_curve_reaches_and_stays_at_a_level_are_found() {
        let c = curve(&[0.0, 5.0, 1.0, 6.0, 7.0]);
        assert_eq!((c.first(|v| v > 4.0), c.settled(|v| v > 4.0)), (1.0, 3.0));
        assert!(c.settled(|v| v > 6.5) == 4.0 && c.settled(|v| v > 7.0).is_nan());
        assert_eq!(c.share(|v| v > 4.0), 0.6);
        assert_eq!(c.between(1.0, 3.0).mean(), 3.0);
    }

    #[test]
    fn smoothing_is_the_moving_mean_of_the_last_seconds() {
        let c = curve(&[2.0, 4.0, 6.0, 8.0]).smooth(2.0);
        assert_eq!(c.points, [(0.0, 2.0), (1.0, 3.0), (2.0, 5.0), (3.0, 7.0)]);
        let c = curve(&[2.0, 4.0]);
        assert_eq!(c.smooth(1e-300), c);
    }

    #[test]
    fn curves_are_combined_at_their_common_times() {
        let a = TimeSeries::new(vec![(0.0, 1.0), (1.0, 2.0), (3.0, 4.0)]);
        let b = TimeSeries::new(vec![(1.0, 10.0), (2.0, 20.0), (3.0, 30.0)]);
        assert_eq!(a.zip(&b, |a, b| a + b).points, [(1.0, 12.0), (3.0, 34.0)]);
    }
}
