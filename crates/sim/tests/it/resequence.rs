//! Resequencers behind links: the times at which packets go on, worked out by hand, and what holds for
//! every path.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use proptest::prelude::*;
use unruffled_path::{Applies, Direction, Distribution, DropCause, Impairment, LinkConfig};
use unruffled_resequence::Config as Resequence;
use unruffled_sim::{
    App, End, FlowId, LinkId, Monitor, Passage, Route, Simulation, Size, SourceConfig,
};
use unruffled_tcp::{Config, Event, Segment, Variant};
use unruffled_units::{Duration, Instant, Rate};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Bounds with a maximum hold of `hold` milliseconds.
fn bounds(hold: u64) -> Resequence {
    Resequence { max_hold: ms(hold), always_hold: true, ..Resequence::default() }
}

/// A link of infinite rate.
fn link(delay: u64) -> LinkConfig {
    LinkConfig { delay: ms(delay), ..LinkConfig::default() }
}

/// A link on which every second packet of data takes `extra` milliseconds more.
fn alternating(delay: u64, extra: u64) -> LinkConfig {
    let impairment = Impairment::Alternate { every: 2, extra: ms(extra), applies: Applies::Data };
    LinkConfig { impairments: vec![impairment], ..link(delay) }
}

/// Arrivals at the receiver: the time in milliseconds, and the number of the segment, in whole segments
/// after the SYN.
#[derive(Default)]
struct Arrivals {
    list: Vec<(u64, u32)>,
    watched: bool,
}

impl Monitor for Arrivals {
    fn segment(&mut self, _: FlowId, end: End, passage: Passage, now: Instant, segment: &Segment) {
        if end == End::Receiver && passage == Passage::In && segment.len > 0 {
            self.list.push((now.as_nanos() / 1_000_000, segment.seq.0 / 1000));
        }
    }

    fn datagram(&mut self, _: FlowId, passage: Passage, now: Instant, _: u32) {
        if passage == Passage::In {
            self.list.push((now.as_nanos() / 1_000_000, 0));
        }
    }

    fn watches(&self, _link: LinkId) -> bool {
        self.watched
    }
}

fn source(app: App, forward: Vec<LinkId>, reverse: Vec<LinkId>) -> SourceConfig {
    let config = Config::simulated().with(|c| {
        c.mss = 1000;
        c.window.initial = 6;
        c.isn = u32::MAX;
    });
    SourceConfig {
        variant: Variant::named("sack").expect("a sender"),
        sender: config.clone(),
        receiver: config,
        header: 0,
        sack_block: 0,
        start: Instant::ZERO,
        stop: None,
        app,
        seed: 1,
        forward: Route::from(forward),
        reverse: Route::from(reverse),
    }
}

/// Runs an application over these links, whose acknowledgements come back in 10 ms. Returns the arrivals,
/// which are the same whether links are watched or not.
fn arrivals(links: &[(LinkConfig, Option<Resequence>)], app: &App) -> Vec<(u64, u32)> {
    let run = |watched| {
        let mut simulation = Simulation::new();
        let mut forward = Vec::new();
        for (link, bounds) in links {
            let id = simulation.add_link(link, Direction::Forward, 1).expect("a link");
            if let Some(bounds) = bounds {
                simulation.add_resequencer(id, *bounds);
            }
            forward.push(id);
        }
        let back = simulation.add_link(&link(10), Direction::Reverse, 1).expect("a link");
        simulation.add_source(source(app.clone(), forward, vec![back])).expect("a source");
        let mut arrivals = Arrivals { watched, ..Arrivals::default() };
        simulation.run(Instant::from_millis(1000), &mut arrivals);
        arrivals.list
    };
    let list = run(true);
    assert_eq!(list, run(false), "watched and not");
    list
}

/// Returns the arrivals of the segments of a transfer, and not of those that are sent again.
fn first_arrivals(links: &[(LinkConfig, Option<Resequence>)], segments: u64) -> Vec<(u64, u32)> {
    let mut list = arrivals(links, &App::Bulk { bytes: Some(1000 * segments) });
    list.truncate(segments as usize);
    list
}

// The SYN arrives at 10 ms and its answer at 20, when all segments are sent. Segments 1 and 3 arrive at
// 30 ms, and the late ones, 0, 2 and 4, after them. The first packet after the SYN comes 20 ms after it, and
// the first hold is that time or the bound.

#[test]
fn without_a_resequencer_segments_arrive_as_they_leave_the_link() {
    let path = [(alternating(10, 3), None)];
    assert_eq!(first_arrivals(&path, 5), [(30, 1), (30, 3), (33, 0), (33, 2), (33, 4)]);
}

#[test]
fn early_segments_arrive_after_the_late_ones_that_they_overtook() {
    let path = [(alternating(10, 3), Some(bounds(5)))];
    assert_eq!(first_arrivals(&path, 5), [(33, 0), (33, 1), (33, 2), (33, 3), (33, 4)]);
}

