//! The network that the testing I/O asks to take what was sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use s2n_quic::provider::io::testing::network::{Buffers, Network, Packet};

/// Packets on their way to the bench.
#[derive(Clone, Default)]
pub struct Outgoing(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    packets: Vec<Packet>,
    waker: Option<Waker>,
    buffers: Option<Buffers>,
}

impl Outgoing {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has been sent.
    pub fn take(&self) -> Vec<Packet> {
        std::mem::take(&mut self.lock().packets)
    }

    /// Ready when something has been sent.
    pub fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.packets.is_empty() {
            state.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(())
    }

    /// Queues of the sockets, which exist once an endpoint has sent.
    pub fn buffers(&self) -> Option<Buffers> {
        self.lock().buffers.clone()
    }
}

impl Network for Outgoing {
    fn execute(&mut self, buffers: &Buffers) -> usize {
        let mut state = self.lock();
        if state.buffers.is_none() {
            state.buffers = Some(buffers.clone());
        }
        let before = state.packets.len();
        buffers.drain_pending_transmissions(|packet| {
            state.packets.push(packet);
            Ok(())
        });
        let sent = state.packets.len() - before;
        if sent > 0
            && let Some(waker) = state.waker.take()
        {
            waker.wake();
        }
        sent
    }
}
