//! How much memory a stack may take, and how it is shared out.
//!
//! Buffers grow by the dynamic threshold of Choudhury and Hahne (*Dynamic queue length thresholds for
//! shared-memory packet switches*, 1998): each may become as large as a fixed share of what is still
//! free. While little is taken that is more than any buffer wants. And none grows before its peer has
//! shown that it takes or sends something: a receive buffer to twice what the application has read of
//! it, a send buffer to four times what the network holds of it, as in Linux the window follows what is
//! read and the send buffer cwnd. So a peer who takes nothing gets little however much there is. A
//! reserve is for those who move: when all else is taken, a buffer still gets half of that, and others
//! two segments.

use unruffled_tcp::Connection;
use unruffled_units::Duration;

use crate::buffer::{MIN_STORAGE, power_of_two};

/// A buffer may grow to this share of what is free, the reserve not counted: with 448 MiB, to 7 MiB.
const SHARE: usize = 64;

/// A buffer may grow to this before anything has gone through it: more than twice the initial window.
/// One that was given a size may grow to that.
const START: u64 = 32 << 10;

/// This share of the budget is the reserve, refused to what was promised before memory ran short.
/// New connections may take half of it.
const RESERVE: usize = 8;

/// A buffer through which enough has gone may grow to this share of all that is free.
const SHARE_OF_RESERVE: usize = 16;

/// What a connection takes that holds no octets: the socket, the engine's tables, its place in the
/// stack's. Measured with `sack` (`cargo bench -p unruffled-wire --bench hostile -- --only idle`, with
/// and without `--short`): 2730 octets for each of 90,000 more, those of the attackers included.
pub(super) const CONNECTION: usize = 2816;
/// What the engine's tables may come to take for a segment, which a ring that grows by an eighth makes
/// more.
const SEGMENT: usize = Connection::SEGMENT_OCTETS * 9 / 8;
/// What a request takes, with its due time and its place in the table.
pub(super) const REQUEST: usize = 256;
/// What a connection in TIME-WAIT takes, likewise.
pub(super) const TIME_WAIT: usize = 384;

/// Bounds of a stack. What goes beyond is refused, and counted in [`Counters`](super::Counters). Use
/// it in a [`StackConfig`](super::StackConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Octets of memory for all connections, buffers and tables together: 512 MiB.
    pub octets: usize,
    /// Connections, TIME-WAIT and half-open ones not counted: 131,072.
    pub connections: usize,
    /// Half-open connections; when there are more, SYN cookies take their place: 4096.
    pub requests: usize,
    /// Connections in TIME-WAIT; when there are more, connections end without it: 131,072.
    pub time_waits: usize,
    /// Connections that no application holds and that have not ended; when there are more,
    /// connections that are let go are reset: 8192.
    pub orphans: usize,
    /// How long an orphan may be without progress, and how long it waits in FIN-WAIT-2 for its peer
    /// to close: 1 min (as Linux's `tcp_fin_timeout`).
    pub orphan_patience: Duration,
    /// How long an orphan may last in all, whatever its peer acknowledges: 15 min.
    pub orphan_life: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            octets: 512 << 20,
            connections: 1 << 17,
            requests: 4096,
            time_waits: 1 << 17,
            orphans: 8192,
            orphan_patience: Duration::from_secs(60),
            orphan_life: Duration::from_secs(900),
        }
    }
}

/// What buffers may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    free: usize,
    share: usize,
    share_of_reserve: usize,
    /// What it may grow to before anything has gone through it.
    start: u64,
    /// What a promise made before may still take beyond that.
    pub(super) promised: usize,
}

/// What the engine's tables may come to take when `octets` are outstanding in segments of `payload`.
pub(super) fn tables(octets: usize, payload: u32) -> usize {
    (octets / payload.max(1) as usize).saturating_mul(SEGMENT)
}

