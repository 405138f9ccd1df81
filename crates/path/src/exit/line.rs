//! Line of packets at the far end of a link, which early packets do not join.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use super::Arrival;

/// Packets in line. The first one leaves when the line is longer than `length`, and early packets leave at
/// once, so that an early packet overtakes `length` others.
#[derive(Clone, Debug)]
pub(super) struct Line<T> {
    length: usize,
    /// Maximum wait.
    at_most: Duration,
    waiting: VecDeque<(Instant, Arrival, T)>,
}

impl<T> Line<T> {
    pub(super) fn new(length: u32, at_most: Duration) -> Self {
        Self { length: length as usize, at_most, waiting: VecDeque::new() }
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
            return leaving.push((arrival, packet));
        }
        self.waiting.push_back((now + self.at_most, arrival, packet));
        if self.waiting.len() > self.length {
            leaving.extend(self.waiting.pop_front().map(|(_, arrival, packet)| (arrival, packet)));
        }
    }

    /// Returns the next end of a wait.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.front().map(|(until, ..)| *until)
    }

    /// Appends the packets whose waits end by `now` to `leaving`.
    pub(super) fn handle_timeout(&mut self, now: Instant, leaving: &mut Vec<(Arrival, T)>) {
        while self.waiting.front().is_some_and(|(until, ..)| *until <= now) {
            leaving.extend(self.waiting.pop_front().map(|(_, arrival, packet)| (arrival, packet)));
        }
    }
}