#[test]
fn a_segment_is_held_for_the_bound_at_most() {
    let path = [(alternating(10, 8), Some(bounds(5)))];
    assert_eq!(first_arrivals(&path, 5), [(35, 1), (35, 3), (38, 0), (38, 2), (38, 4)]);
}

#[test]
fn a_segment_is_first_held_for_two_round_trips_of_the_handshake_at_most() {
    let path = [(alternating(10, 45), Some(bounds(500)))];
    assert_eq!(first_arrivals(&path, 5), [(70, 1), (70, 3), (75, 0), (75, 2), (75, 4)]);
}

/// The late segment is planned to arrive only when it has crossed the first link, at 34 ms. The end of the
/// wait, at 35 ms, is planned at 30 ms. The last link sends one segment in a millisecond.
#[test]
fn a_segment_that_arrives_as_the_wait_ends_is_in_time() {
    let last = LinkConfig { rate: Rate::from_bps(8e6), ..LinkConfig::default() };
    let path = [(alternating(9, 5), None), (link(1), Some(bounds(5))), (last, None)];
    assert_eq!(first_arrivals(&path, 2), [(36, 0), (37, 1)]);
}

/// The first resequencer holds segments for 2 ms, until 31 ms. The second receives segment 1 at 32 ms and
/// segment 0 at 36.
#[test]
fn each_resequencer_of_a_path_holds_by_itself() {
    let path = [(alternating(9, 6), Some(bounds(2))), (link(1), Some(bounds(5)))];
    assert_eq!(first_arrivals(&path, 2), [(36, 0), (36, 1)]);
    let path = [(alternating(9, 8), Some(bounds(2))), (link(1), Some(bounds(5)))];
    assert_eq!(first_arrivals(&path, 2), [(37, 1), (38, 0)]);
}

#[test]
fn datagrams_pass_at_once() {
    let app = App::Datagrams { size: 1000, interval: ms(7) };
    let plain = arrivals(&[(alternating(10, 20), None)], &app);
    assert_eq!(plain[..4], [(10, 0), (24, 0), (37, 0), (38, 0)]);
    assert_eq!(arrivals(&[(alternating(10, 20), Some(bounds(500)))], &app), plain);
}

#[test]
fn a_path_in_order_is_the_same_with_and_without_resequencers() {
    let slow = LinkConfig { rate: Rate::from_bps(8e6), ..link(5) };
    let app = App::Bulk { bytes: Some(300_000) };
    let plain = arrivals(&[(slow.clone(), None), (link(3), None)], &app);
    assert_eq!(plain.len(), 300);
    for bounds in [[Some(bounds(500)), None], [None, Some(bounds(500))], [Some(bounds(500)); 2]] {
        assert_eq!(arrivals(&[(slow.clone(), bounds[0]), (link(3), bounds[1])], &app), plain);
    }
}

/// Arrivals at two receivers: for each flow, the times in milliseconds and the numbers of the segments.
#[derive(Default)]
struct ByFlow(BTreeMap<u32, Vec<(u64, u32)>>);

impl Monitor for ByFlow {
    fn segment(&mut self, id: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        if end == End::Receiver && way == Passage::In && segment.len > 0 {
            let arrival = (now.as_nanos() / 1_000_000, segment.seq.0 / 1000);
            self.0.entry(id.0).or_default().push(arrival);
        }
    }
}

/// Runs two sources, each over a link of its own and then over a link of 1 ms with a resequencer. A source
/// is its application, its start, its link, and the time that acknowledgements take, in milliseconds.
fn two_sources(sources: [(App, u64, LinkConfig, u64); 2]) -> BTreeMap<u32, Vec<(u64, u32)>> {
    let mut simulation = Simulation::new();
    let shared = simulation.add_link(&link(1), Direction::Forward, 1).expect("a link");
    simulation.add_resequencer(shared, bounds(500));
    for (app, start, own, back) in sources {
        let own = simulation.add_link(&own, Direction::Forward, 1).expect("a link");
        let back = simulation.add_link(&link(back), Direction::Reverse, 1).expect("a link");
        let start = Instant::from_millis(start);
        let source = SourceConfig { start, ..source(app, vec![own, shared], vec![back]) };
        simulation.add_source(source).expect("a source");
    }
    let mut arrivals = ByFlow::default();
    simulation.run(Instant::from_millis(1000), &mut arrivals);
    arrivals.0
}

/// The resequencer has the SYN of the first flow at 10 ms and its segment 1 at 50, the SYN of the second at
/// 40 ms and its segment 1 at 60. So it learns round trips of 40 and 20 ms.
#[test]
fn a_wait_that_begins_later_may_end_earlier() {
    let two_segments = App::Bulk { bytes: Some(2000) };
    let flows = two_sources([
        (two_segments.clone(), 0, alternating(9, 200), 30),
        (two_segments, 30, alternating(9, 200), 10),
    ]);
    assert_eq!(flows[&1][0], (100, 1));
    assert_eq!(flows[&0][0], (130, 1));
}