impl Allowance {
    /// For a buffer of what is sent in segments of `payload`: with it come the tables.
    pub(super) fn with_tables(self, payload: u32) -> Self {
        let least = MIN_STORAGE + tables(MIN_STORAGE, payload);
        let least = if self.free >= least { MIN_STORAGE } else { 0 };
        let payload = payload as usize;
        let part = |octets: usize| octets / (payload + SEGMENT) * payload;
        let share = part(self.share).max(least);
        Self { share, share_of_reserve: part(self.share_of_reserve), ..self }
    }

    /// For a buffer whose application has said how large it is to be: it need not earn that, or the
    /// ring that holds it.
    pub(super) fn for_size(self, octets: Option<usize>) -> Self {
        let start = octets.map_or(self.start, |octets| self.start.max(power_of_two(octets) as u64));
        Self { start, ..self }
    }

    /// What a receive buffer may grow to of which `read` octets have been read.
    pub(super) fn to_receive(self, read: u64) -> usize {
        self.to_move(read)
    }

    /// What a send buffer may grow to whose congestion window, or what is in flight if that is more,
    /// is `window` octets: that and as much again for the next round trip, twice, because slow start
    /// doubles it meanwhile, and rings are powers of two.
    pub(super) fn to_send(self, window: u64) -> usize {
        self.to_move(window.saturating_mul(2))
    }

    /// Twice `octets`, if there is so much.
    fn to_move(self, octets: u64) -> usize {
        let size = |octets: u64| usize::try_from(octets).unwrap_or(usize::MAX);
        let wanted = size(octets.saturating_mul(2).max(self.start));
        self.share.min(wanted).max(size(octets).min(self.share_of_reserve))
    }
}

/// The account of what is used and promised.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) limits: Limits,
    used: usize,
    /// Connections that no application holds.
    pub(super) orphans: usize,
}

impl Budget {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, used: 0, orphans: 0 }
    }

    pub(super) fn used(&self) -> usize {
        self.used
    }

    fn free(&self) -> usize {
        self.limits.octets.saturating_sub(self.used)
    }

    fn free_but_reserve(&self) -> usize {
        self.free().saturating_sub(self.limits.octets / RESERVE)
    }

    pub(super) fn has_room_for(&self, octets: usize) -> bool {
        self.free() >= octets
    }

    pub(super) fn charge(&mut self, octets: usize) {
        self.used += octets;
    }

    pub(super) fn refund(&mut self, octets: usize) {
        debug_assert!(octets <= self.used, "more given back than was taken");
        self.used = self.used.saturating_sub(octets);
    }

    /// Whether there may be one connection more, when there are so many.
    pub(super) fn has_room_for_connection(&self, connections: usize) -> bool {
        let left = self.limits.octets / RESERVE / 2;
        connections < self.limits.connections && self.free() >= left + CONNECTION
    }

    pub(super) fn allowance(&self) -> Allowance {
        let least = if self.free() >= MIN_STORAGE { MIN_STORAGE } else { 0 };
        Allowance {
            free: self.free(),
            share: (self.free_but_reserve() / SHARE).max(least),
            share_of_reserve: self.free() / SHARE_OF_RESERVE,
            start: START,
            promised: self.free_but_reserve(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_moves_octets_gets_memory_though_others_hoard_it() {
        let mut budget = Budget::new(Limits { octets: 64 << 20, ..Limits::default() });
        assert_eq!(budget.allowance().to_receive(0), 32 << 10);
        assert_eq!(budget.allowance().to_receive(1 << 19), 56 << 20 >> 6);
        // So many hoarders take all they can, one after another.
        for _ in 0..2400 {
            let share = budget.allowance().to_receive(0);
            budget.charge(share);
        }
        let allowance = budget.allowance();
        assert_eq!((allowance.to_receive(0), allowance.promised), (MIN_STORAGE, 0));
        assert!(allowance.to_receive(1 << 20) > 256 << 10);
        assert!(budget.has_room_for_connection(0));
        // And many more.
        for _ in 0..10_000 {
            let share = budget.allowance().to_receive(0);
            budget.charge(share);
        }
        assert!(budget.used() <= 64 << 20 && !budget.has_room_for_connection(0));
        budget.refund(32 << 20);
        assert!(budget.allowance().to_receive(1 << 30) >= 24 << 20 >> 6);
    }
}
