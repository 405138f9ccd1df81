//! Links whose rate and delay change at given times.

use std::sync::Arc;

use unruffled_units::{Duration, Instant, Rate};

use crate::ConfigError;

/// Rate and propagation delay of a link from some time on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Time since the beginning of the run, or of a period.
    pub at: Duration,
    /// Rate; `None` while the link sends nothing and packets wait.
    pub rate: Option<Rate>,
    /// Propagation delay of the packets whose last bit is sent from now on. Packets may overtake those that
    /// were sent before the delay became shorter.
    pub delay: Duration,
}

/// Table of the rates and delays of a link, such as that of a satellite link with a handover every 15 s.
///
/// ```
/// use unruffled_path::{Change, Changes, Direction, Link, LinkConfig, Varying, Verdict};
/// use unruffled_units::{Duration, Instant, Rate};
///
/// // 1000 octets take 1 ms in the first 15 s of each 30 s, and 2 ms in the second.
/// let ms = Duration::from_millis;
/// let change = |at, bps, delay| Change { at, rate: Rate::from_bps(bps), delay };
/// let rows = vec![change(ms(0), 8e6, ms(20)), change(ms(15_000), 4e6, ms(30))];
/// let changes = Changes::new(rows, Some(ms(30_000)))?;
/// let config = LinkConfig { varying: Some(Varying::Table(changes)), ..LinkConfig::default() };
/// let mut link = Link::new(&config, Direction::Forward, 1)?;
/// let mut offer = |at| link.offer(1000, Direction::Forward, Instant::from_millis(at)).verdict;
/// assert_eq!(offer(10), Verdict::Deliver(Instant::from_millis(31)));
/// assert_eq!(offer(15_010), Verdict::Deliver(Instant::from_millis(15_042)));
/// assert_eq!(offer(30_010), Verdict::Deliver(Instant::from_millis(30_031)));
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    rows: Arc<[Change]>,
    every: Option<Duration>,
    /// Number of bits that the link sends in a period.
    bits: f64,
}

impl Changes {
    /// Creates a table from its rows, which repeat after `every`; without that, the last row stays.
    ///
    /// # Errors
    ///
    /// When there are no rows, when the first does not begin at 0, when times do not increase or reach `every`,
    /// or when packets would wait forever.
    pub fn new(rows: Vec<Change>, every: Option<Duration>) -> Result<Self, ConfigError> {
        let wrong = |field, expected, found: String| Err(ConfigError::new(field, expected, found));
        match rows.first() {
            None => return wrong("at", "at least one time", "none".to_owned()),
            Some(first) if first.at > Duration::ZERO => {
                return wrong("at", "0 s first", first.at.to_string());
            }
            Some(_) => {}
        }
        if let Some(pair) = rows.windows(2).find(|pair| pair[1].at <= pair[0].at) {
            let found = format!("{} after {}", pair[1].at, pair[0].at);
            return wrong("at", "times that increase", found);
        }
        let last = rows[rows.len() - 1];
        if let Some(every) = every.filter(|every| *every <= last.at) {
            return wrong("every", "longer than the last time", every.to_string());
        }
        let sends = match every {
            Some(_) => rows.iter().any(|row| row.rate.is_some()),
            None => last.rate.is_some(),
        };
        if !sends {
            let expected = match every {
                Some(_) => "more than 0 at some time",
                None => "more than 0 in the last row",
            };
            return wrong("rate", expected, "0".to_owned());
        }
        let mut changes = Self { rows: rows.into(), every, bits: 0.0 };
        if let Some(every) = every {
            let bits = |row: usize| changes.bits_between(row, changes.rows[row].at, every);
            changes.bits = (0..changes.rows.len()).map(bits).sum();
        }
        Ok(changes)
    }

    /// Returns the rows.
    pub fn rows(&self) -> &[Change] {
        &self.rows
    }

    /// Returns the time after which the rows repeat.
    pub fn every(&self) -> Option<Duration> {
        self.every
    }

