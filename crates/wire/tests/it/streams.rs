//! Streams over a pair of sockets that carry packets: their options, their drop and their halves.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use unruffled_wire::SocketOptions;
use unruffled_wire::asynchronous;
use unruffled_wire::codec::Checksums;
use unruffled_wire::device::Link;
use unruffled_wire::driver::Driver;
use unruffled_wire::stack::{KeepAlive, Offload, Stack, StackConfig, State, Variant};
use unruffled_wire::stream::{TcpListener, TcpStream};

/// A time that is short beside a test and long beside a round trip.
const SHORT_TIME: Duration = Duration::from_millis(300);

/// A link on which each datagram is a packet. The flag cuts it.
struct Pair(UnixDatagram, Arc<AtomicBool>);

impl AsFd for Pair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Link for Pair {
    fn largest(&self) -> usize {
        1500
    }
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        Ok((0..self.0.recv(buffer)?, Checksums::Verify))
    }
    fn send(&mut self, packet: &[u8], _: Option<Offload>) -> io::Result<()> {
        if self.1.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.0.send(packet).map(|_| ())
    }
}

/// Two stacks and the link between them.
struct Two {
    client: Driver,
    server: Driver,
    cut: Arc<AtomicBool>,
}

fn listening() -> SocketAddr {
    ([10, 0, 0, 2], 7).into()
}

impl Two {
    fn new() -> Self {
        let (left, right) = UnixDatagram::pair().unwrap();
        let cut = Arc::new(AtomicBool::new(false));
        let [client, server] = [(left, 1), (right, 2)].map(|(socket, last)| {
            socket.set_nonblocking(true).unwrap();
            let variant = Variant::named("unruffled").unwrap();
            let config = StackConfig::new(vec![[10, 0, 0, last].into()], variant).unwrap();
            Driver::spawn(Pair(socket, cut.clone()), Stack::new(config)).unwrap()
        });
        Self { client, server, cut }
    }

    fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.client.handle(), listening()).unwrap()
    }

    fn streams(&self) -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind(&self.server.handle(), listening(), 8).unwrap();
        let client = self.connect();
        (client, listener.accept().unwrap())
    }
}

#[test]
fn options_are_returned_as_they_were_set_and_accepted_streams_inherit_them() {
    let two = Two::new();
    let listener = TcpListener::bind(&two.server.handle(), listening(), 8).unwrap();
    let probing = KeepAlive {
        idle: unruffled_wire::stack::Duration::from_secs(60),
        interval: unruffled_wire::stack::Duration::from_secs(10),
        count: 5,
    };
    let second = Duration::from_secs(1);
    listener.set_nodelay(true).unwrap();
    listener.set_keepalive(Some(probing)).unwrap();
    listener.set_user_timeout(Some(30 * second)).unwrap();
    listener.set_send_buffer_size(200_000).unwrap();
    listener.set_recv_buffer_size(1 << 20).unwrap();
    listener.set_linger(Some(second)).unwrap();
    let client = two.connect();
    let accepted = listener.accept().unwrap();
    assert!(accepted.nodelay().unwrap() && !client.nodelay().unwrap());
    assert_eq!(accepted.keepalive().unwrap(), Some(probing));
    assert_eq!(client.keepalive().unwrap(), None);
    assert_eq!(accepted.user_timeout().unwrap(), Some(30 * second));
    assert_eq!(client.user_timeout().unwrap(), Some(300 * second));
    assert_eq!(accepted.send_buffer_size().unwrap(), 200_000);
    assert_eq!(accepted.recv_buffer_size().unwrap(), 1 << 20);
    assert_eq!((accepted.linger().unwrap(), client.linger().unwrap()), (Some(second), None));
    client.set_nodelay(true).unwrap();
    assert!(client.nodelay().unwrap());
    let info = client.info().unwrap();
    assert_eq!((info.state, info.octets.sent, info.peer_mss), (State::Established, 0, Some(1460)));
    two.server.close(Duration::ZERO).unwrap();
    assert_eq!(listener.nodelay().unwrap_err().kind(), ErrorKind::NotConnected);
}

