//! `unruffled doctor`: whether reordering slows this machine's connections.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use unruffled_doctor::fix::{self, Comparison, Outcome};
use unruffled_doctor::{Error, Observer, Overall, Report, Scope, Surroundings, Watch, flows};
use unruffled_units::count;

use crate::Printed;
use crate::interrupt::Interrupt;
use crate::kernel::NamespaceArguments;

/// Exit status if reordering slows connections.
const SUFFERS: u8 = 1;

/// Number of snapshots in a watch, where these limits allow it.
const SNAPSHOTS: u32 = 20;
const MIN_INTERVAL: Duration = Duration::from_millis(250);
const MAX_INTERVAL: Duration = Duration::from_secs(1);

/// Largest share of the time that reading the connections may take: one in so many.
const MAX_LOAD: u32 = 10;

/// Share of the time of a watch in which connections settle after `attach`: one in so many.
const SETTLING: u32 = 4;

/// Interval at which signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Args)]
pub(crate) struct Arguments {
    /// How long to watch, from 3 s to 24 h; Ctrl-C ends it with a verdict
    #[arg(long = "for", value_name = "TIME", default_value = "30 s", value_parser = watch_time)]
    #[arg(allow_hyphen_values = true)]
    time: unruffled_units::Duration,
    #[command(flatten)]
    namespace: NamespaceArguments,
    /// Attach where that is advised, open connections included; detach again if it does not help
    #[arg(long)]
    fix: bool,
    /// Print one JSON object instead of the text
    #[arg(long)]
    json: bool,
}

/// Parses the time of the watch.
fn watch_time(text: &str) -> Result<unruffled_units::Duration, String> {
    let range =
        unruffled_units::Duration::from_secs(3)..=unruffled_units::Duration::from_secs(86_400);
    let time = unruffled_units::parse_duration(text).map_err(|error| error.to_string())?;
    let expected = || format!("expected 3 s to 24 h, found {text:?}");
    range.contains(&time).then_some(time).ok_or_else(expected)
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match examine(arguments) {
        Ok(status) => status,
        Err(error) => crate::refuse(format!("doctor: {error}")),
    }
}

fn examine(arguments: &Arguments) -> Result<ExitCode, String> {
    let scope = scope(arguments).map_err(|error| error.to_string())?;
    let time = Duration::from_nanos(arguments.time.as_nanos());
    let (interrupt, _wake) = Interrupt::watch().map_err(|error| error.to_string())?;
    if arguments.fix {
        fix::check().map_err(|error| error.to_string())?;
    }
    let mut observer = Observer::new(scope);
    let before = watch(&mut observer, time, &interrupt).map_err(|error| error.to_string())?;
    let (flows_before, tally) = flows(&before);
    let around = Surroundings::of(&flows_before, &observer);
    let report = Report::new(&before, flows_before, tally, &around);
    if !arguments.json
        && let Err(status) = crate::print_on(Printed::People(report.text(&around)))
    {
        return Ok(status);
    }
    let trial = match arguments.fix && !interrupt.has_arrived() {
        true => try_attach(&report, &around, &mut observer, time, &interrupt)?,
        false => None,
    };
    if arguments.json {
        let text = Printed::Json(json(&report, &around, trial.as_ref())?);
        if let Err(status) = crate::print_on(text) {
            return Ok(status);
        }
    }
    let is_fixed = trial.is_some_and(|trial| trial.comparison.outcome == Outcome::Helped);
    let suffers = report.verdict == Overall::Suffers && !is_fixed;
    Ok(if suffers { ExitCode::from(SUFFERS) } else { ExitCode::SUCCESS })
}

/// A trial of the remedies.
#[derive(Serialize)]
struct Trial {
    /// Number of open connections that were switched.
    switched: usize,
    #[serde(flatten)]
    comparison: Comparison,
}

/// What was attached, which is undone when this value is dropped.
struct Attached;

impl Drop for Attached {
    fn drop(&mut self) {
        if let Err(error) = fix::revert() {
            let advice = "`sudo unruffled detach` undoes what is attached";
            crate::print_notice(&format!("unruffled: doctor: detach: {error}; {advice}"));
        }
    }
}

