//! An impairment at work: what becomes of each packet.

use std::sync::Arc;

use rand::distr::{Bernoulli, Distribution as _};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use super::{Applies, Impairment, Times};
use crate::{ConfigError, Direction, Sampler};

/// A packet that crosses a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossing {
    /// Which way it travels within its flow.
    pub(crate) way: Direction,
    /// When it came to the link, or could be sent again.
    pub(crate) came: Instant,
    /// When its transmission began.
    pub(crate) begun: Instant,
    /// When it ended.
    pub(crate) departed: Instant,
}

/// What the impairments together do to one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fate {
    pub(crate) lost: bool,
    pub(crate) duplicated: bool,
    /// It takes so much longer than those around it.
    pub(crate) detour: Duration,
    /// It takes so much longer, and so do those around it.
    pub(crate) shift: Duration,
}

/// An impairment at work, with a stream of random numbers of its own.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    effect: Effect,
    applies: Applies,
    from: Instant,
    until: Instant,
    rng: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
pub(super) enum Effect {
    Delay { coin: Bernoulli, delay: Sampler },
    Loss { coin: Bernoulli },
    Alternate { every: u32, passed: u32, extra: Duration },
    Duplicate { coin: Bernoulli },
    Redrawn { every: Duration, delay: Sampler, interval: Option<u64>, drawn: Duration },
    Burst { coin: Bernoulli, length: Sampler, until: Instant },
    Blackout { times: Times, length: Duration },
    Resend { coin: Bernoulli },
    Replay { lateness: Arc<[Duration]>, passed: usize },
}

impl Effect {
    /// What `impairment` does, its values checked.
    pub(super) fn of(impairment: &Impairment) -> Result<Self, ConfigError> {
        Ok(match *impairment {
            Impairment::Delay { fraction, ref delay, .. } => Self::Delay {
                coin: coin("fraction", fraction)?,
                delay: delay.sampler().map_err(|error| error.within("delay"))?,
            },
            Impairment::Loss { fraction, .. } => Self::Loss { coin: coin("fraction", fraction)? },
            Impairment::Alternate { every: 0, .. } => {
                return Err(ConfigError::new("every", "at least 1", 0));
            }
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
            Impairment::Resend { errors, attempts: None, .. } if errors == 1.0 => {
                return Err(ConfigError::new("errors", "less than 1 without attempts", errors));
            }
            Impairment::Resend { errors, .. } => Self::Resend { coin: coin("errors", errors)? },
            Impairment::Replay { ref lateness, .. } if lateness.is_empty() => {
                return Err(ConfigError::new("lateness", "at least one time", "none"));
            }
            Impairment::Replay { ref lateness, .. } => {
                Self::Replay { lateness: Arc::clone(lateness), passed: 0 }
            }
            Impairment::During { ref impairment, .. } => Self::of(impairment)?,
        })
    }

    /// Whether it can never touch a packet.
    fn is_idle(&self) -> bool {
        match self {
            Self::Delay { coin, .. }
            | Self::Loss { coin }
            | Self::Duplicate { coin }
            | Self::Burst { coin, .. }
            | Self::Resend { coin } => coin.p() == 0.0,
            Self::Blackout { length, .. } => *length == Duration::ZERO,
            Self::Replay { lateness, .. } => lateness.iter().all(|late| *late == Duration::ZERO),
            Self::Alternate { .. } | Self::Redrawn { .. } => false,
        }
    }
}

impl Stage {
    /// Puts `impairment` to work on the packets that `carries` names; `None` when it touches none of
    /// them.
    pub(crate) fn new(
        impairment: &Impairment,
        carries: Applies,
        rng: Xoshiro256PlusPlus,
    ) -> Result<Option<Self>, ConfigError> {
        let effect = Effect::of(impairment)?;
        let applies = impairment.applies();
        let touches = applies.meets(carries) && !effect.is_idle();
        let (from, until) = impairment.span();
        Ok(touches.then_some(Self { effect, applies, from, until, rng }))
    }

