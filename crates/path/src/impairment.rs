//! Impairments: what may happen to packets after the bottleneck, such as delay, loss, another path,
//! duplication or damage.

mod effect;
mod stage;

use std::sync::Arc;

use unruffled_units::{Duration, Instant};

pub(crate) use stage::{Crossing, Fate, Stage};

use crate::{ConfigError, Direction, Distribution};
use effect::Effect;

/// The fraction of packets up to which an impairment is too rare to keep time going.
const RARE: f64 = 1e-6;

/// Something that happens to packets on their way. Fractions are from 0 to 1.
///
/// A [`LinkConfig`](crate::LinkConfig) has a list of them; each draws from random numbers of its own.
///
/// ```
/// use unruffled_path::{Applies, Distribution, Impairment};
/// use unruffled_units::Duration;
///
/// let ms = Duration::from_millis;
/// let delay = Distribution::Normal { mean: ms(25), deviation: ms(8) };
/// let late = Impairment::Delay { fraction: 0.1, delay, applies: Applies::Data };
/// assert!(late.check().is_ok());
/// let wrong = Impairment::Loss { fraction: 1.5, applies: Applies::Both };
/// let error = wrong.check().unwrap_err();
/// assert_eq!(error.to_string(), "fraction must be between 0 and 1, not 1.5");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Impairment {
    /// A share of the packets takes extra time after the link; the others pass them.
    Delay {
        /// The share of packets delayed, each at random.
        fraction: f64,
        /// The extra time.
        delay: Distribution,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Packets are lost at random, after the bottleneck has sent them.
    Loss {
        /// The share of packets lost.
        fraction: f64,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Every `every`-th packet is lost, after the bottleneck has sent it.
    Periodic {
        /// The number of packets in a turn; its last one is lost.
        every: u32,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Every `every`-th packet takes another, longer path; 2 means two paths in turn.
    Alternate {
        /// The number of packets in a turn; its last one takes the longer path.
        every: u32,
        /// How much longer that path takes.
        extra: Duration,
        /// Which packets it touches.
        applies: Applies,
    },
    /// An extra copy of a packet is delivered at the same time.
    Duplicate {
        /// The share of packets duplicated, each at random.
        fraction: f64,
        /// Which packets it touches.
        applies: Applies,
    },
    /// The propagation delay changes: all packets take extra time, drawn anew at every multiple of
    /// `every`. A packet takes what is in force when its transmission begins; so those of one
    /// interval keep their order, and those of the next may overtake them.
    Redrawn {
        /// How long a draw is in force.
        every: Duration,
        /// The extra time.
        delay: Distribution,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Packets start spells of loss, in which all are lost: the one that starts it and those whose
    /// last bit is sent before it ends.
    Burst {
        /// The share of packets that start one, each at random; there is but one at a time.
        fraction: f64,
        /// How long it lasts.
        length: Distribution,
        /// Which packets it touches.
        applies: Applies,
    },
    /// All packets are lost whose last bit is sent at certain times.
    Blackout {
        /// When it begins.
        times: Times,
        /// How long it lasts.
        length: Duration,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Transmissions are damaged at random, independently of each other, so that gaps between errors
    /// are exponential; the link sends such a packet again, from the head of its queue. Only one of
    /// these may be on a link. Those to be sent again do not count in the queue.
    Resend {
        /// The share of transmissions damaged, the repeated ones included.
        errors: f64,
        /// From the end of a transmission until the next one of the same packet may begin.
        after: Duration,
        /// How often a packet is sent again before it is lost; `None`: until it gets through.
        attempts: Option<u32>,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Packets take extra time as recorded: each the next value, from the beginning again after the
    /// last.
    Replay {
        /// The extra time of each packet; zero for one in time.
        lateness: Arc<[Duration]>,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Each packet takes extra time, and the next one's begins when it is over: no packet passes
    /// another. So ns-2 delays what its senders send (`overhead_`).
    Overhead {
        /// The extra time of one packet.
        delay: Distribution,
        /// Which packets it touches.
        applies: Applies,
    },
    /// Another impairment, at work for a time only: for packets that come to the link then.
    During {
        /// When it begins.
        from: Instant,
        /// When it has ended.
        until: Instant,
        /// What it is.
        impairment: Box<Impairment>,
    },
}

/// When a blackout begins, again and again; see [`Impairment::Blackout`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Times {
    /// At these instants.
    At(Vec<Instant>),
    /// At this time and all its multiples.
    Every(Duration),
}

/// Which packets an impairment touches, by the direction in which they travel within their flow.
///
/// `Data` stands for the packets of the sender and `Acks` for those of the receiver, whichever way a
/// link is crossed; use `Both` where the medium does not care.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Applies {
    /// Those that travel forward in their flow.
    Data,
    /// Those that travel back in their flow.
    Acks,
    /// All.
    #[default]
    Both,
}

impl Applies {
    /// Whether it touches packets that travel `way` within their flow.
    pub fn to(self, way: Direction) -> bool {
        match self {
            Self::Data => way == Direction::Forward,
            Self::Acks => way == Direction::Reverse,
            Self::Both => true,
        }
    }

    /// Whether it touches any of the packets that `other` names.
    fn meets(self, other: Self) -> bool {
        self == Self::Both || other == Self::Both || self == other
    }
}

impl Impairment {
    /// Whether its values make sense.
    ///
    /// # Errors
    ///
    /// When one is out of its range; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        Effect::of(self).map(drop)
    }

    /// Whether it delays or loses a packet in a million that travel `way` within its flow, at any time
    /// up to `end`. A blackout does not count, since it ends.
    pub(crate) fn hinders(&self, way: Direction, end: Instant) -> bool {
        let (from, until) = self.span();
        from == Instant::ZERO && until >= end && self.applies().to(way) && self.may_hinder()
    }

    fn may_hinder(&self) -> bool {
        match self {
            Self::Delay { fraction, delay, .. } => *fraction > RARE && !delay.is_zero(),
            Self::Redrawn { delay, .. } | Self::Overhead { delay, .. } => !delay.is_zero(),
            Self::Alternate { every, extra, .. } => {
                1.0 / f64::from(*every) > RARE && *extra > Duration::ZERO
            }
            Self::Replay { lateness, .. } => lateness.iter().any(|late| *late > Duration::ZERO),
            Self::Loss { fraction, .. } | Self::Burst { fraction, .. } => *fraction > RARE,
            Self::Resend { errors, .. } => *errors > RARE,
            Self::Periodic { every, .. } => 1.0 / f64::from(*every) > RARE,
            Self::Duplicate { .. } | Self::Blackout { .. } => false,
            Self::During { impairment, .. } => impairment.may_hinder(),
        }
    }

    /// After what time and how often a damaged packet is sent again, if that is what it is about.
    pub(crate) fn resends(&self) -> Option<(Duration, Option<u32>)> {
        match self {
            Self::Resend { after, attempts, .. } => Some((*after, *attempts)),
            Self::During { impairment, .. } => impairment.resends(),
            _ => None,
        }
    }

    fn applies(&self) -> Applies {
        match *self {
            Self::Delay { applies, .. }
            | Self::Loss { applies, .. }
            | Self::Periodic { applies, .. }
            | Self::Alternate { applies, .. }
            | Self::Duplicate { applies, .. }
            | Self::Redrawn { applies, .. }
            | Self::Overhead { applies, .. }
            | Self::Burst { applies, .. }
            | Self::Blackout { applies, .. }
            | Self::Replay { applies, .. }
            | Self::Resend { applies, .. } => applies,
            Self::During { ref impairment, .. } => impairment.applies(),
        }
    }

    /// When it is at work: from the first of the two instants up to the second.
    fn span(&self) -> (Instant, Instant) {
        match self {
            Self::During { from, until, impairment } => {
                let (inner_from, inner_until) = impairment.span();
                (inner_from.max(*from), inner_until.min(*until))
            }
            _ => (Instant::ZERO, Instant::MAX),
        }
    }
}
