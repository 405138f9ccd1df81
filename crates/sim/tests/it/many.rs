//! Many flows: the queue uses buckets, and memory is prefetched. Neither changes the trace of a flow that
//! shares no link with others.

use std::hash::{DefaultHasher, Hash, Hasher};

use unruffled_path::{Applies, Direction, Distribution, Impairment, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Passage, Simulation, SourceConfig};
use unruffled_tcp::{Config, Segment, Variant};
use unruffled_units::{Duration, Instant, Rate};

const FLOWS: u32 = 700;

/// For each flow, the number of its segments and a hash of them.
struct Traces(Vec<(u64, DefaultHasher)>);

impl Monitor for Traces {
    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        let (number, trace) = &mut self.0[flow.0 as usize];
        *number += 1;
        let ends = (end.index(), way == Passage::Out);
        (ends, now.as_nanos(), segment.seq.0, segment.ack.0, segment.len).hash(trace);
    }
}

/// Adds flow `number`: 1 Mbit/s, two hops in each direction, late and lost packets.
fn add(simulation: &mut Simulation, number: u32) {
    let ms = Duration::from_millis;
    let delay = Distribution::Normal { mean: ms(25), deviation: ms(8) };
    let near = LinkConfig {
        varying: None,
        rate: Rate::from_bps(1e6),
        delay: ms(10 + u64::from(number % 7)),
        queue: Some(20),
        impairments: vec![
            Impairment::Delay { fraction: 0.1, delay, applies: Applies::Data },
            Impairment::Loss { fraction: 0.01, applies: Applies::Data },
        ],
        ..LinkConfig::default()
    };
    let far = LinkConfig { impairments: Vec::new(), ..near.clone() };
    let mut path = |direction| -> Vec<_> {
        let links = [&near, &far].into_iter().zip(0..);
        let seed = u64::from(number) * 2;
        links
            .map(|(link, i)| simulation.add_link(link, direction, seed + i).expect("valid"))
            .collect()
    };
    let forward = path(Direction::Forward);
    let reverse = path(Direction::Reverse);
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

/// Returns the traces of these flows in one simulation.
fn traces(flows: impl ExactSizeIterator<Item = u32>) -> Vec<(u64, u64)> {
    let mut simulation = Simulation::new();
    let mut traces = Traces(vec![Default::default(); flows.len()]);
    flows.for_each(|number| add(&mut simulation, number));
    simulation.run(Instant::ZERO + Duration::from_secs(4), &mut traces);
    traces.0.into_iter().map(|(number, trace)| (number, trace.finish())).collect()
}

#[test]
fn a_flow_has_the_same_trace_alone_and_among_many() {
    let together = traces(0..FLOWS);
    for (number, &together) in (0..FLOWS).zip(&together) {
        let alone = traces(number..number + 1);
        assert!(alone[0].0 > 100, "flow {number} had {} segments", alone[0].0);
        assert_eq!(together, alone[0], "flow {number}");
    }
}
