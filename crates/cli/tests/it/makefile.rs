//! The Makefile and its scripts on machines that lack tools, in a folder with a space in its name. Nothing is
//! built: cargo is a script that prints its arguments.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

/// Programs of every machine that has make.
const BASE_TOOLS: [&str; 16] = [
    "sh", "make", "awk", "cat", "cp", "env", "find", "head", "id", "mkdir", "nice", "rm", "sed",
    "true", "uname", "dirname",
];

/// A machine with its programs and a checkout.
struct Machine(TempDir);

impl Machine {
    /// Returns a machine with only the base tools, cargo and rustc, or `None` if a base tool is missing.
    fn bare() -> Option<Self> {
        let machine = Self(tempfile::tempdir().expect("a folder"));
        for folder in [machine.bin(), machine.checkout()] {
            fs::create_dir(folder).expect("a folder");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in BASE_TOOLS {
            let files = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let Some(file) = files.into_iter().find(|file| file.is_file()) else {
                eprintln!("skipped: no {tool}");
                return None;
            };
            symlink(file, machine.bin().join(tool)).expect("a link");
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

/// Returns the output of a successful command.
fn printed(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{out}{err}");
    format!("{out}{err}")
}

#[test]
fn tests_run_where_every_other_tool_is_missing() {
    let Some(machine) = Machine::bare() else { return };
    let text = printed(&machine.make(&["test"]));
    assert!(text.contains("cargo test --workspace --locked --no-fail-fast"), "{text}");
    assert!(!text.contains("--features"), "{text}");
    assert!(
        text.contains("missing: tshark iproute2: tests that need them will be skipped"),
        "{text}"
    );
    assert!(text.contains("the package for Python is not tested"), "{text}");
}

#[test]
fn the_demo_builds_what_it_runs_or_uses_a_release_that_is_newer_than_the_sources() {
    let Some(machine) = Machine::bare() else { return };
    let source = machine.checkout().join("crates/a.rs");
    for profile in ["demo", "release"] {
        fs::create_dir_all(machine.checkout().join("target").join(profile)).expect("a folder");
    }
    fs::create_dir(source.with_file_name("")).expect("a folder");
    fs::write(&source, "").expect("is written");
    let command = |profile| machine.checkout().join("target").join(profile).join("unruffled");
    machine.program(&command("demo"), "echo \"demo $*\"");
    let compare = "compare --report unruffled-few-late.html";
    let build = "cargo build --profile demo --locked -p unruffled --no-default-features";

    let text = printed(&machine.make(&["demo"]));
    assert!(text.contains(build) && text.contains(&format!("demo {compare}")), "{text}");
    assert!(text.contains("make build && sudo make install"), "{text}");

    machine.program(&command("release"), "echo \"release $*\"");
    let text = printed(&machine.make(&["demo"]));
    assert!(!text.contains("cargo") && !text.contains("make build"), "{text}");
    assert!(text.contains(&format!("release {compare}")), "{text}");

    let later = SystemTime::now() + Duration::from_secs(60);
    fs::File::options()
        .write(true)
        .open(&source)
        .expect("opens")
        .set_modified(later)
        .expect("is set");
    let text = printed(&machine.make(&["demo"]));
    assert!(text.contains(build) && text.contains(&format!("demo {compare}")), "{text}");
}

#[test]
fn checks_are_skipped_where_their_tools_are_missing() {
    let Some(machine) = Machine::bare() else { return };
    machine.tool("cargo", "[ \"$1\" != deny ]");
    assert!(printed(&machine.make(&["deny"])).contains("missing: cargo-deny"));
    assert!(
        printed(&machine.make(&["msrv"])).contains("missing: rustup: not checked with Rust 1.")
    );
    machine.tool("rustup", "exit 1");
    let text = printed(&machine.make(&["msrv"]));
    assert!(text.contains("which rustup cannot install: not checked"), "{text}");
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
fn a_clang_without_bpf_is_not_used() {
    let Some(machine) = Machine::bare() else { return };
    for tool in ["pkg-config", "clang"] {
        machine.tool(tool, "exit 0");
    }
    // libbpf cannot be built in a folder with a space in its name.
    let unusable = printed(&machine.make(&["build"]));
    assert!(!unusable.contains("--features"), "{unusable}");
    let target = format!("CARGO_TARGET_DIR={}", machine.0.path().join("target").display());
    let linux = cfg!(target_os = "linux");
    assert_eq!(printed(&machine.make(&["build", &target])).contains("--features"), linux);
    machine.tool("clang", "exit 1");
    assert!(!printed(&machine.make(&["build", &target])).contains("--features"));
}

#[test]
fn nothing_is_removed_beside_a_folder_with_a_space() {
    let Some(machine) = Machine::bare() else { return };
    let beside = machine.0.path().join("a");
    fs::create_dir(&beside).expect("a folder");
    fs::write(beside.join("kept"), "").expect("is written");
    machine.tool("llvm-profdata", "exit 0");
    let learn = machine.checkout().join("target/pgo/learn/here/release");
    let use_profile = machine.checkout().join("target/pgo/use/here/release");
    for folder in [learn, use_profile] {
        fs::create_dir_all(&folder).expect("a folder");
        machine.program(&folder.join("unruffled"), "echo \"sack  x\"");
    }
    printed(&machine.make(&["release-pgo"]));
    assert!(machine.checkout().join("target/pgo/unruffled").exists());
    assert!(beside.join("kept").exists());
}
