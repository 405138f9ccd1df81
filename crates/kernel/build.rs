//! Compiles the BPF programs if the feature `bpf` is enabled and clang is installed.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The programs; each becomes an object file.
const PROGRAMS: [&str; 8] =
    ["unruffled", "status", "cgroup", "timestamps", "listeners", "namespace", "events", "existing"];

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
    // libbpf-sys passes the folder of libbpf's headers.
    let headers = env::var("DEP_BPF_INCLUDE").expect("libbpf-sys sets it");
    for program in PROGRAMS {
        let object = out.join(format!("{program}.bpf.o"));
        let status = Command::new(&clang)
            // Every kernel since 5.1 supports version 3 of the instruction set.
            .args(["-O2", "-g", "-Wall", "-Werror", "-target", "bpf", "-mcpu=v3", "-I", &headers])
            .arg("-c")
            .arg(format!("bpf/{program}.bpf.c"))
            .arg("-o")
            .arg(object)
            .status();
        assert!(status.is_ok_and(|s| s.success()), "bpf/{program}.bpf.c: clang rejects it");
    }
    println!("cargo:rustc-cfg=bpf");
}
