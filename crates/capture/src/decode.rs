//! Decoder of frames into packets, through any nesting of encapsulations that are in clear.
//!
//! Lengths come from the headers, because the capture may hold less.

mod ethernet;
mod fragments;
mod gre;
mod header;
mod ip;
mod link;
mod mpls;
mod octets;
mod ppp;
mod transport;
mod udp_tunnels;
mod wireless;

use std::net::SocketAddr;

use unruffled_units::Instant;

use crate::packet::{Packet, SkipReason, Transport};
use crate::reader::Frame;
use crate::tunnel::TunnelPacket;
use fragments::Fragments;
use header::Header;
use ip::IpPacket;
use octets::Octets;

/// Maximum number of headers in one frame, those within tunnels and aggregates included.
const MAX_HEADERS: u32 = 64;

/// Decodes one frame, without the fragments of earlier ones. Of several packets in it, the first one is
/// returned.
///
/// Checksums are not verified: in a capture at the sender, the network card fills them in later.
///
/// # Errors
/// When the frame carries no complete header of TCP, UDP or ESP over IP.
pub fn decode(frame: &Frame<'_>) -> Result<Packet, SkipReason> {
    let mut first = None;
    Decoder::default().decode(frame, &mut |packet| {
        if !matches!(packet.transport, Transport::Gre(_)) {
            first.get_or_insert_with(|| packet.clone());
        }
    })?;
    first.ok_or(SkipReason::Fragment)
}

/// Decoder of the frames of a capture, in their order. It keeps the fragments of incomplete packets.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    /// Allocated for the first fragment: most captures have none.
    fragments: Option<Box<Fragments>>,
}

impl Decoder {
    /// Decodes a frame and passes the packets in it to `each`: one, several in an aggregate of IEEE 802.11,
    /// or none in a fragment of a packet that is not complete.
    ///
    /// # Errors
    /// When the frame carries no complete header of TCP, UDP or ESP over IP.
    pub(crate) fn decode(
        &mut self,
        frame: &Frame<'_>,
        each: &mut dyn FnMut(&Packet),
    ) -> Result<(), SkipReason> {
        let octets = Octets { data: frame.data, length: frame.length };
        let mut walk = Walk {
            fragments: &mut self.fragments,
            at: frame.at,
            interface: frame.point(),
            headers: MAX_HEADERS,
            each,
        };
        match link::direct_ip(frame.link, octets) {
            Some(packet) => match walk.ip(packet)? {
                Some((header, rest)) => walk.headers(header, rest),
                None => Ok(()),
            },
            None => walk.headers(Header::Link(frame.link), octets),
        }
    }

    /// Returns the number of fragments of packets that did not become complete.
    pub(crate) fn incomplete_fragments(&self) -> u64 {
        self.fragments.as_ref().map_or(0, |fragments| fragments.incomplete())
    }
}

/// Progress through the headers of one frame.
struct Walk<'a> {
    fragments: &'a mut Option<Box<Fragments>>,
    at: Instant,
    interface: u32,
    /// Number of further headers that may be read.
    headers: u32,
    each: &'a mut dyn FnMut(&Packet),
}

impl Walk<'_> {
    /// Reads headers up to the packets that they lead to.
    fn headers(&mut self, mut header: Header, mut octets: Octets<'_>) -> Result<(), SkipReason> {
        loop {
            self.headers = self.headers.checked_sub(1).ok_or(SkipReason::Nested)?;
            match header {
                Header::Ip => match self.ip(octets)? {
                    Some((next, rest)) => {
                        header = next;
                        octets = rest;
                    }
                    None => return Ok(()),
                },
                Header::Aggregate => return self.aggregate(octets),
                _ => {
                    let (next, rest) = header::step(header, octets)?;
                    header = next;
                    octets = rest;
                }
            }
        }
    }

    /// Reads the frames of an aggregate. One that cannot be read counts if none can.
    fn aggregate(&mut self, mut octets: Octets<'_>) -> Result<(), SkipReason> {
        let mut result = Err(SkipReason::Short);
        while let Some((first, rest)) = wireless::split_aggregate(octets) {
            result = result.or(self.headers(Header::Ethernet, first));
            if self.headers == 0 {
                break;
            }
            octets = rest;
        }
        result
    }

    /// Reads an IP header. Returns the header that follows unless that is of a transport.
    fn ip<'b>(&mut self, octets: Octets<'b>) -> Result<Option<(Header, Octets<'b>)>, SkipReason> {
        let mut packet = IpPacket::read(octets)?;
        if let Some(fragment) = packet.fragment {
            let fragments = self.fragments.get_or_insert_default();
            if let Some(whole) = fragments.add(&packet, fragment, self.at) {
                let octets = Octets { data: &whole.data, length: whole.length };
                self.headers(Header::Ip, octets)?;
            }
            return Ok(None);
        }
        loop {
            match packet.protocol {
                ip::TCP => {
                    let (ports, segment) = transport::tcp(packet.payload)?;
                    self.emit(&packet, ports, Transport::Tcp(segment));
                    return Ok(None);
                }
                ip::UDP => {
                    self.udp(octets, &packet)?;
                    return Ok(None);
                }
                ip::ESP => {
                    let esp = transport::esp(packet.payload)?;
                    self.emit(&packet, (0, 0), Transport::Esp(esp));
                    return Ok(None);
                }
                ip::AUTHENTICATION => {
                    let (protocol, payload) = ip::authentication(packet.payload)?;
                    self.headers = self.headers.checked_sub(1).ok_or(SkipReason::Nested)?;
                    packet.protocol = protocol;
                    packet.payload = payload;
                }
                protocol => {
                    let number = (protocol == ip::GRE).then(|| gre::number(packet.payload));
                    if let Some(gre) = number.flatten() {
                        self.emit(&packet, (0, 0), Transport::Gre(gre));
                    }
                    return ip::step(protocol, packet.payload).map(Some);
                }
            }
        }
    }

    /// Reads a datagram: the packets within it if it is of a tunnel in clear, or the datagram itself.
    fn udp(&mut self, octets: Octets<'_>, packet: &IpPacket<'_>) -> Result<(), SkipReason> {
        let (ports, mut datagram, payload) = transport::udp(packet.payload)?;
        if let Some((header, inner)) = udp_tunnels::first(ports, payload)
            && self.headers(header, inner).is_ok()
        {
            return Ok(());
        }
        datagram.tunnel = TunnelPacket::read(octets.data, packet.length);
        self.emit(packet, ports, Transport::Udp(datagram));
        Ok(())
    }

    #[inline]
    fn emit(&mut self, packet: &IpPacket<'_>, ports: (u16, u16), transport: Transport) {
        (self.each)(&Packet {
            at: self.at,
            from: SocketAddr::new(packet.from, ports.0),
            to: SocketAddr::new(packet.to, ports.1),
            id: packet.id,
            ttl: packet.ttl,
            interface: self.interface,
            length: packet.length,
            transport,
        });
    }
}
