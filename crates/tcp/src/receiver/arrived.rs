//! The part of a stream that has arrived: everything below a point, ranges above it, and duplicates
//! (RFC 2018; RFC 2883).

use std::collections::VecDeque;

/// Number of recently changed ranges whose order is kept. A SACK option holds at most four.
const RECENT_RANGES: usize = 8;
/// Bounds on the number of ranges stored, whatever the size of the buffer.
const MIN_RANGES: u64 = 64;
const MAX_RANGES: u64 = 1 << 16;
/// Smallest maximum segment size of a well-behaved peer, in octets (RFC 9293, section 3.7.1).
const MIN_MSS: u32 = 536;

/// Returns the maximum number of ranges to store: as many as fill the buffer if every second one of
/// the smallest segments is lost. A peer that sends every second octet must not fill memory with
/// ranges, nor make each insertion move megabytes.
pub(super) fn max_ranges(buffer: u64, mss: u32) -> u32 {
    ranges(buffer, octets_per_range(mss))
}

/// Returns the octets of two of the smallest segments of a well-behaved peer.
fn octets_per_range(mss: u32) -> u32 {
    2 * MIN_MSS.min(mss.max(1))
}

fn ranges(octets: u64, octets_per_range: u32) -> u32 {
    (octets / u64::from(octets_per_range)).clamp(MIN_RANGES, MAX_RANGES) as u32
}

/// Result of making room for another range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// There is room, or none is needed.
    Available,
    /// There is room because this range, the furthest, was dropped.
    AfterDropping(Option<(u64, u64)>),
    /// There is no room, because the new range is the furthest itself.
    None,
}

/// Octets that have arrived, as stream offsets. The FIN counts as one.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Arrived {
    /// RCV.NXT: everything below it has arrived.
    next: u64,
    /// Octets of the last segment that had arrived before.
    duplicate: Option<(u64, u64)>,
    /// Ranges above `next` that have arrived: disjoint, not adjacent, in order.
    ranges: VecDeque<(u64, u64)>,
    /// Present maximum number of ranges, which depends on the octets that may be unread.
    max_ranges: u32,
    /// Largest value of `max_ranges`, for the whole buffer.
    max_ranges_of_buffer: u32,
    /// Octets of the buffer per range.
    octets_per_range: u32,
    recent_len: u32,
    /// One octet of each recently changed range, the most recent first.
    recent: [u64; RECENT_RANGES],
}

impl Arrived {
    /// Returns the state for a buffer of `buffer` octets, filled by segments of up to `mss`.
    pub(super) fn new(buffer: u64, mss: u32) -> Self {
        let max_ranges = max_ranges(buffer, mss);
        Self {
            next: 0,
            ranges: VecDeque::new(),
            max_ranges,
            max_ranges_of_buffer: max_ranges,
            octets_per_range: octets_per_range(mss),
            recent: [0; RECENT_RANGES],
            recent_len: 0,
            duplicate: None,
        }
    }

    /// Returns RCV.NXT.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the end of the highest octet that has arrived.
    pub(super) fn highest(&self) -> u64 {
        self.ranges.back().map_or(self.next, |last| last.1)
    }

