//! Tests of `--existing`.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use serde_json::Value;

use super::{command, connection, turn, turn_with_cgroups};
use crate::text;

/// Runs a part of a test in namespaces of its own.
fn child(name: &str) {
    super::child(
        &format!("existing::{name}"),
        "DEFAULT=$(cat /proc/sys/net/ipv4/tcp_congestion_control)",
    );
}

fn control(stream: &TcpStream) -> String {
    tcp_congestion(stream).expect("a socket")
}

#[test]
fn open_connections_are_switched_and_switched_back() {
    let Some(_turn) = turn() else { return };
    child("switches");
}

#[test]
#[ignore = "a part of another test"]
fn switches() {
    let Ok(default) = std::env::var("DEFAULT") else { return };
    let other = if default == "reno" { "cubic" } else { "reno" };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (mut client, server) = connection(&listener);
    let (chosen, peer) = connection(&listener);
    set_tcp_congestion(&chosen, other).expect("it exists");
    let v6 = TcpListener::bind("[::1]:0").expect("a port");
    let (mut client_v6, server_v6) = connection(&v6);
    // A second time, connections that were switched back are switched again.
    for _ in 0..2 {
        let printed = command("attach --default --existing");
        assert!(printed.ends_with("; 5 open connections switched\n"), "{printed}");
        for switched in [&client, &server, &peer, &client_v6, &server_v6] {
            assert_eq!(control(switched), "unruffled");
        }
        assert_eq!(control(&chosen), other);
        client.write_all(&[0; 10_000]).expect("it is connected");
        client_v6.write_all(&[0; 10_000]).expect("it is connected");
        let status: Value = serde_json::from_str(&command("status --json")).expect("JSON");
        // One of a namespace that has ended may still be closing.
        let own = std::fs::metadata("/proc/self/ns/net").map(|own| own.ino()).expect("procfs");
        let of_own = |connection: &&Value| connection["namespace"] == own;
        let connections = status["connections"].as_array().expect("a list");
        assert_eq!(connections.iter().filter(of_own).count(), 5, "{status}");
        let pid = std::process::id();
        let of_process = command(&format!("status --json --pid {pid}"));
        assert_eq!(of_process.matches("\"peer\"").count(), 5, "{of_process}");
        let of_another =
            "ip netns add other && unruffled status --json --netns other; ip netns del other";
        let of_another = Command::new("sh").args(["-c", of_another]).output().expect("a shell");
        assert_eq!(text(&of_another).matches("\"peer\"").count(), 0, "{of_another:?}");
        assert!(of_another.status.success(), "{of_another:?}");
        // A new connection, and one that chooses another congestion control now, are not switched back.
        let (new, _peer) = connection(&listener);
        set_tcp_congestion(&peer, other).expect("it exists");
        let printed = command("detach");
        assert_eq!(printed, "unruffled is detached; 4 open connections switched back\n");
        for switched in [&client, &server, &client_v6, &server_v6] {
            assert_eq!(control(switched), default);
        }
        assert_eq!((control(&chosen), control(&peer)), (other.to_owned(), other.to_owned()));
        assert_eq!(control(&new), "unruffled");
        drop((new, _peer));
        set_tcp_congestion(&peer, &default).expect("it exists");
    }
}

#[test]
fn the_daemon_and_a_single_namespace_switch_connections() {
    let Some(_turn) = turn() else { return };
    child("switches_everywhere");
}

#[test]
#[ignore = "a part of another test"]
fn switches_everywhere() {
    let Ok(default) = std::env::var("DEFAULT") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (client, _server) = connection(&listener);
    let pid = std::process::id();
    let printed = command(&format!("attach --pid {pid} --existing"));
    assert!(printed.ends_with("; 2 open connections switched\n"), "{printed}");
    let printed = command(&format!("detach --pid {pid}"));
    assert!(printed.contains("; 2 open connections switched back"), "{printed}");
    assert_eq!(control(&client), default);
    command("detach");
    let daemon = Command::new("unruffled").args(["attach", "--all", "--existing"]).spawn();
    let mut daemon = daemon.expect("the program is in PATH");
    for _ in 0..400 {
        if control(&client) == "unruffled" {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    assert_eq!(control(&client), "unruffled");
    daemon.kill().expect("it runs");
    daemon.wait().expect("it has ended");
    assert_eq!(command("detach"), "unruffled is detached; 2 open connections switched back\n");
    assert_eq!(control(&client), default);
}

#[test]
fn only_the_connections_of_a_cgroup_are_switched() {
    let Some(_turn) = turn_with_cgroups() else { return };
    child("switches_in_a_cgroup");
}

#[test]
#[ignore = "a part of another test"]
fn switches_in_a_cgroup() {
    let Ok(default) = std::env::var("DEFAULT") else { return };
    let mounts = std::fs::read_to_string("/proc/self/mounts").expect("procfs");
    let root = mounts.lines().find(|line| line.split(' ').nth(2) == Some("cgroup2"));
    let root = root.and_then(|line| line.split(' ').nth(1)).expect("cgroups are mounted");
    let own = std::fs::read_to_string("/proc/self/cgroup").expect("procfs");
    let own = own.lines().find_map(|line| line.strip_prefix("0::")).expect("version 2").to_owned();
    let cgroup = format!("{root}/unruffled-test-{}", std::process::id());
    let within = format!("{cgroup}/within");
    std::fs::create_dir_all(&within).expect("a cgroup");
    let enter = |cgroup: &str| std::fs::write(format!("{cgroup}/cgroup.procs"), "0");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let outside = connection(&listener);
    // A socket belongs to the cgroup in which it was made.
    enter(&within).expect("a member");
    let address = listener.local_addr().expect("it listens");
    let inside = TcpStream::connect(address).expect("a connection");
    enter(&format!("{root}{own}")).expect("a member");
    let printed = command(&format!("attach --cgroup {cgroup} --existing"));
    let ends = [control(&outside.0), control(&outside.1), control(&inside)];
    let detached = command("detach");
    let after = control(&inside);
    let _ = std::fs::remove_dir(&within).and_then(|()| std::fs::remove_dir(&cgroup));
    assert!(printed.ends_with("; 1 open connection switched\n"), "{printed}");
    assert_eq!(ends, [default.clone(), default.clone(), "unruffled".to_owned()]);
    assert_eq!(detached, "unruffled is detached; 1 open connection switched back\n");
    assert_eq!(after, default);
}
