//! Tests of what `status` lists and exports, and of the port of `attach --all`.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv6Addr, TcpListener, TcpStream};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::set_tcp_congestion;
use rustix::net::{AddressFamily, SocketType, ipproto};
use serde_json::Value;

use super::{
    NAMESPACE_FUNCTIONS, command, connection, is_registered, part, turn, turn_with_cgroups,
};
use crate::{script, text};

/// Runs a part of a test in namespaces of its own.
fn child(name: &str) {
    super::child(&format!("monitoring::{name}"), "CHILD=1");
}

fn is_part() -> bool {
    std::env::var_os("CHILD").is_some()
}

fn status() -> Value {
    serde_json::from_str(&command("status --json --interval 100ms")).expect("JSON")
}

/// Returns the values of the metrics by name and labels.
fn metrics_of(text: &str) -> BTreeMap<String, f64> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    let sample = |line: &str| {
        let (name, value) = line.rsplit_once(' ').expect("a value");
        (name.to_owned(), value.parse().expect("a number"))
    };
    samples.map(sample).collect()
}

fn metrics() -> BTreeMap<String, f64> {
    let text = command("status --openmetrics --interval 100ms");
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    metrics_of(&text)
}

/// Returns the sum of a metric over its labels.
fn sum(metrics: &BTreeMap<String, f64>, name: &str) -> f64 {
    let of_name = |labelled: &str| labelled.split('{').next() == Some(name);
    metrics.iter().filter(|(labelled, _)| of_name(labelled)).map(|(_, value)| value).sum()
}

/// Returns a counter of the latest registration. Connections of earlier ones may still be open.
fn latest(metrics: &BTreeMap<String, f64>, name: &str) -> f64 {
    let of_name = |labelled: &str| {
        let (found, labels) = labelled.split_once("{registration=\"")?;
        let registration: u32 = labels.split('"').next()?.parse().ok()?;
        (found == name).then_some(registration)
    };
    let registrations = metrics.iter().filter_map(|(key, value)| Some((of_name(key)?, *value)));
    registrations.max_by_key(|(registration, _)| *registration).map_or(0.0, |(_, value)| value)
}

/// Returns a gauge of this network namespace.
fn here(metrics: &BTreeMap<String, f64>, name: &str) -> f64 {
    let own = std::fs::read_link("/proc/self/ns/net").expect("procfs");
    let labelled = format!("{name}{{namespace=\"{}\",growth=\"cubic\"}}", own.display());
    metrics.get(&labelled).copied().unwrap_or(0.0)
}

