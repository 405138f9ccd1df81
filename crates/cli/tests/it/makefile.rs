//! The Makefile on machines that lack tools, in a folder whose name has a space. Nothing is built: cargo
//! is a script that tells what it was asked for.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// What every machine has that has make.
const USUAL: [&str; 16] = [
    "sh", "make", "awk", "cat", "cp", "env", "find", "head", "id", "mkdir", "nice", "rm", "sed",
    "true", "uname", "dirname",
];

/// A machine: its programs, and a checkout.
struct Machine(TempDir);

impl Machine {
    /// One with nothing but the usual, cargo and rustc; none where make itself is missing.
    fn bare() -> Option<Self> {
        let machine = Self(tempfile::tempdir().expect("a folder"));
        for folder in [machine.bin(), machine.checkout()] {
            fs::create_dir(folder).expect("a folder");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in USUAL {
            let there = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let Some(there) = there.into_iter().find(|file| file.is_file()) else {
                eprintln!("skipped: no {tool}");
                return None;
            };
            symlink(there, machine.bin().join(tool)).expect("a link");
        }
        machine.tool("cargo", "echo \"cargo $*\"");
        machine.tool("rustc", "case $1 in -vV) echo host: here;; *) dirname \"$0\";; esac");
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for file in ["Makefile", "Cargo.toml", "pyproject.toml"] {
            fs::copy(tree.join(file), machine.checkout().join(file)).expect("is copied");
        }
        fs::create_dir(machine.checkout().join("scripts")).expect("a folder");
        for script in fs::read_dir(tree.join("scripts")).expect("can be read") {
            let script = script.expect("can be read").path();
            let name = script.file_name().expect("has a name");
            fs::copy(&script, machine.checkout().join("scripts").join(name)).expect("is copied");
        }
        Some(machine)
    }

    fn bin(&self) -> PathBuf {
        self.0.path().join("bin")
    }

    fn checkout(&self) -> PathBuf {
        self.0.path().join("a b")
    }

    fn tool(&self, name: &str, script: &str) {
        self.program(&self.bin().join(name), script);
    }

    fn program(&self, file: &Path, script: &str) {
        fs::write(file, format!("#!/bin/sh\n{script}\n")).expect("is written");
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("is ours");
    }

    fn make(&self, arguments: &[&str]) -> Output {
        let mut make = Command::new(self.bin().join("make"));
        make.args(arguments).current_dir(self.checkout());
        make.env_clear().env("PATH", self.bin()).output().expect("make runs")
    }
}

/// All that was said, if it went well.
fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{out}{err}");
    format!("{out}{err}")
}

#[test]
fn tests_run_where_every_other_tool_is_missing() {
    let Some(machine) = Machine::bare() else { return };
    let said = said(&machine.make(&["test"]));
    assert!(said.contains("cargo test --workspace --locked --no-fail-fast"), "{said}");
    assert!(!said.contains("--features"), "{said}");
    assert!(
        said.contains("missing: tshark iproute2: tests that need them will be skipped"),
        "{said}"
    );
    assert!(said.contains("the package for Python is not tested"), "{said}");
}

#[test]
fn checks_are_skipped_where_their_tools_are_missing() {
    let Some(machine) = Machine::bare() else { return };
    machine.tool("cargo", "[ \"$1\" != deny ]");
    assert!(said(&machine.make(&["deny"])).contains("missing: cargo-deny"));
    assert!(said(&machine.make(&["msrv"])).contains("missing: rustup: not checked with Rust 1."));
    machine.tool("rustup", "exit 1");
    let said = said(&machine.make(&["msrv"]));
    assert!(said.contains("which rustup cannot install: not checked"), "{said}");
}

#[test]
fn a_check_that_fails_fails_make() {
    let Some(machine) = Machine::bare() else { return };
    machine.tool("cargo", "[ \"$*\" = \"deny --version\" ]");
    assert!(!machine.make(&["deny"]).status.success());
    machine.tool("rustup", "case \"$*\" in *check*) exit 1;; esac");
    assert!(!machine.make(&["msrv"]).status.success());
}

#[test]
fn a_clang_that_knows_no_bpf_is_none() {
    let Some(machine) = Machine::bare() else { return };
    for tool in ["pkg-config", "clang"] {
        machine.tool(tool, "exit 0");
    }
    // The folder's own name is in the way of libbpf.
    let in_the_way = said(&machine.make(&["build"]));
    assert!(!in_the_way.contains("--features"), "{in_the_way}");
    let target = format!("CARGO_TARGET_DIR={}", machine.0.path().join("target").display());
    let linux = cfg!(target_os = "linux");
    assert_eq!(said(&machine.make(&["build", &target])).contains("--features"), linux);
    machine.tool("clang", "exit 1");
    assert!(!said(&machine.make(&["build", &target])).contains("--features"));
}

#[test]
fn nothing_is_removed_beside_a_folder_with_a_space() {
    let Some(machine) = Machine::bare() else { return };
    let beside = machine.0.path().join("a");
    fs::create_dir(&beside).expect("a folder");
    fs::write(beside.join("kept"), "").expect("is written");
    machine.tool("llvm-profdata", "exit 0");
    let learnt = machine.checkout().join("target/pgo/learn/here/release");
    let used = machine.checkout().join("target/pgo/use/here/release");
    for folder in [learnt, used] {
        fs::create_dir_all(&folder).expect("a folder");
        machine.program(&folder.join("unruffled"), "echo \"sack  x\"");
    }
    said(&machine.make(&["release-pgo"]));
    assert!(machine.checkout().join("target/pgo/unruffled").exists());
    assert!(beside.join("kept").exists());
}
