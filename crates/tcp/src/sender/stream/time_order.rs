//! Outstanding segments in the order of their last transmission: RACK asks which were sent before
//! the one that was just delivered (RFC 8985, section 6.2), and a list answers without a scan.

use std::collections::VecDeque;

use unruffled_units::Instant;

use super::SegNo;

const NIL: u32 = u32::MAX;

/// The low 31 bits of a segment's number, which no window is too long for; never [`NIL`].
pub(crate) fn low(number: SegNo) -> u32 {
    number as u32 & (u32::MAX >> 1)
}

/// An entry that the list can run through.
pub(crate) trait Timed {
    /// Its last transmission and its end, which the list is in order of.
    fn key(&self) -> (Instant, u64);
    /// Where the list has it.
    fn links(&mut self) -> &mut Links;
}

/// A doubly linked list threaded through the scoreboard's entries.
#[derive(Clone, Debug)]
pub(crate) struct TimeOrder {
    head: u32,
    tail: u32,
    /// Last entry sent before the latest delivered one; all up to it are eligible for RACK.
    cursor: u32,
}

/// The links of one entry, as [`low`] bits of segment numbers. What the first one has for `prev` means
/// nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(super) prev: u32,
    pub(super) next: u32,
}

impl Links {
    /// As distances: one back and one on.
    pub(crate) const ADJACENT: Self = Self { prev: 1, next: 1 };
}

/// The entries that the list runs through: a ring and the number of its first entry.
pub(crate) struct Ring<'a, E> {
    pub(crate) entries: &'a mut VecDeque<E>,
    pub(crate) base: SegNo,
}

impl<E: Timed> Ring<'_, E> {
    fn entry(&mut self, number: u32) -> &mut E {
        let index = low(u64::from(number.wrapping_sub(low(self.base))));
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
        Self { head: NIL, tail: NIL, cursor: NIL }
    }

    /// Puts `number`, just transmitted, behind all others.
    pub(crate) fn append(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        *ring.links(low(number)) = self.links_behind();
        self.append_linked(ring, number);
    }

    /// The links of an entry behind all others.
    #[inline]
    pub(crate) fn links_behind(&self) -> Links {
        Links { prev: self.tail, next: NIL }
    }

    /// [`append`](Self::append) of an entry that has [these](Self::links_behind) links.
    #[inline]
    pub(crate) fn append_linked(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        let number = low(number);
        match self.tail {
            NIL => self.head = number,
            tail => ring.links(tail).next = number,
        }
        self.tail = number;
    }

    /// Puts `number` back to where it was by its last transmission, which came before `latest` if it
    /// is eligible for RACK. Looks from `hint` on, or from the head if that was sent later.
    pub(crate) fn put_back(
        &mut self,
        ring: &mut Ring<'_, impl Timed>,
        number: SegNo,
        hint: Option<SegNo>,
        latest: Option<(Instant, u64)>,
    ) {
        let (number, hint) = (low(number), hint.map_or(NIL, low));
        let key = ring.key(number);
        let mut prev = if hint != NIL && ring.key(hint) < key { hint } else { NIL };
        let mut next = if prev == NIL { self.head } else { ring.links(prev).next };
        while next != NIL && ring.key(next) < key {
            (prev, next) = (next, ring.links(next).next);
        }
        *ring.links(number) = Links { prev, next };
        match prev {
            NIL => self.head = number,
            prev => ring.links(prev).next = number,
        }
        match next {
            NIL => self.tail = number,
            next => ring.links(next).prev = number,
        }
        let eligible = latest.is_some_and(|latest| key < latest);
        if eligible && (self.cursor == NIL || ring.key(self.cursor) < key) {
            self.cursor = number;
        }
    }

    /// Takes out the first, which is `number`; says so if it is now the latest-sent segment known to
    /// be delivered.
    #[inline]
    pub(crate) fn pop_first(
        &mut self,
        ring: &mut Ring<'_, impl Timed>,
        number: SegNo,
        latest: bool,
    ) {
        debug_assert_eq!(self.head, low(number), "the first segment was sent first");
        let next = ring.links(low(number)).next;
        self.head = next;
        if next == NIL {
            self.tail = NIL;
        }
        // Nothing was sent before it.
        if latest || self.cursor == low(number) {
            self.cursor = NIL;
        }
    }

    /// The one before `number`, which is in the list.
    fn before(&self, ring: &mut Ring<'_, impl Timed>, number: u32) -> u32 {
        if number == self.head { NIL } else { ring.links(number).prev }
    }

    /// Takes `number` out; it must be in the list.
    #[inline]
    pub(crate) fn remove(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        let number = low(number);
        let (prev, next) = (self.before(ring, number), ring.links(number).next);
        match prev {
            NIL => self.head = next,
            prev => ring.links(prev).next = next,
        }
        match next {
            NIL => self.tail = prev,
            next => ring.links(next).prev = prev,
        }
        if self.cursor == number {
            self.cursor = prev;
        }
    }

    /// `number` is now the latest-sent segment known to be delivered; it is still in the list.
    pub(crate) fn delivered_latest(&mut self, ring: &mut Ring<'_, impl Timed>, number: SegNo) {
        self.cursor = self.before(ring, low(number));
    }

    /// A segment that is no longer in the list is the latest-sent one known to be delivered: looks
    /// for the last one for which `before` holds. That happens only after events that are rare.
    pub(crate) fn seek<E: Timed>(&mut self, ring: &mut Ring<'_, E>, before: impl Fn(&E) -> bool) {
        self.cursor = self.tail;
        while self.cursor != NIL && !before(ring.entry(self.cursor)) {
            self.cursor = self.before(ring, self.cursor);
        }
    }

    /// The earliest sent, as the low bits of its number.
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }

    /// The last one sent before the latest delivered one.
    pub(crate) fn last_before_delivered(&self) -> Option<u32> {
        (self.cursor != NIL).then_some(self.cursor)
    }

    /// Says that `number` is the last one sent before the latest delivered one.
    pub(crate) fn set_cursor(&mut self, number: SegNo) {
        self.cursor = low(number);
    }
}