    /// Whether it neither delays nor doubles packets.
    pub(crate) fn keeps_order(&self) -> bool {
        matches!(self.effect, Effect::Loss { .. } | Effect::Burst { .. } | Effect::Blackout { .. })
    }

    /// Whether it is at work for a packet that travels `way` and came at `came`.
    fn reaches(&self, way: Direction, came: Instant) -> bool {
        came >= self.from && came < self.until && self.applies.to(way)
    }

    /// Adds to the fate of a packet.
    #[inline]
    pub(crate) fn touch(&mut self, fate: &mut Fate, packet: &Crossing) {
        if !self.reaches(packet.way, packet.came) {
            return;
        }
        let rng = &mut self.rng;
        match &mut self.effect {
            Effect::Delay { coin, delay } => {
                if coin.sample(rng) {
                    fate.detour += delay.draw(rng);
                }
            }
            Effect::Loss { coin } => fate.lost |= coin.sample(rng),
            _ => self.touch_otherwise(fate, packet),
        }
    }

    /// The same for the less common effects, out of the others' way.
    #[inline(never)]
    fn touch_otherwise(&mut self, fate: &mut Fate, packet: &Crossing) {
        let rng = &mut self.rng;
        match &mut self.effect {
            Effect::Delay { .. } | Effect::Loss { .. } => {}
            Effect::Alternate { every, passed, extra } => {
                *passed += 1;
                if passed == every {
                    *passed = 0;
                    fate.detour += *extra;
                }
            }
            Effect::Duplicate { coin } => fate.duplicated |= coin.sample(rng),
            Effect::Redrawn { every, delay, interval, drawn } => {
                let current = packet.begun.as_nanos() / every.as_nanos();
                if *interval != Some(current) {
                    *interval = Some(current);
                    *drawn = delay.draw(&mut nth(rng, current));
                }
                fate.shift += *drawn;
            }
            Effect::Burst { coin, length, until } => {
                if coin.sample(rng) && packet.departed >= *until {
                    *until = packet.departed + length.draw(rng);
                    fate.lost = true;
                }
                fate.lost |= packet.departed < *until;
            }
            Effect::Blackout { times, length } => {
                fate.lost |= is_dark(times, *length, packet.departed);
            }
            Effect::Resend { coin } => fate.lost |= coin.sample(rng),
            Effect::Replay { lateness, passed } => {
                fate.detour += lateness[*passed];
                *passed = (*passed + 1) % lateness.len();
            }
        }
    }
}

/// The `n`-th of the generators that belong to `rng`: what is drawn for an interval depends on its
/// number alone, not on the packets before it.
fn nth(rng: &Xoshiro256PlusPlus, n: u64) -> Xoshiro256PlusPlus {
    let seed: u64 = rng.clone().random();
    Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(n))
}

/// Whether `at` is less than `length` after one of `times`, which are sorted.
fn is_dark(times: &Times, length: Duration, at: Instant) -> bool {
    match times {
        Times::At(times) => {
            let begun = times.partition_point(|&time| time <= at);
            begun > 0 && at.since(times[begun - 1]) < length
        }
        Times::Every(every) => {
            let (at, every) = (at.as_nanos(), every.as_nanos());
            at >= every && at % every < length.as_nanos()
        }
    }
}

