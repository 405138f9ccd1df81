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

/// Rate at which a run of packets goes on after a gap, as a multiple of the rate at which they arrived. At
/// once, they would cause as many acknowledgements at once, and these a burst of the sender that overflows
/// the queue of the path.
const CATCH_UP: f64 = 1.25;

/// Time by which packets of a run may go on early, so that a fast run takes no timer for each.
const QUANTUM: Duration = Duration::from_millis(1);

/// Where numbers begin, so that none is negative.
const BASE: u64 = 1 << 40;

/// What flows share: the packets that go on, and the counts.
#[derive(Debug)]
pub(crate) struct Outlet<T> {
    pub(crate) released: VecDeque<T>,
    pub(crate) counters: Counters,
    pub(crate) load: Load,
    /// Number of the gaps of all flows.
    pub(crate) gaps: usize,
}

/// A packet that waits.
#[derive(Debug)]
struct Held<T> {
    token: T,
    end: u64,
    arrived: Instant,
    /// Earliest arrival of this packet and those behind it.
    earliest: Instant,
    /// Arrival, or that of the first packet that overtook it, which does not decrease along the numbers;
    /// `None` for a packet that was sent again, which keeps no pace.
    nominal: Option<Instant>,
    timestamp: Option<u32>,
    octets: u32,
}

/// Place of a held packet: it goes on when all numbers below have gone on, packets that were sent again before
/// others, and else in the order of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    number: u64,
    is_first_transmission: bool,
    serial: u64,
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
    /// Number of packets that were ever held.
    serial: u64,
    gaps: Gaps,
    /// Number of its gaps in the count of all.
    counted_gaps: usize,
    /// First number after the latest SYN.
    initial: Option<u32>,
    /// Arrival of the latest SYN, until another packet arrives.
    opened: Option<Instant>,
    /// Time at which its first wait ends, as it is in the table of all waits.
    pub(crate) deadline: Option<Instant>,
    /// One more than the last number of a packet that was too far away.
    stray: Option<u64>,
    /// Whether no data have arrived since the SYN.
    is_new: bool,
    /// Latest TSval that has arrived.
    latest_sent: Option<u32>,
    /// Pace of the run that goes on, while one does.
    pace: Option<Pace>,
}

/// The last packet of a run that went on, from which the time of the next follows.
#[derive(Clone, Copy, Debug)]
struct Pace {
    released: Instant,
    nominal: Instant,
}

impl Pace {
    /// Returns when a packet goes on. Packets keep the spacing with which they arrived, compressed, unless
    /// the flow paused.
    fn due(&self, nominal: Instant, round_trip: Duration) -> Instant {
        let spacing = nominal.since(self.nominal);
        let lag = self.released.since(self.nominal);
        if spacing > (round_trip + lag) * 2 {
            return nominal;
        }
        self.released + spacing.mul_f64(1.0 / CATCH_UP)
    }

