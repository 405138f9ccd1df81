//! Asynchronous streams and listeners instead of tokio's: the same code runs over the stack's
//! streams and over the kernel's.

use std::collections::BTreeSet;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::capture::Capture;
use crate::lab::{INTERFACE, Lab, octets};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net;
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use unruffled_wire::asynchronous::{TcpListener, TcpStream};

/// A time that is much shorter than a test and much longer than a round trip.
const SHORT_TIME: Duration = Duration::from_millis(20);

/// Sends back what arrives.
async fn echo(stream: impl AsyncRead + AsyncWrite) -> io::Result<()> {
    let (mut from, mut to) = tokio::io::split(stream);
    tokio::io::copy(&mut from, &mut to).await?;
    to.shutdown().await
}

/// Waits until all connections exist and have been counted, sends `data`, and expects it back.
async fn talk(stream: impl AsyncRead + AsyncWrite, all: Arc<Barrier>, data: Vec<u8>) {
    all.wait().await;
    all.wait().await;
    let (mut from, mut to) = tokio::io::split(stream);
    let mut back = Vec::new();
    let send = async {
        to.write_all(&data).await.unwrap();
        to.shutdown().await.unwrap();
    };
    let ((), read) = tokio::join!(send, from.read_to_end(&mut back));
    read.unwrap();
    assert!(back == data, "{} octets came back", back.len());
}

#[test]
fn a_thousand_connections_at_once_half_of_them_opened_by_the_kernel() {
    const HALF: usize = 500;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(hard.min(4096)), hard).unwrap();
    Lab::with_tasks(
        |_| {},
        async |lab| {
            let capture = Capture::start("many", INTERFACE);
            let all = Arc::new(Barrier::new(2 * HALF + 1));
            // The kernel treats more handshakes at a time as a flood of SYNs.
            let handshakes = Arc::new(Semaphore::new(50));
            let (to, at) =
                (SocketAddr::new(lab.kernel(false), 5001), (lab.ours(true), 5002).into());
            let theirs = net::TcpListener::bind(to).await.unwrap();
            let ours = TcpListener::bind(&lab.handle(), at, HALF).unwrap();
            let mut tasks = JoinSet::new();
            tasks.spawn(async move {
                let mut echoes = JoinSet::new();
                for _ in 0..HALF {
                    echoes.spawn(echo(theirs.accept().await.unwrap().0));
                    echoes.spawn(echo(ours.accept().await.unwrap()));
                }
                echoes.join_all().await.into_iter().for_each(Result::unwrap);
            });
            for i in 0..HALF as u64 {
                let (handle, all_here, permits) = (lab.handle(), all.clone(), handshakes.clone());
                tasks.spawn(async move {
                    let handshake = permits.acquire().await.unwrap();
                    let stream = TcpStream::connect(&handle, to).await.unwrap();
                    drop(handshake);
                    talk(stream, all_here, octets(i, 8000)).await;
                });
                let (all_here, permits) = (all.clone(), handshakes.clone());
                tasks.spawn(async move {
                    let handshake = permits.acquire().await.unwrap();
                    let stream = net::TcpStream::connect(at).await.unwrap();
                    drop(handshake);
                    talk(stream, all_here, octets(2 * i, 8000)).await;
                });
            }
            all.wait().await;
            assert_eq!(lab.handle().with(|stack| stack.usage().connections), 2 * HALF);
            all.wait().await;
            tasks.join_all().await;
            if let Some(captured) = capture.stop() {
                captured.assert_clean();
            }
        },
    );
}

