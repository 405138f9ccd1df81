//! Outstanding segments in the order of their last transmission: RACK asks which were sent before
//! the one that was just delivered (RFC 8985, section 6.2), and a list answers without a scan.

use super::scoreboard::{Entry, SegNo};
use std::collections::VecDeque;

const NIL: u32 = u32::MAX;

/// A doubly linked list threaded through the scoreboard's entries.
#[derive(Clone, Debug)]
pub(crate) struct TimeOrder {
    head: u32,
    tail: u32,
    /// Last entry sent before the latest delivered one; all up to it are eligible for RACK.
    cursor: u32,
}

/// The links of one entry, as the low 32 bits of segment numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    prev: u32,
    next: u32,
}

impl Links {
    pub(crate) const LOOSE: Self = Self { prev: NIL, next: NIL };
}

/// The entries that the list runs through: a ring and the number of its first entry.
pub(crate) struct Ring<'a> {
    pub(crate) entries: &'a mut VecDeque<Entry>,
    pub(crate) base: SegNo,
}

impl Ring<'_> {
    fn links(&mut self, number: u32) -> &mut Links {
        let index = number.wrapping_sub(self.base as u32) as usize;
        &mut self.entries[index].links
    }
}

impl TimeOrder {
    pub(crate) const fn new() -> Self {
        Self { head: NIL, tail: NIL, cursor: NIL }
    }

    /// Puts `number`, just transmitted, behind all others.
    pub(crate) fn append(&mut self, ring: &mut Ring<'_>, number: SegNo) {
        let number = number as u32;
        *ring.links(number) = Links { prev: self.tail, next: NIL };
        match self.tail {
            NIL => self.head = number,
            tail => ring.links(tail).next = number,
        }
        self.tail = number;
    }

    /// Takes `number` out; it must be in the list.
    pub(crate) fn remove(&mut self, ring: &mut Ring<'_>, number: SegNo) {
        let number = number as u32;
        let Links { prev, next } = *ring.links(number);
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
    pub(crate) fn delivered_latest(&mut self, ring: &mut Ring<'_>, number: SegNo) {
        self.cursor = ring.links(number as u32).prev;
    }

    /// The earliest sent, as the low bits of its number.
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NIL).then_some(self.head)
    }

    /// The latest sent.
    pub(crate) fn last(&self) -> Option<u32> {
        (self.tail != NIL).then_some(self.tail)
    }

    /// The last one sent before the latest delivered one.
    pub(crate) fn last_before_delivered(&self) -> Option<u32> {
        (self.cursor != NIL).then_some(self.cursor)
    }

    /// Says that `number` is the last one sent before the latest delivered one.
    pub(crate) fn set_cursor(&mut self, number: SegNo) {
        self.cursor = number as u32;
    }
}
