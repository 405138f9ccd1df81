//! Monitors: what they receive, and the identifiers of flows and links.

use unruffled_path::{DropCause, Outcome};
use unruffled_tcp::{Event, Segment};
use unruffled_units::Instant;

/// Number of a current flow.
///
/// The number is reused after the flow has ended, and [`Monitor::opened`] announces each new flow. Counts
/// therefore belong to a source, not to a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId(pub u32);

/// Number of one direction of a link, in the order in which links are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkId(pub u32);

/// Number of a packet in the network. It is reused after the packet has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId(pub u32);

/// Step of a packet that is no crossing of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketStep {
    /// The packet is a copy of another, which the path made. It arrives with it.
    CopyOf(PacketId),
    /// The packet has reached a resequencer, which may hold it.
    Resequenced,
    /// The far end of a link dropped the packet.
    Dropped(DropCause),
    /// The packet has reached its destination.
    Delivered,
}

/// End of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end that sends data.
    Sender,
    /// The end that receives data.
    Receiver,
}

impl End {
    /// Returns 0 for the sender and 1 for the receiver.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the opposite end.
    pub const fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// Direction in which a segment passes an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passage {
    /// The segment leaves this end.
    Out,
    /// The segment arrives at this end.
    In,
}

/// Packet that was offered to a link.
#[derive(Clone, Copy, Debug)]
pub struct Crossing<'a> {
    /// Packet. The first crossing of a packet follows [`Monitor::segment`] or [`Monitor::datagram`]
    /// immediately.
    pub packet: PacketId,
    /// Flow of the packet.
    pub flow: FlowId,
    /// Time of arrival at the link. Crossings of different links are not reported in order of time,
    /// because a packet may cross several links in one step.
    pub at: Instant,
    /// Size on the wire, in octets.
    pub size: u32,
    /// Packets at the link, this one included unless it was dropped.
    pub backlog: usize,
    /// Whether the link resends the packet, because it was damaged before.
    pub resent: bool,
    /// Outcome of the crossing.
    pub outcome: &'a Outcome,
}

/// Receiver of what happens in a run, to count, draw or print it.
///
/// Every method does nothing by default. `()` ignores everything, and a pair passes everything to both of
/// its parts.
///
/// ```
/// use unruffled_measure::{FlowId, Monitor};
/// use unruffled_path::DropCause;
/// use unruffled_tcp::Segment;
/// use unruffled_units::Instant;
///
/// /// Counter of drops.
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
    /// Called when `source` opens a flow with the number `flow`.
    fn opened(&mut self, _flow: FlowId, _source: u32, _now: Instant) {}

    /// Called at each event inside the connection at `end` of `flow`.
    fn event(&mut self, _flow: FlowId, _end: End, _now: Instant, _event: &Event) {}

    /// Called when a segment leaves or reaches `end` of `flow`.
    fn segment(
        &mut self,
        _flow: FlowId,
        _end: End,
        _passage: Passage,
        _now: Instant,
        _segment: &Segment,
    ) {
    }

    /// Returns whether the monitor requires [`crossed`](Self::crossed) for this link. A simulation calls this
    /// once for each link, when it first runs. If it returns false, the simulation does not count the
    /// packets in the link's queue, and crosses it together with its neighbours where it can.
    fn watches(&self, _link: LinkId) -> bool {
        true
    }

    /// Called when a packet arrives at `link`.
    fn crossed(&mut self, _link: LinkId, _crossing: &Crossing<'_>) {}

    /// Called at each step of a packet that is no crossing, before what else is reported of it.
    fn stepped(&mut self, _packet: PacketId, _now: Instant, _step: PacketStep) {}

    /// Called when the far end of `link` drops a packet that has crossed the link.
    fn rejected(&mut self, _link: LinkId, _now: Instant, _cause: DropCause) {}

    /// Called when the path drops a segment of `flow`.
    fn dropped(&mut self, _flow: FlowId, _now: Instant, _cause: DropCause, _segment: &Segment) {}

    /// Called when a queue on the path marks a segment of `flow` with CE. The segment has the mark.
    fn marked(&mut self, _flow: FlowId, _now: Instant, _segment: &Segment) {}

    /// Called when a packet without TCP leaves the sender of `flow` or reaches its receiver, with `octets`
    /// octets of payload.
    fn datagram(&mut self, _flow: FlowId, _passage: Passage, _now: Instant, _octets: u32) {}

    /// Called when a transfer of `flow` that began at `begun` has reached the receiving application
    /// completely.
    fn transferred(&mut self, _flow: FlowId, _begun: Instant) {}

    /// Called when a flow has ended: both ends are closed, and no packet of it is on its way.
    fn closed(&mut self, _flow: FlowId, _now: Instant) {}
}

impl Monitor for () {
    fn watches(&self, _link: LinkId) -> bool {
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

    fn segment(
        &mut self,
        flow: FlowId,
        end: End,
        passage: Passage,
        now: Instant,
        segment: &Segment,
    ) {
        (**self).segment(flow, end, passage, now, segment);
    }

    fn watches(&self, link: LinkId) -> bool {
        (**self).watches(link)
    }

    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        (**self).crossed(link, crossing);
    }

    #[inline(always)]
    fn stepped(&mut self, packet: PacketId, now: Instant, step: PacketStep) {
        (**self).stepped(packet, now, step);
    }

    fn rejected(&mut self, link: LinkId, now: Instant, cause: DropCause) {
        (**self).rejected(link, now, cause);
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        (**self).dropped(flow, now, cause, segment);
    }

    fn marked(&mut self, flow: FlowId, now: Instant, segment: &Segment) {
        (**self).marked(flow, now, segment);
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

    fn segment(
        &mut self,
        flow: FlowId,
        end: End,
        passage: Passage,
        now: Instant,
        segment: &Segment,
    ) {
        self.0.segment(flow, end, passage, now, segment);
        self.1.segment(flow, end, passage, now, segment);
    }

    fn watches(&self, link: LinkId) -> bool {
        self.0.watches(link) || self.1.watches(link)
    }

    fn crossed(&mut self, link: LinkId, crossing: &Crossing<'_>) {
        self.0.crossed(link, crossing);
        self.1.crossed(link, crossing);
    }

    #[inline(always)]
    fn stepped(&mut self, packet: PacketId, now: Instant, step: PacketStep) {
        self.0.stepped(packet, now, step);
        self.1.stepped(packet, now, step);
    }

    fn rejected(&mut self, link: LinkId, now: Instant, cause: DropCause) {
        self.0.rejected(link, now, cause);
        self.1.rejected(link, now, cause);
    }

    fn dropped(&mut self, flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        self.0.dropped(flow, now, cause, segment);
        self.1.dropped(flow, now, cause, segment);
    }

    fn marked(&mut self, flow: FlowId, now: Instant, segment: &Segment) {
        self.0.marked(flow, now, segment);
        self.1.marked(flow, now, segment);
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
