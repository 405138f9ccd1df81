//! Queues of the kernel, in a network namespace of their own. Without the rights for one, or without the
//! programs, tests print that they are skipped.

use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use unruffled_net::{Error, Namespace};

use crate::message::{self, Message};
use crate::queues::{Queues, last_id};
use crate::socket::Socket;
use crate::system::Datagrams;
use crate::verdicts::Verdicts;
use crate::{Hook, PortRange, Settings, rules};

/// Runs `work` in a namespace where datagrams to the port 9 of the loopback interface enter `queue`, or skips
/// the test.
fn in_namespace(queue: u16, work: impl FnOnce() + Send) {
    let namespace = match Namespace::new("unruffled-queue") {
        Ok(namespace) => namespace,
        Err(lack) if lack.is_lack() => return eprintln!("skipped: {lack}"),
        Err(error) => panic!("{error}"),
    };
    let rule = |program: &str| {
        let line = format!(
            "PATH=$PATH:/usr/sbin:/sbin; {program} -t raw -A PREROUTING -i lo -p udp --dport 9 \
             -j NFQUEUE --queue-num {queue} --queue-bypass"
        );
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &line]).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
    };
    let run = || {
        if rule("iptables") || rule("iptables-legacy") {
            work();
        } else {
            eprintln!("skipped: no rule that queues packets");
        }
        Ok::<(), Error>(())
    };
    namespace.run(run).expect("enters its own namespace");
}

/// Sends numbered datagrams to the port 9.
fn send(numbers: std::ops::Range<u8>) {
    let sender = UdpSocket::bind("127.0.0.1:0").expect("a port");
    for number in numbers {
        sender.send_to(&[number], "127.0.0.1:9").expect("is sent");
    }
}

/// Returns a socket with room for all that a test sends, however late its thread reads.
fn receiver() -> UdpSocket {
    let receiver = UdpSocket::bind("127.0.0.1:9").expect("a port");
    set_socket_recv_buffer_size_force(&receiver, 8 << 20).expect("root may");
    receiver.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    receiver
}

/// Returns the numbers of the datagrams that arrive.
fn arrivals(receiver: &UdpSocket) -> Vec<u8> {
    let mut buffer = [0; 9];
    std::iter::from_fn(|| receiver.recv(&mut buffer).ok().map(|_| buffer[0])).collect()
}

/// Reads packet messages until `count` have come, and returns their ids and the last octet of each.
fn read(socket: &Socket, count: usize) -> Vec<(u32, u8)> {
    let mut found = Vec::new();
    let mut datagrams = Datagrams::new();
    while found.len() < count {
        socket.wait(Duration::from_secs(1)).expect("can wait");
        datagrams.receive(socket).expect("packets wait");
        for message in datagrams.iter().flat_map(message::decode) {
            let Message::Packet(packet) = message else { panic!("{message:?}") };
            assert_eq!(packet.length, 29, "IPv4, UDP and an octet");
            found.push((packet.id, packet.head[28]));
        }
    }
    found
}

#[test]
fn the_order_of_verdicts_is_the_order_of_delivery() {
    in_namespace(7, || {
        let socket = Socket::open().expect("opens");
        assert!(socket.bind(7).expect("binds"));
        let receiver = receiver();
        send(0..8);
        let packets = read(&socket, 8);
        assert_eq!(
            packets.iter().map(|(_, number)| *number).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
        let order = [3, 7, 0, 5, 1, 2, 6, 4];
        let mut verdicts = Verdicts::new(7);
        for number in order {
            verdicts.push(packets[number].0, &socket).expect("is sent");
        }
        // An unknown id stops nothing.
        verdicts.push(99, &socket).expect("is sent");
        verdicts.send(&socket).expect("is sent");
        assert_eq!(arrivals(&receiver), [3, 7, 0, 5, 1, 2, 6, 4]);
    });
}

#[test]
fn all_that_is_held_is_released_in_the_order_of_arrival_and_later_packets_pass() {
    in_namespace(42_000, || {
        let queues = Queues::bind(1).expect("binds");
        assert_eq!(queues.numbers(), [42_000]);
        let receiver = receiver();
        send(0..5);
        queues.release_all();
        send(5..8);
        assert_eq!(arrivals(&receiver), [0, 1, 2, 3, 4, 5, 6, 7]);
        queues.discard_messages();
        queues.set_length(65_536);
        send(8..10);
        assert!(arrivals(&receiver).is_empty(), "they wait for verdicts again");
        queues.release_all();
        assert_eq!(arrivals(&receiver), [8, 9]);
    });
}

#[test]
fn packets_that_arrive_while_a_queue_is_configured_are_not_lost() {
    in_namespace(7, || {
        let receiver = receiver();
        let socket = Socket::open().expect("opens");
        std::thread::scope(|scope| {
            let arrived = scope.spawn(|| {
                receiver.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
                (0..2000).take_while(|_| receiver.recv(&mut [0; 9]).is_ok()).count()
            });
            let sender = scope.spawn(|| {
                for _ in 0..20 {
                    send(0..100);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            std::thread::sleep(Duration::from_millis(5));
            assert!(socket.bind(7).expect("binds"));
            let release = || {
                let last = last_id(7).expect("is bound");
                socket.release_all(7, last).expect("is sent");
            };
            release();
            sender.join().expect("has sent");
            release();
            assert_eq!(arrived.join().expect("has read"), 2000);
        });
    });
}

#[test]
fn queues_have_consecutive_numbers_that_are_free() {
    in_namespace(7, || {
        let other = Socket::open().expect("opens");
        assert!(other.bind(42_002).expect("binds"));
        let queues = Queues::bind(3).expect("binds");
        assert_eq!(queues.numbers(), [42_003, 42_004, 42_005]);
        let again = Socket::open().expect("opens");
        assert!(!again.bind(42_002).expect("is answered"), "it has another owner");
    });
}

#[test]
fn rules_of_every_kind_are_accepted_and_removed() {
    in_namespace(7, || {
        for hook in [Hook::Input, Hook::Forward] {
            for queues in [vec![42_000], vec![42_000, 42_001]] {
                let settings = Settings {
                    hook,
                    interfaces: vec!["lo".into(), "eth7".into()],
                    ports: vec![
                        PortRange { first: 443, last: 443 },
                        PortRange { first: 1, last: 65_535 },
                    ],
                    tunnels: unruffled_resequence::Tunnels {
                        wireguard: true,
                        esp: true,
                        openvpn: true,
                    },
                    ..Settings::default()
                };
                let installed = match rules::install(&settings, &queues) {
                    Ok(installed) => installed,
                    Err(lack) if lack.is_lack() => return eprintln!("skipped: {lack}"),
                    Err(error) => panic!("{error}"),
                };
                assert_eq!(installed.without_ipv6, None);
                assert!(rules::remove().expect("removes"), "there were some");
                assert!(!rules::remove().expect("finds none"));
            }
        }
    });
}
