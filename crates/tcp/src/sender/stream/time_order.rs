//! Outstanding segments in the order of their last transmission. RACK needs the segments that were
//! sent before the one just delivered (RFC 8985, section 6.2), and this list gives them without a
//! scan.

use std::collections::VecDeque;

use unruffled_units::Instant;

use super::SegNo;

/// The link that refers to no entry.
const NO_ENTRY: u32 = u32::MAX;

/// Returns the low 31 bits of a segment's number. They identify every segment of a window, and
/// never equal [`NO_ENTRY`].
pub(crate) fn low_bits(number: SegNo) -> u32 {
    number as u32 & (u32::MAX >> 1)
}

/// An entry that the list can contain.
pub(crate) trait Timed {
    /// Returns the key by which the list is sorted: last transmission, then end.
    fn key(&self) -> (Instant, u64);
    /// Returns the entry's neighbours in the list.
    fn links(&mut self) -> &mut Links;
}

/// A doubly linked list through the scoreboard's entries. Its fields are [`low_bits`] of segment
/// numbers.
#[derive(Clone, Debug)]
pub(crate) struct TimeOrder {
    head: u32,
    tail: u32,
    /// Last entry sent before the latest delivered one. All entries up to it are eligible for RACK.
    cursor: u32,
}

/// The neighbours of one entry, as [`low_bits`] of segment numbers. `prev` of the first entry has no
/// meaning.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(super) prev: u32,
    pub(super) next: u32,
}

impl Links {
    /// The links of a SACKed entry, where they are distances: one back and one on.
    pub(crate) const ADJACENT: Self = Self { prev: 1, next: 1 };
}

/// The entries that the list links, and the number of the first.
pub(crate) struct Ring<'a, E> {
    pub(crate) entries: &'a mut VecDeque<E>,
    pub(crate) base: SegNo,
}

impl<E: Timed> Ring<'_, E> {
    fn entry(&mut self, number: u32) -> &mut E {
        let index = low_bits(u64::from(number.wrapping_sub(low_bits(self.base))));
        &mut self.entries[index as usize]
    }

    fn key(&mut self, number: u32) -> (Instant, u64) {
        self.entry(number).key()
    }

    fn links(&mut self, number: u32) -> &mut Links {
        self.entry(number).links()
    }
}

impl TimeOrder {
    pub(crate) const fn new() -> Self {
        Self { head: NO_ENTRY, tail: NO_ENTRY, cursor: NO_ENTRY }
    }

    /// Appends `number`, which was just sent.
    pub(crate) fn append(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        *ring.links(low_bits(number)) = self.links_of_new_tail();
        self.append_linked(ring, number);
    }

    /// Returns the links of the next entry that is appended.
    #[inline]
    pub(crate) fn links_of_new_tail(&self) -> Links {
        Links { prev: self.tail, next: NO_ENTRY }
    }

    /// Appends `number`, whose entry already has [its links](Self::links_of_new_tail).
    #[inline]
    pub(crate) fn append_linked(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        let number = low_bits(number);
        match self.tail {
            NO_ENTRY => self.head = number,
            tail => ring.links(tail).next = number,
        }
        self.tail = number;
    }

    /// Inserts `number` by its last transmission. It is eligible for RACK if that came before
    /// `latest`. The search starts at `hint`, or at the head if `hint` was sent later.
    pub(crate) fn insert(
        &mut self,
        ring: &mut Ring<'_, impl Timed>,
        number: SegNo,
        hint: Option<SegNo>,
        latest: Option<(Instant, u64)>,
    ) {
        let number = low_bits(number);
        let hint = hint.map_or(NO_ENTRY, low_bits);
        let key = ring.key(number);
        let mut prev = if hint != NO_ENTRY && ring.key(hint) < key { hint } else { NO_ENTRY };
        let mut next = if prev == NO_ENTRY { self.head } else { ring.links(prev).next };
        while next != NO_ENTRY && ring.key(next) < key {
            prev = next;
            next = ring.links(next).next;
        }
        *ring.links(number) = Links { prev, next };
        match prev {
            NO_ENTRY => self.head = number,
            prev => ring.links(prev).next = number,
        }
        match next {
            NO_ENTRY => self.tail = number,
            next => ring.links(next).prev = number,
        }
        let eligible = latest.is_some_and(|latest| key < latest);
        if eligible && (self.cursor == NO_ENTRY || ring.key(self.cursor) < key) {
            self.cursor = number;
        }
    }

    /// Removes the first entry, which is `number`. `latest`: it is now the latest-sent segment
    /// known to be delivered.
    #[inline]
    pub(crate) fn pop_first(
        &mut self,
        ring: &mut Ring<'_, impl Timed>,
        number: SegNo,
        latest: bool,
    ) {
        debug_assert_eq!(self.head, low_bits(number), "the first segment was sent first");
        let next = ring.links(low_bits(number)).next;
        self.head = next;
        if next == NO_ENTRY {
            self.tail = NO_ENTRY;
        }
        // No other entry was sent before it.
        if latest || self.cursor == low_bits(number) {
            self.cursor = NO_ENTRY;
        }
    }

    /// Returns the entry before `number`, which must be in the list.
    fn before(&self, ring: &mut Ring<'_, impl Timed>, number: u32) -> u32 {
        if number == self.head { NO_ENTRY } else { ring.links(number).prev }
    }

    /// Removes `number`, which must be in the list.
    #[inline]
    pub(crate) fn remove(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        let number = low_bits(number);
        let prev = self.before(ring, number);
        let next = ring.links(number).next;
        match prev {
            NO_ENTRY => self.head = next,
            prev => ring.links(prev).next = next,
        }
        match next {
            NO_ENTRY => self.tail = prev,
            next => ring.links(next).prev = prev,
        }
        if self.cursor == number {
            self.cursor = prev;
        }
    }

    /// Records that `number`, which is still in the list, is now the latest-sent segment known to
    /// be delivered.
    pub(crate) fn delivered_latest(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        self.cursor = self.before(ring, low_bits(number));
    }

    /// Moves the cursor to the last entry for which `before` holds, because the latest-sent segment
    /// known to be delivered is no longer in the list. This scans the list, but happens only after
    /// rare events.
    pub(crate) fn seek<E: Timed>(&mut self, ring: &mut Ring<'_, E>, before: impl Fn(&E) -> bool) {
        self.cursor = self.tail;
        while self.cursor != NO_ENTRY && !before(ring.entry(self.cursor)) {
            self.cursor = self.before(ring, self.cursor);
        }
    }

    /// Returns the entry sent first, as the low bits of its number.
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NO_ENTRY).then_some(self.head)
    }

    /// Returns the last entry sent before the latest delivered segment, as the low bits of its
    /// number.
    pub(crate) fn last_before_delivered(&self) -> Option<u32> {
        (self.cursor != NO_ENTRY).then_some(self.cursor)
    }

    /// Sets the last entry sent before the latest delivered segment.
    pub(crate) fn set_cursor(&mut self, number: SegNo) {
        self.cursor = low_bits(number);
    }
}
