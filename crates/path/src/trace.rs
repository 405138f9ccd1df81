//! Recorded rates: the instants at which a link could deliver a packet.

use std::sync::Arc;

use unruffled_units::{Duration, Instant, Rate};

use crate::ConfigError;

/// Octets that one delivery opportunity carries.
const OPPORTUNITY: u32 = 1500;

/// Most opportunities of a trace. Mahimahi's traces have up to some hundred thousand.
const MAX_OPPORTUNITIES: usize = 10_000_000;

/// Packet-delivery trace of a link, in the format of Mahimahi: the instants, in whole milliseconds, at which
/// the link can deliver 1500 octets. The trace starts again after its last instant.
///
/// An opportunity that finds no packet is lost. A packet larger than 1500 octets needs several, and several
/// small packets that wait share one, as in Mahimahi's `LinkQueue`.
///
/// ```
/// use unruffled_path::Trace;
/// use unruffled_units::Duration;
///
/// let trace: Trace = "0\n10\n10\n40\n".parse()?;
/// assert_eq!(trace.period(), Duration::from_millis(40));
/// assert_eq!(trace.mean_rate().bps(), 4.0 * 1500.0 * 8.0 / 0.040);
/// # Ok::<(), unruffled_path::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    instants_ms: Arc<[u64]>,
    period: Duration,
}

impl Trace {
    /// Creates a trace from instants in milliseconds.
    ///
    /// # Errors
    ///
    /// When there are no instants, when they decrease, when the last one is 0 or longer than 2^32 ms, or when
    /// there are more than ten million.
    pub fn new(instants_ms: Vec<u64>) -> Result<Self, ConfigError> {
        let wrong = |expected, found: String| Err(ConfigError::new("trace", expected, found));
        if instants_ms.len() > MAX_OPPORTUNITIES {
            return wrong("at most 10000000 instants", instants_ms.len().to_string());
        }
        if let Some(pair) = instants_ms.windows(2).find(|pair| pair[1] < pair[0]) {
            return wrong("instants in order", format!("{} after {}", pair[1], pair[0]));
        }
        match instants_ms.last() {
            Some(&last) if last > 0 && u32::try_from(last).is_ok() => {
                let period = Duration::from_millis(last);
                Ok(Self { instants_ms: instants_ms.into(), period })
            }
            Some(last) => wrong("a last instant from 1 to 4294967295 ms", last.to_string()),
            None => wrong("at least one instant", "none".to_owned()),
        }
    }

    /// Returns the instants in milliseconds.
    pub fn instants_ms(&self) -> &[u64] {
        &self.instants_ms
    }

    /// Returns the time after which the trace starts again.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Returns the mean rate over a period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.instants_ms.len() as f64 * f64::from(OPPORTUNITY) * 8.0;
        Rate::from_bps(bits / self.period.as_secs_f64()).expect("a trace has an instant after 0")
    }

    /// Returns the instant of an opportunity, counted over all repetitions.
    fn instant(&self, number: u64) -> Instant {
        let count = self.instants_ms.len() as u64;
        let repeated = Duration::from_nanos(self.period.as_nanos().saturating_mul(number / count));
        Instant::ZERO
            + repeated
            + Duration::from_millis(self.instants_ms[(number % count) as usize])
    }

    /// Returns the number of the first opportunity at `time` or later.
    fn first_from(&self, time: Instant) -> u64 {
        let elapsed = time.as_nanos();
        let repetitions = elapsed / self.period.as_nanos();
        let within = elapsed % self.period.as_nanos();
        let before =
            self.instants_ms.partition_point(|&ms| Duration::from_millis(ms).as_nanos() < within);
        let first = repetitions * self.instants_ms.len() as u64 + before as u64;
        // The last instant of a repetition is also the beginning of the next one.
        match within == 0 && repetitions > 0 {
            true => {
                let period_ms = self.instants_ms.last().copied().unwrap_or_default();
                let at_end = self.instants_ms.partition_point(|&ms| ms < period_ms);
                first - (self.instants_ms.len() - at_end) as u64
            }
            false => first,
        }
    }
}

impl std::str::FromStr for Trace {
    type Err = ConfigError;

    /// Parses a file of Mahimahi: one instant per line, in milliseconds. Empty lines do not count.
    fn from_str(text: &str) -> Result<Self, ConfigError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let instants = lines.map(|(number, line)| {
            line.trim().parse().map_err(|_| {
                let shown: String = line.trim().chars().take(20).collect();
                let found = format!("{shown:?} in line {}", number + 1);
                ConfigError::new("trace", "a whole number of milliseconds in each line", found)
            })
        });
        Self::new(instants.collect::<Result<_, _>>()?)
    }
}

/// Use of a trace by the packets of one link.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    trace: Trace,
    /// The opportunity in use, or the next one.
    number: u64,
    /// Octets left of it.
    left: u32,
}

