//! Properties of every sender over every path: all data is delivered once, the connection ends, its
//! variables stay within their ranges, and the same seed gives the same run.

use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;
use unruffled_path::{
    Applies, Change, Changes, Direction, Distribution, DropCause, Impairment, LinkConfig,
    MarkAbove, Red, Times, Trace, Varying, WorkerChoice, Workers,
};
use unruffled_resequence::Config as Resequence;
use unruffled_sim::{App, End, FlowId, Monitor, Passage, Simulation, SourceConfig};
use unruffled_tcp::variant::PARTS;
use unruffled_tcp::{Config, EcnMode, Event, ROWS, Segment, State, Variant};
use unruffled_units::{Duration, Instant, Rate};

/// Simulated time within which every transfer must end. With every fifth packet lost in each direction, a
/// segment may need many timeouts of a minute.
const DEADLINE: Instant = Instant::from_millis(1_000_000_000);

#[derive(Clone, Debug)]
struct Case {
    variant: String,
    sender: Config,
    receiver: Config,
    bytes: u64,
    link: LinkConfig,
    /// Bounds of the resequencer at the far end of the link to the receiver, if it has one.
    resequence: Option<Resequence>,
    seed: u64,
}

/// Counts delivered octets, and hashes all events.
#[derive(Default)]
struct Witness {
    delivered: u64,
    fresh: u64,
    last: Instant,
    hash: DefaultHasher,
    /// Whether the sender's last segment was a retransmission.
    resent: bool,
    /// Stream offset behind all that the sender has sent, now and at its last reduction because of a mark.
    sent_to: u64,
    reduced_at: Option<u64>,
    /// Offset that the acknowledgement of this reduction must exceed.
    covered: Option<u64>,
}

impl Witness {
    fn happened(&mut self, now: Instant, what: impl core::fmt::Debug) {
        assert!(now >= self.last, "time runs backwards, from {} to {now}", self.last);
        self.last = now;
        (now, format!("{what:?}")).hash(&mut self.hash);
    }
}

impl Monitor for Witness {
    fn event(&mut self, _flow: FlowId, end: End, now: Instant, event: &Event) {
        self.happened(now, (end, event));
        match *event {
            Event::Delivered { len } => {
                assert_eq!(end, End::Receiver, "the sender's peer sends nothing");
                self.delivered += len;
            }
            Event::Arrived { len, duplicate: false, .. } => self.fresh += u64::from(len),
            Event::Sent { offset, len, cause } => {
                self.resent = cause.is_some();
                self.sent_to = self.sent_to.max(offset + u64::from(len));
            }
            // At most one for each window of data.
            Event::EcnReduction { .. } => self.covered = self.reduced_at.replace(self.sent_to),
            Event::Acknowledged { una, cwnd, ssthresh, .. } => {
                if let Some(covered) = self.covered.take() {
                    assert!(una > covered, "a second reduction at {una}, with {covered} covered");
                }
                // The bound of any sender; `check` has each one's own.
                assert!(cwnd >= 0.5 && cwnd.is_finite(), "cwnd {cwnd}");
                assert!(ssthresh >= 0.5, "ssthresh {ssthresh}");
            }
            _ => {}
        }
    }

    fn segment(&mut self, _flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        self.happened(now, (end, way, segment));
        if way == Passage::Out {
            let new = end == End::Sender && segment.len > 0 && !self.resent;
            assert!(new || !(segment.ecn.is_ect() || segment.ecn.has_cwr() && !segment.flags.syn));
        }
    }

    fn dropped(&mut self, _flow: FlowId, now: Instant, cause: DropCause, segment: &Segment) {
        self.happened(now, (cause, segment));
    }
}

