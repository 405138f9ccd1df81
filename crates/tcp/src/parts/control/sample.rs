//! What one acknowledgement shows of the path: how much was delivered, at which rate, and what was lost
//! (draft-ietf-ccwg-bbr, section 4.1, "Delivery Rate Samples"; Linux, `net/ipv4/tcp_rate.c`).

use unruffled_units::{Duration, Instant};

/// The sender's state with regard to loss, as congestion controls receive it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossState {
    /// Nothing is deemed lost. Segments that may only be late do not count.
    #[default]
    Open,
    /// Fast recovery.
    Recovery,
    /// Recovery after a retransmission timeout.
    Timeout,
}

/// The state of the connection when a segment was sent, as far as its delivery or its loss needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SentState {
    /// Segments delivered before (P.delivered).
    pub delivered: u64,
    /// Time of the last delivery before (P.delivered_time).
    pub delivered_at: Instant,
    /// Time of transmission of the segment delivered last before (P.first_send_time).
    pub first_sent: Instant,
    /// Segments lost before (P.lost).
    pub lost: u64,
    /// Segments in flight, this one included (P.tx_in_flight). With a two-stage detector, those that are
    /// late are excluded.
    pub in_flight: u32,
    /// Whether the sender had less to send than the window permitted (P.is_app_limited).
    pub app_limited: bool,
}

/// The rate of delivery between the transmission of a segment and its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeliveryRate {
    /// The state when the most recently sent of the acknowledged segments was sent.
    pub sent: SentState,
    /// Segments delivered from then on (rs.delivered).
    pub delivered: u64,
    /// Segments lost from then on (rs.lost).
    pub lost: u64,
    /// The time that took: the longer one of the times in which these segments were sent and acknowledged
    /// (rs.interval). At least the minimum round-trip time.
    pub interval: Duration,
    /// Time from the transmission of that segment to its acknowledgement. Shorter than a round trip if the
    /// acknowledgement is for an earlier transmission, which was late.
    pub age: Duration,
}

impl DeliveryRate {
    /// Returns the rate in segments per second.
    pub fn per_second(&self) -> f64 {
        self.delivered as f64 / self.interval.as_secs_f64()
    }
}

/// What one acknowledgement shows of the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSample {
    /// Segments that it delivered, cumulatively or selectively (rs.newly_acked).
    pub delivered: u32,
    /// Segments found lost since the last sample (rs.newly_lost). With a two-stage detector, only those
    /// that are confirmed to be lost.
    pub lost: u32,
    /// All segments delivered so far (C.delivered).
    pub delivered_total: u64,
    /// All segments lost so far (C.lost). A loss that proves spurious is taken back.
    pub lost_total: u64,
    /// Segments in flight after it (C.inflight). With a two-stage detector, those that are late are
    /// excluded: they are in no queue, and the sender may have as many in flight besides the window.
    pub in_flight: u32,
    /// Segments in flight before it, late ones excluded as well.
    pub in_flight_before: u32,
    /// Whether as much was in flight before it as the window permits.
    pub window_full: bool,
    /// The round-trip time of the most recently sent of these segments, if it was sent once. With a
    /// two-stage detector, none if the segment is late.
    pub rtt: Option<Duration>,
    /// Whether the receiver may have delayed the acknowledgement, because one segment was outstanding.
    pub ack_may_be_delayed: bool,
    /// The rate of delivery, if it could be measured.
    pub rate: Option<DeliveryRate>,
    /// The state with regard to loss, after it.
    pub loss_state: LossState,
    /// Time until pacing permits the next segment.
    pub departs_in: Duration,
}

impl PathSample {
    /// Returns the segments delivered and lost so far.
    pub(super) fn totals(&self) -> Totals {
        Totals { delivered: self.delivered_total, lost: self.lost_total }
    }
}

/// Segments delivered and lost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) delivered: u64,
    pub(super) lost: u64,
}

/// A segment that was lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostSegment {
    /// Number of the segment. Numbers of neighbours differ by one.
    pub number: u64,
    /// The state when it was sent.
    pub sent: SentState,
    /// All segments lost so far, this one included (C.lost).
    pub lost_total: u64,
    /// All segments delivered so far (C.delivered).
    pub delivered_total: u64,
}
