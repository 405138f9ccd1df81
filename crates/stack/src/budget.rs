//! The memory budget of a stack and the shares of it.
//!
//! Buffers grow by the dynamic threshold of Choudhury and Hahne (*Dynamic queue length thresholds
//! for shared-memory packet switches*, 1998): each may become as large as a fixed share of what is
//! still free. While little is in use, that is more than any buffer needs.
//!
//! A buffer grows only after its peer has shown that it takes or sends data: a receive buffer to
//! twice what the application has read from it, a send buffer to four times what the network holds
//! of it. In Linux, too, the window follows what is read and the send buffer follows cwnd. A peer
//! that takes nothing therefore gets little memory, however much there is.
//!
//! A reserve serves the connections that move data: when all else is in use, their buffers still
//! get half of what they need from it, and other buffers get two segments.

use unruffled_tcp::Connection;
use unruffled_units::Duration;

use crate::buffer::{MIN_STORAGE, power_of_two};

/// Divisor of the free memory outside the reserve that one buffer may grow to: 7 MiB of 448 MiB.
const FREE_PER_BUFFER: usize = 64;

/// Octets that a buffer may grow to before any data has gone through it: more than twice the
/// initial window. A buffer with a configured size may grow to that size.
const INITIAL_BUFFER: u64 = 32 << 10;

/// Divisor of the budget that gives the reserve. Windows advertised before memory ran short may not
/// use the reserve; new connections may take half of it.
const BUDGET_PER_RESERVE: usize = 8;

/// Divisor of all free memory that gives what one buffer may take from the reserve once enough data
/// has gone through it.
const FREE_PER_BUFFER_IN_RESERVE: usize = 16;

/// Octets charged for a connection without its buffers: the socket, the engine's tables, its place
/// in the stack's tables. Measured with `sack` (`cargo bench -p unruffled-wire --bench hostile --
/// --only idle`, with and without `--short`): 2601 octets for each of 90,000 more, including the
/// memory of their peers.
pub(crate) const CONNECTION: usize = 2816;
/// Octets charged for a half-open connection, with its due time and its place in the table.
pub(crate) const REQUEST: usize = 256;
/// Octets charged for a connection in TIME-WAIT, with its due time and its place in the table.
pub(crate) const TIME_WAIT: usize = 384;

/// The bounds of a stack, part of a [`StackConfig`](crate::StackConfig). What exceeds them is
/// refused and counted in [`Counters`](crate::Counters).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Octets of memory for all connections, buffers and tables together: 512 MiB.
    pub octets: usize,
    /// Connections, not counting those in TIME-WAIT and half-open ones: 131,072.
    pub connections: usize,
    /// Half-open connections: 4096. SYN cookies take the place of more.
    pub requests: usize,
    /// Connections in TIME-WAIT: 131,072. Further connections end without it.
    pub time_waits: usize,
    /// Orphans, that is connections that the application has released and that have not ended:
    /// 8192. Further connections are reset when the application releases them.
    pub orphans: usize,
    /// Longest time of an orphan without progress, and in FIN-WAIT-2: 1 min (Linux's
    /// `tcp_fin_timeout`).
    pub orphan_timeout: Duration,
    /// Longest life of an orphan, whatever its peer acknowledges: 15 min.
    pub orphan_lifetime: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            octets: 512 << 20,
            connections: 1 << 17,
            requests: 4096,
            time_waits: 1 << 17,
            orphans: 8192,
            orphan_timeout: Duration::from_secs(60),
            orphan_lifetime: Duration::from_secs(900),
        }
    }
}

/// Memory that one buffer may take at this moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    free: usize,
    share: usize,
    share_of_reserve: usize,
    /// Octets that the buffer may grow to before data has gone through it.
    initial: u64,
    /// Octets that data within a window advertised earlier may still take beyond the share.
    promised: usize,
}

/// The segments of a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segments {
    /// Octets of data in a segment.
    payload: usize,
    /// Octets that the engine's tables may need for a segment.
    entry: usize,
}

impl Segments {
    pub(crate) fn of(connection: &Connection) -> Self {
        Self {
            payload: connection.max_payload().max(1) as usize,
            // The tables grow by an eighth at a time.
            entry: connection.segment_octets() * 9 / 8,
        }
    }

    /// Returns the octets that the engine's tables may need while `octets` are outstanding.
    pub(crate) fn tables(self, octets: usize) -> usize {
        (octets / self.payload).saturating_mul(self.entry)
    }

    /// Returns the part of `octets` that remains for data beside the tables.
    fn data_part(self, octets: usize) -> usize {
        octets / (self.payload + self.entry) * self.payload
    }
}

impl Allowance {
    pub(crate) fn promised(self) -> usize {
        self.promised
    }

