//! Events of a connection, reported to an [`Observer`]. The engine itself collects no statistics.

use unruffled_units::{Duration, Instant};

/// Reason why a segment was retransmitted, reported in [`Event::Sent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Loss detection deemed the segment lost, or recovery had nothing else to send.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// The retransmission is a tail loss probe.
    Probe,
}

/// The kind of destination that an ICMP message reports as unreachable. A driver passes it to
/// [`Connection::handle_unreachable`](crate::Connection::handle_unreachable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unreachable {
    /// A network, a host or the route to it, which may come back soon ("soft": ICMP codes 0, 1 and
    /// 5 to 12; in ICMPv6 0, 2, 3, 5 and 6).
    Host,
    /// The protocol or the port, or communication is administratively prohibited ("hard": ICMP
    /// codes 2, 3 and 13; in ICMPv6 1 and 4).
    Port,
}

/// An event of a connection, reported to an [`Observer`]. Offsets are in octets of the stream,
/// windows in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A data segment was sent.
    Sent {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload.
        len: u32,
        /// Reason for the retransmission, if it is one.
        cause: Option<Cause>,
    },
    /// An acknowledgement was processed. The fields hold the state after it.
    Acknowledged {
        /// First octet that is not acknowledged (SND.UNA).
        una: u64,
        /// Congestion window.
        cwnd: f64,
        /// Slow-start threshold.
        ssthresh: f64,
        /// Duplicate threshold, for senders that have one.
        dupthresh: Option<u32>,
        /// Time that a segment may be in flight before it is deemed lost, for senders that work in
        /// time.
        patience: Option<Duration>,
        /// Smoothed round-trip time, once measured.
        srtt: Option<Duration>,
    },
    /// A hole closed because its segment arrived late.
    Reordered {
        /// Reordering length, in segments.
        length: u32,
        /// Reordering delay.
        delay: Duration,
    },
    /// Loss detection began a fast retransmit.
    FastRetransmit,
    /// A recovery ended, after a fast retransmit or a timeout.
    Recovered,
    /// The retransmission timer expired. The field holds the state after it.
    Timeout {
        /// Congestion window.
        cwnd: f64,
    },
    /// An acknowledgement reported a mark of the path (ECE), and the window was reduced for it (RFC 3168,
    /// section 6.1.2). The field holds the state after it.
    EcnReduction {
        /// Congestion window.
        cwnd: f64,
    },
    /// A tail loss probe was sent.
    LossProbe,
    /// A retransmission proved spurious.
    SpuriousRetransmission {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload.
        len: u32,
    },
    /// Every retransmission under one reduction of the window proved spurious.
    SpuriousReduction {
        /// Reason for the reduction.
        cause: Cause,
    },
    /// Octets were delivered to the application in order.
    Delivered {
        /// Number of octets.
        len: u64,
    },
    /// Octets arrived for the first time, in an accepted segment. Store these octets and no others.
    /// A segment that fills several gaps causes several such events, in order. The first copy of an
    /// octet is the one that counts: octets that have already arrived are not reported again.
    Fresh {
        /// Stream offset of the first octet.
        offset: u64,
        /// Number of octets.
        len: u32,
    },
    /// The furthest octets that had arrived out of order were dropped, because a connection stores
    /// only a limited number of ranges. When they arrive again they are new again.
    Discarded {
        /// Stream offset of the first octet.
        offset: u64,
        /// Number of octets.
        len: u64,
    },
    /// A data segment arrived, in the window or below it. Reported once per segment, after its
    /// [`Event::Fresh`] events. Store nothing because of this event.
    Arrived {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload within the window or below it.
        len: u32,
        /// Whether none of its octets were new.
        duplicate: bool,
    },
    /// A segment arrived and was dropped.
    Ignored {
        /// Reason.
        reason: Ignored,
    },
    /// A window probe was sent, because the window is closed or too small for a segment.
    WindowProbe,
    /// A keep-alive probe was sent.
    KeepAlive,
    /// A node on the path reported that the peer, or its port, cannot be reached.
    Unreachable {
        /// Kind of destination that is unreachable.
        what: Unreachable,
    },
    /// The path MTU is smaller than assumed so far.
    PathMtu {
        /// Path MTU, with the IP header.
        mtu: u32,
    },
}

/// Reason why an arriving segment, or an ICMP message, was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ignored {
    /// The segment belongs to no connection.
    NoConnection,
    /// The segment is longer than a packet can be.
    Malformed,
    /// The segment is not in the receive window (RFC 9293, Table 6), like an old duplicate.
    OutsideWindow,
    /// The timestamp is older than one seen before (PAWS, RFC 7323, section 5).
    OldTimestamp,
    /// The segment has no timestamp, although timestamps were negotiated (RFC 7323, section 3.2).
    NoTimestamp,
    /// The segment is a reset whose sequence number is not exactly the next one (RFC 5961, section 3).
    Reset,
    /// The segment is a SYN for an established connection (RFC 5961, section 4).
    Syn,
    /// The segment lacks the ACK flag. Only the first segment of a connection may lack it.
    NoAck,
    /// The segment acknowledges data that was never sent, or an implausibly old number (RFC 5961,
    /// section 5).
    UnacceptableAck,
    /// The segment has data beyond the peer's FIN.
    BeyondEnd,
    /// The packet number has arrived before, or it is so old that it may have
    /// ([`ReceiverConfig`](crate::ReceiverConfig)).
    OldPacket,
    /// The segment would begin one more island of data than the receiver stores
    /// ([`ReceiverConfig::islands`](crate::ReceiverConfig::islands)).
    NoIsland,
    /// A "packet too big" message quotes a packet that is not in flight or not too big, or reports
    /// a size below the minimum MTU of IPv6.
    StaleMtu,
    /// An "unreachable" message quotes a packet that is not in flight.
    StaleUnreachable,
}

/// Receives the events of a connection, to count or log them. Closures of an instant and an event
/// are observers, and `()` ignores all events. Methods of [`Connection`](crate::Connection) take
/// one as an argument.
pub trait Observer {
    /// Receives `event`, which happened at `now`.
    fn on_event(&mut self, now: Instant, event: &Event);
}

/// Ignores all events.
impl Observer for () {
    fn on_event(&mut self, _now: Instant, _event: &Event) {}
}

impl<F: FnMut(Instant, &Event)> Observer for F {
    fn on_event(&mut self, now: Instant, event: &Event) {
        self(now, event);
    }
}
