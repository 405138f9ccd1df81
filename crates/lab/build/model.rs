//! The version of the model: a hash of everything that affects the result of a run.

#[path = "files.rs"]
mod files;
#[path = "sources.rs"]
mod sources;

use std::path::Path;
use std::{env, fs};

/// The hash of the model's sources, of the versions of the random-number crates, and of the target
/// machine.
///
/// The archive of this crate has none of the others and no lock file. Its version stands for them, because the
/// crates of a release name each other by their exact version.
pub(crate) fn model(crate_dir: &Path) -> String {
    let mut hash = blake3::Hasher::new();
    let in_workspace = sources::MODEL.iter().all(|part| crate_dir.join(part).exists());
    for part in sources::MODEL {
        let path = crate_dir.join(part);
        println!("cargo::rerun-if-changed={}", path.display());
        let mut files = Vec::new();
        files::find(&path, "rs", &mut files);
        for file in files {
            let name = file.strip_prefix(crate_dir).unwrap_or(&file);
            hash.update(name.to_string_lossy().as_bytes());
            hash.update(&fs::read(&file).expect("can be read"));
        }
    }
    if in_workspace {
        hash_random_numbers(&crate_dir.join("../../Cargo.lock"), &mut hash);
    } else {
        hash.update(env::var("CARGO_PKG_VERSION").unwrap_or_default().as_bytes());
    }
    for of in ["CARGO_CFG_TARGET_ARCH", "CARGO_CFG_TARGET_OS", "CARGO_CFG_TARGET_ENV"] {
        hash.update(env::var(of).unwrap_or_default().as_bytes());
    }
    hash.finalize().to_hex()[..16].to_owned()
}

/// Adds the versions of the crates on which random numbers and the functions of their distributions depend.
fn hash_random_numbers(lock: &Path, hash: &mut blake3::Hasher) {
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
}
