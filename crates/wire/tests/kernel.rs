//! Against the Linux kernel, over TUN, in a network namespace of the test's own. Without the rights
//! to make one, each test says that it was skipped and passes.

#![allow(clippy::unwrap_used)] // A test that fails may as well panic in its helpers.

mod capture;
mod lab;

use std::io::{ErrorKind, Read, Write};
use std::net::{self, Shutdown, SocketAddr};
use std::thread;
use std::time::Duration;

use capture::Capture;
use lab::{Lab, receive, send};
use unruffled_wire::codec::Malformed;
use unruffled_wire::stream::{TcpListener, TcpStream};

/// Both directions, one after the other, of `megabytes` each.
fn both_directions(lab: &Lab, v6: bool, megabytes: u64) {
    let total = megabytes << 20;
    let (handle, kernel, ours) = (lab.handle(), lab.kernel(v6), lab.ours(v6));
    // We connect and send.
    let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
    let reader = lab.thread(move || receive(listener.accept().unwrap().0));
    let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
    let sent = send(&mut stream, total);
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(reader.join().unwrap(), (total, sent));
    assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0, "the kernel has finished too");
    // The kernel connects and sends.
    let listener = TcpListener::bind(&handle, SocketAddr::new(ours, 5002), 8).unwrap();
    let writer = lab.thread(move || {
        let mut stream = net::TcpStream::connect(SocketAddr::new(ours, 5002)).unwrap();
        send(&mut stream, total)
    });
    let received = receive(listener.accept().unwrap());
    assert_eq!((total, writer.join().unwrap()), received);
}

#[test]
fn a_hundred_megabytes_each_way_over_ipv4() {
    Lab::run(|lab| both_directions(lab, false, 100));
}

#[test]
fn a_hundred_megabytes_each_way_over_ipv6() {
    Lab::run(|lab| both_directions(lab, true, 100));
}

#[test]
fn nothing_in_a_capture_is_malformed() {
    Lab::run(|lab| {
        let capture = Capture::start("both", "ur0");
        both_directions(lab, false, 10);
        both_directions(lab, true, 10);
        capture.assert_clean();
    });
}

#[test]
fn offload_carries_the_same_octets() {
    Lab::with_offload(|lab| {
        both_directions(lab, false, 100);
        both_directions(lab, true, 100);
        let (sent, received) = lab.handle().with(|stack| {
            let counters = stack.counters();
            assert_eq!(counters.malformed.get(Malformed::Checksum), 0);
            (counters.sent, counters.received)
        });
        // 200 MiB are 145,000 segments of 1448 octets each way.
        assert!(sent > 100_000 && received < 100_000, "{sent} sent, {received} received");
    });
}

#[test]
fn half_closed_the_other_direction_goes_on() {
    Lab::run(|lab| {
        let (handle, kernel) = (lab.handle(), lab.kernel(false));
        let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
        let echo = lab.thread(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            // The end has been read, and only now is anything written.
            stream.write_all(&all).unwrap();
        });
        let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
        let sent = lab::octets(0, 1 << 20);
        stream.write_all(&sent).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        assert_eq!(stream.write(b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
        let mut back = Vec::new();
        stream.read_to_end(&mut back).unwrap();
        assert!(back == sent);
        echo.join().unwrap();
    });
}

#[test]
fn both_directions_at_once() {
    Lab::run(|lab| {
        let (handle, kernel) = (lab.handle(), lab.kernel(false));
        let total = 20 << 20;
        let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
        let peer = lab.thread(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut writing = stream.try_clone().unwrap();
            let writer = thread::spawn(move || {
                let sent = send(&mut writing, total);
                writing.shutdown(Shutdown::Write).unwrap();
                sent
            });
            (receive(stream), writer.join().unwrap())
        });
        let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
        let reading = stream.clone();
        let reader = lab.thread(move || receive(reading));
        let sent = send(&mut stream, total);
        stream.shutdown(Shutdown::Write).unwrap();
        let (received, kernel_sent) = peer.join().unwrap();
        assert_eq!(received, (total, sent));
        assert_eq!(reader.join().unwrap(), (total, kernel_sent));
    });
}

