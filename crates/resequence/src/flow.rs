//! A flow: what is next, what is held, and what was overtaken.

use std::collections::{BTreeMap, VecDeque};

use unruffled_units::{Duration, Instant};

use crate::gaps::{Arrival, Arriving, Gaps, is_after};
use crate::harm::Exposure;
use crate::held::{Held, level};
use crate::line::Line;
use crate::pace::{Pace, QUANTUM, Terms};
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

/// Place of a held packet: by first number, and then in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: u64,
    serial: u64,
}

impl<T> Outlet<T> {
    /// Counts a packet that is held.
    fn hold(&mut self, octets: u32) {
        self.load.packets += 1;
        self.load.octets += u64::from(octets);
        self.counters.held += 1;
    }

    /// Lets a packet go on that was held.
    fn release(&mut self, held: Held<T>, now: Instant) {
        self.load.packets -= 1;
        self.load.octets -= u64::from(held.octets);
        self.counters.held_time += now.since(held.arrived);
        self.released.push_back(held.token);
    }
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
    held: BTreeMap<Place, Held<T>>,
    /// Packets that go on in the order of sending. What waits is here or in `held`.
    line: Line<T>,
    /// Number of packets that were ever held.
    serial: u64,
    gaps: Gaps,
    /// Number after the latest SYN.
    initial: Option<u32>,
    /// Arrival of the latest SYN, until another packet arrives.
    opened: Option<Instant>,
    /// Time at which its first wait ends, as it is in the table of all waits.
    pub(crate) deadline: Option<Instant>,
    /// One more than the last number of a packet that was too far away.
    stray: Option<u64>,
    pace: Pace,
    exposure: Exposure,
    /// Whether the latest packet of data had no timestamp.
    lacks_timestamps: bool,
}

impl<T> FlowState<T> {
    pub(crate) fn new(numbering: Numbering) -> Self {
        Self {
            numbering,
            next: None,
            offset: 0,
            highest: 0,
            held: BTreeMap::new(),
            line: Line::new(),
            serial: 0,
            gaps: Gaps::default(),
            initial: None,
            opened: None,
            deadline: None,
            stray: None,
            pace: Pace::default(),
            exposure: Exposure::default(),
            lacks_timestamps: false,
        }
    }

    /// Begins anew at `next`, on a SYN of `octets` that is held for `lag`.
    pub(crate) fn open(
        &mut self,
        token: T,
        next: u32,
        octets: u32,
        lag: Duration,
        now: Instant,
        outlet: &mut Outlet<T>,
    ) {
        if self.initial.replace(next) == Some(next) {
            // A copy of the latest SYN changes nothing.
            self.opened = self.opened.map(|_| now);
            return outlet.released.push_back(token);
        }
        self.release_all(now, outlet);
        self.begin(u64::from(next));
        self.pace.begin(now);
        self.opened = Some(now + lag);
        if lag == Duration::ZERO {
            return outlet.released.push_back(token);
        }
        let data = Data { number: 0, span: 0, timestamp: None, octets };
        self.hold(BASE, Held::new(token, BASE, &data, now), outlet);
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
        self.line.forget();
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
        self.lacks_timestamps = data.timestamp.is_none();
        let terms = path.terms(self.shows_harm());
        self.pace.arrive(&terms, now);
        if !path.passes(self.shows_harm()) {
            self.exposure.interrupt();
        } else if let Some(verdict) = self.exposure.arrive(terms.round_trip, now) {
            path.on_verdict(verdict);
        }
        let start = self.place(data.number, next);
        let end = start.wrapping_add(u64::from(data.span));
        if self.is_far(start, next) {
            return self.stray(token, &data, end, now, outlet);
        }
        let lag = self.pace.lag(&terms);
        let is_latest = data.timestamp.is_none_or(|sent| self.line.is_latest(sent));
        // A packet without a timestamp, in contrast to those before it, counts as the latest.
        let noted = data.timestamp.map(|sent| self.line.note(sent));
        let sent = noted.or(self.line.latest()).filter(|_| lag > Duration::ZERO);
        let in_line = sent.is_some();
        if !in_line {
            self.leave_line(now, outlet);
        }
        // The common case: nothing is missing.
        if start == next && self.highest == next && !in_line {
            path.in_order();
            self.highest = end;
            if self.pace.wait(now, &terms, now).is_none() {
                self.pace.catch_up();
                self.next = Some(end);
                return outlet.released.push_back(token);
            }
            return self.hold(start, Held::new(token, end, &data, now), outlet);
        }
        let arrival = self.arrive(start, end, data.timestamp, now, path);
        learn(arrival, now, path);
        match arrival {
            Arrival::Copy | Arrival::Late { found: true, .. } => self.exposure.spurious(),
            Arrival::Resent => self.exposure.resent(),
            Arrival::InOrder | Arrival::Late { found: false, .. } => {}
        }
        let mut held = Held::new(token, end, &data, now);
        if let Arrival::Late { given_up, .. } = arrival {
            outlet.counters.late += 1;
            outlet.counters.too_late += u64::from(given_up);
        }
        if let Some(sent) = sent {
            self.enter_line();
            match self.line.join(sent, is_latest, start, held) {
                Ok(()) => outlet.hold(data.octets),
                Err(held) => outlet.released.push_back(held.token),
            }
            return;
        }
        match arrival {
            Arrival::InOrder => {}
            Arrival::Late { by, .. } => held.nominal = now - by,
            Arrival::Resent | Arrival::Copy => held.is_paced = false,
        }
        if arrival == Arrival::Resent && self.holds_older(data.timestamp) {
            // What was sent before a packet that was sent again goes on before it.
            self.release_all(now, outlet);
        }
        let next = self.next.unwrap_or(start);
        // Below the next number, or the first that is missing.
        if end <= next || (start <= next && self.is_at_gap(next)) {
            if end > next {
                self.next = Some(end);
                if held.is_paced {
                    self.pace.restart(held.nominal, now);
                }
            }
            return outlet.released.push_back(held.token);
        }
        self.hold(start, held, outlet);
    }

