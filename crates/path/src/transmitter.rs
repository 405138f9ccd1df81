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
    /// The account may be even.
    even: bool,
    /// When the last packet departs of those that had another size.
    mixed_until: Instant,
    /// Packets of this size, if there is one, come without an account of them.
    quick: u32,
    /// No packet of that size is taken when the last one departs later than so long from now.
    span: Duration,
}

/// No packet's.
const NO_SIZE: u32 = u32::MAX;

/// What is kept of the packets that wait or are in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Account {
    /// All of them, as of the last packet.
    Exact,
    /// All of them, and some that have departed: these are forgotten when room is needed.
    Lazy,
    /// Nothing, because all take the same time: when the last departs tells how many there are.
    Even,
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
            even: false,
            mixed_until: Instant::ZERO,
            quick: NO_SIZE,
            span: Duration::MAX,
        }
    }

    /// The same without an account of the backlog and, unless it is `counted`, of the occupancy. To be
    /// asked for before anything is sent; unless it is `even` packets may be [sent again](Self::resend).
    pub(crate) fn unwatched(self, counted: bool, even: bool) -> Self {
        let account = match (counted, even) {
            (false, _) => Account::None,
            (true, true) => Account::Even,
            (true, false) => Account::Lazy,
        };
        Self { account, even, ..self }
    }

    /// How many packets were there when anybody asked last, and those that came since.
    pub(crate) fn backlog(&self) -> usize {
        self.pending.len()
    }

    /// What [`Self::admit`] does with a packet of the usual size that it lets in, and `delay` later; none,
    /// and nothing is changed, where that is not all.
    #[inline(always)]
    pub(crate) fn admit_quickly(
        &mut self,
        bytes: u32,
        now: Instant,
        delay: Duration,
    ) -> Option<Instant> {
        let begun = now.max(self.last);
        if self.quick != bytes || begun.since(now) > self.span {
            return None;
        }
        // A check is less than what a sum that saturates takes.
        let departed = begun.checked_add(self.service.1)?;
        let arrival = departed.checked_add(delay)?;
        self.last = departed;
        Some(arrival)
    }

    /// Takes a packet of `bytes` octets at `now` unless `limit` are there, and gives when its last bit
    /// leaves.
    pub(crate) fn admit(&mut self, bytes: u32, limit: usize, now: Instant) -> Option<Instant> {
        if self.even && self.mixed_until <= now && self.account == Account::Lazy {
            self.pending.clear();
            self.account = Account::Even;
        }
        if self.is_full(limit, now) {
            return None;
        }
        let departed = self.send(bytes, now).departed;
        self.quick = match self.account {
            Account::Even | Account::None => bytes,
            Account::Exact | Account::Lazy => NO_SIZE,
        };
        self.span = match self.account {
            Account::Even => self.longest_wait(limit),
            _ => Duration::MAX,
        };
        Some(departed)
    }

    /// How many packets have not been sent to their end at `now`, the one in service included.
    #[inline]
    pub(crate) fn occupancy(&mut self, now: Instant) -> usize {
        if self.account == Account::Even {
            return self.last.since(now).as_nanos().div_ceil(self.service.1.as_nanos().max(1))
                as usize;
        }
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
            Account::Even => self.last.since(now) > self.longest_wait(limit),
            Account::Lazy if self.pending.len() < limit.min(self.pending.capacity()) => false,
            _ => self.occupancy(now) >= limit,
        }
    }

    /// How long those of an even account take to be sent if one more is as many as `limit`.
    fn longest_wait(&self, limit: usize) -> Duration {
        self.service.1 * (limit as u64).saturating_sub(1)
    }

    /// When the last packet taken so far departs.
    pub(crate) fn busy_until(&self) -> Instant {
        self.last
    }

    /// Takes a packet of `bytes` octets at `now`.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32, now: Instant) -> Sent {
        let sent = self.resend(bytes, now);
        if matches!(self.account, Account::Exact | Account::Lazy) && sent.departed > now {
            self.pending.push_back(sent.departed);
        }
        sent
    }

    /// Takes a packet that may be sent again from `ready` on; it does not count as waiting.
    pub(crate) fn resend(&mut self, bytes: u32, ready: Instant) -> Sent {
        if self.service.0 != bytes {
            self.serve(bytes, ready);
        }
        let begun = ready.max(self.last);
        self.last = begun + self.service.1;
        Sent { waited: begun.since(ready), departed: self.last }
    }

    /// The next packet, which comes at `now`, has another size than the one before it.
    #[inline(never)]
    fn serve(&mut self, bytes: u32, now: Instant) {
        (self.quick, self.mixed_until) = (NO_SIZE, self.last);
        if self.account == Account::Even && self.last > now {
            self.account = Account::Lazy;
            let mut departure = self.last;
            while departure > now {
                self.pending.push_front(departure);
                departure = departure - self.service.1;
            }
        }
        let time = self.rate.map_or(Duration::ZERO, |rate| rate.time_for(bytes));
        self.service = (bytes, time);
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

    fn admitted(line: &mut Transmitter, size: u32, now: Instant) -> Option<Instant> {
        line.admit_quickly(size, now, Duration::ZERO).or_else(|| line.admit(size, 5, now))
    }

    #[test]
    fn who_is_not_watched_is_full_when_it_would_be_otherwise() {
        for (even, mixed) in [(false, false), (true, false), (false, true), (true, true)] {
            let (mut exact, mut other) = (transmitter(), transmitter().unwatched(true, even));
            let (mut now, mut accounts) = (0, Vec::new());
            for n in 0..1000 {
                // 1 ms on average, which is what a packet takes; where they are mixed, some take half of
                // that or double.
                now += [0, 0, 1, 3, 0, 2][n % 6];
                let size = if mixed && n % 100 < 20 { [500, 2000, 1000][n % 3] } else { 1000 };
                let full = exact.is_full(5, at(now));
                let expected = (!full).then(|| exact.send(size, at(now)).departed);
                assert_eq!(admitted(&mut other, size, at(now)), expected, "packet {n}");
                assert_eq!(
                    exact.occupancy(at(now)),
                    other.clone().occupancy(at(now)),
                    "packet {n}"
                );
                accounts.push(other.account);
            }
            assert!(other.pending.capacity() <= 8, "{}", other.pending.capacity());
            accounts.dedup();
            match (even, mixed) {
                (false, _) => assert_eq!(accounts, [Account::Lazy]),
                (true, false) => assert_eq!(accounts, [Account::Even]),
                (true, true) => assert!(accounts.len() > 3, "{accounts:?}"),
            }
        }
    }

    #[test]
    fn without_a_rate_packets_depart_at_once() {
        let mut line = Transmitter::new(None);
        assert_eq!(line.send(1000, at(5)), sent(0, 5));
        assert_eq!(line.send(1000, at(5)), sent(0, 5));
        assert_eq!(line.occupancy(at(5)), 0);
    }
}
