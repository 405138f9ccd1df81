//! What a transport passes to its detector, and what the detector asks for.

use unruffled_lateness::two_stage;
use unruffled_units::{Duration, Instant};

/// A packet that elicits an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its number. A later packet has a larger one, and no number is used twice.
    pub number: u64,
    /// When it was sent.
    pub sent: Instant,
    /// Its size, in octets.
    pub octets: u32,
}

/// What the transport knows of its path, and its congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Smallest round-trip time.
    pub min_rtt: Duration,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Duration,
    /// Retransmission timeout without backoff: QUIC's PTO (RFC 9002, section 6.2.1).
    pub timeout: Duration,
    /// Congestion window, in octets.
    pub window: u64,
    /// Maximum size of a packet, in octets.
    pub packet: u32,
    /// Whether the congestion control is in slow start.
    pub slow_start: bool,
}

impl Path {
    /// Returns the congestion window, in packets.
    pub(crate) fn packets(&self) -> f64 {
        self.window as f64 / f64::from(self.packet.max(1))
    }
}

/// Settings of a detector. The defaults are those of the sender `unruffled` and of RFC 9002.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// Maximum share of packets whose data is resent spuriously, 0 to 1, if the share lost is not smaller.
    pub budget: f64,
    /// Wait for confirmation, as a multiple of the longest lateness, at least 1.
    pub margin: f64,
    /// Minimum time for which a lateness counts. It also needs 1000 newer samples to expire.
    pub memory: Duration,
    /// Share of the window that confirms losses when suspected at a time, 0 to 1 (at least 3 packets).
    pub many: f64,
    /// Packet threshold until something has been late (RFC 9002, section 6.1.1).
    pub packet_threshold: u32,
    /// Time threshold until something has been late, in round trips (RFC 9002, section 6.1.2).
    pub time_threshold: f64,
    /// Maximum number of suspected packets that are remembered.
    pub suspicions: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            budget: two_stage::BUDGET,
            margin: two_stage::MARGIN,
            memory: two_stage::MEMORY,
            many: two_stage::MANY,
            packet_threshold: 3,
            time_threshold: 9.0 / 8.0,
            suspicions: 4096,
        }
    }
}

/// What the transport has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Verdict<S> {
    /// The packet is suspected: it no longer is in flight, and its data is to be sent again in a new packet. The
    /// window stays as it is.
    Resend(Packet),
    /// Suspected packets are confirmed as lost: one congestion event. [`Lost`](Self::Lost) names them afterwards.
    Reduce(Reduction),
    /// The packet is confirmed as lost. Its data has been resent already, so this only counts.
    Lost(Packet),
    /// Every loss that the last reduction answered has been refuted. The transport returns to this state, if its
    /// window was larger than it is now.
    Restore(S),
}

/// A congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    /// When the newest of the packets that are lost was sent.
    pub newest_sent: Instant,
    /// Their size, in octets.
    pub octets: u64,
    /// The window from which to reduce, in octets. It is smaller than the present one if the window has grown by slow
    /// start since the packets were suspected.
    pub window: u64,
    /// The longest time between two of them with consecutive numbers in between, all lost. QUIC compares it with
    /// the duration of persistent congestion (RFC 9002, section 7.6).
    pub span: Duration,
}

/// What a detector has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets whose data was resent on suspicion.
    pub suspected: u64,
    /// Suspected packets that were acknowledged after all.
    pub refuted: u64,
    /// Packets that were confirmed as lost.
    pub confirmed: u64,
    /// Reductions of the window.
    pub reductions: u64,
    /// Reductions that were taken back.
    pub undone: u64,
}