/// Runs a case to its end with checks, and returns the hash of all events.
fn run(case: &Case) -> u64 {
    let mut simulation = Simulation::new();
    let mut link =
        |direction, seed| simulation.add_link(&case.link, direction, seed).expect("a valid link");
    let forward = vec![link(Direction::Forward, case.seed)];
    let reverse = vec![link(Direction::Reverse, case.seed)];
    if let Some(bounds) = case.resequence {
        simulation.add_resequencer(forward[0], bounds);
    }
    let flow = simulation.add_source(SourceConfig {
        variant: Variant::parse(&case.variant).expect("a variant"),
        sender: case.sender.clone(),
        receiver: case.receiver.clone(),
        header: 40,
        sack_block: 0,
        start: Instant::ZERO,
        stop: None,
        app: App::Bulk { bytes: Some(case.bytes) },
        seed: case.seed,
        forward: forward.into(),
        reverse: reverse.into(),
    });
    let flow = flow.expect("a valid source");
    let mut witness = Witness::default();
    let mut until = Instant::ZERO;
    let mut step = Duration::from_millis(1);
    loop {
        let before = simulation.now();
        let more = simulation.run(until, &mut witness);
        check(case, &simulation, flow, until);
        if !more {
            break;
        }
        assert!(until < DEADLINE, "has not ended after {until}");
        // Small steps while there are events.
        step = if simulation.now() > before { Duration::from_millis(1) } else { step * 2 };
        until += step;
    }
    for end in [End::Sender, End::Receiver] {
        let connection = simulation.connection(flow, end).expect("is kept");
        assert_eq!(connection.state(), State::Closed, "{end:?}");
    }
    let end = |end| simulation.connection(flow, end).expect("is kept");
    let sender = end(End::Sender);
    let receiver = end(End::Receiver);
    // The FIN counts as one octet.
    assert_eq!(receiver.received(), case.bytes + 1);
    assert_eq!(sender.acknowledged(), case.bytes + 1);
    assert_eq!(sender.received(), 1);
    assert_eq!((sender.in_flight(), sender.pipe()), (0, 0));
    assert_eq!(witness.delivered, case.bytes);
    assert!(witness.fresh >= case.bytes);
    witness.hash.finish()
}

/// Checks the invariants.
fn check(case: &Case, simulation: &Simulation, flow: FlowId, until: Instant) {
    for end in [End::Sender, End::Receiver] {
        let Some(connection) = simulation.connection(flow, end) else { continue };
        let due = connection.poll_timeout();
        assert!(due.is_none_or(|due| due > until), "{end:?}: a timer was due at {due:?}");
        let window = connection.window();
        // TCP-PR halves every window above 1 (Table 3, line 9); half a window still sends one segment.
        let minimum = if case.variant.starts_with("tcp-pr") { 0.5 } else { 1.0 };
        assert!(window.cwnd >= minimum && window.cwnd.is_finite(), "cwnd {}", window.cwnd);
        assert!(window.ssthresh >= minimum, "ssthresh {}", window.ssthresh);
        // All segments are full except the last, the FIN, and the rest of the first. quiche cuts packets to
        // the room in the window, so that one may have a single octet.
        let least = if case.variant == "quiche" { 1 } else { case.sender.mss };
        let outstanding = connection.in_flight() / u64::from(least) + 3;
        assert!(u64::from(connection.pipe()) <= 2 * outstanding, "pipe {}", connection.pipe());
        if case.variant.starts_with("rr-") {
            let dupthresh = connection.dupthresh().expect("rr has one");
            assert!((3..=64).contains(&dupthresh), "dupthresh {dupthresh}");
            let fa_ratio = connection.variable("fa_ratio", until).expect("rr has one");
            assert!((0.0..=0.99).contains(&fa_ratio), "FA ratio {fa_ratio}");
        }
    }
}

