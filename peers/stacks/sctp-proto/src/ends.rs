//! Both ends.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sctp_proto::{
    Association, ClientConfig, DatagramEvent, Endpoint, EndpointConfig, Event, Payload,
    PayloadProtocolIdentifier, ServerConfig, TransportConfig,
};
use stacks_driver::{About, Bench, End, Ends, IP_UDP, Packet, Pattern, Request, Side, fill};

/// Octets of the receiver's window: ten times what 100 Mb/s over 300 ms need.
const WINDOW: u32 = 32 << 20;

/// The size of a message that applications of WebRTC keep to.
const MESSAGE: usize = 16 << 10;

/// Octets that wait at the sender. The stack takes any amount.
const WAITING: usize = 16 << 20;

/// Octets of the headers of a packet, and of a chunk of data.
const PACKET_HEADER: usize = 12;
const CHUNK_HEADER: usize = 16;

const STREAM: u16 = 1;

/// One end.
struct Host {
    endpoint: Endpoint,
    association: Option<Association>,
    peer: SocketAddr,
}

/// Two endpoints, and an association between them.
pub struct SctpProto {
    start: Instant,
    client: Host,
    server: Host,
    open: bool,
    octets: u64,
    written: u64,
    pattern: Pattern,
    /// The newest chunk of data that the client has sent.
    newest: Option<u32>,
    retransmitted: u64,
}

impl Ends for SctpProto {
    fn open(request: &Request, _: &About) -> Result<SctpProto, String> {
        let path = (request.mtu - IP_UDP - PACKET_HEADER - CHUNK_HEADER) as u32;
        let mut config = EndpointConfig::new();
        let default = config.get_max_payload_size().min(path);
        config
            .max_payload_size(request.bounded("max_payload_size", 100..=path)?.unwrap_or(default));
        let (config, transport) = (Arc::new(config), Arc::new(transport(request)?));
        let mut server = ServerConfig::new();
        server.transport = Arc::clone(&transport);
        let mut client = ClientConfig::new();
        client.transport = transport;
        let address = |n| SocketAddr::from((Ipv4Addr::new(10, 0, 0, n), 5000));
        let server = Host {
            endpoint: Endpoint::new(Arc::clone(&config), Some(Arc::new(server))),
            association: None,
            peer: address(1),
        };
        let mut endpoint = Endpoint::new(config, None);
        let (_, association) =
            endpoint.connect(client, address(2)).map_err(|error| format!("connect: {error}"))?;
        let client = Host { endpoint, association: Some(association), peer: address(2) };
        Ok(SctpProto {
            start: Instant::now(),
            client,
            server,
            open: false,
            octets: request.octets.unwrap_or(u64::MAX),
            written: 0,
            pattern: Pattern::default(),
            newest: None,
            retransmitted: 0,
        })
    }

    fn deliver(&mut self, now: u64, packet: Packet) -> Result<(), String> {
        let now = self.start + Duration::from_nanos(now);
        let host = match packet.from {
            Side::Client => &mut self.server,
            Side::Server => &mut self.client,
        };
        let data = Bytes::from(packet.data);
        match host.endpoint.handle(now, host.peer, None, None, data) {
            Some((_, DatagramEvent::NewAssociation(new))) => host.association = Some(new),
            Some((_, DatagramEvent::AssociationEvent(event))) => {
                if let Some(association) = &mut host.association {
                    association.handle_event(event);
                }
            }
            None => {}
        }
        Ok(())
    }

    fn turn(&mut self, now: u64, bench: &mut Bench) -> Result<(), String> {
        let now = self.start + Duration::from_nanos(now);
        for host in [&mut self.client, &mut self.server] {
            if let Some(association) = &mut host.association
                && association.poll_timeout().is_some_and(|due| due <= now)
            {
                association.handle_timeout(now);
            }
        }
        self.read()?;
        self.write()?;
        for packet in self.client.transmit(now) {
            self.count(&packet);
            bench.send(Side::Client, packet, IP_UDP);
        }
        for packet in self.server.transmit(now) {
            bench.send(Side::Server, packet, IP_UDP);
        }
        Ok(())
    }

