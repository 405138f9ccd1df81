//! What the command shows, and the files that it writes: checked before the work.

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
use unruffled_lab::grid::Sweep;
use unruffled_lab::record::Comparison;
use unruffled_lab::text::wrapped;
use unruffled_lab::{Error, report, table};

use crate::Printed;

/// How results are given.
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
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Print CSV in place of the table: a line per run; of many paths, one per path and sender
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Results {
    /// Where the report goes, if one is wanted; `name` may hold anything.
    pub(crate) fn report(&self, name: &str) -> Option<Report> {
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let usual = || format!("unruffled-{}.html", name.chars().map(plain).collect::<String>());
        (!self.no_report).then(|| Report::at(self.report.as_deref(), usual))
    }

    /// What goes to standard output.
    pub(crate) fn text(&self, results: &dyn Showable) -> Printed {
        if self.json {
            Printed::Json(results.json())
        } else if self.csv {
            Printed::Data(results.csv())
        } else {
            Printed::People(results.table())
        }
    }

    /// Writes the report, if there is one.
    pub(crate) fn write(
        &self,
        results: &dyn Showable,
        report: Option<&Report>,
    ) -> Result<(), Error> {
        report.map_or(Ok(()), |report| report.write(&results.page()))
    }
}

/// Where a report goes.
pub(crate) struct Report {
    path: PathBuf,
    /// Nobody has named the file.
    usual: bool,
}

impl Report {
    /// The one at `path`, or by the `usual` name.
    pub(crate) fn at(path: Option<&Path>, usual: impl FnOnce() -> String) -> Self {
        match path {
            Some(path) => Self { path: path.to_owned(), usual: false },
            None => Self { path: usual().into(), usual: true },
        }
    }

    /// The file as [`check`] takes it: one that nobody has named never replaces another.
    pub(crate) fn output(&self) -> Written<'_> {
        let rule = if self.usual { Rule::Numbered } else { Rule::Ours(Kind::Report) };
        Written("the report", Some(&self.path), rule)
    }

    /// Writes `page`, and says where. By the usual name it goes to the first file that is not there, or
    /// holds it already: `a.html`, `a-2.html`, `a-3.html` …
    pub(crate) fn write(&self, page: &str) -> Result<(), Error> {
        let path = if self.usual { free_name(&self.path, page) } else { self.path.clone() };
        if !holds(&path, page) {
            write_text(&path, page).map_err(|e| Error::output(&path, e))?;
        }
        crate::tell(&format!("report: {}", path.display()));
        Ok(())
    }
}

/// The first of the names with numbers behind `path` where nothing is, or just this text.
fn free_name(path: &Path, text: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2..).map(|number| path.with_file_name(format!("{stem}-{number}.html")));
    let mut names = std::iter::once(path.to_owned()).chain(numbered);
    let free = |name: &PathBuf| name.symlink_metadata().is_err() || holds(name, text);
    names.find(free).unwrap_or_else(|| path.to_owned())
}

/// A file that is written: what it is called, where it goes, and what it may replace.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a>(
    pub(crate) &'static str,
    pub(crate) Option<&'a Path>,
    pub(crate) Rule,
);

/// What a file may replace.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    /// One of ours that holds the same kind of thing.
    Ours(Kind),
    /// None but one that holds just this.
    Nothing,
    /// None: another name is found.
    Numbered,
}

/// What results are shown as.
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

/// A progress bar up to `length`, where that is known. It is drawn only on a terminal, and moves while a
/// single run takes long.
pub(crate) fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template(&format!("{{spinner}} {template}")) {
        bar.set_style(style.progress_chars("=> ").tick_chars("|/-\\ "));
    }
    bar.enable_steady_tick(TICK);
    bar
}

/// How often a progress bar moves.
const TICK: Duration = Duration::from_millis(200);

/// The columns that `COLUMNS` says there are.
pub(crate) fn given_columns() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok()?.trim().parse().ok();
    given.filter(|columns| *columns > 0)
}

