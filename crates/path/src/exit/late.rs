//! Packets that wait at the far end of a link until later ones have overtaken them.

use std::collections::{BTreeSet, VecDeque};

use unruffled_units::{Duration, Instant};

use super::Arrival;
use super::countdown::{Countdowns, Key};

/// Packets that wait until a number of later packets have overtaken them.
#[derive(Clone, Debug)]
pub(super) struct Late<T> {
    /// Maximum wait.
    at_most: Duration,
    /// The packets by their numbers, with the number of packets that have not yet overtaken each.
    waiting: Countdowns<(Arrival, T)>,
    /// Ends of the waits in ascending order, even if too few packets have overtaken a packet. The first belongs
    /// to a packet that waits; others may belong to packets that have left.
    ends: VecDeque<(Instant, Key)>,
}

impl<T> Late<T> {
    pub(super) fn new(at_most: Duration) -> Self {
        Self { at_most, waiting: Countdowns::new(), ends: VecDeque::new() }
    }

    /// Receives a packet at `now`. Appends the packets that leave because of it to `leaving`.
    pub(super) fn handle(
        &mut self,
        arrival: Arrival,
        packet: T,
        now: Instant,
        leaving: &mut Vec<(Arrival, T)>,
    ) {
        if arrival.late_by == 0 {
            return self.leave((arrival, packet), leaving);
        }
        let key = self.waiting.insert(arrival.number, arrival.late_by, (arrival, packet));
        self.ends.push_back((now + self.at_most, key));
    }

    /// Returns the next end of a wait.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.ends.front().map(|(until, _)| *until)
    }

    /// Appends the packets whose waits end by `now` to `leaving`, in the order of their numbers.
    pub(super) fn handle_timeout(&mut self, now: Instant, leaving: &mut Vec<(Arrival, T)>) {
        let mut ended = BTreeSet::new();
        while let Some(&(until, key)) = self.ends.front()
            && until <= now
        {
            ended.insert(key);
            self.ends.pop_front();
        }
        for key in ended {
            if let Some(packet) = self.waiting.remove(key) {
                self.leave(packet, leaving);
            }
        }
        self.forget_left();
    }

    /// Lets a packet leave, and then those that have been overtaken often enough.
    fn leave(&mut self, packet: (Arrival, T), leaving: &mut Vec<(Arrival, T)>) {
        let mut next = Some(packet);
        while let Some(packet) = next {
            self.waiting.count_down_below(packet.0.number);
            leaving.push(packet);
            next = self.waiting.take_over();
        }
        self.forget_left();
    }

    /// Removes the ends of waits before the first of a packet that waits.
    fn forget_left(&mut self) {
        while self.ends.front().is_some_and(|(_, key)| !self.waiting.contains(*key)) {
            self.ends.pop_front();
        }
    }
}
