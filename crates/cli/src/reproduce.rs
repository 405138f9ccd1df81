//! `unruffled reproduce`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use indicatif::ProgressBar;
use unruffled_lab::files::{free, probe, replaceable};
use unruffled_papers::experiment::Experiment;
use unruffled_papers::reproduce::{self, ClaimOutcome, FigureOutcome, Holds, Plan, Progress};
use unruffled_papers::{Error, report as page};
use unruffled_scenario::Place;
use unruffled_units::count;

use crate::Printed;
use crate::number;
use crate::output::{self, Kind, Report, Rule, Written};

#[derive(Args)]
pub(crate) struct Arguments {
    /// Ids of figures and tables (see --list), or experiment files of your own [default: all]
    #[arg(value_name = "ID|FILE", value_parser = NonEmptyStringValueParser::new())]
    experiments: Vec<String>,
    /// List the figures and tables, and stop
    #[arg(long, conflicts_with_all = ["json", "report", "no_report", "figures", "markdown", "check",
          "write_check", "write_verdicts", "store", "no_store", "jobs"])]
    list: bool,
    /// Only those of this paper: rr-tcp, avg-dev, tcp-pr, tcp-dcr, wb-rto
    #[arg(long, value_name = "PAPER", value_parser = NonEmptyStringValueParser::new())]
    paper: Option<String>,
    /// Fewer seeds and points, shorter runs: about a minute on two cores for everything
    #[arg(long)]
    quick: bool,
    /// Print rows and claims as one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Where the HTML report goes [default: unruffled-reproduction.html]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    no_report: bool,
    /// Replace files that unruffled has not written
    #[arg(long)]
    force: bool,
    /// Write each figure into this folder, as ID.svg
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Write the report as Markdown, too, with its pictures in a folder of the same name beside it
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Fail if a claim in this list does not hold (one per line, ID: CLAIM)
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,
    /// Write the list of claims that hold, for --check
    #[arg(long, value_name = "FILE")]
    write_check: Option<PathBuf>,
    /// Write the verdict on each claim (one per line, ID: VERDICT: CLAIM)
    #[arg(long, value_name = "FILE")]
    write_verdicts: Option<PathBuf>,
    /// The file that keeps results [default: unruffled/runs.sqlite in the cache folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Neither store results nor use stored ones
    #[arg(long, conflicts_with = "store")]
    no_store: bool,
    /// Threads to run on [default: all cores]; the result is the same on any number
    #[arg(long, value_name = "N", value_parser = number::within::<u16>(1..=1024))]
    #[arg(allow_negative_numbers = true)]
    jobs: Option<u16>,
}

/// Default file of the report.
const DEFAULT_REPORT: &str = "unruffled-reproduction.html";

/// Octets of stack. Lists in expressions may be nested 20,000 levels deep, and each level takes a call.
const STACK_OCTETS: usize = 256 << 20;

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    with_stack(|| match execute(arguments) {
        Ok(status) => status,
        Err(error) => crate::refuse(error),
    })
}

/// Runs `work` on a thread whose stack suffices for every expression.
pub(crate) fn with_stack<T: Send>(work: impl Fn() -> T + Send + Sync) -> T {
    std::thread::scope(|scope| {
        let thread =
            std::thread::Builder::new().name("reproduce".to_owned()).stack_size(STACK_OCTETS);
        match thread.spawn_scoped(scope, &work) {
            Ok(worker) => worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // If memory is short, the default stack suffices for most expressions.
            Err(_) => work(),
        }
    })
}