/// The columns that `COLUMNS` or standard output's terminal has, 80 where there is neither, and whether it
/// wants colour.
pub(crate) fn terminal() -> (usize, bool) {
    let size = || terminal_size::terminal_size_of(std::io::stdout());
    let width = given_columns().or_else(|| size().map(|(width, _)| usize::from(width.0)));
    // By no-color.org an empty one says nothing.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    (width.unwrap_or(80), std::io::stdout().is_terminal() && !plain)
}

/// The columns that lines have to fit into; none where standard output is a file or another program, which
/// wants whole lines, and `COLUMNS` says nothing.
pub(crate) fn columns() -> Option<usize> {
    given_columns().or_else(|| std::io::stdout().is_terminal().then(|| terminal().0))
}

/// `head` and `text`, which takes as many lines as the columns make of it: behind `head`, or below it where
/// that leaves too little room.
pub(crate) fn hanging(head: &str, text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else { return format!("{head}{text}\n") };
    let indent = head.chars().count();
    let longest = text.split(' ').map(|word| word.chars().count()).max().unwrap_or(0);
    if indent + longest.max(ROOM) > columns {
        let head = head.trim_end();
        let head = if head.is_empty() { String::new() } else { format!("{head}\n") };
        return head + wrapped(text, columns, "    ").as_str();
    }
    let lines = wrapped(text, columns, &" ".repeat(indent));
    format!("{head}{}", lines.trim_start_matches(' '))
}

/// Columns that text behind a head has at least.
const ROOM: usize = 30;

/// Whether all `files` can be written, none in place of another or of what the command reads or
/// keeps, nor, without `force`, of what it has not written: what cannot be written should be known before
/// the work, not after it.
pub(crate) fn check(kept: &[Called<'_>], files: &[Written<'_>], force: bool) -> Result<(), Error> {
    let mut earlier: Vec<Called<'_>> = Vec::new();
    for &Written(what, path, rule) in files {
        let Some(path) = path else { continue };
        if path == Path::new("-") || is_standard_output(path) {
            let taken = "standard output has the results: expected a file";
            return Err(Error::output(path, std::io::Error::other(taken)));
        }
        free(path, kept.iter().chain(&earlier))?;
        match rule {
            Rule::Ours(kind) if !force => replaceable(path, kind)?,
            Rule::Nothing if !force => empty(path)?,
            // The folder alone matters.
            Rule::Numbered if path.symlink_metadata().is_ok() => {
                probe(&path.with_file_name(PROBE)).map_err(|e| Error::output(path, e))?;
                continue;
            }
            _ => {}
        }
        probe(path).map_err(|e| Error::output(path, e))?;
        earlier.push((what, Some(path)));
    }
    Ok(())
}

/// Refuses a `path` where a file is that holds anything.
fn empty(path: &Path) -> Result<(), Error> {
    let taken = fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() > 0);
    let kind = "what would be written";
    if taken { Err(Error::Foreign { path: path.to_owned(), kind }) } else { Ok(()) }
}

/// Whether what is printed goes to the file or pipe at `path`.
fn is_standard_output(path: &Path) -> bool {
    let identity = |path: &Path| {
        let there = fs::metadata(path).ok()?;
        let holds = there.is_file() || there.file_type().is_fifo();
        holds.then(|| (there.dev(), there.ino()))
    };
    identity(path).is_some_and(|found| identity(Path::new("/dev/stdout")) == Some(found))
}

/// Makes the folder, if need be, and says whether drawings can be written there. Neither it nor the
/// files of these `names` in it are in the place of any of `others`, nor, without `force`, of what is no
/// drawing of ours.
pub(crate) fn check_folder(
    path: &Path,
    names: &[String],
    others: &[Called<'_>],
    force: bool,
) -> Result<(), Error> {
    free(path, others)?;
    for name in names.iter().map(|name| path.join(name)) {
        free(&name, others)?;
        if !force {
            replaceable(&name, Kind::Drawing)?;
        }
    }
    if path.metadata().is_ok_and(|there| !there.is_dir()) {
        let taken = std::io::Error::other("expected a folder, found a file");
        return Err(Error::output(path, taken));
    }
    let probed = fs::create_dir_all(path).and_then(|()| probe(&path.join(PROBE)));
    probed.map_err(|e| Error::output(path, e))
}

/// A file that nobody has.
const PROBE: &str = ".unruffled.part";
