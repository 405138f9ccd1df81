//! `unruffled emulate`.
//!
//! Standard output belongs to the commands. Messages of the emulator go to standard error.

use std::io::Write;
use std::process::{ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use unruffled_net::{Application, Error, LaneReport, MAX_TOLERABLE_LATENESS, Pair, Report, Side};
use unruffled_race::{WayCounts, paths};
use unruffled_scenario::{Error as ScenarioError, Scenario, flags};
use unruffled_units::count;

use crate::number;

/// Interval at which the commands are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Time within which the right command should start listening.
const STARTUP_TIMEOUT: Duration = Duration::from_secs(2);

/// Time in which a command may end by itself after the other one, or after Ctrl-C.
const EXIT_TIMEOUT: Duration = Duration::from_millis(300);

/// Time in which a command must end after SIGTERM.
const TERMINATION_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Args)]
pub(crate) struct Arguments {
    /// A built-in scenario (half-late, few-late, in-order, bonded, …), a random path (SEED-NUMBER, such
    /// as 7-12) or a TOML file; only its path counts, with the ways of its first traffic
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    scenario: String,
    /// Replace any key of the path; its beginning may be left out: alternate.extra=100ms
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Run this by sh at the left end; the emulation ends with it, and its success is the exit
    /// status: iperf3 -c $UNRUFFLED_RIGHT
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    left: Option<String>,
    /// Run this by sh at the right end, before the left one: iperf3 -s -1
    #[arg(long, value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    right: Option<String>,
    /// The seed of all that is random on the path
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true)]
    #[arg(value_parser = number::seed)]
    seed: u64,
    /// End after this time, such as "20 s", even if the left command has not
    #[arg(long, value_name = "TIME", value_parser = unruffled_units::parse_duration)]
    #[arg(allow_hyphen_values = true)]
    duration: Option<unruffled_units::Duration>,
    /// The longest IP packet; IPv6 needs 1280
    #[arg(long, value_name = "OCTETS", default_value_t = 1500)]
    #[arg(value_parser = number::within::<u16>(68..=u16::MAX), allow_negative_numbers = true)]
    mtu: u16,
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    if arguments.duration == Some(unruffled_units::Duration::ZERO) {
        return crate::refuse("--duration: expected more than none");
    }
    let scenario = match load(&arguments.scenario, &arguments.set) {
        Ok(scenario) => scenario,
        Err(error) => return crate::refuse(error),
    };
    match emulate(arguments, &scenario) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => crate::refuse(format!("emulate: {error}")),
    }
}

/// Loads the scenario. Only its path is used.
fn load(name: &str, set: &[String]) -> Result<Scenario, ScenarioError> {
    let text = flags::text(name, set)?;
    let scenario = Scenario::parse_for_real_packets(name, &text, set)?;
    flags::of_the_path(name, &text, set)?;
    Ok(scenario)
}

