//! Decoder of IP packets into the facts that decide when they go on.

use std::net::IpAddr;

use etherparse::{IpNumber, LaxIpSlice};

use crate::{Flow, MEMORY_PER_OCTET, Packet, Protocol, Role};

/// Tunnels whose packets are put in order by their outer numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tunnels {
    /// WireGuard.
    pub wireguard: bool,
    /// IPsec ESP, also within UDP (RFC 3948).
    pub esp: bool,
    /// OpenVPN's data channel, version 2, with AEAD.
    pub openvpn: bool,
}

/// UDP port of ESP within UDP (RFC 3948, section 2.1).
const ESP_PORT: u16 = 4500;

/// Returns the facts about an IP packet that arrived on `interface`, or `None` for a packet that passes at
/// once: a fragment, another protocol, or one that cannot be read.
///
/// `head` holds at least the headers; 128 octets suffice. `length` is the length of the whole packet. The
/// memory that the packet takes is [`MEMORY_PER_OCTET`] times its length.
pub fn classify(head: &[u8], length: u32, interface: u32, tunnels: Tunnels) -> Option<Packet> {
    let whole = length;
    let (ip, _) = LaxIpSlice::from_slice(head).ok()?;
    let carried = ip.payload();
    if carried.fragmented {
        return None;
    }
    let declared = match &ip {
        LaxIpSlice::Ipv4(v4) => u32::from(v4.header().total_len()),
        LaxIpSlice::Ipv6(v6) => match v6.header().payload_length() {
            0 => 0,
            payload => 40 + u32::from(payload),
        },
    };
    // The length is 0 in jumbograms, as segmentation offload makes them.
    let length = if declared == 0 { length } else { declared.min(length) };
    // Both slices are parts of one buffer.
    let offset = carried.payload.as_ptr() as usize - head.as_ptr() as usize;
    let present = length.checked_sub(offset as u32)?;
    let ends = Ends { interface, source: ip.source_addr(), destination: ip.destination_addr() };
    let (flow, role) = match carried.ip_number {
        IpNumber::TCP => tcp(carried.payload, present, ends)?,
        IpNumber::UDP => udp(carried.payload, present, ends, tunnels)?,
        IpNumber::ENCAPSULATING_SECURITY_PAYLOAD if tunnels.esp => {
            esp(carried.payload, (0, 0), ends)?
        }
        _ => return None,
    };
    Some(Packet { flow, role, octets: whole.saturating_mul(MEMORY_PER_OCTET) })
}

#[derive(Clone, Copy)]
struct Ends {
    interface: u32,
    source: IpAddr,
    destination: IpAddr,
}

impl Ends {
    fn flow(self, protocol: Protocol, ports: (u16, u16), context: u32) -> Flow {
        let Self { interface, source, destination } = self;
        Flow { protocol, interface, source, destination, ports, context }
    }
}

/// Reads two ports.
fn ports(bytes: &[u8]) -> Option<(u16, u16)> {
    let &[a, b, c, d] = bytes.first_chunk()?;
    Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
}

/// Reads a number of 32 bits in network order.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|&octets| u32::from_be_bytes(octets))
}

/// Reads a TCP header (RFC 9293, section 3.1) of a segment of `length` octets.
fn tcp(bytes: &[u8], length: u32, ends: Ends) -> Option<(Flow, Role)> {
    let flow = ends.flow(Protocol::Tcp, ports(bytes)?, 0);
    let seq = number(bytes, 4)?;
    let &[offset, flags] = bytes.get(12..)?.first_chunk()?;
    let header = usize::from(offset >> 4) * 4;
    let [fin, syn, rst] = [0x01, 0x02, 0x04].map(|bit| flags & bit != 0);
    if header < 20 || header as u32 > length {
        return None;
    }
    let data = length - header as u32;
    let role = if rst {
        Role::Close
    } else if syn {
        Role::Open { next: seq.wrapping_add(1).wrapping_add(data) }
    } else {
        match data + u32::from(fin) {
            0 => Role::Acknowledgement,
            span => {
                let options = bytes.get(20..header.min(bytes.len()))?;
                Role::Data { number: u64::from(seq), span, timestamp: tsval(options) }
            }
        }
    };
    Some((flow, role))
}

/// Returns TSval (RFC 7323, section 3.2), if the options before it can be read. Other options are skipped by
/// their lengths.
fn tsval(mut options: &[u8]) -> Option<u32> {
    loop {
        options = match *options {
            // No-operation.
            [1, ref rest @ ..] => rest,
            [8, 10, a, b, c, d, ..] => return Some(u32::from_be_bytes([a, b, c, d])),
            [kind, length, ..] if kind != 0 && length >= 2 => options.get(usize::from(length)..)?,
            _ => return None,
        }
    }
}

fn udp(bytes: &[u8], length: u32, ends: Ends, tunnels: Tunnels) -> Option<(Flow, Role)> {
    let ports = ports(bytes)?;
    let payload = bytes.get(8..)?;
    let length = length.checked_sub(8)?;
    // A tunnel has one port of its own at one end at least; content decides, since ports are configurable.
    if tunnels.wireguard
        && let Some(found) = wireguard(payload, length, ports, ends)
    {
        return Some(found);
    }
    if tunnels.esp && (ports.0 == ESP_PORT || ports.1 == ESP_PORT) {
        return esp(payload, ports, ends);
    }
    tunnels.openvpn.then(|| openvpn(payload, length, ports, ends)).flatten()
}

/// Reads a transport data message of WireGuard: type 4 and three zeros, the receiver's index, the counter
/// (both in little endian), and encrypted data with a tag of 16 octets. The data are padded to 16 octets, but
/// not beyond the tunnel's MTU, so that full packets may have any length.
fn wireguard(payload: &[u8], length: u32, ports: (u16, u16), ends: Ends) -> Option<(Flow, Role)> {
    let head: &[u8; 16] = payload.first_chunk()?;
    let [4, 0, 0, 0, i0, i1, i2, i3, counter @ ..] = *head else { return None };
    if length < 32 {
        return None;
    }
    let flow = ends.flow(Protocol::WireGuard, ports, u32::from_le_bytes([i0, i1, i2, i3]));
    Some((flow, Role::Data { number: u64::from_le_bytes(counter), span: 1, timestamp: None }))
}

/// Reads SPI and sequence number of ESP (RFC 4303, section 2). An SPI of 0 marks IKE within UDP (RFC 3948,
/// section 2.2).
fn esp(payload: &[u8], ports: (u16, u16), ends: Ends) -> Option<(Flow, Role)> {
    let spi = number(payload, 0).filter(|&spi| spi != 0)?;
    let number = u64::from(number(payload, 4)?);
    let role = Role::Data { number, span: 1, timestamp: None };
    Some((ends.flow(Protocol::Esp, ports, spi), role))
}

/// Opcode of OpenVPN's data packets with a peer id.
const P_DATA_V2: u8 = 9;

/// Reads a data packet of OpenVPN with AEAD: opcode and key, peer id (24 bits), packet id, and at least a
/// tag of 16 octets.
fn openvpn(payload: &[u8], length: u32, ports: (u16, u16), ends: Ends) -> Option<(Flow, Role)> {
    let context = number(payload, 0)?;
    let number = number(payload, 4)?;
    // The packet ids of a key begin at 1.
    if payload[0] >> 3 != P_DATA_V2 || number == 0 || length < 24 {
        return None;
    }
    let role = Role::Data { number: u64::from(number), span: 1, timestamp: None };
    Some((ends.flow(Protocol::OpenVpn, ports, context), role))
}
