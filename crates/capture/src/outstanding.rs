//! The segments of one direction that are on their way, or were not long ago.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

/// What tells when a packet was sent relative to another of the same sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// When it passed here.
    pub(crate) at: Instant,
    /// Its timestamp's value.
    pub(crate) stamp: Option<u32>,
    /// Its IP identification.
    pub(crate) id: Option<u16>,
    /// How many more routers it could have passed.
    pub(crate) ttl: u8,
}

impl Mark {
    /// That of the piece so far behind the first which a joined packet becomes: pieces are numbered on.
    pub(crate) fn of_piece(self, behind: u64) -> Self {
        Self { id: self.id.map(|id| id.wrapping_add(behind as u16)), ..self }
    }

    /// Whether the `nth` part of the packet of this mark may be the same as one of mark `other`: the
    /// pieces of a joined packet are numbered on.
    pub(crate) fn is_alike(self, other: Self, nth: usize) -> bool {
        let numbered = match (self.id, other.id) {
            (Some(id), Some(other)) => usize::from(other.wrapping_sub(id)) <= nth,
            (one, two) => one == two,
        };
        self.stamp == other.stamp && numbered
    }
}

/// The passings of one transmission: it comes by several places where a capture has more than one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passings {
    /// When it last passed.
    pub(crate) last: Instant,
    /// The time to live at each passing, as far as there is room.
    ttls: [Option<std::num::NonZeroU8>; 4],
}

impl Passings {
    pub(crate) fn new(mark: Mark) -> Self {
        let mut passings = Self { last: mark.at, ttls: [None; 4] };
        passings.add(mark);
        passings
    }

    /// It passes once more.
    pub(crate) fn add(&mut self, mark: Mark) {
        self.last = self.last.max(mark.at);
        if !self.at(mark.ttl)
            && let Some(free) = self.ttls.iter_mut().find(|ttl| ttl.is_none())
        {
            *free = std::num::NonZeroU8::new(mark.ttl);
        }
    }

    /// Whether it has passed at the place where its time to live is `ttl`.
    pub(crate) fn at(&self, ttl: u8) -> bool {
        self.ttls.contains(&std::num::NonZeroU8::new(ttl))
    }
}

/// Where a retransmission is counted that covers an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// It covers this entry alone, and counts for so many segments.
    Whole(u16),
    /// It covers several entries, and has this number among those that do.
    Part(u32),
}

/// Where a segment stands in the order of sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    /// Among segments that are sent for the first time.
    pub(crate) new: u64,
    /// Among all, retransmissions too.
    pub(crate) any: u64,
}

impl Number {
    fn plus(self, segments: u64) -> Self {
        Self { new: self.new + segments, any: self.any + segments }
    }
}

/// Which copy of a segment the receiver got first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivered {
    /// None that we know of.
    Not,
    /// The first that was sent.
    Original,
    /// A retransmission.
    Again,
}

/// A stretch of the stream that was sent as one segment, or that has not passed here.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) number: Number,
    /// What passed first; of a stretch that has not passed, what overtook it.
    pub(crate) first: Mark,
    /// What was sent last.
    pub(crate) last: Mark,
    /// Where that has passed.
    pub(crate) passings: Passings,
    /// Octets in flight when it passed, its own among them.
    pub(crate) flight: u64,
    /// How often it was sent as far as is known: 0 for a stretch that has not passed.
    pub(crate) transmissions: u16,
    /// How many of the retransmissions DSACKs have told of.
    pub(crate) dsacked: u16,
    /// How many proved spurious otherwise.
    pub(crate) proved: u16,
    /// Whether the original passed here.
    pub(crate) original: bool,
    pub(crate) delivered: Delivered,
    /// The recovery that it was last sent again in.
    pub(crate) episode: u64,
    /// How long it and its acknowledgement took, where that was measured.
    pub(crate) trip: Option<Duration>,
    /// What its last retransmission counts for.
    pub(crate) share: Share,
    /// Whether it is the rest of a segment whose arrival is told by the entry before it.
    pub(crate) rest: bool,
}

impl Entry {
    /// A stretch that has not passed: `mark` is of what overtook it.
    pub(crate) fn new(start: u64, end: u64, number: Number, mark: Mark) -> Self {
        Self {
            start,
            end,
            number,
            first: mark,
            last: mark,
            passings: Passings::new(mark),
            flight: 0,
            transmissions: 0,
            dsacked: 0,
            proved: 0,
            original: false,
            delivered: Delivered::Not,
            episode: 0,
            trip: None,
            share: Share::Whole(1),
            rest: false,
        }
    }

    /// A copy of it passes, the `nth` in a packet; of which transmission, identifications and timestamps
    /// tell.
    pub(crate) fn pass_again(&mut self, mark: Mark, nth: usize) {
        if mark.is_alike(self.last, nth) {
            self.passings.add(mark);
        }
    }

    /// It passes as sent once more; `mark` is that packet's.
    pub(crate) fn resent(&mut self, mark: Mark) {
        if self.transmissions == 0 {
            // The original was sent, but never passed.
            (self.first, self.transmissions) = (mark, 1);
        }
        self.last = mark;
        self.passings = Passings::new(mark);
        self.transmissions = self.transmissions.saturating_add(1);
    }

    /// How many of its retransmissions were spurious: both ways of telling tell of the same ones.
    pub(crate) fn spurious(&self) -> u16 {
        self.dsacked.max(self.proved).min(self.transmissions.saturating_sub(1))
    }
}

/// Entries in the order of the stream, without gaps between them. The first `head` of them are
/// acknowledged, and kept for what may yet be told of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    entries: VecDeque<Entry>,
    head: usize,
}

