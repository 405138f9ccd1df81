//! The crate builds without I/O: its dependency tree has no async runtime and no device library.

use std::collections::BTreeSet;
use std::process::Command;

/// All packages that the crate may be built from, with those that they need.
const NEEDED: [&str; 21] = [
    "unruffled-stack",
    "unruffled-tcp",
    "unruffled-lateness",
    "unruffled-units",
    // Packets.
    "etherparse",
    "arrayvec",
    // Secrets.
    "getrandom",
    "cfg-if",
    "libc",
    "siphasher",
    // Connections by address.
    "hashbrown",
    // Senders that draw random numbers.
    "rand_xoshiro",
    "rand_core",
    // Powers and roots that are the same on every platform.
    "libm",
    // Names that are like a misspelt one.
    "strsim",
    // Errors.
    "thiserror",
    "thiserror-impl",
    "proc-macro2",
    "quote",
    "syn",
    "unicode-ident",
];

/// Returns the names of the packages that the crate is built from on this machine, itself included.
fn packages() -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "unruffled-stack", "--edges", "normal,build"])
        .args(["--prefix", "none", "--format", "{p}", "--locked", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("names are UTF-8");
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_stack_needs_no_runtime_and_no_device() {
    let packages = packages();
    for unwanted in ["tokio", "tun-rs", "rustix", "mio", "nix", "socket2", "unruffled-wire"] {
        assert!(!packages.contains(unwanted), "{unwanted} is among {packages:?}");
    }
    let others: Vec<_> = packages.iter().filter(|name| !NEEDED.contains(&name.as_str())).collect();
    assert!(others.is_empty(), "{others:?}: expected no packages but {NEEDED:?}");
}