fn ms(range: core::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn distribution() -> impl Strategy<Value = Distribution> {
    prop_oneof![
        ms(0..400).prop_map(Distribution::Constant),
        (ms(0..200), ms(0..200))
            .prop_map(|(low, more)| Distribution::Uniform { low, high: low + more }),
        (ms(0..200), ms(0..70))
            .prop_map(|(mean, deviation)| Distribution::Normal { mean, deviation }),
        ms(1..200).prop_map(|mean| Distribution::Exponential { mean }),
        (ms(1..50), 1.1..3.0).prop_map(|(scale, shape)| Distribution::Pareto { scale, shape }),
    ]
}

fn applies() -> impl Strategy<Value = Applies> {
    prop::sample::select(vec![Applies::Data, Applies::Acks, Applies::Both])
}

/// Returns intervals of blackouts. A sender that has backed off retransmits once per maximum RTO. If that
/// were close to a multiple of the interval, most retransmissions would fall into a blackout.
fn between_blackouts() -> impl Strategy<Value = Duration> {
    (3000..9000_u64)
        .prop_filter("in step with the maximum RTO", |every| {
            let past = 60_000 % every;
            past.min(every - past) >= 100
        })
        .prop_map(Duration::from_millis)
}

fn impairment() -> impl Strategy<Value = Impairment> {
    prop_oneof![
        3 => (0.0..1.0, distribution(), applies())
            .prop_map(|(fraction, delay, applies)| Impairment::Delay { fraction, delay, applies }),
        3 => (0.0..0.2, applies())
            .prop_map(|(fraction, applies)| Impairment::Loss { fraction, applies }),
        1 => (2..5_u32, ms(1..300), applies())
            .prop_map(|(every, extra, applies)| Impairment::Alternate { every, extra, applies }),
        2 => (0.0..0.1, applies())
            .prop_map(|(fraction, applies)| Impairment::Duplicate { fraction, applies }),
        1 => (ms(10..500), distribution(), applies())
            .prop_map(|(every, delay, applies)| Impairment::Redrawn { every, delay, applies }),
        1 => (ms(0..5), applies()).prop_map(|(high, applies)| {
            let delay = Distribution::Uniform { low: Duration::ZERO, high };
            Impairment::Overhead { delay, applies }
        }),
        1 => (prop::collection::vec(ms(0..50), 1..5), 1..20_u32, ms(0..5), applies(), 0..3_u8).prop_map(
            |(delays, batch, coalesce, applies, kind)| {
                let by = if kind == 1 { WorkerChoice::Flow } else { WorkerChoice::Packet };
                let gro = kind == 2 && coalesce > Duration::ZERO;
                let workers = Workers { delays, batch, coalesce, jitter: None, by, gro };
                Impairment::Workers { workers, applies }
            }
        ),
        1 => (0.0..0.01, distribution(), applies())
            .prop_map(|(fraction, length, applies)| Impairment::Burst { fraction, length, applies }),
        1 => (between_blackouts(), ms(0..2000), applies()).prop_map(|(every, length, applies)| {
            Impairment::Blackout { times: Times::Every(every), length, applies }
        }),
    ]
}

/// Returns damage that the link repairs.
fn resend() -> impl Strategy<Value = Impairment> {
    (0.0..0.5, ms(0..200), prop::option::of(1..4_u32), applies()).prop_map(
        |(errors, after, attempts, applies)| Impairment::Resend {
            errors,
            after,
            attempts,
            applies,
        },
    )
}

fn mark_above() -> impl Strategy<Value = MarkAbove> {
    prop_oneof![(0..50_u32).prop_map(MarkAbove::Packets), ms(0..100).prop_map(MarkAbove::Delay)]
}

/// Returns a trace with an opportunity in every 100 ms at least.
fn trace() -> impl Strategy<Value = Varying> {
    prop::collection::vec(0..100_u64, 1..200).prop_map(|gaps| {
        let mut instants: Vec<u64> = gaps
            .iter()
            .scan(0, |at, gap| {
                *at += gap;
                Some(*at)
            })
            .collect();
        instants.push(instants[instants.len() - 1] + 1);
        Varying::Trace(Trace::new(instants).expect("is in order"))
    })
}

/// Returns a table whose first row sends, and whose others may stop for some time.
fn table() -> impl Strategy<Value = Varying> {
    let row = (1..2000_u64, prop::option::weighted(0.8, 5.0..8.0), ms(0..150));
    prop::collection::vec(row, 1..6).prop_map(|rows| {
        let mut at = Duration::ZERO;
        let rows = rows.into_iter().enumerate().map(|(i, (length, log, delay))| {
            let rate = if i == 0 { log.or(Some(6.0)) } else { log };
            let rate = rate.and_then(|log: f64| Rate::from_bps(10_f64.powf(log)));
            let change = Change { at, rate, delay };
            at += Duration::from_millis(length);
            change
        });
        let rows = rows.collect();
        Varying::Table(Changes::new(rows, Some(at)).expect("the first row sends"))
    })
}

fn varying() -> impl Strategy<Value = Option<Varying>> {
    prop_oneof![6 => Just(None), 1 => trace().prop_map(Some), 1 => table().prop_map(Some)]
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let rate = prop::option::of((5.0..8.0).prop_map(|log: f64| 10_f64.powf(log)));
    let queue = prop::option::of(2..200_u32);
    let impairments = prop::collection::vec(impairment(), 0..4);
    let discipline = (any::<bool>(), any::<bool>(), prop::option::of(mark_above()));
    let course = (rate, ms(0..150), varying());
    (course, queue, discipline, impairments, prop::option::of(resend())).prop_map(
        |((rate, delay, varying), queue, (red, ecn, mark_above), mut impairments, resend)| {
            let mean = match &varying {
                None => rate,
                Some(Varying::Trace(trace)) => Some(trace.mean_rate().bps()),
                Some(Varying::Table(changes)) => Some(changes.mean_rate().bps()),
            };
            let rate = mean.and_then(Rate::from_bps);
            let red = (red && rate.is_some()).then(|| Red { ecn, ..Red::default() });
            let mark_above = mark_above.filter(|_| rate.is_some() && red.is_none());
            impairments.extend(resend);
            LinkConfig {
                rate,
                delay,
                varying,
                queue,
                red,
                mark_above,
                impairments,
                ..LinkConfig::default()
            }
        },
    )
}

/// Returns no resequencer, or one with bounds that are reached.
fn resequence() -> impl Strategy<Value = Option<Resequence>> {
    prop::option::weighted(0.3, (ms(1..1000), 1000..1_000_000_u64)).prop_map(|bounds| {
        bounds.map(|(max_hold, budget)| Resequence { max_hold, budget, ..Resequence::default() })
    })
}

/// Returns any number, and numbers close to the wrap more often.
fn isn() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), (0..100_000_u32).prop_map(|n| u32::MAX - n)]
}