    /// Returns whether something is missing below the highest octet that has arrived.
    pub(super) fn has_hole(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// Returns the maximum number of ranges.
    #[cfg(test)]
    pub(super) fn max_ranges(&self) -> u32 {
        self.max_ranges
    }

    /// Limits the number of ranges to those that `octets` unread octets can hold. Existing ranges
    /// stay.
    pub(super) fn bound(&mut self, octets: u64) {
        self.max_ranges = ranges(octets, self.octets_per_range).min(self.max_ranges_of_buffer);
    }

    /// Returns the octets allocated for ranges.
    pub(super) fn table_octets(&self) -> usize {
        self.ranges.capacity() * size_of::<(u64, u64)>()
    }

    /// Frees the unused part of the allocation.
    pub(super) fn shrink(&mut self) {
        self.ranges.shrink_to_fit();
    }

    /// Returns a duplicate that was not reported yet.
    pub(super) fn duplicate(&self) -> Option<(u64, u64)> {
        self.duplicate
    }

    /// Clears the duplicate, after it was reported or because it will not be.
    pub(super) fn clear_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// Returns whether `left..right` is next in order, nothing beyond it has arrived, and no
    /// duplicate is to be reported.
    #[inline]
    pub(super) fn follows(&self, left: u64, right: u64) -> bool {
        left == self.next && right > left && self.ranges.is_empty() && self.duplicate.is_none()
    }

    /// Records that everything up to `right` has arrived, and nothing beyond. Returns the previous
    /// RCV.NXT.
    #[inline]
    pub(super) fn advance(&mut self, right: u64) -> u64 {
        std::mem::replace(&mut self.next, right)
    }

    /// Adds the octets `left..right` of a segment while a hole is open or opens, in the frequent cases: they
    /// are all new, and next in order, next behind the last range, or beyond it. Returns whether it did;
    /// otherwise nothing has changed. The other cases are [`Self::add`]'s.
    #[inline]
    pub(super) fn add_whole(&mut self, left: u64, right: u64) -> bool {
        if left >= right || self.duplicate.is_some() {
            return false;
        }
        if left == self.next {
            match self.ranges.front() {
                Some(&(held, end)) if held == right => {
                    self.ranges.pop_front();
                    self.next = end;
                    self.drop_recent_below_next();
                }
                Some(&(held, _)) if held < right => return false,
                _ => self.next = right,
            }
            return true;
        }
        let from = match self.ranges.back_mut() {
            Some(last) if last.1 == left => {
                last.1 = right;
                last.0
            }
            last => {
                let beyond = left > last.map_or(self.next, |last| last.1);
                if !beyond || self.ranges.len() >= self.max_ranges as usize {
                    return false;
                }
                self.ranges.push_back((left, right));
                left
            }
        };
        if self.recent_len == 0 || self.recent[0] != from {
            self.promote(from, right, from);
        }
        true
    }

    /// Makes room for `left..right`, if necessary by dropping a range that was SACKed (RFC 2018,
    /// section 8).
    #[inline]
    pub(super) fn make_room(&mut self, left: u64, right: u64) -> Room {
        if self.ranges.len() < self.max_ranges as usize || left <= self.next || left == right {
            return Room::Available;
        }
        let at = self.ranges.partition_point(|r| r.1 < left);
        match self.ranges.get(at) {
            None => return Room::None,
            // It merges with an existing range.
            Some(next) if next.0 <= right => return Room::Available,
            Some(_) => {}
        }
        let dropped = self.ranges.pop_back();
        if let Some((left, _)) = dropped {
            self.retain_recent(|octet| octet < left);
        }
        Room::AfterDropping(dropped)
    }

    /// Returns whether `left..right` would begin one island more than `islands` above the hole.
    #[inline]
    pub(super) fn exceeds(&self, islands: u32, left: u64, right: u64) -> bool {
        if self.ranges.len() < islands as usize || left <= self.next {
            return false;
        }
        let at = self.ranges.partition_point(|r| r.1 < left);
        self.ranges.get(at).is_none_or(|next| next.0 > right)
    }

    /// Adds the octets `left..right` of a segment, and calls `fresh` for the new ones among them.
    pub(super) fn add(&mut self, left: u64, right: u64, fresh: impl FnMut(u64, u64)) {
        let unreported = self.duplicate.take();
        if left < right {
            self.insert(left, right, fresh);
        }
        // Several pieces of a merged segment may arrive before the first is reported.
        self.duplicate = match (unreported, self.duplicate) {
            (Some(first), Some(second)) if first.1 == second.0 => Some((first.0, second.1)),
            (first, second) => second.or(first),
        };
    }

    /// Adds `left..right` to what has arrived, and calls `fresh` for the new octets.
    fn insert(&mut self, left: u64, right: u64, mut fresh: impl FnMut(u64, u64)) {
        if right <= self.next {
            self.duplicate = Some((left, right));
            return;
        }
        if left < self.next {
            self.duplicate = Some((left, self.next));
        }
        let left = left.max(self.next);
        if left == self.next && self.ranges.front().is_none_or(|r| right < r.0) {
            self.next = right;
            fresh(left, right);
            return;
        }
        // The ranges that overlap it or are adjacent.
        let from = self.ranges.partition_point(|r| r.1 < left);
        let to = from + self.ranges.range(from..).take_while(|r| r.0 <= right).count();
        if from == to {
            self.ranges.insert(from, (left, right));
            self.promote(left, right, left);
            fresh(left, right);
            return;
        }
        let mut at = left;
        for &(held, end) in self.ranges.range(from..to) {
            if at < held {
                fresh(at, held);
            }
            at = at.max(end);
        }
        if at < right {
            fresh(at, right);
        }
        let first = self.ranges[from];
        let last = self.ranges[to - 1];
        let overlap = self
            .ranges
            .range(from..to)
            .map(|r| (r.0.max(left), r.1.min(right)))
            .find(|(l, r)| l < r);
        self.duplicate = self.duplicate.or(overlap);
        let merged = (first.0.min(left), last.1.max(right));
        if merged.0 <= self.next {
            self.ranges.drain(from..to);
            self.next = merged.1;
            self.drop_recent_below_next();
        } else {
            self.ranges[from] = merged;
            if to - from > 1 {
                self.ranges.drain(from + 1..to);
            }
            self.promote(merged.0, merged.1, merged.0);
        }
    }

    /// Moves the range that holds `octet` to the front of the recent ones, and removes the ranges
    /// that it absorbed.
    #[inline]
    fn promote(&mut self, left: u64, right: u64, octet: u64) {
        let mut kept = 1;
        let mut next = [0; RECENT_RANGES];
        next[0] = octet;
        for &old in &self.recent[..self.recent_len as usize] {
            if (old < left || old >= right) && kept < RECENT_RANGES {
                next[kept] = old;
                kept += 1;
            }
        }
        self.recent = next;
        self.recent_len = kept as u32;
    }

    fn drop_recent_below_next(&mut self) {
        let next = self.next;
        self.retain_recent(|octet| octet >= next);
    }

    fn retain_recent(&mut self, keep: impl Fn(u64) -> bool) {
        let mut kept = 0;
        for i in 0..self.recent_len as usize {
            if keep(self.recent[i]) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.recent_len = kept as u32;
    }

    /// Calls `push` for the SACK blocks of an acknowledgement, at most `limit`: first a DSACK if
    /// one is due, then ranges, the most recently changed first. If recent ranges have merged, the
    /// lowest of the other ranges fill the remaining places: "as many distinct SACK blocks as
    /// possible" (RFC 2018, section 4).
    pub(super) fn blocks(&self, limit: usize, mut push: impl FnMut(u64, u64)) {
        let mut left = limit;
        if let Some(duplicate) = self.duplicate.filter(|_| left > 0) {
            push(duplicate.0, duplicate.1);
            left -= 1;
        }
        if let (Some(&(l, r)), 1) = (self.ranges.front(), self.ranges.len()) {
            if left > 0 {
                push(l, r);
            }
            return;
        }
        let recent = &self.recent[..left.min(self.recent_len as usize)];
        for &octet in recent {
            let at = self.ranges.partition_point(|r| r.1 <= octet);
            if let Some(&(l, r)) = self.ranges.get(at).filter(|r| r.0 <= octet) {
                push(l, r);
            }
        }
        if recent.len() < left {
            let is_recent = |r: &&(u64, u64)| recent.iter().any(|octet| (r.0..r.1).contains(octet));
            let others = self.ranges.iter().filter(|r| !is_recent(r));
            others.take(left - recent.len()).for_each(|&(l, r)| push(l, r));
        }
    }

    /// Returns how many blocks there are to report.
    pub(super) fn block_count(&self) -> usize {
        self.ranges.len() + usize::from(self.duplicate.is_some())
    }
}
