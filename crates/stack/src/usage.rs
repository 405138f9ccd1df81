//! Memory and connections of a stack.

/// Memory and connections of a stack at one moment. The [`Limits`](crate::Limits) bound them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Connections in memory, in any state. Half-open ones and those counted in `time_waits` are
    /// not among them.
    pub connections: usize,
    /// Half-open connections.
    pub requests: usize,
    /// Connections in TIME-WAIT that no application holds.
    pub time_waits: usize,
    /// Octets of memory that the stack is charged for.
    pub octets: usize,
}