#[test]
fn status_lists_what_is_attached_where_and_since_when() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(&format!(
        "{NAMESPACE_FUNCTIONS}
        cgroups=$(awk '$3 == \"cgroup2\" {{ print $2; exit }}' /proc/mounts)
        mkdir $cgroups/unruffled-test-$$
        ip link add v0 type veth peer name v1
        ip netns add red; set_up /run/netns/red reno 1
        set_up /proc/self/ns/net reno 1
        $U status | head -n 1
        date +%s
        $U attach --default > /dev/null
        $U attach --netns red --growth bbr > /dev/null
        $U attach --cgroup $cgroups/unruffled-test-$$ > /dev/null
        $U status --json --interval 100ms
        COLUMNS=200 $U status --interval 100ms
        echo end
        ip link del v0
        $U status --json --interval 100ms
        $U detach > /dev/null
        rmdir $cgroups/unruffled-test-$$"
    ));
    let printed = text(&output);
    let mut lines = printed.lines();
    let mut next = || lines.next().unwrap_or_else(|| panic!("too short: {printed}"));
    assert_eq!(next(), "nothing is attached");
    let began: u64 = next().parse().expect("a time");
    let status: Value = serde_json::from_str(next()).expect("JSON");
    let attached = &status["attached"];
    let is_recent = |since: &Value| (began..began + 60).contains(&since.as_u64().unwrap_or(0));
    let controls = attached["controls"].as_array().expect("a list");
    let growths: Vec<_> = controls.iter().map(|control| &control["growth"]).collect();
    assert_eq!(growths, ["cubic", "bbr"], "{printed}");
    for control in controls {
        assert_eq!(control["version"], env!("CARGO_PKG_VERSION"), "{printed}");
        assert_eq!(control["is_of_this_build"], true, "{printed}");
        assert!(is_recent(&control["since"]), "{printed}");
    }
    let namespaces = attached["namespaces"].as_array().expect("a list");
    let formers: Vec<_> =
        namespaces.iter().map(|one| (one["growth"].as_str(), one["former"].as_str())).collect();
    assert_eq!(formers, [(Some("cubic"), Some("reno")), (Some("bbr"), Some("reno"))], "{printed}");
    assert!(namespaces.iter().all(|one| is_recent(&one["since"])), "{printed}");
    let filters = |attached: &Value| {
        let filters = attached["filters"].as_array().expect("a list").clone();
        let names = filters.iter().map(|filter| filter["name"].as_str().map(str::to_owned));
        names.map(|name| name.expect("a name")).collect::<Vec<_>>()
    };
    // In the order of their numbers: the second end is made first.
    let mut names = filters(attached);
    names.sort();
    assert_eq!(names, ["v0", "v1"], "{printed}");
    assert!(is_recent(&attached["filters"][0]["since"]), "{printed}");
    let mut people = Vec::new();
    loop {
        match next() {
            "end" => break,
            line => people.push(line),
        }
    }
    let has = |start: &str, end: &str| {
        let found = people.iter().any(|line| line.starts_with(start) && line.contains(end));
        assert!(found, "{start} … {end}: {printed}");
    };
    has(concat!("kernel   unruffled ", env!("CARGO_PKG_VERSION"), ", since "), " UTC");
    has(concat!("kernel   unruffled_bbr ", env!("CARGO_PKG_VERSION"), ", since "), " UTC");
    has("default  unruffled in this network namespace, in place of reno, since ", " UTC");
    has("default  unruffled_bbr in red, in place of reno, since ", " UTC");
    has("cgroup   unruffled for new connections of /", "/unruffled-test-");
    has("filters  no timestamps by v", " of this network namespace, since ");
    // The programs of an interface that has disappeared are not listed.
    let status: Value = serde_json::from_str(next()).expect("JSON");
    assert_eq!(filters(&status["attached"]), [""; 0], "{printed}");
    assert!(!is_registered());
}

#[test]
fn a_namespace_that_has_inherited_the_default_is_listed() {
    let Some(_turn) = turn() else { return };
    // Only namespaces of the first one's default inherit it, so the default is set by hand.
    let output = script(&format!(
        "{NAMESPACE_FUNCTIONS}
        $U attach > /dev/null
        ip netns add red; set_up /run/netns/red unruffled 1
        $U status | grep '^default'
        $U detach > /dev/null; settings /run/netns/red | grep -c unruffled"
    ));
    let expected = "default  unruffled in red, inherited, with timestamps\n0\n";
    assert_eq!(text(&output), expected);
}

#[test]
fn totals_count_connections_that_have_ended() {
    let Some(_turn) = turn() else { return };
    child("counts_totals");
}

