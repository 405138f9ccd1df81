//! `unruffled analyze`.

#[cfg(target_os = "linux")]
mod live;
mod several;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use unruffled_capture::{Analysis, Analyzer, Limits, Trace, read};
use unruffled_lab::advice::Written;
use unruffled_lab::cancel::never;
use unruffled_lab::fit::Reading;
use unruffled_lab::transfer::{self, Transfer};
use unruffled_lab::{Error, advice, analysis, fit, report};
use unruffled_scenario as scenario;
use unruffled_tcp::Variant;
use unruffled_units::count;

use crate::Printed;
use crate::interrupt::{self, Interrupt};
use crate::number;
use crate::output::{self, Kind, Rule};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A capture: pcap, pcapng, snoop or ERF, also compressed; - is standard input. Several captures of the
    /// same transfers, made at different places, are matched: true losses, one-way delays
    #[arg(value_name = "CAPTURE")]
    #[cfg_attr(target_os = "linux", arg(required_unless_present = "interface"))]
    #[cfg_attr(not(target_os = "linux"), arg(required = true))]
    captures: Vec<PathBuf>,
    /// Capture this interface, or any: a line each second, and the verdict at the end (Ctrl-C)
    #[cfg(target_os = "linux")]
    #[arg(short, long, value_name = "NAME", conflicts_with = "captures",
          value_parser = NonEmptyStringValueParser::new())]
    interface: Option<String>,
    /// End the capture of an interface after this time
    #[cfg(target_os = "linux")]
    #[arg(long = "for", value_name = "TIME", requires = "interface", value_parser = live::span,
          allow_hyphen_values = true)]
    span: Option<unruffled_units::Duration>,
    /// Capture packets to other machines as well: the interface is promiscuous until the end
    #[cfg(target_os = "linux")]
    #[arg(long, requires = "interface")]
    promiscuous: bool,
    /// Print one JSON object instead of the text
    #[arg(long)]
    json: bool,
    /// Write the path of a transfer as a scenario, for `unruffled compare`
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Write an HTML page: the verdict, sequence over time, round trips, lateness
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Replace files that unruffled has not written
    #[arg(long)]
    force: bool,
    /// Number of that transfer in the table
    #[arg(long, value_name = "N", default_value = "1", requires = "scenario",
          allow_negative_numbers = true,
          value_parser = number::within::<u32>(1..=u32::MAX))]
    transfer: u32,
    /// The captured sender, if it is known: it is run over the fitted path
    #[arg(long, value_name = "NAME", default_value = fit::OBSERVED, requires = "scenario",
          value_parser = NonEmptyStringValueParser::new())]
    sender: String,
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let several = arguments.captures.len() > 1;
    let single =
        [("--scenario", arguments.scenario.is_some()), ("--report", arguments.report.is_some())];
    if let Some((flag, _)) = single.iter().find(|(_, is_given)| several && *is_given) {
        let found = arguments.captures.len();
        return crate::refuse(format!("{flag}: expected one capture, found {found}"));
    }
    #[cfg(target_os = "linux")]
    match &arguments.interface {
        Some(interface) => return live::main(arguments, interface),
        // Clap does not require the interface where captures exclude it.
        None if arguments.span.is_some() => return crate::refuse("--for: expected --interface"),
        None if arguments.promiscuous => {
            return crate::refuse("--promiscuous: expected --interface");
        }
        None => {}
    }
    let outcome = if several { several::execute(arguments) } else { execute(arguments) };
    finish(outcome)
}

/// Prints the text, and returns the exit status.
fn finish(outcome: Result<(Printed, Result<(), Error>), Error>) -> ExitCode {
    match outcome {
        Ok((text, written)) => {
            let printed = crate::print(text);
            written.map_or_else(crate::refuse, |()| printed)
        }
        Err(error) => crate::refuse(error),
    }
}

/// Analyzes one capture. Returns the text to print, and the result of writing the files.
fn execute(arguments: &Arguments) -> Result<(Printed, Result<(), Error>), Error> {
    let path = &arguments.captures[0];
    let name = path.display().to_string();
    check(arguments, Some(path))?;
    let read = analyze(path, limits(arguments), None)
        .map_err(|source| Error::Capture { name: name.clone(), source })?;
    conclude(arguments, &name, read)
}

/// Checks the files to be written, and the sender.
fn check(arguments: &Arguments, capture: Option<&Path>) -> Result<(), Error> {
    let files = [
        output::Written("the scenario", arguments.scenario.as_deref(), Rule::Ours(Kind::Scenario)),
        output::Written("the report", arguments.report.as_deref(), Rule::Ours(Kind::Report)),
    ];
    output::check(&[("the capture", capture.map(place))], &files, arguments.force)?;
    // Check the sender first, since reading a capture may take long.
    Variant::parse(&arguments.sender)
        .map_err(|source| scenario::Error::Variant { place: "--sender".to_owned(), source })?;
    Ok(())
}

/// Returns where a capture is: standard input may be a file as well, which must not be replaced.
fn place(capture: &Path) -> &Path {
    if capture == "-" { Path::new("/dev/stdin") } else { capture }
}

/// Returns the limits on what an analysis keeps.
fn limits(arguments: &Arguments) -> Limits {
    let dots = if arguments.report.is_some() { report::MAX_DOTS } else { 0 };
    Limits { dots, ..Limits::default() }
}

