//! `attach`, `detach` and the daemon, killed at random moments.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::{is_registered, part, turn};
use crate::{script, text};

/// Namespaces with their settings before anything is attached.
const NAMESPACES: [(&str, &str); 3] = [("red", "reno 0"), ("blue", "reno 2"), ("green", "reno 1")];

/// Time for which programs that were removed may stay in the kernel.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(20);

/// Kinds of objects that `bpftool` lists.
const KINDS: [&str; 3] = ["prog", "map", "link"];

/// Names of the programs and maps of this project.
const NAMES: [&str; 16] = [
    "unruffled",
    "read_cookie",
    "list_live",
    "live",
    "created",
    "ended",
    "events",
    "switch_over",
    "switch_back",
    "reset_listener",
    "choose",
    "outgoing_syn",
    "incoming_syn",
    "dump",
    "count",
    "existing",
];

#[test]
fn what_was_killed_at_a_random_moment_is_undone_by_detach() {
    let Some(_turn) = turn() else { return };
    kill_each("3");
}

#[test]
#[ignore = "a measurement: several minutes"]
fn what_was_killed_a_hundred_times_is_undone_by_detach() {
    let Some(_turn) = turn() else { return };
    kill_each("100");
}

fn kill_each(times: &str) {
    let output = script(&format!("TIMES={times} {}", part("killed::kills")));
    println!("{}", text(&output));
    assert!(output.status.success(), "{}", text(&output));
    assert!(!is_registered());
}

/// Numbers of splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a time up to `longest`.
    fn time(&mut self, longest: Duration) -> Duration {
        longest.mul_f64(self.next() as f64 / u64::MAX as f64)
    }
}

fn command(arguments: &str) -> Command {
    let mut command = Command::new("unruffled");
    command.args(arguments.split(' ')).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Returns the time that a command takes.
fn time(arguments: &str) -> Duration {
    let began = Instant::now();
    command(arguments).status().expect("the program is in PATH");
    began.elapsed()
}

/// Runs a command and kills it after the time. Returns whether it was still running.
fn kill_after(arguments: &str, time: Duration) -> bool {
    let mut child = command(arguments).spawn().expect("the program is in PATH");
    thread::sleep(time);
    let is_running = child.try_wait().expect("a child").is_none();
    let _ = child.kill();
    child.wait().expect("a child");
    is_running
}

fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-c", script]).output().expect("a shell");
    text(&output)
}

fn settings(namespace: &str) -> String {
    let files = "cat /proc/sys/net/ipv4/tcp_congestion_control /proc/sys/net/ipv4/tcp_timestamps";
    shell(&format!("echo $(nsenter --net=/run/netns/{namespace} {files})")).trim().to_owned()
}

/// Detaches and checks that nothing is left, here and in every namespace.
fn assert_restored(killed: &str) {
    let output = Command::new("unruffled").arg("detach").output().expect("it is in PATH");
    assert!(output.status.success(), "{killed}: {}", text(&output));
    for (namespace, before) in NAMESPACES {
        assert_eq!(settings(namespace), before, "{killed}: {namespace}");
    }
    for path in ["/run/unruffled", "/sys/fs/bpf/unruffled"] {
        assert!(!fs::exists(path).expect("a path"), "{killed}: {path}");
    }
    let names = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    assert!(names.is_ok_and(|names| !names.contains("unruffled")), "{killed}");
}

/// Returns the programs, maps and links of this project in the kernel, or `None` without bpftool.
fn objects() -> Option<BTreeSet<String>> {
    let mut objects = BTreeSet::new();
    for kind in KINDS {
        let output = Command::new("bpftool").args([kind, "list"]).output().ok()?;
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        let is_ours = |line: &&str| {
            let name = line.split("name ").nth(1).and_then(|rest| rest.split(' ').next());
            let is_named = name.is_some_and(|name| NAMES.iter().any(|one| name.starts_with(one)));
            is_named || kind == "link" && line.contains(": struct_ops")
        };
        objects.extend(list.lines().filter(is_ours).map(|line| format!("{kind} {line}")));
    }
    Some(objects)
}

#[test]
#[ignore = "a part of another test"]
fn kills() {
    let Ok(times) = std::env::var("TIMES") else { return };
    let times: u32 = times.parse().expect("a number");
    for (namespace, before) in NAMESPACES {
        let (control, timestamps) = before.split_once(' ').expect("two settings");
        let d = "/proc/sys/net/ipv4";
        shell(&format!(
            "ip netns add {namespace} && nsenter --net=/run/netns/{namespace} sh -c 'echo {control} > \
             {d}/tcp_congestion_control; echo {timestamps} > {d}/tcp_timestamps'"
        ));
        assert_eq!(settings(namespace), before);
    }
    let before = objects();
    let mut random = Random(u64::from(std::process::id()));
    let mut running = [0; 3];

    let longest = time("attach --netns red --existing") * 11 / 10;
    assert_restored("not killed");
    for _ in 0..times {
        let after = random.time(longest);
        running[0] += u32::from(kill_after("attach --netns red --existing", after));
        assert_restored(&format!("attach after {after:?}"));
    }

    let attach = || {
        for (namespace, _) in NAMESPACES {
            time(&format!("attach --netns {namespace}"));
        }
    };
    attach();
    let longest = time("detach") * 11 / 10;
    for _ in 0..times {
        attach();
        let after = random.time(longest);
        running[1] += u32::from(kill_after("detach", after));
        assert_restored(&format!("detach after {after:?}"));
    }

    let end = std::path::Path::new("/run/end");
    thread::scope(|scope| {
        scope.spawn(|| {
            while !end.exists() {
                shell(
                    "for n in 1 2 3; do ip netns add later$n; done; sleep 0.1
                    for n in 1 2 3; do ip netns del later$n; done",
                );
            }
        });
        let killed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..times {
                let after = random.time(3 * longest);
                running[2] += u32::from(kill_after("attach --all --existing", after));
                assert_restored(&format!("daemon after {after:?}"));
            }
        }));
        fs::write(end, "").expect("a file");
        killed.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    println!("attach, detach, daemon: killed {times} times each, {running:?} times before the end");

    let Some(before) = before else { return eprintln!("skipped: bpftool is not installed") };
    let deadline = Instant::now() + REMOVAL_TIMEOUT;
    loop {
        let now = objects().expect("bpftool is installed");
        let left: Vec<_> = now.difference(&before).collect();
        if left.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "left: {left:#?}");
        thread::sleep(Duration::from_millis(100));
    }
}
