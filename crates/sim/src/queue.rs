//! The event queue: what happens next, and among simultaneous things what was planned first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use unruffled_units::Instant;

/// Something planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Plan {
    /// The first packet in this link's line gets to the link's far end.
    Line(u32),
    /// This packet, which left the line, gets to the far end of its link.
    Packet(u32),
    /// This packet, which its link damaged, may be sent again.
    Held(u32),
    /// A timer of this end of a flow may be due: twice the flow's number, and one for receivers.
    Timer(u32),
    /// The application of this source goes on.
    Application(u32),
    /// The application of this source stops.
    Stop(u32),
}

/// A priority queue by time, then by order of planning.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<(Instant, u64, Plan)>>,
    planned: u64,
}

impl Queue {
    pub(crate) fn plan(&mut self, at: Instant, plan: Plan) {
        self.planned += 1;
        self.heap.push(Reverse((at, self.planned, plan)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// The next plan, if it is due by `end`.
    pub(crate) fn next(&mut self, end: Instant) -> Option<(Instant, Plan)> {
        let &Reverse((at, _, plan)) = self.heap.peek()?;
        if at > end {
            return None;
        }
        self.heap.pop();
        Some((at, plan))
    }
}
