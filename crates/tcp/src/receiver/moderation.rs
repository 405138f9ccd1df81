//! Receive window moderation: dynamic right-sizing (Fisk and Feng, *Dynamic Right-Sizing in TCP*,
//! 2001), as in Linux's `tcp_rcv_space_adjust` and gVisor's `ModerateRecvBuf`.
//!
//! The amount that the application reads in one round trip is at most the peer's congestion window.
//! A window of twice that amount leaves room for the repair of a loss. More is added while the rate
//! grows, because a window advertised now is used up one round trip later.

use unruffled_units::{Duration, Instant};

/// Inverse of the weight of a new sample in the smoothed round-trip time, as in Linux.
const SMOOTHING: u64 = 8;
/// Extra room in segments for small variations of the rate, as in Linux.
const MARGIN_SEGMENTS: u64 = 16;
/// Segments that a peer sends in its first round trip (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Measures how much is read per round trip, and the round-trip time. Positions are stream offsets.
#[derive(Clone, Debug)]
pub(crate) struct Moderation {
    mss: u64,
    /// Largest amount read in one round trip so far, in octets.
    max_read: u64,
    /// Start of the present round trip, and the offset read up to then; the maximum without one.
    round_trip: (Instant, u64),
    /// Offset read up to, if there was a read since the last decision; otherwise the maximum, as an
    /// `Option` would take another word.
    read_to: u64,
    /// Smallest number of unread octets after a read in this round trip; the maximum without a read.
    min_unread: u64,
    rtt: RoundTrip,
}

impl Moderation {
    pub(crate) fn new(mss: u32) -> Self {
        let mss = u64::from(mss);
        Self {
            mss,
            max_read: INITIAL_WINDOW * mss,
            round_trip: (Instant::MAX, 0),
            read_to: u64::MAX,
            min_unread: u64::MAX,
            rtt: RoundTrip::default(),
        }
    }

    pub(crate) fn rtt(&mut self) -> &mut RoundTrip {
        &mut self.rtt
    }

    /// Called when the application has read up to `taken`, and left `unread` octets.
    pub(crate) fn on_read(&mut self, taken: u64, unread: u64) {
        self.read_to = taken;
        self.min_unread = self.min_unread.min(unread);
    }

    /// Returns the buffer size that fits the rate of reading, if a round trip has ended and more
    /// was read in it than in any before. Call it after reads.
    pub(crate) fn next_size(&mut self, now: Instant) -> Option<u64> {
        let taken = std::mem::replace(&mut self.read_to, u64::MAX);
        if taken == u64::MAX {
            return None;
        }
        let rtt = self.rtt.estimate()?;
        let (since, from) = self.round_trip;
        if since == Instant::MAX {
            self.round_trip = (now, taken);
            self.min_unread = u64::MAX;
            return None;
        }
        if now.since(since) < rtt {
            return None;
        }
        self.round_trip = (now, taken);
        // An application that leaves octets unread does not need a larger window.
        let unread = std::mem::replace(&mut self.min_unread, u64::MAX);
        let unread = if unread == u64::MAX { 0 } else { unread };
        let read = (taken - from).saturating_sub(unread);
        if read <= self.max_read {
            return None;
        }
        let enough = 2 * read + MARGIN_SEGMENTS * self.mss;
        // No sender more than doubles its rate from one round trip to the next. An application that
        // paused only appears to.
        let more = (read - self.max_read).min(self.max_read);
        let growth = u128::from(enough) * u128::from(more) / u128::from(self.max_read.max(1));
        self.max_read = read;
        Some(enough.saturating_add(2 * growth as u64))
    }
}

/// Estimates the round-trip time at a receiver, which may never send data.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrip {
    estimate: Option<Duration>,
    /// Time at which a window was advertised, and its edge.
    window: Option<(Instant, u64)>,
    /// Echo of the last sample, and the largest segment so far.
    echo: Option<u32>,
    largest: u32,
}

impl RoundTrip {
    pub(crate) fn estimate(&self) -> Option<Duration> {
        self.estimate
    }

