//! The packet numbers that have arrived, for stacks that number their packets: which are reported, which
//! are discarded, and when an acknowledgement is due (RFC 9000, sections 12.3 and 13.2). The segments of
//! such a stack have packet numbers only in the simulator.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::config::ReceiverConfig;
use crate::segment::{Packet, SackBlock};

/// Number of ranges whose last report is repeated while there is room, because an acknowledgement may be
/// lost.
const REPEATED: usize = 4;
/// Number of acknowledgements to which the answer is awaited.
const AWAITED: usize = 8;

/// An acknowledgement that asked to be acknowledged.
#[derive(Clone, Copy, Debug)]
struct Ping {
    number: u32,
    /// The newest packet that it reported.
    newest: u32,
}

/// Packet numbers that have arrived.
#[derive(Debug)]
pub(super) struct Packets {
    rules: ReceiverConfig,
    /// Ranges of numbers: the first, and the one after the last. Disjoint, not adjacent, in order.
    ranges: VecDeque<(u32, u32)>,
    newest: u32,
    newest_at: Instant,
    /// The newest packet that had to be acknowledged.
    newest_answered: u32,
    /// Lower numbers are discarded.
    floor: u32,
    /// Numbers that no acknowledgement has reported, in the order of their arrival.
    unreported: VecDeque<u32>,
    /// Numbers reported last, the latest first; 0 for none.
    reported: [u32; REPEATED],
    /// Whether the packet that arrived last is the successor of the newest before it.
    in_order: bool,
    /// Acknowledgements since the last one that asked to be acknowledged.
    acknowledgements: u32,
    awaited: VecDeque<Ping>,
}

impl Packets {
    /// Returns the state of a receiver with these rules, if it needs packet numbers.
    pub(super) fn of(rules: ReceiverConfig) -> Option<Self> {
        rules.numbers_packets().then(|| Self {
            rules,
            ranges: VecDeque::new(),
            newest: 0,
            newest_at: Instant::ZERO,
            newest_answered: 0,
            floor: 0,
            unreported: VecDeque::new(),
            reported: [0; REPEATED],
            in_order: true,
            acknowledgements: 0,
            awaited: VecDeque::new(),
        })
    }

    /// Returns whether acknowledgements report packet numbers.
    pub(super) fn reports(&self) -> bool {
        self.rules.packets
    }

    /// Returns whether the packet that arrived last is the successor of the newest before it.
    pub(super) fn in_order(&self) -> bool {
        self.in_order
    }

    /// Takes the number of a packet. `answered`: it must be acknowledged. Returns false if the packet is
    /// discarded.
    pub(super) fn arrive(&mut self, number: u32, answered: bool, now: Instant) -> bool {
        let too_old = |filter: u32| self.newest > number.saturating_add(filter);
        if number < self.floor || self.rules.duplicate_filter.is_some_and(too_old) {
            return false;
        }
        if !self.insert(number) {
            return false;
        }
        let kept = self.rules.kept_ranges.map_or(usize::MAX, |kept| kept as usize);
        while self.ranges.len() > kept {
            self.ranges.pop_front();
        }
        let before = if self.rules.order_of_answered { self.newest_answered } else { self.newest };
        self.in_order = number == before + 1;
        if number > self.newest {
            self.newest = number;
            self.newest_at = now;
        }
        if answered {
            self.newest_answered = self.newest_answered.max(number);
        }
        if answered && self.reports() {
            self.unreported.push_back(number);
        }
        true
    }

    /// Adds a number. Returns false if it has arrived before.
    fn insert(&mut self, number: u32) -> bool {
        let at = self.ranges.partition_point(|range| range.1 < number);
        let Some(range) = self.ranges.get_mut(at) else {
            crate::ring::push(&mut self.ranges, (number, number + 1));
            return true;
        };
        if (range.0..range.1).contains(&number) {
            return false;
        }
        if range.1 == number {
            range.1 = number + 1;
            if self.ranges.get(at + 1).is_some_and(|next| next.0 == number + 1) {
                let next = self.ranges.remove(at + 1);
                self.ranges[at].1 = next.map_or(number + 1, |next| next.1);
            }
        } else if range.0 == number + 1 {
            range.0 = number;
        } else {
            self.ranges.insert(at, (number, number + 1));
        }
        true
    }

    /// Returns the place of the range that holds `number`, if it is among those that are reported.
    fn reportable(&self, number: u32) -> Option<usize> {
        let count = self.rules.reported_ranges.map_or(usize::MAX, |count| count as usize);
        let at = self.ranges.partition_point(|range| range.1 <= number);
        let holds = self.ranges.get(at).is_some_and(|range| range.0 <= number);
        (holds && at.saturating_add(count) >= self.ranges.len()).then_some(at)
    }

