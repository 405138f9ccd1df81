//! What has arrived of a stream: all below a point, ranges above it, and what came twice (RFC 2018;
//! RFC 2883).

use std::collections::VecDeque;

/// How many ranges are remembered as recently changed; an option holds at most four.
const RECENT: usize = 8;
/// The bounds of how many ranges are kept, and the smallest segments of a peer that means well (RFC
/// 9293, section 3.7.1): if it loses every second one of those, as many ranges as fill the buffer.
const RANGES: (u64, u64) = (64, 1 << 16);
const SMALL: u32 = 536;

/// The maximum of ranges to keep: a peer that sends every second octet must not fill memory
/// with them, nor make each insertion move megabytes.
pub(super) fn max_ranges(buffer: u64, mss: u32) -> u32 {
    ranges(buffer, pair(mss))
}

/// Two of the smallest segments of a peer that means well.
fn pair(mss: u32) -> u32 {
    2 * SMALL.min(mss.max(1))
}

fn ranges(octets: u64, pair: u32) -> u32 {
    (octets / u64::from(pair)).clamp(RANGES.0, RANGES.1) as u32
}

/// Whether there is room for another range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It takes none, or there is room.
    Enough,
    /// There is, without the furthest range, which is dropped.
    Without(Option<(u64, u64)>),
    /// It is the furthest range itself.
    None,
}

/// The octets that have arrived, as stream offsets; the FIN counts as one.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Arrived {
    /// RCV.NXT: everything below has arrived.
    next: u64,
    /// What the last segment brought a second time.
    duplicate: Option<(u64, u64)>,
    /// Ranges above `next` that have arrived: disjoint, not touching, in order.
    ranges: VecDeque<(u64, u64)>,
    /// Most ranges kept, by what may lie unread now.
    max_ranges: u32,
    /// Most that can become: those of the whole buffer.
    most_ranges: u32,
    /// Octets for which one is kept.
    pair: u32,
    recent_len: u32,
    /// One octet of each range, most recently changed first.
    recent: [u64; RECENT],
}

impl Arrived {
    /// For a buffer of so many octets, filled by segments of up to `mss`.
    pub(super) fn new(buffer: u64, mss: u32) -> Self {
        let most_ranges = max_ranges(buffer, mss);
        Self {
            next: 0,
            ranges: VecDeque::new(),
            max_ranges: most_ranges,
            most_ranges,
            pair: pair(mss),
            recent: [0; RECENT],
            recent_len: 0,
            duplicate: None,
        }
    }

    /// RCV.NXT.
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The end of the furthest that has arrived.
    pub(super) fn highest(&self) -> u64 {
        self.ranges.back().map_or(self.next, |last| last.1)
    }

    /// Whether something is missing below the furthest that has arrived.
    pub(super) fn has_hole(&self) -> bool {
        !self.ranges.is_empty()
    }

    /// How many ranges are kept at the most.
    #[cfg(test)]
    pub(super) fn max_ranges(&self) -> u32 {
        self.max_ranges
    }

    /// No more than `octets` may come to lie unread from now on: no more ranges are to be had than that
    /// can hold. Those that are there stay.
    pub(super) fn bound(&mut self, octets: u64) {
        self.max_ranges = ranges(octets, self.pair).min(self.most_ranges);
    }

    /// What the ranges take, in octets.
    pub(super) fn table_octets(&self) -> usize {
        self.ranges.capacity() * size_of::<(u64, u64)>()
    }

    /// Frees what they do not use.
    pub(super) fn shrink(&mut self) {
        self.ranges.shrink_to_fit();
    }

    /// What came twice and was not reported yet.
    pub(super) fn duplicate(&self) -> Option<(u64, u64)> {
        self.duplicate
    }

    /// It was reported, or will not be.
    pub(super) fn forget_duplicate(&mut self) {
        self.duplicate = None;
    }

    /// Whether `left..right` is what comes next, nothing has arrived beyond it, and nothing that came
    /// twice waits to be reported.
    #[inline]
    pub(super) fn follows(&self, left: u64, right: u64) -> bool {
        left == self.next && right > left && self.ranges.is_empty() && self.duplicate.is_none()
    }

    /// Everything up to `right` has arrived, and nothing beyond; gives what was expected before.
    #[inline]
    pub(super) fn advance(&mut self, right: u64) -> u64 {
        std::mem::replace(&mut self.next, right)
    }

