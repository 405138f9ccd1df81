//! Results on standard output and in files. Files are checked before the work starts.

use std::fs;
use std::io::IsTerminal;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use unruffled_lab::comparison_sweep::ComparisonSweep;
pub(crate) use unruffled_lab::files::{Called, Kind, write, write_text};
use unruffled_lab::files::{free, holds, probe, replaceable};
use unruffled_lab::gallery::Gallery;
use unruffled_lab::record::Comparison;
use unruffled_lab::text::wrapped;
use unruffled_lab::{Error, report, table};

use crate::Printed;

/// Flags for the form of results.
#[derive(Args)]
pub(crate) struct Results {
    /// Where the HTML report goes [default: unruffled-SCENARIO.html, of a race
    /// unruffled-race-SCENARIO.html, of many paths unruffled-gallery.html; with a number where another
    /// run's is]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    no_report: bool,
    /// Replace files that unruffled has not written
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of the table
    #[arg(long)]
    json: bool,
    /// Print CSV instead of the table: a line per run; of many paths, one per path and sender
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Results {
    /// Returns the report's file unless `--no-report` is given. `name` may contain any characters.
    pub(crate) fn report(&self, name: &str) -> Option<Report> {
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let default = || format!("unruffled-{}.html", name.chars().map(plain).collect::<String>());
        (!self.no_report).then(|| Report::at(self.report.as_deref(), default))
    }

    /// Returns the text for standard output.
    pub(crate) fn text(&self, results: &dyn Showable) -> Printed {
        if self.json {
            Printed::Json(results.json())
        } else if self.csv {
            Printed::Data(results.csv())
        } else {
            Printed::People(results.table())
        }
    }

    /// Writes the report, if any.
    pub(crate) fn write(
        &self,
        results: &dyn Showable,
        report: Option<&Report>,
    ) -> Result<(), Error> {
        report.map_or(Ok(()), |report| report.write(&results.page()))
    }
}

/// File of a report.
pub(crate) struct Report {
    path: PathBuf,
    /// Whether the name is the default, and no flag names the file.
    is_default: bool,
}

impl Report {
    /// Returns the report at `path`, or at the `default` name.
    pub(crate) fn at(path: Option<&Path>, default: impl FnOnce() -> String) -> Self {
        match path {
            Some(path) => Self { path: path.to_owned(), is_default: false },
            None => Self { path: default().into(), is_default: true },
        }
    }

    /// Returns the file for [`check`]. A report with a default name never replaces another file.
    pub(crate) fn output(&self) -> Written<'_> {
        let rule = if self.is_default { Rule::Numbered } else { Rule::Ours(Kind::Report) };
        Written("the report", Some(&self.path), rule)
    }

    /// Writes `page` and prints its path. With the default name, the page goes to the first of `a.html`,
    /// `a-2.html`, `a-3.html` … that does not exist or has the same content.
    pub(crate) fn write(&self, page: &str) -> Result<(), Error> {
        let path = if self.is_default { free_name(&self.path, page) } else { self.path.clone() };
        if !holds(&path, page) {
            write_text(&path, page).map_err(|e| Error::output(&path, e))?;
        }
        crate::print_notice(&format!("report: {}", path.display()));
        Ok(())
    }
}

/// Returns the first of `path` and its numbered names that does not exist or has just this text.
fn free_name(path: &Path, text: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2..).map(|number| path.with_file_name(format!("{stem}-{number}.html")));
    let mut names = std::iter::once(path.to_owned()).chain(numbered);
    let free = |name: &PathBuf| name.symlink_metadata().is_err() || holds(name, text);
    names.find(free).unwrap_or_else(|| path.to_owned())
}

/// A file to write: its name in errors, its path, and what it may replace.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a>(
    pub(crate) &'static str,
    pub(crate) Option<&'a Path>,
    pub(crate) Rule,
);

/// Rule for the files that an output may replace.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// Files that the command wrote, of the same kind.
    Ours(Kind),
    /// None, except empty files.
    Nothing,
    /// None. A numbered name is used if the file exists.
    Numbered,
}

/// Results in all forms of output.
pub(crate) trait Showable {
    fn json(&self) -> String;
    fn csv(&self) -> String;
    fn table(&self) -> String;
    fn page(&self) -> String;
}

impl Showable for Comparison {
    fn json(&self) -> String {
        table::json(self)
    }

    fn csv(&self) -> String {
        table::csv(self)
    }