    /// Returns the allowance of a send buffer, which shares it with the engine's tables for its
    /// `segments`.
    pub(crate) fn with_tables(self, segments: Segments) -> Self {
        let least = MIN_STORAGE + segments.tables(MIN_STORAGE);
        let least = if self.free >= least { MIN_STORAGE } else { 0 };
        let share = segments.data_part(self.share).max(least);
        Self { share, share_of_reserve: segments.data_part(self.share_of_reserve), ..self }
    }

    /// Returns the allowance of a buffer whose size the application has set: it may grow to the
    /// ring that holds this size before data has gone through it.
    pub(crate) fn for_size(self, octets: Option<usize>) -> Self {
        let size = octets.map_or(0, |octets| power_of_two(octets) as u64);
        Self { initial: self.initial.max(size), ..self }
    }

    /// Returns what a receive buffer may grow to after `read` octets have been read from it.
    pub(crate) fn to_receive(self, read: u64) -> usize {
        self.to_move(read)
    }

    /// Returns the size to which a send buffer may grow. `window` is its congestion window or the data
    /// in flight, whichever is larger, in octets.
    ///
    /// The buffer holds the window and the same amount for the next round trip. This is doubled, because
    /// slow start doubles the window meanwhile, and rings are powers of two.
    pub(crate) fn to_send(self, window: u64) -> usize {
        self.to_move(window.saturating_mul(2))
    }

    /// Returns twice `octets`, as far as the shares allow.
    fn to_move(self, octets: u64) -> usize {
        let size = |octets: u64| usize::try_from(octets).unwrap_or(usize::MAX);
        let needed = size(octets.saturating_mul(2).max(self.initial));
        self.share.min(needed).max(size(octets).min(self.share_of_reserve))
    }
}

/// The account of the memory in use.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    used: usize,
    orphans: usize,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, used: 0, orphans: 0 }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn used(&self) -> usize {
        self.used
    }

    fn free(&self) -> usize {
        self.limits.octets.saturating_sub(self.used)
    }

    fn free_outside_reserve(&self) -> usize {
        self.free().saturating_sub(self.limits.octets / BUDGET_PER_RESERVE)
    }

    pub(crate) fn has_room_for(&self, octets: usize) -> bool {
        self.free() >= octets
    }

    pub(crate) fn charge(&mut self, octets: usize) {
        self.used += octets;
    }

    pub(crate) fn refund(&mut self, octets: usize) {
        debug_assert!(octets <= self.used, "refunded more than was charged");
        self.used = self.used.saturating_sub(octets);
    }

    /// Counts one more orphan; returns false if there are as many as the limits allow.
    pub(crate) fn add_orphan(&mut self) -> bool {
        let has_room = self.orphans < self.limits.orphans;
        self.orphans += usize::from(has_room);
        has_room
    }

    pub(crate) fn remove_orphan(&mut self) {
        self.orphans -= 1;
    }

    /// Returns whether there is room for one more connection beside `connections` others.
    pub(crate) fn has_room_for_connection(&self, connections: usize) -> bool {
        let kept_free = self.limits.octets / BUDGET_PER_RESERVE / 2;
        connections < self.limits.connections && self.free() >= kept_free + CONNECTION
    }

    /// Returns what a buffer may take at this moment.
    pub(crate) fn allowance(&self) -> Allowance {
        let least = if self.free() >= MIN_STORAGE { MIN_STORAGE } else { 0 };
        Allowance {
            free: self.free(),
            share: (self.free_outside_reserve() / FREE_PER_BUFFER).max(least),
            share_of_reserve: self.free() / FREE_PER_BUFFER_IN_RESERVE,
            initial: INITIAL_BUFFER,
            promised: self.free_outside_reserve(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_that_move_data_get_memory_though_idle_ones_hold_most_of_it() {
        let mut budget = Budget::new(Limits { octets: 64 << 20, ..Limits::default() });
        assert_eq!(budget.allowance().to_receive(0), 32 << 10);
        assert_eq!(budget.allowance().to_receive(1 << 19), 56 << 20 >> 6);
        // 2400 idle connections take all they can, one after another.
        for _ in 0..2400 {
            let share = budget.allowance().to_receive(0);
            budget.charge(share);
        }
        let allowance = budget.allowance();
        assert_eq!((allowance.to_receive(0), allowance.promised), (MIN_STORAGE, 0));
        assert!(allowance.to_receive(1 << 20) > 256 << 10);
        assert!(budget.has_room_for_connection(0));
        // 10,000 more take the rest.
        for _ in 0..10_000 {
            let share = budget.allowance().to_receive(0);
            budget.charge(share);
        }
        assert!(budget.used() <= 64 << 20 && !budget.has_room_for_connection(0));
        budget.refund(32 << 20);
        assert!(budget.allowance().to_receive(1 << 30) >= 24 << 20 >> 6);
    }
}
