//! What a connection is told at its start.

mod ns2;

use unruffled_units::Duration;

pub use ns2::{Duplicates, FastRecovery, Growth, Halving, Ns2Compat, Pipe};

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

/// When to ask a silent peer whether it is still there (RFC 9293, section 3.8.4). Less than a second
/// counts as a second, Linux's minimum. Use it for [`PatienceConfig::keep_alive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Probes without an answer that end the connection.
    pub count: u32,
}

impl KeepAlive {
    /// Its times as they are heeded: without a minimum a timer would be due again at once.
    pub(crate) fn bounded(self) -> Self {
        let minimum = Duration::from_secs(1);
        let (idle, interval) = (self.idle.max(minimum), self.interval.max(minimum));
        Self { idle, interval, ..self }
    }
}

/// How segments are measured and bounded. Use it for [`Config::segments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentConfig {
    /// Whether options take their room from [`Config::mss`] (RFC 6691). The simulator's headers have
    /// one size whatever they hold.
    pub count_options: bool,
    /// What a peer that does not say takes (RFC 9293, section 3.7.1); none sets no bound. A peer that
    /// asks for segments below 48 octets gets such of 48, as from Linux.
    pub peer_mss: Option<u32>,
    /// What the path's MTU never lowers the segments below, counted as [`Config::mss`] is. Packets are
    /// never fragmented, so that a path of IPv4 that takes less needs a smaller one.
    pub min_mss: u32,
    /// The version of IP, for the size of its header.
    pub ip: IpVersion,
}

/// How the congestion window begins, grows and is bounded. Use it for [`Config::window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Initial window in segments (RFC 6928: 10).
    pub initial: u32,
    /// Bound on cwnd in segments, if any.
    pub max: Option<u32>,
    /// Segments that count of those which one acknowledgement covers, when the window grows (RFC
    /// 3465's limit L): 1 counts acknowledgements (RFC 5681, equations 2 and 3), and then a
    /// receiver that delays them halves the growth. Real packets: 8, what RFC 9406, section 4.3, has
    /// for senders that do not pace.
    pub byte_counting: u32,
    /// Whether a window that was not used for longer than the retransmission timeout falls back to
    /// the initial one (RFC 5681, section 4.1). ns-2's falls to one segment, since its retransmission
    /// timer runs on with nothing outstanding (`slow_start_restart_`); no setting does that here.
    pub restart: bool,
    /// Whether a SYN that had to be sent again is taken for congestion: the initial window is one
    /// segment (RFC 5681, section 3.1), and the timeout at least 3 s until a round trip is measured
    /// (RFC 6298, 5.7). ns-2's window is one segment since June 2006 (`bugfix_ss_`), its timeout as
    /// it was.
    pub heed_lost_syn: bool,
}

/// The retransmission timeout's bounds, and how much a round-trip time weighs in it. Use it for
/// [`Config::rto`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// The minimum (RFC 6298, 2.4: 1 s).
    pub min: Duration,
    /// The maximum (RFC 6298, 2.5: at least 60 s), or the minimum if that is longer.
    pub max: Duration,
    /// Before a round-trip time was measured, unless the minimum is longer (RFC 6298, 2.1: 1 s).
    pub initial: Duration,
    /// How often expiries in a row double it, at most; 63 count.
    pub max_doublings: u8,
    /// Segments that one acknowledgement is expected to answer: so many round-trip times are measured
    /// less per round, and so much more does each weigh (RFC 7323, appendix G: 2, because
    /// acknowledgements are delayed).
    pub segments_per_ack: u32,
}

/// The timestamps option (RFC 7323). Use it for [`Config::timestamps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampConfig {
    /// Whether to offer it.
    pub offer: bool,
    /// Whether to drop what has an older timestamp than was seen before, and how much older it may
    /// be (PAWS, RFC 7323, section 5: nothing). A late segment can be older than a retransmission
    /// that overtook it; whoever expects such, and does not send 2 GiB in that time, may allow more.
    pub paws: Option<Duration>,
    /// What the clock starts from (RFC 7323, section 7.1: better not the machine's).
    pub offset: u32,
}