    /// Returns the mean rate over a period, or the last rate of a table that does not repeat.
    pub fn mean_rate(&self) -> Rate {
        let last = self.rows[self.rows.len() - 1].rate;
        let mean = self.every.and_then(|every| Rate::from_bps(self.bits / every.as_secs_f64()));
        mean.or(last).expect("a table sends at some time")
    }

    /// Returns the row in force at `time`, and the time since the beginning of its period.
    fn row_at(&self, time: Instant) -> (usize, Duration) {
        let elapsed = time.since(Instant::ZERO);
        let within = match self.every {
            Some(every) => Duration::from_nanos(elapsed.as_nanos() % every.as_nanos()),
            None => elapsed,
        };
        (self.rows.partition_point(|row| row.at <= within) - 1, within)
    }

    /// Returns the end of a row, in the time of its period.
    fn end_of(&self, row: usize) -> Duration {
        match self.rows.get(row + 1) {
            Some(next) => next.at,
            None => self.every.unwrap_or(Duration::MAX),
        }
    }

    /// Returns the bits that the rate of a row sends between two times.
    fn bits_between(&self, row: usize, from: Duration, to: Duration) -> f64 {
        let until = to.min(self.end_of(row));
        let length = Duration::from_nanos(until.as_nanos().saturating_sub(from.as_nanos()));
        self.rows[row].rate.map_or(0.0, |rate| rate.bps() * length.as_secs_f64())
    }

    /// Returns the propagation delay at `time`.
    pub(crate) fn delay_at(&self, time: Instant) -> Duration {
        self.rows[self.row_at(time).0].delay
    }

    /// Returns whether no packet can overtake those before it.
    pub(crate) fn keeps_order(&self) -> bool {
        let grows = self.rows.windows(2).all(|pair| pair[0].delay <= pair[1].delay);
        let (first, last) = (self.rows[0].delay, self.rows[self.rows.len() - 1].delay);
        grows && (self.every.is_none() || first == last)
    }

