//! Both ends.

use std::time::{Duration, Instant};

use quinn_proto::{Dir, ReadError, StreamId, VarInt, WriteError};
use stacks_driver::{About, Bench, End, Ends, IP_UDP, Packet, Pattern, Request, Side, fill};

use crate::configuration::{Configuration, NAME, text};
use crate::host::{Host, address};

/// Octets that the application writes at a time.
const CHUNK: usize = 16 << 10;

/// Two endpoints and a stream.
pub struct Quinn {
    client: Host,
    server: Host,
    /// The instant of time 0; quinn-proto counts from no other.
    origin: Instant,
    stream: Option<StreamId>,
    octets: u64,
    written: u64,
    pattern: Pattern,
    /// Datagrams that arrived at the server and of which it handled no frame.
    discarded: u64,
}

impl Quinn {
    fn instant(&self, now: u64) -> Instant {
        self.origin + Duration::from_nanos(now)
    }

    /// Writes what the client's stream takes.
    fn write(&mut self) -> Result<(), String> {
        let Some((_, connection)) = &mut self.client.connection else { return Ok(()) };
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return Ok(()) };
        let mut chunk = [0; CHUNK];
        while self.written < self.octets {
            let length = (self.octets - self.written).min(CHUNK as u64) as usize;
            fill(self.written, &mut chunk[..length]);
            match connection.send_stream(stream).write(&chunk[..length]) {
                Ok(taken) => self.written += taken as u64,
                Err(WriteError::Blocked) => break,
                Err(error) => return Err(text(error)),
            }
        }
        Ok(())
    }

    /// Reads what the server's stream has.
    fn read(&mut self) -> Result<(), String> {
        let Some((_, connection)) = &mut self.server.connection else { return Ok(()) };
        while connection.streams().accept(Dir::Uni).is_some() {}
        let stream = StreamId::new(quinn_proto::Side::Client, Dir::Uni, 0);
        let mut receiving = connection.recv_stream(stream);
        // Before the first octet there is no stream.
        let Ok(mut chunks) = receiving.read(true) else { return Ok(()) };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => self.pattern.check(&chunk.bytes)?,
                Ok(None) | Err(ReadError::Blocked) => break,
                Err(error) => return Err(text(error)),
            }
        }
        let _ = chunks.finalize();
        Ok(())
    }

    /// Returns the number of frames that the server has handled, of the kinds that a client sends.
    fn frames(&self) -> u64 {
        let Some(frames) = self.server.stats().map(|stats| stats.frame_rx) else { return 0 };
        frames.stream + frames.acks + frames.ping + frames.crypto
    }
}

impl Ends for Quinn {
    fn open(request: &Request, about: &About) -> Result<Self, String> {
        let configuration = Configuration::new(request, about)?;
        let Configuration { endpoint, client, server } = configuration;
        let origin = Instant::now();
        let mut host = Host::new(endpoint.clone(), None, address(2), request.seed);
        let connected = host.endpoint.connect(origin, client, address(2), NAME);
        host.connection = Some(connected.map_err(text)?);
        Ok(Self {
            client: host,
            server: Host::new(endpoint, Some(server), address(1), request.seed),
            origin,
            stream: None,
            octets: request.octets.unwrap_or(VarInt::MAX.into_inner()),
            written: 0,
            pattern: Pattern::default(),
            discarded: 0,
        })
    }

    fn deliver(&mut self, now: u64, packet: Packet) -> Result<(), String> {
        let now = self.instant(now);
        match packet.from {
            Side::Server => self.client.arrive(now, &packet.data),
            Side::Client => {
                let before = self.frames();
                self.server.arrive(now, &packet.data)?;
                if self.frames() == before && !packet.again {
                    self.discarded += 1;
                }
                Ok(())
            }
        }
    }

    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
        let now = self.instant(now);
        self.server.settle(now)?;
        self.read()?;
        self.client.settle(now)?;
        self.write()?;
        while let Some(data) = self.client.leave(now) {
            bench.send(Side::Client, data, IP_UDP);
            // What has left the stream makes room.
            self.write()?;
        }
        while let Some(data) = self.server.leave(now) {
            bench.send(Side::Server, data, IP_UDP);
        }
        self.client.settle(now)?;
        self.server.settle(now)
    }

    fn due(&mut self) -> Option<u64> {
        let due = [self.client.due(), self.server.due()].into_iter().flatten().min()?;
        Some(due.saturating_duration_since(self.origin).as_nanos() as u64)
    }

    fn received(&self) -> u64 {
        self.pattern.received()
    }

    fn end(&mut self) -> End {
        let lost = self.client.stats().map_or(0, |stats| stats.path.lost_packets);
        #[cfg(feature = "detector")]
        let spurious = self.client.connection.as_ref().map(|(_, c)| c.detector_counts().refuted);
        #[cfg(not(feature = "detector"))]
        let spurious = None;
        End { lost, spurious, discarded: Some(self.discarded), ..End::default() }
    }
}
