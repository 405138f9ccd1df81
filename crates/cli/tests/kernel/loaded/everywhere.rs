//! Tests of `attach --all`.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use super::{NAMESPACE_FUNCTIONS, is_registered, part, turn};
use crate::{script, text};

/// Shell functions: `begin` starts the daemon and waits until it has attached the present namespaces.
const FUNCTIONS: &str =
    "begin() { $U attach --all \"$@\" > /run/log 2>&1 & daemon=$!; until_so [ -s /run/log ]; }
    state() { cat /run/unruffled/attached.json; }
    entries() { state | grep -c '\"congestion_control\"'; }\n";

fn printed(script_text: &str) -> String {
    text(&script(&format!("{NAMESPACE_FUNCTIONS}{FUNCTIONS}{script_text}")))
}

/// Namespaces of a process, of `ip netns`, of a mount elsewhere, of a mount in another mount namespace, of an
/// open file, and of a thread, before and after the daemon begins.
#[test]
fn every_namespace_is_attached_whatever_refers_to_it() {
    let Some(_turn) = turn() else { return };
    let threads = part("everywhere::holds_a_namespace_by_a_thread");
    let printed = printed(&format!(
        "make() {{
            unshare --net sleep 60 & pids=\"$pids $!\"
            until_so sleeps $!; of_process=/proc/$!/ns/net
            ip netns add $1-named
            touch /run/$1-elsewhere
            unshare --net mount --bind /proc/self/ns/net /run/$1-elsewhere
            unshare --mount sh -c \"mount -t tmpfs none /mnt && touch /mnt/ns &&
                unshare --net mount --bind /proc/self/ns/net /mnt/ns && : > /run/$1-ready; exec sleep 60\" &
            pids=\"$pids $!\" of_mount=/proc/$!/root/mnt/ns
            until_so [ -e /run/$1-ready ]
            touch /run/$1-open
            unshare --net mount --bind /proc/self/ns/net /run/$1-open
            sleep 60 < /run/$1-open & pids=\"$pids $!\" of_file=/proc/$!/fd/0
            until_so sleeps $!
            umount -l /run/$1-open
            READY=/run/$1-thread {threads} > /dev/null 2>&1 & pids=\"$pids $!\"
            until_so [ -s /run/$1-thread ]
            of_thread=$(cat /run/$1-thread)
            all=\"$all $of_process /run/netns/$1-named /run/$1-elsewhere $of_mount $of_file $of_thread\"
        }}
        make early
        for one in $all; do set_up $one reno 2; done
        begin
        make later
        for one in $all /proc/self/ns/net; do until_so is_served $one; done
        echo detach
        $U detach
        for one in $all; do settings $one; done
        wait $daemon; echo $?
        tail -n 1 /run/log
        ls /run/unruffled /sys/fs/bpf/unruffled 2>&1 | grep -c 'cannot access'
        kill $pids"
    ));
    let lines: Vec<_> = printed.lines().collect();
    assert_eq!(lines[..2], ["detach", "unruffled is detached"], "{printed}");
    assert_eq!(lines[2..8], ["reno 2"; 6], "{printed}");
    // Later ones have the machine's default.
    assert!(lines[8..14].iter().all(|line| line.ends_with(" 1")), "{printed}");
    assert!(lines[8..14].iter().all(|line| !line.contains("unruffled")), "{printed}");
    assert_eq!(lines[14..], ["0", "detached by another command", "2"], "{printed}");
    assert!(!is_registered());
}

#[test]
#[ignore = "a part of another test"]
fn holds_a_namespace_by_a_thread() {
    let Ok(ready) = std::env::var("READY") else { return };
    // The first thread of a test is not the process's.
    unshare();
    let own = fs::read_link("/proc/thread-self").expect("procfs");
    fs::write(ready, format!("/proc/{}/ns/net", own.display())).expect("a file");
    thread::sleep(Duration::from_secs(60));
}

/// Moves this thread to a new network namespace.
fn unshare() {
    #[expect(deprecated, reason = "deprecated because of other flags")]
    rustix::thread::unshare(rustix::thread::UnshareFlags::NEWNET).expect("root");
}