#[test]
fn an_unacknowledged_write_ends_at_the_user_timeout() {
    let two = Two::new();
    let (mut client, _server) = two.streams();
    client.set_user_timeout(Some(SHORT_TIME)).unwrap();
    two.cut();
    let begin = Instant::now();
    client.write_all(b"hello?").unwrap();
    assert_eq!(client.wait_acknowledged().unwrap_err().kind(), ErrorKind::TimedOut);
    assert!(
        begin.elapsed() >= SHORT_TIME && begin.elapsed() < 10 * SHORT_TIME,
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_dropped_stream_waits_until_its_data_is_acknowledged_or_its_linger_time_ends() {
    for (cut, linger) in [(false, 20 * SHORT_TIME), (true, SHORT_TIME), (true, Duration::ZERO)] {
        let two = Two::new();
        let (mut client, mut server) = two.streams();
        client.set_linger(Some(linger)).unwrap();
        if cut {
            two.cut();
        }
        client.write_all(b"farewell").unwrap();
        let begin = Instant::now();
        drop(client);
        let took = begin.elapsed();
        if cut {
            assert!(took >= linger && took < linger + 5 * SHORT_TIME, "{took:?} of {linger:?}");
            thread::sleep(SHORT_TIME / 3);
            assert_eq!(two.client.handle().with(|stack| stack.usage().connections), 0);
        } else {
            assert!(took < linger / 2, "{took:?}");
            let mut all = String::new();
            server.read_to_string(&mut all).unwrap();
            assert_eq!(all, "farewell");
        }
    }
}

#[test]
fn the_halves_of_a_stream_work_in_two_threads_and_can_be_reunited() {
    const TOTAL: usize = 3 << 20;
    let two = Two::new();
    let (client, server) = two.streams();
    let echo = thread::spawn(move || {
        let (mut from, mut to) = server.into_split();
        io::copy(&mut from, &mut to).unwrap()
    });
    let (mut from, mut to) = client.into_split();
    // A time beyond the range of the clock.
    from.set_read_timeout(Some(Duration::MAX));
    let reader = thread::spawn(move || {
        let mut all = vec![0; TOTAL];
        from.read_exact(&mut all).unwrap();
        (from, all)
    });
    let data: Vec<u8> = (0..TOTAL).map(|i| (i / 7) as u8).collect();
    to.write_all(&data).unwrap();
    to.wait_acknowledged().unwrap();
    let (from, all) = reader.join().unwrap();
    assert!(all == data);
    assert_eq!(from.as_ref().info().unwrap().octets.acknowledged, TOTAL as u64);
    // The halves of two streams cannot be reunited.
    let (another, _kept) = Two::new().streams();
    let (theirs, _) = another.into_split();
    let (theirs, to) = match theirs.reunite(to) {
        Err(error) => (error.0, error.1),
        Ok(stream) => panic!("{stream:?}"),
    };
    drop(theirs);
    let mut stream = from.reunite(to).unwrap();
    // Neither direction has ended meanwhile.
    stream.write_all(b"!").unwrap();
    assert_eq!(stream.read(&mut [0; 9]).unwrap(), 1);
    // Dropping the half that writes ends this end's stream.
    let (mut from, to) = stream.into_split();
    drop(to);
    assert_eq!(from.read(&mut [0; 9]).unwrap(), 0);
    assert_eq!(echo.join().unwrap(), TOTAL as u64 + 1);
}

#[test]
fn the_halves_of_an_asynchronous_stream_work_in_two_tasks_and_can_be_reunited() {
    const TOTAL: usize = 3 << 20;
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let two = Two::new();
    let (at, handle) = (two.server.handle(), two.client.handle());
    runtime.enable_all().build().unwrap().block_on(async move {
        let listener = asynchronous::TcpListener::bind(&at, listening(), 8).unwrap();
        listener.set_nodelay(true).unwrap();
        let echo = tokio::spawn(async move {
            let accepted = listener.accept().await.unwrap();
            assert!(accepted.nodelay().unwrap());
            let (mut from, mut to) = accepted.into_split();
            tokio::io::copy(&mut from, &mut to).await.unwrap()
        });
        let stream = asynchronous::TcpStream::connect(&handle, listening()).await.unwrap();
        let (mut from, mut to) = stream.into_split();
        let reader = tokio::spawn(async move {
            let mut all = vec![0; TOTAL];
            from.read_exact(&mut all).await.unwrap();
            (from, all)
        });
        let data: Vec<u8> = (0..TOTAL).map(|i| (i / 7) as u8).collect();
        to.write_all(&data).await.unwrap();
        to.wait_acknowledged().await.unwrap();
        let (from, all) = reader.await.unwrap();
        assert!(all == data);
        assert_eq!(from.as_ref().info().unwrap().octets.acknowledged, TOTAL as u64);
        let stream = from.reunite(to).unwrap();
        let (mut from, to) = stream.into_split();
        drop(to);
        assert_eq!(from.read(&mut [0; 9]).await.unwrap(), 0);
        assert_eq!(echo.await.unwrap(), TOTAL as u64);
    });
    drop(two);
}
