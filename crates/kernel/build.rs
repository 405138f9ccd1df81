//! Compiles the BPF programs, if the feature `bpf` is on and clang is there.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The programs, each an object of its own.
const PROGRAMS: [&str; 6] =
    ["unruffled", "status", "cgroup", "timestamps", "listeners", "namespace"];

fn main() {
    println!("cargo:rerun-if-changed=bpf");
    println!("cargo:rerun-if-env-changed=CLANG");
    println!("cargo:rustc-check-cfg=cfg(bpf)");
    if env::var_os("CARGO_FEATURE_BPF").is_none() {
        return;
    }
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    if Command::new(&clang).arg("--version").output().is_err() {
        let clang = clang.to_string_lossy();
        println!("cargo:warning={clang} cannot be run: this build has no `unruffled attach`");
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    // libbpf-sys tells where it has put libbpf's headers.
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys says so");
    for program in PROGRAMS {
        let object = out.join(format!("{program}.bpf.o"));
        let status = Command::new(&clang)
            // Version 3 of the instruction set is in every kernel from 5.1 on.
            .args(["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3", "-I", &headers])
            .arg("-c")
            .arg(format!("bpf/{program}.bpf.c"))
            .arg("-o")
            .arg(object)
            .status();
        assert!(status.is_ok_and(|s| s.success()), "bpf/{program}.bpf.c: clang refuses it");
    }
    println!("cargo:rustc-cfg=bpf");
}
