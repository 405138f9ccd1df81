//! The causes that drop late packets: the verdicts on captures over random paths, compared with what
//! dropped packets there. A verdict may be another one where few packets were dropped, but never wrong.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_capture::{
    Analysis, Analyzer, Cause, Direction, Limits, Source, judge, range_limit, read, replay_window,
};
use unruffled_lab::advice::{Action, plan};
use unruffled_lab::analysis::{json, render};
use unruffled_lab::cancel::never;
use unruffled_lab::capture::Capture;
use unruffled_lab::transfer::{price, transfers};
use unruffled_lab::{Scenario, run};
use unruffled_measure::{End, ExitCounts};
use unruffled_tcp::Variant;

/// The seed of the paths. The rules were developed with the seeds 500 to 706, and 901.
const SEED: u64 = 901;

/// The number of paths of each kind.
const PATHS: usize = 4;

/// Packets that a limit on ranges drops at least for a verdict to be due.
const MIN_DROPS: u64 = 60;

/// Packets that a replay window drops at least for it to be named.
const MIN_WINDOW_DROPS: u64 = 10;

/// Smallest share of such windows that are named where timestamps show which packets are late, or the
/// capture is made at the sender.
const MIN_NAMED_WINDOWS: f64 = 0.6;

/// What a path does with late packets, and what else it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Window(u64),
    Ranges(u32),
    /// Packets are late by more than a round trip, and timestamps are in use.
    VeryLate,
    Late,
    LateAndLost,
    /// Late by a fixed time, which looks like a window at a constant rate.
    ConstantAndLost,
    UniformAndLost,
    /// Every so many packets take a longer way.
    InTurnAndLost,
    Lost,
    InOrder,
}

const KINDS: [Kind; 18] = [
    Kind::Window(32),
    Kind::Window(64),
    Kind::Window(128),
    Kind::Window(256),
    Kind::Window(1024),
    Kind::Window(8129),
    Kind::Ranges(2),
    Kind::Ranges(3),
    Kind::Ranges(10),
    Kind::Ranges(30),
    Kind::VeryLate,
    Kind::Late,
    Kind::LateAndLost,
    Kind::ConstantAndLost,
    Kind::UniformAndLost,
    Kind::InTurnAndLost,
    Kind::Lost,
    Kind::InOrder,
];

/// A random path as a scenario, and the sender.
struct Case {
    toml: String,
    sender: &'static str,
    timestamps: bool,
}

fn random(kind: Kind, dice: &mut Xoshiro256PlusPlus) -> Case {
    let mut mbits: f64 = 5.0 * 20_f64.powf(dice.random());
    if let Kind::Window(window @ 1024..) = kind {
        // A window of so many packets drops none of a slow flow.
        mbits = window as f64 / 1024.0 * dice.random_range(40.0..120.0);
    }
    let delay_ms: f64 = 5.0 * 10_f64.powf(dice.random());
    let round_trip_ms = 2.0 * delay_ms;
    let in_flight = mbits * 1e6 * round_trip_ms * 1e-3 / 12_000.0;
    let queue = (in_flight * dice.random_range(0.5..2.0)).max(20.0) as u64;
    let loses = matches!(
        kind,
        Kind::Lost
            | Kind::LateAndLost
            | Kind::ConstantAndLost
            | Kind::UniformAndLost
            | Kind::InTurnAndLost
    );
    let lost = if loses { 0.3 * 10_f64.powf(dice.random()) } else { 0.0 };
    let late = 1.0 * 20_f64.powf(dice.random());
    let late_ms = match kind {
        // Around the window at the full rate.
        Kind::Window(window) => window as f64 * dice.random_range(0.5..2.0) * 12.0 / mbits,
        Kind::VeryLate => round_trip_ms * dice.random_range(1.2..3.0),
        _ => round_trip_ms * 0.2 * 10_f64.powf(dice.random()),
    };
    let delayed = match kind {
        Kind::Lost | Kind::InOrder => String::new(),
        Kind::InTurnAndLost => {
            let every = dice.random_range(2..12);
            format!(
                "alternate = {{ every = {every}, extra = '{late_ms:.2} ms', packets = 'data' }}"
            )
        }
        _ => {
            let distribution = match kind {
                Kind::ConstantAndLost => {
                    format!("distribution = 'constant', value = '{late_ms:.2} ms'")
                }
                Kind::UniformAndLost => {
                    let high = 2.0 * late_ms;
                    format!("distribution = 'uniform', low = '0 ms', high = '{high:.2} ms'")
                }
                _ if dice.random() => {
                    format!("distribution = 'exponential', mean = '{late_ms:.2} ms'")
                }
                _ => format!("mean = '{late_ms:.2} ms', deviation = '{:.2} ms'", late_ms / 3.0),
            };
            format!("delayed = {{ fraction = '{late:.2} %', {distribution}, packets = 'data' }}")
        }
    };
    let timestamps = matches!(kind, Kind::VeryLate) || dice.random();
    let senders =
        ["rack+cubic", "linux-reordering+cubic", "rr-ta", "sack", "unruffled", "unruffled+bbr"];
    let sender = senders[dice.random_range(0..senders.len())];
    let exit = match kind {
        Kind::Window(window) => format!("replay_window = {window}"),
        Kind::Ranges(ranges) => format!("ranges = {ranges}"),
        _ => String::new(),
    };
    let toml = format!(
        "name = 'case'\nduration = '20 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 8000\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = '40 ms'\nbyte_counting = 2\n\
         timestamps = {timestamps}\npaws = {timestamps}\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '{mbits:.2} Mbit/s'\ndelay = '{delay_ms:.2} ms'\nqueue = {queue}\n\
         {exit}\n{delayed}\n\
         loss = {{ fraction = '{lost:.3} %', packets = 'data' }}\n",
    );
    Case { toml, sender, timestamps }
}

