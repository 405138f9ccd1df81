//! Tests with the congestion controls in the kernel.

mod attach;
mod doctor;
mod everywhere;
mod existing;
mod growth;
mod handshakes;
mod killed;
mod monitoring;
mod namespaces;
mod run;
mod status;

use std::fs::File;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{lack, script, text};

/// Serialises the tests, since a kernel has one congestion control of each name.
static TURN: Mutex<()> = Mutex::new(());

/// A test's turn: among the test processes of this machine, and within this process.
struct Turn {
    _file: Option<File>,
    _mutex: MutexGuard<'static, ()>,
}

/// Waits for the turn. Returns `None` if the kernel lacks something, or has the congestion control already.
fn turn() -> Option<Turn> {
    let mutex = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Without a lock file, no other test process is expected.
    let file = File::create(std::env::temp_dir().join("unruffled-kernel-tests")).ok();
    let turn = Turn { _file: file.filter(|file| file.lock().is_ok()), _mutex: mutex };
    if is_registered() {
        eprintln!("skipped: unruffled is attached on this machine");
        return None;
    }
    let output = script("$U attach && exec $U detach");
    match output.status.code() {
        Some(0) => Some(turn),
        _ => {
            eprintln!("skipped: {}", text(&output).trim());
            None
        }
    }
}

/// [`turn`] on a machine where cgroups can be created.
fn turn_with_cgroups() -> Option<Turn> {
    let turn = turn()?;
    let printed = text(&script("exec $U run -- true"));
    let lacks = ["no cgroups of version 2", "Read-only file system", "Permission denied"];
    if lacks.iter().any(|lack| printed.contains(lack)) {
        eprintln!("skipped: {}", printed.trim());
        return None;
    }
    Some(turn)
}

/// Returns whether the machine lacks what real packets need, and prints it.
fn lacks(printed: &str) -> bool {
    let lacks = lack::is_lack(printed);
    if lacks {
        eprintln!("skipped: {printed}");
    }
    lacks
}

fn is_registered() -> bool {
    let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    names.is_ok_and(|names| names.split_whitespace().any(|name| name.starts_with("unruffled")))
}

/// Returns the command that runs a part of a test: an ignored test of this module.
fn part(name: &str) -> String {
    let own = std::env::current_exe().expect("a test is a program");
    format!("{} --exact loaded::{name} --ignored --nocapture", own.display())
}

/// Runs a part of a test in namespaces of its own, with a variable of the environment.
fn child(name: &str, setting: &str) {
    let output = script(&format!("export {setting}\n{}", part(name)));
    assert!(output.status.success(), "{}", text(&output));
    assert!(!is_registered());
}

/// Runs the command of the tests' namespaces, and returns what it prints.
fn command(arguments: &str) -> String {
    let mut command = Command::new("unruffled");
    let output = command.args(arguments.split(' ')).output().expect("the program is in PATH");
    assert!(output.status.success(), "{}", text(&output));
    text(&output)
}

/// Returns both ends of a connection over loopback.
fn connection(listener: &TcpListener) -> (TcpStream, TcpStream) {
    let address = listener.local_addr().expect("it listens");
    let client = TcpStream::connect(address).expect("a connection");
    (client, listener.accept().expect("the same").0)
}

/// Shell functions: `settings FILE` prints the settings of a namespace, `set_up FILE CONTROL TIMESTAMPS` changes
/// them, and `until_so COMMAND...` waits for at most 10 s.
const NAMESPACE_FUNCTIONS: &str = "d=/proc/sys/net/ipv4
    settings() { echo $(nsenter --net=$1 cat $d/tcp_congestion_control $d/tcp_timestamps); }
    set_up() { nsenter --net=$1 sh -c \"echo $2 > $d/tcp_congestion_control; echo $3 > $d/tcp_timestamps\"; }
    until_so() { for n in $(seq 200); do \"$@\" && return; sleep 0.05; done; echo never: \"$@\"; }
    sleeps() { [ \"$(cat /proc/$1/comm)\" = sleep ]; }
    is_served() { [ \"$(settings $1)\" = 'unruffled 0' ]; }\n";
