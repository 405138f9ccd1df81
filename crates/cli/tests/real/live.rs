//! `unruffled analyze -i` in namespaces of its own.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use unruffled_live::Live;
use unruffled_net::{Error, Namespace};

/// Packets that a test sends.
const PACKETS: u64 = 500;

fn unruffled(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unruffled"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn at<T: Send>(namespace: &Namespace, work: impl FnOnce() -> T + Send) -> T {
    namespace.run(|| Ok::<T, Error>(work())).expect("enters its own namespace")
}

/// Returns a namespace with a pair of interfaces, `near` and `far`, that carry nothing by themselves. What is
/// sent to 192.0.2.2 leaves at `near` and arrives at `far`.
fn pair() -> Option<Namespace> {
    let namespace = match Namespace::new("unruffled-live") {
        Ok(namespace) => namespace,
        Err(error) => {
            eprintln!("skipped: {error}");
            return None;
        }
    };
    // Without IPv6 no neighbours are discovered.
    let _ = namespace.sysctl("net.ipv6.conf.default.disable_ipv6", "1");
    let batch = "link add near address 02:00:00:00:00:01 type veth peer name far address 02:00:00:00:00:02\n\
                 link add unused type veth peer name unused2\n\
                 addr add 192.0.2.1/24 dev near\n\
                 link set near up\nlink set far up\n\
                 neigh add 192.0.2.2 lladdr 02:00:00:00:00:02 dev near\n";
    match namespace.ip(batch) {
        Ok(()) => Some(namespace),
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Returns what `ip` shows of all interfaces, except the packets that they have counted.
fn interfaces(namespace: &Namespace) -> String {
    let shown = at(namespace, || {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "PATH=$PATH:/usr/sbin:/sbin; ip -d addr"]);
        shell.output().expect("a shell")
    });
    String::from_utf8(shown.stdout).expect("text")
}

