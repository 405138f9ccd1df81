//! The effect of an acknowledgement on the scoreboard (Update of RFC 6675, section 4).

use unruffled_units::Instant;

use super::{Links, Scoreboard, SegNo, Timed as _, ring};

/// RACK's guards against ambiguity (RFC 8985, section 6.2, step 2). An acknowledgement cannot
/// answer a retransmission sent after these times, so that retransmission was spurious.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpuriousAfter {
    /// The guard for the first outstanding segment: the echoed timestamp, or min_RTT before now.
    /// The echo applies to this segment alone (RFC 7323, section 4.3, step 2).
    pub(crate) first: Instant,
    /// The guard for all other segments: min_RTT before now.
    pub(crate) others: Instant,
}

/// A segment that an acknowledgement covers for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Covered {
    pub(crate) number: SegNo,
    /// Whether it was ever retransmitted.
    pub(crate) resent: bool,
    /// Time of the last transmission.
    pub(crate) sent: Instant,
    /// Whether the last transmission is too recent to have arrived, so that an earlier one arrived.
    pub(crate) spurious: bool,
    /// Whether it was the first outstanding segment.
    pub(crate) first: bool,
}

/// The segments that one acknowledgement covers for the first time, cumulatively or selectively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Number of segments covered for the first time.
    pub(crate) segments: u32,
    /// Number of those that are covered selectively.
    pub(crate) sacked: u32,
    /// Segments that the cumulative point passed, whether they had been SACKed before or not.
    pub(crate) passed: u32,
    /// The last segment covered, which is the only one if `segments` is 1.
    pub(crate) number: SegNo,
    /// Whether segment `number` was ever retransmitted.
    pub(crate) retransmitted: bool,
    /// Latest transmission among the covered segments that were never retransmitted (Karn's rule).
    pub(crate) original_sent: Option<Instant>,
    /// Whether any covered segment was ever retransmitted.
    pub(crate) any_retransmitted: bool,
    /// Latest transmission among the covered segments, excluding retransmissions that are suspected
    /// to be spurious (RFC 8985, section 6.2, step 2).
    pub(crate) latest_sent: Option<Instant>,
    /// Whether a segment that was never retransmitted arrived after a later one (RFC 8985, section
    /// 6.2, step 3).
    pub(crate) reordered: bool,
}

impl Scoreboard {
    /// Processes one acknowledgement, which is cumulative up to offset `una` and has SACK `blocks`
    /// of offsets. Calls `on_delivered` for each segment that it covers for the first time.
    pub(crate) fn acknowledge(
        &mut self,
        una: u64,
        blocks: &[(u64, u64)],
        spurious_after: SpuriousAfter,
        mut on_delivered: impl FnMut(Covered),
    ) -> Delivery {
        let mut d = Delivery::default();
        let first = self.base;
        let highest_before = self.highest;
        while let Some(front) = self.entries.front_mut() {
            if front.end() > una {
                if front.start < una {
                    front.len -= (una - front.start) as u32;
                    front.start = una;
                }
                break;
            }
            d.passed += 1;
            if front.sacked {
                self.sacked -= 1;
                self.sacked_from_edge -= u32::from(self.base >= self.edge);
            } else {
                let guard = match self.base == first {
                    true => (spurious_after.first, true),
                    false => (spurious_after.others, false),
                };
                self.deliver(self.base, highest_before, guard, &mut d, &mut on_delivered);
            }
            self.entries.pop_front();
            self.base += 1;
        }
        self.edge = self.edge.max(self.base);
        for &(left, right) in blocks {
            let Some(mut number) = self.first_at_or_after(left.max(una)) else { continue };
            loop {
                number = self.find_unsacked(number);
                if number >= self.end() || self.entry(number).end() > right {
                    break;
                }
                let guard = (spurious_after.others, false);
                self.deliver(number, highest_before, guard, &mut d, &mut on_delivered);
                d.sacked += 1;
                self.sacked += 1;
                self.sacked_from_edge += u32::from(number >= self.edge);
                let entry = &mut self.entries[(number - self.base) as usize];
                entry.sacked = true;
                entry.links = Links::ADJACENT;
                number += 1;
            }
        }
        d
    }

