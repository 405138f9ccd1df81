//! Flows of numbered packets, frame by frame: what came late, by how many packets, twice or never, and
//! what replay windows would drop of it.

use proptest::prelude::*;
use unruffled_capture::{
    Analyzer, Frame, Interface, Limits, Link, NumberedFlow, NumberedProtocol, USUAL_WINDOWS,
};
use unruffled_units::Instant;

/// Number of packets after which a flow counts as numbered.
const EVIDENCE: usize = 16;

/// Returns an IPv4 packet of that protocol from 192.0.2.1 to 192.0.2.2.
fn ip(protocol: u8, octets: &[u8]) -> Vec<u8> {
    let mut packet =
        vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    packet.extend(octets);
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet
}

fn udp(ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut datagram = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    datagram.extend((8 + payload.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(payload);
    ip(17, &datagram)
}

/// Forms of headers that hold a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    WireGuard,
    Esp,
    EspInUdp,
    OpenVpn1,
    OpenVpn2,
    Rtp,
    Dtls,
    Gre,
    GreWithKey,
    Pptp,
}

const FORMS: [Form; 10] = [
    Form::WireGuard,
    Form::Esp,
    Form::EspInUdp,
    Form::OpenVpn1,
    Form::OpenVpn2,
    Form::Rtp,
    Form::Dtls,
    Form::Gre,
    Form::GreWithKey,
    Form::Pptp,
];

impl Form {
    fn protocol(self) -> NumberedProtocol {
        match self {
            Self::WireGuard => NumberedProtocol::WireGuard,
            Self::Esp | Self::EspInUdp => NumberedProtocol::Esp,
            Self::OpenVpn1 | Self::OpenVpn2 => NumberedProtocol::OpenVpn,
            Self::Rtp => NumberedProtocol::Rtp,
            Self::Dtls => NumberedProtocol::Dtls,
            Self::Gre | Self::GreWithKey | Self::Pptp => NumberedProtocol::Gre,
        }
    }

    /// Returns a packet with that number, truncated to the length of the field. The payload is `filler`.
    fn packet(self, context: u32, number: u64, filler: u8) -> Vec<u8> {
        let short = (number as u32).to_be_bytes();
        let padded = |head: &[u8]| {
            let mut octets = head.to_vec();
            octets.resize(96, filler);
            octets
        };
        let key = context.to_be_bytes();
        // Stands for an authentication tag. The first bit keeps it from looking like text.
        let tag = ((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63).to_be_bytes();
        match self {
            Self::WireGuard => {
                let head =
                    [&[4, 0, 0, 0][..], &context.to_le_bytes(), &number.to_le_bytes()].concat();
                udp((51_820, 40_000), &padded(&head))
            }
            Self::Esp => ip(50, &padded(&[key, short].concat())),
            Self::EspInUdp => udp((4500, 4500), &padded(&[key, short].concat())),
            Self::OpenVpn1 => udp((1194, 5000), &padded(&[&[0x31][..], &short, &tag].concat())),
            Self::OpenVpn2 => {
                let head = [&[0x48, key[1], key[2], key[3]][..], &short, &tag].concat();
                udp((1194, 5000), &padded(&head))
            }
            Self::Rtp => {
                let clock = (number as u32).wrapping_mul(160).to_be_bytes();
                let head = [&[0x80, 96][..], &short[2..], &clock, &key].concat();
                udp((5004, 6004), &padded(&head))
            }
            Self::Dtls => {
                let number = (number & 0xffff_ffff_ffff).to_be_bytes();
                let head =
                    [&[23, 0xfe, 0xfd, 0, 1][..], &number[2..], &83_u16.to_be_bytes()].concat();
                udp((4433, 5555), &padded(&head))
            }
            Self::Gre => ip(47, &padded(&[[0x10, 0, 0x08, 0], short].concat())),
            Self::GreWithKey => ip(47, &padded(&[[0x30, 0, 0x08, 0], key, short].concat())),
            Self::Pptp => ip(47, &padded(&[[0x30, 1, 0x88, 0x0b], [0, 80, 1, 7], short].concat())),
        }
    }
}

/// Returns the numbered flows of a capture of such packets, each with its time in microseconds.
fn captured(packets: &[(u64, Vec<u8>)]) -> Vec<NumberedFlow> {
    let mut analyzer = Analyzer::new(Limits::default());
    for (us, data) in packets {
        let at = Instant::from_nanos(1_000_000_000 + us * 1000);
        analyzer.frame(&Frame {
            interface: Interface::default(),
            at,
            length: data.len() as u32,
            data,
            link: Link::RAW,
        });
    }
    analyzer.finish().numbered
}

fn forms() -> impl Strategy<Value = Form> {
    (0..FORMS.len()).prop_map(|at| FORMS[at])
}

/// The fate of a packet: its lateness in packets, whether it is lost, and how often it comes.
fn fates() -> impl Strategy<Value = Vec<(u64, bool, usize)>> {
    let late = prop_oneof![5 => Just(0_u64), 2 => 1_u64..40, 1 => 40_u64..300];
    let lost = proptest::bool::weighted(0.03);
    let copies = prop_oneof![30 => Just(1_usize), 1 => Just(2_usize)];
    // A flow is recognised by its first packets, which come in order here.
    proptest::collection::vec((late, lost, copies), 60..800).prop_map(|mut fates| {
        fates[..EVIDENCE].fill((0, false, 1));
        fates
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Packets leave 100 µs apart. What each window drops is what a window drops that is run beside.
    #[test]
    fn lateness_losses_and_copies_are_those_of_the_path(
        form in forms(),
        // Numbers wrap around in one of four flows.
        first in prop_oneof![3 => 1_u64..1_000_000, 1 => Just(0xffff_ff80_u64)],
        fates in fates(),
        filler in any::<u8>(),
    ) {
        // OpenVPN changes the key before its identifiers wrap around.
        let never_wraps = matches!(form, Form::OpenVpn1 | Form::OpenVpn2);
        let first = if never_wraps { first & 0xf_ffff } else { first };
        let mut arrivals: Vec<(u64, u64)> = Vec::new();
        for (n, &(late, lost, copies)) in (0_u64..).zip(&fates) {
            let copies = if lost { 0 } else { copies };
            arrivals.extend((0..copies as u64).map(|copy| (n * 100 + late * 100 + late.min(1) + copy * 7, n)));
        }
        arrivals.sort_unstable();
        let packets: Vec<_> = arrivals
            .iter()
            .map(|&(us, n)| (us, form.packet(0x00ab_cdef, first + n, filler)))
            .collect();
        let flows = captured(&packets);
        prop_assert_eq!(flows.len(), 1, "{:?}", flows);
        let flow = &flows[0];
        prop_assert_eq!(flow.protocol, form.protocol());

        let mut seen = std::collections::BTreeSet::new();
        let mut duplicates = 0;
        let mut late = 0;
        let mut max_behind = 0;
        let mut max_ms: f64 = 0.0;
        let mut dropped = [0; USUAL_WINDOWS.len()];
        let mut highest = 0;
        let mut firsts: Vec<(u64, u64)> = Vec::new();
        for &(us, n) in &arrivals {
            if !seen.insert(n) {
                duplicates += 1;
                continue;
            }
            firsts.push((us, n));
            if n < highest {
                late += 1;
                let overtaken = firsts.iter().find(|(_, other)| *other > n).map_or(us, |(at, _)| *at);
                max_ms = max_ms.max((us - overtaken) as f64 / 1000.0);
                max_behind = max_behind.max(highest - n);
                for (dropped, window) in dropped.iter_mut().zip(USUAL_WINDOWS) {
                    *dropped += u64::from(n + window <= highest);
                }
            }
            highest = highest.max(n);
        }
        // What is missing near the end may still come.
        let is_lost = |n: &u64| !seen.contains(n) && (max_behind == 0 || highest - n > max_behind);
        let lost = (0..highest).filter(is_lost).count() as u64;
        prop_assert_eq!(flow.packets, arrivals.len() as u64);
        prop_assert_eq!(flow.duplicates, duplicates);
        prop_assert_eq!(flow.lost, lost);
        prop_assert_eq!(flow.strange, 0);
        let order = &flow.reordering;
        prop_assert_eq!(order.packets, seen.len() as u64);
        prop_assert_eq!(order.reordered, late);
        prop_assert_eq!(order.replay.max_behind, max_behind);
        prop_assert_eq!(order.replay.sufficient, max_behind + 1);
        let found: Vec<u64> = order.replay.windows.iter().map(|window| window.dropped).collect();
        prop_assert_eq!(found, dropped.to_vec());
        if let Some(time) = &order.late_time {
            prop_assert!((time.max_ms - max_ms).abs() <= 0.01 * max_ms + 0.01, "{} {max_ms}", time.max_ms);
        }
    }

    #[test]
    fn random_datagrams_are_not_numbered(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 1..300),
        ports in prop_oneof![Just((53, 40_000)), Just((4500, 4500)), Just((1194, 1194)), Just((51_820, 51_820))],
    ) {
        let packets: Vec<_> =
            payloads.iter().zip(0..).map(|(payload, us)| (us, udp(ports, payload))).collect();
        prop_assert_eq!(captured(&packets), []);
    }

    /// The first octets are fixed to what each header begins with; what follows is random.
    #[test]
    fn random_datagrams_that_begin_like_a_header_are_not_numbered(
        form in forms(),
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 60), 100..300),
    ) {
        let model = form.packet(0x1234_5678, 1, 0);
        let fixed = match form {
            Form::WireGuard => 8,
            Form::Esp | Form::EspInUdp => 4,
            Form::OpenVpn1 => 1,
            Form::OpenVpn2 => 4,
            Form::Rtp => 2,
            Form::Dtls => 5,
            Form::Gre => 4,
            Form::GreWithKey | Form::Pptp => 8,
        };
        let header = if matches!(form, Form::Esp | Form::Gre | Form::GreWithKey | Form::Pptp) { 20 } else { 28 };
        let packet = |random: &[u8]| {
            let mut packet = model.clone();
            packet[header + fixed..header + random.len()].copy_from_slice(&random[fixed..]);
            packet
        };
        let packets: Vec<_> = payloads.iter().zip(0..).map(|(random, us)| (us, packet(random))).collect();
        prop_assert_eq!(captured(&packets), []);
    }

    /// Queries have a random identifier, or count it up, and flags and the name are the same each time.
    #[test]
    fn dns_is_not_numbered(
        identifiers in proptest::collection::vec(any::<u16>(), 20..200),
        counts_up: bool,
        flags in prop_oneof![Just(0x0100_u16), Just(0x8180), Just(0x8580)],
    ) {
        let packet = |(n, &random): (usize, &u16)| {
            let identifier = if counts_up { identifiers[0].wrapping_add(n as u16) } else { random };
            let mut query = [identifier.to_be_bytes(), flags.to_be_bytes()].concat();
            query.extend(b"\0\x01\0\x01\0\0\0\0\x07example\x03com\0\0\x01\0\x01");
            (n as u64 * 100, udp((53, 40_000), &query))
        };
        let packets: Vec<_> = identifiers.iter().enumerate().map(packet).collect();
        prop_assert_eq!(captured(&packets), []);
    }

    /// A short header has a bit that is fixed, five that look random, and the connection's identifier;
    /// the packet number and what follows look random.
    #[test]
    fn the_short_headers_of_quic_are_not_numbered(
        id in proptest::collection::vec(any::<u8>(), 0..20),
        randoms in proptest::collection::vec(any::<[u8; 32]>(), 20..300),
        ports in prop_oneof![Just((443, 40_000)), Just((1194, 40_000)), Just((4500, 40_000))],
    ) {
        let packet = |(random, us): (&[u8; 32], u64)| {
            let mut payload = vec![0x40 | random[0] & 0x3f];
            payload.extend(&id);
            payload.extend(random);
            (us, udp(ports, &payload))
        };
        let packets: Vec<_> = randoms.iter().zip(0..).map(packet).collect();
        prop_assert_eq!(captured(&packets), []);
    }

    #[test]
    fn fifteen_packets_are_not_enough_and_sixteen_are(form in forms(), first in 1_u64..50_000) {
        let packets = |count| -> Vec<_> {
            (0..count).map(|n| (n * 100, form.packet(0x00ab_cdef, first + n, 0))).collect()
        };
        prop_assert_eq!(captured(&packets(15)).len(), 0);
        prop_assert_eq!(captured(&packets(16)).len(), 1);
    }
}

/// Lines of text that begin like a header of OpenVPN and count up in figures.
#[test]
fn lines_of_text_that_count_are_not_numbered() {
    for end in ["", " of a constant text", "%"] {
        let line = |n: u64| {
            let end = if end == "%" { format!(" at {}", n * n * 7919) } else { end.to_owned() };
            (n, udp((8125, 40_000), format!("MSG {n:04}{end:30}").as_bytes()))
        };
        assert_eq!(captured(&(0..2000).map(line).collect::<Vec<_>>()), []);
    }
}

/// WireGuard changes its key every two minutes, and counts anew.
#[test]
fn a_new_key_begins_a_new_window() {
    let former = (0..1000).filter(|n| *n != 990).map(|n| Form::WireGuard.packet(7, n, 0));
    let newer = (0..500).map(|n| Form::WireGuard.packet(8, n, 0));
    let late = Form::WireGuard.packet(7, 990, 0);
    let packets: Vec<_> = (0..).map(|n| n * 100).zip(former.chain(newer).chain([late])).collect();
    let [flow] = &captured(&packets)[..] else { panic!("one flow") };
    assert_eq!((flow.packets, flow.lost, flow.duplicates, flow.context), (1500, 0, 0, 8));
    // Packet 990 is 9 behind the last one of its key.
    assert_eq!((flow.reordering.reordered, flow.reordering.replay.max_behind), (1, 9));
}

/// A sender that is started again counts from the beginning.
#[test]
fn a_sender_that_begins_anew_loses_nothing() {
    let numbers = (500_000..500_100).chain(1..200);
    let packets: Vec<_> = numbers.map(|n| (0, Form::Gre.packet(0, n, 0))).collect();
    let [flow] = &captured(&packets)[..] else { panic!("one flow") };
    assert_eq!((flow.packets, flow.lost, flow.strange), (299, 0, 1));
    assert_eq!(flow.reordering.reordered, 0);
}

#[test]
fn streams_and_keys_that_are_in_use_at_the_same_time_are_flows_of_their_own() {
    let both = |form: Form| {
        let mut packets = Vec::new();
        for n in 0..100 {
            packets.push((n * 100, form.packet(0x1111, 7 + n, 0)));
            packets.push((n * 100, form.packet(0x2222, 9000 + n, 0)));
        }
        captured(&packets)
    };
    for form in [Form::Rtp, Form::Esp, Form::EspInUdp, Form::GreWithKey] {
        let flows = both(form);
        assert_eq!(flows.len(), 2, "{form:?}");
        assert!(flows.iter().all(|flow| flow.packets == 100 && flow.lost == 0), "{flows:?}");
    }
}

/// Datagrams with a new stream each time fill the table of candidates.
#[test]
fn many_streams_are_followed_in_bounded_memory() {
    let noise = (0..100_000_u32).map(|n| Form::Rtp.packet(n.wrapping_mul(0x9e37_79b9), 1, 0));
    let mut packets: Vec<_> = noise.map(|packet| (0, packet)).collect();
    let streams = (0..2000).flat_map(|s| (0..20).map(move |n| Form::Rtp.packet(s, n, 0)));
    packets.extend(streams.map(|packet| (1, packet)));
    assert_eq!(captured(&packets).len(), 512);
}