    /// Returns whether there is anything to report.
    pub(super) fn has_report(&self) -> bool {
        self.unreported.iter().any(|&number| self.reportable(number).is_some())
    }

    /// Calls `push` for the ranges of an acknowledgement, at most `limit`: the newest, those with numbers
    /// that were not reported yet, and those reported last. Returns whether all could be reported.
    pub(super) fn report(&mut self, limit: usize, mut push: impl FnMut(u32, u32)) -> bool {
        let Some(last) = self.ranges.len().checked_sub(1).filter(|_| limit > 0) else {
            return true;
        };
        let mut pushed = [last; SLOTS];
        let mut count = 1;
        push(self.ranges[last].0, self.ranges[last].1);
        let mut whole = true;
        let mut at = 0;
        while let Some(&number) = self.unreported.get(at) {
            let Some(range) = self.reportable(number) else {
                // Ranges that are forgotten are never reported.
                let forgotten = self.ranges.front().is_none_or(|first| number < first.0);
                if forgotten {
                    self.unreported.remove(at);
                } else {
                    at += 1;
                }
                continue;
            };
            if !pushed[..count].contains(&range) {
                if count == limit.min(SLOTS) {
                    whole = false;
                    at += 1;
                    continue;
                }
                pushed[count] = range;
                count += 1;
                push(self.ranges[range].0, self.ranges[range].1);
            }
            self.unreported.remove(at);
            self.reported.rotate_right(1);
            self.reported[0] = number;
        }
        for number in self.reported {
            let Some(range) = self.reportable(number) else { continue };
            if count < limit.min(SLOTS) && !pushed[..count].contains(&range) {
                pushed[count] = range;
                count += 1;
                push(self.ranges[range].0, self.ranges[range].1);
            }
        }
        whole
    }

    /// Returns how long ago the newest packet arrived.
    pub(super) fn ack_delay(&self, now: Instant) -> Duration {
        now.since(self.newest_at)
    }

    /// Returns the packet of an acknowledgement without data. One in some asks to be acknowledged.
    pub(super) fn acknowledgement(&mut self, packet: Packet) -> Packet {
        let Some(one_in) = self.rules.acknowledged_ack.filter(|_| self.newest > 0) else {
            return packet;
        };
        self.acknowledgements += 1;
        if self.acknowledgements < one_in {
            return packet;
        }
        self.acknowledgements = 0;
        if self.awaited.len() == AWAITED {
            self.awaited.pop_front();
        }
        self.awaited.push_back(Ping { number: packet.number(), newest: self.newest });
        packet.with_ping()
    }

    /// Records that data is sent, which asks to be acknowledged as well.
    pub(super) fn on_data_sent(&mut self) {
        self.acknowledgements = 0;
    }

    /// Takes the ranges that the peer acknowledges. Packets older than the newest that an acknowledged
    /// acknowledgement reported are discarded from now on.
    pub(super) fn on_acknowledged(&mut self, ranges: &[SackBlock]) {
        let acknowledged = |number: u32| {
            ranges.iter().any(|block| (block.left.0..block.right.0).contains(&number))
        };
        while let Some(at) = self.awaited.iter().rposition(|ping| acknowledged(ping.number)) {
            let floor = self.floor.max(self.awaited[at].newest + 1);
            self.awaited.drain(..=at);
            self.forget_below(floor);
            if self.rules.discards_acknowledged {
                self.floor = floor;
            }
        }
    }

    /// Forgets packets with numbers below `floor`.
    fn forget_below(&mut self, floor: u32) {
        while let Some(first) = self.ranges.front_mut().filter(|first| first.0 < floor) {
            if first.1 <= floor {
                self.ranges.pop_front();
            } else {
                first.0 = floor;
            }
        }
    }

    /// Returns the octets allocated for tables.
    pub(super) fn table_octets(&self) -> usize {
        self.ranges.capacity() * size_of::<(u32, u32)>()
            + self.unreported.capacity() * size_of::<u32>()
    }

    /// Frees the unused part of the tables.
    pub(super) fn shrink(&mut self) {
        self.ranges.shrink_to_fit();
        self.unreported.shrink_to_fit();
    }
}

/// Maximum number of ranges in an acknowledgement: those of a SACK option.
const SLOTS: usize = crate::segment::SackBlocks::CAPACITY;

#[cfg(test)]
mod tests;
