//! What happened inside a connection, told to whoever wants to count, draw or print it. The engine
//! itself counts nothing for reports.

use unruffled_units::{Duration, Instant};

pub use crate::sender::Cause;

/// One thing that happened. Offsets are in octets of the stream, windows in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    /// A data segment left; `cause` says why again, if it is a retransmission.
    Sent {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload.
        len: u32,
        /// Why it was sent again, if it was.
        cause: Option<Cause>,
    },
    /// An acknowledgement was read: the state after it.
    Acknowledged {
        /// First octet that is not acknowledged (SND.UNA).
        una: u64,
        /// Congestion window.
        cwnd: f64,
        /// Slow-start threshold.
        ssthresh: f64,
        /// Duplicate threshold, for senders that have one.
        dupthresh: Option<u32>,
        /// How long a segment may be in flight before it counts as lost, for senders that work in
        /// time.
        patience: Option<Duration>,
    },
    /// A hole closed because its segment was late.
    Reordered {
        /// Reordering length, in segments.
        length: u32,
        /// Reordering delay.
        delay: Duration,
    },
    /// Loss detection began fast retransmit.
    FastRetransmit,
    /// Recovery, by fast retransmit or after a timeout, came to its end.
    Recovered,
    /// The retransmission timer expired.
    Timeout,
    /// A tail loss probe went out.
    LossProbe,
    /// A retransmission proved needless.
    Needless {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload.
        len: u32,
    },
    /// Every retransmission under one reduction of the window proved needless.
    FalseReduction {
        /// What the reduction had been made for.
        cause: Cause,
    },
    /// Octets reached the application in order.
    Delivered {
        /// How many.
        len: u64,
    },
    /// A data segment arrived.
    Arrived {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload.
        len: u32,
        /// None of its octets were new.
        duplicate: bool,
    },
}

/// Somebody who is told.
pub trait Observer {
    /// `event` happened at `now`.
    fn on_event(&mut self, now: Instant, event: &Event);
}

/// Nobody.
impl Observer for () {
    fn on_event(&mut self, _now: Instant, _event: &Event) {}
}

impl<F: FnMut(Instant, &Event)> Observer for F {
    fn on_event(&mut self, now: Instant, event: &Event) {
        self(now, event);
    }
}
