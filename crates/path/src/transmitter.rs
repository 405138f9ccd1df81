//! Transmission of packets one after the other, at a rate.
//!
//! There are no events. The departure of a packet is known when it is admitted, because later packets
//! do not delay it.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant, Rate};

use crate::varying::Course;

/// Transmitter that sends packets in the order in which they arrive.
#[derive(Clone, Debug)]
pub(crate) struct Transmitter {
    /// `None` for an unlimited rate.
    rate: Option<Rate>,
    /// Course of a rate that is not constant.
    course: Option<Box<Course>>,
    /// Departure of the last packet.
    last: Instant,
    /// Departures of the packets that wait or are in service, as of the last time that they were
    /// counted.
    pending: VecDeque<Instant>,
    /// Size of the last packet in octets, and the time that its transmission takes. Most packets have
    /// the same size. While the rate varies, the size is [`NO_SIZE`].
    service: (u32, Duration),
    tracking: Tracking,
    /// Whether the tracking may be [`Tracking::Uniform`].
    allows_uniform: bool,
    /// Departure of the last packet of a different size.
    mixed_until: Instant,
    /// Packet size in octets for which [`admit_quickly`](Self::admit_quickly) applies, or [`NO_SIZE`].
    quick_size: u32,
    /// Longest wait for which it applies.
    quick_wait: Duration,
}

/// A size that no packet has.
const NO_SIZE: u32 = u32::MAX;

/// Record of the packets that wait or are in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tracking {
    /// The departures of all these packets, as of the last arrival.
    Exact,
    /// The departures of all these packets, and of some that have departed. Those are removed when room is
    /// needed.
    Lazy,
    /// No departures. All transmissions take the same time, so the last departure shows their number.
    Uniform,
    /// No departures.
    None,
}

/// Transmission of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transmission {
    /// Time that the packet waited for those before it.
    pub(crate) waited: Duration,
    /// Departure of its last bit.
    pub(crate) departed: Instant,
}

