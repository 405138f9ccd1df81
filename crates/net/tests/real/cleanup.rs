//! Nothing is left behind, however the emulator ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use unruffled_net::Application;

use crate::common::{hop, pair};

/// Environment variable of the process that the test kills.
const VICTIM: &str = "UNRUFFLED_TEST_VICTIM";

/// Returns whether a process has ended, reaped or not.
fn is_gone(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| {
        let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
        state.is_some_and(|state| state.starts_with(['Z', 'X']))
    })
}

/// Returns the processes in the network namespace of a link such as `net:[4026532281]`.
fn inhabitants(namespace: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("is mounted").flatten();
    processes
        .filter(|process| {
            std::fs::read_link(process.path().join("ns/net"))
                .is_ok_and(|link| link.to_string_lossy() == namespace)
        })
        .map(|process| process.file_name().to_string_lossy().into_owned())
        .filter(|pid| !is_gone(pid))
        .collect()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn network_of(pid: u32) -> String {
    let link = std::fs::read_link(format!("/proc/{pid}/ns/net")).expect("is there");
    link.to_string_lossy().into_owned()
}

/// The process that the next test kills. It does nothing as a test of its own.
#[test]
fn victim() {
    if std::env::var_os(VICTIM).is_none() {
        return;
    }
    let Some(pair) = pair() else { return };
    let _emulator = pair.emulate(&[hop(None, 10, vec![])], None).expect("starts");
    // One program detaches itself as far as possible, the other stays in the foreground.
    let mut detached = pair.shell("setsid sh -c 'trap \"\" HUP TERM; sleep 1000 & sleep 1001' &");
    let mut waiting = pair.shell("sleep 1002; true");
    let _right = Application::start_in_background(&pair.right.namespace, &mut detached);
    let _left = Application::start(&pair.left.namespace, &mut waiting).expect("starts");
    for side in [&pair.left, &pair.right] {
        println!("network {}", network_of(side.namespace.keeper()));
    }
    println!("ready");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn kill_9_leaves_neither_processes_nor_namespaces() {
    let itself = std::env::current_exe().expect("a test has one");
    let mut victim = Command::new(itself)
        .args(["--exact", "cleanup::victim", "--nocapture"])
        .env(VICTIM, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let lines = BufReader::new(victim.stdout.take().expect("is piped")).lines();
    let lines: Vec<String> =
        lines.map_while(Result::ok).take_while(|line| !line.contains("ready")).collect();
    let networks: Vec<&str> = lines.iter().filter_map(|l| l.strip_prefix("network ")).collect();
    if networks.is_empty() {
        eprintln!("skipped: the victim had no privileges to create network namespaces");
        victim.wait().expect("has ended");
        return;
    }
    // The keeper, and a shell with one sleep or a detached shell with two.
    eventually("the commands run", || networks.iter().all(|n| inhabitants(n).len() >= 3));

    victim.kill().expect("is ours");
    victim.wait().expect("is killed");
    for network in networks {
        eventually("all processes have ended", || inhabitants(network).is_empty());
    }
}

#[test]
fn programs_end_with_their_namespace() {
    let Some(pair) = pair() else { return };
    let mut command = pair.shell("setsid sleep 1003 & exit 0");
    let mut application = Application::start(&pair.left.namespace, &mut command).expect("starts");
    let status = application.wait_for(Duration::from_secs(5)).expect("ends at once");
    assert!(status.success());
    let network = network_of(pair.left.namespace.keeper());
    eventually("it has detached itself", || inhabitants(&network).len() == 2);
    drop((application, pair));
    eventually("all processes have ended", || inhabitants(&network).is_empty());
}

#[test]
fn a_command_that_ignores_sigterm_is_killed() {
    let Some(pair) = pair() else { return };
    let mut command = pair.shell("trap '' TERM; echo ready; while :; do sleep 1; done");
    let mut application =
        Application::start_in_background(&pair.right.namespace, command.stdout(Stdio::null()))
            .expect("starts");
    assert!(application.ended().is_none());
    let status = application.end(Duration::from_millis(50)).expect("can be waited for");
    assert!(!status.success());
}
