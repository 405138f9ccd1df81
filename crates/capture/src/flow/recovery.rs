//! Recoveries: each lasts from the first retransmission until all data sent before it is acknowledged.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

use crate::analysis::Windows;

/// Ratio of the flight after a recovery to that before it, below which the window counts as cut.
const MAX_CUT_RATIO: f64 = 0.85;

/// Recoveries kept because a DSACK may still prove them spurious.
const MAX_PENDING: usize = 64;

/// The recoveries of one sender.
#[derive(Clone, Debug, Default)]
pub(super) struct Recoveries {
    /// Recoveries that are not final; the last may be in progress.
    pending: VecDeque<Recovery>,
    /// The number of the first pending recovery. Numbers wrap around.
    first: u32,
    in_progress: bool,
    totals: Totals,
}

/// Totals over recoveries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    recoveries: u64,
    /// Recoveries whose retransmissions were all spurious.
    spurious: u64,
    /// Recoveries after which less was in flight.
    cuts: u64,
    spurious_cuts: u64,
    /// Time in recoveries.
    time: Duration,
    /// Time in spurious recoveries.
    spurious_time: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Recovery {
    began: Instant,
    ended: Instant,
    /// The recovery ends when everything before this position is acknowledged.
    recovery_point: u64,
    flight_before: u64,
    flight_after: u64,
    retransmitted: u64,
    spurious: u64,
}

impl Recoveries {
    /// Records a retransmission of `segments` segments while `flight` octets up to `next` are
    /// outstanding; returns the number of the recovery.
    pub(super) fn retransmit(
        &mut self,
        now: Instant,
        next: u64,
        flight: u64,
        segments: u64,
    ) -> u32 {
        if !self.in_progress {
            self.in_progress = true;
            if self.pending.len() == MAX_PENDING
                && let Some(oldest) = self.pending.pop_front()
            {
                self.first = self.first.wrapping_add(1);
                self.totals.add(&oldest);
            }
            self.pending.push_back(Recovery {
                began: now,
                ended: now,
                recovery_point: next,
                flight_before: flight,
                flight_after: flight,
                retransmitted: 0,
                spurious: 0,
            });
        }
        if let Some(current) = self.pending.back_mut() {
            current.retransmitted += segments;
            current.ended = now;
        }
        self.first.wrapping_add((self.pending.len() as u32).saturating_sub(1))
    }

    /// Returns whether a recovery is in progress.
    pub(super) fn in_progress(&self) -> bool {
        self.in_progress
    }

    /// Records that `una` is acknowledged while `flight` octets are outstanding.
    pub(super) fn acknowledge(&mut self, now: Instant, una: u64, flight: u64) {
        if !self.in_progress {
            return;
        }
        if let Some(current) = self.pending.back_mut() {
            current.ended = now;
            if una >= current.recovery_point {
                current.flight_after = flight;
                self.in_progress = false;
            }
        }
    }

    /// Records that `segments` retransmissions of recovery `number` proved spurious.
    pub(super) fn prove_spurious(&mut self, number: u32, segments: u64) {
        let at = number.wrapping_sub(self.first) as usize;
        if let Some(recovery) = self.pending.get_mut(at) {
            recovery.spurious += segments;
        }
    }

    fn totals(&self) -> Totals {
        let mut totals = self.totals;
        self.pending.iter().for_each(|recovery| totals.add(recovery));
        totals
    }

    /// Returns what is known of windows from the recoveries alone.
    pub(super) fn windows(&self) -> Windows {
        let totals = self.totals();
        Windows {
            recoveries: totals.recoveries,
            spurious_recoveries: totals.spurious,
            cuts: totals.cuts,
            spurious_cuts: totals.spurious_cuts,
            recovery_s: totals.time.as_secs_f64(),
            spurious_recovery_s: totals.spurious_time.as_secs_f64(),
            ..Windows::default()
        }
    }
}

impl Totals {
    fn add(&mut self, recovery: &Recovery) {
        let spurious = recovery.spurious >= recovery.retransmitted;
        let cut = (recovery.flight_after as f64) < MAX_CUT_RATIO * recovery.flight_before as f64;
        let time = recovery.ended.since(recovery.began);
        self.recoveries += 1;
        self.spurious += u64::from(spurious);
        self.cuts += u64::from(cut);
        self.spurious_cuts += u64::from(cut && spurious);
        self.time += time;
        self.spurious_time += if spurious { time } else { Duration::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn a_recovery_is_spurious_if_every_retransmission_was() {
        let mut recoveries = Recoveries::default();
        let first = recoveries.retransmit(ms(0), 100, 100, 1);
        assert_eq!(recoveries.retransmit(ms(1), 110, 100, 1), first);
        recoveries.acknowledge(ms(10), 100, 50);
        assert!(!recoveries.in_progress());
        let second = recoveries.retransmit(ms(20), 200, 100, 1);
        recoveries.acknowledge(ms(30), 200, 100);
        recoveries.prove_spurious(first, 1);
        let totals = recoveries.totals();
        assert_eq!((totals.recoveries, totals.spurious, totals.cuts), (2, 0, 1));
        recoveries.prove_spurious(first, 1);
        recoveries.prove_spurious(second, 1);
        let totals = recoveries.totals();
        assert_eq!((totals.spurious, totals.spurious_cuts), (2, 1));
        assert_eq!(totals.time, Duration::from_millis(20));
    }

    #[test]
    fn many_recoveries_are_counted_in_bounded_memory() {
        let mut recoveries = Recoveries::default();
        for i in 0..1000 {
            let number = recoveries.retransmit(ms(i), i, 10, 1);
            recoveries.acknowledge(ms(i), i, 10);
            recoveries.prove_spurious(number, 1);
        }
        assert_eq!((recoveries.pending.len(), recoveries.totals().spurious), (MAX_PENDING, 1000));
    }
}
