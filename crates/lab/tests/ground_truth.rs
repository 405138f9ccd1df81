//! What the analysis of a capture says, against what happened: runs of the simulator, captured at
//! either end, over paths of all kinds.

use std::collections::{BTreeMap, HashMap};

use unruffled_capture::{Analyzer, Direction, Limits, Source, read};
use unruffled_lab::capture::Capture;
use unruffled_lab::{Scenario, run};
use unruffled_measure::{End, FlowId, Monitor, Passage};
use unruffled_tcp::{Segment, Variant};
use unruffled_units::{Duration, Instant};

/// A path, what befalls its packets, and who sends.
struct Case {
    name: &'static str,
    rate: &'static str,
    delay: &'static str,
    befalls: &'static str,
    sender: &'static str,
}

const fn case(
    name: &'static str,
    rate: &'static str,
    delay: &'static str,
    befalls: &'static str,
    sender: &'static str,
) -> Case {
    Case { name, rate, delay, befalls, sender }
}

const CASES: [Case; 20] = [
    case("in order", "10 Mbit/s", "20 ms", "", "sack"),
    case("in order, queue", "10 Mbit/s", "20 ms", "", "linux-reordering+cubic"),
    case("1 % lost", "10 Mbit/s", "20 ms", "loss.fraction = '1 %'", "sack"),
    case("5 % lost", "10 Mbit/s", "20 ms", "loss.fraction = '5 %'", "linux-reordering+cubic"),
    case("bursts lost", "10 Mbit/s", "20 ms", BURSTS, "rack"),
    case("1 % late", "4 Mbit/s", "50 ms", NORMAL_1, "sack"),
    case("10 % late", "4 Mbit/s", "50 ms", NORMAL_10, "sack"),
    case("10 % late, patient", "4 Mbit/s", "50 ms", NORMAL_10, "rr-ta"),
    case("30 % late", "4 Mbit/s", "50 ms", NORMAL_30, "rr-ta"),
    case("few very late", "10 Mbit/s", "50 ms", VERY_LATE, "linux-reordering+cubic"),
    case("few very late, impatient", "10 Mbit/s", "50 ms", VERY_LATE, "sack"),
    case("exponential", "20 Mbit/s", "10 ms", EXPONENTIAL, "rack"),
    case("uniform", "50 Mbit/s", "10 ms", UNIFORM, "tcp-pr-sack"),
    case("heavy tail", "20 Mbit/s", "20 ms", PARETO, "rr-ta"),
    case("measured", "20 Mbit/s", "20 ms", EMPIRICAL, "rr-ta"),
    case("constant", "20 Mbit/s", "20 ms", CONSTANT, "dcr-ack"),
    case("two paths in turn", "10 Mbit/s", "20 ms", TWO_PATHS, "rr-ta"),
    case("one in ten in turn", "10 Mbit/s", "20 ms", ONE_IN_TEN, "sack"),
    case("late and lost", "10 Mbit/s", "30 ms", LATE_AND_LOST, "rr-ta"),
    case("late and lost, impatient", "10 Mbit/s", "30 ms", LATE_AND_LOST, "sack"),
];

const BURSTS: &str = "burst = { fraction = '0.1 %', distribution = 'constant', value = '20 ms' }";
const NORMAL_1: &str = "delayed = { fraction = '1 %', mean = '25 ms', deviation = '8 ms' }";
const NORMAL_10: &str = "delayed = { fraction = '10 %', mean = '25 ms', deviation = '8 ms' }";
const NORMAL_30: &str = "delayed = { fraction = '30 %', mean = '25 ms', deviation = '8 ms' }";
const VERY_LATE: &str = "delayed = { fraction = '3 %', mean = '200 ms', deviation = '67 ms' }";
const EXPONENTIAL: &str =
    "delayed = { fraction = '10 %', distribution = 'exponential', mean = '15 ms' }";
const UNIFORM: &str =
    "delayed = { fraction = '5 %', distribution = 'uniform', low = '5 ms', high = '40 ms' }";
