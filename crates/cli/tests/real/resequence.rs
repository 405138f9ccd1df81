//! `unruffled resequence` in namespaces of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use unruffled_net::{Emulator, Error, Namespace, Pair, SeededLink};
use unruffled_path::{Applies, Impairment, LinkConfig};
use unruffled_units::Rate;

/// Messages of a machine that lacks what a resequencer needs.
const LACKS: [&str; 4] = [
    "need root",
    "expected the kernel to have packet queues",
    "expected nftables or iptables to be installed",
    "no rule that queues packets",
];

fn unruffled(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unruffled"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn at<T: Send>(namespace: &Namespace, work: impl FnOnce() -> T + Send) -> T {
    namespace.run(|| Ok::<T, Error>(work())).expect("enters its own namespace")
}

/// Runs the command in a network namespace, and waits for its end.
fn run(namespace: &Namespace, arguments: &[&str]) -> Output {
    at(namespace, || unruffled(arguments).output().expect("runs"))
}

fn error(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns all firewall rules of a namespace.
fn rules(namespace: &Namespace) -> String {
    let programs = ["iptables-save", "ip6tables-save", "iptables-legacy-save", "nft list ruleset"];
    at(namespace, || {
        let mut text = String::new();
        for program in programs {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &format!("PATH=$PATH:/usr/sbin:/sbin; {program} 2>/dev/null")]);
            text += &String::from_utf8_lossy(&shell.output().expect("a shell").stdout);
        }
        // Comments have the time.
        text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect()
    })
}

/// A running `resequence`.
struct Resequencer {
    child: Child,
}

impl Resequencer {
    /// Starts it in the namespace, and returns `None` if the machine lacks something.
    fn start(namespace: &Namespace, arguments: &[&str]) -> Option<Self> {
        let arguments = [&["resequence"][..], arguments].concat();
        let child = at(namespace, || unruffled(&arguments).spawn().expect("starts"));
        let mut this = Self { child };
        let mut line = String::new();
        let stderr = this.child.stderr.as_mut().expect("is piped");
        BufReader::new(stderr).read_line(&mut line).expect("is text");
        if LACKS.iter().any(|lack| line.contains(lack)) {
            eprintln!("skipped: {line}");
            return None;
        }
        assert!(line.starts_with("resequencing "), "{line}");
        Some(this)
    }

