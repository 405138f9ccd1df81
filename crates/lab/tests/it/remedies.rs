//! The goodput that each remedy gives, as an analysis of a capture estimates it, compared with simulations
//! of the same path with that remedy. Captures are made at the sender, at the receiver and between them.

use unruffled_capture::{
    Analysis, Analyzer, Datagram, Frame, Limits, Packet, Place, Source, Transport, Tunnel,
    TunnelPacket, decode, read,
};
use unruffled_lab::advice::{Action, Remedy, Step, plan, remedy_here};
use unruffled_lab::analysis::{json, render};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::transfer::{price, transfers};
use unruffled_lab::{Scenario, run};
use unruffled_measure::End;
use unruffled_tcp::Variant;
use unruffled_units::{Duration, Instant};

/// The time that the part of the path between an end and a capture between the ends takes.
const PART: Duration = Duration::from_millis(20);

/// Port of the receiver of the data in captures.
const RECEIVER_PORT: u16 = 5001;

/// Largest ratio between an estimate and the truth. With three seeds, two estimates of one path differ by as
/// much as a half.
const TOLERANCE: f64 = 2.0;

/// Returns the scenario for 20 s, with timestamps, which show at the receiver when packets were sent.
fn scenario(name: &str, overrides: &[&str]) -> Scenario {
    let common = ["duration=20 s", "tcp.timestamps=true"];
    let overrides: Vec<_> = common.iter().chain(overrides).map(ToString::to_string).collect();
    Scenario::load(name, &overrides).expect("is built in")
}

/// Simulates `rack+cubic`, and returns the packets at an end.
fn packets_at(end: End, scenario: &Scenario) -> Vec<Packet> {
    let mut octets = Vec::new();
    let mut capture = Capture::at(end, &mut octets).expect("memory takes it");
    let sender = Variant::parse("rack+cubic").expect("is a sender");
    run::run(scenario, &sender, 1, Some(&mut capture), never()).expect("runs");
    capture.finish().expect("memory takes it");
    let source = Source::new(Box::new(std::io::Cursor::new(octets)), None).expect("a capture");
    let mut packets = Vec::new();
    let decoded = |frame: &Frame<'_>| packets.push(decode(frame).expect("is TCP"));
    assert_eq!(read(source, decoded), Ok(None));
    packets
}

/// Moves the place of a capture away from an end, along a part of the path that keeps order.
fn moved_from(end: End, mut packets: Vec<Packet>) -> Vec<Packet> {
    for packet in &mut packets {
        let is_data = packet.to.port() == RECEIVER_PORT;
        packet.at = match is_data == (end == End::Sender) {
            true => packet.at + PART,
            // The capture begins at 0, when the first packet leaves.
            false => Instant::from_nanos((packet.at.as_nanos()).saturating_sub(PART.as_nanos())),
        };
    }
    packets.sort_by_key(|packet| packet.at);
    packets
}

fn analysed(packets: &[Packet]) -> Analysis {
    let mut analyzer = Analyzer::new(Limits::default());
    packets.iter().for_each(|packet| analyzer.packet(packet));
    analyzer.finish()
}

/// Returns the mean goodput of six runs, in bits per second.
fn delivers(scenario: &Scenario, sender: &str) -> f64 {
    let sender = Variant::parse(sender).expect("is a sender");
    let runs = (1..=6).map(|seed| run::run(scenario, &sender, seed, None, never()).expect("runs"));
    runs.map(|row| row.flow.goodput_bps).sum::<f64>() / 6.0
}

/// Places of a capture: which end it is near, and whether it is away from that end.
const PLACES: [(End, bool, Place); 4] = [
    (End::Sender, false, Place::Sender),
    // Packets lose their order after they passed this place.
    (End::Sender, true, Place::Between),
    // Packets have lost their order before they pass this place.
    (End::Receiver, true, Place::Between),
    (End::Receiver, false, Place::Receiver),
];

/// Returns the analysis of a transfer over the path, captured at each place.
fn captured(scenario: &Scenario) -> Vec<Analysis> {
    let ends = [End::Sender, End::Receiver].map(|end| packets_at(end, scenario));
    let at = |(end, moved, place): (End, bool, Place)| {
        let packets = ends[usize::from(end == End::Receiver)].clone();
        let analysis = analysed(&if moved { moved_from(end, packets) } else { packets });
        assert_eq!(transfers(&analysis)[0].direction.place, place);
        analysis
    };
    PLACES.map(at).into()
}

#[test]
fn the_goodput_with_resequence_is_that_of_the_path_with_a_resequencer() {
    let late = |mean, deviation| {
        ["fraction=10%", mean, deviation].map(|set| format!("link.bottleneck.delayed.{set}"))
    };
    let wide = late("mean=100ms", "deviation=33ms");
    let wide: Vec<&str> = wide.iter().map(String::as_str).collect();
    for (name, path) in [("few-late", vec![]), ("in-order", wide)] {
        let path = [&path[..], &["tcp.paws=true"]].concat();
        let resequenced =
            scenario(name, &[&path[..], &["link.bottleneck.resequence=true"]].concat());
        for analysis in captured(&scenario(name, &path)) {
            let mut found = transfers(&analysis);
            price("c", &mut found, never());
            let Some(Ok(cost)) = &found[0].cost else { panic!("{name}: {:?}", found[0].cost) };
            let truth = delivers(&resequenced, &cost.sender);
            assert!(truth > 2.0 * cost.now_bps / TOLERANCE, "{name}: {truth}, {cost:?}");
            // The path itself loses nothing.
            let estimate = cost.lossless_resequenced_bps;
            let ratio = estimate / truth;
            assert!((1.0 / TOLERANCE..TOLERANCE).contains(&ratio), "{name}: {truth}, {cost:?}");
            assert!(cost.resequenced_bps <= estimate);
            assert!(cost.text.contains("and `unruffled resequence` at the receiver, "), "{cost:?}");
        }
    }
}

