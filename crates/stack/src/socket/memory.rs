//! The memory of a socket: its charge, the bounds of its buffers, and when it frees them.

use std::task::Waker;

use unruffled_units::{Duration, Instant};

use super::Socket;
use crate::budget::{self, Allowance, Segments};

impl Socket {
    /// Charges the socket for its present use. Returns the octets charged before and now.
    pub(crate) fn recharge(&mut self) -> (usize, usize) {
        let now = budget::CONNECTION + self.octets();
        let before = std::mem::replace(&mut self.account.charged, now);
        (before, now)
    }

    pub(crate) fn charged(&self) -> usize {
        self.account.charged
    }

    /// Returns the octets that are charged beyond those of every connection: the buffers, and what
    /// the engine's tables may need for the data in the send buffer.
    pub(super) fn octets(&self) -> usize {
        self.send.storage() + self.tables + self.receive.storage()
    }

    /// Ends the connection's turn: frees empty buffers if memory is short, and returns whether the
    /// connection must be added to those that are inspected.
    pub(crate) fn end_turn(&mut self, allowance: Allowance, now: Instant) -> bool {
        self.account.used = now;
        self.free_empty(allowance);
        let holds = self.octets() > 0 || self.connection.table_octets() > 0;
        let added = !self.flags.inspected && (holds || self.waiting.is_starved());
        self.flags.inspected |= added;
        added
    }

    /// Frees memory if the connection has been idle for `idle`, moves writers that wait for memory
    /// to `wakers`, and returns whether the connection must be inspected again.
    pub(crate) fn inspect(
        &mut self,
        idle: Duration,
        now: Instant,
        wakers: &mut Vec<Waker>,
    ) -> bool {
        let is_idle = now.since(self.account.used) >= idle;
        if is_idle {
            self.shrink();
        }
        if self.waiting.is_starved() {
            // Other connections may have freed some.
            self.waiting.wake_writers(wakers);
        }
        // What remains of the tables is in use until the next activity.
        self.flags.inspected = !is_idle || self.octets() > 0 || self.waiting.is_starved();
        self.flags.inspected
    }

    /// Returns the size to which the send buffer's storage may grow, in octets.
    pub(super) fn max_send_storage(&self, allowance: Allowance) -> usize {
        let cwnd = self.connection.window().cwnd * f64::from(self.connection.max_payload());
        let window = self.connection.in_flight().max(cwnd as u64);
        let allowance = allowance.with_tables(Segments::of(&self.connection));
        allowance.for_size(self.options.send_buffer).to_send(window)
    }

    /// Returns the size to which the receive buffer's storage may grow, in octets.
    pub(super) fn max_receive_storage(&self, allowance: Allowance) -> usize {
        allowance.for_size(self.options.receive_buffer).to_receive(self.receive.start())
    }

    /// Sets aside what the tables may need for the send buffer's present storage.
    pub(super) fn charge_tables(&mut self) {
        self.tables = Segments::of(&self.connection).tables(self.send.storage());
    }

    /// Frees empty buffers that are larger than their present bounds.
    fn free_empty(&mut self, allowance: Allowance) {
        let storage = self.send.storage();
        if storage > 0 && self.send.is_empty() && storage > self.max_send_storage(allowance) {
            self.send.shrink();
            self.charge_tables();
        }
        let storage = self.receive.storage();
        if storage > 0 && self.receive.is_empty() && storage > self.max_receive_storage(allowance) {
            self.receive.shrink();
        }
    }

    /// Shrinks the buffers and the tables to their contents.
    fn shrink(&mut self) {
        self.connection.shrink();
        self.send.shrink();
        self.charge_tables();
        self.receive.shrink();
    }
}
