//! Impairments of packets after the bottleneck: delay, loss, another path, duplication or damage.

mod effect;
mod netem;
mod stage;
mod workers;

use std::sync::Arc;

use unruffled_units::{Duration, Instant};

pub use netem::{Netem, Share};
pub(crate) use stage::{Crossing, Fate, Stage};
pub use workers::{WorkerChoice, Workers};

use crate::exit::Waits;
use crate::{ConfigError, Direction, Distribution};
use effect::Effect;

/// Share of packets up to which an impairment is too rare to guarantee that time advances in a loop of
/// links.
const MAX_NEGLIGIBLE_FRACTION: f64 = 1e-6;

/// Impairment of packets on a link. Fractions are from 0 to 1.
///
/// Each impairment of a [`LinkConfig`](crate::LinkConfig) has its own random numbers.
///
/// ```
/// use unruffled_path::{Applies, Distribution, Impairment};
/// use unruffled_units::Duration;
///
/// let ms = Duration::from_millis;
/// let delay = Distribution::Normal { mean: ms(25), deviation: ms(8) };
/// let late = Impairment::Delay { fraction: 0.1, delay, applies: Applies::Data };
/// assert!(late.check().is_ok());
/// let invalid = Impairment::Loss { fraction: 1.5, applies: Applies::Both };
/// let error = invalid.check().unwrap_err();
/// assert_eq!(error.to_string(), "fraction must be between 0 and 1, not 1.5");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Impairment {
    /// Delays packets at random after the link; the others may overtake them.
    Delay {
        /// Share of packets delayed.
        fraction: f64,
        /// Extra delay.
        delay: Distribution,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Loses packets at random, after the bottleneck has sent them.
    Loss {
        /// Share of packets lost.
        fraction: f64,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Loses every `every`-th packet, after the bottleneck has sent it.
    Periodic {
        /// Period in packets; the last packet of each is lost.
        every: u32,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Sends every `every`-th packet over a longer path; 2 alternates between two paths.
    Alternate {
        /// Period in packets; the last packet of each takes the longer path.
        every: u32,
        /// Extra delay of the longer path.
        extra: Duration,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Duplicates packets at random. Both copies arrive at the same time.
    Duplicate {
        /// Share of packets duplicated.
        fraction: f64,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Changes the propagation delay: all packets have an extra delay, which is drawn anew at every
    /// multiple of `every`.
    ///
    /// The delay at the beginning of a packet's transmission counts. Packets of one interval therefore
    /// keep their order, and packets of the next may overtake them.
    Redrawn {
        /// Interval between draws.
        every: Duration,
        /// Extra delay.
        delay: Distribution,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Loses packets in bursts. A burst starts with a random packet, which is lost with all packets whose
    /// last bit is sent before the burst ends.
    Burst {
        /// Share of packets that start a burst, if none is in progress.
        fraction: f64,
        /// Duration of a burst.
        length: Distribution,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Loses all packets whose last bit is sent during a blackout.
    Blackout {
        /// Beginnings of the blackouts.
        times: Times,
        /// Duration of a blackout.
        length: Duration,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Damages transmissions at random, independently of each other, so that gaps between errors are
    /// exponential. The link resends a damaged packet from the head of its queue.
    ///
    /// A link may have one such impairment. Packets to be resent do not count in the queue.
    Resend {
        /// Share of transmissions damaged, repeated ones included.
        errors: f64,
        /// Time from the end of a transmission until the next one of the same packet may begin.
        after: Duration,
        /// Number of times that a packet is resent before it is lost; `None` for no limit.
        attempts: Option<u32>,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Delays packets as recorded: each by the next value, and by the first again after the last.
    Replay {
        /// Extra delay of each packet; zero for a packet that is not late.
        lateness: Arc<[Duration]>,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Delays each packet, one after the other, so that no packet overtakes another. ns-2 delays the
    /// packets of its senders in this way (`overhead_`).
    Overhead {
        /// Extra delay of a packet, from the end of the delay of the one before.
        delay: Distribution,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Lets several workers handle the packets, in batches.
    Workers {
        /// The workers.
        workers: Workers,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Delays, loses and reorders packets as Linux's netem does.
    Netem {
        /// The settings.
        netem: Netem,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Delays packets at random until later ones have overtaken them at the far end of the link, where an
    /// [`Exit`](crate::Exit) counts them. A link may have one impairment that counts packets: this one, or
    /// [`Early`](Self::Early) by packets.
    Behind {
        /// Share of packets delayed.
        fraction: f64,
        /// Fewest and most packets that overtake a delayed one. Every number between them is equally likely.
        packets: (u32, u32),
        /// Maximum wait at the far end, after which a packet leaves although fewer have overtaken it.
        at_most: Duration,
        /// Packets to which the impairment applies.
        applies: Applies,
    },
    /// Lets a few packets overtake. All others take longer, and keep their order.
    Early {
        /// Packets that overtake.
        chosen: Chosen,
        /// Advance of these packets.
        by: Advance,
        /// Packets to which the impairment applies. It does not delay any others.
        applies: Applies,
    },
    /// Applies another impairment for a time: to the packets that arrive at the link in it.
    During {
        /// Beginning of the time.
        from: Instant,
        /// End of the time, which is not part of it.
        until: Instant,
        /// The impairment.
        impairment: Box<Impairment>,
    },
}

/// Packets that [overtake](Impairment::Early).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Chosen {
    /// Random packets: this share of all.
    Fraction(f64),
    /// The last packet of every so many.
    Every(u32),
}

/// Advance of packets that [overtake](Impairment::Early).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// All other packets have so much extra delay.
    Time(Duration),
    /// All other packets wait in line at the far end of the link, where an [`Exit`](crate::Exit) holds
    /// them. An early packet overtakes the line.
    Packets {
        /// Length of the line.
        count: u32,
        /// Maximum wait in line.
        at_most: Duration,
    },
}

/// Beginnings of [blackouts](Impairment::Blackout).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Times {
    /// These instants.
    At(Vec<Instant>),
    /// All positive multiples of this duration.
    Every(Duration),
}

/// Packets to which an impairment applies, by their direction within their flow.
///
/// The direction of the link does not matter. Impairments of the medium apply to `Both`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Applies {
    /// Packets of the end that sends data.
    Data,
    /// Packets of the end that receives data.
    Acks,
    /// All packets.
    #[default]
    Both,
}

impl Applies {
    /// Returns the packets of one direction.
    pub(crate) fn only(direction: Direction) -> Self {
        match direction {
            Direction::Forward => Self::Data,
            Direction::Reverse => Self::Acks,
        }
    }

    /// Returns whether packets in `direction` are included.
    pub fn to(self, direction: Direction) -> bool {
        match self {
            Self::Data => direction == Direction::Forward,
            Self::Acks => direction == Direction::Reverse,
            Self::Both => true,
        }
    }

    /// Returns whether some packets are included in both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }
}

impl Chosen {
    /// Returns the share of the packets that are not chosen.
    fn others(self) -> f64 {
        match self {
            Self::Fraction(fraction) => 1.0 - fraction,
            Self::Every(every) => 1.0 - 1.0 / f64::from(every),
        }
    }
}

impl Impairment {
    /// Checks the values.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        Effect::new(self).map(drop)
    }

    /// Returns whether the impairment delays or loses at least one in a million packets in `direction`, at
    /// all times up to `end`. A blackout does not, because it ends.
    pub(crate) fn hinders(&self, direction: Direction, end: Instant) -> bool {
        let (from, until) = self.active_time();
        from == Instant::ZERO && until >= end && self.applies().to(direction) && self.may_hinder()
    }

    /// Returns whether the impairment delays or loses at least one in a million packets while it is active.
    fn may_hinder(&self) -> bool {
        match self {
            Self::Delay { fraction, delay, .. } => {
                *fraction > MAX_NEGLIGIBLE_FRACTION && !delay.is_zero()
            }
            Self::Redrawn { delay, .. } | Self::Overhead { delay, .. } => !delay.is_zero(),
            Self::Workers { workers, .. } => !workers.are_idle(),
            Self::Netem { netem, .. } => netem.may_hinder(),
            Self::Alternate { every, extra, .. } => {
                1.0 / f64::from(*every) > MAX_NEGLIGIBLE_FRACTION && *extra > Duration::ZERO
            }
            Self::Replay { lateness, .. } => lateness.iter().any(|late| *late > Duration::ZERO),
            Self::Loss { fraction, .. } | Self::Burst { fraction, .. } => {
                *fraction > MAX_NEGLIGIBLE_FRACTION
            }
            Self::Resend { errors, .. } => *errors > MAX_NEGLIGIBLE_FRACTION,
            Self::Periodic { every, .. } => 1.0 / f64::from(*every) > MAX_NEGLIGIBLE_FRACTION,
            Self::Early { chosen, by: Advance::Time(by), .. } => {
                *by > Duration::ZERO && chosen.others() > MAX_NEGLIGIBLE_FRACTION
            }
            // The packets that others wait for may come at once.
            Self::Behind { .. } | Self::Early { .. } => false,
            Self::Duplicate { .. } | Self::Blackout { .. } => false,
            Self::During { impairment, .. } => impairment.may_hinder(),
        }
    }

    /// Returns the time after which, and the number of times that, a damaged packet is resent, if the
    /// impairment is a [`Resend`](Self::Resend).
    pub(crate) fn resends(&self) -> Option<(Duration, Option<u32>)> {
        match self {
            Self::Resend { after, attempts, .. } => Some((*after, *attempts)),
            Self::During { impairment, .. } => impairment.resends(),
            _ => None,
        }
    }

    /// Returns whether the link resends packets that the impairment damages.
    pub fn resends_packets(&self) -> bool {
        self.resends().is_some()
    }

    /// Returns whether the impairment counts packets, which only one of a link may do.
    pub fn counts_packets(&self) -> bool {
        self.waits().is_some()
    }

    /// Returns how packets wait at the far end of the link for others, if the impairment counts packets.
    pub(crate) fn waits(&self) -> Option<Waits> {
        match *self {
            // No stage applies a fraction of zero, and the link may be plain.
            Self::Behind { fraction: 0.0, .. } => None,
            Self::Behind { at_most, .. } => Some(Waits::UntilOvertaken { at_most }),
            Self::Early { by: Advance::Packets { count, at_most }, .. } => {
                Some(Waits::InLine { count, at_most })
            }
            Self::During { ref impairment, .. } => impairment.waits(),
            _ => None,
        }
    }

    pub(crate) fn applies(&self) -> Applies {
        match *self {
            Self::Delay { applies, .. }
            | Self::Loss { applies, .. }
            | Self::Periodic { applies, .. }
            | Self::Alternate { applies, .. }
            | Self::Duplicate { applies, .. }
            | Self::Redrawn { applies, .. }
            | Self::Overhead { applies, .. }
            | Self::Workers { applies, .. }
            | Self::Netem { applies, .. }
            | Self::Burst { applies, .. }
            | Self::Blackout { applies, .. }
            | Self::Replay { applies, .. }
            | Self::Behind { applies, .. }
            | Self::Early { applies, .. }
            | Self::Resend { applies, .. } => applies,
            Self::During { ref impairment, .. } => impairment.applies(),
        }
    }

    /// Returns the beginning and the end of the time in which the impairment is active.
    fn active_time(&self) -> (Instant, Instant) {
        match self {
            Self::During { from, until, impairment } => {
                let (inner_from, inner_until) = impairment.active_time();
                (inner_from.max(*from), inner_until.min(*until))
            }
            _ => (Instant::ZERO, Instant::MAX),
        }
    }
}
