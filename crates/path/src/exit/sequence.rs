//! Sequence check of L2TP, which accepts only packets in order.

/// Sequence check that accepts the next number only.
///
/// Linux `net/l2tp/l2tp_core.c`, `l2tp_recv_data_seq`, without `reorder_timeout`.
#[derive(Clone, Debug)]
pub(super) struct Sequence {
    /// Number of packets in order after which the last one is accepted.
    required: u32,
    /// Number that is accepted next.
    expected: u64,
    /// Number of the last packet that was ahead of the expected one.
    last_ahead: u64,
    /// Packets ahead of the expected one that followed one another in order.
    run: u32,
}

impl Sequence {
    pub(super) fn new(required: u32) -> Self {
        Self { required, expected: 1, last_ahead: 0, run: 0 }
    }

    /// Returns whether the packet with `number` is accepted.
    pub(super) fn accepts(&mut self, number: u64) -> bool {
        if number < self.expected {
            return false;
        }
        if number > self.expected {
            self.run = if number == self.last_ahead + 1 { self.run + 1 } else { 0 };
            self.last_ahead = number;
            if self.run < self.required {
                return false;
            }
        }
        self.expected = number + 1;
        true
    }
}
