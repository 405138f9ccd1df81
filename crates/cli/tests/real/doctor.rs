//! `unruffled doctor` on prepared paths in namespaces of its own.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use unruffled_net::{Error, Pair, Paths, Side};
use unruffled_race::paths;
use unruffled_scenario::{Scenario, flags};

/// Time before the watch, in which connections begin.
const WARM_UP: Duration = Duration::from_millis(1500);

/// The watch, as `--for` takes it.
const WATCH: &str = "8 s";

/// Half of the watch.
const HALF: Duration = Duration::from_secs(4);

/// Rate of the paths whose late packets slow a flow, in octets per second.
const RATE: f64 = 10e6 / 8.0;

/// Number of watches until one is not disturbed by a busy machine.
const ATTEMPTS: usize = 4;

/// Port of the first flow.
const PORT: u16 = 5201;

/// How the sending application writes.
#[derive(Clone, Copy)]
enum Writes {
    /// As much as the connection takes.
    Bulk,
    /// 1000 octets in each 80 ms.
    Little,
}

/// The end that is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Sender,
    Receiver,
}

/// A prepared path with traffic, and the expected findings.
#[derive(Clone, Copy)]
struct Setup {
    name: &'static str,
    scenario: &'static str,
    set: &'static [&'static str],
    control: &'static str,
    flows: u16,
    /// Flows that take the path of `half-late` instead.
    late_flows: u16,
    writes: Writes,
    end: End,
    suffering: u64,
    /// Actions of the plan.
    actions: &'static [&'static str],
}

const IN_ORDER: Setup = Setup {
    name: "in order",
    scenario: "in-order",
    set: &[],
    control: "cubic",
    flows: 1,
    late_flows: 0,
    writes: Writes::Bulk,
    end: End::Sender,
    suffering: 0,
    actions: &[],
};

const LOSSY: Setup = Setup { name: "lossy", set: &["loss.fraction=1%"], ..IN_ORDER };

const SENDER: Setup = Setup {
    name: "half-late, sender",
    scenario: "half-late",
    suffering: 1,
    actions: &["attach"],
    ..IN_ORDER
};

const RECEIVER: Setup =
    Setup { name: "half-late, receiver", end: End::Receiver, actions: &["resequence"], ..SENDER };

/// Linux copes with what a bond reorders, so that nothing is to be done.
const BOND: Setup = Setup {
    name: "bond",
    scenario: "bonded",
    set: &["fast.rate=10 Mbit/s", "slow.rate=5 Mbit/s", "fast.queue=50", "slow.queue=50"],
    ..IN_ORDER
};

const TUNNEL: Setup = Setup {
    name: "tunnel with a replay window of 64",
    scenario: "few-late",
    set: &["bottleneck.replay_window=64"],
    suffering: 1,
    actions: &["attach", "raise_replay_window"],
    ..IN_ORDER
};

const APPLICATION: Setup = Setup {
    name: "application-limited",
    scenario: "half-late",
    writes: Writes::Little,
    ..IN_ORDER
};

const TWO_OF_TEN: Setup = Setup {
    name: "two of ten",
    flows: 8,
    late_flows: 2,
    suffering: 2,
    actions: &["attach"],
    ..IN_ORDER
};

const ALL: [Setup; 8] = [IN_ORDER, LOSSY, SENDER, RECEIVER, BOND, TUNNEL, APPLICATION, TWO_OF_TEN];

/// What a watch of a setup found.
enum Found {
    /// The report, and the exit status.
    Report(Value, Option<i32>),
    /// The machine was too busy, or a flow whose packets are late found its way out: CUBIC seldom does, once
    /// its window for reordering is long enough.
    Disturbed(String),
    /// The machine lacks something.
    Lack(String),
}

impl Setup {
    fn in_words(&self) -> String {
        format!("{}, {}", self.name, self.control)
    }

