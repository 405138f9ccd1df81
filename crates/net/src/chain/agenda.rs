//! The arrivals and other events of the packets on all links, in the order of time.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use unruffled_path::Ticket;
use unruffled_units::Instant;

/// The events of packets of type `T`. Those of the same instant are in the order in which they were planned.
#[derive(Debug)]
pub(super) struct Agenda<T> {
    /// For each link, the packets that keep their order on it, with their arrival times.
    lines: Vec<VecDeque<(Instant, T)>>,
    /// The arrival of the first packet in each line. Most packets are in line, and few links have one at a
    /// time, so these events are not among the others.
    firsts: Vec<First>,
    /// All other events.
    others: BinaryHeap<Reverse<Other<T>>>,
    /// Orders events of the same instant.
    serial: u64,
}

/// The arrival of the first packet in the line of a link at the far end.
#[derive(Clone, Copy, Debug)]
struct First {
    due: Instant,
    serial: u64,
    link: usize,
}

/// An event of a packet that is not in line.
#[derive(Debug)]
struct Other<T> {
    due: Instant,
    serial: u64,
    packet: T,
    held: Option<Ticket>,
}

/// The next event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// Its time.
    pub(super) due: Instant,
    /// The place of its line in [`Agenda::firsts`], if it is one of those.
    place: Option<usize>,
}

impl<T> Agenda<T> {
    /// Creates an agenda without events for this number of links.
    pub(super) fn new(links: usize) -> Self {
        let lines = std::iter::repeat_with(VecDeque::new).take(links).collect();
        Self { lines, firsts: Vec::new(), others: BinaryHeap::new(), serial: 0 }
    }

    /// Plans the arrival of a packet behind all others in the line of its link. `due` must not be before
    /// theirs.
    pub(super) fn plan_in_line(&mut self, link: usize, due: Instant, packet: T) {
        self.lines[link].push_back((due, packet));
        if self.lines[link].len() == 1 {
            let serial = self.next_serial();
            self.firsts.push(First { due, serial, link });
        }
    }

    /// Plans the arrival of a packet that is not in line, or, if its link damaged it and may send it again,
    /// that decision.
    pub(super) fn plan(&mut self, due: Instant, packet: T, held: Option<Ticket>) {
        let serial = self.next_serial();
        self.others.push(Reverse(Other { due, serial, packet, held }));
    }

    /// Returns the next event, if any.
    #[inline]
    pub(super) fn next(&self) -> Option<Next> {
        let other = self.others.peek().map(|Reverse(other)| (other.due, other.serial, None));
        let mut next = other;
        for (place, first) in self.firsts.iter().enumerate() {
            if next.is_none_or(|(due, serial, _)| (first.due, first.serial) < (due, serial)) {
                next = Some((first.due, first.serial, Some(place)));
            }
        }
        next.map(|(due, _, place)| Next { due, place })
    }

    /// Removes the event that [`next`](Self::next) has just returned, and returns its packet. The ticket is
    /// that of a packet that its link may send again.
    pub(super) fn pop(&mut self, next: Next) -> Option<(T, Option<Ticket>)> {
        let Some(place) = next.place else {
            let Reverse(Other { packet, held, .. }) = self.others.pop()?;
            return Some((packet, held));
        };
        let line = &mut self.lines[self.firsts[place].link];
        let (_, packet) = line.pop_front()?;
        match line.front() {
            Some(&(due, _)) => {
                let serial = self.next_serial();
                self.firsts[place] = First { due, serial, ..self.firsts[place] };
            }
            None => {
                self.firsts.swap_remove(place);
            }
        }
        Some((packet, None))
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }
}

impl<T> Ord for Other<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.serial).cmp(&(other.due, other.serial))
    }
}

impl<T> PartialOrd for Other<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Other<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Other<T> {}
