//! In the steady state, neither the engine nor the links and the event queue allocate memory: every buffer
//! has its final size. A separate test program, since the counting allocator replaces the default one.

use unruffled_path::{Applies, Direction, Distribution, Impairment, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Passage, Simulation, SourceConfig};
use unruffled_tcp::{Config, ROWS, Segment, Variant};
use unruffled_units::{Duration, Instant, Rate};

/// Counts packets, without allocating.
#[derive(Default)]
struct Packets(u64);

impl Monitor for Packets {
    fn segment(&mut self, _: FlowId, _: End, way: Passage, _: Instant, _: &Segment) {
        self.0 += u64::from(way == Passage::Out);
    }
}

/// RR-TCP's path: 10 Mbit/s and 50 ms, a tenth of the packets late by N(25, 8) ms; one in a
/// thousand is lost.
fn path_rr() -> LinkConfig {
    let ms = Duration::from_millis;
    let delay = Distribution::Normal { mean: ms(25), deviation: ms(8) };
    LinkConfig {
        rate: Rate::from_bps(10e6),
        delay: ms(25),
        queue: Some(100),
        impairments: vec![
            Impairment::Delay { fraction: 0.1, delay, applies: Applies::Data },
            Impairment::Loss { fraction: 0.001, applies: Applies::Data },
        ],
        ..LinkConfig::default()
    }
}

/// Returns packets and allocations of `seconds` of one flow, after `warm` seconds.
fn allocations(variant: &str, warm: u64, seconds: u64) -> (u64, u64) {
    let mut simulation = Simulation::new();
    let mut link = |direction| simulation.add_link(&path_rr(), direction, 1).expect("valid");
    let forward = vec![link(Direction::Forward)];
    let reverse = vec![link(Direction::Reverse)];
    let config = Config::simulated().with(|c| {
        c.mss = 1000;
        c.window.max = Some(50);
    });
    let source = simulation.add_source(SourceConfig {
        variant: Variant::parse(variant).expect("a variant"),
        sender: config.clone(),
        receiver: config,
        header: 40,
        sack_block: 0,
        start: Instant::ZERO,
        stop: None,
        app: App::Bulk { bytes: None },
        seed: 0,
        forward: forward.into(),
        reverse: reverse.into(),
    });
    source.expect("a valid source");
    let mut packets = Packets::default();
    simulation.run(Instant::ZERO + Duration::from_secs(warm), &mut packets);
    let before = packets.0;
    let until = Instant::ZERO + Duration::from_secs(warm + seconds);
    let info = allocation_counter::measure(|| {
        simulation.run(until, &mut packets);
    });
    (packets.0 - before, info.count_total)
}

/// Measures 100 s after 200 s, when every buffer has had its largest size, including RR-TCP's ring of the
/// samples of the last 80 s.
#[test]
fn in_the_steady_state_nothing_is_allocated() {
    for variant in ["sack", "rr-ta", "rack"] {
        let (packets, allocations) = allocations(variant, 200, 100);
        assert!(packets > 15_000, "{variant} sent {packets} packets");
        assert_eq!(allocations, 0, "{variant}: allocations in {packets} packets");
    }
}

/// A buffer of any sender may reach a new maximum, which doubles it or enlarges a large one by a sixteenth.
/// No memory is allocated per packet or per recovery.
#[test]
fn no_sender_allocates_more_than_a_few_times() {
    for row in ROWS {
        let (packets, allocations) = allocations(row.name, 60, 600);
        assert!(packets > 10_000, "{} sent {packets} packets", row.name);
        assert!(allocations <= 20, "{}: {allocations} allocations in {packets} packets", row.name);
    }
}

/// Checks the counter: the start of a flow allocates.
#[test]
fn the_start_of_a_flow_allocates() {
    let (_, allocations) = allocations("sack", 0, 5);
    assert!(allocations > 10, "{allocations}");
}