const PARETO: &str =
    "delayed = { fraction = '5 %', distribution = 'pareto', scale = '4 ms', shape = 1.5 }";
const EMPIRICAL: &str = "delayed = { fraction = '8 %', distribution = 'empirical', \
                         quantiles = ['2 ms', '6 ms', '7 ms', '30 ms', '90 ms'] }";
const CONSTANT: &str =
    "delayed = { fraction = '20 %', distribution = 'constant', value = '12 ms' }";
const TWO_PATHS: &str = "alternate = { every = 2, extra = '25 ms' }";
const ONE_IN_TEN: &str = "alternate = { every = 10, extra = '8 ms' }";
const LATE_AND_LOST: &str = "delayed = { fraction = '5 %', mean = '30 ms', deviation = '10 ms' }\n\
                             loss.fraction = '1 %'";

fn scenario(case: &Case, timestamps: bool) -> Scenario {
    let text = format!(
        "name = 'case'\nduration = '20 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 300\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = false\ntimestamps = {timestamps}\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '{}'\ndelay = '{}'\nqueue = 100\n{}\n",
        case.rate, case.delay, case.befalls
    );
    Scenario::parse(case.name, &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// What happened to each data segment.
#[derive(Default)]
struct Truth {
    sent: HashMap<u32, Vec<Instant>>,
    /// Arrivals, with how often the segment had been sent by then.
    arrived: Vec<(u32, Instant, usize)>,
    end: Instant,
}

impl Monitor for Truth {
    fn segment(&mut self, flow: FlowId, end: End, way: Passage, now: Instant, segment: &Segment) {
        if flow != FlowId(0) || segment.len == 0 {
            return;
        }
        self.end = now;
        match (end, way) {
            (End::Sender, Passage::Out) => self.sent.entry(segment.seq.0).or_default().push(now),
            (End::Receiver, Passage::In) => {
                let times = self.sent.get(&segment.seq.0).map_or(0, Vec::len);
                self.arrived.push((segment.seq.0, now, times));
            }
            _ => {}
        }
    }
}

/// What an analysis should find.
struct Expected {
    late: f64,
    late_times: Vec<f64>,
    /// Retransmissions whose original arrived too, and how many of them lately.
    spurious: u64,
    unsettled: u64,
    lost: f64,
}

impl Truth {
    fn expected(&self) -> Expected {
        let since_sent = |&(seq, at, _): &(u32, Instant, usize)| at.since(self.sent[&seq][0]);
        let least = self.arrived.iter().map(since_sent).min().unwrap_or_default();
        // The originals in the order of their arrival: those that came sooner than a retransmission
        // could have, and of the others the last to come.
        let mut by_segment: BTreeMap<u32, Vec<(Instant, usize)>> = BTreeMap::new();
        for &(seq, at, times) in &self.arrived {
            by_segment.entry(seq).or_default().push((at, times));
        }
        // What was sent in the last second may be on its way yet.
        let done = |sent: &&Vec<Instant>| self.end.since(sent[0]) > Duration::from_secs(1);
        let sends: usize = self.sent.values().filter(done).map(Vec::len).sum();
        let (mut originals, mut arrived, mut spurious, mut unsettled) = (Vec::new(), 0, 0, 0);
        for (seq, arrivals) in &by_segment {
            let sent = &self.sent[seq];
            arrived += if done(&sent) { arrivals.len() } else { 0 };
            let first = arrivals[0];
            let original = if first.1 == 1 || first.0 < sent[1] + least {
                Some(first.0)
            } else {
                (arrivals.len() == sent.len()).then(|| arrivals[arrivals.len() - 1].0)
            };
            originals.extend(original.map(|at| (at, *seq)));
            spurious += arrivals.len() as u64 - 1;
            let lately =
                |&&(at, _): &&(Instant, usize)| self.end.since(at) < Duration::from_secs(1);
            unsettled += arrivals.iter().skip(1).filter(lately).count() as u64;
        }
        originals.sort_unstable();
        let mut highest: Vec<(u32, Instant)> = Vec::new();
        let mut late_times = Vec::new();
        for &(at, seq) in &originals {
            match highest.last() {
                Some(&(top, _)) if seq < top => {
                    let overtaken = highest.partition_point(|&(top, _)| top < seq);
                    late_times.push(at.since(highest[overtaken].1).as_millis_f64());
                }
                _ => highest.push((seq, at)),
            }
        }
        late_times.sort_unstable_by(f64::total_cmp);
        Expected {
            late: late_times.len() as f64 / originals.len() as f64,
            late_times,
            spurious,
            unsettled,
            lost: (sends - arrived) as f64,
        }
    }
}

fn analysed(capture: Vec<u8>) -> Direction {
    let source = Source::new(Box::new(std::io::Cursor::new(capture)), None).unwrap();
    let mut analyzer = Analyzer::new(Limits::default());
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    let [client, server] = analyzer.finish().connections.remove(0).directions;
    if client.segments > server.segments { client } else { server }
}

/// What differs by more than it may.
fn faults(expected: &Expected, found: &Direction, place: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |what: &str, truth: f64, found: f64, share: f64, least: f64| {
        if (found - truth).abs() > (share * truth).max(least) {
            faults.push(format!("{place}: {what}: {truth:.4}, found {found:.4}"));
        }
    };
    let late = found.reordering();
    check("late", expected.late, late.ratio, 0.05, 0.001);
    let spurious = found.retransmissions.spurious as f64;
    check("spurious", expected.spurious as f64, spurious, 0.0, expected.unsettled as f64);
    check("lost", expected.lost, found.losses.lost as f64, 0.1, 3.0);
    if let (Some(times), 100..) = (&late.late_time, expected.late_times.len()) {
        let truth = |p: usize| expected.late_times[(expected.late_times.len() - 1) * p / 100];
        for p in [10, 25, 50, 75, 90] {
            check(&format!("p{p} (ms)"), truth(p), times.percentiles_ms[p], 0.05, 0.05);
        }
    }
    if expected.late_times.is_empty() && late.reordered > 0 {
        faults.push(format!("{place}: {} late where all is in order", late.reordered));
    }
    faults
}

#[test]
fn an_analysis_says_what_happened_at_both_ends_of_twenty_paths() {
    let mut faults_of_all = Vec::new();
    for (case, timestamps) in CASES.iter().flat_map(|case| [(case, false), (case, true)]) {
        let scenario = scenario(case, timestamps);
        let variant = Variant::parse(case.sender).unwrap();
        let (mut near, mut far) = (Vec::new(), Vec::new());
        let captures = (
            Capture::at(End::Sender, &mut near).unwrap(),
            Capture::at(End::Receiver, &mut far).unwrap(),
        );
        let monitors = (Truth::default(), captures);
        let (_, (truth, captures)) = run::run(&scenario, &variant, 1, monitors).unwrap();
        captures.0.finish().unwrap();
        captures.1.finish().unwrap();
        let expected = truth.expected();
        let name = format!("{}{}", case.name, if timestamps { ", timestamps" } else { "" });
        println!(
            "{name}: {:.2} % late, {} spurious, {} lost",
            expected.late * 100.0,
            expected.spurious,
            expected.lost
        );
        // At the receiver, nothing but timestamps tells when a packet was sent.
        let ends = [("sender", near), ("receiver", far)];
        for (place, capture) in ends.into_iter().take(1 + usize::from(timestamps)) {
            let found = analysed(capture);
            println!(
                "  {place}: {:.2} % late, {} spurious, {} lost",
                found.reordering().ratio * 100.0,
                found.retransmissions.spurious,
                found.losses.lost
            );
            let faults = faults(&expected, &found, place);
            faults_of_all.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(faults_of_all.is_empty(), "{}", faults_of_all.join("\n"));
}
