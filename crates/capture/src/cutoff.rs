//! Evidence that a replay window dropped late packets before they came here.
//!
//! A path makes packets late by a time; a replay window of W packets drops those that are W or more
//! behind, whatever that is in time. So how late packets are while few are sent shows how many would
//! come at least W behind while many are sent. Where hardly any do, a window dropped them.

use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::histogram::DurationHistogram;

/// Windows that are looked for, in packets: those of common programs (docs/guide/tunnels.md). Nebula's window of
/// 8192 looks like WireGuard's.
const WINDOWS: [u64; 7] = [32, 64, 128, 256, 1024, 4096, 8129];

/// Parts of a window at whose ends the time is kept.
const PARTS: usize = 8;

/// Shortest time that is distinguished from shorter ones, in microseconds.
const MIN_US: u64 = 16;

/// Intervals of times: four in each octave, from [`MIN_US`] to over a minute.
const INTERVALS: usize = 90;

/// Expected and actual number of packets that are far behind the newest one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Cutoff {
    /// Size of the window, in packets.
    pub window: u64,
    /// Packets that would have come that far behind or further, if how late packets are did not depend on
    /// how many are sent. Not more than that: what a window drops does not show how late it was.
    pub expected: f64,
    /// Packets that came that far behind or further.
    pub arrived: u64,
    /// Packets that the window dropped, if there is one: each late packet that came stands for those with
    /// the same late time that were too far behind. Mostly right within a factor of three.
    pub dropped: f64,
    /// Share of late packets before the window, from 0 to 1, if it dropped what is missing.
    pub late_ratio: f64,
    /// Late times before the window, in milliseconds: 51 quantiles from the 0th to the 100th percentile.
    /// Times after which the window accepts nothing at any rate are not among them. Not in the JSON.
    #[serde(skip)]
    pub late_ms: Vec<f64>,
}

/// Quantiles of [`Cutoff::late_ms`].
const QUANTILES: usize = 51;

/// Smallest share of the time in which a packet with a late time is accepted. Such a packet stands for as
/// many dropped ones as that share says.
const MIN_ACCEPTED: f64 = 0.02;

/// State from which [`Cutoff`] is computed, from the first late packet on.
#[derive(Clone, Debug)]
pub(crate) struct Cutoffs {
    windows: [WindowTimes; WINDOWS.len()],
    /// Arrivals.
    packets: u64,
    /// Late arrivals.
    late: u64,
}

/// Times in which as many packets came as a window holds.
#[derive(Clone, Debug)]
struct WindowTimes {
    window: u64,
    /// Index of the next packet whose time is kept.
    next: u64,
    /// Times at the ends of parts of the window; the first `kept` of them are valid.
    marks: [Instant; PARTS + 1],
    kept: usize,
    /// Numbers of times by interval.
    times: [u32; INTERVALS],
    /// Late arrivals that were at least as far behind as the window is large.
    beyond: u64,
}

impl Cutoffs {
    /// Creates the state before the arrival of the packet that is late while `newest` is the newest.
    pub(crate) fn new(newest: u64) -> Self {
        let times = |window| WindowTimes {
            window,
            next: newest,
            marks: [Instant::ZERO; PARTS + 1],
            kept: 0,
            times: [0; INTERVALS],
            beyond: 0,
        };
        Self { windows: WINDOWS.map(times), packets: 0, late: 0 }
    }

    /// Records an arrival while the packet with index `newest` is the newest.
    pub(crate) fn arrive(&mut self, newest: u64, at: Instant) {
        self.packets += 1;
        for window in &mut self.windows {
            while window.next <= newest {
                window.mark(newest, at);
            }
        }
    }

    /// Records that the last arrival was late, and how far behind the newest packet.
    pub(crate) fn late(&mut self, behind: u64) {
        self.late += 1;
        for window in &mut self.windows {
            window.beyond += u64::from(behind >= window.window);
        }
    }

    /// Returns the evidence, where packets were late by `late_times`.
    pub(crate) fn summary(&self, late_times: &DurationHistogram) -> Vec<Cutoff> {
        let share = self.late as f64 / self.packets.max(1) as f64;
        self.windows.iter().map(|window| window.cutoff(share, late_times)).collect()
    }
}

impl WindowTimes {
    /// Records the time of the end of a part.
    fn mark(&mut self, newest: u64, at: Instant) {
        let part = (self.window / PARTS as u64).max(1);
        if newest - self.next > self.window {
            // The capture lacks packets.
            self.kept = 0;
            self.next = newest;
        }
        if self.kept > PARTS {
            self.marks.copy_within(1.., 0);
            self.kept = PARTS;
        }
        self.marks[self.kept] = at;
        self.kept += 1;
        self.next += part;
        if self.kept > PARTS {
            let time = at.since(self.marks[0]);
            self.times[interval(time)] += 1;
        }
    }

