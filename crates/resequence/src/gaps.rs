//! Gaps in the numbers of a flow: which packets were overtaken, by how much they are late, and which were
//! sent again.

use std::collections::BTreeMap;

use unruffled_units::{Duration, Instant};

/// Minimum retransmission timeout of Linux beyond the round trip (`TCP_RTO_MIN`), the shortest of common
/// stacks.
const MIN_RTO: Duration = Duration::from_millis(200);

/// Longest tick of the clocks of common stacks. What was sent in one tick was not sent again, if a round trip is
/// longer.
const MAX_TICK: Duration = Duration::from_millis(10);

/// Time after which a gap that was given up is forgotten.
const MEMORY: Duration = Duration::from_secs(4);

/// Numbers that were overtaken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gap {
    /// One more than the last number.
    end: u64,
    /// Arrival of the first packet that overtook them.
    pub(crate) opened: Instant,
    /// TSval of that packet.
    timestamp: Option<u32>,
    /// Time at which the wait ended.
    given_up: Option<Instant>,
    /// Arrival of a second transmission.
    resent: Option<Instant>,
}

/// Place of a packet among those that have arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// Nothing with a higher number has arrived.
    InOrder,
    /// Packets with higher numbers overtook it.
    Late {
        /// Time since the first of these.
        by: Duration,
        /// Whether it had counted as lost.
        found: bool,
        /// Whether the wait for it had ended.
        given_up: bool,
    },
    /// It fills a gap, but was sent again.
    Resent,
    /// All of its numbers arrived before, or too long ago to know.
    Copy,
}

/// The gaps of a flow, by their first numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    gaps: BTreeMap<u64, Gap>,
    given_up: usize,
}

/// A packet as it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) timestamp: Option<u32>,
    /// Whether the protocol may send a number again.
    pub(crate) resends: bool,
    pub(crate) now: Instant,
    /// Round-trip time of the path, if known.
    pub(crate) round_trip: Duration,
}

impl Gaps {
    /// Opens the gap from `from` to `to`, which the packet skips.
    pub(crate) fn open(&mut self, from: u64, to: u64, packet: &Arriving) {
        let gap = Gap {
            end: to,
            opened: packet.now,
            timestamp: packet.timestamp,
            given_up: None,
            resent: None,
        };
        self.gaps.insert(from, gap);
    }

    /// Returns when the gap at `number` was opened, if it is still waited for.
    pub(crate) fn waiting(&self, number: u64) -> Option<Instant> {
        let (_, gap) = self.gaps.range(..=number).next_back()?;
        (gap.end > number && gap.given_up.is_none()).then_some(gap.opened)
    }

    /// Takes a packet below the highest number, and returns its place.
    pub(crate) fn fill(&mut self, packet: &Arriving) -> Arrival {
        let mut arrival = Arrival::Copy;
        let mut end = packet.end;
        // From the highest gap down, so that the lowest decides.
        while let Some((&from, &gap)) = self.gaps.range(..end).next_back()
            && gap.end > packet.start
        {
            end = from;
            if !(packet.resends && gap.is_second_transmission(packet)) {
                self.split(from, gap, packet, None);
                let by = packet.now.since(gap.opened);
                let (found, given_up) = (gap.resent.is_some(), gap.given_up.is_some());
                arrival = Arrival::Late { by, found, given_up };
            } else if gap.resent.is_none() {
                // The first transmission may still arrive.
                let given_up = gap.given_up.or(Some(packet.now));
                let rest = Gap { resent: Some(packet.now), given_up, ..gap };
                self.split(from, gap, packet, Some(rest));
                arrival = Arrival::Resent;
            }
        }
        arrival
    }

    /// Replaces what the packet covers of the gap at `from` by `middle`.
    fn split(&mut self, from: u64, gap: Gap, packet: &Arriving, middle: Option<Gap>) {
        self.remove(from);
        let (start, end) = (packet.start.max(from), packet.end.min(gap.end));
        if from < start {
            self.insert(from, Gap { end: start, ..gap });
        }
        if let Some(middle) = middle {
            self.insert(start, Gap { end, ..middle });
        }
        if end < gap.end {
            self.insert(end, gap);
        }
    }

    fn insert(&mut self, from: u64, gap: Gap) {
        self.given_up += usize::from(gap.given_up.is_some());
        self.gaps.insert(from, gap);
    }

    fn remove(&mut self, from: u64) {
        let gap = self.gaps.remove(&from);
        self.given_up -= usize::from(gap.is_some_and(|gap| gap.given_up.is_some()));
    }

    /// Ends the wait for the numbers from `next` to `to`, below which there is no other. Returns the number of
    /// gaps for which it ended.
    pub(crate) fn give_up(&mut self, next: u64, to: u64, now: Instant) -> u64 {
        let mut ended = 0;
        // A part that was sent again was given up before, without those around it.
        let gaps = self.gaps.range_mut(next..to).map(|(_, gap)| gap);
        for gap in gaps.filter(|gap| gap.given_up.is_none()) {
            gap.given_up = Some(now);
            self.given_up += 1;
            ended += 1;
        }
        ended
    }

    /// Returns the number of gaps.
    pub(crate) fn len(&self) -> usize {
        self.gaps.len()
    }

    /// Forgets gaps that were given up long ago, and the lowest of more than `limit`. Returns how many packets,
    /// at least, never arrived.
    pub(crate) fn forget(&mut self, limit: usize, now: Instant) -> u32 {
        let mut lost = 0;
        while let Some(first) = self.gaps.first_entry() {
            let gap = first.get();
            let is_old = now.since(gap.opened) > MEMORY;
            if gap.given_up.is_none() || !(is_old || self.given_up > limit) {
                break;
            }
            lost += u32::from(is_old && gap.resent.is_none());
            first.remove();
            self.given_up -= 1;
        }
        lost
    }

    /// Forgets all gaps.
    pub(crate) fn clear(&mut self) {
        self.gaps.clear();
        self.given_up = 0;
    }
}

impl Gap {
    /// Returns whether the packet, which fills a part of the gap, is a second transmission.
    ///
    /// The sender's clock decides where it can: what was sent before the packet that opened the gap was sent
    /// once. Otherwise the time decides. An acknowledgement of what the packet that opened the gap let
    /// through needs a round trip to cause a retransmission; while packets were held, only a timeout can.
    fn is_second_transmission(&self, packet: &Arriving) -> bool {
        if let (Some(opener), Some(sent)) = (self.timestamp, packet.timestamp)
            && (opener != sent || packet.round_trip > MAX_TICK)
        {
            return is_after(sent, opener);
        }
        if let Some(first) = self.resent {
            // Of two copies, one is the first transmission, unless a timeout caused the other.
            return packet.now.since(first) >= packet.round_trip + MIN_RTO;
        }
        let since = packet.now.since(self.opened);
        match self.given_up {
            Some(at) => packet.now.since(at) >= packet.round_trip.mul_f64(0.9),
            None => since >= packet.round_trip + MIN_RTO,
        }
    }
}

/// Returns whether TSval `a` is later than `b` (RFC 7323, section 5.2).
pub(crate) fn is_after(a: u32, b: u32) -> bool {
    a.wrapping_sub(b) as i32 > 0
}
