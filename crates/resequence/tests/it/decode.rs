//! Facts from packets: expectations follow from the RFCs and from the papers of the tunnels.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use unruffled_resequence::{Flow, Packet, Protocol, Role, Tunnels, classify};

const ALL: Tunnels = Tunnels { wireguard: true, esp: true, openvpn: true };

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// Timestamps (RFC 7323) behind two options without effect, as Linux sends them: TSval 0x01020304.
const STAMPED: [u8; 12] = [1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 9];

const V4: (IpAddr, IpAddr) =
    (IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)));

const V6: (IpAddr, IpAddr) = (
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 0, 0, 0, 3)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 4)),
);

/// Returns a TCP segment (RFC 9293, section 3.1) from port 443 to 50 000.
fn tcp(seq: u32, flags: u8, options: &[u8], data: usize) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    bytes[0..2].copy_from_slice(&443_u16.to_be_bytes());
    bytes[2..4].copy_from_slice(&50_000_u16.to_be_bytes());
    bytes[4..8].copy_from_slice(&seq.to_be_bytes());
    bytes[12] = ((20 + options.len()) as u8 / 4) << 4;
    bytes[13] = flags;
    bytes.extend_from_slice(options);
    bytes.resize(20 + options.len() + data, 0xda);
    bytes
}

