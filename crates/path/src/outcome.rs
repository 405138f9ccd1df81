//! Outcomes of a packet's crossing.

use unruffled_units::{Duration, Instant};

/// Outcome of a packet that was offered to a link.
///
/// [`Link::offer`](crate::Link::offer) and [`Link::resume`](crate::Link::resume) return it. To carry
/// packets, `verdict` and `duplicate` are sufficient; the other fields are measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Whether and when the packet arrives.
    pub verdict: Verdict,
    /// Whether a second copy arrives at the same instant; never set for a dropped packet.
    pub duplicate: bool,
    /// Whether the packet had extra delay, was resent, or overtook others. All other packets arrive in the
    /// order in which they were offered. Never set for a dropped packet.
    pub detoured: bool,
    /// Whether the queue marked the packet with CE (RFC 3168); never set for a packet without ECT. The
    /// outcome of a packet that is resent repeats no mark.
    pub marked: bool,
    /// Number of later packets for which the packet waits at the far end, 0 for most. The link does not know
    /// when they come: an [`Exit`](crate::Exit) holds the packet.
    pub late_by: u32,
    /// Time in the queue before the transmission began; zero if the queue dropped the packet. For a packet
    /// that is resent, it counts from the time at which it could be resent.
    pub waited: Duration,
    /// Time at which the last bit left the transmitter, also if the packet is damaged or lost after that.
    /// The time of the drop if the queue dropped the packet.
    pub departed: Instant,
}

/// Whether and when a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet does not arrive.
    Drop(DropCause),
    /// The packet arrives at this instant.
    Deliver(Instant),
    /// The packet was damaged, and the link will resend it. [`Link::resume`](crate::Link::resume) returns
    /// its outcome.
    Held {
        /// Time at which the link may resend the packet, and at which to call `resume`.
        until: Instant,
        /// Argument of `resume`.
        ticket: Ticket,
    },
}

/// Identifier of a packet that a link holds, from [`Verdict::Held`]. Each packet that a link holds has a
/// different one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(crate) u32);

/// Place at which a packet was dropped. It distinguishes congestion from other losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue. The packet used no bandwidth.
    Queue,
    /// The way after the bottleneck, which has sent the packet.
    Loss,
    /// The anti-replay window at the far end: the packet was behind it, or had arrived before.
    Replay,
    /// The limit on ranges at the far end: the packet would have opened one more.
    Ranges,
    /// The reassembly at the far end: other fragments separated those of the packet.
    Fragments,
}

impl Verdict {
    /// Returns the time of arrival, if it is known.
    pub(crate) const fn arrival(self) -> Option<Instant> {
        match self {
            Self::Deliver(arrival) => Some(arrival),
            Self::Drop(_) | Self::Held { .. } => None,
        }
    }
}

impl Outcome {
    /// Returns the outcome of a packet whose first fragments have this outcome, and whose next one has `next`.
    /// A queue that drops a fragment drops the packet.
    pub(crate) fn joined(self, next: Self) -> Self {
        let queue = Verdict::Drop(DropCause::Queue);
        let verdict = match (self.verdict, next.verdict) {
            (Verdict::Deliver(first), Verdict::Deliver(second)) => {
                Verdict::Deliver(first.max(second))
            }
            (first, second) if first == queue || second == queue => queue,
            (Verdict::Deliver(_), second) => second,
            (first, _) => first,
        };
        let is_delivered = verdict.arrival().is_some();
        Self {
            verdict,
            duplicate: false,
            detoured: is_delivered && (self.detoured || next.detoured),
            marked: self.marked || next.marked,
            late_by: 0,
            waited: self.waited,
            departed: self.departed.max(next.departed),
        }
    }

    /// Creates the outcome of a packet that the queue drops at `now`.
    pub(crate) const fn refused(now: Instant) -> Self {
        Self {
            verdict: Verdict::Drop(DropCause::Queue),
            duplicate: false,
            detoured: false,
            marked: false,
            late_by: 0,
            waited: Duration::ZERO,
            departed: now,
        }
    }
}
