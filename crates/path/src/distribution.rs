//! Distributions of random durations.

use std::sync::Arc;

use rand::distr::{Distribution as _, Uniform};
use rand::{Rng, RngExt};
use rand_distr::{Exp, Normal, Pareto};
use unruffled_units::Duration;

use crate::ConfigError;

/// Distribution of a random duration, for extra delays and pauses. Draws below zero count as zero.
///
/// [`sampler`](Self::sampler) prepares it for drawing.
///
/// ```
/// use rand::SeedableRng;
/// use rand_xoshiro::Xoshiro256PlusPlus;
/// use unruffled_path::Distribution;
/// use unruffled_units::Duration;
///
/// let ms = Duration::from_millis;
/// let sampler = Distribution::Uniform { low: ms(10), high: ms(20) }.sampler()?;
/// let duration = sampler.draw(&mut Xoshiro256PlusPlus::seed_from_u64(1));
/// assert!((ms(10)..=ms(20)).contains(&duration));
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Constant.
    Constant(Duration),
    /// Uniform over the nanoseconds from `low` to `high`, both included.
    Uniform {
        /// Shortest duration.
        low: Duration,
        /// Longest duration.
        high: Duration,
    },
    /// Normal. Clamping at zero raises the mean noticeably if it is below two standard deviations.
    Normal {
        /// Mean before clamping.
        mean: Duration,
        /// Standard deviation before clamping.
        deviation: Duration,
    },
    /// Exponential.
    Exponential {
        /// Mean.
        mean: Duration,
    },
    /// Pareto, with a heavy tail: P(X > x) = (scale / x)^shape. The mean is infinite for a shape of at most
    /// 1.
    Pareto {
        /// Shortest duration.
        scale: Duration,
        /// Tail index. A smaller index means a heavier tail.
        shape: f64,
    },
    /// Empirical: quantiles at equidistant probabilities from the minimum to the maximum, with linear
    /// interpolation.
    Empirical {
        /// Quantiles in ascending order, at least one.
        quantiles: Vec<Duration>,
    },
}

/// Prepared [`Distribution`], from which drawing is fast.
#[derive(Clone, Debug)]
pub struct Sampler(Prepared);

/// Prepared distribution. Parameters and draws are in nanoseconds.
#[derive(Clone, Debug)]
enum Prepared {
    Constant(Duration),
    Uniform(Uniform<u64>),
    Normal(Normal<f64>),
    Exponential(Exp<f64>),
    Pareto(Pareto<f64>),
    Empirical(Arc<[f64]>),
}

impl Distribution {
    /// Prepares the distribution for drawing.
    ///
    /// # Errors
    ///
    /// When a parameter is out of its range; the error names it.
    pub fn sampler(&self) -> Result<Sampler, ConfigError> {
        let prepared = match *self {
            Self::Empirical { ref quantiles } => {
                if quantiles.is_empty() {
                    return Err(ConfigError::new("quantiles", "at least one", "none"));
                }
                if let Some(pair) = quantiles.windows(2).find(|pair| pair[1] < pair[0]) {
                    return Err(ConfigError::new("quantiles", "in rising order", pair[1]));
                }
                Prepared::Empirical(quantiles.iter().copied().map(nanos).collect())
            }
            Self::Constant(duration) => Prepared::Constant(duration),
            Self::Uniform { low, high } => Prepared::Uniform(
                Uniform::new_inclusive(low.as_nanos(), high.as_nanos())
                    .map_err(|_| ConfigError::new("low", "at most high", low))?,
            ),
            Self::Normal { mean, deviation } => Prepared::Normal(
                Normal::new(nanos(mean), nanos(deviation))
                    .map_err(|_| ConfigError::new("deviation", "finite", deviation))?,
            ),
            Self::Exponential { mean } => Prepared::Exponential(
                Exp::new(1.0 / nanos(mean))
                    .map_err(|_| ConfigError::new("mean", "finite", mean))?,
            ),
            Self::Pareto { scale, shape } => {
                if scale == Duration::ZERO {
                    return Err(ConfigError::new("scale", "greater than zero", scale));
                }
                Prepared::Pareto(
                    Pareto::new(nanos(scale), shape)
                        .map_err(|_| ConfigError::new("shape", "greater than zero", shape))?,
                )
            }
        };
        Ok(Sampler(prepared))
    }

    /// Returns whether every draw is zero.
    pub fn is_zero(&self) -> bool {
        let longest = match *self {
            Self::Constant(longest) | Self::Uniform { high: longest, .. } => longest,
            Self::Normal { mean, deviation } => mean.max(deviation),
            Self::Exponential { mean } => mean,
            Self::Pareto { scale, .. } => scale,
            Self::Empirical { ref quantiles } => quantiles.last().copied().unwrap_or_default(),
        };
        longest == Duration::ZERO
    }
}

impl Sampler {
    /// Draws a duration.
    pub fn draw(&self, rng: &mut impl Rng) -> Duration {
        let nanos = match &self.0 {
            Prepared::Constant(duration) => return *duration,
            Prepared::Uniform(uniform) => return Duration::from_nanos(uniform.sample(rng)),
            Prepared::Normal(normal) => normal.sample(rng),
            Prepared::Exponential(exponential) => exponential.sample(rng),
            Prepared::Pareto(pareto) => pareto.sample(rng),
            Prepared::Empirical(quantiles) => interpolate(quantiles, rng.random()),
        };
        // The cast saturates at zero and at the longest duration.
        Duration::from_nanos(nanos.round() as u64)
    }
}