fn execute(arguments: &Arguments) -> Result<ExitCode, Error> {
    let experiments = experiments(arguments)?;
    if arguments.list {
        let list = reproduce::list(&experiments, output::columns());
        return Ok(crate::print(Printed::People(list)));
    }
    let expected = arguments.check.as_deref().map(baseline).transpose()?;
    let report = (!arguments.no_report)
        .then(|| Report::at(arguments.report.as_deref(), || DEFAULT_REPORT.to_owned()));
    let mut files: Vec<Written<'_>> = report.iter().map(Report::output).collect();
    files.extend([
        Written("the Markdown", arguments.markdown.as_deref(), Rule::Ours(Kind::Markdown)),
        Written("the list of claims", arguments.write_check.as_deref(), Rule::Ours(Kind::Claims)),
        Written("the verdicts", arguments.write_verdicts.as_deref(), Rule::Ours(Kind::Claims)),
    ]);
    let store = crate::store::place(arguments.store.as_deref(), arguments.no_store);
    let own = arguments.experiments.iter().map(|own| ("the experiment", Some(Path::new(own))));
    let mut kept: Vec<output::Called<'_>> = own.collect();
    kept.push(("the list to check", arguments.check.as_deref()));
    kept.push(("the store", store.as_deref()));
    output::check(&kept, &files, arguments.force)?;
    kept.extend(files.iter().map(|&Written(what, path, _)| (what, path)));
    let pictures: Vec<String> = experiments.iter().map(picture).collect();
    for folder in
        arguments.figures.clone().into_iter().chain(arguments.markdown.as_deref().map(beside))
    {
        check_folder(&folder, &pictures, &kept, arguments.force)?;
    }
    let plan = Plan::new(&experiments)?;
    let store = Mutex::new(crate::store::chosen(arguments.store.as_deref(), arguments.no_store)?);
    let pool = crate::pool(arguments.jobs)?;
    let bar = Bar::new();
    let missing = plan.missing(&store)?;
    let run = pool.install(|| missing.run(&store, &bar));
    bar.0.finish_and_clear();
    run?;
    let outcomes = plan.outcomes(&store)?;

    let written = write(arguments, &outcomes, report.as_ref());
    let text = if arguments.json {
        Printed::Json(reproduce::json(&outcomes))
    } else {
        let (width, colour) = output::terminal();
        Printed::People(reproduce::table(&outcomes, width, colour))
    };
    let printed = crate::print(text);
    let all = arguments.experiments.is_empty() && arguments.paper.is_none();
    let lost = expected.map(|expected| lost(&expected, &outcomes, all)).unwrap_or_default();
    for claim in &lost {
        crate::print_notice(&format!("unruffled: no longer holds: {claim}"));
    }
    written?;
    Ok(if lost.is_empty() { printed } else { ExitCode::FAILURE })
}

/// Returns the selected experiments.
fn experiments(arguments: &Arguments) -> Result<Vec<Experiment>, Error> {
    let mut experiments = match arguments.experiments.as_slice() {
        [] => Experiment::all(arguments.quick)?,
        names => {
            let load = |name: &String| Experiment::load(name, arguments.quick);
            names.iter().map(load).collect::<Result<_, _>>()?
        }
    };
    for (i, experiment) in experiments.iter().enumerate() {
        if experiments[..i].iter().any(|earlier| earlier.id == experiment.id) {
            let place = "experiments".to_owned();
            let name = experiment.id.clone();
            return Err(unruffled_scenario::Error::Twice { place, name }.into());
        }
    }
    if let Some(paper) = &arguments.paper {
        let mut papers: Vec<String> = Vec::new();
        for experiment in &experiments {
            if !papers.contains(&experiment.paper) {
                papers.push(experiment.paper.clone());
            }
        }
        experiments.retain(|experiment| experiment.paper == *paper);
        if experiments.is_empty() {
            let paper = paper.clone();
            return Err(match arguments.experiments.as_slice() {
                [] => Error::NoPaper { paper, known: papers },
                _ => Error::OtherPaper { paper, known: papers },
            });
        }
    }
    Ok(experiments)
}

/// Reads the list of claims that should hold.
fn baseline(path: &Path) -> Result<BTreeSet<String>, Error> {
    let text = unruffled_scenario::text::read(path)
        .map_err(|source| Error::NoList { name: path.display().to_string(), source })?;
    let lines = text.lines().map(str::trim).enumerate();
    let claims = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let claim = |(at, line): (usize, &str)| match line.split_once(": ") {
        Some(_) => Ok(line.to_owned()),
        None => Err(unruffled_scenario::Error::Key {
            place: Place::Line(path.display().to_string(), at + 1),
            key: line.chars().take(40).collect(),
            message: "expected ID: CLAIM, as --write-check writes them".to_owned(),
        }
        .into()),
    };
    claims.map(claim).collect()
}

fn name(outcome: &FigureOutcome<'_>, claim: &str) -> String {
    format!("{}: {claim}", outcome.experiment.id)
}

