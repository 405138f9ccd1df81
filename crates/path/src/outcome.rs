//! What becomes of a packet.

use unruffled_units::{Duration, Instant};

/// What becomes of a packet that was offered to a link, as [`Link::offer`](crate::Link::offer) and
/// [`Link::resume`](crate::Link::resume) tell it. What carries packets needs the verdict and the
/// duplicate; the rest is for measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether and when it arrives.
    pub verdict: Verdict,
    /// A second copy arrives at the same instant; never set for a dropped packet.
    pub duplicate: bool,
    /// It was given extra delay, sent again, or overtakes others. Packets that were not arrive in the
    /// order of their offering; never set for a dropped packet.
    pub detoured: bool,
    /// How long it stood in the queue before its transmission began; zero if the queue dropped it. Of
    /// one that is sent again: since it could be.
    pub waited: Duration,
    /// When its last bit left the transmitter, whether it arrives or is damaged or lost after that;
    /// the instant of the drop if the queue dropped it.
    pub departed: Instant,
}

/// Whether and when a packet arrives; match on it to schedule the arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It never arrives.
    Drop(DropCause),
    /// It arrives at this instant.
    Deliver(Instant),
    /// It was damaged and is to be sent again: [`Link::resume`](crate::Link::resume) tells what
    /// becomes of it.
    Held {
        /// When to ask: it may be sent again then.
        until: Instant,
        /// What to ask for.
        ticket: Ticket,
    },
}

/// Stands for a packet that a link holds; no two that it holds have the same.
///
/// It comes with [`Verdict::Held`]; pass it to
/// [`Link::resume`](crate::Link::resume) when the time has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(crate) u32);

/// Where a packet was dropped. It tells congestion from losses on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue did not admit it, so it took no bandwidth.
    Queue,
    /// It was lost on its way, after the bottleneck had sent it.
    Loss,
}

impl Outcome {
    /// The queue drops the packet at `now`.
    pub(crate) const fn refused(now: Instant) -> Self {
        Self {
            verdict: Verdict::Drop(DropCause::Queue),
            duplicate: false,
            detoured: false,
            waited: Duration::ZERO,
            departed: now,
        }
    }
}
