//! Tests of connections under the congestion control, and of `status`.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};
use serde_json::Value;

use super::{command, connection, turn};
use crate::{script, text};

/// Runs a part of a test in namespaces of its own.
fn child(name: &str) {
    super::child(&format!("status::{name}"), "CHILD=1");
}

#[test]
fn accepted_connections_inherit_it_until_detach() {
    let Some(_turn) = turn() else { return };
    child("listens");
}

#[test]
#[ignore = "a part of another test"]
fn listens() {
    let Ok(_) = std::env::var("CHILD") else { return };
    for (growth, control) in [("cubic", "unruffled"), ("bbr", "unruffled_bbr")] {
        command(&format!("attach --growth {growth}"));
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        set_tcp_congestion(&listener, control).expect("it is attached");
        let first = connection(&listener);
        assert_eq!(tcp_congestion(&first.1).expect("a socket"), control);
        command("detach");
        let second = connection(&listener);
        assert_ne!(tcp_congestion(&second.1).expect("a socket"), control);
        // Existing connections keep it.
        assert_eq!(tcp_congestion(&first.1).expect("a socket"), control);
    }
}

#[test]
fn a_connection_may_leave_it_and_return() {
    let Some(_turn) = turn() else { return };
    child("leaves");
}

#[test]
#[ignore = "a part of another test"]
fn leaves() {
    let Ok(_) = std::env::var("CHILD") else { return };
    command("attach");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (mut client, _server) = connection(&listener);
    let port = client.local_addr().expect("the socket is connected").port();
    let is_shown = || command("status --json").contains(&format!(":{port}\""));
    command("attach --growth bbr");
    let controls = [("unruffled", true), ("reno", false), ("unruffled", true)];
    let with_bbr = [("unruffled_bbr", true), ("bbr", false), ("unruffled_bbr", true)];
    for (control, expected) in controls.into_iter().chain(with_bbr).chain(controls) {
        set_tcp_congestion(&client, control).expect("the congestion control exists");
        client.write_all(b"x").expect("the socket is connected");
        assert_eq!(is_shown(), expected, "{control}");
    }
    command("detach");
}

/// Writes bursts of 25,000 octets every tenth of a second, 2 Mb/s, and reads them, until `end` is set.
fn bursts(stream: &mut TcpStream, reader: &mut TcpStream, end: &AtomicBool) {
    let burst = vec![0; 25_000];
    let mut read = vec![0; 25_000];
    let began = Instant::now();
    for n in 1.. {
        stream.write_all(&burst).expect("the socket is connected");
        reader.read_exact(&mut read).expect("the same");
        let next = began + n * Duration::from_millis(100);
        thread::sleep(next.saturating_duration_since(Instant::now()));
        if end.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Ends the bursts when dropped, also if the test fails.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_rate_covers_the_measured_time_and_not_a_burst() {
    let Some(_turn) = turn() else { return };
    child("rates");
}

#[test]
#[ignore = "a part of another test"]
fn rates() {
    let Ok(_) = std::env::var("CHILD") else { return };
    command("attach");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let under_it = || {
        let (client, server) = connection(&listener);
        set_tcp_congestion(&client, "unruffled").expect("unruffled is attached");
        let port = client.local_addr().expect("the socket is connected").port();
        (client, server, format!("127.0.0.1:{port}"))
    };
    let (mut steady, mut reader, name) = under_it();
    let (mut idle, _idle_reader, idle_name) = under_it();
    let (mut ended, ended_reader, ended_name) = under_it();
    for stream in [&mut idle, &mut ended] {
        stream.write_all(&[0; 50_000]).expect("the socket is connected");
    }
    // This connection sends before it is under unruffled.
    let (mut switched, mut switched_reader) = connection(&listener);
    switched.write_all(&[0; 50_000]).expect("the socket is connected");
    switched_reader.read_exact(&mut [0; 50_000]).expect("the same");
    let end = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| bursts(&mut steady, &mut reader, &end));
        let _end = End(&end);
        thread::sleep(Duration::from_millis(300));
        let status = scope.spawn(|| command("status --json"));
        thread::sleep(Duration::from_millis(400));
        drop((ended, ended_reader));
        set_tcp_congestion(&switched, "unruffled").expect("unruffled is attached");
        // 125,000 octets in an interval of a second are 1 Mb/s, whenever the connection began.
        let (mut late, mut late_reader, late_name) = under_it();
        let data = vec![0; 125_000];
        let mut read = vec![0; 125_000];
        scope.spawn(move || late.write_all(&data).map(|()| late));
        late_reader.read_exact(&mut read).expect("the socket is connected");
        let status: Value = serde_json::from_str(&status.join().expect("it runs")).expect("JSON");
        let interval = status["interval_s"].as_f64().expect("a time");
        let of = |name: &str| {
            let all = status["connections"].as_array().expect("a list");
            all.iter().find(|c| c["local"] == name).map(|c| c["rate_bps"].as_f64().expect("a rate"))
        };
        assert!((1.0..3.0).contains(&interval), "{status}");
        let steady = of(&name).expect("the connection is listed");
        assert!((1e6..4e6).contains(&steady), "{steady} b/s, and 2 Mb/s are sent: {status}");
        assert_eq!(of(&idle_name), Some(0.0), "{status}");
        assert_eq!(of(&ended_name), None, "{status}");
        assert_eq!(status["ended"], 1, "{status}");
        // On a slow machine the connection may begin after the interval.
        if let Some(late) = of(&late_name) {
            assert!(late <= 1e6, "{late} b/s: {status}");
        }
        let port = switched.local_addr().expect("the socket is connected").port();
        let switched = of(&format!("127.0.0.1:{port}"));
        assert!(switched.is_none_or(|rate| rate == 0.0), "{switched:?}: {status}");
        // Rates from one sample to the next.
        let lines = script_here("unruffled status --watch --json --interval 500ms | head -n 3");
        for line in lines.lines() {
            let status: Value = serde_json::from_str(line).expect("JSON");
            let rate = status["connections"].as_array().expect("a list").iter();
            let rate = rate.map(|c| c["rate_bps"].as_f64().expect("a rate")).fold(0.0, f64::max);
            assert!((0.5e6..5e6).contains(&rate), "{line}");
        }
    });
    let table = command("status");
    assert!(table.replace('\n', " ").contains("Mb/s: acknowledged in the last 1."), "{table}");
    command("detach");
}

/// Returns what a script prints within these namespaces.
fn script_here(text: &str) -> String {
    let output = Command::new("sh").args(["-c", text]).output().expect("a shell");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn watching_ends_with_its_reader() {
    let Some(_turn) = turn() else { return };
    let output = script("timeout 20 sh -c '$U status --watch | head -n 1'; echo $?");
    let printed = text(&output);
    assert_eq!(printed, "nothing is attached\n0\n");
}
