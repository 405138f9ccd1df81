//! What happened inside a connection, told to an [`Observer`]. The engine
//! itself counts nothing for reports.

use unruffled_units::{Duration, Instant};

/// Why a segment was sent again. Observers read it from [`Event::Sent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Loss detection deemed it lost, or recovery sent it as a last resort.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
    /// A tail loss probe.
    Probe,
}

/// What could not be reached. A driver reads it from ICMP, for
/// [`Connection::handle_unreachable`](crate::Connection::handle_unreachable).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unreachable {
    /// A network or a host, or the way there: it may be back soon ("soft": ICMP codes 0, 1 and 5 to
    /// 12; in ICMPv6 0, 2, 3, 5 and 6).
    Host,
    /// The protocol or the port, or somebody forbids it ("hard": ICMP codes 2, 3 and 13; in ICMPv6 1
    /// and 4).
    Port,
}

/// One thing that happened. Offsets are in octets of the stream, windows in segments. Match on it in an
/// [`Observer`].
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
        /// Smoothed round-trip time, once one was measured.
        srtt: Option<Duration>,
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
    /// The retransmission timer expired: the state after it.
    Timeout {
        /// Congestion window.
        cwnd: f64,
    },
    /// A tail loss probe went out.
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
        /// What the reduction had been made for.
        cause: Cause,
    },
    /// Octets reached the application in order.
    Delivered {
        /// How many.
        len: u64,
    },
    /// Octets arrived for the first time, in a segment that was accepted: these, and no others, are
    /// to be stored. A segment that fills several gaps brings several such runs, in order. The first
    /// copy of an octet is the one that counts: what has arrived already is never told of again.
    Fresh {
        /// Stream offset of the first of them.
        offset: u64,
        /// How many.
        len: u32,
    },
    /// Octets that had arrived out of order, the furthest ones, were dropped, because there are more
    /// ranges than a connection keeps: when they come again they are new again.
    Discarded {
        /// Stream offset of the first of them.
        offset: u64,
        /// How many.
        len: u64,
    },
    /// A data segment arrived, in the window or below it: one for each segment, after what is
    /// [`Event::Fresh`] of it. Nothing may be stored by this event.
    Arrived {
        /// Stream offset of its first octet.
        offset: u64,
        /// Octets of payload, those that lie beyond the window left out.
        len: u32,
        /// None of its octets were new.
        duplicate: bool,
    },
    /// A segment arrived and was dropped.
    Ignored {
        /// Why.
        reason: Ignored,
    },
    /// A probe of a closed window left, or of one too small for a segment.
    WindowProbe,
    /// A probe of an idle connection left.
    KeepAlive,
    /// Something on the way said that the peer, or something of it, cannot be reached.
    Unreachable {
        /// What it is.
        what: Unreachable,
    },
    /// The path takes smaller packets than thought.
    PathMtu {
        /// Their size, IP header and all.
        mtu: u32,
    },
}

/// Why an arriving segment, or a message about one, was dropped. Use it to count drops by their cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ignored {
    /// There is no connection any more, or none yet that this could belong to.
    NoConnection,
    /// Longer than a packet can be.
    Malformed,
    /// Not in the receive window (RFC 9293, Table 6); old duplicates are among these.
    OutsideWindow,
    /// Its timestamp is older than one seen before (PAWS, RFC 7323, section 5).
    OldTimestamp,
    /// It has no timestamp although they were agreed on (RFC 7323, section 3.2).
    NoTimestamp,
    /// A reset that does not name exactly the next number (RFC 5961, section 3).
    Reset,
    /// A SYN in the middle of a connection (RFC 5961, section 4).
    Syn,
    /// It acknowledges nothing: no segment but a connection's first may do so.
    NoAck,
    /// It acknowledges what was never sent, or what is too long ago (RFC 5961, section 5).
    UnacceptableAck,
    /// It has text that lies behind the peer's FIN.
    BeyondEnd,
    /// "Packet too big" about a packet that is not on its way, or not too big; or about a size that no
    /// link of IPv6 may have.
    StaleMtu,
    /// "Unreachable" about a packet that is not on its way.
    StaleUnreachable,
}

/// Receives what happens in a connection. A closure of an instant and an event is one, and `()` ignores
/// all events. Pass one to each method of a [`Connection`](crate::Connection) that takes it, to count
/// or to log.
pub trait Observer {
    /// `event` happened at `now`.
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
