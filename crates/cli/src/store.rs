//! `unruffled store`, and the location of the store.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use unruffled_lab::Error;
use unruffled_lab::store::StoreError;
use unruffled_lab::store::{MODEL, Prune, Store};
use unruffled_units::count;

use crate::number;
use crate::output::{Kind, Rule, Written};
use crate::{Printed, on_one_line, output};

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The file with the results [default: unruffled/runs.sqlite in the cache folder]
    #[arg(long, value_name = "FILE", global = true)]
    store: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Action {
    /// Show what is stored (the default)
    Show,
    /// Write all runs as CSV, a line for each flow
    Export {
        /// Where they go; - is standard output
        file: PathBuf,
        /// Replace a file that unruffled has not written
        #[arg(long)]
        force: bool,
    },
    /// Remove runs; by default those of other versions of the model
    Prune {
        /// Those that are older than this number of days
        #[arg(long, value_name = "DAYS", allow_negative_numbers = true)]
        #[arg(value_parser = number::within::<u32>(0..=u32::MAX))]
        older: Option<u32>,
        /// Those of other versions of the model
        #[arg(long, conflicts_with = "older")]
        other_versions: bool,
        /// All
        #[arg(long, conflicts_with_all = ["older", "other_versions"])]
        all: bool,
    },
}

/// Returns the file of the store that [`chosen`] opens, unless it is in memory.
pub(crate) fn place(path: Option<&Path>, none: bool) -> Option<PathBuf> {
    let path = || path.map(Path::to_owned).or_else(unruffled_lab::store::usual);
    (!none).then(path).flatten()
}

/// Opens the store at `path`, the default one, or, for `none`, one in memory.
pub(crate) fn chosen(path: Option<&Path>, none: bool) -> Result<Store, Error> {
    if none {
        return Store::in_memory();
    }
    if let Some(path) = path {
        return Store::open(path);
    }
    let (store, note) = Store::usual()?;
    if let Some(note) = note {
        crate::print_notice(&format!("unruffled: {note} (see --store)"));
    }
    Ok(store)
}

pub(crate) fn main(arguments: &Arguments) -> ExitCode {
    match execute(arguments) {
        Ok(text) => crate::print(Printed::People(text)),
        Err(error) => crate::refuse(error),
    }
}

fn execute(arguments: &Arguments) -> Result<String, Error> {
    let path = place(arguments.store.as_deref(), false).ok_or_else(|| Error::Store {
        path: PathBuf::from("--store"),
        source: StoreError::NoPlace,
    })?;
    if !path.exists() {
        return Err(Error::Store { path, source: StoreError::Missing });
    }
    match &arguments.action {
        None | Some(Action::Show) => show(&Store::look(&path)?),
        Some(Action::Export { file, force }) => export(&Store::look(&path)?, file, *force),
        Some(Action::Prune { older, all, .. }) => {
            let which = match (older, all) {
                (Some(days), _) => Prune::Older(*days),
                (None, true) => Prune::All,
                (None, false) => Prune::OtherVersions,
            };
            // Checked first, so that another file does not become a store.
            Store::look(&path)?;
            let removed = Store::open(&path)?.prune(which)?;
            let path = on_one_line(&path.display().to_string());
            Ok(format!("{path}: {} removed\n", count(removed, "run")))
        }
    }
}

fn show(store: &Store) -> Result<String, Error> {
    let holdings = store.holdings()?;
    let mut text = format!("{}\n", on_one_line(&store.path().display().to_string()));
    let mut model = None;
    for holding in &holdings {
        if model != Some(&holding.model) {
            model = Some(&holding.model);
            let this = if holding.model == MODEL { " (this program’s)" } else { "" };
            text += &format!("\nmodel {}{this}\n", on_one_line(&holding.model));
        }
        let (kilobytes, seconds) = (holding.bytes / 1000, holding.seconds);
        text += &format!(
            "  {:<12} {:>11} {kilobytes:>8} kB, took {seconds:.1} s\n",
            on_one_line(&holding.of),
            count(holding.runs, "run")
        );
    }
    let runs: u64 = holdings.iter().map(|h| h.runs).sum();
    text += &format!("\n{}\n", count(runs, "run"));
    Ok(text)
}

fn export(store: &Store, file: &Path, force: bool) -> Result<String, Error> {
    let out = file == Path::new("-");
    let file = if out { Path::new("standard output") } else { file };
    let named = |error| match error {
        Error::Output { source, .. } => Error::output(file, source),
        other => other,
    };
    if out {
        let mut out = BufWriter::new(std::io::stdout().lock());
        let written = store.csv(|line| out.write_all(line)).map_err(named);
        let written = written.and_then(|()| out.flush().map_err(|e| Error::output(file, e)));
        return match written {
            // A reader that has closed the pipe is no error.
            Err(Error::Output { source, .. }) if source.kind() == ErrorKind::BrokenPipe => {
                Ok(String::new())
            }
            written => written.map(|()| String::new()),
        };
    }
    let export = Written("the export", Some(file), Rule::Ours(Kind::Runs));
    output::check(&[("the store", Some(store.path()))], &[export], force)?;
    let mut refused = None;
    let written = output::write(file, |mut out| {
        refused = store.csv(|line| out.write_all(line)).err();
        match &refused {
            // The error discards the incomplete file.
            Some(_) => Err(ErrorKind::Other.into()),
            None => out.flush(),
        }
    });
    match refused {
        Some(error) => Err(named(error)),
        None => written.map_err(|e| Error::output(file, e)).map(|()| String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unruffled_lab::store::{Key, Run};
    use unruffled_lab::{Scenario, run};

    #[test]
    fn the_listing_has_no_control_characters() {
        let scenario = Scenario::load("rr-3", &["duration=1 s".to_owned()]).expect("exists");
        let sack = unruffled_tcp::Variant::named("sack").expect("exists");
        let run = Run {
            key: Key::of(&scenario, &sack, 1),
            of: "\u{1b}[2Jx",
            scenario: "",
            variant: "sack",
            seed: 1,
            record: &run::record(&scenario, &sack, 1, None, unruffled_lab::cancel::never())
                .expect("runs"),
            took: std::time::Duration::ZERO,
        };
        let store = Store::in_memory().expect("opens");
        store.put(&run).expect("has room");
        let shown = show(&store).expect("reads");
        assert!(shown.contains("\n   [2Jx "), "{shown:?}");
        assert!(shown.contains(" 1 run ") && shown.ends_with("\n1 run\n"), "{shown:?}");
    }
}
