//! Protocols whose packets carry a number in clear, and the headers that hold it.

use serde::Serialize;

use crate::packet::{Datagram, Esp, Gre, Packet, Transport};

/// UDP port of ESP within UDP (RFC 3948).
const ESP_PORT: u16 = 4500;

/// Smallest SPI in use (RFC 4303, section 2.1).
const MIN_SPI: u32 = 256;

/// Header and authentication tag of WireGuard's data, in octets. The data between them is padded to
/// multiples of 16 octets, except where that would exceed the MTU.
const WIREGUARD_OVERHEAD: u32 = 32;

/// Fixed header of RTP (RFC 3550, section 5.1), in octets.
const RTP_HEADER: u32 = 12;

/// Header of a DTLS record (RFC 6347, section 4.1), in octets.
const DTLS_HEADER: u32 = 13;

/// Protocol whose packets carry a number in clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum NumberedProtocol {
    /// WireGuard: a counter of 64 bits.
    WireGuard,
    /// IPsec ESP, also within UDP: the lowest 32 bits of the sequence number.
    Esp,
    /// OpenVPN's data packets with AEAD: a packet identifier of 32 bits. It is encrypted with the ciphers
    /// of older versions (CBC) and in the format with epochs of version 2.7.
    OpenVpn,
    /// RTP and SRTP: a sequence number of 16 bits.
    Rtp,
    /// DTLS up to version 1.2: a sequence number of 48 bits. It is encrypted in version 1.3.
    Dtls,
    /// GRE with sequence numbers, which are optional: 32 bits.
    Gre,
}

impl NumberedProtocol {
    /// Returns its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::WireGuard => "WireGuard",
            Self::Esp => "ESP",
            Self::OpenVpn => "OpenVPN",
            Self::Rtp => "RTP",
            Self::Dtls => "DTLS",
            Self::Gre => "GRE",
        }
    }

    /// Returns the length of its numbers, in bits.
    pub(super) fn number_bits(self) -> u32 {
        match self {
            Self::WireGuard => 64,
            Self::Dtls => 48,
            Self::Esp | Self::OpenVpn | Self::Gre => 32,
            Self::Rtp => 16,
        }
    }

    /// Returns whether its numbers begin anew with each key, in one flow. Several SPIs and SSRCs between the
    /// same ends are in use at the same time, and are flows of their own.
    pub(super) fn changes_keys(self) -> bool {
        matches!(self, Self::WireGuard | Self::OpenVpn | Self::Dtls)
    }
}

/// Number of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbered {
    pub(super) protocol: NumberedProtocol,
    /// Name of the key or the stream: receiver index, SPI, SSRC, epoch, peer and key, or GRE's key.
    pub(super) context: u32,
    pub(super) number: u64,
    /// Octets behind the header of the transport.
    pub(super) len: u32,
    /// Eight octets that look random and differ from packet to packet, where the header shows little.
    pub(super) tag: Option<[u8; 8]>,
}

impl Numbered {
    /// Reads the numbers that a packet may carry. Which of them it carries shows only in a sequence of
    /// packets.
    pub(crate) fn candidates(packet: &Packet) -> impl Iterator<Item = Self> {
        let ports = [packet.from.port(), packet.to.port()];
        let [one, two] = match &packet.transport {
            Transport::Tcp(_) => [None, None],
            Transport::Esp(esp) => [Some(of_esp(esp)), None],
            Transport::Gre(gre) => [Some(of_gre(gre)), None],
            Transport::Udp(datagram) if ports.contains(&ESP_PORT) => {
                [esp_in_udp(datagram), wireguard(datagram)]
            }
            Transport::Udp(datagram) => match datagram.head[0] {
                4 => [wireguard(datagram), None],
                20..=63 => [dtls(datagram), openvpn(datagram)],
                64..=127 => [openvpn(datagram), None],
                128..=191 => [rtp(datagram), None],
                _ => [None, None],
            },
        };
        one.into_iter().chain(two)
    }
}

/// Returns the octets of a datagram that were captured, up to 16.
fn head(datagram: &Datagram) -> &[u8] {
    &datagram.head[..usize::from(datagram.captured).min(datagram.head.len())]
}

fn be32(octets: &[u8], at: usize) -> Option<u32> {
    octets.get(at..)?.first_chunk().map(|&octets| u32::from_be_bytes(octets))
}

