//! `unruffled book`: the generated pages of the documentation, for those who build the site. The Reference is
//! written from the definitions of the command line and of the scenario's keys, the Papers from runs.

mod commands;
mod exit;
mod papers;
mod scenario;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

#[derive(Args)]
pub(crate) struct Arguments {
    /// The folder of the book's pages; reference/ and papers/ are made in it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Write only this part
    #[arg(long, value_name = "PART")]
    only: Option<Part>,
    /// The file that keeps the papers' results [default: unruffled/runs.sqlite in the cache folder]
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Reference,
    Papers,
}

/// A page: its path in the folder, and its text.
type Page = (String, String);

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    let is_wanted = |part: Part| arguments.only.is_none_or(|only| only == part);
    let mut pages = Vec::new();
    if is_wanted(Part::Reference) {
        pages.extend(reference());
    }
    if is_wanted(Part::Papers) {
        match papers::pages(arguments.store.as_deref()) {
            Ok(papers) => pages.extend(papers),
            Err(error) => return crate::refuse(format!("book: {error}")),
        }
    }
    for (name, text) in pages {
        let path = arguments.folder.join(name);
        if let Err(error) = write(&path, &text) {
            return crate::refuse(format!("book: {}: {error}", path.display()));
        }
    }
    ExitCode::SUCCESS
}

/// Returns the pages of the Reference.
fn reference() -> Vec<Page> {
    let mut pages = commands::pages();
    pages.push(("reference/exit-status.md".to_owned(), exit::page()));
    pages.push(("reference/scenario.md".to_owned(), scenario::page()));
    pages
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
    fs::write(path, text)
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('\n', " ")
}
