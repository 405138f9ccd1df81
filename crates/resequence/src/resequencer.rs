//! The core.

use std::collections::VecDeque;

use unruffled_units::Instant;

use crate::{Config, Counters, Load, Packet, PathState};

/// Holds packets until they are in order.
///
/// `T` stands for a packet: what [`handle`](Self::handle) takes comes out of
/// [`poll_release`](Self::poll_release) exactly once.
#[derive(Debug)]
pub struct Resequencer<T> {
    counters: Counters,
    released: VecDeque<T>,
}

impl<T> Resequencer<T> {
    /// Creates a resequencer that knows nothing of any path.
    pub fn new(config: Config) -> Self {
        let _ = config;
        Self { counters: Counters::default(), released: VecDeque::new() }
    }

    /// Takes a packet that arrived at `now`. Times never decrease from one call to the next.
    pub fn handle(&mut self, packet: &Packet, token: T, now: Instant) {
        let _ = (packet, now);
        self.counters.packets += 1;
        self.released.push_back(token);
    }

    /// Ends the waits that are over at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// Returns when [`handle_timeout`](Self::handle_timeout) must be called next, if anything is held.
    pub fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Returns the next packet that goes on.
    pub fn poll_release(&mut self) -> Option<T> {
        self.released.pop_front()
    }

    /// Ends all waits. All that is held goes on, each flow in order.
    pub fn release_all(&mut self, now: Instant) {
        let _ = now;
    }

    /// Returns the counts since the start.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Returns what is held now.
    pub fn load(&self) -> Load {
        Load::default()
    }

    /// Returns the state of each path, those with the longest hold first.
    pub fn paths(&self) -> Vec<PathState> {
        Vec::new()
    }
}
