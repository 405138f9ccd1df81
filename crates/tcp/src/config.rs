//! The settings of a connection.

mod linux;
mod ns2;
mod receiver;
mod stacks;

use unruffled_units::Duration;

pub use ns2::{Duplicates, FastRecovery, Growth, Halving, Ns2Compat, Pipe};
pub use receiver::ReceiverConfig;

/// The version of IP that carries the segments. Use it for [`Config::wire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpVersion {
    /// RFC 791.
    V4,
    /// RFC 8200.
    V6,
}

impl IpVersion {
    /// Returns the length of its header, without options, in octets.
    pub const fn header(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }

    /// Returns the segment size that every peer accepts, in octets (RFC 9293, section 3.7.1).
    pub const fn default_mss(self) -> u32 {
        match self {
            Self::V4 => 536,
            Self::V6 => 1220,
        }
    }
}

/// Keep-alive probes of an idle connection (RFC 9293, section 3.8.4). Times below one second count as
/// one second, Linux's minimum. Use it for [`TimeoutConfig::keep_alive`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Duration,
    /// Time between probes.
    pub interval: Duration,
    /// Number of unanswered probes that ends the connection.
    pub count: u32,
}

impl KeepAlive {
    /// Returns the settings with the minimum applied. A shorter time could make a timer due again at
    /// once.
    pub(crate) fn bounded(self) -> Self {
        let minimum = Duration::from_secs(1);
        Self { idle: self.idle.max(minimum), interval: self.interval.max(minimum), ..self }
    }
}

/// Size of segments: its bounds, and what counts. Use it for [`Config::segments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentConfig {
    /// Whether TCP options reduce the payload of a segment of [`Config::mss`] (RFC 6691). The
    /// simulator's headers have the same size with any options.
    pub count_options: bool,
    /// Segment size assumed for a peer that sends no MSS option, in octets (RFC 9293, section 3.7.1).
    /// None sets no bound. An MSS option below 48 octets counts as 48, as in Linux.
    pub peer_mss: Option<u32>,
    /// Lower bound on the segment size, in octets, counted as [`Config::mss`] is. It holds for a path of
    /// any MTU. Packets are never fragmented, so an IPv4 path with a smaller MTU needs a smaller bound.
    pub min_mss: u32,
    /// The version of IP, which determines the size of the IP header.
    pub ip: IpVersion,
}

/// Congestion window: its initial size, growth and bound. Use it for [`Config::window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowConfig {
    /// Initial window in segments (RFC 6928: 10).
    pub initial: u32,
    /// Bound on cwnd in segments, if any.
    pub max: Option<u32>,
    /// Upper bound on the segments by which one acknowledgement grows the window (RFC 3465's limit L).
    /// With 1, the window grows by acknowledgements and not by segments (RFC 5681, equations 2 and 3), so
    /// a receiver that delays acknowledgements halves the growth. RFC 9406, section 4.3, has 8 for
    /// senders that do not pace.
    pub byte_counting: u32,
    /// Whether the window falls back to the initial one after an idle period longer than the
    /// retransmission timeout (RFC 5681, section 4.1). ns-2's window falls to one segment, because its
    /// retransmission timer runs with nothing outstanding (`slow_start_restart_`). No setting reproduces
    /// that.
    pub restart: bool,
    /// Whether the retransmission of a SYN is a sign of congestion. If so, the initial window is one
    /// segment (RFC 5681, section 3.1), and the timeout is at least 3 s until a round trip is measured
    /// (RFC 6298, 5.7). Since June 2006, ns-2 reduces the window in that case (`bugfix_ss_`) and leaves
    /// the timeout as it is.
    pub lost_syn_is_congestion: bool,
}