#[test]
#[ignore = "a part of another test"]
fn counts_totals() {
    if !is_part() {
        return;
    }
    command("attach");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let sent = |octets: usize| {
        let (mut client, mut server) = connection(&listener);
        set_tcp_congestion(&client, "unruffled").expect("it is attached");
        client.write_all(&vec![0; octets]).expect("it is connected");
        server.read_exact(&mut vec![0; octets]).expect("the same");
        (client, server)
    };
    // Each total is as high as before, whenever it is read.
    let mut former = 0.0;
    let mut open = Vec::new();
    for number in 1..=6_u32 {
        open.push(sent(1000));
        if number % 2 == 0 {
            // One ends, and one leaves for another congestion control.
            let (client, server) = open.remove(0);
            drop((client, server));
            set_tcp_congestion(&open[0].0, "reno").expect("the kernel has it");
            open.remove(0);
        }
        let metrics = metrics();
        let acked = latest(&metrics, "unruffled_acknowledged_bytes_total");
        // The last segments may not be acknowledged yet.
        assert!(acked >= former && acked <= 1002.0 * f64::from(number), "{metrics:?}");
        former = acked;
        assert_eq!(
            latest(&metrics, "unruffled_started_connections_total"),
            f64::from(number),
            "{metrics:?}"
        );
        assert_eq!(here(&metrics, "unruffled_connections"), open.len() as f64, "{metrics:?}");
    }
    assert!(open.is_empty());
    let status = status();
    let totals = status["totals"].as_array().expect("a list");
    let totals = totals.iter().max_by_key(|totals| totals["registration"].as_u64());
    let totals = totals.expect("one");
    assert_eq!((&totals["growth"], &totals["connections"]), (&"cubic".into(), &6.into()));
    assert!(totals["acked"].as_u64() >= Some(6000), "{status}");
    // A connection that comes back is another one.
    let (mut client, mut server) = sent(1000);
    set_tcp_congestion(&client, "reno").expect("the kernel has it");
    set_tcp_congestion(&client, "unruffled").expect("it is attached");
    client.write_all(&[0; 10]).expect("it is connected");
    server.read_exact(&mut [0; 10]).expect("the same");
    assert_eq!(latest(&metrics(), "unruffled_started_connections_total"), 8.0);
    // Another registration has totals of its own, also while connections of the first one are open.
    command("detach");
    command("attach");
    let (_client, _server) = sent(500);
    let metrics = metrics();
    assert_eq!(latest(&metrics, "unruffled_started_connections_total"), 1.0, "{metrics:?}");
    assert!(sum(&metrics, "unruffled_started_connections_total") >= 9.0, "{metrics:?}");
    command("detach");
}

#[test]
fn a_connection_has_its_program_and_its_namespace() {
    let Some(_turn) = turn() else { return };
    child("has_a_program");
}

#[test]
#[ignore = "a part of another test"]
fn has_a_program() {
    if !is_part() {
        return;
    }
    command("attach");
    let address = "2001:db8:1234:5678:9abc:def0:1234:5678";
    let added = Command::new("ip").args(["addr", "add", address, "dev", "lo", "nodad"]).status();
    assert!(added.is_ok_and(|status| status.success()));
    let ip: Ipv6Addr = address.parse().expect("an address");
    let listener = TcpListener::bind((IpAddr::V6(ip), 0)).expect("a port");
    let (mut client, server) = connection(&listener);
    set_tcp_congestion(&client, "unruffled").expect("it is attached");
    client.write_all(b"x").expect("it is connected");
    let status = status();
    let to = listener.local_addr().expect("it listens").to_string();
    let rows = status["connections"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["peer"] == to.as_str()).expect("it is listed");
    assert_eq!(row["pid"], std::process::id(), "{status}");
    let own = std::fs::read_to_string("/proc/self/comm").expect("procfs");
    assert_eq!(row["program"], own.trim(), "{status}");
    assert_eq!(row["namespace_reachable"], true, "{status}");
    assert_eq!((&row["namespace_name"], &row["mptcp"]), (&Value::Null, &false.into()), "{status}");
    assert!(row["inode"].as_u64() > Some(0), "{status}");
    // The table fits 80 columns, where there is no terminal, too.
    let table = command("status --interval 100ms");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    assert!(table.contains("[2001:db8:…5678]:"), "{table}");
    let peer = server.local_addr().expect("it is connected");
    let wide = Command::new("sh")
        .args(["-c", "COLUMNS=220 unruffled status --interval 100ms"])
        .output()
        .expect("a shell");
    assert!(text(&wide).contains(&peer.to_string()), "{}", text(&wide));
    // A row for each of the first connections.
    let (other, _other_server) = connection(&listener);
    set_tcp_congestion(&other, "unruffled").expect("it is attached");
    let own = std::process::id();
    let sorted = format!("status --json --interval 100ms --sort age --top 1 --pid {own}");
    let sorted = command(&sorted);
    let sorted: Value = serde_json::from_str(&sorted).expect("JSON");
    let connections = sorted["connections"].as_array().expect("a list");
    assert_eq!(connections.len(), 1, "{sorted}");
    let local = client.local_addr().expect("it is connected").to_string();
    assert_eq!(connections[0]["local"], local.as_str(), "{sorted}");
    command("detach");
}

