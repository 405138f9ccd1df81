//! The bench, as a task of the executor: it lets time pass, and stops it while it asks for the next
//! step.

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bach::time::{Instant, sleep, sleep_until};
use s2n_quic::provider::io::testing::network;
use s2n_quic_core::inet::ExplicitCongestionNotification;
use s2n_quic_core::path::Tuple;
use stacks_driver::{Bench, IP_UDP, Packet, Side, Step};

use crate::network::Outgoing;

/// The bench, for the task and for an error after it.
pub type Shared = Arc<Mutex<Bench>>;

/// Shares a bench.
pub fn share(bench: Bench) -> Shared {
    Arc::new(Mutex::new(bench))
}

/// The bench, for one call.
pub fn lock(bench: &Shared) -> MutexGuard<'_, Bench> {
    bench.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the application of the server has read, or why the race cannot go on.
pub type Read = Arc<Mutex<Result<u64, String>>>;

/// The state of the reading application.
pub fn read(of: &Read) -> Result<u64, String> {
    of.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Addresses of both ends.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    /// The client's.
    pub client: SocketAddr,
    /// The server's.
    pub server: SocketAddr,
}

/// Plays all steps; gives the octets read.
pub async fn play(
    bench: &Shared,
    outgoing: &Outgoing,
    reader: &Read,
    addresses: Addresses,
) -> Result<u64, String> {
    loop {
        let step = lock(bench).step()?;
        let Step::Run { until, arrivals } = step else {
            return read(reader);
        };
        for packet in arrivals {
            arrive(outgoing, addresses, packet)?;
        }
        loop {
            // A timer of no length ends when all tasks of this instant wait.
            sleep(Duration::ZERO).await;
            read(reader)?;
            let sent = outgoing.take();
            for side in [Side::Client, Side::Server] {
                for packet in &sent {
                    leave(&mut lock(bench), addresses, side, packet);
                }
            }
            if lock(bench).has_sent() || now() >= until {
                break;
            }
            let mut end = pin!(sleep_until(Instant::zero() + Duration::from_nanos(until)));
            poll_fn(|context| match outgoing.poll(context) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => end.as_mut().poll(context),
            })
            .await;
        }
        lock(bench).at(now(), read(reader)?)?;
    }
}

fn now() -> u64 {
    Instant::now().elapsed_since_start().as_nanos() as u64
}

/// Writes a packet of `side` out. Its last octet is the ECN field of its IP header.
fn leave(bench: &mut Bench, addresses: Addresses, side: Side, packet: &network::Packet) {
    let from: SocketAddr = packet.path.local_address.0.into();
    if (from == addresses.client) == (side == Side::Client) {
        let mut data = packet.payload.clone();
        data.push(packet.ecn as u8);
        bench.send(side, data, IP_UDP - 1);
    }
}

/// Puts a packet into the queue of the socket that it arrives at.
fn arrive(outgoing: &Outgoing, addresses: Addresses, packet: Packet) -> Result<(), String> {
    let (from, to) = match packet.from {
        Side::Client => (addresses.client, addresses.server),
        Side::Server => (addresses.server, addresses.client),
    };
    let mut payload = packet.data;
    let ecn = ExplicitCongestionNotification::new(payload.pop().unwrap_or_default());
    let path = Tuple {
        remote_address: s2n_quic_core::inet::SocketAddress::from(from).into(),
        local_address: s2n_quic_core::inet::SocketAddress::from(to).into(),
    };
    let buffers =
        outgoing.buffers().ok_or_else(|| "a packet arrives before one was sent".to_owned())?;
    buffers.rx(to.into(), |queue| {
        queue.enqueue(network::Packet { path, ecn, payload });
    });
    Ok(())
}
