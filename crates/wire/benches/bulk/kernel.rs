//! Kernel to kernel over a veth pair: the speed of two network namespaces without a userspace
//! stack.

use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sched::{CloneFlags, unshare};

use crate::{KERNEL, PORT, Peer, STACK, Way, carry};

/// The two ends of the pair; the second is moved to the peer's namespace.
const ENDS: (&str, &str) = ("bulk0", "bulk1");

pub(crate) fn with_offload(way: Way, span: Duration) -> u64 {
    run(way, span, true)
}

pub(crate) fn plain(way: Way, span: Duration) -> u64 {
    run(way, span, false)
}

fn run(way: Way, span: Duration, offload: bool) -> u64 {
    let mut peer = Peer::command(way);
    let mut peer = Peer(
        peer.env("BULK_VETH", if offload { "offload" } else { "plain" })
            .stdout(Stdio::piped())
            .spawn()
            .expect("a peer"),
    );
    // The peer writes a line once it is in its own namespace.
    let out = peer.0.stdout.take().expect("a pipe");
    BufReader::new(out).read_line(&mut String::new()).expect("a line");
    ip(&format!("link add {} type veth peer name {} netns {}", ENDS.0, ENDS.1, peer.0.id()));
    if !offload {
        switch_off_offload(ENDS.0);
    }
    ip(&format!("address add {STACK}/24 dev {}", ENDS.0));
    ip(&format!("link set dev {} up", ENDS.0));
    let mut stream = match way {
        Way::Sending => loop {
            match TcpStream::connect((KERNEL, PORT)) {
                Ok(stream) => break stream,
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        },
        Way::Receiving => {
            let listener = TcpListener::bind((STACK, PORT)).expect("a port");
            listener.accept().expect("a connection").0
        }
    };
    let octets = carry(&mut stream, way, span);
    drop(peer);
    // The pair disappears with the peer's namespace, but maybe only later.
    let delete = ["link", "delete", "dev", ENDS.0];
    let _ = Command::new("ip").args(delete).stderr(Stdio::null()).status();
    octets
}

/// Sets up the peer's side: its own namespace, and its end of the pair once that has been moved
/// there.
pub(crate) fn join(how: &str) {
    unshare(CloneFlags::CLONE_NEWNET).expect("a namespace");
    println!("ready");
    let up = || {
        Command::new("ip").args(["link", "set", "dev", ENDS.1, "up"]).stderr(Stdio::null()).status()
    };
    while !up().expect("ip").success() {
        std::thread::sleep(Duration::from_millis(5));
    }
    if how == "plain" {
        switch_off_offload(ENDS.1);
    }
    ip(&format!("address add {KERNEL}/24 dev {}", ENDS.1));
}

/// Switches offload off, so that a packet holds one segment, as on a wire. Needs ethtool.
fn switch_off_offload(device: &str) {
    let arguments = ["-K", device, "tso", "off", "gso", "off", "gro", "off"];
    let status = Command::new("ethtool").args(arguments).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "ethtool: expected it to be installed");
}

fn ip(line: &str) {
    let status = Command::new("ip").args(line.split_whitespace()).status().expect("ip");
    assert!(status.success(), "ip {line}");
}