    /// Returns the pace after a packet that goes on at `released`. The lag does not grow.
    fn after(self, nominal: Instant, released: Instant) -> Self {
        Self { released, nominal: nominal.max(self.nominal) }
    }
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
            counted_gaps: 0,
            initial: None,
            opened: None,
            deadline: None,
            stray: None,
            is_new: false,
            latest_sent: None,
            pace: None,
        }
    }

    /// Begins anew at `next`, on a SYN. A copy of the latest SYN changes nothing.
    pub(crate) fn open(&mut self, next: u32, now: Instant, outlet: &mut Outlet<T>) {
        if self.initial.replace(next) == Some(next) {
            return;
        }
        self.release_all(now, outlet);
        self.begin(u64::from(next));
        self.opened = Some(now);
        self.is_new = true;
        // The sender's clock may begin anew with each connection (RFC 7323, section 5.4).
        self.latest_sent = None;
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
        if std::mem::take(&mut self.is_new) {
            let lag = path.first_lag();
            self.pace = (lag > QUANTUM).then(|| Pace { released: now + lag, nominal: now });
        }
        if let Some(sent) = data.timestamp
            && self.latest_sent.is_none_or(|latest| is_after(sent, latest))
        {
            self.latest_sent = Some(sent);
        }
        let start = self.place(data.number, next);
        let end = start.wrapping_add(u64::from(data.span));
        if self.is_far(start, next) {
            return self.stray(token, &data, end, now, outlet);
        }
        // The common case: nothing is missing.
        if start == next && self.highest == next {
            path.in_order();
            self.highest = end;
            if let Some(pace) = self.pace {
                if pace.due(now, path.known_round_trip()) > now + QUANTUM {
                    let Data { timestamp, octets, .. } = data;
                    let nominal = Some(now);
                    let held = Held {
                        token,
                        end,
                        arrived: now,
                        earliest: now,
                        nominal,
                        timestamp,
                        octets,
                    };
                    return self.hold(start, true, held, outlet);
                }
                self.pace = None;
            }
            self.next = Some(end);
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
        self.learn(arrival, now, path, outlet);
        let next = self.next.unwrap_or(start);
        let nominal = match arrival {
            Arrival::InOrder => Some(now),
            Arrival::Late { by, .. } => Some(now - by),
            Arrival::Resent | Arrival::Copy => None,
        };
        let held = Held { token, end, arrived: now, earliest: now, nominal, timestamp, octets };
        if arrival == Arrival::Resent
            && let Some(sent) = timestamp
            && let Some((number, nominal)) = self.place_in_time(sent, now)
        {
            let held = Held { nominal: Some(nominal), ..held };
            return self.hold(number, false, held, outlet);
        }
        // Below the next number, or the first that is missing.
        if end <= next || (start <= next && self.is_at_gap(next)) {
            outlet.released.push_back(held.token);
            if end > next {
                self.next = Some(end);
                self.pace = nominal.map(|nominal| Pace { released: now, nominal }).or(self.pace);
            }
            return;
        }
        self.hold(start, true, held, outlet);
    }

    /// Holds a packet until all numbers below `number` have gone on.
    fn hold(
        &mut self,
        number: u64,
        is_first_transmission: bool,
        packet: Held<T>,
        outlet: &mut Outlet<T>,
    ) {
        outlet.load.packets += 1;
        outlet.load.octets += u64::from(packet.octets);
        outlet.counters.held += 1;
        self.serial += 1;
        let place = Place { number, is_first_transmission, serial: self.serial };
        let behind = self.held.range(place..).next();
        let earliest = behind.map_or(packet.arrived, |(_, held)| held.earliest.min(packet.arrived));
        self.held.insert(place, Held { earliest, ..packet });
    }

    /// Returns whether no held packet goes on from `next`.
    fn is_at_gap(&self, next: u64) -> bool {
        self.held.first_key_value().is_none_or(|(place, _)| place.number > next)
    }

    /// Records in the model of the path what an arrival shows.
    fn learn(
        &mut self,
        arrival: Arrival,
        now: Instant,
        path: &mut PathModel,
        outlet: &mut Outlet<T>,
    ) {
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
            Arrival::Resent => path.lost(now),
            Arrival::Copy => {}
        }
    }

    /// Returns where among the held packets a packet belongs that was sent again at `sent`, in the order of
    /// sending: its number, and when it would have arrived if it were not late. Returns `None` if packets that
    /// were sent after it have gone on.
    ///
    /// A receiver drops what was sent before the latest data in order (PAWS, RFC 7323, section 5).
    fn place_in_time(&self, sent: u32, now: Instant) -> Option<(u64, Instant)> {
        if self.latest_sent.is_none_or(|latest| !is_after(latest, sent)) {
            return Some((self.highest, now));
        }
        let is_newer = |held: &Held<T>| held.timestamp.is_some_and(|held| is_after(held, sent));
        let (place, held) = self.held.iter().find(|(_, held)| is_newer(held))?;
        Some((place.number, held.nominal.unwrap_or(held.arrived)))
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

    /// Releases the packets that are due, and returns when the next one is due. A gap is waited for until
    /// `hold` after it was opened.
    pub(crate) fn release(
        &mut self,
        hold: Duration,
        round_trip: Duration,
        now: Instant,
        outlet: &mut Outlet<T>,
    ) -> Option<Instant> {
        loop {
            let (&Place { number: start, .. }, first) = self.held.first_key_value()?;
            let next = self.next.unwrap_or(start);
            if start > next {
                // A gap for which the wait has ended needs no other.
                let deadline = self.gaps.waiting(next).map(|since| since + hold);
                if let Some(deadline) = deadline.filter(|&deadline| deadline > now) {
                    return Some(deadline);
                }
                outlet.counters.given_up += self.gaps.give_up(next, start, now);
                self.next = Some(start);
                self.pace = None;
            } else if let (Some(pace), Some(nominal)) = (self.pace, first.nominal) {
                let due = pace.due(nominal, round_trip).min(first.earliest + hold);
                if due > now + QUANTUM {
                    return Some(due);
                }
            }
            self.release_first(round_trip, now, outlet);
        }
    }

    /// Releases the first of the held packets.
    fn release_first(&mut self, round_trip: Duration, now: Instant, outlet: &mut Outlet<T>) {
        let Some((place, held)) = self.held.pop_first() else { return };
        if let Some(nominal) = held.nominal {
            let first = Pace { released: now, nominal };
            self.pace = Some(self.pace.map_or(first, |pace| {
                let due = pace.due(nominal, round_trip).clamp(now - QUANTUM, now + QUANTUM);
                pace.after(nominal, due)
            }));
        }
        let next = self.next.unwrap_or(place.number).max(held.end);
        self.next = Some(next);
        outlet.load.packets -= 1;
        outlet.load.octets -= u64::from(held.octets);
        outlet.counters.held_time += now.since(held.arrived);
        outlet.released.push_back(held.token);
    }

    /// Releases the first run, without regard to its pace, or ends the wait for the first gap and releases
    /// the run behind it. Returns the number of packets that go on.
    pub(crate) fn give_up(&mut self, now: Instant, outlet: &mut Outlet<T>) -> usize {
        let Some((&Place { number: first, .. }, _)) = self.held.first_key_value() else {
            return 0;
        };
        let before = self.held.len();
        if let Some(next) = self.next
            && first > next
        {
            outlet.counters.given_up += self.gaps.give_up(next, first, now);
            self.next = Some(first);
        }
        while self.next.is_some_and(|next| !self.is_at_gap(next)) {
            self.release_first(Duration::ZERO, now, outlet);
        }
        before - self.held.len()
    }

    /// Ends all waits.
    pub(crate) fn release_all(&mut self, now: Instant, outlet: &mut Outlet<T>) {
        while self.give_up(now, outlet) > 0 {}
        self.pace = None;
    }

    /// Forgets what is too old to matter, and counts the gaps that remain.
    pub(crate) fn forget(&mut self, now: Instant, path: &mut PathModel, outlet: &mut Outlet<T>) {
        for _ in 0..self.gaps.forget(now) {
            path.lost(now);
        }
        outlet.gaps = outlet.gaps - self.counted_gaps + self.gaps.len();
        self.counted_gaps = self.gaps.len();
    }

    /// Ends all waits of a flow that is forgotten.
    pub(crate) fn close(mut self, now: Instant, outlet: &mut Outlet<T>) {
        self.release_all(now, outlet);
        outlet.gaps -= self.counted_gaps;
    }
}
