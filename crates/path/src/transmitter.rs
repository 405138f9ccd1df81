//! Sends packets one after the other, at a rate.
//!
//! There are no events: a packet's departure is known the moment it is admitted, because nothing
//! that comes after it can hold it up.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant, Rate};

/// Sends packets in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    /// `None`: infinitely fast.
    rate: Option<Rate>,
    /// When the last packet departs.
    last: Instant,
    /// Departures of the packets that wait or are in service, as far as anybody asked.
    pending: VecDeque<Instant>,
    /// The last packet's size in octets and how long sending it takes: most have the same.
    service: (u32, Duration),
    account: Account,
}

/// What is kept of the packets that wait or are in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Account {
    /// All of them, as of the last packet.
    Exact,
    /// All of them, and some that have departed: these are forgotten when room is needed.
    Lazy,
    /// Nothing.
    None,
}

/// A packet's transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// How long it waited for those before it.
    pub(crate) waited: Duration,
    /// When its last bit leaves.
    pub(crate) departed: Instant,
}

impl Transmitter {
    pub(crate) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            last: Instant::ZERO,
            pending: VecDeque::new(),
            service: (0, Duration::ZERO),
            account: Account::Exact,
        }
    }

    /// The same without an account of the backlog and, unless it is `counted`, of the occupancy.
    pub(crate) fn unwatched(self, counted: bool) -> Self {
        Self { account: if counted { Account::Lazy } else { Account::None }, ..self }
    }

    /// How many packets were there when anybody asked last, and those that came since.
    pub(crate) fn backlog(&self) -> usize {
        self.pending.len()
    }

    /// How many packets have not been sent to their end at `now`, the one in service included.
    #[inline]
    pub(crate) fn occupancy(&mut self, now: Instant) -> usize {
        while self.pending.front().is_some_and(|&departure| departure <= now) {
            self.pending.pop_front();
        }
        self.pending.len()
    }

    /// Whether `limit` packets or more have not been sent to their end at `now`.
    #[inline]
    pub(crate) fn is_full(&mut self, limit: usize, now: Instant) -> bool {
        match self.account {
            Account::None => false,
            Account::Lazy if self.pending.len() < limit.min(self.pending.capacity()) => false,
            _ => self.occupancy(now) >= limit,
        }
    }

    /// When the last packet taken so far departs.
    pub(crate) fn busy_until(&self) -> Instant {
        self.last
    }

    /// Takes a packet of `bytes` octets at `now`.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32, now: Instant) -> Sent {
        let begun = now.max(self.last);
        self.last = begun + self.service_time(bytes);
        if self.account != Account::None && self.last > now {
            self.pending.push_back(self.last);
        }
        Sent { waited: begun.since(now), departed: self.last }
    }

    /// Takes a packet that may be sent again from `ready` on; it does not count as waiting.
    pub(crate) fn resend(&mut self, bytes: u32, ready: Instant) -> Sent {
        let begun = ready.max(self.last);
        self.last = begun + self.service_time(bytes);
        Sent { waited: begun.since(ready), departed: self.last }
    }

    #[inline]
    fn service_time(&mut self, bytes: u32) -> Duration {
        if self.service.0 != bytes {
            let time = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
            self.service = (bytes, time);
        }
        self.service.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// 8 Mbit/s: 1 ms for every 1000 octets.
    fn transmitter() -> Transmitter {
        Transmitter::new(Rate::from_bps(8e6))
    }

    const fn sent(waited: u64, departed: u64) -> Sent {
        Sent { waited: Duration::from_millis(waited), departed: at(departed) }
    }

    #[test]
    fn a_packet_waits_for_those_before_it() {
        let mut line = transmitter();
        assert_eq!(line.send(1000, at(0)), sent(0, 1));
        assert_eq!(line.send(2000, at(0)), sent(1, 3));
        assert_eq!(line.send(1000, at(2)), sent(1, 4));
        assert_eq!(line.send(1000, at(10)), sent(0, 11));
    }

    #[test]
    fn a_packet_counts_until_its_last_bit_has_left() {
        let mut line = transmitter();
        line.send(1000, at(0));
        line.send(1000, at(0));
        assert_eq!(line.occupancy(at(0)), 2);
        assert_eq!(line.occupancy(Instant::from_nanos(999_999)), 2);
        assert_eq!(line.occupancy(at(1)), 1);
        assert_eq!(line.occupancy(at(2)), 0);
    }

    #[test]
    fn who_is_not_watched_is_full_when_it_would_be_otherwise() {
        let (mut exact, mut lazy) = (transmitter(), transmitter().unwatched(true));
        let mut now = 0;
        for n in 0..1000 {
            // 1 ms on average, which is what a packet takes.
            now += [0, 0, 1, 3, 0, 2][n % 6];
            assert_eq!(exact.is_full(5, at(now)), lazy.is_full(5, at(now)), "packet {n}");
            if !exact.is_full(5, at(now)) {
                assert_eq!(exact.send(1000, at(now)), lazy.send(1000, at(now)));
            }
        }
        assert!(lazy.pending.capacity() <= 8, "{}", lazy.pending.capacity());
    }

    #[test]
    fn without_a_rate_packets_depart_at_once() {
        let mut line = Transmitter::new(None);
        assert_eq!(line.send(1000, at(5)), sent(0, 5));
        assert_eq!(line.send(1000, at(5)), sent(0, 5));
        assert_eq!(line.occupancy(at(5)), 0);
    }
}
