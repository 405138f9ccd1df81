//! Both ends.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Instant;

use quiche::{Config, CongestionControlAlgorithm, Connection, ConnectionId, Error, RecvInfo};
use stacks_driver::{About, Bench, End, Ends, IP_UDP, Packet, Pattern, Request, Side, fill};

use crate::{clock, random, tls};

/// Names are those of `quiche::Config`.
pub const SETTINGS: &[&str] = &[
    "enable_relaxed_loss_threshold",
    "enable_hystart",
    "enable_pacing",
    "max_send_udp_payload_size",
    "send_capacity_factor",
];

/// Octets that may be sent before they are read: 100 Mb/s over 300 ms, twice.
const WINDOW: u64 = 8 << 20;

/// The client's first stream of one direction.
const STREAM: u64 = 2;

/// Octets that are written at a time.
const CHUNK: usize = 64 << 10;

const CLIENT: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 49_152);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 443);

/// A connection, and its packets that wait for their time.
struct Peer {
    connection: Connection,
    address: SocketAddr,
    other: SocketAddr,
    /// With the time that the pacer gave them, as a socket with `SO_TXTIME` keeps them.
    paced: VecDeque<(Instant, Vec<u8>)>,
    /// When it may write the next one.
    resumes: Option<Instant>,
}

impl Peer {
    /// Lets the connection write what it may; true if that is anything. As tokio-quiche does it,
    /// packets are written ahead of their time by no more than the connection names.
    fn send(&mut self, now: Instant, room: &mut [u8]) -> Result<bool, String> {
        let mut any = false;
        loop {
            let ahead = self.connection.max_release_into_future();
            let release = self.connection.get_next_release_time();
            let next = release.and_then(|release| release.time(now)).map(|at| at - ahead);
            self.resumes = next.filter(|&next| next > now);
            if self.resumes.is_some() {
                return Ok(any);
            }
            match self.connection.send(room) {
                Ok((length, info)) => {
                    self.paced.push_back((info.at, room[..length].to_vec()));
                    any = true;
                }
                Err(Error::Done) => return Ok(any),
                Err(error) => return Err(format!("send: {error:?}")),
            }
        }
    }

    /// When the connection or a packet is due.
    fn due(&self) -> Option<Instant> {
        let packet = self.paced.front().map(|(at, _)| *at);
        let timer = self.connection.timeout_instant();
        packet.into_iter().chain(timer).chain(self.resumes).min()
    }
}

/// Two connections.
pub struct Quiche {
    start: Instant,
    client: Peer,
    server: Peer,
    room: Vec<u8>,
    octets: u64,
    written: u64,
    pattern: Pattern,
    discarded: u64,
}

impl Ends for Quiche {
    fn open(request: &Request, about: &About) -> Result<Quiche, String> {
        let control = match request.control(about) {
            "reno" => CongestionControlAlgorithm::Reno,
            "bbr2" => CongestionControlAlgorithm::Bbr2Gcongestion,
            _ => CongestionControlAlgorithm::CUBIC,
        };
        random::seed(request.seed)?;
        let contexts = tls::contexts().map_err(|error| error.to_string())?;
        let mut configs = Vec::new();
        for context in contexts {
            let wrong = |error| format!("quiche: {error:?}");
            let mut config = Config::with_boring_ssl_ctx_builder(quiche::PROTOCOL_VERSION, context)
                .map_err(wrong)?;
            config.set_application_protos(&[b"stack"]).map_err(wrong)?;
            config.set_initial_max_data(WINDOW);
            config.set_max_connection_window(3 * WINDOW);
            config.set_initial_max_stream_data_uni(WINDOW);
            config.set_initial_max_streams_uni(1);
            config.set_cc_algorithm(control);
            settings(request, &mut config)?;
            configs.push(config);
        }
        let [client, server] = &mut configs[..] else {
            return Err("quiche: two configurations expected".to_owned());
        };
        client.verify_peer(true);
        let id = |first: u8| {
            let mut id = [first; quiche::MAX_CONN_ID_LEN];
            id[..8].copy_from_slice(&request.seed.to_be_bytes());
            ConnectionId::from_vec(id.to_vec())
        };
        let wrong = |error| format!("quiche: {error:?}");
        let client =
            quiche::connect(Some(tls::HOST), &id(1), CLIENT, SERVER, client).map_err(wrong)?;
        let server = quiche::accept(&id(2), None, SERVER, CLIENT, server).map_err(wrong)?;
        let peer = |connection, address, other| Peer {
            connection,
            address,
            other,
            paced: VecDeque::new(),
            resumes: None,
        };
        Ok(Quiche {
            start: Instant::now(),
            client: peer(client, CLIENT, SERVER),
            server: peer(server, SERVER, CLIENT),
            room: vec![0; CHUNK],
            octets: request.octets.unwrap_or(u64::MAX),
            written: 0,
            pattern: Pattern::default(),
            discarded: 0,
        })
    }