fn of_esp(esp: &Esp) -> Numbered {
    let number = u64::from(esp.seq);
    Numbered { protocol: NumberedProtocol::Esp, context: esp.spi, number, len: esp.len, tag: None }
}

fn of_gre(gre: &Gre) -> Numbered {
    let number = u64::from(gre.seq);
    let protocol = NumberedProtocol::Gre;
    Numbered { protocol, context: gre.key, number, len: gre.len, tag: None }
}

/// Reads ESP within UDP. Four octets of zero mark IKE, and one octet keeps a translation alive (RFC 3948,
/// section 2).
fn esp_in_udp(datagram: &Datagram) -> Option<Numbered> {
    let head = head(datagram);
    let context = be32(head, 0).filter(|&spi| spi >= MIN_SPI)?;
    let number = u64::from(be32(head, 4)?);
    let len = datagram.len.checked_sub(8)?;
    Some(Numbered { protocol: NumberedProtocol::Esp, context, number, len, tag: None })
}

/// Reads transport data of WireGuard: type 4 and three octets of zero, the receiver's index, and the
/// counter, all with the lowest octet first.
fn wireguard(datagram: &Datagram) -> Option<Numbered> {
    let &[4, 0, 0, 0, a, b, c, d, rest @ ..] = head(datagram).first_chunk::<16>()? else {
        return None;
    };
    let context = u32::from_le_bytes([a, b, c, d]);
    let number = u64::from_le_bytes(rest);
    // The highest bit is never in use: a key ends long before.
    let is_plausible = number >> 63 == 0 && datagram.len >= WIREGUARD_OVERHEAD;
    let protocol = NumberedProtocol::WireGuard;
    is_plausible.then_some(Numbered { protocol, context, number, len: datagram.len, tag: None })
}

/// Reads application data of DTLS, as the first record of a datagram: type 23, or 25 with a connection
/// identifier (RFC 9146).
fn dtls(datagram: &Datagram) -> Option<Numbered> {
    let &[23 | 25, 0xfe, 0xfd | 0xff, e0, e1, n0, n1, n2, n3, n4, n5, l0, l1, ..] =
        head(datagram).first_chunk::<16>()?
    else {
        return None;
    };
    let record = u32::from(u16::from_be_bytes([l0, l1]));
    let number = u64::from_be_bytes([0, 0, n0, n1, n2, n3, n4, n5]);
    let context = u32::from(u16::from_be_bytes([e0, e1]));
    let fits = record > 0 && DTLS_HEADER + record <= datagram.len;
    let protocol = NumberedProtocol::Dtls;
    fits.then_some(Numbered { protocol, context, number, len: datagram.len, tag: None })
}

/// Reads a data packet of OpenVPN with AEAD: opcode 6 and the packet identifier behind one octet, or
/// opcode 9 and the identifier behind four, which end with the peer's number.
fn openvpn(datagram: &Datagram) -> Option<Numbered> {
    let head = head(datagram);
    let (context, at) = match head.first()? >> 3 {
        6 => (u32::from(head[0]) << 24, 1),
        9 => (be32(head, 0)?, 4),
        _ => return None,
    };
    let number = u64::from(be32(head, at)?);
    // The identifier is followed by an authentication tag of 16 octets.
    let tag = head.get(at + 4..)?.first_chunk::<8>()?;
    let is_plausible = number > 0 && datagram.len > at as u32 + 4 + 16;
    is_plausible.then_some(Numbered {
        protocol: NumberedProtocol::OpenVpn,
        context,
        number,
        len: datagram.len,
        tag: Some(*tag),
    })
}

/// Reads RTP of version 2. The payload types from 64 to 95 are RTCP's on the same port (RFC 5761,
/// section 4).
fn rtp(datagram: &Datagram) -> Option<Numbered> {
    let &[first, kind, s0, s1, _, _, _, _, a, b, c, d] = head(datagram).first_chunk::<12>()?;
    if first >> 6 != 2 || (64..96).contains(&(kind & 0x7f)) {
        return None;
    }
    let sources = u32::from(first & 0x0f) * 4;
    let number = u64::from(u16::from_be_bytes([s0, s1]));
    let context = u32::from_be_bytes([a, b, c, d]);
    let is_plausible = datagram.len > RTP_HEADER + sources;
    let protocol = NumberedProtocol::Rtp;
    is_plausible.then_some(Numbered { protocol, context, number, len: datagram.len, tag: None })
}