/// Segments 1 and 3 reach the resequencer at 130 ms, the others 3 ms later.
#[test]
fn the_hold_of_a_flow_does_not_depend_on_datagrams() {
    let five_segments = App::Bulk { bytes: Some(5000) };
    let datagrams = App::Datagrams { size: 1000, interval: ms(1) };
    let flows = two_sources([
        (five_segments, 100, alternating(9, 3), 10),
        (datagrams, 0, alternating(9, 50), 10),
    ]);
    assert_eq!(flows[&0], [(133, 0), (133, 1), (133, 2), (133, 3), (133, 4)]);
}

/// Counts of a run, and a hash of all events.
#[derive(Default)]
struct Witness {
    /// Segments sent less those that arrived or were dropped.
    underway: i64,
    delivered: BTreeMap<u32, u64>,
    hash: DefaultHasher,
}

impl Monitor for Witness {
    fn event(&mut self, flow: FlowId, end: End, _: Instant, event: &Event) {
        if let Event::Delivered { len } = event {
            assert_eq!(end, End::Receiver, "the sender's peer sends nothing");
            *self.delivered.entry(flow.0).or_default() += len;
        }
    }

    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        self.underway += if way == Passage::Out { 1 } else { -1 };
        format!("{flow:?} {end:?} {way:?} {now:?} {segment:?}").hash(&mut self.hash);
    }

    fn dropped(&mut self, _: FlowId, _: Instant, _: DropCause, _: &Segment) {
        self.underway -= 1;
    }
}

/// A network of one line: links with their resequencers, and sources of which one in two opens a connection
/// for each transfer.
#[derive(Clone, Debug)]
struct Case {
    links: Vec<(LinkConfig, Option<Resequence>)>,
    sizes: Vec<u64>,
    timestamps: bool,
    seed: u64,
}

/// Runs a case to its end, and returns the hash of all events.
fn run(case: &Case) -> u64 {
    let mut simulation = Simulation::new();
    let mut forward = Vec::new();
    for ((link, bounds), seed) in case.links.iter().zip(case.seed..) {
        let id = simulation.add_link(link, Direction::Forward, seed).expect("a link");
        if let Some(bounds) = bounds {
            simulation.add_resequencer(id, *bounds);
        }
        forward.push(id);
    }
    let back = simulation.add_link(&link(20), Direction::Reverse, 1).expect("a link");
    for (n, &size) in case.sizes.iter().enumerate() {
        let web = App::Web { size: Size::Octets(size), think: Distribution::Constant(ms(50)) };
        let app = if n % 2 == 1 { web } else { App::Bulk { bytes: Some(size) } };
        let mut source = source(app, forward.clone(), vec![back]);
        source.sender.timestamps.offer = case.timestamps;
        source.receiver.timestamps.offer = case.timestamps;
        source.stop = (n % 2 == 1).then_some(Instant::from_millis(1500));
        simulation.add_source(source).expect("a source");
    }
    let mut witness = Witness::default();
    let is_unfinished = simulation.run(Instant::from_millis(1_000_000_000), &mut witness);
    assert!(!is_unfinished, "events are left");
    assert_eq!(witness.underway, 0, "every segment arrives once or is dropped by a link");
    for (flow, &size) in (0..).zip(&case.sizes).step_by(2) {
        assert_eq!(witness.delivered.get(&flow), Some(&size), "octets of flow {flow}");
    }
    witness.hash.finish()
}

fn any_link() -> impl Strategy<Value = (LinkConfig, Option<Resequence>)> {
    let rate = prop::option::of((5.0..8.0).prop_map(|log: f64| 10_f64.powf(log)));
    let impairments = (0.0..0.6, 1..300_u64, 0.0..0.05);
    let bounds = prop::option::of((1..1000_u64, prop_oneof![Just(128 << 20), 1..50_000_u64]));
    (rate, 0..100_u64, impairments, bounds).prop_map(|(rate, delay, impairments, bounds)| {
        let (late, mean, lost) = impairments;
        let mean = ms(mean);
        let applies = Applies::Data;
        let delay_law = Distribution::Exponential { mean };
        let late = Impairment::Delay { fraction: late, delay: delay_law, applies };
        let lost = Impairment::Loss { fraction: lost, applies };
        let rate = rate.and_then(Rate::from_bps);
        let link = LinkConfig { rate, impairments: vec![late, lost], ..link(delay) };
        let bounds = bounds.map(|(hold, budget)| Resequence { budget, ..self::bounds(hold) });
        (link, bounds)
    })
}

fn any_case() -> impl Strategy<Value = Case> {
    let links = prop::collection::vec(any_link(), 1..4);
    let sizes = prop::collection::vec(1..200_000_u64, 1..5);
    (links, sizes, any::<bool>(), 0..1_u64 << 40)
        .prop_map(|(links, sizes, timestamps, seed)| Case { links, sizes, timestamps, seed })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Whatever is late, held and released: no segment is lost or doubled by a resequencer, every octet of
    /// every flow arrives once, the run ends, and a second run is identical.
    #[test]
    fn every_octet_of_every_flow_arrives_once_through_resequencers(case in any_case()) {
        prop_assert_eq!(run(&case), run(&case));
    }
}