    /// Returns whether the flow shows what late packets do to its sender. Without timestamps, a late packet and its
    /// retransmission look alike.
    pub(crate) fn shows_harm(&self) -> bool {
        self.resends() && !self.lacks_timestamps
    }

    /// Returns whether the protocol may send a number again.
    fn resends(&self) -> bool {
        self.numbering == Numbering::Octets
    }

    /// Returns the place of a packet among those that have arrived.
    fn arrive(
        &mut self,
        start: u64,
        end: u64,
        timestamp: Option<u32>,
        now: Instant,
        path: &PathModel,
    ) -> Arrival {
        let packet = Arriving {
            start,
            end,
            timestamp,
            resends: self.resends(),
            now,
            round_trip: path.known_round_trip(),
        };
        if start < self.highest {
            let arrival = self.gaps.fill(&packet);
            self.highest = self.highest.max(end);
            return arrival;
        }
        if start > self.highest {
            self.gaps.open(self.highest, start, &packet);
        }
        self.highest = end;
        Arrival::InOrder
    }

    /// Returns whether the first of the held packets was sent before `timestamp`.
    fn holds_older(&self, timestamp: Option<u32>) -> bool {
        let first = self.held.first_key_value().and_then(|(_, first)| first.timestamp);
        first.zip(timestamp).is_some_and(|(first, sent)| is_after(sent, first))
    }

    /// Moves what waits for gaps to the line.
    fn enter_line(&mut self) {
        if !self.held.is_empty() {
            let held = std::mem::take(&mut self.held);
            self.line.take_over(held.into_iter().map(|(place, held)| (place.number, held)));
        }
    }

    /// Lets the first packet in line go on.
    fn release_first_in_line(&mut self, now: Instant, outlet: &mut Outlet<T>) {
        let Some((number, held)) = self.line.pop() else { return };
        let next = self.next.unwrap_or(number);
        if number > next {
            outlet.counters.given_up += self.gaps.give_up(next, number, now);
        }
        self.next = Some(next.max(held.end));
        outlet.release(held, now);
    }

    /// Lets what is in line wait for gaps again.
    fn leave_line(&mut self, now: Instant, outlet: &mut Outlet<T>) {
        if self.line.len() == 0 {
            return;
        }
        while let Some((number, held)) = self.line.pop() {
            if self.next.is_some_and(|next| held.end <= next) {
                outlet.release(held, now);
            } else {
                self.serial += 1;
                self.held.insert(Place { number, serial: self.serial }, held);
            }
        }
        level(&mut self.held);
    }