    fn guardian(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32).expect("is not 0")
    }

    /// Returns the process id of the worker.
    fn worker(&self) -> Pid {
        let deadline = Instant::now() + Duration::from_secs(5);
        loop {
            let parent = format!("PPid:\t{}", self.child.id());
            for process in std::fs::read_dir("/proc").expect("a folder").flatten() {
                let status = std::fs::read_to_string(process.path().join("status"));
                if status.is_ok_and(|status| status.lines().any(|line| line == parent)) {
                    let name = process.file_name();
                    let pid = name.to_str().and_then(|name| name.parse().ok());
                    return pid.and_then(Pid::from_raw).expect("a process id");
                }
            }
            assert!(Instant::now() < deadline, "there is a worker");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns what `status` shows of it, after its counts are up to date.
    fn report(&self) -> serde_json::Value {
        thread::sleep(Duration::from_secs(1));
        let namespace = format!("/proc/{}/ns/net", self.child.id());
        let mut enter = Command::new("nsenter");
        enter.arg(format!("--net={namespace}")).arg(env!("CARGO_BIN_EXE_unruffled"));
        let output = enter.args(["status", "--json"]).output().expect("runs");
        let value: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        value["resequencer"].clone()
    }

    /// Ends it with a signal, and returns what it has printed on standard output.
    fn stop(mut self, signal: Signal) -> String {
        kill_process(self.guardian(), signal).expect("is ours");
        let status = self.child.wait().expect("ends");
        assert_eq!(status.code(), Some(0));
        let mut text = String::new();
        let mut stdout = self.child.stdout.take().expect("is piped");
        stdout.read_to_string(&mut text).expect("is text");
        text
    }
}

impl Drop for Resequencer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a counter of a namespace's network.
fn counter(namespace: &Namespace, protocol: &str, name: &str) -> u64 {
    at(namespace, || {
        let text = std::fs::read_to_string("/proc/thread-self/net/snmp").expect("a table");
        let mut lines = text.lines().filter(|line| line.starts_with(protocol));
        let names = lines.next().expect("names").split_whitespace();
        let values = lines.next().expect("values").split_whitespace();
        let found = names.zip(values).find(|(found, _)| *found == name);
        found.expect("a counter").1.parse().expect("a number")
    })
}

/// Returns the counters of a sender that are not 0, for messages.
fn counters(namespace: &Namespace) -> String {
    at(namespace, || {
        let text = std::fs::read_to_string("/proc/thread-self/net/netstat").expect("a table");
        let mut lines = text.lines().filter(|line| line.starts_with("TcpExt:"));
        let names = lines.next().expect("names").split_whitespace();
        let values = lines.next().expect("values").split_whitespace();
        let found = names.zip(values).skip(1).filter(|(_, value)| *value != "0");
        found.map(|(name, value)| format!("{name} {value} ")).collect()
    })
}

/// Two ends whose path makes every second packet 10 ms late. The sender waits for longer than that before it
/// takes a packet for lost, so no packet is sent again unless one is lost.
struct Path {
    pair: Pair,
    emulator: Emulator,
}

/// Delay of each direction.
const DELAY_MS: u64 = 50;

/// Octets of each write, six packets. At half of the link's rate no
/// queue grows, whose delay would hide from the sender how late packets are.
const WRITE_OCTETS: usize = 8192;

/// Interval between two writes: 10 Mb/s.
const WRITE_INTERVAL: Duration = Duration::from_micros(6554);

impl Path {
    fn new() -> Option<Self> {
        let pair = match Pair::new(1500) {
            Ok(pair) => pair,
            Err(lack) if lack.is_lack() => {
                eprintln!("skipped: {lack}");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        // RACK without a threshold of duplicates: it waits for a quarter of the round trip, 25 ms.
        pair.left.namespace.sysctl("net.ipv4.tcp_recovery", "5").expect("a sysctl");
        // With timestamps, packets are held only after late ones have slowed a sender down. This one pauses.
        pair.left.namespace.sysctl("net.ipv4.tcp_timestamps", "0").expect("a sysctl");
        let late = Impairment::Alternate {
            every: 2,
            extra: unruffled_units::Duration::from_millis(10),
            applies: Applies::Data,
        };
        let link = LinkConfig {
            rate: Rate::from_bps(20e6),
            delay: unruffled_units::Duration::from_millis(DELAY_MS),
            queue: None,
            impairments: vec![late],
            ..LinkConfig::default()
        };
        let emulator =
            pair.emulate(&[SeededLink { link, seed: 1, resequence: None }], None).expect("starts");
        Some(Self { pair, emulator })
    }

    fn receiver(&self) -> &Namespace {
        &self.pair.right.namespace
    }

    /// Returns the number of segments that the sender has sent again.
    fn retransmissions(&self) -> u64 {
        counter(&self.pair.left.namespace, "Tcp:", "RetransSegs")
    }

    /// Returns the number of packets that have arrived at the receiver and have not been delivered: those
    /// held, and those lost in the queue.
    fn undelivered(&self) -> u64 {
        let delivered = counter(self.receiver(), "Ip:", "InDelivers");
        counter(self.receiver(), "Ip:", "InReceives").saturating_sub(delivered)
    }

    /// Returns the number of packets that wait for a verdict.
    fn queued(&self) -> u64 {
        at(self.receiver(), || {
            let table = "/proc/thread-self/net/netfilter/nfnetlink_queue";
            let text = std::fs::read_to_string(table).unwrap_or_default();
            let lengths = text.lines().filter_map(|line| line.split_whitespace().nth(2));
            lengths.filter_map(|length| length.parse::<u64>().ok()).sum()
        })
    }

    /// Transfers data while `work` runs, and returns the number of octets that have arrived.
    fn transfer(&self, work: impl FnOnce()) -> u64 {
        self.transfer_to(self.receiver(), self.pair.right.v4.into(), work)
    }

    /// [`transfer`](Self::transfer) to an address of a namespace.
    fn transfer_to(&self, receiver: &Namespace, right: IpAddr, work: impl FnOnce()) -> u64 {
        let listener = at(receiver, || TcpListener::bind((right, 5201)).expect("a port"));
        let connect = || TcpStream::connect((right, 5201)).expect("connects");
        let mut sender = at(&self.pair.left.namespace, connect);
        let (mut receiver, _) = listener.accept().expect("a connection");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let writes = thread::spawn(move || {
            let start = Instant::now();
            let mut sent = 0;
            while !stopped.load(Ordering::Relaxed) {
                sender.write_all(&[7; WRITE_OCTETS]).expect("is sent");
                sent += 1;
                thread::sleep((WRITE_INTERVAL * sent).saturating_sub(start.elapsed()));
            }
        });
        let reads = thread::spawn(move || {
            let mut octets = 0;
            let mut buffer = vec![0; 1 << 16];
            loop {
                match receiver.read(&mut buffer).expect("is received") {
                    0 => return octets,
                    read => octets += read as u64,
                }
            }
        });
        work();
        stop.store(true, Ordering::Relaxed);
        writes.join().expect("wrote");
        reads.join().expect("read")
    }

    /// Waits until the resequencer holds packets.
    fn wait_for_held_packets(&self) -> u64 {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let queued = self.queued();
            if queued >= 3 {
                return queued;
            }
            assert!(Instant::now() < deadline, "packets are held");
            thread::sleep(Duration::from_micros(500));
        }
    }
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(2);
    while !holds() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

const SETTLE: Duration = Duration::from_millis(1500);

#[test]
fn a_late_packet_costs_no_retransmission_and_the_rules_are_removed_at_the_end() {
    let Some(path) = Path::new() else { return };
    // With RACK's usual threshold the sender takes late packets for lost.
    path.pair.left.namespace.sysctl("net.ipv4.tcp_recovery", "1").expect("a sysctl");
    let before = rules(path.receiver());
    let Some(resequencer) = Resequencer::start(path.receiver(), &["--json"]) else { return };
    assert_ne!(rules(path.receiver()), before);
    // The first transfer shows how late packets are.
    path.transfer(|| thread::sleep(SETTLE));
    let learnt = path.retransmissions();
    path.transfer(|| thread::sleep(SETTLE));
    let again = path.retransmissions() - learnt;
    assert!(again <= 3, "{again} retransmissions");

    let status = run(path.receiver(), &["status", "--json"]);
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let state = &status["resequencer"];
    assert_eq!(state["hook"], "input");
    assert!(state["late"].as_u64().is_some_and(|late| late > 100), "{state}");

    let totals = resequencer.stop(Signal::INT);
    assert_eq!(totals.lines().count(), 1, "{totals}");
    let totals: serde_json::Value = serde_json::from_str(&totals).expect("JSON");
    assert!(totals["held"].as_u64().is_some_and(|held| held > 100), "{totals}");
    assert_eq!(totals["takeovers"], 0, "{totals}");
    let hold = totals["paths"][0]["hold_s"].as_f64().expect("a number");
    assert!((0.005..0.2).contains(&hold), "{totals}");
    assert_eq!(rules(path.receiver()), before);
    drop(path.emulator);
}

#[test]
fn the_workers_end_or_standstill_causes_no_retransmission() {
    for signal in [Signal::KILL, Signal::STOP] {
        let Some(path) = Path::new() else { return };
        let Some(resequencer) = Resequencer::start(path.receiver(), &[]) else { return };
        let octets = path.transfer(|| {
            thread::sleep(SETTLE);
            let before = path.retransmissions();
            let worker = resequencer.worker();
            path.wait_for_held_packets();
            kill_process(worker, signal).expect("is ours");
            thread::sleep(SETTLE);
            assert_ne!(resequencer.worker(), worker, "another worker has started");
            // The new worker holds packets, too.
            path.wait_for_held_packets();
            let again = path.retransmissions() - before;
            assert_eq!(again, 0, "{signal:?}: {}", counters(&path.pair.left.namespace));
        });
        // 10 Mb/s for 3 s, less what is on its way.
        assert!(octets > 3_000_000, "{octets}");
        let totals = resequencer.stop(Signal::TERM);
        assert!(totals.contains("1 takeovers by the guardian"), "{totals}");
    }
}

#[test]
fn an_orderly_end_in_mid_transfer_causes_no_retransmission() {
    let Some(path) = Path::new() else { return };
    let before = rules(path.receiver());
    let Some(resequencer) = Resequencer::start(path.receiver(), &[]) else { return };
    path.transfer(|| {
        thread::sleep(SETTLE);
        let sent_again = path.retransmissions();
        path.wait_for_held_packets();
        resequencer.stop(Signal::TERM);
        thread::sleep(SETTLE);
        eventually("all are delivered", || path.undelivered() == 0);
        let again = path.retransmissions() - sent_again;
        assert_eq!(again, 0, "{}", counters(&path.pair.left.namespace));
    });
    assert_eq!(rules(path.receiver()), before);
}

#[test]
fn the_guardians_end_causes_no_retransmission_and_the_worker_removes_the_rules() {
    let Some(path) = Path::new() else { return };
    let before = rules(path.receiver());
    let Some(mut resequencer) = Resequencer::start(path.receiver(), &[]) else { return };
    path.transfer(|| {
        thread::sleep(SETTLE);
        let sent_again = path.retransmissions();
        let worker = resequencer.worker();
        path.wait_for_held_packets();
        resequencer.child.kill().expect("is ours");
        thread::sleep(SETTLE);
        // The two counters are not read at the same time.
        eventually("all are delivered", || path.undelivered() == 0);
        let again = path.retransmissions() - sent_again;
        assert_eq!(again, 0, "{}", counters(&path.pair.left.namespace));
        let gone = std::fs::read_to_string(format!("/proc/{}/stat", worker.as_raw_nonzero()));
        assert!(gone.is_err() || gone.is_ok_and(|stat| stat.contains(") Z ")), "it has ended");
    });
    assert_eq!(rules(path.receiver()), before);
}

#[test]
fn both_killed_lose_at_most_what_is_held_and_the_rules_are_removed_later() {
    for remedy in ["detach", "the next start"] {
        let Some(path) = Path::new() else { return };
        let before = rules(path.receiver());
        let Some(mut resequencer) = Resequencer::start(path.receiver(), &[]) else { return };
        path.transfer(|| {
            thread::sleep(SETTLE);
            let worker = resequencer.worker();
            let held = path.wait_for_held_packets();
            kill_process(worker, Signal::STOP).expect("is ours");
            kill_process(resequencer.guardian(), Signal::KILL).expect("is ours");
            kill_process(worker, Signal::KILL).expect("is ours");
            thread::sleep(SETTLE);
            let lost = path.undelivered();
            // Packets enter the queue until the last process has closed its socket: 0.8 in a millisecond.
            assert!(lost > 0 && lost <= held + 50, "{lost} lost, {held} were held");
        });
        resequencer.child.wait().expect("is killed");
        let stale = run(path.receiver(), &["status", "--json"]);
        assert!(!String::from_utf8_lossy(&stale.stdout).contains("held_packets"));
        assert_ne!(rules(path.receiver()), before, "the killed processes left them");
        if remedy == "detach" {
            let output = run(path.receiver(), &["detach"]);
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(text, "the rules of a killed `resequence` are removed\n");
        } else {
            let next = Resequencer::start(path.receiver(), &[]).expect("starts");
            next.stop(Signal::HUP);
        }
        assert_eq!(rules(path.receiver()), before, "{remedy}");
    }
}

#[test]
fn one_that_starts_while_a_worker_without_guardian_cleans_up_keeps_its_rules() {
    let Some(path) = Path::new() else { return };
    let before = rules(path.receiver());
    let Some(mut killed) = Resequencer::start(path.receiver(), &[]) else { return };
    let installed = rules(path.receiver());
    killed.child.kill().expect("is ours");
    let next = Resequencer::start(path.receiver(), &[]).expect("starts");
    thread::sleep(Duration::from_millis(500));
    assert_eq!(rules(path.receiver()), installed);
    next.stop(Signal::TERM);
    assert_eq!(rules(path.receiver()), before);
}

#[test]
fn packets_of_ipv6_are_put_in_order_by_several_queues() {
    let Some(path) = Path::new() else { return };
    let Some(right) = path.pair.right.v6 else { return eprintln!("skipped: no IPv6") };
    let Some(resequencer) = Resequencer::start(path.receiver(), &["--queues=4", "--json"]) else {
        return;
    };
    path.transfer_to(path.receiver(), right.into(), || thread::sleep(SETTLE));
    let totals: serde_json::Value =
        serde_json::from_str(&resequencer.stop(Signal::INT)).expect("JSON");
    assert!(totals["late"].as_u64().is_some_and(|late| late > 100), "{totals}");
    assert_eq!(totals["queues"].as_array().map(Vec::len), Some(4), "{totals}");
    assert_eq!(totals["paths"][0]["network"], "fd00::/48", "{totals}");
}

/// A gateway forwards to a host behind it.
#[test]
fn a_gateway_puts_the_packets_in_order_that_pass_through_it() {
    let Some(path) = Path::new() else { return };
    let behind = Namespace::new("unruffled-behind").expect("is possible once more");
    let gateway = path.receiver();
    gateway.sysctl("net.ipv4.ip_forward", "1").expect("a sysctl");
    let link = format!(
        "link add host0 type veth peer name host1 netns {}\n\
         address add 10.1.0.1/24 dev host0\n\
         link set dev host0 up\n",
        behind.keeper()
    );
    gateway.ip(&link).expect("a link");
    behind
        .ip("address add 10.1.0.2/24 dev host1\nlink set dev host1 up\n\
             route add default via 10.1.0.1\n")
        .expect("an address");
    let host = IpAddr::V4(Ipv4Addr::new(10, 1, 0, 2));
    for (flag, hook) in [("--forward", true), ("--input", false)] {
        let Some(resequencer) = Resequencer::start(gateway, &[flag, "--json"]) else { return };
        path.transfer_to(&behind, host, || thread::sleep(SETTLE));
        let forwarded = resequencer.report();
        assert_eq!(forwarded["late"].as_u64() > Some(100), hook, "{flag}: {forwarded}");
        path.transfer(|| thread::sleep(SETTLE));
        let both = resequencer.report();
        let local = both["late"].as_u64() > forwarded["late"].as_u64();
        assert_eq!(local, !hook, "{flag}: {both}");
        resequencer.stop(Signal::INT);
    }
}

#[test]
fn the_rules_of_others_stay() {
    let Some(path) = Path::new() else { return };
    let own =
        "PATH=$PATH:/usr/sbin:/sbin; iptables -t raw -A PREROUTING -p tcp --dport 9 -j ACCEPT";
    let added = at(path.receiver(), || Command::new("/bin/sh").args(["-c", own]).status());
    if !added.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no iptables");
        return;
    }
    let before = rules(path.receiver());
    assert!(before.contains("--dport 9"), "{before}");
    let Some(resequencer) = Resequencer::start(path.receiver(), &["--port=443,5000-5010"]) else {
        return;
    };
    resequencer.stop(Signal::TERM);
    assert_eq!(rules(path.receiver()), before);
}

#[test]
fn a_second_one_is_refused_and_does_no_harm() {
    let Some(path) = Path::new() else { return };
    let Some(resequencer) = Resequencer::start(path.receiver(), &[]) else { return };
    let installed = rules(path.receiver());
    let second = run(path.receiver(), &["resequence"]);
    assert_eq!(second.status.code(), Some(2));
    assert!(error(&second).contains("runs already"), "{}", error(&second));
    let output = run(path.receiver(), &["detach"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("its end removes its rules"));
    assert_eq!(rules(path.receiver()), installed);
    resequencer.stop(Signal::TERM);
}

#[test]
fn refusals_name_what_is_missing_in_one_line() {
    for (arguments, expected) in [
        (vec!["--interface=no-such"], "--interface: no-such: expected an interface"),
        (vec!["--port=0"], "expected a port from 1 to 65535"),
        (vec!["--max-hold=1h"], "expected 1 ms to 10 s"),
        (vec!["--budget=1"], "expected at least 256 KiB"),
        (vec!["--tunnel=vxlan"], "wireguard, esp, openvpn"),
        (vec!["--queues=0"], "expected a whole number from 1 to 64"),
        (vec!["--input", "--forward"], "cannot be used with"),
    ] {
        let arguments = [vec!["resequence"], arguments].concat();
        let output = unruffled(&arguments).output().expect("runs");
        let text = error(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(expected) && text.lines().count() == 1, "{expected}: {text}");
    }
}

#[test]
fn without_a_firewall_program_or_rights_it_is_refused() {
    let Some(path) = Path::new() else { return };
    // A PATH cannot hide /usr/sbin, so the folder itself is hidden, in a mount namespace.
    let hidden = "for d in /usr/sbin /sbin /usr/local/sbin; do mount -t tmpfs none $d; done; exec $0 resequence";
    let program = env!("CARGO_BIN_EXE_unruffled");
    let output = at(path.receiver(), || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "/bin/sh", "-c", hidden, program]).output().expect("runs")
    });
    let text = error(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    let expected = "expected nftables or iptables to be installed";
    assert!(text.contains(expected) && text.lines().count() == 1, "{text}");

    let bare = "exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --reuid=65534 \
                --regid=65534 --clear-groups $0 resequence";
    let output = at(path.receiver(), || {
        let copy = tempfile::tempdir().expect("a folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(copy.path(), open).expect("is ours");
        let copied = copy.path().join("unruffled");
        std::fs::copy(program, &copied).expect("is copied");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", bare]).arg(copied).current_dir("/").output().expect("runs")
    });
    let text = error(&output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("need root, or CAP_NET_ADMIN"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn a_worker_without_a_guardian_ends_at_once() {
    let output = unruffled(&["resequence-worker"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(error(&output).lines().count(), 1, "{}", error(&output));
}
