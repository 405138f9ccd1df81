//! Sizes of packets on the wire, measured by the time that a slow link needs for them.

use std::collections::{BTreeSet, VecDeque};

use unruffled_path::{Applies, Direction, Impairment, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Passage, Simulation, SourceConfig};
use unruffled_tcp::{Config, Segment, Variant};
use unruffled_units::{Instant, Rate};

/// Pairs of the number of SACK blocks of an acknowledgement and the microseconds that the link sends it.
#[derive(Default)]
struct Acknowledgements {
    underway: VecDeque<Instant>,
    /// End of the previous acknowledgement's transmission.
    free: Instant,
    took: BTreeSet<(usize, u64)>,
}

impl Monitor for Acknowledgements {
    fn segment(&mut self, _: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        match (end, way) {
            (End::Receiver, Passage::Out) => self.underway.push_back(now),
            (End::Sender, Passage::In) => {
                let left = self.underway.pop_front().expect("none overtakes another");
                let took = now.since(left.max(self.free)).as_nanos() / 1000;
                self.free = now;
                self.took.insert((segment.sack.as_slice().len(), took));
            }
            _ => {}
        }
    }
}

/// Runs a transfer over 1 Mb/s without delay, where each fifth packet to the receiver is lost.
fn acknowledgements(sack_block: u32) -> Vec<(usize, u64)> {
    let mut simulation = Simulation::new();
    let link = LinkConfig { rate: Rate::from_bps(1e6), ..LinkConfig::default() };
    let loss = Impairment::Periodic { every: 5, applies: Applies::Data };
    let lossy = LinkConfig { impairments: vec![loss], ..link.clone() };
    let forward = simulation.add_link(&lossy, Direction::Forward, 1).expect("a link");
    let reverse = simulation.add_link(&link, Direction::Reverse, 1).expect("a link");
    let config = Config::simulated().with(|c| {
        c.mss = 1000;
        c.window.initial = 16;
    });
    let source = simulation.add_source(SourceConfig {
        variant: Variant::named("sack").expect("is in the table"),
        sender: config.clone(),
        receiver: config,
        header: 40,
        sack_block,
        start: Instant::ZERO,
        stop: None,
        app: App::Bulk { bytes: Some(14_000) },
        seed: 0,
        forward: vec![forward].into(),
        reverse: vec![reverse].into(),
    });
    source.expect("a valid source");
    let mut acknowledgements = Acknowledgements::default();
    simulation.run(Instant::from_millis(5_000), &mut acknowledgements);
    acknowledgements.took.into_iter().collect()
}

#[test]
fn each_sack_block_makes_an_acknowledgement_longer() {
    // 40, 48, 56 and 64 octets of 8 µs each. After the last loss, the FIN has its own block.
    assert_eq!(acknowledgements(8), [(0, 320), (1, 384), (2, 448), (3, 512)]);
    assert_eq!(acknowledgements(0), [(0, 320), (1, 320), (2, 320), (3, 320)]);
}
