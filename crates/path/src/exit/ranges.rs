//! Limit on the ranges that the octets of a TCP flow form beyond the first gap.
//!
//! Receivers and firewalls with little memory keep few such ranges. A packet whose octets would open one
//! more is dropped.

use std::collections::HashMap;

/// TCP octets of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Identifier of the flow in this direction.
    pub flow: u64,
    /// Octets of the packet.
    pub span: Span,
}

/// Octets of a TCP packet, by their sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// A SYN. The next octet has this number.
    Opens(u32),
    /// Octets of the stream.
    Octets {
        /// Sequence number of the first octet.
        first: u32,
        /// Number of octets.
        len: u32,
    },
    /// A RST, after which the flow may begin anew.
    Closes,
}

/// Limit on the ranges of each flow.
#[derive(Clone, Debug)]
pub(super) struct RangeLimit {
    max: usize,
    flows: HashMap<u64, Ranges>,
}

/// Octets of a flow that have arrived.
#[derive(Clone, Debug)]
struct Ranges {
    /// Sequence number of the octet after the contiguous ones, modulo 2^32 as on the wire.
    next: u32,
    /// Ranges beyond the first gap, as distances of their ends from `next`, in ascending order and apart
    /// from each other.
    beyond: Vec<(u32, u32)>,
}

impl RangeLimit {
    pub(super) fn new(max: u32) -> Self {
        Self { max: max as usize, flows: HashMap::new() }
    }

    /// Returns whether the octets of a packet are accepted, and records them.
    pub(super) fn accepts(&mut self, piece: Piece) -> bool {
        match piece.span {
            Span::Opens(next) => {
                self.flows.insert(piece.flow, Ranges { next, beyond: Vec::new() });
                true
            }
            Span::Closes => {
                self.flows.remove(&piece.flow);
                true
            }
            Span::Octets { first, len } => {
                let ranges = || Ranges { next: first, beyond: Vec::new() };
                self.flows.entry(piece.flow).or_insert_with(ranges).accepts(first, len, self.max)
            }
        }
    }
}

impl Ranges {
    /// Returns whether octets are accepted where `max` ranges fit, and records them.
    fn accepts(&mut self, first: u32, len: u32, max: usize) -> bool {
        let from = first.wrapping_sub(self.next);
        // Numbers up to half of the space behind the next one are old.
        if from.cast_signed() < 0 {
            let known = from.wrapping_neg();
            return known >= len || self.accepts(self.next, len - known, max);
        }
        let mut merged = (from, from.saturating_add(len));
        let begin = self.beyond.partition_point(|&(_, end)| end < merged.0);
        let end = self.beyond.partition_point(|&(start, _)| start <= merged.1);
        let is_new = begin == end;
        if is_new && from > 0 && self.beyond.len() >= max {
            return false;
        }
        for &(start, stop) in &self.beyond[begin..end] {
            merged = (merged.0.min(start), merged.1.max(stop));
        }
        if merged.0 > 0 {
            self.beyond.splice(begin..end, [merged]);
            return true;
        }
        self.beyond.drain(..end);
        self.next = self.next.wrapping_add(merged.1);
        for range in &mut self.beyond {
            range.0 -= merged.1;
            range.1 -= merged.1;
        }
        true
    }
}