#[test]
fn a_connection_whose_namespace_has_ended_is_marked() {
    let Some(_turn) = turn() else { return };
    let abandoned = part("monitoring::leaves_a_connection");
    let output = script(&format!(
        "$U attach > /dev/null
        LEAVE=1 {abandoned} > /dev/null
        $U status --json --interval 100ms
        $U status --interval 100ms
        $U status --openmetrics --interval 100ms | grep unreachable_connections
        # Later tests count connections.
        for n in $(seq 60); do
            $U status --json --interval 100ms | grep -q \"\\\"namespace\\\":$(cat /run/left),\" || break
            sleep 1
        done
        cat /run/left
        $U detach > /dev/null"
    ));
    let printed = text(&output);
    let status: Value = serde_json::from_str(printed.lines().next().expect("JSON")).expect("JSON");
    let namespace = printed.lines().last().expect("a number").parse::<u64>().expect("a number");
    let rows = status["connections"].as_array().expect("a list");
    let row = rows.iter().find(|row| row["namespace"] == namespace).expect("it is listed");
    assert_eq!(row["namespace_reachable"], false, "{printed}");
    assert_eq!((&row["pid"], &row["inode"]), (&Value::Null, &Value::Null), "{printed}");
    assert!(row["namespace_name"].as_str().is_some_and(|name| name.starts_with("net:[")));
    let marked = |line: &str| line.split_whitespace().nth(1) == Some("gone");
    assert!(printed.lines().any(marked), "{printed}");
    assert!(printed.contains("gone: no process or file leads to its namespace"), "{printed}");
    let unreachable =
        metrics_of(printed.lines().rfind(|line| line.contains("unreachable")).expect("it"));
    assert!(unreachable["unruffled_unreachable_connections"] >= 1.0, "{printed}");
    assert!(!is_registered());
}

/// Leaves a connection with data that nothing acknowledges, in a network namespace that only it keeps.
#[test]
#[ignore = "a part of another test"]
fn leaves_a_connection() {
    if std::env::var_os("LEAVE").is_none() {
        return;
    }
    let leaves = thread::spawn(|| {
        #[expect(deprecated, reason = "deprecated because of other flags")]
        rustix::thread::unshare(rustix::thread::UnshareFlags::NEWNET).expect("root");
        let set = |state: &str| {
            let arguments = ["link", "set", "dev", "lo", state];
            assert!(Command::new("ip").args(arguments).status().is_ok_and(|set| set.success()));
        };
        set("up");
        let own = std::fs::metadata("/proc/thread-self/ns/net").expect("procfs").ino();
        std::fs::write("/run/left", format!("{own}\n")).expect("it is writable");
        // The kernel ends the connection after some seconds.
        std::fs::write("/proc/sys/net/ipv4/tcp_orphan_retries", "4").expect("root");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (mut client, server) = connection(&listener);
        // The server's end is under the kernel's default.
        set_tcp_congestion(&client, "unruffled").expect("it is attached");
        set("down");
        client.write_all(b"x").expect("it is connected");
        drop((client, server));
    });
    leaves.join().expect("a connection is left");
}

#[test]
fn a_subflow_of_mptcp_is_marked() {
    let Some(_turn) = turn() else { return };
    child("has_a_subflow");
}

#[test]
#[ignore = "a part of another test"]
fn has_a_subflow() {
    if !is_part() {
        return;
    }
    let mptcp =
        || rustix::net::socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::MPTCP));
    let Ok(listener) = mptcp() else { return eprintln!("skipped: no MPTCP") };
    command("attach --default");
    // Sockets have the default of the time at which they are made.
    let any: std::net::SocketAddr = ([127, 0, 0, 1], 7999).into();
    rustix::net::bind(&listener, &any).expect("a port");
    rustix::net::listen(&listener, 1).expect("it listens");
    let client: OwnedFd = mptcp().expect("as before");
    rustix::net::connect(&client, &any).expect("a connection");
    let _server = rustix::net::accept(listener.as_fd()).expect("the same");
    rustix::io::write(&client, b"x").expect("it is connected");
    let status = status();
    let rows = status["connections"].as_array().expect("a list");
    let of_client = rows.iter().find(|row| row["peer"] == "127.0.0.1:7999");
    let of_client = of_client.unwrap_or_else(|| panic!("{status}"));
    assert_eq!(of_client["mptcp"], true, "{status}");
    assert_eq!(of_client["pid"], std::process::id(), "{status}");
    let table = command("status --interval 100ms");
    assert!(table.contains(" mptcp "), "{table}");
    assert!(sum(&metrics(), "unruffled_mptcp_subflows") >= 1.0);
    command("detach");
}

