//! Far end of a link, where the order of arrival decides what happens to a packet.
//!
//! A [`Link`](crate::Link) returns a packet's outcome when the packet is offered, before it is known
//! which packets arrive first at the far end. An [`Exit`] receives the packets in the order of their
//! arrival, holds those that others overtake there, and drops those that a tunnel or a firewall would
//! drop.

mod countdown;
mod late;
mod line;
mod ranges;
mod reassembly;
mod replay;
mod sequence;
mod window;

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::{
    Applies, ConfigError, Direction, DropCause, Fragments, Link, LinkConfig, Outcome, Verdict,
};

use late::Late;
use line::Line;
use ranges::RangeLimit;
pub use ranges::{Piece, Span};
use reassembly::Reassembly;
pub use replay::{ReplayRule, ReplayWindow};
use sequence::Sequence;
use window::Window;

/// Checks at the far end of a link. The default drops nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExitConfig {
    /// Anti-replay window, which drops packets that are far behind others.
    pub replay: Option<ReplayWindow>,
    /// Maximum number of ranges that the octets of a TCP flow may form beyond the first gap.
    pub ranges: Option<u32>,
}

impl ExitConfig {
    /// Returns whether nothing is checked.
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
    /// Number of later packets for which the packet waits; see
    /// [`Outcome::late_by`](crate::Outcome::late_by).
    pub late_by: u32,
    /// TCP octets of the packet, if it has any. Only [`ExitConfig::ranges`] uses them.
    pub piece: Option<Piece>,
    /// Number of the packet in the tunnel, from 1 on, if the tunnel begins elsewhere than the link; 0 for a
    /// packet that is not in the tunnel. `None`: the tunnel begins at the link, and `number` counts.
    pub tunnel_number: Option<u64>,
}

/// Way in which packets wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A packet waits until others have overtaken it.
    UntilOvertaken {
        /// Maximum wait.
        at_most: Duration,
    },
    /// All packets but the early ones wait in line.
    InLine {
        /// Length of the line.
        count: u32,
        /// Maximum wait.
        at_most: Duration,
    },
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
/// use unruffled_path::{
///     Arrival, Direction, DropCause, Exit, ExitConfig, Leaving, LinkConfig, ReplayWindow,
/// };
/// use unruffled_units::Instant;
///
/// // The tunnel drops packets that are 2 or more behind the newest.
/// let exit = ExitConfig { replay: Some(ReplayWindow::new(2)), ..ExitConfig::default() };
/// let config = LinkConfig { exit, ..LinkConfig::default() };
/// let mut exit = Exit::new(&config, Direction::Forward).expect("the link has a window");
/// for number in [1, 4, 3, 2] {
///     exit.handle(Arrival { number, late_by: 0, piece: None, tunnel_number: None }, number, Instant::ZERO);
/// }
/// let left: Vec<_> = std::iter::from_fn(|| exit.poll()).collect();
/// let [one, four, three] = [1, 4, 3].map(Leaving::Passes);
/// assert_eq!(left, [one, four, three, Leaving::Dropped(2, DropCause::Replay)]);
/// ```
#[derive(Clone, Debug)]
pub struct Exit<T> {
    order: Order<T>,
    reassembly: Option<Box<Reassembly>>,
    replay: Option<Replay>,
    ranges: Option<RangeLimit>,
    leaving: VecDeque<Leaving<T>>,
    /// Packets that leave `order`. Empty between calls; only its memory is kept.
    ordered: Vec<(Arrival, T)>,
}

/// Packets that wait for others.
#[derive(Clone, Debug)]
enum Order<T> {
    /// None: packets leave in the order of their arrival.
    Arrival,
    Late(Late<T>),
    Line(Line<T>),
}

/// State of an anti-replay check.
#[derive(Clone, Debug)]
enum Replay {
    Window(Window),
    Sequence(Sequence),
}

impl<T> Exit<T> {
    /// Creates the far end of a link that carries packets of `direction` only, before its first packet.
    /// Returns `None` if packets leave the link as they arrive.
    pub fn new(config: &LinkConfig, direction: Direction) -> Option<Self> {
        Self::carrying(config, Applies::only(direction))
    }