#[test]
fn the_remedy_that_is_possible_on_the_capturing_host_comes_first() {
    let remedies =
        [Some(Remedy::Attach), None, Some(Remedy::ResequenceForward), Some(Remedy::Resequence)];
    let commands = [
        ["sudo unruffled attach --default", "sudo unruffled resequence"],
        ["sudo unruffled attach --default", "sudo unruffled resequence"],
        ["sudo unruffled resequence --forward", "sudo unruffled attach --default"],
        ["sudo unruffled resequence", "sudo unruffled attach --default"],
    ];
    let analyses = captured(&scenario("few-late", &[]));
    for ((analysis, remedy), [first, other]) in analyses.iter().zip(remedies).zip(commands) {
        let found = transfers(analysis);
        assert_eq!(remedy_here(found[0].direction, found[0].verdict.cause), remedy);
        let steps = plan("c", &found, None);
        let position =
            |command: &str| steps.iter().position(|step| step.advice.command() == command);
        assert_eq!(position(first), Some(0), "{steps:?}");
        assert!(position(other) > Some(0), "{steps:?}");
        let here = steps[0].site.expect("a host").captured_here;
        assert_eq!(here, Some(remedy.is_some()), "{steps:?}");
        let text = render("c", analysis, &found, &steps, 1000);
        let sentence = match remedy {
            Some(Remedy::Attach) => "This host is the sender, where `attach` is the remedy",
            Some(Remedy::Resequence) => {
                "This host is the receiver, where `resequence` is the remedy"
            }
            Some(_) => "as a gateway that forwards these packets, it can put them in order",
            None => "packets lose their order behind it, where nothing on this host helps",
        };
        assert!(text.contains(sentence), "{text}");
    }
}

#[test]
fn a_transfer_whose_packets_keep_their_order_has_no_price_and_no_remedy() {
    for analysis in captured(&scenario("in-order", &[])) {
        let mut found = transfers(&analysis);
        price("c", &mut found, never());
        assert!(found[0].cost.is_none(), "{:?}", found[0]);
        assert_eq!(remedy_here(found[0].direction, found[0].verdict.cause), None);
        let steps = plan("c", &found, None);
        let is_remedy =
            |step: &Step| matches!(step.advice.action(), Action::Attach | Action::Resequence);
        assert!(!steps.iter().any(is_remedy), "{steps:?}");
        let json = json("c", &analysis, &found, &steps, None);
        assert!(json.contains("\"remedy_here\":null") && !json.contains("resequence"), "{json}");
        assert_eq!(found[0].direction.reordering().hold_ms, Some(0.0), "nothing is late");
    }
}

/// Adds the packets of the tunnel that carries the data.
fn tunnelled(packets: &[Packet], lacks: usize) -> Vec<Packet> {
    let data = packets.iter().filter(|packet| packet.to.port() == RECEIVER_PORT);
    let outer = data.skip(lacks).zip(0..).map(|(packet, number)| {
        let tunnel = Some(TunnelPacket { tunnel: Tunnel::WireGuard, context: 7, number });
        let datagram = Datagram { len: packet.length + 32, tunnel, ..Datagram::default() };
        Packet {
            from: "203.0.113.1:51820".parse().expect("an address"),
            to: "203.0.113.2:51820".parse().expect("an address"),
            transport: Transport::Udp(datagram),
            ..packet.clone()
        }
    });
    let mut all: Vec<_> = packets.iter().cloned().chain(outer).collect();
    all.sort_by_key(|packet| packet.at);
    all
}

#[test]
fn a_tunnel_that_carries_the_transfer_is_an_option_of_resequence() {
    let packets = packets_at(End::Receiver, &scenario("few-late", &[]));
    let half = packets.len() / 3;
    for (lacks, tunnel) in [(0, Some(Tunnel::WireGuard)), (half, None)] {
        let analysis = analysed(&tunnelled(&packets, lacks));
        let found = transfers(&analysis);
        assert_eq!(found[0].tunnel, tunnel);
        let steps = plan("c", &found, None);
        let expected = match tunnel {
            Some(_) => "sudo unruffled resequence --tunnel wireguard",
            None => "sudo unruffled resequence",
        };
        assert_eq!(steps[0].advice.command(), expected);
        let json = json("c", &analysis, &found, &steps, None);
        let key = tunnel.map_or("null", |_| "\"wireguard\"");
        assert!(
            json.contains(&format!("\"remedy_here\":\"resequence\",\"tunnel\":{key}")),
            "{json}"
        );
        let text = render("c", &analysis, &found, &steps, 1000);
        assert!(
            text.contains("WireGuard tunnel, 203.0.113.1:51820 to 203.0.113.2:51820: "),
            "{text}"
        );
        assert!(text.contains("Its packets kept their order up to this host."), "{text}");
    }
}
