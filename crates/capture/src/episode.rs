//! Recoveries: from the first retransmission until all that was sent before it is acknowledged.

use std::collections::VecDeque;

use unruffled_units::{Duration, Instant};

/// A window that is smaller than this share of what it was has been cut.
const CUT: f64 = 0.85;

/// Recoveries that may yet prove spurious, because a DSACK is on its way.
const PENDING: usize = 64;

/// The recoveries of one sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Episodes {
    /// Those that are not judged yet; the last may be going on.
    pending: VecDeque<Episode>,
    /// The number of the first that is pending.
    first: u64,
    going_on: bool,
    judged: Judged,
}

/// What recoveries came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    pub(crate) recoveries: u64,
    /// Recoveries of which every retransmission was spurious.
    pub(crate) spurious: u64,
    /// Recoveries after which less was in flight.
    pub(crate) cuts: u64,
    pub(crate) spurious_cuts: u64,
    /// The time in recoveries.
    pub(crate) time: Duration,
    /// The time in spurious ones.
    pub(crate) spurious_time: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Episode {
    began: Instant,
    ended: Instant,
    /// It is over when this is acknowledged.
    until: u64,
    before: u64,
    after: u64,
    resent: u64,
    spurious: u64,
}

impl Episodes {
    /// So many segments are sent again while `flight` octets up to `next` are outstanding; gives the
    /// number of the recovery.
    pub(crate) fn resent(&mut self, now: Instant, next: u64, flight: u64, segments: u64) -> u64 {
        if !self.going_on {
            self.going_on = true;
            if self.pending.len() == PENDING {
                self.judge();
            }
            self.pending.push_back(Episode {
                began: now,
                ended: now,
                until: next,
                before: flight,
                after: flight,
                resent: 0,
                spurious: 0,
            });
        }
        if let Some(current) = self.pending.back_mut() {
            current.resent += segments;
            current.ended = now;
        }
        self.first + (self.pending.len() as u64).saturating_sub(1)
    }

    pub(crate) fn going_on(&self) -> bool {
        self.going_on
    }

    /// `una` is acknowledged, and `flight` octets are outstanding.
    pub(crate) fn acknowledged(&mut self, now: Instant, una: u64, flight: u64) {
        if !self.going_on {
            return;
        }
        if let Some(current) = self.pending.back_mut() {
            current.ended = now;
            if una >= current.until {
                current.after = flight;
                self.going_on = false;
            }
        }
    }

    /// Retransmissions of recovery `number`, so many, proved spurious.
    pub(crate) fn spurious(&mut self, number: u64, segments: u64) {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        if let Some(episode) = at.and_then(|at| self.pending.get_mut(at)) {
            episode.spurious += segments;
        }
    }

    fn judge(&mut self) {
        let Some(episode) = self.pending.pop_front() else { return };
        self.first += 1;
        add(&mut self.judged, &episode);
    }

    pub(crate) fn judged(&self) -> Judged {
        let mut judged = self.judged;
        self.pending.iter().for_each(|episode| add(&mut judged, episode));
        judged
    }
}

fn add(judged: &mut Judged, episode: &Episode) {
    let all_spurious = episode.spurious >= episode.resent;
    let cut = (episode.after as f64) < CUT * episode.before as f64;
    let time = episode.ended.since(episode.began);
    judged.recoveries += 1;
    judged.spurious += u64::from(all_spurious);
    judged.cuts += u64::from(cut);
    judged.spurious_cuts += u64::from(cut && all_spurious);
    judged.time += time;
    judged.spurious_time += if all_spurious { time } else { Duration::ZERO };
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn a_recovery_is_spurious_when_every_retransmission_was() {
        let mut episodes = Episodes::default();
        let first = episodes.resent(ms(0), 100, 100, 1);
        assert_eq!(episodes.resent(ms(1), 110, 100, 1), first);
        episodes.acknowledged(ms(10), 100, 50);
        assert!(!episodes.going_on());
        let second = episodes.resent(ms(20), 200, 100, 1);
        episodes.acknowledged(ms(30), 200, 100);
        episodes.spurious(first, 1);
        let judged = episodes.judged();
        assert_eq!((judged.recoveries, judged.spurious, judged.cuts), (2, 0, 1));
        episodes.spurious(first, 1);
        episodes.spurious(second, 1);
        let judged = episodes.judged();
        assert_eq!((judged.spurious, judged.spurious_cuts), (2, 1));
        assert_eq!(judged.time, Duration::from_millis(20));
    }

    #[test]
    fn many_recoveries_are_judged_in_bounded_memory() {
        let mut episodes = Episodes::default();
        for i in 0..1000 {
            let number = episodes.resent(ms(i), i, 10, 1);
            episodes.acknowledged(ms(i), i, 10);
            episodes.spurious(number, 1);
        }
        assert_eq!((episodes.pending.len(), episodes.judged().spurious), (PENDING, 1000));
    }
}