    fn table(&self) -> String {
        let (width, colour) = terminal();
        table::render(self, width, colour)
    }

    fn page(&self) -> String {
        report::html(self)
    }
}

impl Showable for ComparisonSweep {
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
        report::comparison_sweep(self)
    }
}

impl Showable for Gallery {
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
        report::gallery(self)
    }
}

/// Returns a progress bar up to `length`, if that is known. It is drawn only on a terminal, and its spinner
/// moves during a long run.
pub(crate) fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template(&format!("{{spinner}} {template}")) {
        bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
    }
    bar.enable_steady_tick(SPINNER_INTERVAL);
    bar
}

/// Interval at which the spinner of a progress bar moves.
const SPINNER_INTERVAL: Duration = Duration::from_millis(200);

/// Returns the columns in the variable `COLUMNS`, if it is set.
pub(crate) fn given_columns() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok()?.trim().parse().ok();
    given.filter(|columns| *columns > 0)
}

/// Returns the columns of `COLUMNS` or of standard output's terminal, or 80, and whether to use colour.
pub(crate) fn terminal() -> (usize, bool) {
    let size = || terminal_size::terminal_size_of(std::io::stdout());
    let width = given_columns().or_else(|| size().map(|(width, _)| usize::from(width.0)));
    // By no-color.org an empty value has no effect.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    (width.unwrap_or(80), std::io::stdout().is_terminal() && !plain)
}

/// Returns the columns to which lines are wrapped. `None` if `COLUMNS` is not set and standard output is a
/// file or a pipe, where lines stay whole.
pub(crate) fn columns() -> Option<usize> {
    given_columns().or_else(|| std::io::stdout().is_terminal().then(|| terminal().0))
}

/// Returns `head` and `text` wrapped to the columns. The text is after `head`, or below it if the room after
/// it is too small.
pub(crate) fn hanging(head: &str, text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return format!("{head}{text}\n") };
    let indent = head.chars().count();
    let longest = text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    if indent + longest.max(MIN_TEXT_COLUMNS) > columns {
        let head = head.trim_end();
        let head = if head.is_empty() { String::new() } else { format!("{head}\n") };
        return head + wrapped(text, columns, "    ").as_str();
    }
    let lines = wrapped(text, columns, &" ".repeat(indent));
    format!("{head}{}", lines.trim_start_matches(' '))
}

/// Minimum columns for text after a head.
const MIN_TEXT_COLUMNS: usize = 30;

/// Checks before the work that all `files` can be written. None may replace another, or a file that the
/// command reads or keeps (`kept`), or, without `force`, a file that the command did not write.
pub(crate) fn check(kept: &[Called<'_>], files: &[Written<'_>], force: bool) -> Result<(), Error> {
    let mut earlier: Vec<Called<'_>> = Vec::new();
    for &Written(what, path, rule) in files {
        let Some(path) = path else { continue };
        if path == Path::new("-") || is_standard_output(path) {
            let reason = "standard output has the results: expected a file";
            return Err(Error::output(path, std::io::Error::other(reason)));
        }
        free(path, kept.iter().chain(&earlier))?;
        match rule {
            Rule::Ours(kind) if !force => replaceable(path, kind)?,
            Rule::Nothing if !force => empty(path)?,
            // The file will have another name, so only the folder is checked.
            Rule::Numbered if path.symlink_metadata().is_ok() => {
                probe(&path.with_file_name(PROBE_NAME)).map_err(|e| Error::output(path, e))?;
                continue;
            }
            _ => {}
        }
        probe(path).map_err(|e| Error::output(path, e))?;
        earlier.push((what, Some(path)));
    }
    Ok(())
}

/// Rejects a `path` with a file that is not empty.
fn empty(path: &Path) -> Result<(), Error> {
    let taken = fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() > 0);
    let kind = "what would be written";
    if taken { Err(Error::Foreign { path: path.to_owned(), kind }) } else { Ok(()) }
}

/// Returns whether `path` is the file or pipe that standard output goes to.
fn is_standard_output(path: &Path) -> bool {
    let identity = |path: &Path| {
        let there = fs::metadata(path).ok()?;
        let holds = there.is_file() || there.file_type().is_fifo();
        holds.then(|| (there.dev(), there.ino()))
    };
    identity(path).is_some_and(|found| identity(Path::new("/dev/stdout")) == Some(found))
}

/// Name of a file that is created to test whether a folder is writable.
pub(crate) const PROBE_NAME: &str = ".unruffled.part";
