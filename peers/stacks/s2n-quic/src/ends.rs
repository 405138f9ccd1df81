//! Both endpoints and their applications.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::{self, Bbr, Cubic};
use s2n_quic::provider::io::testing::{Handle, primary, spawn, test_seed};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::tls::rustls;
use s2n_quic::{Client, Server};
use stacks_driver::{About, End, Pattern, Request, fill};

use crate::counts::Counter;
use crate::network::Outgoing;
use crate::play::{self, Addresses, Read, Shared};
use crate::random::Seeded;
use crate::tls;

/// The first three are names of `s2n_quic::provider::limits::Limits`, the last of the I/O.
pub const SETTINGS: &[&str] =
    &["max_ack_ranges", "ack_elicitation_interval", "max_ack_delay_ms", "max_mtu"];

/// Octets that may be sent before they are read: 100 Mb/s over 300 ms, twice.
const WINDOW: u64 = 8 << 20;

/// Octets that are written at a time.
const CHUNK: usize = 64 << 10;

const PROTOCOL: &str = "stack";

fn text(error: impl Display) -> String {
    format!("s2n-quic: {error}")
}

/// One race, from the answer to the request to the last line.
pub fn race(bench: &Shared, about: &About, request: &Request) -> Result<(), String> {
    let limits = limits(request)?;
    let mtu = mtu(request)?;
    let outgoing = Outgoing::default();
    let outcome = Arc::new(Mutex::new(Err("the race did not end".to_owned())));
    play::lock(bench).start(about, request.control(about))?;

    let network = outgoing.clone();
    let started = test_seed(network, request.seed, |handle| {
        let race = Race {
            bench: bench.clone(),
            outgoing,
            outcome: outcome.clone(),
            limits,
            mtu,
            seed: request.seed,
            octets: request.octets.unwrap_or(u64::MAX),
        };
        match request.control(about) {
            "bbr" => race.start(handle, Bbr::default),
            _ => race.start(handle, Cubic::default),
        }
        .map_err(Into::into)
    });
    started.map_err(text)?;
    let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner).clone();
    play::lock(bench).end(&outcome?)
}

struct Race {
    bench: Shared,
    outgoing: Outgoing,
    outcome: Arc<Mutex<Result<End, String>>>,
    limits: Limits,
    mtu: u16,
    seed: u64,
    octets: u64,
}

impl Race {
    /// Starts the endpoints, their applications and the bench as tasks.
    fn start<C: congestion_controller::Endpoint>(
        self,
        handle: &Handle,
        control: fn() -> C,
    ) -> Result<(), String> {
        let (certificate, key) = tls::certificate().map_err(text)?;
        let counts = [Counter::default(), Counter::default()];
        let io = || handle.builder().with_max_mtu(self.mtu).build().map_err(text);

        let tls = rustls::Server::builder()
            .with_certificate(certificate.clone(), key)
            .map_err(text)?
            .with_application_protocols([PROTOCOL].iter())
            .map_err(text)?
            .build()
            .map_err(text)?;
        let server = Server::builder()
            .with_io(io()?)
            .map_err(text)?
            .with_tls(tls)
            .map_err(text)?
            .with_limits(self.limits)
            .map_err(text)?
            .with_congestion_controller(control())
            .map_err(text)?
            .with_random(Seeded(2 * self.seed))
            .map_err(text)?
            .with_event(counts[1].clone())
            .map_err(text)?
            .start()
            .map_err(text)?;

        let tls = rustls::Client::builder()
            .with_certificate(certificate)
            .map_err(text)?
            .with_application_protocols([PROTOCOL].iter())
            .map_err(text)?
            .build()
            .map_err(text)?;
        let client = Client::builder()
            .with_io(io()?)
            .map_err(text)?
            .with_tls(tls)
            .map_err(text)?
            .with_limits(self.limits)
            .map_err(text)?
            .with_congestion_controller(control())
            .map_err(text)?
            .with_random(Seeded(2 * self.seed + 1))
            .map_err(text)?
            .with_event(counts[0].clone())
            .map_err(text)?
            .start()
            .map_err(text)?;

        let addresses = Addresses {
            client: client.local_addr().map_err(text)?,
            server: server.local_addr().map_err(text)?,
        };
        let reader: Read = Arc::new(Mutex::new(Ok(0)));
        let of = reader.clone();
        spawn(async move { fails(&of, receive(server, &of).await) });
        let (of, octets) = (reader.clone(), self.octets);
        spawn(async move { fails(&of, send(client, addresses.server, octets).await) });
        primary::spawn(async move {
            let end = play::play(&self.bench, &self.outgoing, &reader, addresses).await;
            let end = end.map(|received| End {
                received,
                sent: play::lock(&self.bench).sent(),
                lost: counts[0].0.lost.load(Ordering::Relaxed),
                spurious: None,
                discarded: Some(counts[1].0.too_old.load(Ordering::Relaxed)),
            });
            *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = end;
        });
        Ok(())
    }
}

