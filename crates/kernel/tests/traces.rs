//! The congestion control's parts, compiled for the host, against traces computed by hand.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

#[test]
fn the_parts_do_what_the_traces_say() {
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    for traces in ["traces", "states"] {
        hold(&compiler, traces);
    }
}

fn hold(compiler: &OsStr, traces: &str) {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(traces);
    let compiled = Command::new(compiler)
        // The parts are inline functions, of which the traces use some.
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
    let told = Command::new(program).output().expect("it was compiled");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stdout));
}
