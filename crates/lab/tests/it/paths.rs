//! Twenty paths on which captures are made.

use unruffled_capture::{Analyzer, Direction, Limits, Source, read};
use unruffled_lab::Scenario;

/// A path with its impairments, and the sender.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) rate: &'static str,
    /// The delay in one direction, in milliseconds.
    pub(crate) delay_ms: u32,
    /// The impairments, as TOML keys of a link.
    pub(crate) impairments: &'static str,
    pub(crate) sender: &'static str,
}

const fn case(
    name: &'static str,
    rate: &'static str,
    delay_ms: u32,
    impairments: &'static str,
    sender: &'static str,
) -> Case {
    Case { name, rate, delay_ms, impairments, sender }
}

pub(crate) const CASES: [Case; 20] = [
    case("in order", "10 Mbit/s", 20, "", "sack"),
    case("in order, queue", "10 Mbit/s", 20, "", "linux-reordering+cubic"),
    case("1 % lost", "10 Mbit/s", 20, "loss.fraction = '1 %'", "sack"),
    case("5 % lost", "10 Mbit/s", 20, "loss.fraction = '5 %'", "linux-reordering+cubic"),
    case("bursts lost", "10 Mbit/s", 20, BURSTS, "rack"),
    case("1 % late", "4 Mbit/s", 50, NORMAL_1, "sack"),
    case("10 % late", "4 Mbit/s", 50, NORMAL_10, "sack"),
    case("10 % late, patient", "4 Mbit/s", 50, NORMAL_10, "rr-ta"),
    case("30 % late", "4 Mbit/s", 50, NORMAL_30, "rr-ta"),
    case("few very late", "10 Mbit/s", 50, VERY_LATE, "linux-reordering+cubic"),
    case("few very late, impatient", "10 Mbit/s", 50, VERY_LATE, "sack"),
    case("exponential", "20 Mbit/s", 10, EXPONENTIAL, "rack"),
    case("uniform", "50 Mbit/s", 10, UNIFORM, "tcp-pr-sack"),
    case("heavy tail", "20 Mbit/s", 20, PARETO, "rr-ta"),
    case("measured", "20 Mbit/s", 20, EMPIRICAL, "rr-ta"),
    case("constant", "20 Mbit/s", 20, CONSTANT, "dcr-ack"),
    case("two paths in turn", "10 Mbit/s", 20, TWO_PATHS, "rr-ta"),
    case("one in ten in turn", "10 Mbit/s", 20, ONE_IN_TEN, "sack"),
    case("late and lost", "10 Mbit/s", 30, LATE_AND_LOST, "rr-ta"),
    case("late and lost, impatient", "10 Mbit/s", 30, LATE_AND_LOST, "sack"),
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

/// Returns a scenario with the sender of the case over `path`, which is TOML.
pub(crate) fn over(case: &Case, timestamps: bool, path: &str) -> Scenario {
    let text = format!(
        "name = 'case'\nduration = '20 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 300\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = false\ntimestamps = {timestamps}\n{path}"
    );
    Scenario::parse(case.name, &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

/// Analyses a capture with one connection, and returns its larger direction.
pub(crate) fn analysed(capture: Vec<u8>) -> Direction {
    let source = Source::new(Box::new(std::io::Cursor::new(capture)), None).expect("a capture");
    let mut analyzer = Analyzer::new(Limits::default());
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    let [client, server] = analyzer.finish().connections.remove(0).directions;
    if client.traffic.segments > server.traffic.segments { client } else { server }
}