/// Runs the emulation, and returns whether the left command succeeded, or `true` without one.
fn emulate(arguments: &Arguments, scenario: &Scenario) -> Result<bool, Error> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Registration fails only for signals that cannot be caught, which these are not.
        let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
    }
    // All packets belong to one source, whatever their ports.
    let paths = paths(scenario, arguments.seed, [(&scenario.traffic[0], 0)]);
    let pair = Pair::new(arguments.mtu)?;

    let mut right = None;
    if let Some(line) = &arguments.right {
        let mut command = pair.shell(line);
        command.stdin(Stdio::null());
        let right =
            right.insert(Application::start_in_background(&pair.right.namespace, &mut command)?);
        let deadline = Instant::now() + STARTUP_TIMEOUT;
        let mut is_awaited = || {
            arguments.left.is_some()
                && !pair.right.namespace.is_listening()
                && right.ended().is_none()
                && !interrupted.load(Ordering::Relaxed)
        };
        while is_awaited() && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
        if is_awaited() {
            let seconds = STARTUP_TIMEOUT.as_secs();
            print_error(&format!(
                "the right command listens to nothing after {seconds} s: the left one begins\n"
            ));
        }
    }
    if arguments.left.is_none() {
        print_error(&format!("left   {}\n", entrance(&pair.left)));
        print_error(&format!("right  {}\nCtrl-C ends it.\n", entrance(&pair.right)));
    }

    let start = Instant::now();
    let emulator = pair.emulate(paths, None)?;
    let given_up = interrupted.load(Ordering::Relaxed);
    let mut left = match &arguments.left {
        Some(line) if !given_up => {
            Some(Application::start(&pair.left.namespace, &mut pair.shell(line))?)
        }
        _ => None,
    };
    let limit = arguments.duration.map(|limit| Duration::from_nanos(limit.as_nanos()));
    let in_time = || limit.is_none_or(|limit| start.elapsed() < limit);
    let mut right_ended = false;
    while !interrupted.load(Ordering::Relaxed)
        && in_time()
        && left.as_mut().is_none_or(|left| left.ended().is_none())
    {
        if !right_ended && let Some(status) = right.as_mut().and_then(Application::ended) {
            right_ended = true;
            if !status.success() {
                print_error(&format!("the right command has ended: {status}\n"));
            }
        }
        thread::sleep(POLL_INTERVAL);
    }

    let end = |application: &mut Application| match application.wait_for(EXIT_TIMEOUT) {
        Some(status) => status.success(),
        None => application.end(TERMINATION_TIMEOUT).is_ok_and(|status| status.success()),
    };
    let success = left.as_mut().map_or(arguments.left.is_none(), end);
    right.as_mut().map(end);
    let report = emulator.stop();
    print_error(&summary(&report, scenario, arguments.seed, start.elapsed()));
    Ok(success)
}

/// Returns the command that enters an end from another terminal.
fn entrance(side: &Side) -> String {
    let addresses: Vec<String> = side.addresses().map(|address| address.to_string()).collect();
    format!("nsenter --target {} --net  # {}", side.namespace.keeper(), addresses.join(", "))
}

fn summary(report: &Report, scenario: &Scenario, seed: u64, time: Duration) -> String {
    let lane = |lane: &LaneReport| {
        let c = lane.counts;
        let mut parts = vec![
            count(c.offered, "packet"),
            format!("{} delivered", c.delivered),
            format!("{} dropped", c.dropped),
            format!("{} lost", c.lost),
            format!("{} late", c.delayed),
        ];
        let rare = [
            (c.replay_drops, "dropped by replay windows"),
            (c.range_drops, "dropped beyond the ranges"),
            (c.fragment_drops, "dropped for fragments far apart"),
            (c.duplicated, "doubled"),
            (lane.refused, "refused"),
        ];
        parts.extend(rare.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
        for r in &lane.resequenced {
            parts.push(format!("{} held for order, {} too late for it", r.held, r.too_late));
        }
        parts.join(", ")
    };
    let group = &scenario.traffic[0];
    let ways = |lane: &LaneReport| {
        let mut ways = WayCounts::default();
        lane.taken.iter().for_each(|taken| ways.add(scenario, group, taken));
        ways.in_words().map_or(String::new(), |shares| format!("\n    {shares}"))
    };
    let lateness = report.lateness();
    let [p50, p99] = [0.5, 0.99].map(|share| micros(lateness.quantile(share)));
    let mut text = format!(
        "{}, seed {seed}, {:.1} s\n  left to right  {}{}\n  right to left  {}\n  \
         emulator late  p50 {p50}, p99 {p99}, at most {}\n",
        scenario.name,
        time.as_secs_f64(),
        lane(&report.forward),
        ways(&report.forward),
        lane(&report.reverse),
        micros(lateness.max()),
    );
    if lateness.is_intolerable() {
        text += &format!(
            "warning: the machine could not keep up: one packet in a hundred was over {p99} later \
             than planned, where {MAX_TOLERABLE_LATENESS} is tolerable\n"
        );
    }
    text
}

/// Formats a duration in whole microseconds, or from 10 ms on in tenths of milliseconds.
fn micros(span: unruffled_units::Duration) -> String {
    match span.as_nanos() {
        nanos if nanos < 10_000_000 => format!("{} us", nanos.div_ceil(1_000)),
        nanos => format!("{:.1} ms", nanos as f64 / 1e6),
    }
}

/// Prints on standard error. A failure is ignored.
fn print_error(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
