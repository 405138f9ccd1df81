//! A packet that waits.

use std::collections::BTreeMap;

use unruffled_units::Instant;

use crate::flow::Data;

/// A packet that waits.
#[derive(Debug)]
pub(crate) struct Held<T> {
    pub(crate) token: T,
    /// One more than its last number.
    pub(crate) end: u64,
    pub(crate) arrived: Instant,
    /// When it should have arrived: its arrival, or that of the first packet that overtook it. It is no later than
    /// the arrivals of this packet and of all behind it, so that a wait that is bounded from then on is bounded for
    /// each of them.
    pub(crate) nominal: Instant,
    /// Whether it keeps the pace of its run; not if it was sent again.
    pub(crate) is_paced: bool,
    pub(crate) timestamp: Option<u32>,
    pub(crate) octets: u32,
}

impl<T> Held<T> {
    /// Creates a packet of `data` that arrives now, in order.
    pub(crate) fn new(token: T, end: u64, data: &Data, now: Instant) -> Self {
        let Data { timestamp, octets, .. } = *data;
        Self { token, end, arrived: now, nominal: now, is_paced: true, timestamp, octets }
    }
}

/// Makes the nominal times of packets from different orders those of one order.
pub(crate) fn level<K: Ord, T>(packets: &mut BTreeMap<K, Held<T>>) {
    let mut earliest = Instant::MAX;
    for packet in packets.values_mut().rev() {
        earliest = earliest.min(packet.nominal);
        packet.nominal = earliest;
    }
}
