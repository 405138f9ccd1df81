//! Sudden delays: every five seconds another flow sends a second's worth of segments at once into the
//! queue of a transfer. Nothing is lost or reordered, so every timeout of the transfer is spurious.

use unruffled_path::{Direction, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Simulation, SourceConfig};
use unruffled_tcp::{Cause, Config, Event, Variant};
use unruffled_units::{Duration, Instant, Rate};

const DURATION_SECONDS: u64 = 60;

/// Counts of the transfer under test.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    delivered: u64,
    timeouts: u32,
    false_timeouts: u32,
    resent: u32,
}

impl Monitor for Counts {
    fn event(&mut self, flow: FlowId, _end: End, _now: Instant, event: &Event) {
        if flow != FlowId(0) {
            return;
        }
        match event {
            Event::Delivered { len } => self.delivered += len,
            Event::Timeout { .. } => self.timeouts += 1,
            Event::SpuriousReduction { cause: Cause::Timeout } => self.false_timeouts += 1,
            Event::Sent { cause: Some(_), .. } => self.resent += 1,
            _ => {}
        }
    }
}

/// Runs a transfer by `name` at 4 Mb/s and 100 ms, with a window of 50 and a minimum RTO of 200 ms.
fn run(name: &str) -> Counts {
    let mut simulation = Simulation::new();
    let link = LinkConfig {
        rate: Rate::from_bps(4e6),
        delay: Duration::from_millis(50),
        ..LinkConfig::default()
    };
    let forward = simulation.add_link(&link, Direction::Forward, 1).expect("a link");
    let reverse = simulation.add_link(&link, Direction::Reverse, 1).expect("a link");
    let config = Config::simulated().with(|c| {
        c.mss = 960;
        c.window.initial = 2;
        c.rto.min = Duration::from_millis(200);
        c.receive_buffer = 50 * 960;
        c.seed = 1;
    });
    let mut add = |variant: &str, config: &Config, start: u64, bytes: Option<u64>| {
        let source = simulation.add_source(SourceConfig {
            variant: Variant::parse(variant).expect("makes sense"),
            sender: config.clone(),
            receiver: config.clone(),
            header: 40,
            sack_block: 0,
            start: Instant::ZERO + Duration::from_secs(start),
            stop: None,
            app: App::Bulk { bytes },
            seed: 0,
            forward: vec![forward].into(),
            reverse: vec![reverse].into(),
        });
        source.expect("a valid source")
    };
    add(name, &config, 0, None);
    let burst = config.clone().with(|c| {
        c.window.initial = 500;
        c.rto.min = Duration::from_secs(5);
        c.receive_buffer = 1000 * 960;
    });
    for start in (5..DURATION_SECONDS).step_by(5) {
        add("sack", &burst, start, Some(500 * 960));
    }
    let mut counts = Counts::default();
    simulation.run(Instant::ZERO + Duration::from_secs(DURATION_SECONDS), &mut counts);
    println!("{name}: {counts:?}");
    counts
}

#[test]
fn the_parts_find_the_timeouts_spurious_and_resend_little() {
    for base in ["sack", "newreno", "rr-ta"] {
        let plain = run(base);
        assert!(plain.timeouts >= 11, "{base}: one for each burst: {plain:?}");
        for part in ["+eifel", "+f-rto", "+eifel+f-rto"] {
            let name = format!("{base}{part}");
            let with = run(&name);
            assert!(with.false_timeouts > 0, "{name}: {with:?}");
            assert!(with.resent < plain.resent / 2, "{name}: {with:?}, without {plain:?}");
        }
    }
}