/// Attaches where the report advises it, watches again, and detaches if that did not help. Returns `None` if the
/// report advises no `attach`.
fn try_attach(
    report: &Report,
    around: &Surroundings,
    observer: &mut Observer,
    time: Duration,
    interrupt: &Interrupt,
) -> Result<Option<Trial>, String> {
    let attached = fix::attach(report, around).map_err(|error| error.to_string())?;
    let Some(switched) = attached else {
        crate::print_notice("--fix: there is nothing to attach");
        return Ok(None);
    };
    let attached = Attached;
    let connections = count(switched, "open connection");
    crate::print_notice(&format!("attached, {connections} switched; watching again"));
    let settled = observer.elapsed() + time / SETTLING;
    while observer.elapsed() < settled && !interrupt.has_arrived() {
        thread::sleep(POLL_INTERVAL);
    }
    let after = watch(observer, time, interrupt).map_err(|error| error.to_string())?;
    let comparison = fix::compare(&report.flows, &flows(&after).0);
    if interrupt.has_arrived() {
        drop(attached);
        return Err("interrupted before the second watch was over; all is undone".to_owned());
    }
    match comparison.outcome {
        Outcome::Helped => std::mem::forget(attached),
        Outcome::NoHelp | Outcome::NotMeasured => drop(attached),
    }
    crate::print_notice(&comparison.text());
    Ok(Some(Trial { switched, comparison }))
}

/// Returns the network namespaces to watch.
fn scope(arguments: &Arguments) -> Result<Scope, unruffled_kernel::Error> {
    match arguments.namespace.target() {
        None => Ok(Scope::All),
        Some(target) => target.open().map(Scope::One),
    }
}

/// Watches for `time`, or until an interrupt.
fn watch(observer: &mut Observer, time: Duration, interrupt: &Interrupt) -> Result<Watch, Error> {
    let bar = std::io::stderr()
        .is_terminal()
        .then(|| crate::output::bar(Some(time.as_millis() as u64), "{msg} [{bar:30}] {eta} left"));
    let began = observer.elapsed();
    let mut interval = (time / SNAPSHOTS).clamp(MIN_INTERVAL, MAX_INTERVAL);
    let mut watch = Watch::default();
    let mut next = Duration::ZERO;
    loop {
        let snapshot = observer.snapshot()?;
        let took = observer.elapsed().saturating_sub(snapshot.at);
        interval = interval.max(MAX_LOAD * took);
        watch.add(&snapshot);
        if let Some(bar) = &bar {
            bar.set_message(format!("watching {}", count(snapshot.sockets.len(), "connection")));
        }
        if next >= time || interrupt.has_arrived() {
            break;
        }
        let now = observer.elapsed().saturating_sub(began);
        // A snapshot that is late does not make the next one early.
        next = (next + interval).max(now + interval / 2).min(time.max(now));
        while observer.elapsed() < began + next && !interrupt.has_arrived() {
            let left = (began + next).saturating_sub(observer.elapsed());
            thread::sleep(POLL_INTERVAL.min(left));
            if let Some(bar) = &bar {
                let elapsed = observer.elapsed().saturating_sub(began);
                bar.set_position(elapsed.min(time).as_millis() as u64);
            }
        }
    }
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    Ok(watch)
}

/// Returns the report as JSON, with the commands of its remedies and the trial.
fn json(report: &Report, around: &Surroundings, trial: Option<&Trial>) -> Result<String, String> {
    let mut document = serde_json::to_value(report).map_err(|error| error.to_string())?;
    let commands: Vec<_> = report.plan.iter().filter_map(|remedy| remedy.command(around)).collect();
    document["commands"] = commands.into();
    document["fix"] = serde_json::to_value(trial).map_err(|error| error.to_string())?;
    Ok(format!("{document}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_takes_3_seconds_to_a_day() {
        for text in ["0 s", "2.9 s", "25 h", "-5 s", "soon", ""] {
            assert!(watch_time(text).is_err(), "{text}");
        }
        assert_eq!(watch_time("10s"), Ok(unruffled_units::Duration::from_secs(10)));
    }
}
