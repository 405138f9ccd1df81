//! What a connection is told at its start.

use unruffled_units::Duration;

use crate::sender::{FastRecovery, Pipe};

/// The version of IP that carries the segments. Use it for [`Config::wire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// Octets of its header, without options.
    pub const fn header(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    /// The segment that every peer takes (RFC 9293, section 3.7.1).
    pub const fn default_mss(self) -> u32 {
        match self {
            Self::V4 => 536,
            Self::V6 => 1220,
        }
    }
}

/// When to ask a silent peer whether it is still there (RFC 9293, section 3.8.4). Use it for
/// [`Config::keep_alive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Probes without an answer that end the connection.
    pub count: u32,
}

/// Settings of one end of a connection, beside its variant. The defaults are what a simulation
/// wants: `mss` is payload, nothing is ever given up. For packets take [`Config::wire`].
///
/// ```
/// use unruffled_tcp::{Config, IpVersion};
///
/// let simulated = Config { max_cwnd: Some(50), ..Config::default() };
/// let real = Config { nagle: false, ..Config::wire(IpVersion::V6) };
/// assert!(!simulated.timestamps && real.timestamps);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a segment, in octets (SMSS); with `count_options`, what the MSS option
    /// says: payload and TCP options together.
    pub mss: u32,
    /// Whether options take their room from `mss` (RFC 6691). The simulator's headers have one size
    /// whatever they hold.
    pub count_options: bool,
    /// What a peer that does not say takes (RFC 9293, section 3.7.1); none sets no bound. A peer that
    /// asks for segments below 48 octets gets such of 48, as from Linux.
    pub peer_mss: Option<u32>,
    /// The version of IP, for the size of its header.
    pub ip: IpVersion,
    /// What the path's MTU never lowers the segments below, counted as `mss` is.
    pub min_mss: u32,
    /// Initial window in segments (RFC 6928: 10).
    pub initial_window: u32,
    /// Whether a window that was not used for longer than the retransmission timeout falls back to
    /// the initial one (RFC 5681, section 4.1). ns-2's does not.
    pub restart_window: bool,
    /// Whether a SYN that had to be sent again is taken for congestion: the initial window is one
    /// segment (RFC 5681, section 3.1), and the timeout at least 3 s until a round trip is measured
    /// (RFC 6298, 5.7). The papers' connections have no handshake.
    pub heed_lost_syn: bool,
    /// Segments that one acknowledgement is expected to answer: so many round-trip times are measured
    /// less per round, and so much more does each weigh (RFC 7323, appendix G: 2, because
    /// acknowledgements are delayed).
    pub segments_per_ack: u32,
    /// Bound on cwnd in segments, if any.
    pub max_cwnd: Option<u32>,
    /// Segments that count of those which one acknowledgement covers, when the window grows (RFC
    /// 3465's limit L): 1 counts acknowledgements (RFC 5681, equations 2 and 3), and then a
    /// receiver that delays them halves the growth.
    pub byte_counting: u32,
    /// Minimum retransmission timeout (RFC 6298, 2.4: 1 s).
    pub min_rto: Duration,
    /// Maximum retransmission timeout (RFC 6298, 2.5: at least 60 s).
    pub max_rto: Duration,
    /// How long an acknowledgement may wait for a second segment; none sends each at once.
    pub delayed_ack: Option<Duration>,
    /// Room for received data, in octets: the window that is advertised. Since a scaled window is
    /// told in units, and is never taken back, up to an eighth more may come
    /// ([`Connection::receive_room`](crate::Connection::receive_room)).
    pub receive_buffer: u64,
    /// What the room for received data begins with, where it grows to `receive_buffer` with what the
    /// application reads in a round trip (dynamic right-sizing, as in Linux); none for all of it at
    /// once, as in the papers' scenarios. [`Config::wire`] begins with 64 KiB and ends with 6 MiB, as
    /// Linux does (`tcp_rmem`).
    pub initial_receive_buffer: Option<u64>,
    /// Whether to offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether to drop what has an older timestamp than was seen before, and how much older it may
    /// be (PAWS, RFC 7323, section 5: nothing). A late segment can be older than a retransmission
    /// that overtook it; whoever expects such, and does not send 2 GiB in that time, may allow more.
    pub paws: Option<Duration>,
    /// What the timestamp clock starts from (RFC 7323, section 7.1: better not the machine's).
    pub timestamp_offset: u32,
    /// How the pipe is estimated in fast recovery with SACK.
    pub pipe: Pipe,
    /// How Reno's fast recovery begins and ends.
    pub fast_recovery: FastRecovery,
    /// Feeds what the sender does at random.
    pub seed: u64,
    /// Initial sequence number; see [`crate::initial_sequence_number`].
    pub isn: u32,
    /// Whether a small segment waits while anything is unacknowledged (Nagle; RFC 9293, section
    /// 3.7.4).
    pub nagle: bool,
    /// Maximum segment lifetime; TIME-WAIT lasts twice as long (RFC 9293: 2 min).
    pub msl: Duration,
    /// How often a SYN is sent again before the attempt is given up; none never gives up.
    pub syn_retries: Option<u32>,
    /// How long what was sent may stay without an answer before the connection is given up (R2 of
    /// RFC 9293, section 3.8.3, and the user timeout); none never gives up.
    pub give_up: Option<Duration>,
    /// Probes of an idle connection, if any.
    pub keep_alive: Option<KeepAlive>,
    /// Challenge ACKs, and answers to unacceptable segments without text, in a second (RFC 5961,
    /// section 7).
    pub challenge_acks: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mss: 1460,
            count_options: false,
            peer_mss: None,
            ip: IpVersion::V4,
            min_mss: IpVersion::V4.default_mss(),
            initial_window: 10,
            restart_window: false,
            heed_lost_syn: false,
            segments_per_ack: 1,
            max_cwnd: None,
            byte_counting: 1,
            min_rto: Duration::from_secs(1),
            max_rto: Duration::from_secs(60),
            delayed_ack: None,
            receive_buffer: 4 << 20,
            initial_receive_buffer: None,
            timestamps: false,
            paws: None,
            timestamp_offset: 0,
            isn: 0,
            pipe: Pipe::SetPipe,
            fast_recovery: FastRecovery::Rfc5681,
            seed: 0,
            nagle: false,
            msl: Duration::from_secs(120),
            syn_retries: None,
            give_up: None,
            keep_alive: None,
            challenge_acks: 10,
        }
    }
}

impl Config {
    /// Settings for real packets: the standards' defaults, for a link of 1500 octets.
    pub fn wire(ip: IpVersion) -> Self {
        Self {
            mss: 1500 - ip.header() - 20,
            count_options: true,
            byte_counting: 2,
            restart_window: true,
            heed_lost_syn: true,
            segments_per_ack: 2,
            peer_mss: Some(ip.default_mss()),
            ip,
            min_mss: ip.default_mss(),
            delayed_ack: Some(Duration::from_millis(40)),
            receive_buffer: 6 << 20,
            initial_receive_buffer: Some(64 << 10),
            timestamps: true,
            paws: Some(Duration::ZERO),
            nagle: true,
            // 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 s: R2 of a SYN is at least 3 min (RFC 9293,
            // section 3.8.3).
            syn_retries: Some(7),
            give_up: Some(Duration::from_secs(300)),
            ..Self::default()
        }
    }
}