/// An end of a pair of interfaces disappears when the namespace of the other one has ended.
#[test]
fn a_namespace_that_ends_leaves_nothing() {
    let Some(_turn) = turn() else { return };
    let printed = printed(
        "begin
        one_left() { [ $(entries) = 1 ]; }
        until_so one_left
        for n in $(seq 12); do
            ip netns add red$n
            ip link add v$n type veth peer name w$n netns red$n
        done
        for n in $(seq 12); do until_so is_served /run/netns/red$n; done
        entries
        ls -l /proc/$daemon/fd | grep -c 'net:\\['
        for n in $(seq 12); do ip netns del red$n; done
        none_left() { [ $(ip -o link | grep -c ': v') = 0 ]; }
        until_so none_left
        until_so one_left
        ls -l /proc/$daemon/fd | grep -c 'net:\\['
        $U detach",
    );
    assert_eq!(printed, "13\n0\n0\nunruffled is detached\n");
    assert!(!is_registered());
}

#[test]
fn one_daemon_runs_at_a_time_and_another_continues_its_work() {
    let Some(_turn) = turn() else { return };
    let printed = printed(
        "ip netns add red; set_up /run/netns/red reno 2
        begin
        $U attach --all; echo $?
        kill $daemon; wait $daemon; echo $?; tail -n 1 /run/log
        settings /run/netns/red
        ip netns add blue; set_up /run/netns/blue reno 0
        : > /run/log; begin
        until_so is_served /run/netns/blue
        $U status --json | grep -o '\"process\":[0-9]*' | tr -d '\\n' | sed \"s/:$daemon/: the daemon/\"; echo
        kill -KILL $daemon; wait $daemon 2>/dev/null
        $U status --json | grep -o '\"process\":[a-z]*'
        $U detach
        settings /run/netns/red; settings /run/netns/blue",
    );
    let lines: Vec<_> = printed.lines().collect();
    let expected = [
        "2",
        "0",
        "ended; what is attached stays until `unruffled detach`",
        "unruffled 0",
        "\"process\": the daemon",
        "\"process\":null",
        "unruffled is detached",
        "reno 2",
        "reno 0",
    ];
    assert_eq!(lines[..expected.len()], expected, "{printed}");
    assert_eq!(lines.len(), expected.len() + 1, "{printed}");
    let refusal = lines.last().expect("a line");
    assert!(refusal.starts_with("unruffled: attach: `attach --all` runs already as process"));
    assert!(refusal.contains(": expected that it ends first"), "{printed}");
    assert!(!is_registered());
}

/// The datagrams of sd_notify(3), with a watchdog of 400 ms.
#[test]
fn a_service_manager_is_notified() {
    let Some(_turn) = turn() else { return };
    let receiver = part("everywhere::receives_notifications");
    let printed = printed(&format!(
        "SOCKET=/run/notify {receiver} > /dev/null 2>&1 & receiver=$!
        until_so [ -S /run/notify ]
        NOTIFY_SOCKET=/run/notify WATCHDOG_USEC=400000 $U attach --all > /run/log 2>&1 & daemon=$!
        wait $receiver
        kill $daemon; wait $daemon
        cat /run/notify.text
        $U detach"
    ));
    let received: Vec<_> = printed.lines().collect();
    assert_eq!(received[..2], ["READY=1", "STATUS=attached: 1 network namespace"], "{printed}");
    assert!(received[2..6].iter().all(|line| *line == "WATCHDOG=1"), "{printed}");
    assert!(!is_registered());
}

#[test]
#[ignore = "a part of another test"]
fn receives_notifications() {
    let Ok(path) = std::env::var("SOCKET") else { return };
    let socket = std::os::unix::net::UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    let mut text = String::new();
    let mut buffer = [0; 256];
    for _ in 0..5 {
        let length = socket.recv(&mut buffer).expect("a datagram");
        text += &String::from_utf8_lossy(&buffer[..length]);
        if !text.ends_with('\n') {
            text.push('\n');
        }
    }
    fs::write(format!("{path}.text"), text).expect("a file");
}

/// A failure in one namespace does not end the daemon, and is printed once.
#[test]
fn a_namespace_that_cannot_be_attached_is_reported_once() {
    let Some(_turn) = turn() else { return };
    let printed = printed(
        "mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys || exit 99
        begin
        sleep 1
        grep -c 'Read-only file system' /run/log
        mount -o remount,rw,bind /proc/sys
        until_so is_served /proc/self/ns/net
        $U detach",
    );
    assert_eq!(printed, "1\nunruffled is detached\n");
    assert!(!is_registered());
}

