//! What the command shows, and the files that it writes: checked before the work.

use std::fs;
use std::io::IsTerminal;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use unruffled_lab::comparison_sweep::ComparisonSweep;
pub(crate) use unruffled_lab::files::{Called, write, write_text};
use unruffled_lab::files::{free, probe};
use unruffled_lab::gallery::Gallery;
use unruffled_lab::record::Comparison;
use unruffled_lab::{Error, report, table};

/// How results are given.
#[derive(Args)]
pub(crate) struct Results {
    /// Where the HTML report goes [default: unruffled-SCENARIO.html, of a race
    /// unruffled-race-SCENARIO.html, of many paths unruffled-gallery.html]
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Write no report
    #[arg(long, conflicts_with = "report")]
    no_report: bool,
    /// Print one JSON object in place of the table
    #[arg(long)]
    json: bool,
    /// Print CSV in place of the table: a line per run; of many paths, one per path and sender
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

impl Results {
    /// Where the report goes, if one is wanted; `name` may hold anything.
    pub(crate) fn report_path(&self, name: &str) -> Option<PathBuf> {
        let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
        let usual = || format!("unruffled-{}.html", name.chars().map(plain).collect::<String>());
        (!self.no_report).then(|| self.report.clone().unwrap_or_else(|| usual().into()))
    }

    /// What goes to standard output.
    pub(crate) fn text(&self, results: &dyn Showable) -> String {
        if self.json {
            results.json()
        } else if self.csv {
            results.csv()
        } else {
            results.table()
        }
    }

    /// Writes the report to `path`, if there is one.
    pub(crate) fn write(&self, results: &dyn Showable, path: Option<&Path>) -> Result<(), Error> {
        let Some(path) = path else { return Ok(()) };
        write_text(path, &results.page()).map_err(|e| Error::output(path, e))?;
        crate::tell(&format!("report: {}", path.display()));
        Ok(())
    }
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

/// Results that know their own words.
macro_rules! showable {
    ($($results:ty, $page:path;)+) => {$(
        impl Showable for $results {
            fn json(&self) -> String {
                self.json()
            }
            fn csv(&self) -> String {
                self.csv()
            }
            fn table(&self) -> String {
                self.render()
            }
            fn page(&self) -> String {
                $page(self)
            }
        }
    )+};
}

showable! {
    ComparisonSweep, report::comparison_sweep;
    Gallery, report::gallery;
}

/// A progress bar up to `length`, where that is known. It is drawn only on a terminal.
pub(crate) fn bar(length: Option<u64>, template: &str) -> ProgressBar {
    let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}

/// The columns of standard output's terminal, 80 where it is none, and whether it wants colour.
pub(crate) fn terminal() -> (usize, bool) {
    let size = terminal_size::terminal_size_of(std::io::stdout());
    let width = size.map_or(80, |(width, _)| usize::from(width.0));
    // By no-color.org an empty one says nothing.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    (width, std::io::stdout().is_terminal() && !plain)
}

/// The columns of standard output's terminal; none where it is a file or another program, which wants
/// whole lines.
pub(crate) fn columns() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| terminal().0)
}

/// Whether all `files` can be written, none in place of another or of what the command reads or
/// keeps: what cannot be written should be known before the work, not after it.
pub(crate) fn check(kept: &[Called<'_>], files: &[Called<'_>]) -> Result<(), Error> {
    for (i, &(_, path)) in files.iter().enumerate() {
        let Some(path) = path else { continue };
        if path == Path::new("-") || is_standard_output(path) {
            let taken = "standard output has the results: expected a file";
            return Err(Error::output(path, std::io::Error::other(taken)));
        }
        free(path, kept.iter().chain(&files[..i]))?;
        probe(path).map_err(|e| Error::output(path, e))?;
    }
    Ok(())
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

/// Makes the folder, if need be, and says whether files can be written there. Neither it nor the
/// files of these `names` in it are in the place of any of `others`.
pub(crate) fn check_folder(
    path: &Path,
    names: &[String],
    others: &[Called<'_>],
) -> Result<(), Error> {
    free(path, others)?;
    names.iter().try_for_each(|name| free(&path.join(name), others))?;
    if path.metadata().is_ok_and(|there| !there.is_dir()) {
        let taken = std::io::Error::other("expected a folder, found a file");
        return Err(Error::output(path, taken));
    }
    let probed = fs::create_dir_all(path).and_then(|()| probe(&path.join(PROBE)));
    probed.map_err(|e| Error::output(path, e))
}

/// A file that nobody has.
const PROBE: &str = ".unruffled.part";
