//! Computes the version of the model: a hash of everything that affects the result of a run.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The sources that affect a run, relative to this crate.
const MODEL: [&str; 8] = [
    "../units/src",
    "../path/src",
    "../tcp/src",
    "../sim/src",
    "../measure/src",
    "src/assembly.rs",
    "src/run.rs",
    "../scenario/src",
];

fn main() {
    let crate_dir = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    println!("cargo::rustc-env=UNRUFFLED_MODEL={}", model(&crate_dir));
}

/// The hash of the model's sources, of the versions of the random-number crates, and of the target
/// machine.
fn model(crate_dir: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    for part in MODEL {
        let path = crate_dir.join(part);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut files = Vec::new();
        find(&path, "rs", &mut files);
        for file in files {
            let name = file.strip_prefix(crate_dir).unwrap_or(&file);
            hash.update(name.to_string_lossy().as_bytes());
            hash.update(&fs::read(&file).expect("can be read"));
        }
    }
    let lock = crate_dir.join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let lock = fs::read_to_string(lock).expect("Cargo.lock says which random numbers");
    for package in lock.split("[[package]]").filter(|package| {
        let name = package.lines().find_map(|line| line.strip_prefix("name = \""));
        name.is_some_and(|n| {
            n.starts_with("rand") || n.starts_with("libm\"") || n.starts_with("siphasher")
        })
    }) {
        hash.update(package.as_bytes());
    }
    for of in ["CARGO_CFG_TARGET_ARCH", "CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_ENV"] {
        hash.update(env::var(of).unwrap_or_default().as_bytes());
    }
    hash.finalize().to_hex()[..16].to_owned()
}

/// Finds the files below `path` with that extension, in order.
fn find(path: &Path, ending: &str, into: &mut Vec<PathBuf>) {
    if path.is_file() {
        into.push(path.to_owned());
        return;
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let mut entries: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|e| e == ending) {
            find(&entry, ending, into);
        }
    }
}
