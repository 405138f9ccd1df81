//! A flow: what is next, what is held, and what was overtaken.

use std::collections::{BTreeMap, VecDeque};

use unruffled_units::{Duration, Instant};

use crate::gaps::{Arrival, Arriving, Gaps, is_after};
use crate::path::PathModel;
use crate::{Counters, Load};

/// Maximum distance of a number from the next, in octets. It is the largest window of common stacks. What is
/// further away is not understood.
const MAX_OCTETS_AWAY: u64 = 64 << 20;

/// Maximum distance of a number from the next, in packets of a tunnel.
const MAX_PACKETS_AWAY: u64 = 1 << 16;

/// Where numbers begin, so that none is negative.
const BASE: u64 = 1 << 40;

/// What flows share: the packets that go on, and the counts.
#[derive(Debug)]
pub(crate) struct Outlet<T> {
    pub(crate) released: VecDeque<T>,
    pub(crate) counters: Counters,
    pub(crate) load: Load,
}

/// A packet that waits.
#[derive(Debug)]
struct Held<T> {
    token: T,
    end: u64,
    arrived: Instant,
    timestamp: Option<u32>,
    octets: u32,
}

/// Data as they arrive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) number: u64,
    pub(crate) span: u32,
    pub(crate) timestamp: Option<u32>,
    pub(crate) octets: u32,
}

/// Kind of numbers that a flow has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// Octets, modulo 2^32, which may be sent again.
    Octets,
    /// Packets, modulo 2^32, each sent once.
    Packets32,
    /// Packets, each sent once.
    Packets64,
}

#[derive(Debug)]
pub(crate) struct FlowState<T> {
    numbering: Numbering,
    /// The next number that goes on in order; `None` before the first.
    next: Option<u64>,
    /// Offset of the packets' numbers.
    offset: u64,
    /// One more than the highest number that has arrived.
    highest: u64,
    /// By first number, and then in the order of arrival.
    held: BTreeMap<(u64, u64), Held<T>>,
    /// Number of packets that were ever held.
    serial: u64,
    gaps: Gaps,
    /// Arrival of the latest SYN, until another packet arrives.
    opened: Option<Instant>,
    /// Time at which its first wait ends, as it is in the table of all waits.
    pub(crate) deadline: Option<Instant>,
    /// One more than the last number of a packet that was too far away.
    stray: Option<u64>,
}

impl<T> FlowState<T> {
    pub(crate) fn new(numbering: Numbering) -> Self {
        Self {
            numbering,
            next: None,
            offset: 0,
            highest: 0,
            held: BTreeMap::new(),
            serial: 0,
            gaps: Gaps::default(),
            opened: None,
            deadline: None,
            stray: None,
        }
    }

    /// Begins anew at `next`, on a SYN.
    pub(crate) fn open(&mut self, next: u32, now: Instant, outlet: &mut Outlet<T>) {
        self.release_all(now, outlet);
        self.begin(u64::from(next));
        self.opened = Some(now);
    }

    /// Returns the time since the SYN, at the first packet after it.
    pub(crate) fn take_handshake(&mut self, now: Instant) -> Option<Duration> {
        self.opened.take().map(|opened| now.since(opened))
    }

    /// Sets the next number of a packet.
    fn begin(&mut self, number: u64) {
        self.offset = BASE.wrapping_sub(number);
        self.next = Some(BASE);
        self.highest = BASE;
        self.gaps.clear();
        self.stray = None;
    }

    /// Returns the place of a packet's number on the line without wraps, near `next`.
    fn place(&self, number: u64, next: u64) -> u64 {
        let moved = number.wrapping_add(self.offset);
        match self.numbering {
            Numbering::Packets64 => moved,
            Numbering::Octets | Numbering::Packets32 => {
                let away = (moved as u32).wrapping_sub(next as u32) as i32;
                next.wrapping_add_signed(i64::from(away))
            }
        }
    }

    fn is_far(&self, start: u64, next: u64) -> bool {
        let limit = match self.numbering {
            Numbering::Octets => MAX_OCTETS_AWAY,
            Numbering::Packets32 | Numbering::Packets64 => MAX_PACKETS_AWAY,
        };
        start.abs_diff(next) > limit
    }

    /// Takes data that arrived at `now`.
    pub(crate) fn data(
        &mut self,
        token: T,
        data: Data,
        now: Instant,
        path: &mut PathModel,
        outlet: &mut Outlet<T>,
    ) {
        let next = match self.next {
            Some(next) => next,
            None => {
                self.begin(data.number);
                BASE
            }
        };
        let start = self.place(data.number, next);
        let end = start.wrapping_add(u64::from(data.span));
        if self.is_far(start, next) {
            return self.stray(token, &data, end, now, outlet);
        }
        // The common case: nothing is missing.
        if start == next && self.highest == next {
            path.in_order();
            self.next = Some(end);
            self.highest = end;
            return outlet.released.push_back(token);
        }
        self.data_out_of_order(token, (start, end), data, now, path, outlet);
    }

