//! Timestamps in handshakes: of either end, and of forwarded packets.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::net::sockopt::{set_tcp_congestion, tcp_congestion};

use super::{is_registered, lacks, part, turn_with_cgroups};
use crate::{UNRUFFLED, script, text};

/// Runs `connects` and `serves` over a path, and returns what they print.
fn over_a_path(left: &str, right: &str) -> String {
    let left = format!("{left} {}", part("handshakes::connects"));
    let right = format!("{right} {}", part("handshakes::serves"));
    let output = Command::new(UNRUFFLED)
        .args(["emulate", "in-order", "--set", "bottleneck.delay=1ms", "--duration", "20s"])
        .args(["--left", &left, "--right", &right])
        .stdin(Stdio::null())
        .output()
        .expect("the program is built");
    text(&output)
}

#[test]
fn timestamps_are_removed_from_handshakes_of_either_end() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let run = format!("{UNRUFFLED} run --");
    for (left, right, timestamps) in [("", "", true), (&run, "", false), ("", &run, false)] {
        let printed = over_a_path(left, right);
        if lacks(&printed) {
            return;
        }
        let ends: Vec<_> = printed.lines().filter(|line| line.contains("control ")).collect();
        assert_eq!(ends.len(), 4, "both ends, IPv4 and IPv6: {printed}");
        for end in ends {
            assert!(end.ends_with(&format!("timestamps {timestamps}")), "{printed}");
            let under = if end.contains("connects") { left } else { right };
            assert_eq!(end.contains("control unruffled"), !under.is_empty(), "{printed}");
        }
    }
    assert!(!is_registered());
}

/// The router has a listener with the same port as the server behind it.
#[test]
fn forwarded_handshakes_keep_their_timestamps() {
    let Some(_turn) = turn_with_cgroups() else { return };
    let output = script(&format!(
        "end() {{ unshare --net sh -c 'ip link set dev lo up; exec sleep 60' & }}
        link() {{
            until ip link add dev $2 type veth peer name e netns $1 2>/dev/null; do :; done
            ip address add 10.1.$3.1/24 dev $2; ip address add fd01:$3::1/64 dev $2 nodad; ip link set dev $2 up
            nsenter --target $1 --net sh -c \"
                ip address add 10.1.$3.2/24 dev e; ip address add fd01:$3::2/64 dev e nodad; ip link set dev e up
                ip route add default via 10.1.$3.1; ip route add default via fd01:$3::1\"
        }}
        end; left=$!; end; right=$!
        sleep 0.1; link $left l 1; link $right r 2
        echo 1 > /proc/sys/net/ipv4/ip_forward; echo 1 > /proc/sys/net/ipv6/conf/all/forwarding
        root=$(grep -m1 ' cgroup2 ' /proc/self/mounts | cut -d' ' -f2)
        group=$root/unruffled-test-$$
        mkdir $group; $U attach --cgroup $group
        export UNRUFFLED_RIGHT=10.1.2.2 UNRUFFLED_RIGHT_V6=fd01:2::2
        for place in forwarded local; do
            if [ $place = forwarded ]; then
                CHILD=1 {listens} & listener=$!
                nsenter --target $right --net {serves} >/dev/null &
                sleep 1
            else
                kill $listener
                export UNRUFFLED_RIGHT=10.1.1.1 UNRUFFLED_RIGHT_V6=fd01:1::1
                sh -c \"echo 0 > $group/cgroup.procs; exec {serves}\" >/dev/null &
                sleep 1
            fi
            echo $place; nsenter --target $left --net {connects} | grep control
        done
        $U detach; kill $left $right; rmdir $group",
        listens = part("handshakes::listens_for_long"),
        serves = part("handshakes::serves"),
        connects = part("handshakes::connects"),
    ));
    let printed = text(&output);
    let words: Vec<_> = printed.lines().filter_map(|line| line.split(' ').next_back()).collect();
    let timestamps: Vec<_> =
        words.into_iter().filter(|word| ["true", "false"].contains(word)).collect();
    assert_eq!(timestamps, ["true", "true", "false", "false"], "{printed}");
    assert!(!is_registered());
}

#[test]
#[ignore = "a part of another test"]
fn listens_for_long() {
    let Ok(_) = std::env::var("CHILD") else { return };
    let listener = TcpListener::bind(("::", PORT)).expect("a port");
    set_tcp_congestion(&listener, "unruffled").expect("unruffled is attached");
    thread::sleep(Duration::from_secs(60));
}

const PORT: u16 = 5001;

/// Prints the congestion control of a connection, and whether `ss` shows timestamps.
fn report(who: &str, stream: &TcpStream) {
    let control = tcp_congestion(stream).expect("a TCP socket");
    let (port, peer) = match (stream.local_addr(), stream.peer_addr()) {
        (Ok(local), Ok(peer)) => (local.port(), peer.port()),
        _ => (0, 0),
    };
    let mut ss = Command::new("ss");
    ss.args([
        "-tinHO",
        "sport",
        "=",
        &format!(":{port}"),
        "and",
        "dport",
        "=",
        &format!(":{peer}"),
    ]);
    let output = ss.output().expect("ss is in iproute2");
    let output = String::from_utf8_lossy(&output.stdout);
    // Timestamps take 12 of the 1500 octets of a packet.
    let timestamps = output.split_whitespace().any(|word| ["mss:1448", "mss:1428"].contains(&word));
    println!("\n{who} control {control} timestamps {timestamps}");
}

#[test]
#[ignore = "a part of another test"]
fn serves() {
    let Ok(_) = std::env::var("UNRUFFLED_RIGHT") else { return };
    let listener = TcpListener::bind(("::", PORT)).expect("a port");
    for _ in 0..2 {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.read_exact(&mut [0; 1]).expect("an octet");
        report("serves", &stream);
        stream.write_all(b"x").expect("an octet back");
    }
}

#[test]
#[ignore = "a part of another test"]
fn connects() {
    for name in ["UNRUFFLED_RIGHT", "UNRUFFLED_RIGHT_V6"] {
        let Ok(address) = std::env::var(name) else { return };
        let mut stream = TcpStream::connect((address.as_str(), PORT)).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        stream.write_all(b"x").expect("an octet");
        stream.read_exact(&mut [0; 1]).expect("an octet back");
        report("connects", &stream);
    }
}