    /// Creates the far end of a link that carries the packets in `carries`, before its first packet.
    /// Returns `None` if packets leave the link as they arrive.
    pub fn carrying(config: &LinkConfig, carries: Applies) -> Option<Self> {
        let affects = |impairment: &&crate::Impairment| impairment.applies().overlaps(carries);
        let waits = config.impairments.iter().filter(affects).find_map(|i| i.waits());
        if waits.is_none() && config.exit.is_open() && config.fragments.is_none() {
            return None;
        }
        let order = match waits {
            None => Order::Arrival,
            Some(Waits::UntilOvertaken { at_most }) => Order::Late(Late::new(at_most)),
            Some(Waits::InLine { count, at_most }) => Order::Line(Line::new(count, at_most)),
        };
        let reassembly = |fragments: Fragments| Box::new(Reassembly::new(fragments.max_distance));
        let reassembly = config.fragments.map(reassembly);
        let replay = config.exit.replay.map(|window| match window.rule {
            ReplayRule::InOrder { run } => Replay::Sequence(Sequence::new(run)),
            _ => Replay::Window(Window::new(window)),
        });
        let ranges = config.exit.ranges.map(RangeLimit::new);
        let (leaving, ordered) = (VecDeque::new(), Vec::new());
        Some(Self { order, reassembly, replay, ranges, leaving, ordered })
    }

    /// Returns whether arrivals need their [`piece`](Arrival::piece).
    pub fn reads_pieces(&self) -> bool {
        self.ranges.is_some()
    }

    /// Records the arrivals of the fragments of the packet that was offered to `link` last, at `now`, with this
    /// outcome. Must be called for every packet that is offered to a link with [`Fragments`].
    #[inline]
    pub fn expect(&mut self, link: &Link, outcome: &Outcome, now: Instant) {
        if let Some(reassembly) = &mut self.reassembly {
            let arrives = matches!(outcome.verdict, Verdict::Deliver(_));
            reassembly.expect(link.offered(), link.fragment_arrivals(), arrives, now);
        }
    }

    /// Receives a packet at `now`, which must not decrease. [`poll`](Self::poll) returns it when it leaves.
    pub fn handle(&mut self, arrival: Arrival, packet: T, now: Instant) {
        match &mut self.order {
            Order::Arrival => self.ordered.push((arrival, packet)),
            Order::Late(late) => late.handle(arrival, packet, now, &mut self.ordered),
            Order::Line(line) => line.handle(arrival, packet, now, &mut self.ordered),
        }
        self.check(now);
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due, if a packet waits.
    pub fn poll_timeout(&self) -> Option<Instant> {
        match &self.order {
            Order::Arrival => None,
            Order::Late(late) => late.poll_timeout(),
            Order::Line(line) => line.poll_timeout(),
        }
    }

    /// Ends the waits that are over at `now`, which must not decrease.
    pub fn handle_timeout(&mut self, now: Instant) {
        match &mut self.order {
            Order::Arrival => {}
            Order::Late(late) => late.handle_timeout(now, &mut self.ordered),
            Order::Line(line) => line.handle_timeout(now, &mut self.ordered),
        }
        self.check(now);
    }

    /// Checks the packets that no longer wait.
    fn check(&mut self, now: Instant) {
        let mut ordered = std::mem::take(&mut self.ordered);
        for (arrival, packet) in ordered.drain(..) {
            let leaving = match self.judge(&arrival, now) {
                None => Leaving::Passes(packet),
                Some(cause) => Leaving::Dropped(packet, cause),
            };
            self.leaving.push_back(leaving);
        }
        self.ordered = ordered;
    }

    /// Returns the next packet that leaves, if any.
    pub fn poll(&mut self) -> Option<Leaving<T>> {
        self.leaving.pop_front()
    }

    /// Returns the cause for which the packet is dropped, if it is. A dropped packet leaves no trace in
    /// the checks after the one that drops it.
    fn judge(&mut self, arrival: &Arrival, now: Instant) -> Option<DropCause> {
        if let Some(reassembly) = &mut self.reassembly
            && !reassembly.accepts(arrival.number)
        {
            return Some(DropCause::Fragments);
        }
        let number = arrival.tunnel_number.unwrap_or(arrival.number);
        let is_fresh = match &mut self.replay {
            None => true,
            // Not in the tunnel.
            Some(_) if number == 0 => true,
            Some(Replay::Window(window)) => window.accepts(number, now),
            Some(Replay::Sequence(sequence)) => sequence.accepts(number),
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