    /// Runs the traffic and the watch once.
    fn watch(&self) -> Found {
        let pair = match Pair::new(1500) {
            Ok(pair) => pair,
            Err(error) if error.is_lack() => return Found::Lack(error.to_string()),
            Err(error) => panic!("{error}"),
        };
        let emulator = pair.emulate(self.paths(), None).expect("the path is valid");
        let stop = Arc::new(AtomicBool::new(false));
        let (mut writers, mut readers) = (Vec::new(), Vec::new());
        let start = Instant::now();
        for flow in 0..self.flows + self.late_flows {
            let port = PORT + flow;
            let listener =
                at(&pair.right, || TcpListener::bind((pair.right.v4, port)).expect("a port"));
            let sender =
                at(&pair.left, || TcpStream::connect((pair.right.v4, port)).expect("a path"));
            rustix::net::sockopt::set_tcp_congestion(&sender, self.control).expect("Linux has it");
            let receiver = listener.accept().expect("a connection").0;
            let timeout = Some(Duration::from_millis(100));
            sender.set_write_timeout(timeout).expect("a timeout");
            receiver.set_read_timeout(timeout).expect("a timeout");
            let writes = self.writes;
            let stopped = Arc::clone(&stop);
            writers.push(thread::spawn(move || write(sender, writes, &stopped)));
            let stopped = Arc::clone(&stop);
            let second_half = start + WARM_UP + HALF;
            readers.push(thread::spawn(move || read(receiver, second_half, &stopped)));
        }
        thread::sleep(WARM_UP);
        let side = if self.end == End::Sender { &pair.left } else { &pair.right };
        let output = doctor(side, &["--json", "--for", WATCH]);
        stop.store(true, Ordering::Relaxed);
        let seconds = (start.elapsed() - WARM_UP - HALF).as_secs_f64();
        for writer in writers {
            writer.join().expect("ends");
        }
        let octets = readers.into_iter().map(|reader| reader.join().expect("ends"));
        let rates: Vec<f64> = octets.map(|octets| octets as f64 / seconds).collect();
        let report = emulator.stop();
        let value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let doubts = value["doubts"].as_array().expect("a list");
        let is_stalled = doubts.iter().any(|doubt| doubt["doubt"] == "stalled");
        if report.lateness().is_intolerable() || is_stalled || value["verdict"] == "unknown" {
            let p99 = report.lateness().quantile(0.99);
            return Found::Disturbed(format!("{}: {}, {p99} late", self.name, value["verdict"]));
        }
        // All flows of a path that slows them, or the last ones. One that has half its share of the path is
        // not slowed any more.
        let harmed = &rates[rates.len() - self.suffering as usize..];
        let unharmed = RATE / harmed.len() as f64 / 2.0;
        if harmed.iter().any(|&rate| rate > unharmed) {
            return Found::Disturbed(format!("{}: {rates:.0?} octets/s", self.name));
        }
        Found::Report(value, output.status.code())
    }

    /// Watches until the machine does not disturb it. Returns the difference to what is expected, in words.
    fn check(&self) -> Option<String> {
        let mut disturbances = Vec::new();
        for _ in 0..ATTEMPTS {
            match self.watch() {
                Found::Lack(lack) => {
                    eprintln!("skipped: {lack}");
                    return None;
                }
                Found::Disturbed(how) => disturbances.push(how),
                Found::Report(report, status) => return self.difference(&report, status),
            }
        }
        eprintln!("skipped: the machine is too busy: {}", disturbances.join("; "));
        None
    }

    fn difference(&self, report: &Value, status: Option<i32>) -> Option<String> {
        let plan = report["plan"].as_array().expect("a list");
        let actions: Vec<&str> = plan.iter().filter_map(|step| step["action"].as_str()).collect();
        let is_right = report["suffering"] == self.suffering
            && status == Some(i32::from(self.suffering > 0))
            && self.actions.iter().all(|action| actions.contains(action))
            && (self.suffering > 0 || actions.is_empty());
        let what = || format!("{}: status {status:?}, {report:#}", self.name);
        (!is_right).then(what)
    }

    fn paths(&self) -> Paths {
        let mut all = scenario_paths(self.scenario, self.set);
        if self.late_flows > 0 {
            let late = scenario_paths("half-late", &[]);
            let offset = all.links.len();
            all.links.extend(late.links);
            for flow in self.flows..self.flows + self.late_flows {
                let mut source = late.sources[0].clone();
                source.port = PORT + flow;
                for route in [&mut source.forward, &mut source.reverse] {
                    for (links, _) in &mut route.paths {
                        links.iter_mut().for_each(|link| *link += offset);
                    }
                }
                all.sources.push(source);
            }
        }
        all
    }
}