/// Returns the text on a capture, and the result of writing the files. The text is shown even if no path
/// fits.
fn conclude(
    arguments: &Arguments,
    name: &str,
    read: Read,
) -> Result<(Printed, Result<(), Error>), Error> {
    let Read { found, damage, interrupt } = read;
    if interrupt.has_arrived() {
        let packets = count(found.totals.frames, "packet");
        crate::print_notice(&format!("unruffled: {name}: interrupted after {packets}"));
    }
    if let Some(damage) = &damage {
        crate::print_notice(&format!("unruffled: {name}: {damage}"));
    }
    let mut transfers = transfer::transfers(&found);
    let bar = output::bar(None, "{msg}");
    bar.set_message("simulating what reordering cost");
    bar.tick();
    // An interrupt that ended the reading does not cut the results short; a later one ends the command.
    let cancellation = if interrupt.has_arrived() { Interrupt::default() } else { interrupt };
    transfer::price(name, &mut transfers, &cancellation.token());
    bar.finish_and_clear();
    let fitted = match &arguments.scenario {
        Some(path) => scenario(arguments, name, &transfers, path).map(Some),
        None => Ok(None),
    };
    let (written, fitted) = match fitted {
        Ok(written) => (written, Ok(())),
        Err(error) => (None, Err(error)),
    };
    let plan = advice::plan(name, &transfers, written.as_ref());
    let reported = match &arguments.report {
        Some(path) => {
            let page = report::capture(name, &found, &transfers, &plan, damage.as_deref());
            let written = output::write_text(path, &page).map_err(|e| Error::output(path, e));
            written.map(|()| crate::print_notice(&format!("report: {}", path.display())))
        }
        None => Ok(()),
    };
    let text = if arguments.json {
        Printed::Json(analysis::json(name, &found, &transfers, &plan, damage.as_deref()))
    } else {
        let (width, _) = output::terminal();
        let name = crate::on_one_line(name);
        Printed::People(analysis::render(&name, &found, &transfers, &plan, width))
    };
    Ok((text, fitted.and(reported)))
}

/// Writes the path of the chosen transfer as a scenario.
fn scenario(
    arguments: &Arguments,
    name: &str,
    transfers: &[Transfer<'_>],
    path: &Path,
) -> Result<Written, Error> {
    let unfit = |source| Error::Unfit { name: name.to_owned(), source };
    let chosen = transfer::numbered(transfers, arguments.transfer).map_err(unfit)?;
    let fit = fit::fit(name, chosen.direction, &chosen.losses, &arguments.sender, never())
        .map_err(unfit)?;
    let (likelier, other) = fit.readings();
    output::write_text(path, &likelier.toml).map_err(|e| Error::output(path, e))?;
    let delivers = |reading| fit.delivers(reading, chosen.direction, never()).map_err(unfit);
    let words = fit.in_words(delivers(&likelier)?);
    crate::print_notice(&format!("scenario: {}: {words}", path.display()));
    let second = other.as_ref().map(|reading| (reading, reading_path(path, reading)));
    if let Some((reading, beside)) = &second {
        let capture = arguments.captures.first().map(|path| place(path));
        let kept = [("the capture", capture), ("the scenario", Some(path))];
        let rule = Rule::Ours(Kind::Scenario);
        let files = [output::Written("the other scenario", Some(beside), rule)];
        output::check(&kept, &files, arguments.force)?;
        output::write_text(beside, &reading.toml).map_err(|e| Error::output(beside, e))?;
        let words = fit.other_in_words(reading, delivers(reading)?);
        crate::print_notice(&format!("scenario: {}: {words}", beside.display()));
        crate::print_notice(&fit.losses.in_words());
    }
    let named = |path: &Path| crate::on_one_line(&path.display().to_string());
    Ok(Written {
        transfer: arguments.transfer as usize,
        path: named(path),
        other: second.map(|(_, beside)| named(&beside)),
    })
}

/// Returns the file for the other reading of the losses, beside `path`.
fn reading_path(path: &Path, reading: &Reading) -> PathBuf {
    let which = if reading.lossless { "lossless" } else { "lossy" };
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    path.with_file_name(format!("{stem}-{which}{}", extension.unwrap_or_default()))
}

/// Contents of a capture.
struct Read {
    found: Analysis,
    /// Reason why the rest was not read.
    damage: Option<String>,
    interrupt: Interrupt,
}

/// Reads a capture up to its end or to an interrupt. Its packets are added to `trace`, if there is one.
fn analyze(
    path: &Path,
    limits: Limits,
    mut trace: Option<&mut Trace>,
) -> Result<Read, unruffled_capture::Error> {
    let (source, interrupt) = interrupt::open(path)?;
    let progress = source.progress();
    let bar = output::bar(progress.length(), "{msg} [{wide_bar}] {bytes}, {eta}");
    bar.set_message("reading");
    let mut analyzer = Analyzer::new(limits);
    let mut frames: u64 = 0;
    let damage = read(source, |frame| {
        analyzer.frame(frame);
        if let Some(trace) = &mut trace {
            trace.frame(frame);
        }
        frames += 1;
        if frames.is_multiple_of(65_536) {
            bar.set_position(progress.read());
        }
    });
    bar.finish_and_clear();
    // After an interrupt, a truncated packet does not count as damage.
    let ended = |damage: &unruffled_capture::Error| {
        interrupt.has_arrived() && matches!(damage, unruffled_capture::Error::CutOff { .. })
    };
    let damage = damage?.filter(|damage| !ended(damage)).map(|damage| damage.to_string());
    Ok(Read { found: analyzer.finish(), damage, interrupt })
}
