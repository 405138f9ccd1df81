//! `unruffled doctor`: whether reordering slows this machine's connections.

use std::fmt::Display;
use std::fs::File;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use unruffled_doctor::{Error, Overall, Report, Scope, Snapshot, Surroundings, Watch, flows};

use crate::Printed;
use crate::interrupt::Interrupt;

/// Exit status if reordering slows connections.
const SUFFERS: u8 = 1;

/// Number of snapshots in a watch, where these limits allow it.
const SNAPSHOTS: u32 = 20;
const MIN_INTERVAL: Duration = Duration::from_millis(250);
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// Largest share of the time that reading the connections may take: one in so many.
const MAX_LOAD: u32 = 10;

/// Interval at which signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(crate) struct Arguments {
    /// How long to watch, from 5 s to 24 h; Ctrl-C ends it with a verdict
    #[arg(long = "for", value_name = "TIME", default_value = "30 s", value_parser = watch_time)]
    #[arg(allow_hyphen_values = true)]
    time: unruffled_units::Duration,
    /// Watch only this network namespace, by its name or its path
    #[arg(long, value_name = "NAME|PATH", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    netns: Option<String>,
    /// Print one JSON object instead of the text
    #[arg(long)]
    json: bool,
}

/// Parses the time of the watch.
fn watch_time(text: &str) -> Result<unruffled_units::Duration, String> {
    let range =
        unruffled_units::Duration::from_secs(5)..=unruffled_units::Duration::from_secs(86_400);
    let time = unruffled_units::parse_duration(text).map_err(|error| error.to_string())?;
    let expected = || format!("expected 5 s to 24 h, found {text:?}");
    range.contains(&time).then_some(time).ok_or_else(expected)
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match examine(arguments) {
        Ok(status) => status,
        Err(error) => crate::refuse(format!("doctor: {error}")),
    }
}

fn examine(arguments: &Arguments) -> Result<ExitCode, String> {
    let scope = scope(arguments.netns.as_deref())?;
    let time = Duration::from_nanos(arguments.time.as_nanos());
    let (interrupt, _wake) = Interrupt::watch().map_err(|error| error.to_string())?;
    let watch = watch(&scope, time, &interrupt).map_err(|error| error.to_string())?;
    let (flows, tally) = flows(&watch);
    let around = Surroundings::of(&flows, &scope);
    let report = Report::new(&watch, flows, tally, &around);
    let text = if arguments.json {
        Printed::Json(json(&report, &around)?)
    } else {
        Printed::People(report.text(&around))
    };
    Ok(match crate::print_on(text) {
        Ok(_) if report.verdict == Overall::Suffers => ExitCode::from(SUFFERS),
        Ok(status) | Err(status) => status,
    })
}

/// Opens the network namespace of `--netns`.
fn scope(netns: Option<&str>) -> Result<Scope, String> {
    let Some(name) = netns else { return Ok(Scope::All) };
    let path =
        if name.contains('/') { PathBuf::from(name) } else { Path::new("/run/netns").join(name) };
    let expected = "expected the name of a network namespace, as `ip netns` lists it, or its path";
    let refusal =
        |reason: &dyn Display| format!("--netns {}: {reason}: {expected}", path.display());
    let file = File::open(&path).map_err(|error| refusal(&error))?;
    match unruffled_kernel::inside_network_namespace(&file, || ()) {
        Ok(()) => Ok(Scope::One(file)),
        Err(_) if !rustix::process::geteuid().is_root() => {
            Err(format!("--netns {}: expected root, or sudo", path.display()))
        }
        Err(_) => Err(refusal(&"no network namespace")),
    }
}

/// Watches for `time`, or until an interrupt.
fn watch(scope: &Scope, time: Duration, interrupt: &Interrupt) -> Result<Watch, Error> {
    let bar = std::io::stderr()
        .is_terminal()
        .then(|| crate::output::bar(Some(time.as_millis() as u64), "{msg} [{bar:30}] {eta} left"));
    let began = Instant::now();
    let mut interval = (time / SNAPSHOTS).clamp(MIN_INTERVAL, MAX_INTERVAL);
    let mut watch = Watch::default();
    let mut next = Duration::ZERO;
    loop {
        let snapshot = Snapshot::take(scope, began)?;
        let took = began.elapsed().saturating_sub(snapshot.at);
        interval = interval.max(MAX_LOAD * took);
        watch.add(&snapshot);
        if let Some(bar) = &bar {
            bar.set_message(format!("watching {} connections", snapshot.sockets.len()));
        }
        let is_last = next >= time || interrupt.has_arrived();
        if is_last {
            break;
        }
        // A late snapshot does not make the next one early.
        next = (next + interval).max(began.elapsed() + interval / 2).min(time.max(began.elapsed()));
        while began.elapsed() < next && !interrupt.has_arrived() {
            thread::sleep(POLL_INTERVAL.min(next.saturating_sub(began.elapsed())));
            if let Some(bar) = &bar {
                bar.set_position(began.elapsed().min(time).as_millis() as u64);
            }
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(watch)
}

/// Returns the report as JSON, with the commands of its remedies.
fn json(report: &Report, around: &Surroundings) -> Result<String, String> {
    let mut document = serde_json::to_value(report).map_err(|error| error.to_string())?;
    let commands: Vec<_> = report.plan.iter().filter_map(|remedy| remedy.command(around)).collect();
    document["commands"] = commands.into();
    Ok(format!("{document}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_takes_5_seconds_to_a_day() {
        for text in ["0 s", "4.9 s", "25 h", "-5 s", "soon", ""] {
            assert!(watch_time(text).is_err(), "{text}");
        }
        assert_eq!(watch_time("10s"), Ok(unruffled_units::Duration::from_secs(10)));
    }
}