/// Returns the `expected` claims that do not hold, with their measurements. Unless `all` experiments were
/// selected, claims of the others are left out.
fn lost(expected: &BTreeSet<String>, outcomes: &[FigureOutcome<'_>], all: bool) -> Vec<String> {
    let mut lost = Vec::new();
    let mut present = BTreeSet::new();
    for outcome in outcomes {
        for claim in &outcome.claims {
            let name = name(outcome, &claim.text);
            if claim.holds != Holds::Yes && expected.contains(&name) {
                lost.push(format!("{name} ({})", claim.measured));
            }
            present.insert(name);
        }
    }
    // A claim that was removed or renamed does not hold either.
    let is_selected = |claim: &str| {
        let id = claim.split_once(": ").map_or("", |(id, _)| id);
        all || outcomes.iter().any(|outcome| outcome.experiment.id == id)
    };
    let gone = expected.difference(&present).filter(|claim| is_selected(claim));
    lost.extend(gone.map(|gone| format!("{gone} (no such claim)")));
    lost
}

/// Returns the file name of a figure.
fn picture(experiment: &Experiment) -> String {
    format!("{}.svg", experiment.id)
}

/// Returns the folder of a Markdown file's pictures.
fn beside(markdown: &Path) -> PathBuf {
    markdown.with_extension("")
}

fn write(
    arguments: &Arguments,
    outcomes: &[FigureOutcome<'_>],
    report: Option<&Report>,
) -> Result<(), unruffled_lab::Error> {
    let text = |path: &Path, text: &str| {
        output::write_text(path, text).map_err(|e| unruffled_lab::Error::output(path, e))
    };
    let draw = |into: &Path| -> Result<(), unruffled_lab::Error> {
        for outcome in outcomes {
            if let Some(svg) = page::figure_file(outcome) {
                text(&into.join(picture(outcome.experiment)), &svg)?;
            }
        }
        Ok(())
    };
    let announce = |what: &str, path: &Path, written: Result<(), unruffled_lab::Error>| {
        written.map(|()| crate::print_notice(&format!("{what}: {}", path.display())))
    };
    let reported = report.map_or(Ok(()), |report| report.write(&page::reproduction(outcomes)));
    let drawn =
        arguments.figures.as_deref().map_or(Ok(()), |into| announce("figures", into, draw(into)));
    let marked = arguments.markdown.as_deref().map_or(Ok(()), |path| {
        let pictures = beside(path);
        let folder = pictures.file_name().map_or("".into(), |name| name.to_string_lossy());
        let page = || text(path, &page::markdown(outcomes, &folder));
        announce("markdown", path, draw(&pictures).and_then(|()| page()))
    });
    let listed = arguments.write_check.as_deref().map_or(Ok(()), |path| {
        let mut list = String::new();
        for outcome in outcomes {
            // A claim that is known to fail in a full run holds in a quick one only by chance.
            let sound = |c: &&ClaimOutcome| {
                let known = c.known.is_some() || c.cause.is_some();
                c.holds == Holds::Yes && !known && c.other_reading.is_none()
            };
            for claim in outcome.claims.iter().filter(sound) {
                list += &name(outcome, &claim.text);
                list.push('\n');
            }
        }
        text(path, &list)
    });
    let judged = arguments
        .write_verdicts
        .as_deref()
        .map_or(Ok(()), |path| text(path, &reproduce::verdicts(outcomes)));
    // All files are written; the first error is returned.
    reported.and(drawn).and(marked).and(listed).and(judged)
}

/// Creates the folder if necessary, and checks that drawings can be written there. Neither the folder nor
/// the files of these `names` in it may replace any of `others`, or, without `force`, a file that is not a
/// drawing of the command.
fn check_folder(
    path: &Path,
    names: &[String],
    others: &[output::Called<'_>],
    force: bool,
) -> Result<(), unruffled_lab::Error> {
    free(path, others)?;
    for name in names.iter().map(|name| path.join(name)) {
        free(&name, others)?;
        if !force {
            replaceable(&name, Kind::Drawing)?;
        }
    }
    if path.metadata().is_ok_and(|there| !there.is_dir()) {
        let taken = std::io::Error::other("expected a folder, found a file");
        return Err(unruffled_lab::Error::output(path, taken));
    }
    let probed = fs::create_dir_all(path).and_then(|()| probe(&path.join(output::PROBE_NAME)));
    probed.map_err(|e| unruffled_lab::Error::output(path, e))
}

/// Progress of the runs.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        Self(output::bar(None, "{msg} [{wide_bar}] {percent} %, {eta}"))
    }
}

/// Cost per unit of the progress bar, since costs are large numbers.
const COST_UNIT: f64 = 1e6;

impl Progress for Bar {
    fn begin(&self, runs: usize, cost: f64, stored: usize) {
        self.0.set_length((cost / COST_UNIT) as u64);
        let kept = if stored > 0 { format!(", {stored} from the store") } else { String::new() };
        self.0.set_message(format!("{}{kept}", count(runs, "run")));
    }

    fn done(&self, cost: f64) {
        self.0.inc((cost / COST_UNIT) as u64);
    }
}