#[test]
fn the_daemon_exports_metrics_at_a_port() {
    let Some(_turn) = turn() else { return };
    let reads = part("monitoring::reads_the_port");
    let output = script(&format!(
        "{NAMESPACE_FUNCTIONS}
        $U attach --all --metrics-port 9845 > /run/log 2>&1 & daemon=$!
        until_so [ -s /run/log ]
        PORT=9845 {reads} || cat /run/log
        kill $daemon; wait $daemon
        $U detach > /dev/null"
    ));
    assert!(text(&output).contains("1 passed"), "{}", text(&output));
    assert!(!is_registered());
}

/// Returns the body of an answer, whose status is 200.
fn get(port: u16) -> String {
    let mut client = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    client.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
    client.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("it is connected");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer");
    let (header, body) = answer.split_once("\r\n\r\n").expect("a header");
    assert!(header.starts_with("HTTP/1.1 200 OK\r\n"), "{header}");
    assert!(header.contains("application/openmetrics-text; version=1.0.0"), "{header}");
    body.to_owned()
}

#[test]
#[ignore = "a part of another test"]
fn reads_the_port() {
    let Ok(port) = std::env::var("PORT") else { return };
    let port: u16 = port.parse().expect("a number");
    // Clients that send nothing do not stop others.
    let _slow: Vec<_> =
        (0..5).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("a connection")).collect();
    let before = metrics_of(&get(port));
    assert_eq!(before.get("unruffled_daemon_running"), Some(&1.0), "{before:?}");
    assert_eq!(sum(&before, "unruffled_registered"), 1.0, "{before:?}");
    assert!(sum(&before, "unruffled_attached_namespaces") >= 1.0, "{before:?}");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (mut client, mut server) = connection(&listener);
    client.write_all(&[0; 50_000]).expect("it is connected");
    server.read_exact(&mut [0; 50_000]).expect("the same");
    thread::sleep(Duration::from_millis(1100));
    let text = get(port);
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let after = metrics_of(&text);
    let acked = |metrics| sum(metrics, "unruffled_acknowledged_bytes_total");
    assert!(acked(&after) >= acked(&before) + 50_000.0, "{before:?} {after:?}");
    // At least 50,000 octets in the time since the first request.
    assert!(sum(&after, "unruffled_acknowledged_bytes_per_second") > 1000.0, "{after:?}");
    // Within a second, the same text.
    assert_eq!(get(port), get(port));
}

#[test]
fn a_port_that_is_taken_is_refused_before_anything_is_attached() {
    let Some(_turn) = turn() else { return };
    let output = script(&format!(
        "{NAMESPACE_FUNCTIONS}
        settings /proc/self/ns/net > /run/before
        $U attach --all --metrics-port 9845 > /run/log 2>&1 & daemon=$!
        until_so [ -s /run/log ]
        $U attach --all --metrics-port 9845; echo $?
        $U detach > /dev/null; wait $daemon
        $U attach --metrics-port 9845; echo $?
        settings /proc/self/ns/net | diff - /run/before && echo as before
        ls /run/unruffled 2>/dev/null | wc -l"
    ));
    let printed = text(&output);
    let mut lines: Vec<_> = printed.lines().collect();
    lines.sort_unstable();
    let refusals: Vec<_> = lines.iter().filter(|line| line.starts_with("unruffled: ")).collect();
    assert_eq!(refusals.len(), 2, "{printed}");
    assert!(refusals[0].starts_with("unruffled: attach: --metrics-port 9845: "), "{printed}");
    assert!(refusals[0].ends_with(": expected a free port of 127.0.0.1"), "{printed}");
    assert_eq!(*refusals[1], "unruffled: attach: --metrics-port: expected --all with it");
    assert_eq!(lines.iter().filter(|line| **line == "2").count(), 2, "{printed}");
    assert!(lines.contains(&"as before") && lines.contains(&"0"), "{printed}");
    assert!(!is_registered());
}