#[test]
fn resets_are_heard_on_both_sides() {
    Lab::run(|lab| {
        let (handle, kernel) = (lab.handle(), lab.kernel(false));
        // Nobody listens.
        let refused = TcpStream::connect(&handle, SocketAddr::new(kernel, 5009)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let refused = net::TcpStream::connect(SocketAddr::new(lab.ours(false), 5009)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        // The kernel resets: it closes with something left unread.
        let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
        let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        stream.write_all(b"unread").unwrap();
        stream.wait_acknowledged().unwrap();
        drop(accepted);
        assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset);
        // We reset.
        let stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        stream.abort();
        assert_eq!(accepted.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    Lab::with(
        |config| config.connection.give_up = Some(unruffled_units::Duration::from_secs(4)),
        |lab| {
            let (handle, kernel) = (lab.handle(), lab.kernel(false));
            let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
            let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
            let _accepted = listener.accept().unwrap();
            lab.cut_off();
            stream.write_all(b"hello?").unwrap();
            assert_eq!(stream.wait_acknowledged().unwrap_err().kind(), ErrorKind::TimedOut);
            assert_eq!(stream.read(&mut [0; 1]).unwrap_err().kind(), ErrorKind::TimedOut);
        },
    );
}

#[test]
fn a_reader_who_rests_closes_the_window_and_opens_it_again() {
    Lab::run(|lab| {
        let (handle, ours) = (lab.handle(), lab.ours(false));
        let total = 30 << 20;
        let listener = TcpListener::bind(&handle, SocketAddr::new(ours, 5002), 8).unwrap();
        let writer = lab.thread(move || {
            let mut stream = net::TcpStream::connect(SocketAddr::new(ours, 5002)).unwrap();
            send(&mut stream, total)
        });
        let stream = listener.accept().unwrap();
        thread::sleep(Duration::from_secs(1));
        let held = handle.with(|stack| stack.connection(stream.id()).unwrap().readable());
        assert!(held <= 4 << 20, "{held} octets held");
        assert_eq!(receive(stream), (total, writer.join().unwrap()));
    });
}

#[test]
fn two_hundred_connections_at_once() {
    Lab::run(|lab| {
        let capture = Capture::start("many", "ur0");
        let (handle, kernel, total) = (lab.handle(), lab.kernel(false), 256 << 10);
        let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
        let accepting = lab.thread(move || {
            let readers: Vec<_> = (0..200)
                .map(|_| {
                    let (mut stream, _) = listener.accept().unwrap();
                    thread::spawn(move || {
                        let received = receive(&stream);
                        stream.write_all(&received.1.to_be_bytes()).unwrap();
                    })
                })
                .collect();
            readers.into_iter().for_each(|reader| reader.join().unwrap());
        });
        let clients: Vec<_> = (0..200)
            .map(|_| {
                let handle = handle.clone();
                lab.thread(move || {
                    let to = SocketAddr::new(kernel, 5001);
                    let mut stream = TcpStream::connect(&handle, to).unwrap();
                    let sent = send(&mut stream, total);
                    stream.shutdown(Shutdown::Write).unwrap();
                    let mut hash = [0; 8];
                    stream.read_exact(&mut hash).unwrap();
                    assert_eq!(u64::from_be_bytes(hash), sent);
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        accepting.join().unwrap();
        capture.assert_clean();
    });
}

#[test]
fn a_thousand_connections_one_after_another_leave_nothing_behind() {
    Lab::with(
        |config| config.connection.msl = unruffled_units::Duration::from_millis(100),
        |lab| {
            let (handle, kernel) = (lab.handle(), lab.kernel(false));
            let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
            let echo = lab.thread(move || {
                for _ in 0..1000 {
                    let (mut stream, _) = listener.accept().unwrap();
                    let mut all = Vec::new();
                    stream.read_to_end(&mut all).unwrap();
                    stream.write_all(&all).unwrap();
                }
            });
            for round in 0..1000_u32 {
                let mut stream =
                    TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
                stream.write_all(&round.to_be_bytes()).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
                let mut back = Vec::new();
                stream.read_to_end(&mut back).unwrap();
                assert_eq!(back, round.to_be_bytes());
            }
            echo.join().unwrap();
            thread::sleep(Duration::from_millis(500));
            assert_eq!(handle.with(|stack| stack.connections()), 0);
        },
    );
}

#[test]
fn closing_the_driver_lets_what_was_written_arrive() {
    Lab::run(|lab| {
        let (handle, kernel, total) = (lab.handle(), lab.kernel(false), 4 << 20);
        let listener = net::TcpListener::bind(SocketAddr::new(kernel, 5001)).unwrap();
        let mut stream = TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).unwrap();
        let (accepted, _) = listener.accept().unwrap();
        let reader = lab.thread(move || receive(accepted));
        let sent = send(&mut stream, total);
        drop(stream);
        lab.close(Duration::from_secs(10));
        assert_eq!(reader.join().unwrap(), (total, sent));
        assert!(TcpStream::connect(&handle, SocketAddr::new(kernel, 5001)).is_err());
    });
}
