//! Tests of `attach`, `detach`, `run` and `status`. Each command runs in its own network, mount and PID
//! namespace, so the machine's defaults, /run and pins do not change. Only the registration of the
//! congestion control is visible outside. Without the required privileges, tests print that they are skipped.
#![cfg(target_os = "linux")]

#[cfg(feature = "bpf")]
#[path = "../real/lack.rs"]
mod lack;

use std::process::{Command, Output};

const UNRUFFLED: &str = env!("CARGO_BIN_EXE_unruffled");

/// Runs a script in namespaces of its own. `$U` is the command.
fn script(text: &str) -> Output {
    let folder = std::path::Path::new(UNRUFFLED).parent().expect("a program is in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    // With a PID namespace, since pins that are not those of process 1 are refused.
    let setting = "mount -t tmpfs none /run && mount -t bpf none /sys/fs/bpf && ip link set dev lo up || exit 99";
    Command::new("unshare")
        .args(["--net", "--mount", "--pid", "--fork", "--mount-proc"])
        .args(["sh", "-c", &format!("{setting}\n{text}")])
        .env("U", "unruffled")
        .env("PATH", format!("{}:{path}", folder.display()))
        .output()
        .expect("unshare is in util-linux")
}

fn text(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    format!("{out}{err}")
}

#[cfg(not(feature = "bpf"))]
#[test]
fn a_build_without_programs_names_what_it_lacks() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: the check for root comes first");
        return;
    }
    let output = script("$U detach; echo $?; exec $U attach");
    if output.status.code() == Some(99) {
        eprintln!("skipped: no namespaces");
        return;
    }
    // Nothing is attached, so `detach` needs no programs.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "nothing is attached\n0\n", "{output:?}");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{printed}");
    assert!(
        printed.starts_with("unruffled: attach: ") && printed.lines().count() == 1,
        "{printed}"
    );
}

#[test]
fn a_short_interval_is_refused() {
    for interval in ["0", "1ms", "99 ms", "2 h", "61 min", "soon", ""] {
        let status = Command::new(UNRUFFLED).args(["status", "--interval", interval]).output();
        let output = status.expect("it was built");
        let printed = text(&output);
        assert_eq!((output.status.code(), printed.lines().count()), (Some(2), 1), "{printed}");
        assert!(printed.contains("--interval") && printed.contains("expected"), "{printed}");
    }
}

#[test]
fn a_wrong_growth_is_refused() {
    for command in ["attach", "run"] {
        for growth in ["bbr2", "CUBIC", "unruffled", "cubic,bbr", ""] {
            let arguments = [command, "--growth", growth, "--", "true"];
            let given = if command == "run" { &arguments[..] } else { &arguments[..3] };
            let output = Command::new(UNRUFFLED).args(given).output().expect("it was built");
            let printed = text(&output);
            assert_eq!((output.status.code(), printed.lines().count()), (Some(2), 1), "{printed}");
            assert!(
                printed.contains("--growth") && printed.contains("expected one of cubic, bbr"),
                "{printed}"
            );
        }
    }
}

#[cfg(feature = "bpf")]
mod loaded;
