//! The stack under test: with a driver and blocking streams, and in one thread without a driver, as
//! smoltcp runs.

use std::io;
use std::os::fd::AsFd;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use unruffled_wire::device::{Link, Tun};
use unruffled_wire::driver::Driver;
use unruffled_wire::stack::{ConnectionId, Instant as Time, Stack, StackConfig, Variant};
use unruffled_wire::stream::{TcpListener, TcpStream};

use crate::{CHUNK, KERNEL, PORT, Peer, STACK, Way, carry};

/// Packets taken from the stack before they are written: enough that the kernel wakes its reader
/// less often, and few enough that they stay in the processor's nearest cache.
const BURST_PACKETS: usize = 32;

fn parts(offload: bool) -> (Tun, Stack) {
    let create = if offload { Tun::create_with_offload } else { Tun::create };
    let tun = create("bulk0", 1500, &[(KERNEL.into(), 24)]).expect("a TUN interface");
    let variant = Variant::parse("sack").expect("a variant");
    let config = StackConfig::new(vec![STACK.into()], variant).expect("randomness");
    (tun, Stack::new(config))
}

pub(crate) fn through_streams(way: Way, span: Duration) -> u64 {
    run(way, span, false)
}

pub(crate) fn with_offload(way: Way, span: Duration) -> u64 {
    run(way, span, true)
}

fn run(way: Way, span: Duration, offload: bool) -> u64 {
    let (tun, stack) = parts(offload);
    let driver = Driver::spawn(tun, stack).expect("a driver");
    let handle = driver.handle();
    let listener = TcpListener::bind(&handle, (STACK, PORT).into(), 1).expect("a port");
    let _peer = Peer::start(way);
    let mut stream = match way {
        Way::Sending => TcpStream::connect(&handle, (KERNEL, PORT).into()),
        Way::Receiving => listener.accept(),
    }
    .expect("a connection");
    let octets = carry(&mut stream, way, span);
    stream.abort();
    octets
}

pub(crate) fn in_one_thread(way: Way, span: Duration) -> u64 {
    let (mut tun, mut stack) = parts(false);
    let begin = Instant::now();
    let now = || Time::from_nanos(begin.elapsed().as_nanos() as u64);
    let listener = stack.listen((STACK, PORT).into(), 1).expect("a port");
    let _peer = Peer::start(way);
    let waker = Waker::noop();
    let mut connection: Option<ConnectionId> = (way == Way::Sending)
        .then(|| stack.connect((KERNEL, PORT).into(), None, now()).expect("a connection"));
    let mut octets = 0;
    let mut buffer = vec![0; CHUNK];
    let mut packet = vec![0; 1500];
    let mut out = Vec::with_capacity(1500);
    let mut lens = Vec::new();
    while begin.elapsed() < span {
        let mut idle = true;
        for _ in 0..256 {
            let Ok((at, checksums)) = tun.receive(&mut packet) else { break };
            idle = false;
            // The link keeps the order, so one answer may cover several packets.
            let _ = stack.receive(&packet[at], checksums, now());
        }
        let time = now();
        if stack.poll_timeout().is_some_and(|due| due <= time) {
            stack.handle_timeout(time);
        }
        if let Some(id) = connection {
            let moved = match way {
                Way::Sending => stack.poll_write(id, waker, &buffer),
                Way::Receiving => stack.poll_read(id, waker, &mut buffer),
            };
            if let Poll::Ready(n) = moved {
                octets += n.expect("octets") as u64;
            }
        } else if let Poll::Ready(id) = stack.poll_accept(listener, waker) {
            connection = id.ok();
        }
        let time = now();
        for _ in 0..256 / BURST_PACKETS {
            out.clear();
            lens.clear();
            while lens.len() < BURST_PACKETS
                && let Some(len) = stack.poll_transmit(time, &mut out)
            {
                lens.push(len);
            }
            if lens.is_empty() {
                break;
            }
            idle = false;
            let mut left = &out[..];
            for &len in &lens {
                let (packet, rest) = left.split_at(len);
                left = rest;
                while tun
                    .send(packet, None)
                    .is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
                {}
            }
        }
        if idle {
            let left = stack.poll_timeout().map_or(10_000_000, |due| due.since(now()).as_nanos());
            let timeout = Timespec { tv_sec: 0, tv_nsec: left.min(10_000_000) as i64 };
            let mut fds = [PollFd::from_borrowed_fd(tun.as_fd(), PollFlags::IN)];
            let _ = poll(&mut fds, Some(&timeout));
        }
    }
    octets
}
