//! Packets that are neither acknowledged nor suspected.

use alloc::collections::VecDeque;
use core::ops::RangeInclusive;

use unruffled_units::Instant;

use crate::Packet;

/// Number of acknowledged entries from which on it pays to close the gaps.
const MIN_GAPS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Entry {
    packet: Packet,
    acked: bool,
}

/// The packets in order of their numbers. Those above the largest number acknowledged are apart from those
/// below it, the *missing* ones, so that an acknowledgement reads each packet once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    above: VecDeque<Entry>,
    missing: VecDeque<Entry>,
    /// Number of entries of `missing` that are acknowledged.
    gaps: usize,
}

/// Returns the positions in `list` of the entries whose keys lie in `range`.
pub(crate) fn positions<T>(
    list: &VecDeque<T>,
    range: &RangeInclusive<u64>,
    number: impl Fn(&T) -> u64,
) -> core::ops::Range<usize> {
    let from = list.partition_point(|entry| number(entry) < *range.start());
    let to = list.partition_point(|entry| number(entry) <= *range.end());
    from..to.max(from)
}

impl Outstanding {
    pub(crate) fn with_capacity(packets: usize) -> Self {
        let list = || VecDeque::with_capacity(packets);
        Self { above: list(), missing: list(), gaps: 0 }
    }

    /// Adds a packet, whose number is larger than that of any before it.
    pub(crate) fn add(&mut self, packet: Packet) {
        self.above.push_back(Entry { packet, acked: false });
    }

    /// Marks the packets of `range` as acknowledged, and calls `each` for those that were not yet.
    pub(crate) fn acknowledge(
        &mut self,
        range: &RangeInclusive<u64>,
        mut each: impl FnMut(&Packet),
    ) {
        for at in positions(&self.missing, range, |entry| entry.packet.number) {
            let entry = &mut self.missing[at];
            if !entry.acked {
                entry.acked = true;
                self.gaps += 1;
                each(&entry.packet);
            }
        }
        for at in positions(&self.above, range, |entry| entry.packet.number) {
            let entry = &mut self.above[at];
            if !entry.acked {
                entry.acked = true;
                each(&entry.packet);
            }
        }
    }

    /// Ends the reading of an acknowledgement, after which `largest` is the largest number acknowledged.
    pub(crate) fn advance(&mut self, largest: u64) {
        while let Some(entry) = self.above.front().filter(|entry| entry.packet.number <= largest) {
            if !entry.acked {
                self.missing.push_back(*entry);
            }
            self.above.pop_front();
        }
        while self.missing.front().is_some_and(|entry| entry.acked) {
            self.missing.pop_front();
            self.gaps -= 1;
        }
        if self.gaps >= MIN_GAPS && self.gaps > self.missing.len() / 2 {
            self.missing.retain(|entry| !entry.acked);
            self.gaps = 0;
        }
    }

    /// Returns the first missing packet.
    pub(crate) fn first_missing(&self) -> Option<&Packet> {
        // Each acknowledgement ends with `advance`, so the first one is not acknowledged.
        self.missing.front().map(|entry| &entry.packet)
    }

    /// Removes and returns the first missing packet.
    pub(crate) fn take_first_missing(&mut self) -> Option<Packet> {
        let first = self.missing.pop_front()?;
        while self.missing.front().is_some_and(|entry| entry.acked) {
            self.missing.pop_front();
            self.gaps -= 1;
        }
        Some(first.packet)
    }

    /// Returns how many packets are missing that were sent after `covered`, if there is such a time.
    pub(crate) fn missing_since(&self, covered: Option<Instant>) -> u32 {
        let Some(covered) = covered else { return (self.missing.len() - self.gaps) as u32 };
        let from = self.missing.partition_point(|entry| entry.packet.sent <= covered);
        self.missing.range(from..).filter(|entry| !entry.acked).count() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packet 0 never arrives. Of the others each second one comes late, when 20 later ones have come.
    #[test]
    fn a_missing_packet_does_not_make_the_table_grow() {
        let mut outstanding = Outstanding::default();
        let mut arrived = 0;
        let mut arrive = |outstanding: &mut Outstanding, number| {
            outstanding.acknowledge(&(number..=number), |_| arrived += 1);
        };
        for number in 0..1000 {
            outstanding.add(Packet { number, sent: Instant::from_millis(number), octets: 1 });
            if number % 2 == 1 {
                arrive(&mut outstanding, number);
                outstanding.advance(number);
            }
            if number > 20 && number % 2 == 0 {
                arrive(&mut outstanding, number - 20);
                outstanding.advance(number - 1);
            }
            assert!(outstanding.missing.len() <= 30, "{} at {number}", outstanding.missing.len());
        }
        // 0, and of the last 20 those with even numbers.
        assert_eq!(outstanding.missing_since(None), 11);
        assert_eq!(outstanding.missing_since(Some(Instant::from_millis(989))), 5);
        assert_eq!(outstanding.first_missing().map(|packet| packet.number), Some(0));
        assert_eq!(arrived, 989);
        outstanding.acknowledge(&(0..=u64::MAX), |_| {});
        outstanding.advance(u64::MAX);
        assert_eq!((outstanding.missing.len(), outstanding.gaps), (0, 0));
    }
}