impl Opportunities {
    pub(crate) fn new(trace: Trace) -> Self {
        Self { trace, number: 0, left: OPPORTUNITY }
    }

    /// Returns the instant at which the last of `bytes` octets is delivered, if the transmitter is free from
    /// `begun` on, which must not decrease.
    pub(crate) fn deliver(&mut self, bytes: u32, begun: Instant) -> Instant {
        if self.trace.instant(self.number) < begun {
            self.number = self.trace.first_from(begun);
            self.left = OPPORTUNITY;
        }
        let mut rest = bytes;
        while rest > self.left {
            rest -= self.left;
            self.number += 1;
            self.left = OPPORTUNITY;
        }
        self.left -= rest;
        let delivered = self.trace.instant(self.number);
        if self.left == 0 {
            self.number += 1;
            self.left = OPPORTUNITY;
        }
        delivered
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn opportunities(ms: &[u64]) -> Opportunities {
        Opportunities::new(Trace::new(ms.to_vec()).expect("is valid"))
    }

    #[test]
    fn packets_leave_at_the_opportunities_of_the_trace_and_of_its_repetitions() {
        let mut link = opportunities(&[0, 10, 10, 40]);
        let left: Vec<Instant> = (0..10).map(|_| link.deliver(1500, at(0))).collect();
        assert_eq!(left, [0, 10, 10, 40, 40, 50, 50, 80, 80, 90].map(at));
    }

    #[test]
    fn an_opportunity_without_a_packet_is_lost() {
        let mut link = opportunities(&[0, 10, 10, 40]);
        assert_eq!(link.deliver(1500, Instant::from_nanos(10_000_001)), at(40));
        assert_eq!(link.deliver(1500, at(40)), at(40), "that of the next repetition");
        assert_eq!(link.deliver(1500, at(1000)), at(1000), "repetition 25 ends here");
        assert_eq!(link.deliver(1500, at(1000)), at(1000), "and the next begins");
        assert_eq!(link.deliver(1500, at(1000)), at(1010));
    }

    #[test]
    fn large_packets_need_several_opportunities_and_small_ones_share_one() {
        let mut link = opportunities(&[10, 20, 30, 40]);
        assert_eq!(link.deliver(1501, at(0)), at(20));
        assert_eq!(link.deliver(1000, at(0)), at(20));
        assert_eq!(link.deliver(499, at(0)), at(20));
        assert_eq!(link.deliver(40, at(0)), at(30));
        assert_eq!(link.deliver(40, at(31)), at(40), "what was left at 30 ms is lost");
    }

    #[test]
    fn invalid_traces_are_rejected_with_their_line() {
        let error = |text: &str| text.parse::<Trace>().expect_err("is invalid").to_string();
        assert_eq!(error(""), "trace must be at least one instant, not none");
        assert_eq!(error("0\n"), "trace must be a last instant from 1 to 4294967295 ms, not 0");
        assert_eq!(error("3\n2\n"), "trace must be instants in order, not 2 after 3");
        let expected =
            "trace must be a whole number of milliseconds in each line, not \"x\" in line 3";
        assert_eq!(error("1\n\nx\n"), expected);
        assert_eq!(
            error("99999999999\n"),
            "trace must be a last instant from 1 to 4294967295 ms, not 99999999999"
        );
    }

    proptest! {
        /// Compares with Mahimahi's own loop: at each opportunity in turn, the packet in transit goes on, and
        /// then those that have arrived, as far as the octets of the opportunity go.
        #[test]
        fn departures_are_those_of_a_loop_over_all_opportunities(
            gaps in prop::collection::vec(0_u64..4, 1..12),
            packets in prop::collection::vec((0_u64..9_000_000, 1_u32..4000), 1..60),
        ) {
            let mut ms: Vec<u64> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            if ms.last() == Some(&0) {
                ms.push(1);
            }
            let trace = Trace::new(ms.clone()).expect("is valid");
            let mut link = Opportunities::new(trace);
            let mut arrival = 0;
            let mut last = Instant::ZERO;
            let mut waiting = Vec::new();
            let mut departures = Vec::new();
            for &(gap, bytes) in &packets {
                arrival += gap;
                last = link.deliver(bytes, Instant::from_nanos(arrival).max(last));
                departures.push(last);
                waiting.push((Instant::from_nanos(arrival), bytes));
            }
            let mut expected = Vec::new();
            let mut next = 0;
            let mut rest = waiting[0].1;
            'all: for round in 0.. {
                for &one in &ms {
                    let now = at(round * ms.last().unwrap() + one);
                    let mut left = OPPORTUNITY;
                    while left > 0 && waiting[next].0 <= now {
                        let part = rest.min(left);
                        left -= part;
                        rest -= part;
                        if rest == 0 {
                            expected.push(now);
                            next += 1;
                            if next == waiting.len() {
                                break 'all;
                            }
                            rest = waiting[next].1;
                        }
                    }
                }
            }
            prop_assert_eq!(departures, expected);
        }
    }
}
