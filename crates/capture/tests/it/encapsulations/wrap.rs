//! Builders of headers around a packet: each way in which a capture may hold it.

use unruffled_capture::Link;

/// What has been built so far, by the kind of its outermost header.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// An IP packet.
    Ip(Vec<u8>),
    /// What follows an EtherType.
    Typed(u16, Vec<u8>),
    /// An Ethernet frame.
    Ethernet(Vec<u8>),
}

/// Source of the choices that a builder makes. The same octets lead to the same choices.
#[derive(Clone, Debug)]
pub(super) struct Choices<'a> {
    octets: &'a [u8],
    at: usize,
}

impl<'a> Choices<'a> {
    pub(super) fn new(octets: &'a [u8]) -> Self {
        Self { octets, at: 0 }
    }

    /// Returns a number below `bound`, or 0 once all octets are used.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let octet = self.octets.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(octet) % bound
    }

    fn is(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Number of ways to wrap a packet, a typed payload or a frame; see [`wrap`].
pub(super) const WRAPS: usize = 24;

/// Number of links; see [`on_link`].
pub(super) const LINKS: usize = 30;

const MACS: [u8; 12] = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];

fn version(packet: &[u8]) -> u8 {
    packet[0] >> 4
}

fn joined(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// Puts an Ethernet header before what follows an EtherType.
fn framed(kind: u16, payload: &[u8]) -> Vec<u8> {
    joined(&[&MACS, &kind.to_be_bytes(), payload])
}

/// Returns LLC and SNAP with an EtherType.
fn snapped_head(kind: u16) -> Vec<u8> {
    joined(&[&[0xaa, 0xaa, 3, 0, 0, 0], &kind.to_be_bytes()])
}

/// Puts LLC and SNAP before what follows an EtherType.
fn snapped(kind: u16, payload: &[u8]) -> Vec<u8> {
    joined(&[&snapped_head(kind), payload])
}

impl Body {
    pub(super) fn into_ip(self, choices: &mut Choices<'_>) -> Vec<u8> {
        match self {
            Self::Ip(packet) => packet,
            other => {
                let frame = other.into_ethernet(choices);
                carried_in_ip(&frame, choices)
            }
        }
    }

    fn into_typed(self) -> (u16, Vec<u8>) {
        match self {
            Self::Ip(packet) => (if version(&packet) == 4 { 0x0800 } else { 0x86dd }, packet),
            Self::Typed(kind, payload) => (kind, payload),
            // Provider backbone bridging.
            Self::Ethernet(frame) => (0x88e7, joined(&[&[0, 0, 0, 5], &frame])),
        }
    }

    fn into_ethernet(self, choices: &mut Choices<'_>) -> Vec<u8> {
        match self {
            Self::Ethernet(frame) => frame,
            other => {
                let (kind, payload) = other.into_typed();
                match choices.below(4) {
                    // The length of IEEE 802.3, which only short frames have.
                    0 if payload.len() < 1400 => {
                        let snapped = snapped(kind, &payload);
                        framed(snapped.len() as u16, &snapped)
                    }
                    1 => framed(0x8870, &snapped(kind, &payload)),
                    _ => framed(kind, &payload),
                }
            }
        }
    }
}

/// Returns the checksum of an IPv4 header.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 =
        header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

/// Returns an IP packet of either version, with or without options or extension headers.
pub(super) fn ip(protocol: u8, payload: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    if choices.is() {
        let options = 4 * choices.below(3);
        let length = (20 + options + payload.len()) as u16;
        let mut header = vec![0x45 + options as u8 / 4, 0];
        header.extend(length.to_be_bytes());
        header.extend([0, 7, 0, 0, 60, protocol, 0, 0, 203, 0, 113, 1, 203, 0, 113, 2]);
        header.extend(vec![1; options]);
        let sum = checksum(&header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        return joined(&[&header, payload]);
    }
    let (next, extension): (u8, Vec<u8>) = match choices.below(4) {
        0 => (0, vec![protocol, 0, 1, 4, 0, 0, 0, 0]),
        1 => (60, vec![protocol, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        // A fragment header on a whole packet.
        2 => (44, vec![protocol, 0, 0, 0, 0, 0, 0, 9]),
        _ => (protocol, Vec::new()),
    };
    let mut header = vec![0x60, 0, 0, 0];
    header.extend(((extension.len() + payload.len()) as u16).to_be_bytes());
    header.extend([next, 60]);
    header.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    header.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    joined(&[&header, &extension, payload])
}

/// Returns an IP packet of UDP.
fn udp(from: u16, to: u16, payload: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let datagram = joined(&[
        &from.to_be_bytes(),
        &to.to_be_bytes(),
        &(8 + payload.len() as u16).to_be_bytes(),
        &[0, 0],
        payload,
    ]);
    ip(17, &datagram, choices)
}

/// Returns a GRE header with optional fields, and the payload.
fn gre(protocol: u16, payload: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let has_checksum = choices.is();
    let has_key = choices.is();
    let has_sequence = choices.is();
    let mut header =
        vec![u8::from(has_checksum) << 7 | u8::from(has_key) << 5 | u8::from(has_sequence) << 4, 0];
    header.extend(protocol.to_be_bytes());
    let fields = [has_checksum, has_key, has_sequence].into_iter().filter(|&has| has).count();
    header.extend(vec![7; 4 * fields]);
    joined(&[&header, payload])
}

/// Returns an IP packet that carries an Ethernet frame.
fn carried_in_ip(frame: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    match choices.below(12) {
        0 => {
            let gre = gre(0x6558, frame, choices);
            ip(47, &gre, choices)
        }
        // ERSPAN of types I, II and III, the last with its optional part.
        1 => ip(47, &joined(&[&[0, 0, 0x88, 0xbe], frame]), choices),
        2 => {
            let head = [0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 0, 0, 0, 0, 0, 0, 0];
            ip(47, &joined(&[&head, frame]), choices)
        }
        3 => {
            let optional = choices.is();
            let head = [0x10, 0, 0x22, 0xeb, 0, 0, 0, 1];
            let erspan = [0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, u8::from(optional)];
            let rest = vec![0; if optional { 8 } else { 0 }];
            ip(47, &joined(&[&head, &erspan, &rest, frame]), choices)
        }
        4 => {
            let port = [4789, 8472][choices.below(2)];
            udp(49_999, port, &joined(&[&[8, 0, 0, 0, 0, 0, 7, 0], frame]), choices)
        }
        5 => {
            let words = choices.below(3);
            let head = [words as u8, 0, 0x65, 0x58, 0, 0, 7, 0];
            udp(49_999, 6081, &joined(&[&head, &vec![0; 4 * words], frame]), choices)
        }
        6 => ip(97, &joined(&[&[0x30, 0], frame]), choices),
        7 => ip(143, frame, choices),
        8 => udp(49_999, 4790, &joined(&[&[0x0c, 0, 0, 3, 0, 0, 7, 0], frame]), choices),
        9 => {
            let head = [1, 0, 0, 1, 0, 10, 1, 0xc8, 1];
            udp(37_008, 37_008, &joined(&[&head, frame]), choices)
        }
        // A network service header within VXLAN-GPE.
        10 => {
            let head = [0x0c, 0, 0, 4, 0, 0, 7, 0, 0, 2, 2, 3, 0, 0, 0, 0];
            udp(49_999, 4790, &joined(&[&head, frame]), choices)
        }
        _ => {
            let head = [0, 0x10, 0x02, 0, 0, 0, 0, 0];
            udp(5246, 5247, &joined(&[&head, frame]), choices)
        }
    }
}

/// Puts one more header, or a few that belong together, around what has been built.
pub(super) fn wrap(body: Body, choices: &mut Choices<'_>) -> Body {
    match choices.below(WRAPS) {
        // Tags.
        kind @ 0..=4 => {
            let (inner, payload) = body.into_typed();
            let tag = [0x8100, 0x88a8, 0x9100, 0x9200, 0x9300][kind];
            Body::Typed(tag, joined(&[&[0, 5], &inner.to_be_bytes(), &payload]))
        }
        5 => {
            let (inner, payload) = body.into_typed();
            let (tag, octets) =
                [(0x8926, 4), (0x893f, 6), (0xf1c1, 4), (0x892f, 4), (0x8909, 6)][choices.below(5)];
            Body::Typed(tag, joined(&[&vec![1; octets], &inner.to_be_bytes(), &payload]))
        }
        // MACsec without encryption.
        6 => {
            let (inner, payload) = body.into_typed();
            let has_channel = choices.is();
            let head = [if has_channel { 0x20 } else { 0 }, 0, 0, 0, 0, 1];
            let channel = vec![3; if has_channel { 8 } else { 0 }];
            Body::Typed(0x88e5, joined(&[&head, &channel, &inner.to_be_bytes(), &payload]))
        }
        // Labels before a packet, or before a pseudowire with or without a control word.
        7 => {
            let labels = [[0, 1, 0, 64], [0, 2, 1, 64]];
            let inner = match body {
                Body::Ip(packet) => packet,
                other => {
                    let frame = other.into_ethernet(&mut Choices::new(&[2]));
                    let word = if choices.is() { vec![0; 4] } else { Vec::new() };
                    // A frame with LLC is no certain sign of a pseudowire.
                    joined(&[&word, &framed(0x88e7, &joined(&[&[0; 4], &frame]))])
                }
            };
            let labels = if choices.is() { labels.concat() } else { labels[1].to_vec() };
            Body::Typed(0x8847, joined(&[&labels, &inner]))
        }
        8 => {
            let packet = body.into_ip(choices);
            let protocol = if version(&packet) == 4 { 0x21 } else { 0x57 };
            let protocol = if choices.is() { vec![protocol] } else { vec![0, protocol] };
            let length = (protocol.len() + packet.len()) as u16;
            let head = [&[0x11, 0, 0, 7], &length.to_be_bytes()[..]].concat();
            Body::Typed(0x8864, joined(&[&head, &protocol, &packet]))
        }
        9 => Body::Ethernet(body.into_ethernet(choices)),
        10 => {
            let frame = body.into_ethernet(choices);
            match choices.below(3) {
                0 => Body::Typed(0x8903, joined(&[&[0, 1], &frame])),
                // TRILL with one word of options.
                1 => Body::Typed(0x22f3, joined(&[&[0, 0x41, 0, 1, 0, 2, 0, 0, 0, 0], &frame])),
                _ => Body::Typed(0x4305, joined(&[&[0x40, 15, 50, 1, 2, 2, 2, 2, 2, 2], &frame])),
            }
        }
        11..=14 => {
            let frame = body.into_ethernet(choices);
            Body::Ip(carried_in_ip(&frame, choices))
        }
        // A packet in a packet.
        15 => {
            let packet = body.into_ip(choices);
            let protocol = if version(&packet) == 4 { [4, 94][choices.below(2)] } else { 41 };
            Body::Ip(ip(protocol, &packet, choices))
        }
        16 => {
            let (kind, payload) = body.into_typed();
            let gre = gre(kind, &payload, choices);
            Body::Ip(ip(47, &gre, choices))
        }
        // An authentication header.
        17 => {
            let packet = body.into_ip(choices);
            let next = if version(&packet) == 4 { 4 } else { 41 };
            let head = [next, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
            Body::Ip(ip(51, &joined(&[&head, &[0; 12], &packet]), choices))
        }
        // A packet in a datagram, without a header between them or with that of GUE.
        18 => {
            let packet = body.into_ip(choices);
            let next = if version(&packet) == 4 { 4 } else { 41 };
            match choices.below(3) {
                0 => Body::Ip(udp(5555, 5555, &packet, choices)),
                1 => Body::Ip(udp(6080, 6080, &packet, choices)),
                _ => {
                    let head = [0x01, next, 0, 0, 0, 0, 0, 0];
                    Body::Ip(udp(40_000, 6080, &joined(&[&head, &packet]), choices))
                }
            }
        }
        19 => {
            let packet = body.into_ip(choices);
            let mut head = match choices.below(3) {
                0 => vec![0x30, 0xff, 0, 0, 0, 0, 0, 7],
                1 => vec![0x32, 0xff, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0],
                // A container for the flow of 5G.
                _ => vec![0x34, 0xff, 0, 0, 0, 0, 0, 7, 0, 1, 0, 0x85, 1, 0x10, 9, 0],
            };
            let length = (head.len() - 8 + packet.len()) as u16;
            head[2..4].copy_from_slice(&length.to_be_bytes());
            Body::Ip(udp(2152, 2152, &joined(&[&head, &packet]), choices))
        }
        20 => {
            let packet = body.into_ip(choices);
            let protocol = if version(&packet) == 4 { 0x21 } else { 0x57 };
            let ppp = joined(&[&[0xff, 3, 0, protocol], &packet]);
            let mut head = match choices.below(3) {
                0 => vec![0x40, 2, 0, 0, 0, 1, 0, 1],
                1 => vec![0x00, 2, 0, 1, 0, 1],
                // With sequence numbers and an offset.
                _ => vec![0x0a, 2, 0, 1, 0, 1, 0, 3, 0, 4, 0, 2, 9, 9],
            };
            if head[0] & 0x40 != 0 {
                let length = (head.len() + ppp.len()) as u16;
                head[2..4].copy_from_slice(&length.to_be_bytes());
            }
            Body::Ip(udp(1701, 1701, &joined(&[&head, &ppp]), choices))
        }
        // PPTP: GRE of version 1, with and without an acknowledgement.
        21 => {
            let packet = body.into_ip(choices);
            let protocol = if version(&packet) == 4 { 0x21 } else { 0x57 };
            let acknowledges = choices.is();
            let mut head = vec![0x30, if acknowledges { 0x81 } else { 1 }, 0x88, 0x0b];
            head.extend([0, 9, 0, 1, 0, 0, 0, 5]);
            head.extend(vec![0; if acknowledges { 4 } else { 0 }]);
            Body::Ip(ip(47, &joined(&[&head, &[protocol], &packet]), choices))
        }
        22 => {
            let packet = body.into_ip(choices);
            match choices.below(3) {
                0 => Body::Ip(ip(137, &joined(&[&[0, 1, 1, 64], &packet]), choices)),
                1 => Body::Ip(udp(40_000, 6635, &joined(&[&[0, 1, 1, 64], &packet]), choices)),
                _ => Body::Ip(udp(40_000, 4341, &joined(&[&[8; 8], &packet]), choices)),
            }
        }
        // VXLAN on a port of its own.
        _ => {
            let packet = body.into_ip(choices);
            let kind = if version(&packet) == 4 { 0x0800 } else { 0x86dd };
            let vxlan = joined(&[&[8, 0, 0, 0, 0, 0, 7, 0], &framed(kind, &packet)]);
            Body::Ip(udp(49_999, 12_345, &vxlan, choices))
        }
    }
}

/// Returns an IEEE 802.11 frame with one of the headers that may precede it.
fn wireless(kind: u16, payload: &[u8], choices: &mut Choices<'_>) -> (u32, Vec<u8>) {
    let is_qos = choices.is();
    let four_addresses = choices.is();
    let is_aggregate = is_qos && choices.is();
    let has_ht = is_qos && choices.is();
    let padded = choices.is();
    let mut frame = vec![
        if is_qos { 0x88 } else { 0x08 },
        if four_addresses { 3 } else { 1 } | if has_ht { 0x80 } else { 0 },
        0,
        0,
    ];
    frame.extend([2; 18]);
    frame.extend([0x10, 0]);
    frame.extend(vec![4; if four_addresses { 6 } else { 0 }]);
    if is_qos {
        frame.extend([if is_aggregate { 0x80 } else { 0 }, 0]);
    }
    frame.extend(vec![0; if has_ht { 4 } else { 0 }]);
    if padded {
        frame.resize(frame.len().next_multiple_of(4), 0);
    }
    let snapped = snapped(kind, payload);
    if is_aggregate {
        // A frame of LLDP, padded to a multiple of four octets, precedes.
        let other = joined(&[&snapped_head(0x88cc), &[0, 0, 0]]);
        frame.extend([&MACS[..], &[0, other.len() as u8], &other, &[0; 3]].concat());
        frame.extend([&MACS[..], &(snapped.len() as u16).to_be_bytes()].concat());
    }
    frame.extend(snapped);
    if padded {
        // A time of eight octets at a multiple of eight, after two words of fields; then the flags.
        let head = [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0];
        return (127, joined(&[&head, &[0; 8], &[0x20], &frame]));
    }
    match choices.below(5) {
        0 => (105, frame),
        1 => (127, joined(&[&[0, 0, 8, 0, 0, 0, 0, 0], &frame])),
        2 => (119, joined(&[&[0x44, 0, 0, 0, 144, 0, 0, 0], &[0; 136], &frame])),
        3 => (163, joined(&[&[0x80, 0x21, 0x10, 1, 0, 0, 0, 64], &[0; 56], &frame])),
        _ => (192, joined(&[&[0, 0, 8, 0, 105, 0, 0, 0], &frame])),
    }
}

/// Puts the header of a link around what has been built.
pub(super) fn on_link(body: Body, choices: &mut Choices<'_>) -> (Link, Vec<u8>) {
    let (number, frame) = match choices.below(LINKS) {
        0 => (1, body.into_ethernet(choices)),
        1 => ([12, 14, 101][choices.below(3)], body.into_ip(choices)),
        // BSD's loopback in each byte order.
        2 => {
            let packet = body.into_ip(choices);
            let family: u32 = if version(&packet) == 4 { 2 } else { 30 };
            let family = if choices.is() { family.to_le_bytes() } else { family.to_be_bytes() };
            ([0, 108][choices.below(2)], joined(&[&family, &packet]))
        }
        3 => (109, joined(&[&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], &body.into_ip(choices)])),
        4 | 5 => {
            let packet = body.into_ip(choices);
            let protocol = if version(&packet) == 4 { 0x21 } else { 0x57 };
            let head = [
                vec![0xff, 3, 0, protocol],
                vec![0xff, 3, protocol],
                vec![0, protocol],
                vec![protocol],
            ];
            let head = &head[choices.below(4)];
            match choices.below(4) {
                0 => (9, joined(&[head, &packet])),
                1 => (50, joined(&[head, &packet])),
                2 => (204, joined(&[&[0], head, &packet])),
                _ => (166, joined(&[&[1, 3, 0, protocol], &packet])),
            }
        }
        6 => {
            let (kind, payload) = body.into_typed();
            let hdlc = joined(&[&[0x0f, 0], &kind.to_be_bytes(), &payload]);
            match choices.below(3) {
                0 => (104, hdlc),
                1 => (50, hdlc),
                _ => (205, joined(&[&[1], &hdlc])),
            }
        }
        7 | 8 => {
            let (kind, payload) = body.into_typed();
            (
                113,
                joined(&[
                    &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0],
                    &kind.to_be_bytes(),
                    &payload,
                ]),
            )
        }
        9 => {
            let (kind, payload) = body.into_typed();
            let rest = [0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
            (276, joined(&[&kind.to_be_bytes(), &rest, &payload]))
        }
        10 => {
            let packet = body.into_ip(choices);
            let short: fn(u16) -> [u8; 2] =
                if choices.is() { u16::to_le_bytes } else { u16::to_be_bytes };
            let length = short(4 + packet.len() as u16);
            // A prefix of five octets, padded, then the packet.
            let prefix = [&short(9)[..], &short(10), b"drop:\0\0\0"].concat();
            (239, joined(&[&[2, 0, 0, 0], &prefix, &length, &short(9), &packet]))
        }
        11 => (117, joined(&[&[61, 2, 0, 0], &[0; 60], &body.into_ip(choices)])),
        12..=16 => {
            let (kind, payload) = body.into_typed();
            wireless(kind, &payload, choices)
        }
        17 => {
            let (kind, payload) = body.into_typed();
            (10, joined(&[&[0x50], &MACS, &snapped(kind, &payload)]))
        }
        // Token ring with a route of six octets.
        18 => {
            let (kind, payload) = body.into_typed();
            let head = [0x10, 0x40, 2, 0, 0, 0, 0, 2, 0x82, 0, 0, 0, 0, 1, 0x06, 0, 0, 1, 0, 2];
            (6, joined(&[&head, &snapped(kind, &payload)]))
        }
        19 => {
            let frame = body.into_ethernet(choices);
            let mut head = vec![108, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0];
            head.resize(108, 0);
            ([149, 258][choices.below(2)], joined(&[&head, &frame]))
        }
        20 => {
            let frame = body.into_ethernet(choices);
            match choices.below(3) {
                0 => (274, joined(&[&[0x55; 8], &frame])),
                1 => (240, joined(&[&[0; 4], &frame])),
                _ => (241, joined(&[&[0; 12], &frame])),
            }
        }
        21 => {
            let (kind, payload) = body.into_typed();
            match choices.below(2) {
                0 => {
                    let before = [0, 20, 40][choices.below(3)];
                    (242, joined(&[&vec![1; before], &kind.to_be_bytes(), &[0, 0], &payload]))
                }
                _ => (138, joined(&[&[1; 16], &kind.to_be_bytes(), &payload])),
            }
        }
        22 => {
            let (kind, payload) = body.into_typed();
            match choices.below(3) {
                0 => (100, snapped(kind, &payload)),
                1 => (123, joined(&[&[2, 0, 0, 5], &snapped(kind, &payload)])),
                _ => (122, joined(&[&[1; 16], &snapped(kind, &payload)])),
            }
        }
        23 => (226, joined(&[&[1, 2], &[0; 22], &body.into_ip(choices)])),
        24 => {
            let (kind, payload) = body.into_typed();
            let relay =
                joined(&[&[0x18, 0x41, 3, 0, 0x80, 0, 0, 0], &kind.to_be_bytes(), &payload]);
            match choices.below(2) {
                0 => (107, relay),
                _ => (206, joined(&[&[0], &relay])),
            }
        }
        25 => {
            let packet = body.into_ip(choices);
            let number = if version(&packet) == 4 { 0xcc } else { 0x8e };
            (107, joined(&[&[0x18, 0x41, 3, number], &packet]))
        }
        // An ERF record, with and without an extension header.
        26 => {
            let frame = body.into_ethernet(choices);
            let extended = choices.is();
            let extension = vec![0; if extended { 8 } else { 0 }];
            let record = (18 + extension.len() + frame.len()) as u16;
            let head = [
                &[0; 8][..],
                &[if extended { 0x82 } else { 2 }, 4],
                &record.to_be_bytes(),
                &[0, 0],
                &(frame.len() as u16).to_be_bytes(),
            ];
            (197, joined(&[&head.concat(), &extension, &[0, 0], &frame]))
        }
        27 => {
            let frame = body.into_ethernet(choices);
            (9, joined(&[&[0xff, 3, 0, 0x31, 0, 1], &frame]))
        }
        28 => {
            let (kind, payload) = body.into_typed();
            (
                51,
                match kind {
                    0x8864 => payload,
                    _ => {
                        let frame = framed(kind, &payload);
                        {
                            let length = (4 + frame.len() as u16).to_be_bytes();
                            joined(&[&[0x11, 0, 0, 7], &length, &[0, 0x31, 0, 1], &frame])
                        }
                    }
                },
            )
        }
        _ => {
            let frame = body.into_ethernet(choices);
            (192, joined(&[&[0, 0, 8, 0, 1, 0, 0, 0], &frame]))
        }
    };
    (Link::from_number(number), frame)
}

/// Cuts a packet into fragments of that many octets of payload, a multiple of eight.
pub(super) fn fragments(packet: &[u8], octets: usize) -> Vec<Vec<u8>> {
    let is_v4 = version(packet) == 4;
    let header = if is_v4 { 4 * usize::from(packet[0] & 0x0f) } else { 40 };
    let (head, payload) = packet.split_at(header);
    let pieces = payload.len().div_ceil(octets);
    let cut = |(n, piece): (usize, &[u8])| {
        let offset = (n * octets) as u16;
        let more = n + 1 < pieces;
        let mut head = head.to_vec();
        if is_v4 {
            let flag = if more { 0x2000 } else { 0 };
            let position = (offset / 8) | flag;
            head[2..4].copy_from_slice(&((header + piece.len()) as u16).to_be_bytes());
            head[6..8].copy_from_slice(&position.to_be_bytes());
        } else {
            let position = offset | u16::from(more);
            let next = std::mem::replace(&mut head[6], 44);
            head[4..6].copy_from_slice(&(8 + piece.len() as u16).to_be_bytes());
            // The identification is a hash of the packet.
            let id = payload
                .iter()
                .fold(7_u32, |id, &octet| id.wrapping_mul(31).wrapping_add(u32::from(octet)));
            head.extend([&[next, 0], &position.to_be_bytes()[..], &id.to_be_bytes()].concat());
        }
        joined(&[&head, piece])
    };
    payload.chunks(octets).enumerate().map(cut).collect()
}
