//! The crate builds without I/O: its dependency tree has no async runtime and no device library.

use std::collections::BTreeSet;
use std::process::Command;

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
    // The crate, `unruffled-tcp`, `unruffled-lateness` and `unruffled-units`; etherparse and arrayvec;
    // getrandom, cfg-if and libc; hashbrown; siphasher; rand_xoshiro and rand_core; strsim; thiserror and the five
    // packages of its macro.
    assert!(packages.len() <= 20, "{} packages: {packages:?}", packages.len());
}