fn coin(field: &str, fraction: f64) -> Result<Bernoulli, ConfigError> {
    Bernoulli::new(fraction).map_err(|_| ConfigError::new(field, "between 0 and 1", fraction))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Distribution;

    /// A packet that crosses at once.
    fn at(ms: u64) -> Crossing {
        let now = Instant::from_millis(ms);
        Crossing { way: Direction::Forward, came: now, begun: now, departed: now }
    }

    fn fate(stage: &mut Stage, packet: &Crossing) -> Fate {
        let mut fate = Fate::default();
        stage.touch(&mut fate, packet);
        fate
    }

    fn stage(impairment: &Impairment) -> Option<Stage> {
        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        Stage::new(impairment, Applies::Data, rng).unwrap()
    }

    #[test]
    fn an_impairment_keeps_to_its_packets() {
        use Direction::{Forward, Reverse};
        assert!(Applies::Data.to(Forward) && !Applies::Data.to(Reverse));
        assert!(!Applies::Acks.to(Forward) && Applies::Acks.to(Reverse));
        assert!(Applies::Both.to(Forward) && Applies::Both.to(Reverse));
        let of_acks = Impairment::Loss { fraction: 1.0, applies: Applies::Acks };
        assert!(stage(&of_acks).is_none());

        let rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut on_both = Stage::new(&of_acks, Applies::Both, rng).unwrap().unwrap();
        let lost = [Forward, Reverse].map(|way| {
            let mut fate = Fate::default();
            on_both.touch(&mut fate, &Crossing { way, ..at(0) });
            fate.lost
        });
        assert_eq!(lost, [false, true]);
    }

    #[test]
    fn a_fraction_of_zero_costs_nothing() {
        assert!(stage(&Impairment::Loss { fraction: 0.0, applies: Applies::Both }).is_none());
    }

    #[test]
    fn an_impairment_is_at_work_during_its_time_only() {
        let loss = Impairment::Loss { fraction: 1.0, applies: Applies::Both };
        let (from, until) = (Instant::from_millis(10), Instant::from_millis(20));
        let during = Impairment::During { from, until, impairment: Box::new(loss) };
        let mut stage = stage(&during).unwrap();
        let lost = [9, 10, 19, 20].map(|ms| {
            let mut fate = Fate::default();
            stage.touch(&mut fate, &at(ms));
            fate.lost
        });
        assert_eq!(lost, [false, true, true, false]);
    }

    #[test]
    fn every_third_packet_takes_the_longer_path() {
        let extra = Duration::from_millis(100);
        let impairment = Impairment::Alternate { every: 3, extra, applies: Applies::Both };
        let mut stage = stage(&impairment).unwrap();
        let late: Vec<bool> = (0..7)
            .map(|_| {
                let mut fate = Fate::default();
                stage.touch(&mut fate, &at(0));
                fate.detour == extra
            })
            .collect();
        assert_eq!(late, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn a_replay_begins_again_after_its_last_packet() {
        let ms = Duration::from_millis;
        let lateness = [ms(0), ms(7), ms(0)].into();
        let mut stage = stage(&Impairment::Replay { lateness, applies: Applies::Both }).unwrap();
        assert!(!stage.keeps_order());
        let late = [(); 6].map(|()| fate(&mut stage, &at(0)).detour);
        assert_eq!(late, [ms(0), ms(7), ms(0), ms(0), ms(7), ms(0)]);
        let nothing = Impairment::Replay { lateness: [].into(), applies: Applies::Both };
        let error = nothing.check().unwrap_err();
        assert_eq!(error.to_string(), "lateness must be at least one time, not none");
    }

    #[test]
    fn a_redrawn_delay_is_the_same_within_an_interval_and_whoever_came_before() {
        let delay = Distribution::Uniform { low: Duration::ZERO, high: Duration::from_millis(100) };
        let every = Duration::from_millis(50);
        let redrawn = Impairment::Redrawn { every, delay, applies: Applies::Both };
        let shifts = |times: &[u64]| -> Vec<Duration> {
            let mut stage = stage(&redrawn).unwrap();
            times.iter().map(|&ms| fate(&mut stage, &at(ms)).shift).collect()
        };
        let [first, same, next, last] = shifts(&[0, 49, 50, 120])[..] else { unreachable!() };
        assert_eq!(first, same);
        assert!(first != next && next != last);
        assert_eq!(shifts(&[149]), [last]);
        // The value in force when the transmission begins counts, not that at its end.
        let mut stage = stage(&redrawn).unwrap();
        let across = Crossing { came: at(0).came, begun: at(49).begun, ..at(51) };
        assert_eq!(fate(&mut stage, &across).shift, first);
        assert_eq!(fate(&mut stage, &across).detour, Duration::ZERO);
    }

    #[test]
    fn redrawn_delays_are_distributed_as_asked() {
        let delay = Distribution::Normal {
            mean: Duration::from_millis(200),
            deviation: Duration::from_millis(60),
        };
        let every = Duration::from_millis(1);
        let mut stage =
            stage(&Impairment::Redrawn { every, delay, applies: Applies::Both }).unwrap();
        let drawn: Vec<f64> =
            (0..20_000).map(|ms| fate(&mut stage, &at(ms)).shift.as_millis_f64()).collect();
        let mean = drawn.iter().sum::<f64>() / 20_000.0;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
        // Four standard errors: 60 / √20000, and 60 / √40000 for the deviation.
        assert!((mean - 200.0).abs() < 1.7 && (variance.sqrt() - 60.0).abs() < 1.2);
        let product = |pair: &[f64]| (pair[0] - mean) * (pair[1] - mean);
        let correlation = drawn.windows(2).map(product).sum::<f64>() / 20_000.0 / variance;
        assert!(correlation.abs() < 4.0 / 20_000.0_f64.sqrt(), "neighbours: {correlation}");
    }

    #[test]
    fn a_burst_loses_all_until_it_ends() {
        let length = Distribution::Constant(Duration::from_millis(30));
        let burst = Impairment::Burst { fraction: 0.01, length, applies: Applies::Both };
        let mut stage = stage(&burst).unwrap();
        let lost: Vec<bool> = (0..100_000).map(|ms| fate(&mut stage, &at(ms)).lost).collect();
        let runs: Vec<usize> =
            lost.split(|lost| !lost).map(<[bool]>::len).filter(|&run| run > 0).collect();
        // One packet a ms: 30 in each, unless one follows right upon another.
        assert!(runs.iter().all(|run| run % 30 == 0), "{runs:?}");
        // Packets outside of bursts start one with 1 %: one in 99 + 30 packets.
        let bursts = runs.iter().sum::<usize>() as f64 / 30.0;
        let expected = 100_000.0 / 129.0;
        assert!((bursts - expected).abs() < 4.0 * expected.sqrt(), "{bursts} bursts");
    }

    #[test]
    fn a_blackout_loses_what_is_sent_during_it() {
        let ms = Duration::from_millis;
        let lost = |times: Times, ats: [u64; 5]| {
            let blackout = Impairment::Blackout { times, length: ms(10), applies: Applies::Both };
            let mut stage = stage(&blackout).unwrap();
            ats.map(|at_ms| fate(&mut stage, &at(at_ms)).lost)
        };
        let instants = [75, 50].map(Instant::from_millis).to_vec();
        assert_eq!(
            lost(Times::At(instants), [49, 50, 59, 60, 84]),
            [false, true, true, false, true]
        );
        assert_eq!(
            lost(Times::Every(ms(50)), [0, 9, 50, 60, 109]),
            [false, false, true, false, true]
        );
        // What waited until then is lost, too.
        let times = Times::At(vec![Instant::from_millis(50)]);
        let blackout = Impairment::Blackout { times, length: ms(10), applies: Applies::Both };
        let mut stage = stage(&blackout).unwrap();
        assert!(fate(&mut stage, &Crossing { came: at(30).came, ..at(50) }).lost);
        assert!(!fate(&mut stage, &Crossing { came: at(50).came, ..at(60) }).lost);
    }

    #[test]
    fn a_value_out_of_range_is_named() {
        let ms = Duration::from_millis;
        let (applies, zero) = (Applies::Both, Duration::ZERO);
        let delay = Distribution::Constant(ms(1));
        let error = |impairment: Impairment| impairment.check().unwrap_err().to_string();
        assert_eq!(
            error(Impairment::Redrawn { every: zero, delay, applies }),
            "every must be more than 0 s, not 0 s"
        );
        assert_eq!(
            error(Impairment::Blackout { times: Times::Every(ms(5)), length: ms(5), applies }),
            "every must be longer than length, not 5 ms"
        );
        let resend =
            |errors, attempts| Impairment::Resend { errors, after: zero, attempts, applies };
        assert_eq!(error(resend(1.5, None)), "errors must be between 0 and 1, not 1.5");
        assert_eq!(error(resend(1.0, None)), "errors must be less than 1 without attempts, not 1");
        assert_eq!(resend(1.0, Some(3)).check(), Ok(()));
    }
}
