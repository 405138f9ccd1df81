//! What a monitor is told, and by which names it knows flows and links.

use unruffled_path::{DropCause, Outcome};
use unruffled_tcp::{Event, Segment};
use unruffled_units::Instant;

/// A flow that is there now. A number is used again once its flow has ended:
/// [`Monitor::opened`] tells of each new one, so keep what is counted by source, not by flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId(pub u32);

/// One direction of a link, by the order of their adding; names links in routes and to monitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId(pub u32);

/// The two ends of a flow: says in a [`Monitor`] where something happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The one that has data to send.
    Sender,
    /// The one that receives it.
    Receiver,
}

impl End {
    /// 0 for the sender, 1 for the receiver.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The opposite end.
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Which way a segment passes an end: says in [`Monitor::segment`] whether it was sent or came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// It leaves this end.
    Out,
    /// It arrives at this end.
    In,
}

/// A packet that was offered to a link, as [`Monitor::crossed`] is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// Whose packet it is.
    pub flow: FlowId,
    /// When it came to the link. Not in the order of time among different links: a packet may be
    /// followed over several links in one step.
    pub at: Instant,
    /// Octets on the wire.
    pub size: u32,
    /// Packets at the link then, this one included unless it was dropped.
    pub backlog: usize,
    /// It was damaged there before, and is sent again.
    pub again: bool,
    /// What became of it.
    pub outcome: &'a Outcome,
}

/// Is told what happens in a run: implement it to count, draw or print. Every method does nothing
/// unless it is written; `()` ignores all, a pair tells both of its halves.
///
/// ```
/// use unruffled_measure::{FlowId, Monitor};
/// use unruffled_path::DropCause;
/// use unruffled_tcp::Segment;
/// use unruffled_units::Instant;
///
/// /// Counts drops.
/// #[derive(Default)]
/// struct Drops(u64);
///
/// impl Monitor for Drops {
///     fn dropped(&mut self, _: FlowId, _: Instant, _: DropCause, _: &Segment) {
///         self.0 += 1;
///     }
/// }
/// # assert_eq!(Drops::default().0, 0);
/// ```
pub trait Monitor {
    /// A new flow has the number `flow`; `source` is whose it is, as given when it was added.
    fn opened(&mut self, _flow: FlowId, _source: u32, _now: Instant) {}

    /// Something happened inside the connection at `end` of `flow`.
    fn event(&mut self, _flow: FlowId, _end: End, _now: Instant, _event: &Event) {}

    /// A segment left or reached `end` of `flow`.
    fn segment(
        &mut self,
        _flow: FlowId,
        _end: End,
        _passage: Passage,
        _now: Instant,
        _segment: &Segment,
    ) {
    }

    /// Whether it wants to be told of packets that come to links; asked when a simulation first
    /// runs. If not, their queues need not be counted.
    fn watches_links(&self) -> bool {
        true
    }

    /// A packet came to `link`.
    fn crossed(&mut self, _link: LinkId, _crossing: &Crossing<'_>) {}

    /// The path dropped a segment of `flow` at the time `now`.
    fn dropped(&mut self, _flow: FlowId, _now: Instant, _cause: DropCause, _segment: &Segment) {}

    /// A packet without TCP left the sender of `flow` or reached its receiver, with so many octets
    /// of payload.
    fn datagram(&mut self, _flow: FlowId, _passage: Passage, _now: Instant, _octets: u32) {}

    /// All that `flow` had to transfer, from `begun` on, has reached the receiving application.
    fn transferred(&mut self, _flow: FlowId, _begun: Instant) {}

    /// A flow has ended: both ends are closed, and nothing of it is on its way.
    fn closed(&mut self, _flow: FlowId, _now: Instant) {}
}

impl Monitor for () {
    fn watches_links(&self) -> bool {
        false
    }
}

impl<M: Monitor + ?Sized> Monitor for &mut M {
    fn opened(&mut self, flow: FlowId, source: u32, now: Instant) {
        (**self).opened(flow, source, now);
    }

    #[inline(always)]
    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        (**self).event(flow, end, now, event);
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        (**self).segment(flow, end, way, now, segment);
    }

    fn watches_links(&self) -> bool {
        (**self).watches_links()
    }

    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        (**self).crossed(link, crossing);
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        (**self).dropped(flow, now, cause, segment);
    }

    fn datagram(&mut self, flow: FlowId, passage: Passage, now: Instant, octets: u32) {
        (**self).datagram(flow, passage, now, octets);
    }

    fn transferred(&mut self, flow: FlowId, begun: Instant) {
        (**self).transferred(flow, begun);
    }

    fn closed(&mut self, flow: FlowId, now: Instant) {
        (**self).closed(flow, now);
    }
}

impl<A: Monitor, B: Monitor> Monitor for (A, B) {
    fn opened(&mut self, flow: FlowId, source: u32, now: Instant) {
        self.0.opened(flow, source, now);
        self.1.opened(flow, source, now);
    }

    #[inline(always)]
    fn event(&mut self, flow: FlowId, end: End, now: Instant, event: &Event) {
        self.0.event(flow, end, now, event);
        self.1.event(flow, end, now, event);
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        self.0.segment(flow, end, way, now, segment);
        self.1.segment(flow, end, way, now, segment);
    }

    fn watches_links(&self) -> bool {
        self.0.watches_links() || self.1.watches_links()
    }

    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        self.0.crossed(link, crossing);
        self.1.crossed(link, crossing);
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        self.0.dropped(flow, now, cause, segment);
        self.1.dropped(flow, now, cause, segment);
    }

    fn datagram(&mut self, flow: FlowId, passage: Passage, now: Instant, octets: u32) {
        self.0.datagram(flow, passage, now, octets);
        self.1.datagram(flow, passage, now, octets);
    }

    fn transferred(&mut self, flow: FlowId, begun: Instant) {
        self.0.transferred(flow, begun);
        self.1.transferred(flow, begun);
    }

    fn closed(&mut self, flow: FlowId, now: Instant) {
        self.0.closed(flow, now);
        self.1.closed(flow, now);
    }
}