fn scenario_paths(name: &str, set: &[&str]) -> Paths {
    let set: Vec<String> = set.iter().map(|&key| key.to_owned()).collect();
    let text = flags::text(name, &set).expect("is built in");
    let scenario = Scenario::parse_for_real_packets(name, &text, &set).expect("is valid");
    paths(&scenario, 1, [(&scenario.traffic[0], 0)])
}

fn at<T: Send>(side: &Side, work: impl FnOnce() -> T + Send) -> T {
    side.namespace.run(|| Ok::<T, Error>(work())).expect("enters its own namespace")
}

fn write(mut stream: TcpStream, writes: Writes, stop: &AtomicBool) {
    let block = [0; 64 << 10];
    while !stop.load(Ordering::Relaxed) {
        let written = match writes {
            Writes::Bulk => stream.write(&block),
            Writes::Little => {
                thread::sleep(Duration::from_millis(80));
                stream.write(&block[..1000])
            }
        };
        // A timeout, after which the flag is read again, is no error.
        let _ = written;
    }
}

/// Reads, and returns the number of octets that arrive after some time.
fn read(mut stream: TcpStream, from: Instant, stop: &AtomicBool) -> usize {
    let mut block = [0; 64 << 10];
    let mut octets = 0;
    while !stop.load(Ordering::Relaxed) {
        let arrived = stream.read(&mut block).unwrap_or(0);
        octets += if Instant::now() < from { 0 } else { arrived };
    }
    octets
}

/// Runs `unruffled doctor` on the network namespace of one end.
fn doctor(side: &Side, arguments: &[&str]) -> Output {
    let namespace = format!("/proc/{}/ns/net", side.namespace.keeper());
    let mut command = Command::new(env!("CARGO_BIN_EXE_unruffled"));
    command.args(["doctor", "--netns", &namespace]).args(arguments);
    command.stdin(Stdio::null()).output().expect("runs")
}

/// Checks the setups at once, since each waits most of its time, and returns the differences of each.
fn check_all(setups: &[Setup]) -> Vec<(String, Option<String>)> {
    thread::scope(|scope| {
        let checks: Vec<_> =
            setups.iter().map(|setup| scope.spawn(|| (setup.in_words(), setup.check()))).collect();
        checks.into_iter().map(|check| check.join().expect("is no panic")).collect()
    })
}

#[test]
fn each_prepared_path_gets_its_verdict() {
    let differences: Vec<String> =
        check_all(&ALL).into_iter().filter_map(|(_, difference)| difference).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Prints how many of so many watches of each setup were right.
fn repeat(setups: &[Setup], rounds: u32) {
    let mut right: BTreeMap<String, u32> = BTreeMap::new();
    let mut differences = Vec::new();
    for _ in 0..rounds {
        for (setup, difference) in check_all(setups) {
            *right.entry(setup).or_default() += u32::from(difference.is_none());
            differences.extend(difference);
        }
    }
    for (setup, right) in right {
        eprintln!("{setup}: {right} of {rounds} right");
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
#[ignore = "two minutes, by hand"]
fn each_prepared_path_gets_its_verdict_five_times() {
    repeat(&ALL, 5);
}

#[test]
#[ignore = "ten minutes, by hand"]
fn healthy_paths_give_no_alarm_in_twenty_runs() {
    let healthy = [IN_ORDER, LOSSY, BOND, APPLICATION];
    let controls = ["cubic", "bbr", "reno"];
    let available = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let available = available.expect("Linux has TCP");
    let is_available = |control: &&str| available.split_whitespace().any(|name| name == *control);
    for control in controls.into_iter().filter(is_available) {
        repeat(&healthy.map(|setup| Setup { control, ..setup }), 20);
    }
}

#[test]
fn invalid_arguments_are_refused_in_one_line() {
    for (arguments, expected) in [
        (&["--for", "1 s"][..], "expected 3 s to 24 h"),
        (&["--for", "soon"], "--for"),
        (&["--netns", "no-such-namespace"], "/run/netns/no-such-namespace: "),
        (&["--netns", "/dev/null", "--for", "5 s"], "/dev/null"),
        (&["--netns", ""], "--netns"),
        (&["everything"], "everything"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unruffled"));
        let output = command.arg("doctor").args(arguments).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(expected) && text.lines().count() == 1, "{arguments:?}: {text}");
    }
}