    /// Returns the evidence for this window, where `share` of the packets are late by `late_times`.
    fn cutoff(&self, share: f64, late_times: &DurationHistogram) -> Cutoff {
        let part = (self.window / PARTS as u64).max(1) as f64;
        let late = late_times.count().max(1) as f64;
        let times = self.times.iter().enumerate().filter(|&(_, &count)| count > 0);
        let later = |(interval, &count): (usize, &u32)| {
            let later = late_times.count_above(end_of(interval)) as f64 / late;
            f64::from(count) * part * share * later
        };
        let expected = times.map(later).sum();
        let before = self.before_window(share, late_times);
        Cutoff { window: self.window, expected, arrived: self.beyond, ..before }
    }

    /// Returns what the window dropped, the share of late packets, and the quantiles of the late times,
    /// before the window. Each late packet that was accepted stands for those with the same late time that
    /// were not.
    fn before_window(&self, share: f64, late_times: &DurationHistogram) -> Cutoff {
        let all = self.times.iter().map(|&count| f64::from(count)).sum::<f64>();
        if all == 0.0 {
            return Cutoff { late_ratio: share, ..Cutoff::default() };
        }
        let accepted = |late: Duration| {
            let longer = self.times[interval(late)..].iter().map(|&count| f64::from(count));
            (longer.sum::<f64>() / all).max(MIN_ACCEPTED)
        };
        let weighted: Vec<(f64, f64)> = late_times
            .bins()
            .map(|(late, count)| (late.as_millis_f64(), count as f64 / accepted(late)))
            .collect();
        let late: f64 = weighted.iter().map(|(_, weight)| weight).sum();
        let mut quantiles = Vec::new();
        let mut below = 0.0;
        for (ms, weight) in weighted {
            below += weight;
            let due = (below / late * (QUANTILES - 1) as f64).floor() as usize + 1;
            quantiles.resize(due.min(QUANTILES).max(quantiles.len()), ms);
        }
        if let Some(&last) = quantiles.last() {
            quantiles.resize(QUANTILES, last);
        }
        let dropped = late - late_times.count() as f64;
        let arrived = late_times.count() as f64 / share.max(f64::MIN_POSITIVE);
        let late_ratio = late / (arrived + dropped).max(1.0);
        Cutoff { dropped, late_ratio, late_ms: quantiles, ..Cutoff::default() }
    }
}

/// Returns the interval that holds a time.
fn interval(time: Duration) -> usize {
    let us = (time.as_nanos() / 1000).max(MIN_US);
    let octave = (us / MIN_US).ilog2();
    let within = (us - (MIN_US << octave)) * 4 / (MIN_US << octave);
    (octave as usize * 4 + within as usize).min(INTERVALS - 1)
}

/// Returns the end of an interval.
fn end_of(interval: usize) -> Duration {
    let start = MIN_US << (interval / 4);
    Duration::from_nanos((start + start * (interval as u64 % 4 + 1) / 4) * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_within_its_interval() {
        for us in (16..100_000).chain([1_000_000, 50_000_000]) {
            let time = Duration::from_nanos(us * 1000);
            let at = interval(time);
            assert!(time < end_of(at), "{us}");
            assert!(at == 0 || time >= end_of(at - 1), "{us}");
        }
    }

    /// Returns the evidence for a window of 64, after 1000 packets every 10 ms and 10,000 every 100 µs.
    /// Every tenth packet is late by 50 ms: 5 packets, then 500.
    fn evidence(window: u64) -> Cutoff {
        let mut cutoffs = Cutoffs::new(0);
        let mut late_times = DurationHistogram::default();
        let at_us = |n: u64| if n < 1000 { n * 10_000 } else { 10_000_000 + (n - 1000) * 100 };
        for n in 0..11_000 {
            let at = Instant::from_nanos(at_us(n) * 1000);
            cutoffs.arrive(n, at);
            let behind = if n < 1000 { 5 } else { 500 };
            if n % 10 == 0 && behind < window {
                cutoffs.arrive(n, at);
                cutoffs.late(behind);
                late_times.record(Duration::from_millis(50));
            }
        }
        let evidence = cutoffs.summary(&late_times);
        evidence.into_iter().find(|cutoff| cutoff.window == 64).expect("a usual window")
    }

    /// Without a window, 1000 packets come far behind. With one, only the hundred do that are late while
    /// few packets are sent: less than 1 % of all.
    #[test]
    fn a_window_leaves_fewer_packets_far_behind_than_the_late_times_let_expect() {
        let open = evidence(u64::MAX);
        assert_eq!(open.arrived, 1000);
        assert!((900.0..=1000.0).contains(&open.expected), "{open:?}");
        let closed = evidence(64);
        assert_eq!(closed.arrived, 0);
        assert!((80.0..=100.0).contains(&closed.expected), "{closed:?}");
        assert!((900.0..=1100.0).contains(&closed.dropped), "{closed:?}");
        // The hundred late packets of 1000 sent at the low rate stand for those at the high rate.
        assert!((0.08..=0.11).contains(&closed.late_ratio), "{closed:?}");
        assert!(closed.late_ms.iter().all(|ms| (49.0..51.0).contains(ms)), "{closed:?}");
        assert_eq!(closed.late_ms.len(), 51);
    }
}
