//! The memory of a socket: what it is charged for, what its buffers may take, and what it frees.

use std::task::Waker;

use unruffled_units::{Duration, Instant};

use super::Socket;
use crate::budget::{self, Allowance};

impl Socket {
    /// Returns the octets that the socket is charged for, and replaces them by its present use.
    pub(crate) fn recharge(&mut self) -> (usize, usize) {
        let takes = budget::CONNECTION + self.octets();
        let had = std::mem::replace(&mut self.account.charged, takes);
        (had, takes)
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
        let rests = now.since(self.account.used) >= idle;
        if rests {
            self.shrink();
        }
        if self.waiting.is_starved() {
            // Other connections may have freed some.
            self.waiting.wake_writers(wakers);
        }
        // What remains of the tables is in use until the next activity.
        self.flags.inspected = !rests || self.octets() > 0 || self.waiting.is_starved();
        self.flags.inspected
    }

    /// Returns what the send buffer's storage may grow to.
    pub(super) fn send_most(&self, allowance: Allowance) -> usize {
        let cwnd = self.connection.window().cwnd * f64::from(self.connection.max_payload());
        let window = self.connection.in_flight().max(cwnd as u64);
        let allowance = allowance.with_tables(self.connection.max_payload());
        allowance.for_size(self.options.send_buffer).to_send(window)
    }

    /// Returns what the receive buffer's storage may grow to.
    pub(super) fn receive_most(&self, allowance: Allowance) -> usize {
        allowance.for_size(self.options.receive_buffer).to_receive(self.receive.start())
    }

    /// Sets aside what the tables may need for the send buffer's present storage.
    pub(super) fn charge_tables(&mut self) {
        self.tables = budget::tables(self.send.storage(), self.connection.max_payload());
    }

    /// Frees empty buffers that are larger than they may grow now.
    fn free_empty(&mut self, allowance: Allowance) {
        let storage = self.send.storage();
        if storage > 0 && self.send.is_empty() && storage > self.send_most(allowance) {
            self.send.shrink();
            self.charge_tables();
        }
        let storage = self.receive.storage();
        if storage > 0 && self.receive.is_empty() && storage > self.receive_most(allowance) {
            self.receive.shrink();
        }
    }

    /// Frees what the buffers and the tables do not need for their contents.
    fn shrink(&mut self) {
        self.connection.shrink();
        self.send.shrink();
        self.charge_tables();
        self.receive.shrink();
    }
}
