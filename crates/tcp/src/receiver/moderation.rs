//! How large the receive window should be: dynamic right-sizing (Fisk and Feng, *Dynamic
//! Right-Sizing in TCP*, 2001), as in Linux's `tcp_rcv_space_adjust` and gVisor's
//! `ModerateRecvBuf`.
//!
//! What the application reads in one round trip is what the peer's congestion window lets through,
//! or less. Twice as much leaves room for a loss to be repaired, and more is added while the rate
//! grows, because a window that is told now is used up one round trip later.

use unruffled_units::{Duration, Instant};

/// The share of a new sample in the smoothed round-trip time, as in Linux.
const GAIN: u64 = 8;
/// Segments of room for small variations of the rate, as in Linux.
const CUSHION: u64 = 16;
/// Segments that an unknown peer sends in its first round trip (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Measures what is read in a round trip, and how long that is. Positions are stream offsets.
#[derive(Clone, Debug)]
pub(crate) struct Moderation {
    mss: u64,
    /// The most that was read in one round trip so far.
    busiest: u64,
    /// The round trip under way: since when, and what had been read.
    begun: Option<(Instant, u64)>,
    /// What had been read at the latest read, if there was one since the last look.
    read_to: Option<u64>,
    /// The minimum that a read of this round trip left behind.
    left: Option<u64>,
    rtt: RoundTrip,
}

impl Moderation {
    pub(crate) fn new(mss: u32) -> Self {
        let mss = u64::from(mss);
        Self {
            mss,
            busiest: INITIAL_WINDOW * mss,
            begun: None,
            read_to: None,
            left: None,
            rtt: RoundTrip::default(),
        }
    }

    pub(crate) fn rtt(&mut self) -> &mut RoundTrip {
        &mut self.rtt
    }

    /// The application read: it has taken all below `taken`, and left `left` octets for later.
    pub(crate) fn on_read(&mut self, taken: u64, left: u64) {
        self.read_to = Some(taken);
        self.left = Some(self.left.map_or(left, |known| known.min(left)));
    }

    /// The buffer that would fit what has been read, if a round trip is over and it brought more
    /// than any before it. To be asked after reads.
    pub(crate) fn verdict(&mut self, now: Instant) -> Option<u64> {
        let taken = self.read_to.take()?;
        let rtt = self.rtt.estimate()?;
        let Some((since, from)) = self.begun else {
            (self.begun, self.left) = (Some((now, taken)), None);
            return None;
        };
        if now.since(since) < rtt {
            return None;
        }
        self.begun = Some((now, taken));
        // Whoever leaves octets lying does not lack a larger window.
        let read = (taken - from).saturating_sub(self.left.take().unwrap_or(0));
        if read <= self.busiest {
            return None;
        }
        let enough = 2 * read + CUSHION * self.mss;
        // No sender more than doubles its rate from one round trip to the next; a reader who rested
        // seems to.
        let more = (read - self.busiest).min(self.busiest);
        let growth = u128::from(enough) * u128::from(more) / u128::from(self.busiest.max(1));
        self.busiest = read;
        Some(enough.saturating_add(2 * growth as u64))
    }
}

/// The round-trip time as a receiver sees it, who may never send.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrip {
    estimate: Option<Duration>,
    /// When a window was told, and where that ended.
    window: Option<(Instant, u64)>,
    /// The echo that was last taken for a sample, and the largest segment so far.
    echo: Option<u32>,
    largest: u32,
}

impl RoundTrip {
    pub(crate) fn estimate(&self) -> Option<Duration> {
        self.estimate
    }

    /// The handshake took so long.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        self.estimate.get_or_insert(rtt);
    }

    /// A segment of `len` octets echoes the timestamp `echo`, which left `ago`. Only the first full
    /// segment of each counts: what is sent late echoes what came long before. A tick's fraction is
    /// not known, so that nothing is learnt from an echo of the same tick.
    pub(crate) fn on_echo(&mut self, echo: u32, ago: Duration, len: u32) {
        self.largest = self.largest.max(len);
        if len < self.largest || self.echo == Some(echo) || ago.as_nanos() == 0 {
            return;
        }
        self.echo = Some(echo);
        let old = self.estimate.unwrap_or(ago).as_nanos();
        let new = old - old / GAIN + ago.as_nanos() / GAIN;
        self.estimate = Some(Duration::from_nanos(new));
    }

    /// All below `next` has arrived, and the window ends at `edge`. Who sends what was not allowed
    /// before has heard of it: a window takes a round trip at the least.
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
    fn slow_start_by_hand() {
        let mut m = moderation(100);
        let mut look = |at: u64, taken: u64| {
            m.on_read(taken, 0);
            m.verdict(ms(at))
        };
        assert_eq!(look(0, 0), None);
        assert_eq!(look(100, 10_000), None, "no more than an initial window");
        assert_eq!(look(199, 29_000), None, "the round trip is not over");
        // 2 * 20 000 + 16 * 1000, and twice that again, for the rate has doubled.
        assert_eq!(look(200, 30_000), Some(3 * 56_000));
        assert_eq!(look(300, 70_000), Some(3 * 96_000));
        // By half: 2 * 60 000 + 16 000 = 136 000, and twice a half of that.
        assert_eq!(look(400, 130_000), Some(136_000 + 2 * 68_000));
        assert_eq!(look(500, 190_000), None, "the rate stays");
        assert_eq!(look(600, 193_000), None, "or falls");
        assert_eq!(look(700, 254_000), Some(138_000 + 2 * (138_000 / 60)));
    }

    #[test]
    fn a_reader_who_leaves_octets_behind_needs_no_larger_window() {
        let mut m = moderation(100);
        m.on_read(0, 0);
        m.verdict(ms(0));
        m.on_read(30_000, 25_000);
        assert_eq!(m.verdict(ms(100)), None, "30 000 - 25 000");
        // Between two packets it may come to the end: the minimum counts.
        m.on_read(50_000, 9000);
        m.on_read(59_000, 0);
        m.on_read(60_000, 20_000);
        assert_eq!(m.verdict(ms(200)), Some(3 * 76_000));
    }

    #[test]
    fn a_reader_who_rested_seems_to_read_much_faster_than_before() {
        let mut m = moderation(10);
        m.on_read(0, 0);
        m.verdict(ms(0));
        m.on_read(64_000, 0);
        assert_eq!(m.verdict(ms(1000)), Some(3 * 144_000), "as if the rate had doubled");
    }

    #[test]
    fn without_a_round_trip_time_nothing_is_said() {
        let mut m = Moderation::new(1000);
        m.on_read(1_000_000, 0);
        assert_eq!(m.verdict(ms(1000)), None);
    }

    #[test]
    fn echoes_are_smoothed_and_counted_once() {
        let mut rtt = RoundTrip::default();
        let ago = Duration::from_millis;
        rtt.on_echo(1, ago(80), 1000);
        assert_eq!(rtt.estimate(), Some(ago(80)));
        rtt.on_echo(1, ago(160), 1000);
        rtt.on_echo(2, ago(160), 999);
        rtt.on_echo(3, ago(0), 1000);
        assert_eq!(rtt.estimate(), Some(ago(80)), "the same echo, not full, of the same tick");
        rtt.on_echo(4, ago(160), 1000);
        assert_eq!(rtt.estimate(), Some(ago(90)), "80 * 7/8 + 160 / 8");
    }

    #[test]
    fn a_window_takes_a_round_trip_at_the_least() {
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