    fn deliver(&mut self, now: u64, mut packet: Packet) -> Result<(), String> {
        clock::set(now);
        let peer = match packet.from {
            Side::Client => &mut self.server,
            Side::Server => &mut self.client,
        };
        let info = RecvInfo { from: peer.other, to: peer.address };
        let before = peer.connection.stats().recv;
        match peer.connection.recv(&mut packet.data, info) {
            Ok(_) | Err(Error::Done) => {}
            Err(error) => return Err(format!("recv: {error:?}")),
        }
        let taken = peer.connection.stats().recv > before;
        let established = peer.connection.is_established();
        if packet.from == Side::Client && established && !packet.again && !taken {
            self.discarded += 1;
        }
        Ok(())
    }

    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
        clock::set(now);
        let now = Instant::now();
        for peer in [&mut self.client, &mut self.server] {
            if peer.connection.timeout_instant().is_some_and(|due| due <= now) {
                peer.connection.on_timeout();
            }
        }
        self.read()?;
        self.server.send(now, &mut self.room)?;
        while self.write()? | self.client.send(now, &mut self.room)? {}
        for (side, peer) in [(Side::Client, &mut self.client), (Side::Server, &mut self.server)] {
            while let Some((_, data)) = peer.paced.pop_front_if(|(at, _)| *at <= now) {
                bench.send(side, data, IP_UDP);
            }
            if peer.connection.is_closed() || peer.connection.is_draining() {
                let why = peer.connection.local_error().or(peer.connection.peer_error());
                return Err(format!("the connection is closed: {why:?}"));
            }
        }
        Ok(())
    }

    fn due(&mut self) -> Option<u64> {
        let due = self.client.due().into_iter().chain(self.server.due()).min()?;
        Some(due.saturating_duration_since(self.start).as_nanos() as u64)
    }

    fn received(&self) -> u64 {
        self.pattern.received()
    }

    fn end(&mut self) -> End {
        let stats = self.client.connection.stats();
        End {
            lost: stats.lost as u64,
            spurious: Some(stats.spurious_lost as u64),
            discarded: Some(self.discarded),
            ..End::default()
        }
    }
}

impl Quiche {
    /// Writes what the stream takes; true if that is anything.
    fn write(&mut self) -> Result<bool, String> {
        if !self.client.connection.is_established() {
            return Ok(false);
        }
        let mut any = false;
        loop {
            // A stream comes into being with its first octets.
            let takes = match self.client.connection.stream_capacity(STREAM) {
                Ok(takes) => takes,
                Err(Error::InvalidStreamState(_)) => 1,
                Err(error) => return Err(format!("stream_capacity: {error:?}")),
            };
            let left = usize::try_from(self.octets - self.written).unwrap_or(usize::MAX);
            let room = left.min(takes).min(CHUNK);
            if room == 0 {
                return Ok(any);
            }
            fill(self.written, &mut self.room[..room]);
            match self.client.connection.stream_send(STREAM, &self.room[..room], false) {
                Ok(0) | Err(Error::Done) => return Ok(any),
                Ok(taken) => {
                    self.written += taken as u64;
                    any = true;
                }
                Err(error) => return Err(format!("stream_send: {error:?}")),
            }
        }
    }

    /// Reads what has arrived in order.
    fn read(&mut self) -> Result<(), String> {
        let connection = &mut self.server.connection;
        while connection.stream_readable(STREAM) {
            match connection.stream_recv(STREAM, &mut self.room) {
                Ok((length, _)) => self.pattern.check(&self.room[..length])?,
                Err(Error::Done) => break,
                Err(error) => return Err(format!("stream_recv: {error:?}")),
            }
        }
        Ok(())
    }
}

/// Applies the settings of the request.
fn settings(request: &Request, config: &mut Config) -> Result<(), String> {
    let switch = "true or false";
    if let Some(on) = request.setting("enable_relaxed_loss_threshold", switch)? {
        config.set_enable_relaxed_loss_threshold(on);
    }
    if let Some(on) = request.setting("enable_hystart", switch)? {
        config.enable_hystart(on);
    }
    if let Some(on) = request.setting("enable_pacing", switch)? {
        config.enable_pacing(on);
    }
    if let Some(factor) = request.bounded("send_capacity_factor", 1.0..=100.0)? {
        config.set_send_capacity_factor(factor);
    }
    let most = request.mtu - IP_UDP;
    config.set_max_recv_udp_payload_size(most);
    if let Some(octets) = request.bounded("max_send_udp_payload_size", 1200..=most)? {
        config.set_max_send_udp_payload_size(octets);
    }
    Ok(())
}
