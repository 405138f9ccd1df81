//! Finds the experiments that ship with the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The papers in their order of presentation.
const PAPERS: [&str; 5] = ["rr-tcp", "avg-dev", "tcp-pr", "tcp-dcr", "wb-rto"];

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("experiments.rs"), experiments(&crate_dir)).expect("can be written");
}

/// Returns what a folder holds, in any order.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("can be read");
    entries.map(|entry| entry.expect("can be read").path()).collect()
}

/// Generates the table of the experiments: id and text.
fn experiments(crate_dir: &Path) -> String {
    let folder = crate_dir.join("experiments");
    println!("cargo::rerun-if-changed={}", folder.display());
    let papers = entries(&folder).into_iter().filter(|path| path.is_dir());
    let files = papers.flat_map(|paper| entries(&paper));
    let mut ids: Vec<(usize, String, PathBuf)> = files
        .filter(|file| file.extension().is_some_and(|ending| ending == "toml"))
        .map(|file| {
            let id = file.file_stem().expect("has a name").to_string_lossy().into_owned();
            let paper = file.parent().and_then(Path::file_name).unwrap_or_default();
            let paper = PAPERS.iter().position(|p| paper == *p).unwrap_or(PAPERS.len());
            (paper, id, file)
        })
        .collect();
    // rr-3 before rr-10, and both before rr-t3.
    let natural = |id: &str| {
        let (_, rest) = id.split_once('-').unwrap_or(("", id));
        let number = rest.chars().take_while(char::is_ascii_digit).collect::<String>();
        (number.parse().unwrap_or(u64::MAX), rest.to_owned())
    };
    ids.sort_by_key(|(paper, id, _)| (*paper, natural(id)));
    let mut table = "/// The experiments that ship with the program: id and TOML.\n\
                     pub const BUILTIN: &[(&str, &str)] = &[\n"
        .to_owned();
    for (_, id, file) in &ids {
        writeln!(table, "    ({id:?}, include_str!({file:?})),").expect("memory takes it");
    }
    table + "];\n"
}