    /// Holds a packet until all numbers below `number` have gone on.
    fn hold(&mut self, number: u64, mut packet: Held<T>, outlet: &mut Outlet<T>) {
        outlet.hold(packet.octets);
        self.serial += 1;
        let place = Place { number, serial: self.serial };
        if let Some((_, behind)) = self.held.range(place..).next() {
            packet.nominal = packet.nominal.min(behind.nominal);
        }
        self.held.insert(place, packet);
    }

    /// Returns whether no held packet goes on from `next`.
    fn is_at_gap(&self, next: u64) -> bool {
        self.held.first_key_value().is_none_or(|(place, _)| place.number > next)
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

    /// Releases the packets that are due, and returns when the next one is due.
    pub(crate) fn release(
        &mut self,
        terms: &Terms,
        now: Instant,
        outlet: &mut Outlet<T>,
    ) -> Option<Instant> {
        let lag = self.pace.lag(terms);
        while lag > Duration::ZERO
            && let Some((number, nominal)) = self.line.first()
        {
            let next = self.next.unwrap_or(number);
            let gap = if number > next { self.gaps.waiting(next) } else { None };
            let wait_ends = gap.map(|opened| opened.min(nominal) + terms.hold);
            let due = wait_ends.unwrap_or_default().max(nominal + lag);
            // Small beside the lag, which is hardly more than what the late packets need.
            if due > now + QUANTUM.min(lag / 32) {
                return Some(due);
            }
            self.release_first_in_line(now, outlet);
        }
        self.leave_line(now, outlet);
        loop {
            let (&Place { number, .. }, first) = self.held.first_key_value()?;
            let next = self.next.unwrap_or(number);
            if number > next {
                // A gap for which the wait has ended needs no other.
                if let Some(opened) = self.gaps.waiting(next)
                    && let deadline = opened.min(first.nominal) + terms.hold
                    && deadline > now
                {
                    return Some(deadline);
                }
                outlet.counters.given_up += self.gaps.give_up(next, number, now);
                self.next = Some(number);
                self.pace.restart(first.nominal, now);
            } else if first.is_paced
                && let Some(due) = self.pace.wait(first.nominal, terms, now)
                // Neither this packet nor those behind it wait for longer than a gap.
                && let due = due.min(first.nominal + terms.hold)
                && due > now
            {
                return Some(due);
            }
            self.release_first(terms, now, outlet);
        }
    }

    /// Releases the first of the held packets.
    fn release_first(&mut self, terms: &Terms, now: Instant, outlet: &mut Outlet<T>) {
        let Some((place, held)) = self.held.pop_first() else { return };
        if held.is_paced {
            self.pace.release(held.nominal, terms, now);
        }
        self.next = Some(self.next.unwrap_or(place.number).max(held.end));
        outlet.release(held, now);
    }

    /// Releases the first run, without regard to its pace, or ends the wait for the first gap and releases
    /// the run behind it. Returns the number of packets that go on.
    pub(crate) fn give_up(&mut self, now: Instant, outlet: &mut Outlet<T>) -> usize {
        let before = self.held.len() + self.line.len();
        self.leave_line(now, outlet);
        if let (Some(&Place { number: first, .. }), Some(next)) =
            (self.held.keys().next(), self.next)
        {
            if first > next {
                outlet.counters.given_up += self.gaps.give_up(next, first, now);
                self.next = Some(first);
            }
            while self.next.is_some_and(|next| !self.is_at_gap(next)) {
                self.release_first(&Terms::NONE, now, outlet);
            }
        }
        before - self.held.len()
    }

    /// Ends all waits.
    pub(crate) fn release_all(&mut self, now: Instant, outlet: &mut Outlet<T>) {
        while self.give_up(now, outlet) > 0 {}
        self.pace.catch_up();
    }

    /// Forgets what is too old to matter, and gaps beyond a number of `limit`.
    pub(crate) fn forget(&mut self, limit: usize, now: Instant, path: &mut PathModel) {
        for _ in 0..self.gaps.forget(limit, now) {
            path.lost(now);
        }
    }

    /// Returns the number of gaps that are remembered.
    pub(crate) fn gaps(&self) -> usize {
        self.gaps.len()
    }
}

/// Records in the model of the path what an arrival shows.
fn learn(arrival: Arrival, now: Instant, path: &mut PathModel) {
    match arrival {
        Arrival::InOrder => path.in_order(),
        Arrival::Late { by, found, .. } => {
            path.late(by);
            if found {
                path.found();
            }
        }
        Arrival::Resent => path.lost(now),
        Arrival::Copy => {}
    }
}
