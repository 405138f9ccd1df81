//! smoltcp, run as in its own examples, with buffers of 4 MiB.

use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};

use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Medium, TunTapInterface, wait};
use smoltcp::socket::tcp;
use smoltcp::time::Instant as Time;
use smoltcp::wire::{HardwareAddress, IpCidr};

use crate::{CHUNK, KERNEL, PORT, Peer, STACK, Way};

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().expect("ip");
    assert!(status.success(), "ip {arguments}");
}

pub(crate) fn run(way: Way, span: Duration) -> u64 {
    let mut device = TunTapInterface::new("bulk1", Medium::Ip).expect("a TUN interface");
    ip(&format!("address add {KERNEL}/24 dev bulk1"));
    ip("link set bulk1 mtu 1500 txqueuelen 10000 up");
    let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut device, Time::now());
    interface.update_ip_addrs(|addresses| {
        addresses.push(IpCidr::new(STACK.into(), 24)).expect("room for an address");
    });
    let buffer = || tcp::SocketBuffer::new(vec![0; 4 << 20]);
    let mut sockets = SocketSet::new(Vec::new());
    let handle = sockets.add(tcp::Socket::new(buffer(), buffer()));
    let socket = sockets.get_mut::<tcp::Socket<'_>>(handle);
    if way == Way::Receiving {
        socket.listen(PORT).expect("a port");
    }
    let _peer = Peer::start(way);
    if way == Way::Sending {
        socket.connect(interface.context(), (KERNEL, PORT), 50_000).expect("a connection");
    }
    let mut chunk = vec![0; CHUNK];
    let mut octets = 0;
    let begin = Instant::now();
    while begin.elapsed() < span {
        let time = Time::now();
        interface.poll(time, &mut device, &mut sockets);
        let socket = sockets.get_mut::<tcp::Socket<'_>>(handle);
        octets += match way {
            Way::Sending if socket.can_send() => socket.send_slice(&chunk).expect("can send"),
            Way::Receiving if socket.can_recv() => {
                socket.recv_slice(&mut chunk).expect("can receive")
            }
            _ => 0,
        };
        let delay = interface.poll_delay(time, &sockets);
        let max_delay = smoltcp::time::Duration::from_millis(10);
        let _ =
            wait(device.as_raw_fd(), Some(delay.map_or(max_delay, |delay| delay.min(max_delay))));
    }
    octets as u64
}
