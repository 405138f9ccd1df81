//! Tests of `doctor --fix`.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use unruffled_net::{Emulator, Error, Pair, Side};
use unruffled_race::paths;
use unruffled_scenario::{Scenario, flags};

use super::{is_registered, lacks, part, turn};
use crate::{script, text};

/// Runs a part of a test in namespaces of its own.
fn child(name: &str, setting: &str) {
    let output = script(&format!("export {setting}\n{}", part(&format!("doctor::{name}"))));
    let printed = text(&output);
    if lacks(&printed) {
        return;
    }
    println!("{printed}");
    assert!(output.status.success(), "{printed}");
    assert!(!is_registered());
}

/// The path of `half-late`, and a bulk transfer by Reno over it.
struct Transfer {
    pair: Pair,
    stop: Arc<AtomicBool>,
    _emulator: Emulator,
}

impl Transfer {
    fn start() -> Self {
        let pair = Pair::new(1500).unwrap_or_else(|error| panic!("{error}"));
        // Every namespace may have it as its default.
        pair.left.namespace.sysctl("net.ipv4.tcp_congestion_control", "reno").expect("it exists");
        let text = flags::text("half-late", &[]).expect("is built in");
        let scenario = Scenario::parse_for_real_packets("half-late", &text, &[]).expect("is valid");
        let paths = paths(&scenario, 1, [(&scenario.traffic[0], 0)]);
        let emulator = pair.emulate(paths, None).expect("the path is valid");
        let address = (pair.right.v4, 5201);
        let listener = at(&pair.right, || TcpListener::bind(address).expect("a port"));
        let mut sender = at(&pair.left, || TcpStream::connect(address).expect("a path"));
        let mut receiver = listener.accept().expect("a connection").0;
        let stop = Arc::new(AtomicBool::new(false));
        let timeout = Some(Duration::from_millis(100));
        sender.set_write_timeout(timeout).expect("a timeout");
        receiver.set_read_timeout(timeout).expect("a timeout");
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let _ = sender.write(&[0; 1 << 16]);
            }
        });
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let _ = receiver.read(&mut [0; 1 << 16]);
            }
        });
        thread::sleep(Duration::from_secs(1));
        Self { pair, stop, _emulator: emulator }
    }

    /// Returns `doctor --fix` on the sender's network namespace.
    fn doctor(&self, time: &str) -> Command {
        let namespace = format!("/proc/{}/ns/net", self.pair.left.namespace.keeper());
        let mut doctor = Command::new("unruffled");
        doctor.args(["doctor", "--fix", "--json", "--for", time, "--netns", &namespace]);
        doctor.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        doctor
    }

    fn settings(&self) -> String {
        at(&self.pair.left, || {
            let read = |key| fs::read_to_string(format!("/proc/sys/net/ipv4/{key}"));
            ["tcp_congestion_control", "tcp_timestamps"]
                .map(|key| read(key).expect("a sysctl"))
                .concat()
        })
    }

    fn assert_detached(&self, before: &str) {
        assert_eq!(self.settings(), before);
        for path in ["/run/unruffled", "/sys/fs/bpf/unruffled"] {
            assert!(!fs::exists(path).expect("a path"), "{path}");
        }
        assert!(!is_registered());
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn at<T: Send>(side: &Side, work: impl FnOnce() -> T + Send) -> T {
    side.namespace.run(|| Ok::<T, Error>(work())).expect("enters its own namespace")
}

fn detach() {
    let output = Command::new("unruffled").arg("detach").output().expect("it is in PATH");
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn a_fix_that_helps_stays_until_detach() {
    let Some(_turn) = turn() else { return };
    child("helps", "CHILD=1");
}

#[test]
#[ignore = "a part of another test"]
fn helps() {
    let Ok(_) = std::env::var("CHILD") else { return };
    let transfer = Transfer::start();
    let before = transfer.settings();
    let output = transfer.doctor("6s").output().expect("it is in PATH");
    let printed = text(&output);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["verdict"], "suffers", "{printed}");
    assert_eq!(report["fix"]["outcome"], "helped", "{printed}");
    assert_eq!(report["fix"]["switched"], 1, "{printed}");
    assert_eq!(output.status.code(), Some(0), "{printed}");
    assert_eq!(transfer.settings(), "unruffled\n0\n");
    detach();
    transfer.assert_detached(&before);
}

/// The transfer ends before the second watch.
#[test]
fn a_fix_that_cannot_be_measured_is_undone() {
    let Some(_turn) = turn() else { return };
    child("ends", "CHILD=1");
}

#[test]
#[ignore = "a part of another test"]
fn ends() {
    let Ok(_) = std::env::var("CHILD") else { return };
    let transfer = Transfer::start();
    let before = transfer.settings();
    let doctor = transfer.doctor("3s").spawn().expect("it is in PATH");
    thread::sleep(Duration::from_millis(2900));
    transfer.stop.store(true, Ordering::Relaxed);
    let output = doctor.wait_with_output().expect("ends");
    let printed = text(&output);
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["fix"]["outcome"], "not_measured", "{printed}");
    assert_eq!(output.status.code(), Some(1), "{printed}");
    transfer.assert_detached(&before);
}

#[test]
fn a_fix_is_refused_where_something_is_attached() {
    let Some(_turn) = turn() else { return };
    let output = script("$U attach && $U doctor --fix; echo $?; exec $U detach");
    let printed = text(&output);
    assert!(
        printed.contains("\n2\n") && printed.contains("expected that nothing is attached"),
        "{printed}"
    );
    assert_eq!(printed.matches("unruffled: doctor: ").count(), 1, "{printed}");
}

#[test]
fn a_fix_that_is_killed_is_undone_by_detach() {
    let Some(_turn) = turn() else { return };
    child("killed", "TIMES=2");
}

#[test]
#[ignore = "a measurement: several minutes; TIMES, or 20"]
fn a_fix_that_is_killed_often_is_undone_by_detach() {
    let Some(_turn) = turn() else { return };
    let times = std::env::var("TIMES").unwrap_or("20".to_owned());
    child("killed", &format!("TIMES={times}"));
}

/// Numbers of splitmix64.
struct Random(u64);

impl Random {
    /// Returns a time up to `longest`.
    fn time(&mut self, longest: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        longest.mul_f64((mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64)
    }
}

/// Kills it between the end of the first watch and that of the second.
#[test]
#[ignore = "a part of another test"]
fn killed() {
    let Ok(times) = std::env::var("TIMES") else { return };
    let times: u32 = times.parse().expect("a number");
    let mut random = Random(u64::from(std::process::id()));
    let mut attached = 0;
    let mut running = 0;
    for n in 0..times {
        // A connection that had unruffled for a while copes for some time.
        let transfer = Transfer::start();
        let before = transfer.settings();
        let mut doctor = transfer.doctor("3s").spawn().expect("it is in PATH");
        // Half of them are killed while it attaches, which takes a second at most.
        let longest = Duration::from_secs(if n % 2 == 0 { 1 } else { 4 });
        thread::sleep(Duration::from_millis(3000) + random.time(longest));
        running += u32::from(doctor.try_wait().expect("a child").is_none());
        let _ = doctor.kill();
        doctor.wait().expect("a child");
        attached += u32::from(is_registered());
        detach();
        transfer.assert_detached(&before);
    }
    let ended = "before the end";
    println!("killed {times} times, {running} times {ended}, {attached} times attached");
}