/// The bounds of the retransmission timeout, and the weight of a round-trip time. Use it for
/// [`Config::rto`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// The minimum (RFC 6298, 2.4: 1 s).
    pub min: Duration,
    /// The maximum (RFC 6298, 2.5: at least 60 s). A longer minimum takes precedence.
    pub max: Duration,
    /// The timeout before a round-trip time is measured (RFC 6298, 2.1: 1 s). A longer minimum takes
    /// precedence.
    pub initial: Duration,
    /// Maximum number of doublings by consecutive expiries; values above 63 count as 63.
    pub max_doublings: u8,
    /// Number of segments that one acknowledgement is expected to cover. A round trip yields fewer RTT
    /// samples by this factor, and each has more weight by the same factor (RFC 7323, appendix G: 2,
    /// because acknowledgements are delayed).
    pub segments_per_ack: u32,
}

/// The timestamps option (RFC 7323). Use it for [`Config::timestamps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimestampConfig {
    /// Whether to offer the option.
    pub offer: bool,
    /// Age relative to the most recent timestamp beyond which a segment is dropped (PAWS; RFC 7323,
    /// section 5, has zero). None drops no segment. A late segment can be older than a retransmission
    /// that overtook it. A larger value accepts such segments, and is safe if the peer sends less than
    /// 2 GiB in that time.
    pub paws: Option<Duration>,
    /// Initial value of the timestamp clock (RFC 7323, section 7.1, recommends a random one).
    pub offset: u32,
}

/// Use of ECN (RFC 3168), with the meaning of Linux's `tcp_ecn`. Use it for [`Config::ecn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EcnMode {
    /// Never (0).
    #[default]
    Off,
    /// If the peer requests it (2).
    Accept,
    /// This end requests it when it connects, and accepts the peer's request (1).
    Request,
}

/// Timeouts for an unresponsive peer. Use it for [`Config::timeouts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutConfig {
    /// Number of SYN retransmissions before the attempt fails. None retries forever.
    pub syn_retries: Option<u32>,
    /// Time without an answer to sent data after which the connection fails (R2 of RFC 9293, section
    /// 3.8.3, and the user timeout). None waits forever; zero fails at once.
    pub give_up: Option<Duration>,
    /// Keep-alive probes, if any.
    pub keep_alive: Option<KeepAlive>,
}

/// Settings of one end of a connection, apart from its [variant](crate::variant). The default is for
/// real packets over IPv4; [`Config::simulated`] is for a simulation.
///
/// ```
/// use unruffled_tcp::{Config, IpVersion};
///
/// let real = Config { nagle: false, ..Config::wire(IpVersion::V6) };
/// let simulated = Config::simulated().with(|c| c.window.max = Some(50));
/// assert!(real.timestamps.offer && !simulated.timestamps.offer);
/// assert_eq!(Config::default(), Config::wire(IpVersion::V4));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The largest segment that this end sends and accepts, in octets of payload, or of payload and TCP
    /// options together if [options count](SegmentConfig::count_options).
    pub mss: u32,
    /// Size of segments: its bounds, and what counts.
    pub segments: SegmentConfig,
    /// Initial sequence number; see [`crate::initial_sequence_number`].
    pub isn: u32,
    /// Congestion window: its initial size, growth and bound.
    pub window: WindowConfig,
    /// The bounds of the retransmission timeout.
    pub rto: RtoConfig,
    /// Rules in which the sender can follow ns-2 instead of the RFCs.
    pub ns2: Ns2Compat,
    /// Whether senders whose congestion control sets no rate are paced as well, at the rate at which Linux
    /// paces them.
    pub pacing: bool,
    /// Whether a small segment waits while data is unacknowledged (Nagle; RFC 9293, section 3.7.4).
    pub nagle: bool,
    /// Multiples of this many octets of the stream at which a segment ends, as those of the end of a ring
    /// buffer from which segments are sent.
    pub ring: Option<core::num::NonZeroU32>,
    /// Maximum time for which an acknowledgement waits for a second segment. None sends each at once.
    pub delayed_ack: Option<Duration>,
    /// What the receiver keeps, reports and discards. None follows the RFCs, as
    /// [`ReceiverConfig::default`] does.
    pub receiver: Option<Box<ReceiverConfig>>,
    /// Room for received data, in octets, which is the window that is advertised. A scaled window is
    /// rounded and never shrinks, so up to an eighth more may arrive
    /// ([`Connection::receive_room`](crate::Connection::receive_room)).
    pub receive_buffer: u64,
    /// Initial room for received data, in octets. It grows to `receive_buffer` with the amount that the
    /// application reads in a round trip (dynamic right-sizing, as in Linux). None begins with
    /// `receive_buffer`, as in the papers' scenarios. [`Config::wire`] begins with 64 KiB and grows to
    /// 6 MiB, as Linux does (`tcp_rmem`).
    pub initial_receive_buffer: Option<u64>,
    /// The timestamps option.
    pub timestamps: TimestampConfig,
    /// Use of ECN.
    pub ecn: EcnMode,
    /// Timeouts for an unresponsive peer.
    pub timeouts: TimeoutConfig,
    /// Maximum segment lifetime. TIME-WAIT lasts twice as long (RFC 9293: 2 min).
    pub msl: Duration,
    /// Maximum number per second of challenge ACKs, and of answers to unacceptable segments without
    /// data (RFC 5961, section 7).
    pub challenge_acks: u32,
    /// Seed of the sender's random decisions.
    pub seed: u64,
}

