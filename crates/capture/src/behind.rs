//! Distance of late packets behind the newest one, which decides whether a replay window drops them.
//!
//! A tunnel that protects against replayed packets keeps the highest number that it has accepted. A
//! window of W packets drops each packet that is W or more behind that number.

use serde::Serialize;

/// Windows of common programs, in packets (docs/guide/tunnels.md): GRE and MACsec, ESP, OpenVPN and DTLS,
/// SRTP, boringtun and Nebula, WireGuard.
pub const USUAL_WINDOWS: [u64; 6] = [1, 32, 64, 128, 1024, 8129];

/// Distances below this value are counted one by one.
const EXACT: u64 = 256;

/// Counters of each octave of distances from [`EXACT`] on. Each covers less than one percent.
const COUNTERS_PER_OCTAVE: u64 = 128;

/// Largest distance that has a counter of its own; greater ones share the last counter.
const MAX_COUNTED: u64 = 1 << 20;

/// Replay windows, and the packets that each of them would drop.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReplayWindows {
    /// Largest distance of a packet behind the newest one, in packets. 0 if all are in order.
    pub max_behind: u64,
    /// Smallest window that drops none of the packets, in packets.
    pub sufficient: u64,
    /// The usual windows: 1, 32, 64, 128, 1024 and 8129 packets.
    pub windows: Vec<WindowDrops>,
    /// Numbers of packets by their distance behind the newest one, in ascending order. Distances from
    /// 256 on are rounded down by less than 1 %. Not in the JSON.
    #[serde(skip)]
    pub behind: Vec<BehindCount>,
}

/// Packets that a replay window drops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowDrops {
    /// Size of the window, in packets.
    pub packets: u64,
    /// Number of packets that it drops.
    pub dropped: u64,
    /// Share of these in all packets, from 0 to 1.
    pub ratio: f64,
}

/// Number of packets at a distance behind the newest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BehindCount {
    /// Distance, in packets.
    pub behind: u64,
    /// Number of packets.
    pub packets: u64,
}

/// Counters of late packets by their distance behind the newest one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Behind {
    max: u64,
    /// Counters, as many as the largest distance needs.
    counts: Vec<u32>,
    /// Packets that each of [`USUAL_WINDOWS`] drops.
    dropped: [u64; USUAL_WINDOWS.len()],
}

impl Behind {
    /// Records a late packet, `behind` packets behind the newest one.
    pub(crate) fn record(&mut self, behind: u64) {
        self.max = self.max.max(behind);
        let at = counter(behind);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] = self.counts[at].saturating_add(1);
        for (dropped, window) in self.dropped.iter_mut().zip(USUAL_WINDOWS) {
            *dropped += u64::from(behind >= window);
        }
    }

    /// Returns the largest distance.
    pub(crate) fn max(&self) -> u64 {
        self.max
    }

    /// Returns what each window would drop of `packets` packets.
    pub(crate) fn summary(&self, packets: u64) -> ReplayWindows {
        let windows = USUAL_WINDOWS.iter().zip(self.dropped);
        let drops = |(&window, dropped): (&u64, u64)| {
            let ratio = if packets == 0 { 0.0 } else { dropped as f64 / packets as f64 };
            WindowDrops { packets: window, dropped, ratio }
        };
        let counts = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        let count = |(at, &count): (usize, &u32)| BehindCount {
            behind: distance(at),
            packets: u64::from(count),
        };
        ReplayWindows {
            max_behind: self.max,
            sufficient: self.max + 1,
            windows: windows.map(drops).collect(),
            behind: counts.map(count).collect(),
        }
    }
}

/// Returns the place of the counter of a distance.
fn counter(behind: u64) -> usize {
    let behind = behind.min(MAX_COUNTED);
    if behind < EXACT {
        return behind as usize;
    }
    let octave = u64::from((behind / EXACT).ilog2());
    let within = (behind - (EXACT << octave)) * COUNTERS_PER_OCTAVE / (EXACT << octave);
    (EXACT + octave * COUNTERS_PER_OCTAVE + within) as usize
}

/// Returns the smallest distance that the counter at place `at` counts.
fn distance(at: usize) -> u64 {
    let at = at as u64;
    if at < EXACT {
        return at;
    }
    let octave = (at - EXACT) / COUNTERS_PER_OCTAVE;
    let within = (at - EXACT) % COUNTERS_PER_OCTAVE;
    (EXACT << octave) + within * (EXACT << octave) / COUNTERS_PER_OCTAVE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_drops_what_is_as_far_behind_as_it_is_large() {
        let mut behind = Behind::default();
        for distance in [1, 31, 32, 63, 64, 127, 128, 1023, 1024, 8128, 8129] {
            behind.record(distance);
        }
        let summary = behind.summary(100);
        let dropped: Vec<u64> = summary.windows.iter().map(|window| window.dropped).collect();
        assert_eq!(dropped, [11, 9, 7, 5, 3, 1]);
        assert_eq!((summary.max_behind, summary.sufficient), (8129, 8130));
        assert_eq!(summary.windows[1].ratio, 0.09);
    }

    #[test]
    fn distances_are_rounded_down_by_less_than_a_percent() {
        for behind in 0..200_000 {
            let rounded = distance(counter(behind));
            assert!(rounded <= behind && (behind - rounded) * 100 < behind.max(1), "{behind}");
        }
        assert_eq!(distance(counter(8192)), 8192);
        assert_eq!(distance(counter(u64::MAX)), MAX_COUNTED);
    }
}
