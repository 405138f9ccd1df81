//! What a receiver keeps, reports and discards, where stacks differ in it.

/// What a receiver keeps of what arrives, what it reports, and what it discards. The default is that of
/// RFC 9293, RFC 2018 and RFC 2883. Use it for [`Config::receiver`](crate::Config::receiver).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverConfig {
    /// Whether acknowledgements have ranges of packet numbers in place of SACK blocks, as in QUIC (RFC
    /// 9000, section 19.3). Both ends must have it. For simulation only.
    pub packets: bool,
    /// Number of packets behind the newest beyond which a packet is discarded, because the receiver
    /// cannot know whether it is a duplicate. Both ends must have it. For simulation only.
    pub duplicate_filter: Option<u32>,
    /// Maximum number of ranges in an acknowledgement. Without packet numbers this is the number of SACK
    /// blocks, at most four.
    pub reported_ranges: Option<u32>,
    /// Maximum number of ranges of packet numbers that are kept. If there are more, the oldest is
    /// forgotten: its packets are not reported any more. Without packet numbers it has no effect.
    pub kept_ranges: Option<u32>,
    /// Maximum number of islands of data above a hole. A segment that would begin one more is dropped
    /// without an answer.
    pub islands: Option<u32>,
    /// Whether duplicates are reported by DSACK.
    pub dsack: bool,
    /// Number of packets in order that one acknowledgement covers, if
    /// [acknowledgements are delayed](crate::Config::delayed_ack).
    pub ack_every: u32,
    /// One in this many acknowledgements asks to be acknowledged. When it is, packets older than the
    /// newest that it reported are discarded. None asks for none. For simulation only, with packet
    /// numbers.
    pub acknowledged_ack: Option<u32>,
    /// Whether packets older than what an acknowledged acknowledgement reported are discarded. Otherwise
    /// only those that have arrived are forgotten.
    pub discards_acknowledged: bool,
    /// Divisor of the round-trip time that bounds the delay of an acknowledgement, besides
    /// [`Config::delayed_ack`](crate::Config::delayed_ack). The round trip is that of the handshake.
    pub delay_divisor: Option<u32>,
    /// Whether an acknowledgement that is due leaves before the application reads what it acknowledges, so
    /// that its window is smaller by that.
    pub acknowledges_unread: bool,
    /// Whether a packet is in order if it is the successor of the newest packet that had to be
    /// acknowledged, rather than of the newest of all.
    pub order_of_answered: bool,
}

impl Default for ReceiverConfig {
    fn default() -> Self {
        Self {
            packets: false,
            duplicate_filter: None,
            reported_ranges: None,
            kept_ranges: None,
            islands: None,
            dsack: true,
            ack_every: 2,
            acknowledged_ack: None,
            discards_acknowledged: true,
            delay_divisor: None,
            acknowledges_unread: false,
            order_of_answered: false,
        }
    }
}

impl ReceiverConfig {
    /// Returns whether segments have packet numbers.
    pub(crate) fn numbers_packets(&self) -> bool {
        self.packets || self.duplicate_filter.is_some()
    }
}