/// Notes why the race cannot go on.
fn fails(reader: &Read, outcome: Result<(), String>) {
    if let Err(error) = outcome {
        *reader.lock().unwrap_or_else(PoisonError::into_inner) = Err(error);
    }
}

/// The client's application: writes all that the stream takes.
async fn send(client: Client, server: SocketAddr, octets: u64) -> Result<(), String> {
    let connect = Connect::new(server).with_server_name(tls::HOST);
    let mut connection = client.connect(connect).await.map_err(text)?;
    let mut stream = connection.open_send_stream().await.map_err(text)?;
    let mut written = 0;
    while written < octets {
        let length = usize::try_from(octets - written).unwrap_or(CHUNK).min(CHUNK);
        let mut chunk = vec![0; length];
        fill(written, &mut chunk);
        stream.send(Bytes::from(chunk)).await.map_err(text)?;
        written += length as u64;
    }
    // The connection lives until the bench ends the race.
    std::future::pending().await
}

/// The server's application: reads all.
async fn receive(mut server: Server, reader: &Read) -> Result<(), String> {
    let mut connection = server.accept().await.ok_or("the server is closed")?;
    let stream = connection.accept_receive_stream().await.map_err(text)?;
    let mut stream = stream.ok_or("the connection is closed")?;
    let mut pattern = Pattern::default();
    while let Some(chunk) = stream.receive().await.map_err(text)? {
        pattern.check(&chunk)?;
        *reader.lock().unwrap_or_else(PoisonError::into_inner) = Ok(pattern.received());
    }
    std::future::pending().await
}

fn limits(request: &Request) -> Result<Limits, String> {
    let mut limits = Limits::new()
        .with_data_window(WINDOW)
        .and_then(|limits| limits.with_unidirectional_data_window(WINDOW))
        .and_then(|limits| limits.with_max_send_buffer_size(WINDOW as u32))
        .and_then(|limits| limits.with_max_idle_timeout(Duration::ZERO))
        .map_err(text)?;
    if let Some(ranges) = request.bounded("max_ack_ranges", 1..=255)? {
        limits = limits.with_max_ack_ranges(ranges).map_err(text)?;
    }
    if let Some(every) = request.bounded("ack_elicitation_interval", 1..=255)? {
        limits = limits.with_ack_elicitation_interval(every).map_err(text)?;
    }
    // A transport parameter of less than 2^14 (RFC 9000, section 18.2).
    if let Some(delay) = request.bounded("max_ack_delay_ms", 0..=16_383)? {
        limits = limits.with_max_ack_delay(Duration::from_millis(delay)).map_err(text)?;
    }
    Ok(limits)
}

fn mtu(request: &Request) -> Result<u16, String> {
    let most = request.mtu as u16;
    Ok(request.bounded("max_mtu", 1228..=most)?.unwrap_or(most.min(1500)))
}
