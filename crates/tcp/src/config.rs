//! What a connection is told at its start.

use unruffled_units::Duration;

use crate::sender::Pipe;

/// Settings of one end of a connection, beside its variant. The defaults are today's standards;
/// scenarios of the papers set what ns-2 had.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a segment, in octets (SMSS).
    pub mss: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Bound on cwnd in segments, if any.
    pub max_cwnd: Option<u32>,
    /// Least retransmission timeout (RFC 6298, 2.4: 1 s).
    pub min_rto: Duration,
    /// Greatest retransmission timeout (RFC 6298, 2.5: at least 60 s).
    pub max_rto: Duration,
    /// How long an acknowledgement may wait for a second segment; none sends each at once.
    pub delayed_ack: Option<Duration>,
    /// Room for received data, in octets: the window that is advertised.
    pub receive_buffer: u64,
    /// Whether to offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// How the pipe is estimated in fast recovery with SACK.
    pub pipe: Pipe,
    /// Initial sequence number.
    pub isn: u32,
    /// Feeds what the sender does at random.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1460,
            initial_window: 10,
            max_cwnd: None,
            min_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(60),
            delayed_ack: None,
            receive_buffer: 4 << 20,
            timestamps: false,
            pipe: Pipe::SetPipe,
            isn: 0,
            seed: 0,
        }
    }
}