/// Analyses a capture.
fn analysis(capture: Vec<u8>) -> Analysis {
    let source = Source::new(Box::new(std::io::Cursor::new(capture)), None).expect("a capture");
    let mut analyzer = Analyzer::new(Limits::default());
    assert_eq!(read(source, |frame| analyzer.frame(frame)), Ok(None));
    analyzer.finish()
}

/// Returns the direction of the data in the analysis of one connection.
fn data(mut analysis: Analysis) -> Direction {
    let [client, _] = analysis.connections.remove(0).directions;
    client
}

/// Runs a case; returns what its link dropped, and the analysis at the sender and at the receiver.
fn captured(case: &Case) -> (ExitCounts, [Analysis; 2]) {
    let scenario = Scenario::parse("case", &case.toml, &[]).expect("is a scenario");
    let variant = Variant::parse(case.sender).expect("is a sender");
    let mut near = Vec::new();
    let mut far = Vec::new();
    let mut captures = (
        Capture::at(End::Sender, &mut near).expect("memory takes it"),
        Capture::at(End::Receiver, &mut far).expect("memory takes it"),
    );
    let row = run::run(&scenario, &variant, 1, Some(&mut captures), never()).expect("runs");
    captures.0.finish().expect("memory takes it");
    captures.1.finish().expect("memory takes it");
    (row.flow.exits.unwrap_or_default(), [near, far].map(analysis))
}

/// Returns whether a verdict names something that the path does not do, or a note on a window does.
fn is_wrong(kind: Kind, case: &Case, direction: &Direction, cause: Cause) -> bool {
    let window = replay_window(direction).map(|cutoff| Kind::Window(cutoff.window));
    if window.is_some_and(|window| window != kind) {
        return true;
    }
    match cause {
        Cause::ReplayWindow => window.is_none(),
        Cause::Ranges => {
            let found = range_limit(direction).map(|ranges| Kind::Ranges(ranges.limit));
            found != Some(kind)
        }
        Cause::Paws => !case.timestamps,
        _ => false,
    }
}

#[test]
fn what_drops_late_packets_is_never_named_wrongly() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let mut dice = Xoshiro256PlusPlus::seed_from_u64(number("UNRUFFLED_SEED").unwrap_or(SEED));
    let mut wrong = Vec::new();
    // By the cause: cases in which it dropped many packets, and those in which the verdict names it.
    let mut named: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for kind in KINDS {
        for path in 0..PATHS {
            let case = random(kind, &mut dice);
            let (drops, analyses) = captured(&case);
            let directions = analyses.map(data);
            for (end, direction) in ["sender", "receiver"].into_iter().zip(&directions) {
                let found = judge(direction);
                let lost = direction.losses.lost;
                let resent = direction.retransmissions.total;
                let due = |drops: u64| drops >= MIN_DROPS && drops * 2 >= resent;
                let by_time = direction.retransmissions.judged_by_time;
                let outdated = directions[1].loss_evidence.outdated;
                let window = replay_window(direction);
                if matches!(kind, Kind::Window(_)) && drops.replay_drops >= MIN_WINDOW_DROPS {
                    let is_by_time =
                        by_time * 2 >= (resent + direction.reordering_here.reordered).max(1);
                    let name = if is_by_time { "windows by time" } else { "windows" };
                    let (all, right) = named.entry(name).or_default();
                    *all += 1;
                    *right += u32::from(window.is_some() && found.text.contains("replay window"));
                }
                let expected = match kind {
                    Kind::Window(_) if due(drops.replay_drops) => Some(Cause::ReplayWindow),
                    // Where only the time distinguishes late packets, ranges are not judged.
                    Kind::Ranges(_) if due(drops.range_drops) && by_time == 0 => {
                        Some(Cause::Ranges)
                    }
                    _ if outdated >= 20 && outdated * 4 >= resent * 3 => Some(Cause::Paws),
                    _ => None,
                };
                let cutoffs = direction.reordering().cutoffs.iter();
                let cutoffs: Vec<_> =
                    cutoffs.map(|c| (c.window, c.expected.round(), c.arrived)).collect();
                let ranges = direction.loss_evidence.ranges;
                let is_wrong = is_wrong(kind, &case, direction, found.cause);
                let line = format!(
                    "{kind:?} {path} {} {} at the {end}: {:?}, expected {expected:?}; dropped {} and {}, \
                     lost {lost}, resent {resent}, outdated {outdated}: {}; {ranges:?}, {cutoffs:?}",
                    case.sender,
                    case.timestamps,
                    found.cause,
                    drops.replay_drops,
                    drops.range_drops,
                    found.text
                );
                println!("{}{line}", if is_wrong { "WRONG " } else { "" });
                if is_wrong {
                    wrong.push(line);
                }
                if let Some(expected) = expected {
                    let name = match expected {
                        Cause::ReplayWindow => "replay window",
                        Cause::Ranges => "ranges",
                        _ => "timestamps",
                    };
                    let (all, right) = named.entry(name).or_default();
                    *all += 1;
                    *right += u32::from(found.cause == expected);
                }
            }
        }
    }
    println!("named of those due: {named:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (cause, min_share) in [
        ("windows", MIN_NAMED_WINDOWS),
        ("replay window", 0.5),
        ("ranges", 0.5),
        ("timestamps", 0.5),
    ] {
        let (all, right) = named.get(cause).copied().unwrap_or_default();
        assert!(all > 0, "{cause}: dropped many packets nowhere: {named:?}");
        assert!(f64::from(right) >= min_share * f64::from(all), "{cause}: {named:?}");
    }
}