#[test]
fn a_wait_that_times_out_loses_no_octet_and_no_connection() {
    Lab::with_tasks(
        |_| {},
        async |lab| {
            let listener =
                TcpListener::bind(&lab.handle(), (lab.ours(false), 0).into(), 100).unwrap();
            let to = listener.local_addr();
            let mut clients = JoinSet::new();
            for i in 0..100_u64 {
                clients.spawn(async move {
                    tokio::time::sleep(Duration::from_micros(i * 300)).await;
                    let mut stream = net::TcpStream::connect(to).await.unwrap();
                    for octet in octets(i, 20) {
                        stream.write_all(&[octet]).await.unwrap();
                        tokio::time::sleep(Duration::from_millis(1)).await;
                    }
                });
            }
            let wait = Duration::from_micros(100);
            let mut accepted = 0;
            let mut streams = JoinSet::new();
            while accepted < 100 {
                let Ok(stream) = timeout(wait, listener.accept()).await else { continue };
                let mut stream = stream.unwrap();
                accepted += 1;
                streams.spawn(async move {
                    let mut all = Vec::new();
                    let mut some = [0; 3];
                    loop {
                        match timeout(wait, stream.read(&mut some)).await.map(Result::unwrap) {
                            Err(_) => {}
                            Ok(0) => return all,
                            Ok(len) => all.extend_from_slice(&some[..len]),
                        }
                    }
                });
            }
            let received: BTreeSet<_> = streams.join_all().await.into_iter().collect();
            assert!(received == (0..100).map(|i| octets(i, 20)).collect());
            clients.join_all().await;
        },
    );
}

#[test]
fn a_waiting_accept_keeps_its_waker_when_another_one_times_out() {
    Lab::with_tasks(
        |_| {},
        async |lab| {
            let listener =
                TcpListener::bind(&lab.handle(), (lab.ours(false), 80).into(), 8).unwrap();
            // Both wait in one task, so their wakers are equal.
            let stays = listener.accept();
            let gives_up = async {
                assert!(timeout(SHORT_TIME, listener.accept()).await.is_err());
                net::TcpStream::connect(listener.local_addr()).await.unwrap()
            };
            let (accepted, client) = tokio::join!(stays, gives_up);
            assert_eq!(accepted.unwrap().peer_addr(), client.local_addr().unwrap());
        },
    );
}

#[test]
fn a_dropped_attempt_to_connect_ends() {
    Lab::with_tasks(
        |_| {},
        async |lab| {
            let absent = SocketAddr::new("10.9.0.77".parse().unwrap(), 80);
            assert!(timeout(SHORT_TIME, TcpStream::connect(&lab.handle(), absent)).await.is_err());
            tokio::time::sleep(SHORT_TIME).await;
            assert_eq!(lab.handle().with(|stack| stack.usage().connections), 0);
        },
    );
}

#[test]
fn errors_are_those_of_sockets() {
    Lab::with_tasks(
        |_| {},
        async |lab| {
            let to = SocketAddr::new(lab.kernel(true), 5001);
            let refused = TcpStream::connect(&lab.handle(), to).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
            let listener = net::TcpListener::bind(to).await.unwrap();
            let mut stream = TcpStream::connect(&lab.handle(), to).await.unwrap();
            assert!(
                timeout(SHORT_TIME, stream.read_u8()).await.is_err(),
                "there is nothing to read"
            );
            stream.write_all(b"unread").await.unwrap();
            stream.wait_acknowledged().await.unwrap();
            drop(listener.accept().await.unwrap());
            assert_eq!(stream.read_u8().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
            let mut stream = TcpStream::connect(&lab.handle(), to).await.unwrap();
            stream.shutdown().await.unwrap();
            assert_eq!(stream.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
            drop(listener);
            lab.close(Duration::ZERO);
            assert!(TcpStream::connect(&lab.handle(), to).await.is_err(), "the driver has stopped");
        },
    );
}

/// A minimal executor.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn streams_work_with_any_executor() {
    Lab::run(|lab| {
        let handle = lab.handle();
        let listener = TcpListener::bind(&handle, (lab.ours(false), 7).into(), 1).unwrap();
        let to = listener.local_addr();
        let client = lab.thread(move || {
            use std::io::{Read, Write};
            let mut stream = std::net::TcpStream::connect(to).unwrap();
            stream.write_all(&octets(0, 1 << 20)).unwrap();
            stream.shutdown(std::net::Shutdown::Write).unwrap();
            let mut back = Vec::new();
            stream.read_to_end(&mut back).unwrap();
            back
        });
        let mut stream = block_on(listener.accept()).unwrap();
        let mut all = Vec::new();
        block_on(stream.read_to_end(&mut all)).unwrap();
        block_on(stream.write_all(&all)).unwrap();
        block_on(stream.wait_acknowledged()).unwrap();
        drop(stream);
        assert!(client.join().unwrap() == octets(0, 1 << 20));
    });
}
