//! The complete files in the documentation are valid.

use std::path::{Path, PathBuf};

use unruffled_lab::cancel::never;
use unruffled_lab::grid::{Grid, Plan as GridPlan};
use unruffled_papers::experiment::Experiment;
use unruffled_papers::reproduce::Plan;
use unruffled_scenario::Scenario;

/// Returns the documents below `folder`, in the order of their paths.
fn documents(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().expect("the documents");
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.expect("a file").path()) {
        if path.is_dir() {
            found.extend(documents(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns the blocks of TOML in the documents, each with its place.
fn blocks() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for path in documents(&root.join("docs")) {
        let text = std::fs::read_to_string(&path).expect("is text");
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        let mut lines = text.lines().enumerate();
        while let Some((at, _)) = lines.by_ref().find(|(_, line)| *line == "```toml") {
            let block = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```");
            let block: Vec<&str> = block.collect();
            found.push((format!("{name}:{}", at + 1), block.join("\n") + "\n"));
        }
    }
    found
}

/// Plans the block, if it is a complete file, and returns its kind.
fn plan(place: &str, text: &str) -> Option<&'static str> {
    let table: toml::Table = toml::from_str(text).unwrap_or_else(|e| panic!("{place}: {e}"));
    if table.contains_key("id") {
        for quick in [false, true] {
            let read = Experiment::parse(place, text, quick);
            let experiment = read.unwrap_or_else(|e| panic!("{place}: {e}"));
            let experiments = [experiment];
            let plan = Plan::new(&experiments).unwrap_or_else(|e| panic!("{place}: {e}"));
            assert!(plan.runs() > 0, "{place}");
        }
        return Some("experiment");
    }
    if table.contains_key("grid") {
        let grid = Grid::parse(place, text, None, &[]).unwrap_or_else(|e| panic!("{place}: {e}"));
        let drawn = grid.hypercube().map(|h| vec![0.5; h.points * h.dimensions]);
        let plan = GridPlan::new(grid, drawn.as_deref(), Vec::new(), never());
        assert!(plan.unwrap_or_else(|e| panic!("{place}: {e}")).runs() > 0, "{place}");
        return Some("grid");
    }
    table.contains_key("duration").then(|| {
        let scenario = Scenario::parse(place, text, &[]).unwrap_or_else(|e| panic!("{place}: {e}"));
        scenario.senders(&scenario.variants, place).unwrap_or_else(|e| panic!("{place}: {e}"));
        "scenario"
    })
}

#[test]
fn each_whole_file_in_the_documentation_can_be_run() {
    let blocks = blocks();
    let kinds: Vec<_> = blocks.iter().filter_map(|(place, text)| plan(place, text)).collect();
    for (kind, least) in [("experiment", 1), ("scenario", 2), ("grid", 1)] {
        let found = kinds.iter().filter(|found| **found == kind).count();
        assert!(found >= least, "{found} of kind {kind} in the documents");
    }
}
