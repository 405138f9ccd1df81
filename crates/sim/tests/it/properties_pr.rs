//! Properties of TCP-PR and TCP-NCR over every path: the transfer ends, every octet is delivered once, the
//! window is a finite number, and the estimated flight stays within it. TCP-PR retransmits nothing that has
//! been outstanding for less than mxrtt.

use std::collections::BTreeMap;

use proptest::prelude::*;
use unruffled_path::{Applies, Direction, Distribution, Impairment, LinkConfig};
use unruffled_sim::{App, End, FlowId, Monitor, Simulation, SourceConfig};
use unruffled_tcp::{Config, Event, Variant};
use unruffled_units::{Duration, Instant, Rate};

const NAMES: [&str; 5] =
    ["tcp-pr", "tcp-pr-extreme", "tcp-pr-sack", "ncr-careful", "ncr-aggressive"];
/// Simulated time within which every transfer must end. With every fifth packet lost in each direction, a
/// segment may need many timeouts of a minute.
const DEADLINE: Instant = Instant::from_millis(1_000_000_000);

/// Counts delivered octets, and checks the window at every acknowledgement and the time of every
/// retransmission.
#[derive(Default)]
struct Witness {
    tcp_pr: bool,
    delivered: u64,
    /// Largest reported window.
    widest: f64,
    /// mxrtt at the last acknowledgement.
    mxrtt: Option<Duration>,
    /// For each outstanding segment: the time of its last transmission, and the smallest mxrtt since then.
    /// Between acknowledgements mxrtt only grows (Table 3, lines 9b and 12e).
    outstanding: BTreeMap<u64, (Instant, Option<Duration>)>,
}

impl Monitor for Witness {
    fn event(&mut self, _flow: FlowId, end: End, now: Instant, event: &Event) {
        match *event {
            Event::Delivered { len } => self.delivered += len,
            Event::Acknowledged { cwnd, ssthresh, una, patience, .. } => {
                // TCP-PR halves a window of just over one.
                assert!(cwnd > 0.5 && cwnd.is_finite(), "cwnd {cwnd}");
                assert!(ssthresh > 0.5, "ssthresh {ssthresh}");
                if end == End::Sender {
                    self.widest = self.widest.max(cwnd);
                    self.mxrtt = patience;
                    self.outstanding.retain(|&offset, _| offset >= una);
                    for (_, minimum) in self.outstanding.values_mut() {
                        *minimum = (*minimum).min(patience);
                    }
                }
            }
            Event::Sent { offset, cause, .. } if end == End::Sender => {
                let before = self.outstanding.insert(offset, (now, self.mxrtt));
                if let (true, Some(_), Some((sent, Some(minimum)))) = (self.tcp_pr, cause, before) {
                    assert!(now > sent + minimum, "{offset} again after {}", now.since(sent));
                }
            }
            _ => {}
        }
    }
}

fn impairments() -> impl Strategy<Value = Vec<Impairment>> {
    let ms = Duration::from_millis;
    let applies = || prop::sample::select(vec![Applies::Data, Applies::Acks, Applies::Both]);
    let one = prop_oneof![
        (0.0..1.0, 0..400_u64, applies()).prop_map(move |(fraction, high, applies)| {
            let delay = Distribution::Uniform { low: ms(0), high: ms(high) };
            Impairment::Delay { fraction, delay, applies }
        }),
        (0.0..0.2, applies())
            .prop_map(|(fraction, applies)| Impairment::Loss { fraction, applies }),
        (0.0..0.1, applies())
            .prop_map(|(fraction, applies)| Impairment::Duplicate { fraction, applies }),
    ];
    prop::collection::vec(one, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_transfer_ends(
        name in prop::sample::select(NAMES.to_vec()),
        impairments in impairments(),
        rate in prop::option::of(100_000.0..20e6),
        delay in 0..150_u64,
        queue in prop::option::of(2..100_u32),
        (initial_window, delayed_ack) in (1..20_u32, prop::option::of(1..300_u64)),
        (segments, room) in (1..400_u64, 0..9_u32),
        seed in any::<u64>(),
    ) {
        let link = LinkConfig { varying: None,
            rate: rate.and_then(Rate::from_bps),
            delay: Duration::from_millis(delay),
            queue,
            impairments,
            ..LinkConfig::default()
        };
        let mut simulation = Simulation::new();
        let mut add = |direction| simulation.add_link(&link, direction, seed).expect("valid");
        let (forward, reverse) = (vec![add(Direction::Forward)], vec![add(Direction::Reverse)]);
        let config = Config::simulated().with(|c| {
            c.mss = 1000;
            c.window.initial = initial_window;
            c.delayed_ack = delayed_ack.map(Duration::from_millis);
            c.receive_buffer = 1000 << room;
        });
        let bytes = segments * 1000 - 500;
        let flow = simulation.add_source(SourceConfig {
            variant: Variant::named(name).expect("a variant"),
            sender: config.clone(),
            receiver: config,
            header: 40,
            sack_block: 0,
            start: Instant::ZERO,
            stop: None,
            app: App::Bulk { bytes: Some(bytes) },
            seed: 0,
            forward: forward.into(),
            reverse: reverse.into(),
        });
        let flow = flow.expect("a valid source");
        let tcp_pr = name.starts_with("tcp-pr");
        let widest = f64::from(initial_window);
        let mut witness = Witness { tcp_pr, widest, ..Witness::default() };
        let mut until = Instant::ZERO;
        let mut step = Duration::from_millis(5);
        // The FIN counts as one octet.
        while simulation
            .connection(flow, End::Sender)
            .is_none_or(|sender| sender.acknowledged() < bytes + 1)
        {
            prop_assert!(until < DEADLINE, "has not ended");
            let before = simulation.now();
            let more = simulation.run(until, &mut witness);
            step = if simulation.now() > before { Duration::from_millis(5) } else { step * 2 };
            until += step;
            let sender = simulation.connection(flow, End::Sender).expect("has started");
            prop_assert!(more || sender.acknowledged() == bytes + 1, "nothing is left to happen");
            // A segment is sent while fewer than cwnd are in flight (TCP-PR, line 24; RFC 6675, section 5).
            // The first fast retransmission is sent in any case.
            let bound = witness.widest.ceil() + if tcp_pr { 0.0 } else { 1.0 };
            prop_assert!(f64::from(sender.pipe()) <= bound, "{} > {bound}", sender.pipe());
        }
        prop_assert_eq!(witness.delivered, bytes);
    }
}
