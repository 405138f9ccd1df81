//! Effects of impairments, with checked settings and prepared distributions.

use std::sync::Arc;

use rand::distr::{Bernoulli, Uniform};
use unruffled_units::{Duration, Instant};

use super::netem::DelayLine;
use super::workers::Pool;
use super::{Advance, Chosen, Impairment, Times};
use crate::{ConfigError, Sampler};

/// Effect of an impairment on a packet, with the state that earlier packets left.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    Delay { coin: Bernoulli, delay: Sampler },
    Loss { coin: Bernoulli },
    Periodic { every: u32, passed: u32 },
    Alternate { every: u32, passed: u32, extra: Duration },
    Duplicate { coin: Bernoulli },
    Redrawn { every: Duration, delay: Sampler, interval: Option<u64>, drawn: Duration },
    Burst { coin: Bernoulli, length: Sampler, until: Instant },
    Blackout { times: Times, length: Duration },
    Resend { coin: Bernoulli },
    Replay { lateness: Arc<[Duration]>, passed: usize },
    Overhead { delay: Sampler, last: Instant },
    Workers { pool: Box<Pool> },
    Netem { line: Box<DelayLine> },
    Behind { coin: Bernoulli, packets: Uniform<u32> },
    Early { choice: Choice, by: Advance },
}

/// Choice of packets.
#[derive(Clone, Debug)]
pub(super) enum Choice {
    Random(Bernoulli),
    Periodic { every: u32, passed: u32 },
}

impl Effect {
    /// Creates the effect of an impairment after checking its values.
    pub(super) fn new(impairment: &Impairment) -> Result<Self, ConfigError> {
        Ok(match *impairment {
            Impairment::Delay { fraction, ref delay, .. } => Self::Delay {
                coin: coin("fraction", fraction)?,
                delay: delay.sampler().map_err(|error| error.within("delay"))?,
            },
            Impairment::Loss { fraction, .. } => Self::Loss { coin: coin("fraction", fraction)? },
            Impairment::Alternate { every: 0, .. } | Impairment::Periodic { every: 0, .. } => {
                return Err(ConfigError::new("every", "at least 1", 0));
            }
            Impairment::Periodic { every, .. } => Self::Periodic { every, passed: 0 },
            Impairment::Alternate { every, extra, .. } => {
                Self::Alternate { every, passed: 0, extra }
            }
            Impairment::Duplicate { fraction, .. } => {
                Self::Duplicate { coin: coin("fraction", fraction)? }
            }
            Impairment::Redrawn { every: Duration::ZERO, .. } => {
                return Err(ConfigError::new("every", "more than 0 s", Duration::ZERO));
            }
            Impairment::Redrawn { every, ref delay, .. } => {
                let delay = delay.sampler().map_err(|error| error.within("delay"))?;
                Self::Redrawn { every, delay, interval: None, drawn: Duration::ZERO }
            }
            Impairment::Burst { fraction, ref length, .. } => Self::Burst {
                coin: coin("fraction", fraction)?,
                length: length.sampler().map_err(|error| error.within("length"))?,
                until: Instant::ZERO,
            },
            Impairment::Blackout { ref times, length, .. } => {
                let mut times = times.clone();
                match &mut times {
                    Times::At(at) => at.sort_unstable(),
                    Times::Every(every) if *every <= length => {
                        return Err(ConfigError::new("every", "longer than length", *every));
                    }
                    Times::Every(_) => {}
                }
                Self::Blackout { times, length }
            }
            // Without this limit, the simulator could resend each packet a thousand times in one step.
            Impairment::Resend { errors, attempts: None, .. }
                if errors > 0.999 && errors <= 1.0 =>
            {
                let expected = "at most 0.999 without attempts";
                return Err(ConfigError::new("errors", expected, errors));
            }
            Impairment::Resend { errors, .. } => Self::Resend { coin: coin("errors", errors)? },
            Impairment::Replay { ref lateness, .. } if lateness.is_empty() => {
                return Err(ConfigError::new("lateness", "at least one time", "none"));
            }
            Impairment::Replay { ref lateness, .. } => {
                Self::Replay { lateness: Arc::clone(lateness), passed: 0 }
            }
            Impairment::Overhead { ref delay, .. } => {
                let delay = delay.sampler().map_err(|error| error.within("delay"))?;
                Self::Overhead { delay, last: Instant::ZERO }
            }
            Impairment::Workers { ref workers, .. } => {
                Self::Workers { pool: Box::new(Pool::new(workers)?) }
            }
            Impairment::Netem { ref netem, .. } => {
                Self::Netem { line: Box::new(DelayLine::new(netem)?) }
            }
            Impairment::Behind { packets: (0, _), .. } => {
                return Err(ConfigError::new("by", "at least 1 packet", 0));
            }
            Impairment::Behind { at_most: Duration::ZERO, .. }
            | Impairment::Early { by: Advance::Packets { at_most: Duration::ZERO, .. }, .. } => {
                return Err(ConfigError::new("at_most", "more than 0 s", Duration::ZERO));
            }
            Impairment::Behind { fraction, packets: (low, high), .. } => Self::Behind {
                coin: coin("fraction", fraction)?,
                packets: Uniform::new_inclusive(low, high)
                    .map_err(|_| ConfigError::new("by", "in rising order", high))?,
            },
            Impairment::Early { by: Advance::Packets { count: 0, .. }, .. } => {
                return Err(ConfigError::new("by", "at least 1 packet", 0));
            }
            Impairment::Early { chosen: Chosen::Every(0), .. } => {
                return Err(ConfigError::new("every", "at least 1", 0));
            }
            Impairment::Early { chosen, by, .. } => Self::Early {
                choice: match chosen {
                    Chosen::Fraction(fraction) => Choice::Random(coin("fraction", fraction)?),
                    Chosen::Every(every) => Choice::Periodic { every, passed: 0 },
                },
                by,
            },
            Impairment::During { ref impairment, .. } => Self::new(impairment)?,
        })
    }

    /// Returns whether the effect never changes anything.
    pub(super) fn is_idle(&self) -> bool {
        match self {
            Self::Delay { coin, .. }
            | Self::Loss { coin }
            | Self::Duplicate { coin }
            | Self::Burst { coin, .. }
            | Self::Resend { coin }
            | Self::Behind { coin, .. } => coin.p() == 0.0,
            Self::Blackout { length, .. } => *length == Duration::ZERO,
            Self::Replay { lateness, .. } => lateness.iter().all(|late| *late == Duration::ZERO),
            Self::Periodic { .. }
            | Self::Alternate { .. }
            | Self::Redrawn { .. }
            | Self::Overhead { .. }
            | Self::Workers { .. }
            | Self::Netem { .. }
            | Self::Early { .. } => false,
        }
    }
}

/// Creates a random choice that is true with probability `fraction`.
fn coin(field: &str, fraction: f64) -> Result<Bernoulli, ConfigError> {
    Bernoulli::new(fraction).map_err(|_| ConfigError::new(field, "between 0 and 1", fraction))
}