    fn due(&mut self) -> Option<u64> {
        let timers = [&self.client, &self.server];
        let due = timers.into_iter().filter_map(|host| host.association.as_ref()?.poll_timeout());
        due.min().map(|due| due.saturating_duration_since(self.start).as_nanos() as u64)
    }

    fn received(&self) -> u64 {
        self.pattern.received()
    }

    fn end(&mut self) -> End {
        End { lost: self.retransmitted, ..End::default() }
    }
}

impl Host {
    /// Takes the packets that leave, and what the endpoint has to know of the association.
    fn transmit(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let leaving = std::iter::from_fn(|| self.endpoint.poll_transmit());
        packets.extend(leaving.map(|transmit| transmit.payload));
        if let Some(association) = &mut self.association {
            let leaving = std::iter::from_fn(|| association.poll_transmit(now));
            packets.extend(leaving.map(|transmit| transmit.payload));
        }
        let raw = packets.into_iter().filter_map(|payload| match payload {
            Payload::RawEncode(packets) => Some(packets),
            Payload::PartialDecode(_) => None,
        });
        raw.flatten().map(|packet| packet.to_vec()).collect()
    }
}

impl SctpProto {
    /// Writes messages until enough waits.
    fn write(&mut self) -> Result<(), String> {
        let Some(association) = &mut self.client.association else { return Ok(()) };
        while let Some(event) = association.poll() {
            match event {
                Event::Connected => {
                    let opened = association.open_stream(STREAM, PayloadProtocolIdentifier::Binary);
                    opened.map_err(|error| format!("open a stream: {error}"))?;
                    self.open = true;
                }
                Event::HandshakeFailed { reason } | Event::AssociationLost { reason } => {
                    return Err(format!("the connection ended: {reason}"));
                }
                _ => {}
            }
        }
        if !self.open {
            return Ok(());
        }
        let wrong = |error| format!("send: {error}");
        let mut stream = association.stream(STREAM).map_err(wrong)?;
        while self.written < self.octets && stream.buffered_amount().map_err(wrong)? < WAITING {
            let left = self.octets - self.written;
            let mut message = vec![0; MESSAGE.min(left.try_into().unwrap_or(MESSAGE))];
            fill(self.written, &mut message);
            self.written += stream.write(&message).map_err(wrong)? as u64;
        }
        Ok(())
    }

    /// Reads the messages that are there.
    fn read(&mut self) -> Result<(), String> {
        let Some(association) = &mut self.server.association else { return Ok(()) };
        while association.poll().is_some() {}
        while association.accept_stream().is_some() {}
        let Ok(mut stream) = association.stream(STREAM) else { return Ok(()) };
        let mut message = vec![0; MESSAGE];
        while let Some(chunks) = stream.read().map_err(|error| format!("recv: {error}"))? {
            let length = chunks.read(&mut message).map_err(|error| format!("recv: {error}"))?;
            self.pattern.check(&message[..length])?;
        }
        Ok(())
    }

    /// Counts the chunks of data of a packet that were sent before (RFC 9260, section 3.3.1). The stack has no
    /// count of them.
    fn count(&mut self, packet: &[u8]) {
        let mut rest = packet.get(PACKET_HEADER..).unwrap_or_default();
        while let [kind, _, high, low, body @ ..] = rest {
            if let (0, [a, b, c, d, ..]) = (*kind, body) {
                let tsn = u32::from_be_bytes([*a, *b, *c, *d]);
                match self.newest {
                    Some(newest) if tsn.wrapping_sub(newest) as i32 <= 0 => self.retransmitted += 1,
                    _ => self.newest = Some(tsn),
                }
            }
            let length = usize::from(u16::from_be_bytes([*high, *low])).max(4);
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
    }
}

fn transport(request: &Request) -> Result<TransportConfig, String> {
    let mut transport = TransportConfig::default().with_max_receive_buffer_size(WINDOW);
    let times = 1..=600_000;
    if let Some(time) = request.bounded("rto_initial_ms", times.clone())? {
        transport = transport.with_rto_initial_ms(time);
    }
    if let Some(time) = request.bounded("rto_min_ms", times.clone())? {
        transport = transport.with_rto_min_ms(time);
    }
    if let Some(time) = request.bounded("rto_max_ms", times)? {
        transport = transport.with_rto_max_ms(time);
    }
    Ok(transport)
}