/// Interpolates linearly between the quantiles on either side of `probability`.
fn interpolate(quantiles: &[f64], probability: f64) -> f64 {
    let place = probability * (quantiles.len() - 1) as f64;
    let below = place as usize;
    let low = quantiles[below];
    let high = quantiles.get(below + 1).copied().unwrap_or(low);
    low + (high - low) * (place - below as f64)
}

fn nanos(duration: Duration) -> f64 {
    duration.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn draws(distribution: &Distribution) -> Vec<f64> {
        let sampler = distribution.sampler().unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        (0..100_000).map(|_| sampler.draw(&mut rng).as_millis_f64()).collect()
    }

    fn mean(draws: &[f64]) -> f64 {
        draws.iter().sum::<f64>() / draws.len() as f64
    }

    #[test]
    fn draws_have_the_mean_of_their_distribution() {
        let close = |distribution, expected: f64| {
            let mean = mean(&draws(&distribution));
            assert!((mean - expected).abs() < 0.02 * expected, "{distribution:?}: {mean} ms");
        };
        close(Distribution::Constant(ms(25)), 25.0);
        close(Distribution::Uniform { low: ms(10), high: ms(30) }, 20.0);
        close(Distribution::Normal { mean: ms(25), deviation: ms(8) }, 25.0);
        close(Distribution::Exponential { mean: ms(40) }, 40.0);
        close(Distribution::Empirical { quantiles: vec![ms(10), ms(20), ms(60)] }, 27.5);
        // The mean is scale · shape / (shape − 1).
        close(Distribution::Pareto { scale: ms(10), shape: 3.0 }, 15.0);
    }

    #[test]
    fn draws_stay_within_their_bounds() {
        let uniform = draws(&Distribution::Uniform { low: ms(10), high: ms(30) });
        assert!(uniform.iter().all(|&x| (10.0..=30.0).contains(&x)));
        let pareto = draws(&Distribution::Pareto { scale: ms(10), shape: 0.5 });
        assert!(pareto.iter().all(|&x| x >= 10.0));
    }

    #[test]
    fn empirical_draws_have_the_given_quantiles() {
        let quantiles = vec![ms(1), ms(5), ms(6), ms(50), ms(200)];
        let drawn = draws(&Distribution::Empirical { quantiles: quantiles.clone() });
        for (i, quantile) in quantiles.iter().enumerate() {
            let below = drawn.iter().filter(|&&x| x <= quantile.as_millis_f64()).count();
            // Three standard deviations of a share of 100 000 draws are at most 474.
            assert!(below.abs_diff(i * 25_000) < 500, "{i}: {below}");
        }
        let one = draws(&Distribution::Empirical { quantiles: vec![ms(7)] });
        assert!(one.iter().all(|&x| x == 7.0));
    }

    #[test]
    fn normal_draws_below_zero_are_zero() {
        let normal = draws(&Distribution::Normal { mean: ms(0), deviation: ms(10) });
        let zeros = normal.iter().filter(|&&x| x == 0.0).count();
        assert!((49_000..51_000).contains(&zeros), "{zeros} of 100000 are zero");
        // Half of a normal distribution at zero leaves a mean of σ / √(2π).
        assert!((mean(&normal) - 3.989).abs() < 0.08);
    }

    #[test]
    fn a_distribution_without_spread_is_constant() {
        for constant in [
            Distribution::Uniform { low: ms(7), high: ms(7) },
            Distribution::Normal { mean: ms(7), deviation: ms(0) },
        ] {
            assert!(draws(&constant).iter().all(|&x| x == 7.0), "{constant:?}");
        }
        let zero = Distribution::Exponential { mean: ms(0) };
        assert!(zero.is_zero() && draws(&zero).iter().all(|&x| x == 0.0));
        assert!(!Distribution::Normal { mean: ms(0), deviation: ms(1) }.is_zero());
        assert!(!Distribution::Uniform { low: ms(0), high: ms(1) }.is_zero());
    }

    #[test]
    fn an_error_names_the_parameter_that_is_out_of_range() {
        let error = |distribution: Distribution| distribution.sampler().unwrap_err().to_string();
        assert_eq!(
            error(Distribution::Uniform { low: ms(2), high: ms(1) }),
            "low must be at most high, not 2 ms"
        );
        assert_eq!(
            error(Distribution::Empirical { quantiles: vec![ms(2), ms(1)] }),
            "quantiles must be in rising order, not 1 ms"
        );
        assert_eq!(
            error(Distribution::Empirical { quantiles: Vec::new() }),
            "quantiles must be at least one, not none"
        );
        assert_eq!(
            error(Distribution::Pareto { scale: ms(1), shape: 0.0 }),
            "shape must be greater than zero, not 0"
        );
        assert_eq!(
            error(Distribution::Pareto { scale: ms(1), shape: f64::NAN }),
            "shape must be greater than zero, not NaN"
        );
        assert_eq!(
            error(Distribution::Pareto { scale: ms(0), shape: 1.0 }),
            "scale must be greater than zero, not 0 s"
        );
    }
}
