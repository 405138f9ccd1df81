//! BBR, version 3, through connections: 10 Mb/s, 100 ms, in order and with random loss.

use unruffled_path::{Applies, Direction, Impairment, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Simulation, SourceConfig};
use unruffled_tcp::{Config, Event, Variant};
use unruffled_units::{Duration, Instant, Rate};

const DURATION_SECONDS: u64 = 60;

/// Octets delivered in order.
#[derive(Clone, Copy, Debug, Default)]
struct Delivered(u64);

impl Monitor for Delivered {
    fn event(&mut self, _flow: FlowId, _end: End, _now: Instant, event: &Event) {
        if let Event::Delivered { len } = event {
            self.0 += len;
        }
    }
}

/// Returns the megabits per second that `variant` delivers when this share of the packets is lost.
fn run(variant: &str, loss: f64) -> f64 {
    let mut simulation = Simulation::new();
    let forward = LinkConfig {
        rate: Rate::from_bps(10e6),
        delay: Duration::from_millis(50),
        queue: Some(100),
        impairments: vec![Impairment::Loss { fraction: loss, applies: Applies::Data }],
        ..LinkConfig::default()
    };
    let reverse = LinkConfig { impairments: Vec::new(), ..forward.clone() };
    let forward = simulation.add_link(&forward, Direction::Forward, 1).expect("a link");
    let reverse = simulation.add_link(&reverse, Direction::Reverse, 1).expect("a link");
    let config = Config::simulated().with(|c| {
        c.mss = 1448;
        c.receive_buffer = 4000 * 1448;
        c.seed = 1;
    });
    let source = simulation.add_source(SourceConfig {
        variant: Variant::parse(variant).expect("a sender and a part"),
        sender: config.clone(),
        receiver: config,
        header: 52,
        sack_block: 8,
        start: Instant::ZERO,
        stop: None,
        app: App::Bulk { bytes: None },
        seed: 0,
        forward: vec![forward].into(),
        reverse: vec![reverse].into(),
    });
    source.expect("a valid source");
    let mut delivered = Delivered::default();
    simulation.run(Instant::ZERO + Duration::from_secs(DURATION_SECONDS), &mut delivered);
    delivered.0 as f64 * 8.0 / DURATION_SECONDS as f64 / 1e6
}

#[test]
fn a_path_in_order_is_used_for_nine_tenths() {
    for variant in ["rack+bbr3", "unruffled+bbr3", "rr-ta+bbr3"] {
        let found = run(variant, 0.0);
        assert!(found > 9.0, "{variant}: {found} Mb/s");
    }
}

#[test]
fn a_path_that_loses_one_percent_is_used_for_eight_tenths() {
    for variant in ["rack+bbr3", "unruffled+bbr3"] {
        let found = run(variant, 0.01);
        assert!(found > 8.0, "{variant}: {found} Mb/s");
        let cubic = run(&variant.replace("bbr3", "cubic"), 0.01);
        assert!(found > 3.0 * cubic, "{variant}: {found} Mb/s, CUBIC {cubic}");
    }
}
