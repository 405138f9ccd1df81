//! `unruffled sweep`.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use indicatif::ProgressBar;
use unruffled_lab::cancel::never;
use unruffled_lab::grid::{Grid, Hypercube, Plan, Sweep, Watch, announcement};
use unruffled_lab::{Error, report};
use unruffled_scenario::flags::{self, Flags};

use crate::Printed;
use crate::number;
use crate::output::{self, Report, Showable, columns};

#[derive(Args)]
pub(crate) struct Arguments {
    /// A grid file: the scenario, and lists, ranges and samples of any of its keys
    grid: PathBuf,
    /// Replace any key of the scenario at every point; its beginning may be left out
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Senders to compare, instead of the file's (see `unruffled variants`)
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    variants: Vec<String>,
    /// Number of seeds, instead of the file's
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seeds: Option<String>,
    /// Simulated time, instead of the file's, such as "100 s"
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    duration: Option<String>,
    /// Write an HTML report: where each sender wins, by the values of each key
    #[arg(long, value_name = "FILE", conflicts_with = "dask")]
    report: Option<PathBuf>,
    /// Replace a file that unruffled has not written
    #[arg(long, requires = "report")]
    force: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Print one CSV line per run instead of the table
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Distribute the runs over the workers of this Dask scheduler, instead of this machine's cores;
    /// needs the Python package, with Dask
    #[arg(long, value_name = "ADDRESS", value_parser = NonEmptyStringValueParser::new())]
    dask: Option<String>,
    /// The file that keeps results [default: unruffled/runs.sqlite in the cache folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Neither store results nor use stored ones
    #[arg(long, conflicts_with = "store")]
    no_store: bool,
    /// Threads to run on [default: all cores]; the result is the same on any number
    #[arg(long, value_name = "N", value_parser = number::within::<u16>(1..=1024))]
    #[arg(allow_negative_numbers = true)]
    #[arg(conflicts_with = "dask")]
    jobs: Option<u16>,
}

/// Python script that draws a Latin hypercube with SciPy. The Python package uses the same.
const LATIN_SCRIPT: &str = include_str!("sweep/latin.py");

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let (overrides, flags) = match overrides(arguments) {
        Ok(given) => given,
        Err(error) => return crate::refuse(error),
    };
    let done = match &arguments.dask {
        Some(address) => by_dask(arguments, address, &overrides),
        None => match execute(arguments, &overrides, &flags) {
            Ok((text, report)) => {
                let printed = crate::print(text);
                // Results are shown even if the report could not be written.
                return report.map_or_else(crate::refuse, |()| printed);
            }
            Err(error) => Err(error.by_flag(&flags).into()),
        },
    };
    done.unwrap_or_else(crate::refuse)
}

/// Returns the overrides of all flags, and the flag of each key.
fn overrides(arguments: &Arguments) -> Result<(Vec<String>, Flags), Error> {
    let mut overrides = arguments.set.clone();
    if !arguments.variants.is_empty() {
        overrides.push(format!("variants={}", arguments.variants.join(",")));
    }
    overrides.extend(arguments.seeds.as_ref().map(|n| format!("seeds={n}")));
    overrides.extend(arguments.duration.as_ref().map(|t| format!("duration={t}")));
    let flags = [
        ("variants", "--variants", !arguments.variants.is_empty()),
        ("seeds", "--seeds", arguments.seeds.is_some()),
        ("duration", "--duration", arguments.duration.is_some()),
    ];
    Ok((overrides, flags::given(&arguments.set, flags)?))
}

