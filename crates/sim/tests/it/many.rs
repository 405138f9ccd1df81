//! Among many flows the queue keeps plans in buckets, and memory is asked for ahead of its use: nothing
//! of that is seen by a flow that shares no link with others.

use std::hash::{DefaultHasher, Hash, Hasher};

use unruffled_path::{Applies, Direction, Distribution, Impairment, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Passage, Simulation, SourceConfig};
use unruffled_tcp::{Config, Segment, Variant};
use unruffled_units::{Duration, Instant, Rate};

const FLOWS: u32 = 700;

/// Of each flow's segments: how many there were, and what was seen of them.
struct Traces(Vec<(u64, DefaultHasher)>);

impl Monitor for Traces {
    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        let (number, trace) = &mut self.0[flow.0 as usize];
        *number += 1;
        let ends = (end.index(), way == Passage::Out);
        (ends, now.as_nanos(), segment.seq.0, segment.ack.0, segment.len).hash(trace);
    }
}

/// Adds flow `number` of those that are told apart: 1 Mbit/s, two hops each way, late and lost packets.
fn add(simulation: &mut Simulation, number: u32) {
    let ms = Duration::from_millis;
    let delay = Distribution::Normal { mean: ms(25), deviation: ms(8) };
    let near = LinkConfig {
        rate: Rate::from_bps(1e6),
        delay: ms(10 + u64::from(number % 7)),
        queue: Some(20),
        red: None,
        impairments: vec![
            Impairment::Delay { fraction: 0.1, delay, applies: Applies::Data },
            Impairment::Loss { fraction: 0.01, applies: Applies::Data },
        ],
    };
    let far = LinkConfig { impairments: Vec::new(), ..near.clone() };
    let mut path = |direction| -> Vec<_> {
        let links = [&near, &far].into_iter().zip(0..);
        let seed = u64::from(number) * 2;
        links
            .map(|(link, i)| simulation.add_link(link, direction, seed + i).expect("valid"))
            .collect()
    };
    let (forward, reverse) = (path(Direction::Forward), path(Direction::Reverse));
    let config = Config::simulated().with(|c| c.mss = 1000);
    let variant = ["sack", "unruffled", "tcp-pr-sack", "reno"][number as usize % 4];
    let source = simulation.add_source(SourceConfig {
        variant: Variant::parse(variant).expect("a variant"),
        sender: config.clone(),
        receiver: config,
        header: 40,
        sack_block: 8,
        start: Instant::ZERO + Duration::from_micros(u64::from(number) * 1009),
        stop: None,
        app: App::Bulk { bytes: None },
        seed: 0,
        forward: forward.into(),
        reverse: reverse.into(),
    });
    source.expect("a valid source");
}

/// What becomes of these flows, together in one simulation.
fn traces(flows: impl ExactSizeIterator<Item = u32>) -> Vec<(u64, u64)> {
    let mut simulation = Simulation::new();
    let mut traces = Traces(vec![Default::default(); flows.len()]);
    flows.for_each(|number| add(&mut simulation, number));
    simulation.run(Instant::ZERO + Duration::from_secs(4), &mut traces);
    traces.0.into_iter().map(|(number, trace)| (number, trace.finish())).collect()
}

#[test]
fn a_flow_by_itself_and_the_same_among_many_are_alike() {
    let together = traces(0..FLOWS);
    for (number, &together) in (0..FLOWS).zip(&together) {
        let alone = traces(number..number + 1);
        assert!(alone[0].0 > 100, "flow {number} had {} segments", alone[0].0);
        assert_eq!(together, alone[0], "flow {number}");
    }
}