    /// Called with the duration of the handshake.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        self.estimate.get_or_insert(rtt);
    }

    /// Called when a segment of `len` octets echoes the timestamp `echo`, which was sent `ago`.
    /// Only the first full segment with each echo counts, because data sent later echoes a
    /// timestamp that arrived long before. An echo of the present tick gives no sample, because
    /// fractions of a tick are not known.
    pub(crate) fn on_echo(&mut self, echo: u32, ago: Duration, len: u32) {
        self.largest = self.largest.max(len);
        if len < self.largest || self.echo == Some(echo) || ago.as_nanos() == 0 {
            return;
        }
        self.echo = Some(echo);
        let old = self.estimate.unwrap_or(ago).as_nanos();
        let new = old - old / SMOOTHING + ago.as_nanos() / SMOOTHING;
        self.estimate = Some(Duration::from_nanos(new));
    }

    /// Called when everything below `next` has arrived and the window ends at `edge`. A peer that
    /// sends beyond the previous edge has received a newer window, so at least one round trip has
    /// passed.
    pub(crate) fn on_arrival(&mut self, next: u64, edge: u64, now: Instant) {
        match self.window {
            Some((_, end)) if next < end => return,
            Some((since, _)) if now > since => {
                let took = now.since(since);
                self.estimate = Some(self.estimate.map_or(took, |known| known.min(took)));
            }
            _ => {}
        }
        self.window = Some((now, edge));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::from_millis(n)
    }

    fn moderation(rtt: u64) -> Moderation {
        let mut m = Moderation::new(1000);
        m.rtt().on_handshake(Duration::from_millis(rtt));
        m
    }

    #[test]
    fn the_window_grows_by_hand_computed_steps_in_slow_start() {
        let mut m = moderation(100);
        let mut decide = |at: u64, taken: u64| {
            m.on_read(taken, 0);
            m.next_size(ms(at))
        };
        assert_eq!(decide(0, 0), None);
        assert_eq!(decide(100, 10_000), None, "no more than an initial window");
        assert_eq!(decide(199, 29_000), None, "the round trip is not over");
        // 2 * 20 000 + 16 * 1000, and twice that again, because the rate has doubled.
        assert_eq!(decide(200, 30_000), Some(3 * 56_000));
        assert_eq!(decide(300, 70_000), Some(3 * 96_000));
        // The rate grew by half: 2 * 60 000 + 16 000 = 136 000, and twice half of that.
        assert_eq!(decide(400, 130_000), Some(136_000 + 2 * 68_000));
        assert_eq!(decide(500, 190_000), None, "the rate is constant");
        assert_eq!(decide(600, 193_000), None, "the rate falls");
        assert_eq!(decide(700, 254_000), Some(138_000 + 2 * (138_000 / 60)));
    }

    #[test]
    fn an_application_that_leaves_octets_unread_needs_no_larger_window() {
        let mut m = moderation(100);
        m.on_read(0, 0);
        m.next_size(ms(0));
        m.on_read(30_000, 25_000);
        assert_eq!(m.next_size(ms(100)), None, "30 000 - 25 000");
        // Between two packets the application may read everything: the minimum counts.
        m.on_read(50_000, 9000);
        m.on_read(59_000, 0);
        m.on_read(60_000, 20_000);
        assert_eq!(m.next_size(ms(200)), Some(3 * 76_000));
    }

    #[test]
    fn an_application_that_paused_counts_as_at_most_twice_as_fast() {
        let mut m = moderation(10);
        m.on_read(0, 0);
        m.next_size(ms(0));
        m.on_read(64_000, 0);
        assert_eq!(m.next_size(ms(1000)), Some(3 * 144_000), "as if the rate had doubled");
    }

    #[test]
    fn without_a_round_trip_time_the_window_does_not_grow() {
        let mut m = Moderation::new(1000);
        m.on_read(1_000_000, 0);
        assert_eq!(m.next_size(ms(1000)), None);
    }

    #[test]
    fn echoes_are_smoothed_and_count_once() {
        let mut rtt = RoundTrip::default();
        let ago = Duration::from_millis;
        rtt.on_echo(1, ago(80), 1000);
        assert_eq!(rtt.estimate(), Some(ago(80)));
        rtt.on_echo(1, ago(160), 1000);
        rtt.on_echo(2, ago(160), 999);
        rtt.on_echo(3, ago(0), 1000);
        assert_eq!(
            rtt.estimate(),
            Some(ago(80)),
            "a repeated echo, a short segment, the same tick"
        );
        rtt.on_echo(4, ago(160), 1000);
        assert_eq!(rtt.estimate(), Some(ago(90)), "80 * 7/8 + 160 / 8");
    }

    #[test]
    fn using_up_a_window_takes_at_least_a_round_trip() {
        let mut rtt = RoundTrip::default();
        rtt.on_arrival(1000, 65_000, ms(0));
        rtt.on_arrival(64_999, 128_000, ms(70));
        assert_eq!(rtt.estimate(), None);
        rtt.on_arrival(65_000, 129_000, ms(80));
        assert_eq!(rtt.estimate(), Some(Duration::from_millis(80)));
        rtt.on_arrival(129_000, 190_000, ms(180));
        assert_eq!(rtt.estimate(), Some(Duration::from_millis(80)), "it took longer");
        rtt.on_arrival(190_000, 250_000, ms(220));
        assert_eq!(rtt.estimate(), Some(Duration::from_millis(40)));
    }
}