/// Prints what docs/measurements/2026-11-28-namespaces.md has: 500 namespaces of threads at once, then 500 of
/// `ip netns`.
#[test]
#[ignore = "a measurement: half a minute"]
fn five_hundred_namespaces() {
    let Some(_turn) = turn() else { return };
    let latencies = part("everywhere::measures_latencies");
    let printed = printed(&format!(
        "begin
        cpu() {{ awk '{{ print $14 + $15 }}' /proc/$daemon/stat; }}
        one_left() {{ [ $(entries) = 1 ]; }}
        before=$(cpu); sleep 5; echo idle for 5 s: $(( $(cpu) - before )) ticks of CPU time
        {latencies} | grep served
        until_so one_left
        for n in $(seq 500); do ip netns add n$n; done
        sleep 1
        served=0
        for n in $(seq 500); do is_served /run/netns/n$n && served=$((served + 1)); done
        echo of 500 by ip netns, $served are attached a second after the last one
        for n in $(seq 500); do ip netns del n$n; done
        until_so one_left
        echo left: $(entries), open: $(ls -l /proc/$daemon/fd | grep -c 'net:\\[')
        grep -E 'VmHWM|VmRSS' /proc/$daemon/status
        echo CPU time: $(cpu) ticks
        $U detach"
    ));
    println!("{printed}");
    assert!(printed.contains("of 500 by ip netns, 500 are attached"), "{printed}");
    assert!(printed.contains("left: 1, open: 0"), "{printed}");
    let field = |name: &str| {
        let line = printed.lines().find(|line| line.starts_with(name)).expect(name);
        line.split_whitespace().nth(1).expect("a value").parse::<f64>().expect("a number")
    };
    assert!(field("VmHWM:") < 20_000.0, "{printed}");
    assert!(field("served_max_ms") < 1000.0, "{printed}");
    assert!(!is_registered());
}

#[test]
#[ignore = "a part of another test"]
fn measures_latencies() {
    let (sender, receiver) = mpsc::channel();
    let end = Barrier::new(NAMESPACES + 1);
    let mut latencies = thread::scope(|scope| {
        // One after another, as fast as the kernel makes them. All exist at once in the end.
        scope.spawn(|| {
            for _ in 0..NAMESPACES {
                let (made, is_made) = mpsc::channel();
                let (sender, end) = (sender.clone(), &end);
                scope.spawn(move || {
                    unshare();
                    sender.send(New::own()).expect("it is received");
                    made.send(()).expect("it is received");
                    end.wait();
                });
                is_made.recv().expect("a namespace");
            }
        });
        let latencies = latencies_of(&receiver);
        end.wait();
        latencies
    });
    latencies.sort();
    let millis = |latency: Duration| 1e3 * latency.as_secs_f64();
    println!("\nserved_p50_ms {:.1}", millis(latencies[NAMESPACES / 2]));
    println!("served_p99_ms {:.1}", millis(latencies[NAMESPACES * 99 / 100]));
    println!("served_max_ms {:.1}", millis(latencies[NAMESPACES - 1]));
}

const NAMESPACES: usize = 500;

/// A new namespace, with its settings. An open sysctl is that of the namespace in which it was opened.
struct New {
    made: Instant,
    settings: [(File, &'static str); 2],
}

impl New {
    /// Returns this thread's namespace.
    fn own() -> Self {
        let made = Instant::now();
        let open = |key| File::open(format!("/proc/sys/net/ipv4/{key}")).expect("a sysctl");
        let settings =
            [(open("tcp_congestion_control"), "unruffled"), (open("tcp_timestamps"), "0")];
        Self { made, settings }
    }

    fn is_served(&self) -> bool {
        self.settings.iter().all(|(file, expected)| {
            let mut text = [0; 32];
            let length = file.read_at(&mut text, 0).expect("a sysctl");
            String::from_utf8_lossy(&text[..length]).trim() == *expected
        })
    }
}

/// Returns the times in which the namespaces are attached, at most 10 s.
fn latencies_of(new: &mpsc::Receiver<New>) -> Vec<Duration> {
    let mut pending: Vec<New> = Vec::new();
    let mut latencies = Vec::new();
    while latencies.len() < NAMESPACES {
        pending.extend(new.try_iter());
        pending.retain(|namespace| {
            let latency = namespace.made.elapsed();
            let is_done = namespace.is_served() || latency > Duration::from_secs(10);
            if is_done {
                latencies.push(latency);
            }
            !is_done
        });
        thread::sleep(Duration::from_millis(2));
    }
    latencies
}
