//! Tests of `--growth`.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use rustix::net::sockopt::tcp_congestion;

use super::{is_registered, part, turn, turn_with_cgroups};
use crate::{script, text};

#[test]
fn both_growths_are_attached_beside_each_other() {
    let Some(_turn) = turn() else { return };
    let output = script(
        "d=/proc/sys/net/ipv4/tcp_congestion_control
        names() { tr ' ' '\\n' < /proc/sys/net/ipv4/tcp_available_congestion_control | grep ^unruffled | sort | xargs; }
        echo reno > $d
        $U attach --growth bbr
        names
        $U attach; names
        $U attach --growth bbr --default; cat $d
        $U attach --default; cat $d
        $U attach --growth bbr --default; cat $d
        sed -i 's/\"build\": [0-9]*/\"build\": 1/' /run/unruffled/attached.json
        $U attach --growth bbr
        $U detach
        cat $d /proc/sys/net/ipv4/tcp_timestamps
        names
        ls -d /sys/fs/bpf/unruffled /run/unruffled 2>/dev/null | wc -l",
    );
    let choose = "; programs may choose it (TCP_CONGESTION)";
    let default = "the default of this network namespace, without timestamps";
    let expected = [
        format!("unruffled_bbr is in the kernel now{choose}"),
        "unruffled_bbr".to_owned(),
        format!("unruffled is in the kernel now{choose}"),
        "unruffled unruffled_bbr".to_owned(),
        format!("unruffled_bbr was in the kernel already; it is now {default}"),
        "unruffled_bbr".to_owned(),
        format!("unruffled was in the kernel already; it is now {default}"),
        "unruffled".to_owned(),
        format!("unruffled_bbr was in the kernel already; it is now {default}"),
        "unruffled_bbr".to_owned(),
        format!(
            "unruffled_bbr was in the kernel already, by another build, whose it stays until \
             `unruffled detach`{choose}"
        ),
        "unruffled is detached".to_owned(),
        "reno".to_owned(),
        "1".to_owned(),
        String::new(),
        "0".to_owned(),
    ];
    assert_eq!(text(&output).lines().collect::<Vec<_>>(), expected);
    assert!(!is_registered());
}

/// A connection of the command has the growth, and `status` shows it.
#[test]
fn run_gives_its_command_the_requested_growth() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(&format!(
        "for growth in cubic bbr; do $U run --growth $growth -- env CHILD=1 {connects}; done
        $U run env CHILD=1 {connects}",
        connects = part("growth::connects"),
    ));
    let printed = text(&output);
    let shown: Vec<_> = printed.lines().filter_map(|line| line.strip_prefix("shown: ")).collect();
    assert_eq!(shown, ["unruffled cubic", "unruffled_bbr bbr", "unruffled cubic"], "{printed}");
    assert!(!is_registered());
}

/// The last `attach` decides.
#[test]
fn a_cgroup_has_the_requested_growth() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(&format!(
        "root=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2)
        group=$root/unruffled-test-$$
        mkdir $group
        for growth in bbr cubic bbr; do
            $U attach --growth $growth --cgroup $group >&2
            sh -c \"echo 0 > $group/cgroup.procs; exec env CHILD=1 {connects}\"
        done
        $U detach >&2
        sh -c \"echo 0 > $group/cgroup.procs; exec env CHILD=1 {connects}\"
        rmdir $group",
        connects = part("growth::connects"),
    ));
    let printed = text(&output);
    let shown: Vec<_> = printed.lines().filter_map(|line| line.strip_prefix("shown: ")).collect();
    let expected = ["unruffled_bbr bbr", "unruffled cubic", "unruffled_bbr bbr"];
    assert_eq!(shown[..3], expected, "{printed}");
    assert!(shown[3].ends_with(" none"), "{printed}");
    assert!(!is_registered());
}

/// Prints the congestion control of a connection, and the growth that `status` shows for it.
#[test]
#[ignore = "a part of another test"]
fn connects() {
    let Ok(_) = std::env::var("CHILD") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let mut client = TcpStream::connect(listener.local_addr().expect("it listens"));
    let client = client.as_mut().expect("a connection");
    let mut server = listener.accept().expect("the same").0;
    client.write_all(&[0; 100_000]).expect("the socket is connected");
    server.read_exact(&mut [0; 100_000]).expect("the same");
    let control = tcp_congestion(&*client).expect("a socket");
    let own = client.local_addr().expect("the socket is connected").to_string();
    let status = std::process::Command::new("unruffled").args(["status", "--json"]).output();
    let status = status.expect("the program is in PATH").stdout;
    let status: serde_json::Value = serde_json::from_slice(&status).expect("JSON");
    let connections = status["connections"].as_array().expect("a list");
    let growth = connections.iter().find(|c| c["local"] == *own);
    let growth = growth.map_or("none", |c| c["growth"].as_str().expect("a name"));
    println!("\nshown: {control} {growth}");
}