fn config(mss: u32) -> impl Strategy<Value = Config> {
    let windows = (1..30_u32, prop::option::of(1..300_u32), 0..9_u32);
    let timing = (ms(5..1000), prop::option::of(ms(1..500)), any::<bool>());
    let modes = vec![EcnMode::Off, EcnMode::Accept, EcnMode::Request, EcnMode::Request];
    let ecn = prop::sample::select(modes);
    (windows, timing, isn(), ecn).prop_map(
        move |((initial, max, room), (min_rto, delayed_ack, timestamps), isn, ecn)| {
            Config::simulated().with(|c| {
                c.mss = mss;
                c.window.initial = max.map_or(initial, |max| initial.min(max));
                c.window.max = max;
                c.rto.min = min_rto;
                c.delayed_ack = delayed_ack;
                c.receive_buffer = u64::from(mss) << room;
                c.timestamps.offer = timestamps;
                c.isn = isn;
                c.ecn = ecn;
            })
        },
    )
}

/// Returns every sender, alone or with a part that it supports.
fn variant() -> impl Strategy<Value = String> {
    let mut names: Vec<String> = Vec::new();
    for row in ROWS {
        let with_parts = PARTS.iter().map(|part| format!("{}+{}", row.name, part.name));
        names.push(row.name.to_owned());
        names.extend(with_parts.filter(|name| Variant::parse(name).is_ok()));
    }
    prop::sample::select(names)
}