/// How long a peer that is silent is borne with. Use it for [`Config::patience`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatienceConfig {
    /// How often a SYN is sent again before the attempt is given up; none never gives up.
    pub syn_retries: Option<u32>,
    /// How long what was sent may stay without an answer before the connection is given up (R2 of
    /// RFC 9293, section 3.8.3, and the user timeout); none never gives up, zero does at once.
    pub give_up: Option<Duration>,
    /// Probes of an idle connection, if any.
    pub keep_alive: Option<KeepAlive>,
}

/// Settings of one end of a connection, beside its variant. The defaults are what a simulation
/// wants: `mss` is payload, nothing is ever given up. For packets take [`Config::wire`].
///
/// ```
/// use unruffled_tcp::{Config, IpVersion};
///
/// let simulated = Config::default().with(|c| c.window.max = Some(50));
/// let real = Config { nagle: false, ..Config::wire(IpVersion::V6) };
/// assert!(!simulated.timestamps.offer && real.timestamps.offer);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Largest payload of a segment, in octets (SMSS); where options are counted, what the MSS option
    /// says: payload and TCP options together.
    pub mss: u32,
    /// How segments are measured and bounded.
    pub segments: SegmentConfig,
    /// Initial sequence number; see [`crate::initial_sequence_number`].
    pub isn: u32,
    /// How the congestion window begins, grows and is bounded.
    pub window: WindowConfig,
    /// The retransmission timeout's bounds.
    pub rto: RtoConfig,
    /// Rules that can be as in ns-2.
    pub ns2: Ns2Compat,
    /// Whether a small segment waits while anything is unacknowledged (Nagle; RFC 9293, section
    /// 3.7.4).
    pub nagle: bool,
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
    /// The timestamps option.
    pub timestamps: TimestampConfig,
    /// How long a silent peer is borne with.
    pub patience: PatienceConfig,
    /// Maximum segment lifetime; TIME-WAIT lasts twice as long (RFC 9293: 2 min).
    pub msl: Duration,
    /// Challenge ACKs, and answers to unacceptable segments without text, in a second (RFC 5961,
    /// section 7).
    pub challenge_acks: u32,
    /// Feeds what the sender does at random.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        let ip = IpVersion::V4;
        Self {
            mss: 1460,
            segments: SegmentConfig {
                count_options: false,
                peer_mss: None,
                min_mss: ip.default_mss(),
                ip,
            },
            isn: 0,
            window: WindowConfig {
                initial: 10,
                max: None,
                byte_counting: 1,
                restart: false,
                heed_lost_syn: false,
            },
            rto: RtoConfig {
                min: Duration::from_secs(1),
                max: Duration::from_secs(60),
                initial: Duration::from_secs(1),
                max_doublings: 16,
                segments_per_ack: 1,
            },
            ns2: Ns2Compat::default(),
            nagle: false,
            delayed_ack: None,
            receive_buffer: 4 << 20,
            initial_receive_buffer: None,
            timestamps: TimestampConfig { offer: false, paws: None, offset: 0 },
            patience: PatienceConfig { syn_retries: None, give_up: None, keep_alive: None },
            msl: Duration::from_secs(120),
            challenge_acks: 10,
            seed: 0,
        }
    }
}

impl Config {
    /// Settings for real packets: the standards' defaults, for a link of 1500 octets.
    pub fn wire(ip: IpVersion) -> Self {
        let simulated = Self::default();
        Self {
            mss: 1500 - ip.header() - 20,
            segments: SegmentConfig {
                count_options: true,
                peer_mss: Some(ip.default_mss()),
                min_mss: ip.default_mss(),
                ip,
            },
            window: WindowConfig {
                byte_counting: 8,
                restart: true,
                heed_lost_syn: true,
                ..simulated.window
            },
            rto: RtoConfig { segments_per_ack: 2, ..simulated.rto },
            nagle: true,
            delayed_ack: Some(Duration::from_millis(40)),
            receive_buffer: 6 << 20,
            initial_receive_buffer: Some(64 << 10),
            timestamps: TimestampConfig {
                offer: true,
                paws: Some(Duration::ZERO),
                ..simulated.timestamps
            },
            patience: PatienceConfig {
                // 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 s: R2 of a SYN is at least 3 min (RFC 9293,
                // section 3.8.3).
                syn_retries: Some(7),
                give_up: Some(Duration::from_secs(300)),
                keep_alive: None,
            },
            ..simulated
        }
    }

    /// The same with what `change` does to it.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
