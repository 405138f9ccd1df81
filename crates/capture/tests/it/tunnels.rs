//! Tunnels over UDP, frame by frame: which tunnel a pair carries, and in which order its packets pass.

use proptest::prelude::*;
use unruffled_capture::{Analyzer, Frame, Interface, Limits, Link, Tunnel, UdpPair};
use unruffled_units::Instant;

/// Returns an IPv4 packet of UDP from 192.0.2.1 to 192.0.2.2.
fn udp(ports: (u16, u16), payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    packet.extend(ports.0.to_be_bytes());
    packet.extend(ports.1.to_be_bytes());
    packet.extend((8 + payload.len() as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend(payload);
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet
}

/// Returns the payload of a packet of a tunnel.
fn payload(tunnel: Tunnel, context: u32, number: u32) -> Vec<u8> {
    let mut head = match tunnel {
        Tunnel::WireGuard => vec![4, 0, 0, 0],
        Tunnel::Esp => context.to_be_bytes().to_vec(),
        _ => (9 << 27 | context & 0x00ff_ffff).to_be_bytes().to_vec(),
    };
    match tunnel {
        Tunnel::WireGuard => {
            head.extend(context.to_le_bytes());
            head.extend(u64::from(number).to_le_bytes());
        }
        _ => head.extend(number.to_be_bytes()),
    }
    head.resize(96, 0xa5);
    head
}

/// Returns the pair of a capture of such packets, each with its time in milliseconds.
fn captured(packets: &[(u64, Vec<u8>)]) -> UdpPair {
    let mut analyzer = Analyzer::new(Limits::default());
    for (ms, data) in packets {
        analyzer.frame(&Frame {
            interface: Interface::default(),
            at: Instant::from_millis(1000 + ms),
            length: data.len() as u32,
            data,
            link: Link::RAW,
        });
    }
    let analysis = analyzer.finish();
    assert_eq!(analysis.udp.len(), 1);
    analysis.udp[0].clone()
}

fn tunnels() -> impl Strategy<Value = (Tunnel, u16)> {
    prop_oneof![
        Just((Tunnel::WireGuard, 51_820)),
        Just((Tunnel::Esp, 4500)),
        Just((Tunnel::OpenVpn, 1194)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Packets leave a millisecond apart; some are late, some are lost, and all are captured once or twice.
    #[test]
    fn the_order_of_a_tunnel_is_what_its_numbers_say(
        (tunnel, port) in tunnels(),
        first in 1_u32..0xffff_0000,
        delays in proptest::collection::vec(prop_oneof![4 => Just(0_u64), 1 => 1_u64..300], 20..400),
        lost in proptest::collection::vec(proptest::bool::weighted(0.05), 400),
        twice in any::<bool>(),
    ) {
        let mut arrivals: Vec<(u64, u32)> = delays
            .iter()
            .zip(0_u32..)
            .filter(|(_, n)| *n == 0 || !lost[*n as usize])
            // What overtakes the first packet of a capture is not known.
            .map(|(delay, n)| (u64::from(n) + if n == 0 { 0 } else { *delay }, n))
            .collect();
        arrivals.sort_unstable();
        prop_assume!(arrivals.len() >= 10);
        let overtaken = |at: usize| {
            arrivals[..at].iter().find(|(_, other)| *other > arrivals[at].1).map(|(ms, _)| *ms)
        };
        let late: Vec<u64> = (0..arrivals.len())
            .filter_map(|at| overtaken(at).map(|since| arrivals[at].0 - since))
            .collect();
        let copies = if twice { 2 } else { 1 };
        let packets: Vec<_> = arrivals
            .iter()
            .flat_map(|&(ms, n)| {
                let packet = udp((port, port), &payload(tunnel, 0x1234, first + n));
                std::iter::repeat_n((ms, packet), copies)
            })
            .collect();
        let pair = captured(&packets);
        prop_assert_eq!(pair.tunnel, Some(tunnel));
        let [Some(order), None] = &pair.tunnel_reordering else { panic!("{pair:?}") };
        prop_assert_eq!(order.packets, arrivals.len() as u64);
        prop_assert_eq!(order.reordered, late.len() as u64);
        // Packets late by less than a step of the clock have no late time.
        if let (Some(time), Some(&longest)) = (&order.late_time, late.iter().max()) {
            prop_assert!((time.max_ms - longest as f64).abs() <= 0.01 * longest as f64 + 0.5, "{} {longest}", time.max_ms);
        }
    }

    #[test]
    fn other_datagrams_are_no_tunnel(
        payloads in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 40), 10..60),
        port in 1024_u16..4500,
    ) {
        let packets: Vec<_> =
            payloads.iter().zip(0..).map(|(payload, ms)| (ms, udp((port, 53), payload))).collect();
        prop_assert_eq!(captured(&packets).tunnel, None);
    }
}

/// One short header of QUIC in eight begins like a data packet of OpenVPN.
#[test]
fn a_quic_connection_is_no_tunnel() {
    let mut initial = vec![0xc3, 0, 0, 0, 1];
    initial.resize(1200, 0);
    let short =
        (0..100).map(|n| (n + 1, udp((40_000, 443), &payload(Tunnel::OpenVpn, 3, n as u32 + 1))));
    let packets: Vec<_> = std::iter::once((0, udp((40_000, 443), &initial))).chain(short).collect();
    let pair = captured(&packets);
    assert_eq!((pair.quic_version.as_deref(), pair.tunnel), (Some("1"), None));
    assert_eq!(pair.tunnel_reordering, [None, None]);
}