impl Default for Config {
    /// Returns the settings for real packets over IPv4.
    fn default() -> Self {
        Self::wire(IpVersion::V4)
    }
}

impl Config {
    /// Returns settings for a simulation: `mss` is payload, no option needs room, no connection times out, and
    /// the rules are those of the RFCs without later additions.
    pub fn simulated() -> Self {
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
                lost_syn_is_congestion: false,
            },
            rto: RtoConfig {
                min: Duration::from_secs(1),
                max: Duration::from_secs(60),
                initial: Duration::from_secs(1),
                max_doublings: 16,
                segments_per_ack: 1,
            },
            ns2: Ns2Compat::default(),
            pacing: false,
            nagle: false,
            ring: None,
            delayed_ack: None,
            receiver: None,
            receive_buffer: 4 << 20,
            initial_receive_buffer: None,
            timestamps: TimestampConfig { offer: false, paws: None, offset: 0 },
            ecn: EcnMode::Off,
            timeouts: TimeoutConfig { syn_retries: None, give_up: None, keep_alive: None },
            msl: Duration::from_secs(120),
            challenge_acks: 10,
            seed: 0,
        }
    }

    /// Returns settings for real packets: the defaults of the standards, for a link with an MTU of 1500
    /// octets.
    pub fn wire(ip: IpVersion) -> Self {
        let simulated = Self::simulated();
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
                lost_syn_is_congestion: true,
                ..simulated.window
            },
            rto: RtoConfig { segments_per_ack: 2, ..simulated.rto },
            nagle: true,
            ring: None,
            delayed_ack: Some(Duration::from_millis(40)),
            receive_buffer: 6 << 20,
            initial_receive_buffer: Some(64 << 10),
            timestamps: TimestampConfig {
                offer: true,
                paws: Some(Duration::ZERO),
                ..simulated.timestamps
            },
            ecn: EcnMode::Accept,
            timeouts: TimeoutConfig {
                // 1 + 2 + 4 + 8 + 16 + 32 + 60 + 60 s: R2 of a SYN is at least 3 min (RFC 9293,
                // section 3.8.3).
                syn_retries: Some(7),
                give_up: Some(Duration::from_secs(300)),
                keep_alive: None,
            },
            ..simulated
        }
    }

    /// Returns what the receiver keeps, reports and discards.
    pub(crate) fn receiver_rules(&self) -> ReceiverConfig {
        self.receiver.as_deref().copied().unwrap_or_default()
    }

    /// Returns the settings after `change` has been applied to them.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}
