//! Means and confidence intervals over seeds.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// A mean with the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The arithmetic mean; NaN without values.
    pub mean: f64,
    /// The half-width of the 95 % interval by Student's t; zero for fewer than two values.
    pub half_width: f64,
}

impl Estimate {
    /// Returns the mean of `values` with its interval.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.into_iter().collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        if values.len() < 2 {
            return Self { mean, half_width: 0.0 };
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let t = StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::NAN, |t| t.inverse_cdf(0.975));
        Self { mean, half_width: t * (variance / n).sqrt() }
    }
}

/// Returns the quantile `q` of the sorted `values`, by linear interpolation.
pub fn quantile(values: &[f64], q: f64) -> f64 {
    let at = q * values.len().saturating_sub(1) as f64;
    let low = at as usize;
    let rest = at.fract();
    let value = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
    if rest == 0.0 { value(low) } else { value(low) * (1.0 - rest) + value(low + 1) * rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_confidence_interval_is_by_students_t() {
        // Five values, standard deviation 1.5811, t(0.975, 4) = 2.7764: 2.7764 * 1.5811 / sqrt 5.
        let e = Estimate::of([1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((e.mean - 3.0).abs() < 1e-12);
        assert!((e.half_width - 1.9632).abs() < 1e-3, "{e:?}");
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(Estimate::of([7.0]), Estimate { mean: 7.0, half_width: 0.0 });
    }
}