impl Transmitter {
    pub(crate) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            course: None,
            last: Instant::ZERO,
            pending: VecDeque::new(),
            service: (0, Duration::ZERO),
            tracking: Tracking::Exact,
            allows_uniform: false,
            mixed_until: Instant::ZERO,
            quick_size: NO_SIZE,
            quick_wait: Duration::MAX,
        }
    }

    /// Lets the rate take a course. Must be called before the first packet.
    pub(crate) fn with_course(self, course: Option<Course>) -> Self {
        let service = if course.is_some() { (NO_SIZE, Duration::ZERO) } else { self.service };
        Self { course: course.map(Box::new), service, ..self }
    }

    /// Stops recording the backlog and, unless it is `counted`, the occupancy. Must be called before the
    /// first packet.
    ///
    /// `allows_uniform` must be false if packets may be [resent](Self::resend), or if the rate varies.
    pub(crate) fn without_backlog(self, counted: bool, allows_uniform: bool) -> Self {
        let tracking = match (counted, allows_uniform) {
            (false, _) => Tracking::None,
            (true, true) => Tracking::Uniform,
            (true, false) => Tracking::Lazy,
        };
        Self { tracking, allows_uniform, ..self }
    }

    /// Returns the number of packets that were there at the last count, and of those sent since.
    pub(crate) fn backlog(&self) -> usize {
        self.pending.len()
    }

    /// Admits a packet of the usual size like [`admit`](Self::admit), and returns its departure plus `delay`.
    ///
    /// Returns `None`, without any change, if the size is another, the queue may be full, or a time would
    /// overflow.
    #[inline(always)]
    pub(crate) fn admit_quickly(
        &mut self,
        bytes: u32,
        now: Instant,
        delay: Duration,
    ) -> Option<Instant> {
        let begun = now.max(self.last);
        if self.quick_size != bytes || begun.since(now) > self.quick_wait {
            return None;
        }
        // A check is cheaper than a saturating sum.
        let departed = begun.checked_add(self.service.1)?;
        let arrival = departed.checked_add(delay)?;
        self.last = departed;
        Some(arrival)
    }

    /// Admits a packet of `bytes` octets at `now` unless `limit` packets are there; returns its departure.
    pub(crate) fn admit(&mut self, bytes: u32, limit: usize, now: Instant) -> Option<Instant> {
        self.forget_sizes(now);
        if self.is_full(limit, now) {
            return None;
        }
        let departed = self.send(bytes, now).departed;
        self.expect_size(bytes, limit);
        Some(departed)
    }

    /// Stops recording departures if all packets that have not departed at `now` have the same size again.
    pub(crate) fn forget_sizes(&mut self, now: Instant) {
        let is_uniform = self.allows_uniform && self.mixed_until <= now;
        if is_uniform && self.tracking == Tracking::Lazy {
            self.pending.clear();
            self.tracking = Tracking::Uniform;
        }
    }

    /// Prepares [`admit_quickly`](Self::admit_quickly) for packets of `bytes` octets, the size of the last one,
    /// where the queue holds `limit` packets.
    pub(crate) fn expect_size(&mut self, bytes: u32, limit: usize) {
        if self.service.0 != bytes {
            return;
        }
        self.quick_size = match self.tracking {
            Tracking::Uniform | Tracking::None => bytes,
            Tracking::Exact | Tracking::Lazy => NO_SIZE,
        };
        self.quick_wait = match self.tracking {
            Tracking::Uniform => self.longest_wait(limit),
            _ => Duration::MAX,
        };
    }

    /// Returns the number of packets whose transmission has not ended at `now`, the one in service
    /// included.
    #[inline]
    pub(crate) fn occupancy(&mut self, now: Instant) -> usize {
        if self.tracking == Tracking::Uniform {
            return self.last.since(now).as_nanos().div_ceil(self.service.1.as_nanos().max(1))
                as usize;
        }
        while self.pending.front().is_some_and(|&departure| departure <= now) {
            self.pending.pop_front();
        }
        self.pending.len()
    }

    /// Returns whether the transmission of at least `limit` packets has not ended at `now`.
    #[inline]
    pub(crate) fn is_full(&mut self, limit: usize, now: Instant) -> bool {
        match self.tracking {
            Tracking::None => false,
            Tracking::Uniform => self.last.since(now) > self.longest_wait(limit),
            Tracking::Lazy if self.pending.len() < limit.min(self.pending.capacity()) => false,
            _ => self.occupancy(now) >= limit,
        }
    }

    /// Returns the time that `limit - 1` packets of the same size take.
    fn longest_wait(&self, limit: usize) -> Duration {
        self.service.1 * (limit as u64).saturating_sub(1)
    }

    /// Returns the departure of the last packet.
    pub(crate) fn busy_until(&self) -> Instant {
        self.last
    }

    /// Sends a packet of `bytes` octets that arrives at `now`.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32, now: Instant) -> Transmission {
        let sent = self.resend(bytes, now);
        if matches!(self.tracking, Tracking::Exact | Tracking::Lazy) && sent.departed > now {
            self.pending.push_back(sent.departed);
        }
        sent
    }

    /// Sends a packet that may be resent from `ready` on; it does not count as waiting.
    pub(crate) fn resend(&mut self, bytes: u32, ready: Instant) -> Transmission {
        if self.service.0 != bytes {
            self.change_size(bytes, ready);
        }
        let begun = ready.max(self.last);
        self.last = begun + self.service.1;
        Transmission { waited: begun.since(ready), departed: self.last }
    }

    /// Prepares for the next packet, which arrives at `now` and has another size than the one before, or any
    /// size if the rate varies.
    #[inline(never)]
    fn change_size(&mut self, bytes: u32, now: Instant) {
        if let Some(course) = &mut self.course {
            let begun = now.max(self.last);
            self.service.1 = course.end_of_transmission(bytes, begun).since(begun);
            return;
        }
        self.quick_size = NO_SIZE;
        self.mixed_until = self.last;
        if self.tracking == Tracking::Uniform && self.last > now {
            self.tracking = Tracking::Lazy;
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

    /// Returns a transmitter of 8 Mbit/s, which sends 1000 octets in 1 ms.
    fn transmitter() -> Transmitter {
        Transmitter::new(Rate::from_bps(8e6))
    }

    const fn sent(waited: u64, departed: u64) -> Transmission {
        Transmission { waited: Duration::from_millis(waited), departed: at(departed) }
    }

    #[test]
    fn a_packet_waits_for_those_before_it() {
        let mut transmitter = transmitter();
        assert_eq!(transmitter.send(1000, at(0)), sent(0, 1));
        assert_eq!(transmitter.send(2000, at(0)), sent(1, 3));
        assert_eq!(transmitter.send(1000, at(2)), sent(1, 4));
        assert_eq!(transmitter.send(1000, at(10)), sent(0, 11));
    }

    #[test]
    fn a_packet_counts_until_its_last_bit_has_left() {
        let mut transmitter = transmitter();
        transmitter.send(1000, at(0));
        transmitter.send(1000, at(0));
        assert_eq!(transmitter.occupancy(at(0)), 2);
        assert_eq!(transmitter.occupancy(Instant::from_nanos(999_999)), 2);
        assert_eq!(transmitter.occupancy(at(1)), 1);
        assert_eq!(transmitter.occupancy(at(2)), 0);
    }

    fn admitted(transmitter: &mut Transmitter, size: u32, now: Instant) -> Option<Instant> {
        transmitter
            .admit_quickly(size, now, Duration::ZERO)
            .or_else(|| transmitter.admit(size, 5, now))
    }

    #[test]
    fn every_kind_of_tracking_admits_the_same_packets() {
        for (uniform, mixed) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut exact = transmitter();
            let mut other = transmitter().without_backlog(true, uniform);
            let mut now = 0;
            let mut tracking = Vec::new();
            for n in 0..1000 {
                // Packets arrive every 1 ms on average, which is also the time that most take. If sizes
                // are mixed, some packets take half or twice that time.
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
                tracking.push(other.tracking);
            }
            assert!(other.pending.capacity() <= 8, "{}", other.pending.capacity());
            tracking.dedup();
            match (uniform, mixed) {
                (false, _) => assert_eq!(tracking, [Tracking::Lazy]),
                (true, false) => assert_eq!(tracking, [Tracking::Uniform]),
                (true, true) => assert!(tracking.len() > 3, "{tracking:?}"),
            }
        }
    }

    #[test]
    fn without_a_rate_packets_depart_at_once() {
        let mut transmitter = Transmitter::new(None);
        assert_eq!(transmitter.send(1000, at(5)), sent(0, 5));
        assert_eq!(transmitter.send(1000, at(5)), sent(0, 5));
        assert_eq!(transmitter.occupancy(at(5)), 0);
    }
}