    /// Makes room for `left..right`: what was SACKed may be dropped (RFC 2018, section 8).
    #[inline]
    pub(super) fn make_room(&mut self, left: u64, right: u64) -> Room {
        if self.ranges.len() < self.max_ranges as usize || left <= self.next || left == right {
            return Room::Enough;
        }
        let at = self.ranges.partition_point(|r| r.1 < left);
        match self.ranges.get(at) {
            None => return Room::None,
            // It joins one that is there.
            Some(next) if next.0 <= right => return Room::Enough,
            Some(_) => {}
        }
        let dropped = self.ranges.pop_back();
        if let Some((left, _)) = dropped {
            self.keep_recent(|octet| octet < left);
        }
        Room::Without(dropped)
    }

    /// Takes in a segment of `left..right`; tells what of it is new.
    pub(super) fn add(&mut self, left: u64, right: u64, fresh: impl FnMut(u64, u64)) {
        let unreported = self.duplicate.take();
        if left < right {
            self.insert(left, right, fresh);
        }
        // Pieces of a joined segment arrive before the first can be reported.
        self.duplicate = match (unreported, self.duplicate) {
            (Some(first), Some(second)) if first.1 == second.0 => Some((first.0, second.1)),
            (first, second) => second.or(first),
        };
    }

    /// Adds `left..right` to what has arrived; tells what of it is new.
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
        // The ranges that overlap or touch.
        let from = self.ranges.partition_point(|r| r.1 < left);
        let to = from + self.ranges.range(from..).take_while(|r| r.0 <= right).count();
        if from == to {
            self.ranges.insert(from, (left, right));
            self.remember(left, right, left);
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
        let (first, last) = (self.ranges[from], self.ranges[to - 1]);
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
            self.forget_below();
        } else {
            self.ranges[from] = merged;
            if to - from > 1 {
                self.ranges.drain(from + 1..to);
            }
            self.remember(merged.0, merged.1, merged.0);
        }
    }

    /// Puts the range that holds `octet` first among the recent ones, in place of those it took in.
    #[inline]
    fn remember(&mut self, left: u64, right: u64, octet: u64) {
        let mut kept = 1;
        let mut next = [0; RECENT];
        next[0] = octet;
        for &old in &self.recent[..self.recent_len as usize] {
            if (old < left || old >= right) && kept < RECENT {
                next[kept] = old;
                kept += 1;
            }
        }
        (self.recent, self.recent_len) = (next, kept as u32);
    }

    fn forget_below(&mut self) {
        let next = self.next;
        self.keep_recent(|octet| octet >= next);
    }

    fn keep_recent(&mut self, keep: impl Fn(u64) -> bool) {
        let mut kept = 0;
        for i in 0..self.recent_len as usize {
            if keep(self.recent[i]) {
                self.recent[kept] = self.recent[i];
                kept += 1;
            }
        }
        self.recent_len = kept as u32;
    }

    /// The SACK blocks of an acknowledgement, at most `limit`: a DSACK if there is one to report,
    /// then ranges, the most recently changed first. Where those have joined, the first of the others
    /// fill up: "as many distinct SACK blocks as possible" (RFC 2018, section 4).
    pub(super) fn blocks(&self, limit: usize, mut push: impl FnMut(u64, u64)) {
        let mut left = limit;
        if let Some(duplicate) = self.duplicate.filter(|_| left > 0) {
            push(duplicate.0, duplicate.1);
            left -= 1;
        }
        let recent = &self.recent[..left.min(self.recent_len as usize)];
        for &octet in recent {
            let at = self.ranges.partition_point(|r| r.1 <= octet);
            if let Some(&(l, r)) = self.ranges.get(at).filter(|r| r.0 <= octet) {
                push(l, r);
            }
        }
        if recent.len() < left {
            let told = |r: &&(u64, u64)| recent.iter().any(|octet| (r.0..r.1).contains(octet));
            let others = self.ranges.iter().filter(|r| !told(r));
            others.take(left - recent.len()).for_each(|&(l, r)| push(l, r));
        }
    }

    /// How many blocks there are to tell of.
    pub(super) fn block_count(&self) -> usize {
        self.ranges.len() + usize::from(self.duplicate.is_some())
    }
}