    /// Returns whether an acknowledgement up to offset `una` covers at least one segment, all
    /// covered segments were sent once, and no hole is open.
    #[inline]
    pub(crate) fn is_in_order(&self, una: u64) -> bool {
        let Some(front) = self.entries.front() else { return false };
        let whole = self.sacked | self.lost == 0 && self.highest.is_none_or(|h| h < self.base);
        whole && !front.retransmitted && (front.end() == una || self.covers_several(una))
    }

    #[inline(never)]
    fn covers_several(&self, una: u64) -> bool {
        let mut covered = self.entries.iter().take_while(|entry| entry.end() <= una);
        let mut last = None;
        covered.all(|entry| {
            last = Some(entry.end());
            !entry.retransmitted
        }) && last == Some(una)
    }

    /// Processes an acknowledgement for which [`Self::is_in_order`] returned true, with the result
    /// of [`Self::acknowledge`].
    #[inline(always)]
    pub(crate) fn acknowledge_in_order(
        &mut self,
        una: u64,
        mut on_delivered: impl FnMut(Instant),
    ) -> Delivery {
        let mut d = Delivery::default();
        while let Some(front) = self.entries.front() {
            let key = front.key();
            on_delivered(front.sent);
            d.segments += 1;
            d.number = self.base;
            d.original_sent = Some(front.sent);
            let latest = self.latest_delivered < Some(key);
            if latest {
                self.latest_delivered = Some(key);
            }
            self.order.pop_first(&mut ring(&mut self.entries, self.base), self.base, latest);
            self.entries.pop_front();
            self.base += 1;
            if key.1 >= una {
                break;
            }
        }
        self.highest = Some(d.number);
        self.edge = self.edge.max(self.base);
        Delivery { passed: d.segments, latest_sent: d.original_sent, ..d }
    }

    /// Records segment `number` as delivered and removes it from the time order.
    fn deliver(
        &mut self,
        number: SegNo,
        highest_before: Option<SegNo>,
        (spurious_after, first): (Instant, bool),
        d: &mut Delivery,
        on_delivered: &mut impl FnMut(Covered),
    ) {
        let index = (number - self.base) as usize;
        let entry = &mut self.entries[index];
        d.segments += 1;
        d.number = number;
        d.retransmitted = entry.retransmitted;
        let sent = entry.sent;
        let end = entry.end();
        let was_lost = std::mem::take(&mut entry.lost);
        self.lost -= u32::from(was_lost);
        self.resent -= u32::from(std::mem::take(&mut entry.resent));
        let spurious = entry.retransmitted && sent > spurious_after;
        let resent = entry.retransmitted;
        on_delivered(Covered { number, resent, sent, spurious, first });
        d.any_retransmitted |= entry.retransmitted;
        if !entry.retransmitted {
            d.original_sent = d.original_sent.max(Some(sent));
            d.reordered |= highest_before.is_some_and(|h| number < h);
        }
        let mut ring = ring(&mut self.entries, self.base);
        if !spurious {
            d.latest_sent = d.latest_sent.max(Some(sent));
            if self.latest_delivered.is_none_or(|latest| (sent, end) > latest) {
                self.latest_delivered = Some((sent, end));
                if was_lost {
                    self.order.seek(&mut ring, |e| (e.sent, e.end()) < (sent, end));
                } else {
                    self.order.delivered_latest(&mut ring, number);
                }
            }
        }
        if !was_lost {
            self.order.remove(&mut ring, number);
        }
        self.highest = self.highest.max(Some(number));
    }

    /// Returns the first segment that starts at or after `offset`.
    fn first_at_or_after(&self, offset: u64) -> Option<SegNo> {
        let front = self.entries.front()?;
        // If all segments have the same size, the first guess is right.
        let guess = (offset.saturating_sub(front.start) / u64::from(front.len.max(1))) as usize;
        let index = match self.entries.get(guess) {
            Some(entry) if entry.start == offset => guess,
            _ => self.entries.partition_point(|e| e.start < offset),
        };
        (index < self.entries.len()).then(|| self.base + index as u64)
    }
}
