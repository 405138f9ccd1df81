//! Counts from the stack's events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use s2n_quic::provider::event::{ConnectionInfo, ConnectionMeta, Subscriber, events};

/// Counts of one endpoint.
#[derive(Debug, Default)]
pub struct Counts {
    /// Packets declared lost, probes of the MTU left out.
    pub lost: AtomicU64,
    /// Packets too old for the filter of duplicates. One that came before is among them if it comes
    /// again so late.
    pub too_old: AtomicU64,
}

/// Adds to the counts.
#[derive(Clone, Debug, Default)]
pub struct Counter(pub Arc<Counts>);

impl Subscriber for Counter {
    type ConnectionContext = ();

    fn create_connection_context(&mut self, _: &ConnectionMeta, _: &ConnectionInfo<'_>) {}

    fn on_packet_lost(&mut self, (): &mut (), _: &ConnectionMeta, event: &events::PacketLost<'_>) {
        if !event.is_mtu_probe {
            self.0.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn on_duplicate_packet(
        &mut self,
        (): &mut (),
        _: &ConnectionMeta,
        event: &events::DuplicatePacket<'_>,
    ) {
        if matches!(event.error, events::DuplicatePacketError::TooOld { .. }) {
            self.0.too_old.fetch_add(1, Ordering::Relaxed);
        }
    }
}
