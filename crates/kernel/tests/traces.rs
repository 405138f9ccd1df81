//! The headers of the congestion control, compiled for the host, against traces computed by hand.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

#[test]
fn the_congestion_control_matches_the_traces() {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    for traces in ["traces", "states", "outages", "bbr", "walk"] {
        run(&compiler, traces);
    }
}

fn run(compiler: &OsStr, traces: &str) {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(traces);
    let compiled = Command::new(compiler)
        // The headers are inline functions, and each program uses only some.
        .args(["-std=gnu11", "-Wall", "-Werror", "-Wno-unknown-pragmas"])
        .args(["-Wno-unknown-attributes", "-Wno-unused-function"])
        .args(["-I", "tests/host", &format!("tests/{traces}.c"), "-o"])
        .arg(&program)
        .output();
    let Ok(compiled) = compiled else {
        eprintln!("skipped: {} cannot be run", compiler.display());
        return;
    };
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).output().expect("it was compiled");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}
