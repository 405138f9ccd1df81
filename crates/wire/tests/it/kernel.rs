//! Transfers between the stack and the Linux kernel, over TUN, each in its own network namespace.
//! Without the privileges to create one, a test prints that it is skipped, and passes.

use std::io::{ErrorKind, Read, Write};
use std::net::{self, Shutdown, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use crate::lab::{Lab, octets, receive, send};
use unruffled_tcp::Event;
use unruffled_wire::codec::Malformed;
use unruffled_wire::stream::{TcpListener, TcpStream};

#[test]
fn a_hundred_megabytes_each_way_over_ipv4() {
    Lab::run(|lab| lab.both_directions(false, 100));
}

#[test]
fn a_hundred_megabytes_each_way_over_ipv6() {
    Lab::run(|lab| lab.both_directions(true, 100));
}

#[test]
fn offload_carries_the_same_octets() {
    Lab::with_offload(|lab| {
        lab.both_directions(false, 100);
        lab.both_directions(true, 100);
        let (sent, received) = lab.handle().with(|stack| {
            let counters = stack.counters();
            assert_eq!(counters.malformed.get(Malformed::Checksum), 0);
            (counters.sent, counters.received)
        });
        // 200 MiB are 145,000 segments of 1448 octets each way.
        assert!(sent > 100_000 && received < 100_000, "{sent} sent, {received} received");
    });
}

/// Returns a connection that the stack opened, and the kernel's end of it.
fn connected(lab: &Lab, v6: bool) -> (TcpStream, net::TcpStream) {
    let listener = net::TcpListener::bind(SocketAddr::new(lab.kernel(v6), 0)).unwrap();
    let ours = TcpStream::connect(&lab.handle(), listener.local_addr().unwrap()).unwrap();
    (ours, listener.accept().unwrap().0)
}

#[test]
fn a_half_closed_connection_still_carries_the_other_direction() {
    Lab::run(|lab| {
        for v6 in [false, true] {
            let (mut ours, mut kernels) = connected(lab, v6);
            let echo = lab.thread(move || {
                let mut all = Vec::new();
                kernels.read_to_end(&mut all).unwrap();
                // It writes only after it has read the end of the stream.
                kernels.write_all(&all).unwrap();
            });
            let sent = octets(0, 1 << 20);
            ours.write_all(&sent).unwrap();
            ours.shutdown(Shutdown::Write).unwrap();
            assert_eq!(ours.write(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
            let mut back = Vec::new();
            ours.read_to_end(&mut back).unwrap();
            assert!(back == sent);
            echo.join().unwrap();
        }
    });
}

#[test]
fn a_connection_carries_both_directions_at_once() {
    Lab::run(|lab| {
        let total = 20 << 20;
        let (mut ours, kernels) = connected(lab, false);
        let mut kernel_writes = kernels.try_clone().unwrap();
        let our_reads = ours.clone();
        let kernel_writer = lab.thread(move || {
            let sent = send(&mut kernel_writes, total);
            kernel_writes.shutdown(Shutdown::Write).unwrap();
            sent
        });
        let kernel_reader = lab.thread(move || receive(kernels));
        let our_reader = lab.thread(move || receive(our_reads));
        let sent = send(&mut ours, total);
        ours.shutdown(Shutdown::Write).unwrap();
        assert_eq!(kernel_reader.join().unwrap(), (total, sent));
        assert_eq!(our_reader.join().unwrap(), (total, kernel_writer.join().unwrap()));
    });
}

#[test]
fn resets_reach_either_end() {
    Lab::run(|lab| {
        for v6 in [false, true] {
            // There is no listener.
            let to = SocketAddr::new(lab.kernel(v6), 5009);
            let refused = TcpStream::connect(&lab.handle(), to).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            let to = SocketAddr::new(lab.ours(v6), 5009);
            let refused = net::TcpStream::connect(to).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            // The kernel resets, since it closes with unread data.
            let (mut ours, kernels) = connected(lab, v6);
            ours.write_all(b"unread").unwrap();
            ours.wait_acknowledged().unwrap();
            drop(kernels);
            assert_eq!(ours.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset);
            // The stack resets.
            let (ours, mut kernels) = connected(lab, v6);
            ours.abort();
            assert_eq!(kernels.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        }
    });
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    Lab::with(
        |config| {
            config.connection.timeouts.give_up = Some(unruffled_wire::stack::Duration::from_secs(4))
        },
        |lab| {
            let mut connections = [false, true].map(|v6| connected(lab, v6));
            if !lab.cut_off() {
                return;
            }
            for (ours, _) in &mut connections {
                ours.write_all(b"hello?").unwrap();
            }
            for (ours, _) in &mut connections {
                assert_eq!(ours.wait_acknowledged().unwrap_err().kind(), ErrorKind::TimedOut);
                assert_eq!(ours.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::TimedOut);
            }
        },
    );
}

/// Octets of a transfer that exceed the buffers of both ends.
const LARGE_TRANSFER: u64 = 60 << 20;
/// Time for which a reader reads nothing.
const PAUSE: Duration = Duration::from_secs(10);

#[test]
fn the_kernel_probes_while_the_stacks_readers_pause_for_ten_seconds() {
    Lab::run(|lab| {
        let handle = lab.handle();
        let transfers = [false, true].map(|v6| {
            let listener = TcpListener::bind(&handle, (lab.ours(v6), 0).into(), 8).unwrap();
            let to = listener.local_addr();
            let writer =
                lab.thread(move || send(&mut net::TcpStream::connect(to).unwrap(), LARGE_TRANSFER));
            (listener.accept().unwrap(), writer)
        });
        thread::sleep(PAUSE);
        let probes = lab.kernel_counter("TcpExt", "TCPWinProbe");
        assert!(probes >= 6, "{probes} probes of the kernel");
        for (reader, writer) in transfers {
            let held = handle.with(|stack| stack.connection(reader.id()).unwrap().readable());
            // Nothing has been read, so the window is still the first one.
            assert!(
                (32 << 10..=65 << 10).contains(&held),
                "the window is full: {held} octets held"
            );
            assert_eq!(receive(reader), (LARGE_TRANSFER, writer.join().unwrap()));
        }
    });
}

#[test]
fn the_stack_probes_while_the_kernels_readers_pause_for_ten_seconds() {
    Lab::run(|lab| {
        let probes = Arc::new(AtomicU32::new(0));
        let counted = probes.clone();
        let count = move |_, _, event: &Event| {
            counted.fetch_add((*event == Event::WindowProbe).into(), Ordering::Relaxed);
        };
        lab.handle().with(|stack| stack.watch(Some(Box::new(count))));
        let transfers = [false, true].map(|v6| {
            let (mut ours, kernels) = connected(lab, v6);
            (kernels, lab.thread(move || send(&mut ours, LARGE_TRANSFER)))
        });
        thread::sleep(PAUSE);
        assert!(probes.load(Ordering::Relaxed) >= 6, "{probes:?} probes of the stack");
        for (reader, writer) in transfers {
            assert!(!writer.is_finished());
            assert_eq!(receive(reader), (LARGE_TRANSFER, writer.join().unwrap()));
        }
    });
}

#[test]
fn written_data_arrives_though_the_driver_is_closed() {
    Lab::run(|lab| {
        let total = 4 << 20;
        let (mut ours, kernels) = connected(lab, false);
        let reader = lab.thread(move || receive(kernels));
        let sent = send(&mut ours, total);
        drop(ours);
        assert_eq!(lab.close(Duration::from_secs(10)).malformed.get(Malformed::Checksum), 0);
        assert_eq!(reader.join().unwrap(), (total, sent));
        let to = SocketAddr::new(lab.kernel(false), 5001);
        assert!(TcpStream::connect(&lab.handle(), to).is_err());
    });
}