    /// Returns the end of a transmission of `bytes` octets that begins at `begun`.
    pub(crate) fn end_of_transmission(&self, bytes: u32, begun: Instant) -> Instant {
        let mut bits = f64::from(bytes) * 8.0;
        let mut now = begun;
        if self.every.is_some() && bits > self.bits {
            let periods = (bits / self.bits).floor();
            bits -= periods * self.bits;
            let every = self.every.unwrap_or_default().as_secs_f64();
            now += Duration::from_secs_f64(periods * every);
        }
        let (mut row, mut within) = self.row_at(now);
        // Rounding may leave less than a bit of a whole period, so two periods are enough.
        for _ in 0..2 * self.rows.len() + 1 {
            let available = self.bits_between(row, within, Duration::MAX);
            if let Some(rate) = self.rows[row].rate
                && bits <= available
            {
                return now + Duration::from_secs_f64(bits / rate.bps());
            }
            bits -= available;
            now += Duration::from_nanos(self.end_of(row).as_nanos() - within.as_nanos());
            row = (row + 1) % self.rows.len();
            within = self.rows[row].at;
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    /// Returns a row: from `at` ms on, 1000 octets take `service` ms (0: nothing is sent).
    fn row(at: u64, service: u64, delay: u64) -> Change {
        let rate = (service > 0).then(|| Rate::from_bps(8e6 / service as f64)).flatten();
        Change { at: ms(at), rate, delay: ms(delay) }
    }

    #[test]
    fn a_transmission_goes_on_at_the_new_rate() {
        let changes = Changes::new(vec![row(0, 10, 5), row(100, 20, 7)], None).unwrap();
        assert_eq!(changes.end_of_transmission(1000, at(50)), at(60));
        assert_eq!(changes.end_of_transmission(1000, at(95)), at(110), "half of it at each rate");
        assert_eq!(changes.end_of_transmission(1000, at(100)), at(120));
        assert_eq!(changes.delay_at(Instant::from_nanos(99_999_999)), ms(5));
        assert_eq!(changes.delay_at(at(100)), ms(7));
    }

    #[test]
    fn packets_wait_while_nothing_is_sent() {
        let rows = vec![row(0, 10, 5), row(100, 0, 5), row(130, 10, 5)];
        let changes = Changes::new(rows, Some(ms(200))).unwrap();
        assert_eq!(changes.end_of_transmission(1000, at(98)), at(138));
        assert_eq!(changes.end_of_transmission(1000, at(110)), at(140));
        assert_eq!(changes.end_of_transmission(1000, at(310)), at(340));
        // A period sends 17 kB: two of them and the 6 kB that the first 60 ms of the third send.
        assert_eq!(changes.end_of_transmission(40_000, at(0)), at(460));
    }

    #[test]
    fn a_shorter_delay_lets_packets_overtake() {
        let keeps = |rows, every| Changes::new(rows, every).unwrap().keeps_order();
        assert!(keeps(vec![row(0, 1, 5), row(10, 1, 6)], None));
        assert!(!keeps(vec![row(0, 1, 6), row(10, 1, 5)], None));
        assert!(!keeps(vec![row(0, 1, 5), row(10, 1, 6)], Some(ms(20))));
        assert!(keeps(vec![row(0, 1, 5), row(10, 2, 5)], Some(ms(20))));
    }

    #[test]
    fn tables_that_say_nothing_or_never_send_are_rejected() {
        let error = |rows, every| Changes::new(rows, every).unwrap_err().to_string();
        assert_eq!(error(vec![], None), "at must be at least one time, not none");
        assert_eq!(error(vec![row(1, 1, 1)], None), "at must be 0 s first, not 1 ms");
        let twice = vec![row(0, 1, 1), row(0, 1, 1)];
        assert_eq!(error(twice, None), "at must be times that increase, not 0 s after 0 s");
        let short = error(vec![row(0, 1, 1), row(5, 1, 1)], Some(ms(5)));
        assert_eq!(short, "every must be longer than the last time, not 5 ms");
        let silent = error(vec![row(0, 1, 1), row(5, 0, 1)], None);
        assert_eq!(silent, "rate must be more than 0 in the last row, not 0");
        let silent = error(vec![row(0, 0, 1)], Some(ms(1)));
        assert_eq!(silent, "rate must be more than 0 at some time, not 0");
    }

    proptest! {
        /// Sends random packets back to back: between any two departures the link sends as many bits as its
        /// rates allow, to within the rounding of a nanosecond.
        #[test]
        fn bits_are_sent_at_the_rates_of_the_table(
            services in prop::collection::vec((1_u64..30, 0_u64..10), 1..6),
            repeats in any::<bool>(),
            sizes in prop::collection::vec(1_u32..20_000, 1..40),
            start in 0_u64..500,
        ) {
            let mut time = 0;
            let mut rows = Vec::new();
            for &(length, service) in &services {
                rows.push(row(time, service, 1));
                time += length;
            }
            rows[0] = row(0, 3, 1);
            if !repeats {
                rows.push(row(time, 2, 1));
            }
            let every = repeats.then(|| ms(time));
            let changes = Changes::new(rows.clone(), every).unwrap();
            let rate_at = |ns: u64| {
                let within = every.map_or(ns, |every| ns % every.as_nanos());
                let row = rows.iter().rfind(|row| row.at.as_nanos() <= within).unwrap();
                row.rate.map_or(0.0, Rate::bps)
            };
            let mut now = at(start);
            for size in sizes {
                let end = changes.end_of_transmission(size, now);
                // Every rate lasts for whole milliseconds.
                let (mut from, mut bits) = (now.as_nanos(), 0.0);
                while from < end.as_nanos() {
                    let until = ((from / 1_000_000 + 1) * 1_000_000).min(end.as_nanos());
                    bits += rate_at(from) * (until - from) as f64 * 1e-9;
                    from = until;
                }
                prop_assert!((bits - 8.0 * f64::from(size)).abs() < 0.1, "{bits} of {size} octets");
                now = end;
            }
        }
    }
}