impl Outstanding {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entries, the oldest first.
    pub(crate) fn entries(&self) -> &VecDeque<Entry> {
        &self.entries
    }

    pub(crate) fn get(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at)
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut Entry> {
        self.entries.get_mut(at)
    }

    /// The first entry that is not acknowledged.
    pub(crate) fn head(&self) -> usize {
        self.head
    }

    /// The first entry that ends beyond `position`.
    pub(crate) fn find(&self, position: u64) -> usize {
        // The head is where almost everything happens.
        match self.entries.get(self.head) {
            Some(head) if head.start <= position && position < head.end => self.head,
            _ => self.entries.partition_point(|entry| entry.end <= position),
        }
    }

    /// Appends what follows the last entry.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entries.push_back(entry);
    }

    /// All that ends at `position` or before is acknowledged; says which entries are so newly.
    pub(crate) fn acknowledge(&mut self, position: u64) -> std::ops::Range<usize> {
        let before = self.head;
        while self.entries.get(self.head).is_some_and(|entry| entry.end <= position) {
            self.head += 1;
        }
        before..self.head
    }

    /// Cuts entry `at` so that one begins at `from` and ends at `to`; gives its place. Numbers are
    /// dealt out by `size` octets.
    pub(crate) fn cut(&mut self, at: usize, from: u64, to: u64, size: u64) -> usize {
        let Some(whole) = self.entries.get(at).cloned() else { return at };
        let (from, to) = (from.max(whole.start), to.min(whole.end));
        let number = |position: u64| whole.number.plus((position - whole.start) / size.max(1));
        let acknowledged = at < self.head;
        let mut place = at;
        // One that passed is one segment still: it has come when its first part has, and a
        // retransmission of all of it counts once.
        let passed = whole.transmissions > 0;
        let share = if passed { Share::Whole(0) } else { whole.share };
        if to < whole.end && from < to {
            self.entries[at].end = to;
            let number = number(to);
            let rest = Entry { start: to, number, rest: passed, share, ..whole.clone() };
            self.entries.insert(at + 1, rest);
            self.head += usize::from(acknowledged);
        }
        if from > whole.start && from < to {
            self.entries[at].end = from;
            let number = number(from);
            let rest = Entry { start: from, end: to, number, rest: passed, share, ..whole };
            self.entries.insert(at + 1, rest);
            self.head += usize::from(acknowledged);
            place += 1;
        }
        place
    }

    /// The entries from `start` to `end`, cut where they reach beyond; none where all of it is
    /// forgotten. Numbers are dealt out by `size` octets.
    pub(crate) fn span(&mut self, start: u64, end: u64, size: u64) -> std::ops::Range<usize> {
        let mut first = self.find(start);
        let reach = |entry: &Entry| (entry.start, entry.end);
        if let Some((_, to)) = self.get(first).map(reach).filter(|&(from, _)| from < start) {
            first = self.cut(first, start, to, size);
        }
        let mut at = first;
        while let Some((from, to)) = self.get(at).map(reach).filter(|&(from, _)| from < end) {
            if to > end {
                self.cut(at, from, end, size);
            }
            at += 1;
        }
        first..at
    }

    /// Forgets what is acknowledged and older than `keep`, and the oldest beyond `most` entries; `last`
    /// looks at each, and at what follows it.
    pub(crate) fn trim(
        &mut self,
        now: Instant,
        keep: Duration,
        most: usize,
        mut last: impl FnMut(&Entry, &VecDeque<Entry>),
    ) {
        while let Some(oldest) = self.entries.front() {
            let done = self.head > 0 && now.since(oldest.last.at) > keep;
            if !done && self.entries.len() <= most {
                break;
            }
            if let Some(oldest) = self.entries.pop_front() {
                last(&oldest, &self.entries);
            }
            self.head = self.head.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(start: u64, end: u64, number: u64) -> Entry {
        let mark = Mark { at: Instant::ZERO, stamp: None, id: None, ttl: 64 };
        Entry::new(start, end, Number { new: number, any: number }, mark)
    }

    #[test]
    fn a_stretch_is_cut_where_a_segment_lies() {
        let mut outstanding = Outstanding::default();
        outstanding.push(entry(0, 1000, 0));
        outstanding.push(entry(1000, 4000, 1));
        outstanding.push(entry(4000, 5000, 4));
        assert_eq!(outstanding.acknowledge(4000), 0..2);
        let at = outstanding.cut(1, 2000, 3000, 1000);
        let spans: Vec<_> =
            outstanding.entries.iter().map(|e| (e.start, e.end, e.number.new)).collect();
        assert_eq!(at, 2);
        assert_eq!(spans[1..4], [(1000, 2000, 1), (2000, 3000, 2), (3000, 4000, 3)]);
        assert_eq!(outstanding.head(), 4);
        assert_eq!(outstanding.find(2999), 2);
        assert_eq!(outstanding.find(3000), 3);
        assert_eq!(outstanding.find(9000), 5);
    }

    #[test]
    fn what_is_acknowledged_and_old_is_forgotten() {
        let mut outstanding = Outstanding::default();
        (0..10).for_each(|i| outstanding.push(entry(i, i + 1, i)));
        outstanding.acknowledge(4);
        let keep = Duration::from_secs(1);
        outstanding.trim(Instant::from_millis(2000), keep, 100, |_, _| ());
        assert_eq!((outstanding.len(), outstanding.head()), (6, 0));
        outstanding.trim(Instant::ZERO, keep, 2, |_, _| ());
        assert_eq!(outstanding.len(), 2);
    }
}