/// Returns the text to print, and the result of writing the report.
fn execute(
    arguments: &Arguments,
    overrides: &[String],
    flags: &Flags,
) -> Result<(Printed, Result<(), Error>), Error> {
    let grid = Grid::load(&arguments.grid, None, overrides)?;
    let report = arguments.report.as_deref().map(|path| Report::at(Some(path), String::new));
    let files: Vec<_> = report.iter().map(Report::output).collect();
    let store = crate::store::place(arguments.store.as_deref(), arguments.no_store);
    let kept = [("the grid", Some(arguments.grid.as_path())), ("the store", store.as_deref())];
    output::check(&kept, &files, arguments.force)?;
    let replaced = grid.replaced();
    let progress = output::bar(None, "{msg}");
    progress.set_message("preparing");
    let hypercube =
        grid.hypercube().map(|hypercube| draw(&arguments.grid, hypercube)).transpose()?;
    let pool = crate::pool(arguments.jobs)?;
    let plan = pool.install(|| Plan::new(grid, hypercube.as_deref(), Vec::new(), never()))?;
    let open = || crate::store::chosen(arguments.store.as_deref(), false);
    let store = (!arguments.no_store).then(open).transpose()?;
    let sweep = Sweep::new(plan, store)?;
    let seconds = sweep.estimate(never())?;
    progress.finish_and_clear();
    let file = arguments.grid.display();
    for (key, own, new) in replaced {
        let by = flags.iter().find(|(of, _)| *of == key).map_or("--set", |(_, flag)| flag);
        crate::print_notice(&format!("{file}: {key}: {by} {new} in place of {own}"));
    }
    let threads = pool.current_num_threads();
    crate::print_notice(&announcement(&sweep, seconds, threads, "core"));
    let left = sweep.missing().len() as u64;
    let bar = Bar(output::bar(Some(left), "{msg} [{wide_bar}] {pos}/{len} runs, {eta}"));
    bar.0.set_message(sweep.plan().name().to_owned());
    let ran = pool.install(|| sweep.run(never(), &bar));
    bar.0.finish_and_clear();
    ran?;
    let reported = report.map_or(Ok(()), |report| report.write(&sweep.page()));
    let text = if arguments.json {
        Printed::Json(sweep.json())
    } else if arguments.csv {
        Printed::Data(sweep.csv())
    } else {
        Printed::People(sweep.table())
    };
    Ok((text, reported))
}

struct Bar(ProgressBar);

impl Watch for Bar {
    fn done(&self, runs: usize) {
        self.0.inc(runs as u64);
    }
}

/// Returns the command of the Python interpreter with SciPy and Dask.
fn python() -> Command {
    let named = std::env::var_os("UNRUFFLED_PYTHON").filter(|name| !name.is_empty());
    Command::new(named.unwrap_or_else(|| "python3".into()))
}

/// Draws the coordinates of a Latin hypercube, point by point.
fn draw(file: &Path, hypercube: Hypercube) -> Result<Vec<f64>, Error> {
    let refused = |message: String| Error::Latin { file: file.to_owned(), message };
    let Hypercube { points, dimensions, seed } = hypercube;
    let numbers = [points.to_string(), dimensions.to_string(), seed.to_string()];
    let drawn = python().args(["-c", LATIN_SCRIPT]).args(numbers).stdin(Stdio::null()).output();
    let absent = |reason| {
        let expected = "expected python3 with scipy, or UNRUFFLED_PYTHON that names one";
        refused(format!("Python cannot be run ({reason}): {expected}"))
    };
    let drawn = drawn.map_err(absent)?;
    if !drawn.status.success() {
        let message = String::from_utf8_lossy(&drawn.stderr);
        let last = message.lines().last().unwrap_or("it has failed").to_owned();
        return Err(refused(last));
    }
    let text = String::from_utf8_lossy(&drawn.stdout);
    let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    numbers.map_err(|reason| refused(reason.to_string()))
}

/// Runs the sweep by the Python package, which uses Dask.
fn by_dask(
    arguments: &Arguments,
    address: &str,
    overrides: &[String],
) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut command = python();
    command.args(["-m", "unruffled", "sweep"]).arg(&arguments.grid).args(["--dask", address]);
    for set in overrides {
        command.args(["--set", set]);
    }
    for (flag, given) in
        [("--json", arguments.json), ("--csv", arguments.csv), ("--no-store", arguments.no_store)]
    {
        if given {
            command.arg(flag);
        }
    }
    if let Some(store) = &arguments.store {
        command.arg("--store").arg(store);
    }
    let expected = "expected Python with the package unruffled[dask] (see docs/guide/python.md)";
    let there =
        python().args(["-c", "import unruffled, distributed"]).stdin(Stdio::null()).output();
    match there {
        Ok(output) if output.status.success() => {}
        _ => return Err(format!("--dask: {expected}; UNRUFFLED_PYTHON names another one").into()),
    }
    // Progress and errors go to this command's standard error.
    let ended = command.stderr(Stdio::inherit()).output();
    let ended = ended.map_err(|reason| format!("--dask: {reason}: {expected}"))?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let printed = crate::print(match (arguments.json, arguments.csv) {
        (true, _) => Printed::Json(text),
        (_, true) => Printed::Data(text),
        _ => Printed::People(text),
    });
    let failed = ended.status.code().filter(|_| !ended.status.success());
    let failed = failed.map(|code| u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from));
    Ok(if ended.status.success() { printed } else { failed.unwrap_or(ExitCode::FAILURE) })
}

impl Showable for Sweep {
    fn json(&self) -> String {
        self.json()
    }

    fn csv(&self) -> String {
        self.csv()
    }

    fn table(&self) -> String {
        self.render_within(columns())
    }

    fn page(&self) -> String {
        report::sweep(self)
    }
}