/// Returns a UDP datagram.
fn udp(from: u16, to: u16, payload: &[u8]) -> Vec<u8> {
    let length = 8 + payload.len() as u16;
    let mut bytes = [from, to, length, 0].map(u16::to_be_bytes).concat();
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns an IPv4 packet (RFC 791) with `options`, a multiple of four octets.
fn v4(protocol: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let header = 20 + options.len();
    let mut bytes = vec![0; 20];
    bytes[0] = 0x40 | (header / 4) as u8;
    bytes[2..4].copy_from_slice(&((header + payload.len()) as u16).to_be_bytes());
    bytes[8] = 64;
    bytes[9] = protocol;
    bytes[12..16].copy_from_slice(&[192, 0, 2, 1]);
    bytes[16..20].copy_from_slice(&[198, 51, 100, 7]);
    bytes.extend_from_slice(options);
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns an IPv6 packet (RFC 8200) whose payload begins with the extension headers, if any.
fn v6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; 40];
    bytes[0] = 0x60;
    bytes[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
    bytes[6] = next_header;
    bytes[7] = 64;
    let (IpAddr::V6(source), IpAddr::V6(destination)) = V6 else { unreachable!() };
    bytes[8..24].copy_from_slice(&source.octets());
    bytes[24..40].copy_from_slice(&destination.octets());
    bytes.extend_from_slice(payload);
    bytes
}

/// Returns the facts about a packet of which all octets are present.
fn whole(bytes: &[u8]) -> Option<Packet> {
    classify(bytes, bytes.len() as u32, 3, ALL)
}

fn role(bytes: &[u8]) -> Option<Role> {
    whole(bytes).map(|packet| packet.role)
}

fn data(number: u32, span: u32, timestamp: Option<u32>) -> Option<Role> {
    Some(Role::Data { number: u64::from(number), span, timestamp })
}

fn packet(number: u64) -> Option<Role> {
    Some(Role::Data { number, span: 1, timestamp: None })
}

#[test]
fn a_segment_has_the_flow_of_its_addresses_and_ports() {
    let segment = tcp(7, ACK, &[], 10);
    for (bytes, (source, destination)) in [(v4(6, &[], &segment), V4), (v6(6, &segment), V6)] {
        let flow = Flow {
            protocol: Protocol::Tcp,
            interface: 3,
            source,
            destination,
            ports: (443, 50_000),
            context: 0,
        };
        let octets = 2 * bytes.len() as u32;
        let role = Role::Data { number: 7, span: 10, timestamp: None };
        assert_eq!(whole(&bytes), Some(Packet { flow, role, octets }));
    }
}

#[test]
fn segments_have_the_role_that_their_flags_give_them() {
    let close = Some(Role::Close);
    let acknowledgement = Some(Role::Acknowledgement);
    let open = |next| Some(Role::Open { next });
    let cases = [
        ("SYN", tcp(99, SYN, &[], 0), open(100)),
        ("SYN with the last number", tcp(u32::MAX, SYN | ACK, &[], 0), open(0)),
        // TCP Fast Open (RFC 7413): the data have the numbers after the SYN.
        ("SYN with data", tcp(99, SYN, &[], 50), open(150)),
        ("SYN and FIN", tcp(99, SYN | FIN, &[], 0), open(100)),
        ("RST", tcp(99, RST, &[], 0), close),
        ("RST, ACK and data, which say why", tcp(99, RST | ACK, &[], 12), close),
        ("SYN and RST", tcp(99, SYN | RST, &[], 0), close),
        ("ACK", tcp(99, ACK, &[], 0), acknowledgement),
        ("ACK with timestamps", tcp(99, ACK, &STAMPED, 0), acknowledgement),
        ("no flag at all", tcp(99, 0, &[], 0), acknowledgement),
        ("FIN", tcp(99, FIN | ACK, &[], 0), data(99, 1, None)),
        ("FIN with data", tcp(99, FIN | ACK | PSH, &STAMPED, 20), data(99, 21, Some(0x0102_0304))),
        ("data", tcp(99, ACK | PSH, &[], 1), data(99, 1, None)),
        ("data across the wrap", tcp(u32::MAX, ACK, &[], 1460), data(u32::MAX, 1460, None)),
    ];
    for (name, segment, expected) in cases {
        assert_eq!(role(&v4(6, &[], &segment)), expected, "IPv4, {name}");
        assert_eq!(role(&v6(6, &segment)), expected, "IPv6, {name}");
    }
}

#[test]
fn a_timestamp_is_found_wherever_the_options_can_be_read() {
    let stamp = Some(0x0102_0304);
    let mptcp = [30, 4, 0x20, 0];
    let cases: [(&str, Vec<u8>, Option<u32>); 9] = [
        ("first", vec![8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 1], stamp),
        ("behind no-operations", STAMPED.to_vec(), stamp),
        ("behind SACK", [&[1, 1, 5, 10][..], &[7; 8], &STAMPED].concat(), stamp),
        ("behind Multipath TCP", [&mptcp[..], &STAMPED].concat(), stamp),
        ("behind an experiment", [&[254, 4, 0xab, 0xcd][..], &STAMPED].concat(), stamp),
        ("behind the end of options", [&[0, 0, 0, 0][..], &STAMPED].concat(), None),
        ("behind an option of length 0", [&[30, 0, 0, 0][..], &STAMPED].concat(), None),
        ("beyond the header", vec![1, 1, 1, 1, 8, 10, 1, 2], None),
        ("none", vec![1, 1, 1, 1], None),
    ];
    for (name, options, timestamp) in cases {
        let segment = tcp(5, ACK, &options, 100);
        assert_eq!(role(&v4(6, &[], &segment)), data(5, 100, timestamp), "{name}");
    }
}

#[test]
fn headers_before_the_segment_do_not_count_as_data() {
    let segment = tcp(5, ACK, &STAMPED, 100);
    let expected = data(5, 100, Some(0x0102_0304));
    // Router alert (RFC 2113), and the longest options.
    assert_eq!(role(&v4(6, &[148, 4, 0, 0], &segment)), expected);
    assert_eq!(role(&v4(6, &[1; 40], &segment)), expected);
    // Hop-by-hop options, destination options of 16 octets and routing, each with its length in units of
    // 8 octets beyond the first 8.
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination = [43, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let routing = [6, 0, 4, 0, 0, 0, 0, 0];
    let extended = [&hop_by_hop[..], &destination, &routing, &segment].concat();
    assert_eq!(role(&v6(0, &extended)), expected);
}

#[test]
fn a_padded_frame_has_the_length_of_its_header() {
    let acknowledgement = tcp(5, ACK, &[], 0);
    let mut bytes = v4(6, &[], &acknowledgement);
    // Ethernet pads to 46 octets.
    bytes.resize(46, 0);
    assert_eq!(role(&bytes), Some(Role::Acknowledgement));
    let mut bytes = v6(6, &acknowledgement);
    bytes.resize(80, 0);
    assert_eq!(role(&bytes), Some(Role::Acknowledgement));
}

#[test]
fn the_first_96_octets_suffice_for_common_headers() {
    // The longest TCP header, in both versions: 20 + 60 and 40 + 60.
    let longest = [&[1; 28][..], &STAMPED].concat();
    let cases = [
        ("IPv4, timestamps", v4(6, &[], &tcp(5, ACK, &STAMPED, 1448)), 96, 1448),
        ("IPv4, all options", v4(6, &[], &tcp(5, ACK, &longest, 1420)), 96, 1420),
        ("IPv6, timestamps", v6(6, &tcp(5, ACK, &STAMPED, 1428)), 96, 1428),
        ("IPv6, all options", v6(6, &tcp(5, ACK, &longest, 1400)), 96, 1400),
        ("IPv4 with options", v4(6, &[1; 40], &tcp(5, ACK, &longest, 1300)), 128, 1300),
    ];
    for (name, bytes, present, span) in cases {
        let found = classify(&bytes[..present], bytes.len() as u32, 0, ALL);
        let found = found.unwrap_or_else(|| panic!("{name}: not read"));
        assert_eq!(Some(found.role), data(5, span, Some(0x0102_0304)), "{name}");
        assert_eq!(found.octets, 2 * bytes.len() as u32, "{name}");
    }
}

#[test]
fn a_cut_header_loses_only_what_lies_behind_the_cut() {
    let longest = [&[1; 28][..], &STAMPED].concat();
    let bytes = v6(6, &tcp(5, ACK, &longest, 1400));
    for present in 0..bytes.len().min(160) {
        let found = classify(&bytes[..present], bytes.len() as u32, 0, ALL).map(|found| found.role);
        match present {
            0..60 => assert!(found.is_none() || found == data(5, 1400, None), "{present}"),
            // TSval ends 4 octets before the header's end.
            60..96 => assert_eq!(found, data(5, 1400, None), "{present}"),
            _ => assert_eq!(found, data(5, 1400, Some(0x0102_0304)), "{present}"),
        }
    }
}

#[test]
fn a_super_packet_has_all_of_its_data() {
    // Segmentation offload joins segments up to the greatest length that the header has.
    let mut bytes = v4(6, &[], &tcp(5, ACK, &STAMPED, 0));
    bytes[2..4].copy_from_slice(&65_535_u16.to_be_bytes());
    let found = classify(&bytes, 65_535, 0, ALL).expect("a segment");
    assert_eq!(Some(found.role), data(5, 65_535 - 52, Some(0x0102_0304)));
    assert_eq!(found.octets, 131_070);
    // Larger ones (BIG TCP) have a length of 0, in IPv6 with a jumbo option (RFC 2675) in a hop-by-hop header
    // or without, in IPv4 without.
    let length = 180_000_u32;
    bytes[2..4].fill(0);
    let found = classify(&bytes, length, 0, ALL).expect("a segment");
    assert_eq!(Some(found.role), data(5, length - 52, Some(0x0102_0304)));
    let segment = tcp(5, ACK, &STAMPED, 0);
    let jumbo = [&[6, 0, 0xc2, 4, 0, 2, 0xbe, 0xf8][..], &segment].concat();
    for (next_header, payload, headers) in [(6, segment.clone(), 72), (0, jumbo, 80)] {
        let mut bytes = v6(next_header, &payload);
        bytes[4..6].fill(0);
        let found = classify(&bytes, length, 0, ALL).expect("a segment");
        assert_eq!(Some(found.role), data(5, length - headers, Some(0x0102_0304)));
    }
    // The memory that a packet takes saturates.
    let mut bytes = v6(6, &segment);
    bytes[4..6].fill(0);
    assert_eq!(classify(&bytes, u32::MAX, 0, ALL).map(|packet| packet.octets), Some(u32::MAX));
}

#[test]
fn fragments_pass() {
    let segment = tcp(5, ACK, &STAMPED, 100);
    // More fragments follow, or some precede (RFC 791).
    for fragment in [[0x20, 0], [0, 185], [0x20, 185]] {
        let mut bytes = v4(6, &[], &segment);
        bytes[6..8].copy_from_slice(&fragment);
        assert_eq!(whole(&bytes), None, "{fragment:?}");
    }
    let mut bytes = v4(6, &[], &segment);
    bytes[6] = 0x40;
    assert_eq!(role(&bytes), data(5, 100, Some(0x0102_0304)), "Don't Fragment");
    // The fragment header of IPv6 (RFC 8200, section 4.5): offset 0 with M, and an offset.
    for fragment in [[0, 1], [0, 8]] {
        let header = [6, 0, fragment[0], fragment[1], 0, 0, 0, 1];
        assert_eq!(whole(&v6(44, &[&header[..], &segment].concat())), None, "{fragment:?}");
    }
}

#[test]
fn lengths_that_contradict_each_other_pass() {
    let v4_with = |at: usize, value: u8| {
        let mut bytes = v4(6, &[], &tcp(5, ACK, &[], 10));
        bytes[at] = value;
        bytes
    };
    let cases = [
        ("nothing", vec![]),
        ("one octet", vec![0x45]),
        ("no version", v4_with(0, 0x05)),
        ("version 5", v4_with(0, 0x55)),
        ("IP header below 20 octets", v4_with(0, 0x44)),
        ("IP header beyond the packet", v4_with(0, 0x4f)),
        ("total length within the IP header", v4_with(3, 19)),
        ("total length within the TCP header", v4_with(3, 39)),
        ("TCP header below 20 octets", v4_with(32, 0x40)),
        ("TCP header beyond the packet", v4_with(32, 0xf0)),
        ("no octet of TCP", v4(6, &[], &[])),
        ("ports alone", v4(6, &[], &[1, 187, 0, 80])),
        ("ports alone, IPv6", v6(6, &[1, 187, 0, 80])),
        ("an extension beyond the packet", v6(0, &[6, 200, 0, 0, 0, 0, 0, 0])),
        ("no octet of UDP", v4(17, &[], &[])),
    ];
    for (name, bytes) in cases {
        assert_eq!(whole(&bytes), None, "{name}");
    }
    // A packet shorter than its header says.
    let bytes = v4(6, &[], &tcp(5, ACK, &[], 100));
    assert_eq!(classify(&bytes[..60], 60, 0, ALL).map(|found| found.role), data(5, 20, None));
    assert_eq!(classify(&bytes, 10, 0, ALL), None);
    assert_eq!(classify(&bytes, 0, 0, ALL), None);
}

#[test]
fn other_protocols_pass() {
    for protocol in [1, 2, 47, 58, 59, 89, 132, 255] {
        assert_eq!(whole(&v4(protocol, &[], &[4; 60])), None, "IPv4, {protocol}");
        assert_eq!(whole(&v6(protocol, &[4; 60])), None, "IPv6, {protocol}");
    }
    // DNS, QUIC with a long header, and UDP without data.
    for payload in [&[0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &[0xc3; 1200], &[]] {
        assert_eq!(whole(&v4(17, &[], &udp(53, 40_000, payload))), None, "{payload:?}");
    }
}

/// Returns a transport data message of WireGuard (the paper, section 5.4.6) with an encrypted packet of `inner`
/// octets.
fn wireguard(index: u32, counter: u64, inner: usize) -> Vec<u8> {
    let mut bytes = vec![4, 0, 0, 0];
    bytes.extend_from_slice(&index.to_le_bytes());
    bytes.extend_from_slice(&counter.to_le_bytes());
    bytes.resize(16 + inner + 16, 0xee);
    bytes
}

#[test]
fn wireguard_is_numbered_by_its_counter() {
    let message = wireguard(0x0102_0304, 0x0506_0708_090a_0b0c, 1408);
    let found = whole(&v4(17, &[], &udp(51_820, 41_000, &message))).expect("a data message");
    assert_eq!(Some(found.role), packet(0x0506_0708_090a_0b0c));
    let flow = Flow {
        protocol: Protocol::WireGuard,
        interface: 3,
        source: V4.0,
        destination: V4.1,
        ports: (51_820, 41_000),
        context: 0x0102_0304,
    };
    assert_eq!(found.flow, flow);
    // A keep-alive is a message with an empty packet, and has a number like any other.
    let keep_alive = wireguard(7, 9, 0);
    assert_eq!(role(&v6(17, &udp(1, 2, &keep_alive))), packet(9));
    assert_eq!(role(&v6(17, &udp(1, 2, &wireguard(7, u64::MAX, 16)))), packet(u64::MAX));
}

/// The sender pads to 16 octets, but not beyond the tunnel's MTU: at 1420, full packets have no padding.
#[test]
fn full_packets_of_wireguard_are_not_padded() {
    for mtu in [1420, 1412, 1380, 1281] {
        let message = wireguard(7, 9, mtu);
        assert_eq!(role(&v4(17, &[], &udp(1, 2, &message))), packet(9), "{mtu}");
    }
}

#[test]
fn other_messages_of_wireguard_pass() {
    let message = |first: [u8; 4], length: usize| {
        let mut bytes = first.to_vec();
        bytes.resize(length, 0x11);
        bytes
    };
    let cases = [
        ("handshake initiation", message([1, 0, 0, 0], 148)),
        ("handshake response", message([2, 0, 0, 0], 92)),
        ("cookie reply", message([3, 0, 0, 0], 64)),
        ("reserved octets that are not zero", message([4, 1, 0, 0], 128)),
        ("shorter than header and tag", message([4, 0, 0, 0], 31)),
        ("header cut", message([4, 0, 0, 0], 15)),
    ];
    let tunnels = Tunnels { wireguard: true, ..Tunnels::default() };
    for (name, message) in cases {
        let bytes = v4(17, &[], &udp(51_820, 51_820, &message));
        assert_eq!(classify(&bytes, bytes.len() as u32, 0, tunnels), None, "{name}");
    }
}

/// Returns an ESP packet (RFC 4303, section 2).
fn esp(spi: u32, number: u32) -> Vec<u8> {
    [&spi.to_be_bytes()[..], &number.to_be_bytes(), &[0xee; 80]].concat()
}

#[test]
fn esp_is_numbered_by_its_sequence_number() {
    let found = whole(&v4(50, &[], &esp(0x0102_0304, 0xfffe_fdfc))).expect("ESP");
    assert_eq!(Some(found.role), packet(0xfffe_fdfc));
    let flow = Flow {
        protocol: Protocol::Esp,
        interface: 3,
        source: V4.0,
        destination: V4.1,
        ports: (0, 0),
        context: 0x0102_0304,
    };
    assert_eq!(found.flow, flow);
    assert_eq!(role(&v6(50, &esp(256, 1))), packet(1));
    // Within UDP (RFC 3948), a NAT may have changed the port of one end.
    for ports in [(4500, 4500), (4500, 31_000), (31_000, 4500)] {
        let found = whole(&v4(17, &[], &udp(ports.0, ports.1, &esp(256, 5)))).expect("ESP");
        assert_eq!((found.flow.protocol, found.flow.ports), (Protocol::Esp, ports));
        assert_eq!(Some(found.role), packet(5));
    }
}

#[test]
fn what_else_is_on_the_port_of_esp_passes() {
    let cases = [
        ("IKE behind the marker", [&[0; 4][..], &[0x77; 28]].concat()),
        ("NAT keep-alive", vec![0xff]),
        ("half a header", vec![0, 0, 1, 0]),
    ];
    for (name, payload) in cases {
        assert_eq!(whole(&v4(17, &[], &udp(4500, 4500, &payload))), None, "{name}");
    }
    assert_eq!(whole(&v4(17, &[], &udp(500, 500, &esp(256, 5)))), None, "IKE's own port");
}

/// Returns a packet of OpenVPN with an opcode and key 2, and for the data channel with AEAD a peer id, packet
/// id and tag.
fn openvpn(opcode: u8, number: u32) -> Vec<u8> {
    [&[opcode << 3 | 2, 0, 0, 5][..], &number.to_be_bytes(), &[0xee; 16], &[0xdd; 60]].concat()
}

#[test]
fn openvpn_is_numbered_by_its_packet_id() {
    let found = whole(&v4(17, &[], &udp(1194, 1194, &openvpn(9, 0x0102_0304)))).expect("P_DATA_V2");
    assert_eq!(Some(found.role), packet(0x0102_0304));
    assert_eq!(found.flow.protocol, Protocol::OpenVpn);
    assert_eq!(found.flow.context, 0x4a00_0005, "peer and key");
    assert_eq!(role(&v6(17, &udp(1194, 1194, &openvpn(9, u32::MAX)))), packet(u64::from(u32::MAX)));
}

#[test]
fn other_packets_of_openvpn_pass() {
    // P_DATA_V1, P_CONTROL_HARD_RESET_CLIENT_V2 and _V3, P_CONTROL_V1, P_ACK_V1.
    for opcode in [6, 7, 10, 4, 5] {
        let bytes = v4(17, &[], &udp(1194, 1194, &openvpn(opcode, 5)));
        assert_eq!(whole(&bytes), None, "{opcode}");
    }
    let short = &openvpn(9, 5)[..23];
    assert_eq!(whole(&v4(17, &[], &udp(1194, 1194, short))), None, "shorter than its tag");
    assert_eq!(whole(&v4(17, &[], &udp(1194, 1194, &openvpn(9, 0)))), None, "ids begin at 1");
}

#[test]
fn a_tunnel_that_is_off_passes() {
    let on_wire = [
        (v4(17, &[], &udp(51_820, 51_820, &wireguard(7, 9, 64))), Protocol::WireGuard),
        (v4(50, &[], &esp(256, 5)), Protocol::Esp),
        (v6(17, &udp(4500, 4500, &esp(256, 5))), Protocol::Esp),
        (v6(17, &udp(1194, 1194, &openvpn(9, 5))), Protocol::OpenVpn),
    ];
    for (bytes, protocol) in on_wire {
        for bits in 0..8_u8 {
            let [wireguard, esp, openvpn] = [1, 2, 4].map(|bit| bits & bit != 0);
            let found =
                classify(&bytes, bytes.len() as u32, 0, Tunnels { wireguard, esp, openvpn });
            let is_on = match protocol {
                Protocol::WireGuard => wireguard,
                Protocol::Esp => esp,
                _ => openvpn,
            };
            let found = found.map(|packet| packet.flow.protocol);
            assert_eq!(found, is_on.then_some(protocol), "{bits:03b}");
        }
    }
}

#[test]
fn a_cut_head_of_a_tunnel_suffices_if_its_numbers_are_there() {
    let bytes = v6(17, &udp(51_820, 51_820, &wireguard(7, 9, 1408)));
    let found = classify(&bytes[..96], bytes.len() as u32, 0, ALL).expect("a data message");
    assert_eq!(Some(found.role), packet(9));
    assert_eq!(classify(&bytes[..60], bytes.len() as u32, 0, ALL), None);
}
