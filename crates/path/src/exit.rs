//! Far end of a link, where the order of arrival decides what happens to a packet.
//!
//! A [`Link`](crate::Link) returns a packet's outcome when the packet is offered, before it is known
//! which packets arrive first at the far end. An [`Exit`] receives the packets in the order of their
//! arrival and drops those that a tunnel or a firewall would drop there.

mod ranges;
mod replay;
mod sequence;
mod window;

use std::collections::VecDeque;

use unruffled_units::Instant;

use crate::{ConfigError, DropCause};

use ranges::RangeLimit;
pub use ranges::{Piece, Span};
pub use replay::{ReplayRule, ReplayWindow};
use sequence::Sequence;
use window::Window;

/// Settings of the far end of a link. The default drops nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitConfig {
    /// Anti-replay window, which drops packets that are far behind others.
    pub replay: Option<ReplayWindow>,
    /// Maximum number of ranges that the octets of a TCP flow may form beyond the first gap.
    pub ranges: Option<u32>,
}

impl ExitConfig {
    /// Returns whether packets leave the link as they arrive at its far end.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether the far end may drop packets.
    pub fn may_drop(&self) -> bool {
        self.replay.is_some() || self.ranges.is_some()
    }

    /// Checks the values.
    ///
    /// # Errors
    ///
    /// When a value is out of its range; the error names it.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self.replay {
            Some(ReplayWindow { behind: 0, .. }) => {
                Err(ConfigError::new("replay.behind", "at least 1", 0))
            }
            _ => Ok(()),
        }
    }
}

/// Arrival of a packet at the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number of the packet in the order in which packets were offered to the link, from 1 on;
    /// see [`Link::offered`](crate::Link::offered).
    pub number: u64,
    /// TCP octets of the packet, if it has any. Only [`ExitConfig::ranges`] uses them.
    pub piece: Option<Piece>,
}

/// Packet that leaves the far end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving<T> {
    /// The packet goes on.
    Passes(T),
    /// The far end drops the packet.
    Dropped(T, DropCause),
}

/// Far end of a link for packets of type `T`.
///
/// ```
/// use unruffled_path::{Arrival, DropCause, Exit, ExitConfig, Leaving, ReplayWindow};
/// use unruffled_units::Instant;
///
/// // The tunnel drops packets that are 2 or more behind the newest.
/// let config = ExitConfig { replay: Some(ReplayWindow::new(2)), ..ExitConfig::default() };
/// let mut exit = Exit::new(&config);
/// for number in [1, 4, 3, 2] {
///     exit.handle(Arrival { number, piece: None }, number, Instant::ZERO);
/// }
/// let left: Vec<_> = std::iter::from_fn(|| exit.poll()).collect();
/// let [one, four, three] = [1, 4, 3].map(Leaving::Passes);
/// assert_eq!(left, [one, four, three, Leaving::Dropped(2, DropCause::Replay)]);
/// ```
#[derive(Clone, Debug)]
pub struct Exit<T> {
    replay: Option<Replay>,
    ranges: Option<RangeLimit>,
    leaving: VecDeque<Leaving<T>>,
}

/// State of an anti-replay check.
#[derive(Clone, Debug)]
enum Replay {
    Window(Window),
    Sequence(Sequence),
}

impl<T> Exit<T> {
    /// Creates the far end of a link that has carried no packets.
    pub fn new(config: &ExitConfig) -> Self {
        let replay = config.replay.map(|window| match window.rule {
            ReplayRule::InOrder { run } => Replay::Sequence(Sequence::new(run)),
            _ => Replay::Window(Window::new(window)),
        });
        let ranges = config.ranges.map(RangeLimit::new);
        Self { replay, ranges, leaving: VecDeque::new() }
    }

    /// Returns whether arrivals need their [`piece`](Arrival::piece).
    pub fn reads_pieces(&self) -> bool {
        self.ranges.is_some()
    }

    /// Receives a packet at `now`, which must not decrease. [`poll`](Self::poll) returns it.
    pub fn handle(&mut self, arrival: Arrival, packet: T, now: Instant) {
        let leaving = match self.judge(&arrival, now) {
            None => Leaving::Passes(packet),
            Some(cause) => Leaving::Dropped(packet, cause),
        };
        self.leaving.push_back(leaving);
    }

    /// Returns the next packet that leaves, if any.
    pub fn poll(&mut self) -> Option<Leaving<T>> {
        self.leaving.pop_front()
    }

    /// Returns the cause for which the packet is dropped, if it is. A dropped packet leaves no trace in
    /// the checks after the one that drops it.
    fn judge(&mut self, arrival: &Arrival, now: Instant) -> Option<DropCause> {
        let is_fresh = match &mut self.replay {
            None => true,
            Some(Replay::Window(window)) => window.accepts(arrival.number, now),
            Some(Replay::Sequence(sequence)) => sequence.accepts(arrival.number),
        };
        if !is_fresh {
            return Some(DropCause::Replay);
        }
        let has_room = match (&mut self.ranges, arrival.piece) {
            (Some(ranges), Some(piece)) => ranges.accepts(piece),
            _ => true,
        };
        (!has_room).then_some(DropCause::Ranges)
    }
}
