//! Packets that wait at the far end of a link until later ones have overtaken them.

use unruffled_units::{Duration, Instant};

use super::Arrival;

/// Packets that wait until a number of later packets have overtaken them.
#[derive(Clone, Debug)]
pub(super) struct Late<T> {
    /// Maximum wait.
    at_most: Duration,
    /// In ascending order of the packets' numbers.
    waiting: Vec<Waiting<T>>,
}

#[derive(Clone, Debug)]
struct Waiting<T> {
    arrival: Arrival,
    packet: T,
    /// Number of packets that have not yet overtaken it.
    remaining: u32,
    /// End of the wait, even if too few packets have overtaken it.
    until: Instant,
}

impl<T> Late<T> {
    pub(super) fn new(at_most: Duration) -> Self {
        Self { at_most, waiting: Vec::new() }
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
            return self.leave(arrival, packet, leaving);
        }
        let place =
            self.waiting.partition_point(|waiting| waiting.arrival.number <= arrival.number);
        let (remaining, until) = (arrival.late_by, now + self.at_most);
        self.waiting.insert(place, Waiting { arrival, packet, remaining, until });
    }

    /// Returns the next end of a wait.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.iter().map(|waiting| waiting.until).min()
    }

    /// Appends the packets whose waits end by `now` to `leaving`.
    pub(super) fn handle_timeout(&mut self, now: Instant, leaving: &mut Vec<(Arrival, T)>) {
        while let Some(place) = self.waiting.iter().position(|waiting| waiting.until <= now) {
            let Waiting { arrival, packet, .. } = self.waiting.remove(place);
            self.leave(arrival, packet, leaving);
        }
    }

    /// Lets a packet leave, and then those that have been overtaken often enough.
    fn leave(&mut self, arrival: Arrival, packet: T, leaving: &mut Vec<(Arrival, T)>) {
        let mut next = Some((arrival, packet));
        while let Some((arrival, packet)) = next {
            let behind = self.waiting.partition_point(|w| w.arrival.number < arrival.number);
            leaving.push((arrival, packet));
            for waiting in &mut self.waiting[..behind] {
                waiting.remaining = waiting.remaining.saturating_sub(1);
            }
            let place = self.waiting.iter().position(|waiting| waiting.remaining == 0);
            next = place.map(|place| {
                let Waiting { arrival, packet, .. } = self.waiting.remove(place);
                (arrival, packet)
            });
        }
    }
}