    fn data_out_of_order(
        &mut self,
        token: T,
        (start, end): (u64, u64),
        data: Data,
        now: Instant,
        path: &mut PathModel,
        outlet: &mut Outlet<T>,
    ) {
        let Data { timestamp, octets, .. } = data;
        let packet = Arriving {
            start,
            end,
            timestamp,
            resends: self.numbering == Numbering::Octets,
            now,
            round_trip: path.known_round_trip(),
        };
        let arrival = if start >= self.highest {
            if start > self.highest {
                self.gaps.open(self.highest, start, &packet);
            }
            Arrival::InOrder
        } else {
            self.gaps.fill(&packet)
        };
        self.highest = self.highest.max(end);
        self.learn(arrival, path, outlet);
        if arrival == Arrival::Resent && self.holds_older(timestamp) {
            // A receiver drops what was sent before the latest in order (PAWS, RFC 7323, section 5). So what
            // was sent before this packet goes on before it.
            self.release_all(now, outlet);
        }
        let next = self.next.unwrap_or(start);
        if start <= next {
            outlet.released.push_back(token);
            return self.advance(next.max(end), now, outlet);
        }
        outlet.load.packets += 1;
        outlet.load.octets += u64::from(octets);
        outlet.counters.held += 1;
        self.serial += 1;
        self.held
            .insert((start, self.serial), Held { token, end, arrived: now, timestamp, octets });
    }

    /// Records in the model of the path what an arrival shows.
    fn learn(&mut self, arrival: Arrival, path: &mut PathModel, outlet: &mut Outlet<T>) {
        match arrival {
            Arrival::InOrder => path.in_order(),
            Arrival::Late { by, found, given_up } => {
                path.late(by);
                if found {
                    path.found();
                }
                outlet.counters.late += 1;
                outlet.counters.too_late += u64::from(given_up);
            }
            Arrival::Resent => path.lost(),
            Arrival::Copy => {}
        }
    }

    /// Returns whether a held packet was sent before `timestamp`.
    fn holds_older(&self, timestamp: Option<u32>) -> bool {
        let Some(sent) = timestamp else { return false };
        // Timestamps do not decrease along the numbers, except those of packets that were sent again.
        let first = self.held.values().next();
        first.is_some_and(|held| held.timestamp.is_some_and(|held| is_after(sent, held)))
    }

    /// Takes a packet whose number is too far away. The second of two that follow one another moves the flow
    /// there.
    fn stray(&mut self, token: T, data: &Data, end: u64, now: Instant, outlet: &mut Outlet<T>) {
        let start = end.wrapping_sub(u64::from(data.span));
        if self.stray == Some(start) {
            self.release_all(now, outlet);
            self.begin(data.number.wrapping_add(u64::from(data.span)));
        } else {
            self.stray = Some(end);
        }
        outlet.released.push_back(token);
    }

    /// Moves on to `next`, and releases what follows.
    fn advance(&mut self, mut next: u64, now: Instant, outlet: &mut Outlet<T>) {
        while let Some(first) = self.held.first_entry()
            && first.key().0 <= next
        {
            let held = first.remove();
            next = next.max(held.end);
            outlet.load.packets -= 1;
            outlet.load.octets -= u64::from(held.octets);
            outlet.counters.held_time += now.since(held.arrived);
            outlet.released.push_back(held.token);
        }
        self.next = Some(next);
        self.highest = self.highest.max(next);
    }

    /// Returns when the first gap was opened, if something is held behind it.
    pub(crate) fn waits_since(&self) -> Option<Instant> {
        let (_, first) = self.held.first_key_value()?;
        Some(self.next.and_then(|next| self.gaps.opened(next)).unwrap_or(first.arrived))
    }

    /// Ends the wait for the first gap. Returns the number of packets that go on.
    pub(crate) fn give_up(&mut self, now: Instant, outlet: &mut Outlet<T>) -> usize {
        let Some((&(first, _), _)) = self.held.first_key_value() else { return 0 };
        let before = self.held.len();
        outlet.counters.given_up += self.gaps.give_up(first, now);
        self.advance(first, now, outlet);
        before - self.held.len()
    }

    /// Ends all waits.
    pub(crate) fn release_all(&mut self, now: Instant, outlet: &mut Outlet<T>) {
        while self.give_up(now, outlet) > 0 {}
    }

    /// Forgets what is too old to matter.
    pub(crate) fn forget(&mut self, now: Instant, path: &mut PathModel) {
        for _ in 0..self.gaps.forget(now) {
            path.lost();
        }
    }
}