fn case() -> impl Strategy<Value = Case> {
    let mss = prop::sample::select(vec![100_u32, 536, 1460, 9000]);
    mss.prop_flat_map(|mss| {
        let bytes = 0..u64::from(mss) * 300;
        let path = (link(), resequence());
        (variant(), config(mss), config(mss), bytes, path, any::<u64>()).prop_map(
            |(variant, sender, receiver, bytes, (link, resequence), seed)| Case {
                variant,
                sender,
                receiver,
                bytes,
                link,
                resequence,
                seed,
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Every byte is delivered once and in order, both ends close, and all variables stay within their ranges.
    /// A second run is identical.
    #[test]
    fn every_transfer_ends_with_every_byte_delivered_once(case in case()) {
        prop_assert_eq!(run(&case), run(&case));
    }
}

/// The path is dead from the receiver's FIN until the sender has left TIME-WAIT. An end that is closed
/// replies with a reset, as any host does.
#[test]
fn a_fin_to_a_closed_end_is_reset() {
    let blackout = Impairment::Blackout {
        times: Times::At(vec![Instant::from_millis(75)]),
        length: Duration::from_secs(300),
        applies: Applies::Both,
    };
    // The SYN leaves at 0 ms, data and the FIN at 40, the receiver's FIN at 60.
    let delay = Duration::from_millis(20);
    let case = Case {
        variant: "newreno".to_owned(),
        sender: Config::simulated(),
        receiver: Config::simulated(),
        bytes: 1000,
        link: LinkConfig { delay, impairments: vec![blackout], ..LinkConfig::default() },
        resequence: None,
        seed: 1,
    };
    run(&case);
}

/// Every packet is marked. The window shrinks by the first mark, then by a timeout that proves spurious in the
/// same window of data. The marks that follow there are answered already.
#[test]
fn a_spurious_timeout_in_a_marked_window_leaves_one_reduction() {
    let sender = Config::simulated().with(|c| {
        c.mss = 9000;
        c.window.initial = 6;
        c.rto.min = Duration::from_millis(5);
        c.receive_buffer = 9000;
        c.ecn = EcnMode::Request;
    });
    let receiver = sender.clone().with(|c| {
        c.delayed_ack = Some(Duration::from_millis(357));
        c.receive_buffer = 72_000;
        c.ecn = EcnMode::Accept;
    });
    let link = LinkConfig {
        rate: Rate::from_bps(202_937.0),
        delay: Duration::from_millis(57),
        mark_above: Some(MarkAbove::Delay(Duration::ZERO)),
        ..LinkConfig::default()
    };
    let variant = "unruffled+eifel".to_owned();
    run(&Case { variant, sender, receiver, bytes: 63_001, link, resequence: None, seed: 0 });
}

/// The recovery ends after a round trip in which one segment was sent and some are late. The window from
/// which slow start begins still allows one segment.
#[test]
fn a_recovery_with_one_segment_sent_leaves_a_window_of_one() {
    let config = Config::simulated().with(|c| {
        c.mss = 100;
        c.window.initial = 6;
        c.rto.min = Duration::from_millis(5);
        c.receive_buffer = 800;
        c.timestamps.offer = true;
    });
    let case = Case {
        variant: "unruffled+cubic".to_owned(),
        sender: config.clone(),
        receiver: config,
        bytes: 4101,
        link: LinkConfig {
            delay: Duration::from_millis(38),
            impairments: vec![
                Impairment::Alternate {
                    every: 4,
                    extra: Duration::from_millis(1),
                    applies: Applies::Acks,
                },
                Impairment::Resend {
                    errors: 0.43738353130870156,
                    after: Duration::from_millis(135),
                    attempts: Some(1),
                    applies: Applies::Data,
                },
            ],
            ..LinkConfig::default()
        },
        resequence: None,
        seed: 5974079923715491344,
    };
    run(&case);
}

/// The same properties for each sender on a path with all impairments at once.
#[test]
fn every_sender_survives_the_worst_path() {
    for row in ROWS {
        for seed in 0..3 {
            let applies = Applies::Both;
            let delay = Distribution::Exponential { mean: Duration::from_millis(80) };
            let case = Case {
                variant: row.name.to_owned(),
                sender: Config { isn: u32::MAX - 50_000, ..Config::simulated() },
                receiver: Config::simulated(),
                bytes: 400_001,
                link: LinkConfig {
                    varying: None,
                    rate: Rate::from_bps(10e6),
                    delay: Duration::from_millis(20),
                    queue: Some(20),
                    impairments: vec![
                        Impairment::Delay { fraction: 0.3, delay, applies },
                        Impairment::Loss { fraction: 0.1, applies },
                        Impairment::Duplicate { fraction: 0.1, applies },
                    ],
                    ..LinkConfig::default()
                },
                resequence: None,
                seed,
            };
            run(&case);
        }
    }
}