/// A path of 20 Mb/s and 40 ms, of whose packets 5 % are late by Exp(30 ms), 50 packets at full rate.
fn case(exit: &str) -> Case {
    let toml = format!(
        "name = 'case'\nduration = '20 s'\nvariants = ['sack']\n\
         [tcp]\nmss = '1460 B'\nheader = '40 B'\nwindow = 8000\ninitial_window = 10\n\
         min_rto = '200 ms'\ndelayed_ack = '40 ms'\nbyte_counting = 2\n\
         [path]\nhops = ['l']\n\
         [link.l]\nrate = '20 Mbit/s'\ndelay = '20 ms'\nqueue = 100\n{exit}\n\
         delayed = {{ fraction = '5 %', distribution = 'exponential', mean = '30 ms', \
         packets = 'data' }}\n"
    );
    Case { toml, sender: "linux-reordering+cubic", timestamps: false }
}

/// Returns the mean goodput of six runs, in bits per second.
fn delivers(case: &Case, sender: &str) -> f64 {
    let scenario = Scenario::parse("case", &case.toml, &[]).expect("is a scenario");
    let sender = Variant::parse(sender).expect("is a sender");
    let runs = (1..=6).map(|seed| run::run(&scenario, &sender, seed, None, never()).expect("runs"));
    runs.map(|row| row.flow.goodput_bps).sum::<f64>() / 6.0
}

/// The model of a path with a limit gives what the path gives without it, within a factor of 1.5.
#[test]
fn the_goodput_without_a_limit_is_that_of_the_path_without_it() {
    let open = case("");
    for (exit, cause) in
        [("replay_window = 64", Cause::ReplayWindow), ("ranges = 3", Cause::Ranges)]
    {
        let limited = case(exit);
        let (drops, [near, _]) = captured(&limited);
        let mut found = transfers(&near);
        assert_eq!(found[0].verdict.cause, cause, "{exit}, {drops:?}: {}", found[0].verdict.text);
        price("c", &mut found, never());
        assert!(found[0].cost.is_none(), "it is not reordering's");
        let Some(Ok(cost)) = &found[0].limit_cost else { panic!("{:?}", found[0].limit_cost) };
        println!("{exit}: {cost:?}");
        for (estimate, truth) in [
            (cost.unlimited_bps, delivers(&open, limited.sender)),
            (cost.unlimited_attached_bps, delivers(&open, "unruffled")),
            (cost.attached_bps, delivers(&limited, "unruffled")),
        ] {
            let ratio = estimate / truth;
            println!("{estimate:.0} {truth:.0}");
            assert!(
                (1.0 / 1.5..1.5).contains(&ratio),
                "{exit}: {estimate:.0} {truth:.0}, {cost:?}"
            );
        }
        let steps = plan("c", &found, None);
        assert!(!steps.iter().any(|step| step.advice.action() == Action::Attach), "{steps:?}");
        let json = json("c", &near, &found, &steps, None);
        assert!(json.contains("\"limit_cost\":{\"now_bps\":"), "{json}");
        let text = render("c", &near, &found, &steps, 1000);
        assert!(text.contains("without that limit; with `attach`, "), "{text}");
    }
}