/// A running capture.
struct Capture {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Capture {
    /// Starts it, and waits until it captures.
    fn start(namespace: &Namespace, arguments: &[&str]) -> Self {
        let arguments = [&["analyze"], arguments].concat();
        let mut child = at(namespace, || unruffled(&arguments).spawn().expect("starts"));
        let mut stderr = BufReader::new(child.stderr.take().expect("is piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("is text");
        assert!(line.starts_with("capturing "), "{line}");
        Self { child, stderr }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).expect("is text");
        line
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("runs");
    }

    /// Waits for the end; returns standard output and the rest of standard error.
    fn end(mut self) -> (String, String) {
        let mut stdout = String::new();
        let mut stderr = String::new();
        self.child.stdout.take().expect("is piped").read_to_string(&mut stdout).expect("text");
        self.stderr.read_to_string(&mut stderr).expect("text");
        assert!(self.child.wait().expect("ends").success(), "{stderr}");
        (stdout, stderr)
    }
}

/// Sends packets, and waits until they have arrived at `far`: on a busy machine the kernel delivers them later.
fn send(namespace: &Namespace) {
    at(namespace, || {
        let mut witness = Live::open("far", false).expect("is up");
        let socket = UdpSocket::bind("192.0.2.1:4000").expect("has the address");
        for n in 0..PACKETS {
            socket.send_to(&n.to_be_bytes(), "192.0.2.2:5000").expect("sends");
        }
        let deadline = Instant::now() + Duration::from_secs(30);
        let mut arrived = 0;
        while arrived < PACKETS as usize {
            assert!(Instant::now() < deadline, "{arrived} packets have arrived");
            arrived += witness.receive(|_| ()).expect("is up");
            thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn every_packet_of_an_interface_counts_once() {
    let Some(namespace) = pair() else { return };
    let before = interfaces(&namespace);
    let mut capture = Capture::start(&namespace, &["-i", "far", "--json"]);
    assert_eq!(interfaces(&namespace), before, "the capture does not change the interface");
    send(&namespace);
    let line = capture.line();
    assert!(line.contains(" packets ") && line.contains(" 0 dropped by the kernel"), "{line}");
    capture.signal(Signal::INT);
    let json: serde_json::Value = serde_json::from_str(&capture.end().0).expect("JSON");
    assert_eq!(json["capture"], "far");
    assert_eq!(json["totals"]["frames"], PACKETS);
    assert_eq!(json["udp"][0]["datagrams"], serde_json::json!([PACKETS, 0]));
    assert_eq!(json["totals"]["interfaces"][0]["name"], "far");
    assert_eq!(interfaces(&namespace), before);
}

/// Both ends of the pair show each packet.
#[test]
fn a_packet_on_two_interfaces_counts_once() {
    let Some(namespace) = pair() else { return };
    let capture = Capture::start(&namespace, &["-i", "any", "--json"]);
    send(&namespace);
    capture.signal(Signal::TERM);
    let json: serde_json::Value = serde_json::from_str(&capture.end().0).expect("JSON");
    assert_eq!(json["totals"]["frames"], 2 * PACKETS);
    assert_eq!(json["udp"][0]["datagrams"], serde_json::json!([PACKETS, 0]));
    let interfaces = json["totals"]["interfaces"].as_array().expect("interfaces");
    let copies: Vec<_> = interfaces.iter().map(|i| (&i["name"], &i["copies"])).collect();
    assert_eq!(copies, [(&"near".into(), &0.into()), (&"far".into(), &PACKETS.into())]);
}

/// The loopback interface shows a packet as it leaves and as it arrives; only one of both counts.
#[test]
fn a_transfer_over_the_loopback_interface_has_its_octets_once() {
    let Some(namespace) = pair() else { return };
    let capture = Capture::start(&namespace, &["-i", "lo", "--json", "--for", "2 s"]);
    at(&namespace, || {
        use std::io::Write as _;
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let to = listener.local_addr().expect("has an address");
        let sender = thread::spawn(move || {
            let mut stream = TcpStream::connect(to).expect("connects");
            stream.write_all(&[7; 1_000_000]).expect("is read");
        });
        let (mut stream, _) = listener.accept().expect("accepts");
        std::io::copy(&mut stream, &mut std::io::sink()).expect("is sent");
        sender.join().expect("ends");
    });
    let json: serde_json::Value = serde_json::from_str(&capture.end().0).expect("JSON");
    let connection = &json["connections"][0];
    let directions = connection["directions"].as_array().expect("two");
    let payload = |of: &serde_json::Value| of["payload_bytes"].as_u64().unwrap_or_default();
    assert_eq!(directions.iter().map(payload).sum::<u64>(), 1_000_000, "{connection}");
    assert_eq!(json["totals"]["retransmitted"], 0);
}

fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(message.lines().count(), 1, "{message}");
    message
}

#[test]
fn an_interface_that_is_missing_or_down_is_one_line() {
    let Some(namespace) = pair() else { return };
    let run = |name: &str| at(&namespace, || unruffled(&["analyze", "-i", name]).output());
    let missing = refusal(&run("naer").expect("runs"));
    let expected = "unruffled: analyze: naer: expected an interface of this machine, or any; did you mean near?\n";
    assert_eq!(missing, expected);
    let down = refusal(&run("unused").expect("runs"));
    assert_eq!(down, "unruffled: analyze: unused is down: expected an interface that is up\n");
}

/// An interface that is removed ends the capture, which shows its results. The kernel reports the end before the
/// packets that the capture has not received yet.
#[test]
fn the_end_of_an_interface_ends_its_capture() {
    let Some(namespace) = pair() else { return };
    let capture = Capture::start(&namespace, &["-i", "far", "--json"]);
    capture.signal(Signal::STOP);
    send(&namespace);
    namespace.ip("link del near\n").expect("is removed");
    capture.signal(Signal::CONT);
    let (stdout, stderr) = capture.end();
    assert!(stderr.ends_with("unruffled: far: the interface was removed\n"), "{stderr}");
    let json: serde_json::Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(json["damage"], "the interface was removed");
    assert_eq!(json["totals"]["frames"], PACKETS);
    assert_eq!(json["totals"]["interfaces"][0]["name"], "far");
}

#[test]
fn without_rights_the_capture_is_refused_in_one_line() {
    let Some(_) = pair() else { return };
    let mut command = unruffled(&["analyze", "-i", "lo"]);
    command.uid(65_534).gid(65_534).current_dir("/");
    match command.output() {
        Ok(output) => {
            let message = refusal(&output);
            assert!(message.contains("capturing packets needs root, or CAP_NET_RAW"), "{message}");
        }
        Err(error) => eprintln!("skipped: another user cannot run the command: {error}"),
    }
}
