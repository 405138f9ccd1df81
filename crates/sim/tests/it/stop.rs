//! Applications that are stopped in the middle of a transfer.

use unruffled_path::{Direction, Distribution, LinkConfig};
use unruffled_sim::{App, FlowId, Monitor, Simulation, Size, SourceConfig};
use unruffled_tcp::{Config, Event, Variant};
use unruffled_units::{Duration, Instant, Rate};

/// Delivered octets and complete transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    delivered: u64,
    transfers: u32,
}

impl Monitor for Counts {
    fn event(&mut self, _: FlowId, _: unruffled_sim::End, _: Instant, event: &Event) {
        if let Event::Delivered { len } = event {
            self.delivered += len;
        }
    }

    fn transferred(&mut self, _: FlowId, _: Instant) {
        self.transfers += 1;
    }
}

/// Runs an application over 8 Mbit/s and 10 ms with segments of 1000 octets, and stops it at 30 ms. Its
/// first 16 segments are written then, and only ten are sent.
fn stopped(app: App) -> Counts {
    let mut simulation = Simulation::new();
    let link = LinkConfig {
        rate: Rate::from_bps(8e6),
        delay: Duration::from_millis(10),
        ..LinkConfig::default()
    };
    let forward = simulation.add_link(&link, Direction::Forward, 1).expect("a link");
    let reverse = simulation.add_link(&link, Direction::Reverse, 1).expect("a link");
    let config = Config::simulated().with(|c| c.mss = 1000);
    let source = simulation.add_source(SourceConfig {
        variant: Variant::named("sack").expect("a sender"),
        sender: config.clone(),
        receiver: config,
        header: 40,
        sack_block: 0,
        start: Instant::ZERO,
        stop: Some(Instant::from_millis(30)),
        app,
        seed: 1,
        forward: vec![forward].into(),
        reverse: vec![reverse].into(),
    });
    source.expect("a valid source");
    let mut counts = Counts::default();
    simulation.run(Instant::from_millis(10_000), &mut counts);
    counts
}

/// The FIN after the written octets has the number of the octet that was not written.
#[test]
fn a_transfer_that_lacks_its_last_octet_is_not_complete() {
    let (size, pause) = (Size::Octets(16_001), Distribution::Constant(Duration::from_millis(100)));
    for app in [
        App::Bulk { bytes: Some(16_001) },
        App::Web { size, think: pause.clone() },
        App::OnOff { size, off: pause.clone() },
        App::Requests { size, every: pause },
    ] {
        let counts = stopped(app.clone());
        assert_eq!(counts, Counts { delivered: 16_000, transfers: 0 }, "{app:?}");
    }
}

#[test]
fn a_transfer_that_was_written_to_its_end_is_complete() {
    let counts = stopped(App::Bulk { bytes: Some(16_000) });
    assert_eq!(counts, Counts { delivered: 16_000, transfers: 1 });
}
