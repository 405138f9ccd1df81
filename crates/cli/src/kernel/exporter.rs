//! The port on the loopback interface at which `attach --all` exports its metrics, by HTTP/1.1.
//!
//! A request has a limited size, and a client has a limited time for it and for the answer. The number of clients
//! is limited, too: one that comes beyond it gets an answer at once, and no thread.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Maximum number of clients at a time.
const MAX_CLIENTS: usize = 8;
/// Maximum octets of a request.
const MAX_REQUEST: usize = 8 << 10;
/// Time for the request, and again for the answer.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time for the answer to a client for which there is no room, whose socket takes it at once, and for the end of
/// a connection.
const REFUSAL_TIMEOUT: Duration = Duration::from_millis(100);
/// Time after which a connection is accepted again if the process has no file for it.
const RETRY_TIME: Duration = Duration::from_millis(100);
/// Octets of a thread's stack.
const STACK_OCTETS: usize = 512 << 10;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";

/// Returns the metrics, or the reason why there are none. It is called by several threads.
pub(super) trait Source: Fn() -> Result<String, String> + Send + Sync + 'static {}

impl<F: Fn() -> Result<String, String> + Send + Sync + 'static> Source for F {}

/// A port that is bound.
pub(super) struct Exporter(TcpListener);

impl Exporter {
    /// Binds a port of the loopback interface; any free one for 0.
    pub(super) fn bind(port: u16) -> io::Result<Self> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map(Self)
    }

    #[cfg(test)]
    fn address(&self) -> io::Result<std::net::SocketAddr> {
        self.0.local_addr()
    }

    /// Serves clients on threads of its own, until the process ends.
    pub(super) fn serve(self, source: impl Source) -> io::Result<()> {
        let source = Arc::new(source);
        let clients = Arc::new(AtomicUsize::new(0));
        let accept = move || {
            loop {
                let Ok((client, _)) = self.0.accept() else {
                    thread::sleep(RETRY_TIME);
                    continue;
                };
                let Some(place) = Place::take(&clients) else {
                    let busy = answer(Status::Busy, PLAIN, "busy\n", true);
                    let _ = send(&client, &busy, REFUSAL_TIMEOUT);
                    let _ = client.set_nonblocking(true).and_then(|()| end(&client));
                    continue;
                };
                let source = Arc::clone(&source);
                let serve = move || {
                    let _place = place;
                    // A client that ends, or is too slow, gets no answer.
                    let _ = serve(&client, source.as_ref(), CLIENT_TIMEOUT);
                };
                // Without a thread, the client's connection is closed.
                let _ = thread::Builder::new().stack_size(STACK_OCTETS).spawn(serve);
            }
        };
        thread::Builder::new().stack_size(STACK_OCTETS).spawn(accept).map(|_| ())
    }
}

/// A place of a client, which is free again when this value is dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(clients: &Arc<AtomicUsize>) -> Option<Self> {
        let more = |number: usize| (number < MAX_CLIENTS).then_some(number + 1);
        let taken = clients.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok().then(|| Self(Arc::clone(clients)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads a request and sends the answer.
fn serve(client: &TcpStream, source: &impl Source, timeout: Duration) -> io::Result<()> {
    let octets = match receive(client, timeout)? {
        Received::Request(octets) => respond(&octets, source),
        Received::TooLong => answer(Status::TooLong, PLAIN, "the request is too long\n", true),
        Received::TooSlow => answer(Status::TooSlow, PLAIN, "the request takes too long\n", true),
    };
    send(client, &octets, timeout)?;
    client.set_read_timeout(Some(REFUSAL_TIMEOUT))?;
    end(client)
}

/// Ends a connection. What has arrived is read, since the kernel would otherwise reset the connection, maybe
/// before the client has read the answer.
fn end(mut client: &TcpStream) -> io::Result<()> {
    client.shutdown(Shutdown::Write)?;
    let mut rest = [0; MAX_REQUEST];
    // One reading may leave something, for which there is no more time.
    client.read(&mut rest).map(|_| ())
}

/// What a client has sent.
#[derive(Debug, PartialEq, Eq)]
enum Received {
    /// A request up to the empty line behind its header.
    Request(Vec<u8>),
    TooLong,
    TooSlow,
}

/// Receives a request.
fn receive(mut client: &TcpStream, timeout: Duration) -> io::Result<Received> {
    let deadline = Instant::now() + timeout;
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Received::TooSlow);
        }
        client.set_read_timeout(Some(left))?;
        let length = match client.read(&mut buffer) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if is_timeout(&error) => return Ok(Received::TooSlow),
            Err(error) => return Err(error),
        };
        request.extend_from_slice(&buffer[..length]);
        if let Some(end) = request.windows(4).position(|octets| octets == b"\r\n\r\n") {
            request.truncate(end);
            return Ok(Received::Request(request));
        }
        if request.len() > MAX_REQUEST {
            return Ok(Received::TooLong);
        }
    }
}

/// Sends octets within a time.
fn send(mut client: &TcpStream, mut octets: &[u8], timeout: Duration) -> io::Result<()> {
    let deadline = Instant::now() + timeout;
    while !octets.is_empty() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        client.set_write_timeout(Some(left))?;
        match client.write(octets) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(length) => octets = &octets[length..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

#[derive(Clone, Copy)]
enum Status {
    Fine,
    Malformed,
    Unknown,
    WrongMethod,
    TooSlow,
    TooLong,
    Failed,
    Busy,
}

impl Status {
    /// Status codes of RFC 9110 and RFC 6585.
    fn line(self) -> &'static str {
        match self {
            Self::Fine => "200 OK",
            Self::Malformed => "400 Bad Request",
            Self::Unknown => "404 Not Found",
            Self::WrongMethod => "405 Method Not Allowed",
            Self::TooSlow => "408 Request Timeout",
            Self::TooLong => "431 Request Header Fields Too Large",
            Self::Failed => "500 Internal Server Error",
            Self::Busy => "503 Service Unavailable",
        }
    }
}

/// Returns the answer to a request, whose header ends before the empty line.
fn respond(request: &[u8], source: &impl Source) -> Vec<u8> {
    let request = String::from_utf8_lossy(request);
    let mut words = request.lines().next().unwrap_or_default().split(' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let is_http = version.is_some_and(|version| version.starts_with("HTTP/1."));
    let (Some(method), Some(target), true) = (method, target, is_http && words.next().is_none())
    else {
        return answer(Status::Malformed, PLAIN, "expected a request of HTTP/1.1\n", true);
    };
    let has_body = method != "HEAD";
    if !["GET", "HEAD"].contains(&method) {
        return answer(Status::WrongMethod, PLAIN, "expected GET or HEAD\n", has_body);
    }
    match target.split('?').next() {
        Some("/metrics") => match source() {
            Ok(text) => answer(Status::Fine, OPENMETRICS, &text, has_body),
            Err(reason) => answer(Status::Failed, PLAIN, &format!("{reason}\n"), has_body),
        },
        _ => answer(Status::Unknown, PLAIN, "expected /metrics\n", has_body),
    }
}

/// Returns an answer, after which the connection is closed.
fn answer(status: Status, kind: &str, text: &str, has_body: bool) -> Vec<u8> {
    let allow = if matches!(status, Status::WrongMethod) { "Allow: GET, HEAD\r\n" } else { "" };
    let header = format!(
        "HTTP/1.1 {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Connection: close\r\n\r\n",
        status.line(),
        text.len()
    );
    let body = if has_body { text } else { "" };
    (header + body).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: &str = "a 1\n# EOF\n";

    fn text_of(request: &str) -> String {
        let octets = respond(request.as_bytes(), &|| Ok(METRICS.to_owned()));
        String::from_utf8(octets).expect("UTF-8")
    }

    #[test]
    fn metrics_are_at_their_path() {
        let expected = "HTTP/1.1 200 OK\r\n\
            Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n\
            Content-Length: 10\r\nConnection: close\r\n\r\n";
        assert_eq!(text_of("GET /metrics HTTP/1.1\r\nHost: a"), format!("{expected}{METRICS}"));
        assert_eq!(text_of("GET /metrics?x=1 HTTP/1.0"), format!("{expected}{METRICS}"));
        assert_eq!(text_of("HEAD /metrics HTTP/1.1"), expected);
    }

    #[test]
    fn other_requests_are_refused() {
        let code = |request| text_of(request).split(' ').nth(1).map(str::to_owned);
        for (request, expected) in [
            ("GET / HTTP/1.1", "404"),
            ("GET /metrics/ HTTP/1.1", "404"),
            ("POST /metrics HTTP/1.1", "405"),
            ("GET /metrics", "400"),
            ("GET /metrics HTTP/2", "400"),
            ("GET /a b HTTP/1.1", "400"),
            ("", "400"),
            ("\0\u{fffd}", "400"),
        ] {
            assert_eq!(code(request).as_deref(), Some(expected), "{request}");
        }
        assert!(text_of("PUT /metrics HTTP/1.1").contains("\r\nAllow: GET, HEAD\r\n"));
        let failed = respond(b"GET /metrics HTTP/1.1", &|| Err("no root".to_owned()));
        let failed = String::from_utf8(failed).expect("UTF-8");
        assert!(failed.starts_with("HTTP/1.1 500 ") && failed.ends_with("\r\n\r\nno root\n"));
    }

    /// Returns both ends of a connection.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("it listens"));
        (client.expect("a connection"), listener.accept().expect("the same").0)
    }

    #[test]
    fn a_request_ends_with_an_empty_line() {
        let (mut client, server) = pair();
        client.write_all(b"GET /metrics HTTP/1.1\r\n").expect("it is connected");
        client.write_all(b"Host: a\r\n\r\nrest").expect("it is connected");
        let received = receive(&server, CLIENT_TIMEOUT).expect("it is connected");
        assert_eq!(received, Received::Request(b"GET /metrics HTTP/1.1\r\nHost: a".to_vec()));
    }

    #[test]
    fn a_request_is_limited_in_size_and_time() {
        let (mut client, server) = pair();
        client.write_all(&[b'a'; MAX_REQUEST + 1024]).expect("it is connected");
        assert_eq!(receive(&server, CLIENT_TIMEOUT).expect("it is connected"), Received::TooLong);
        let (mut client, server) = pair();
        // An octet now and then does not extend the time.
        let slow = thread::spawn(move || {
            while client.write_all(b"a").is_ok() {
                thread::sleep(Duration::from_millis(10));
            }
        });
        let began = Instant::now();
        let timeout = Duration::from_millis(200);
        assert_eq!(receive(&server, timeout).expect("it is connected"), Received::TooSlow);
        assert!((200..2000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
        drop(server);
        slow.join().expect("the thread ends with the connection");
    }

    #[test]
    fn a_client_that_does_not_read_is_left() {
        let (client, server) = pair();
        let began = Instant::now();
        let large = vec![0; 64 << 20];
        send(&server, &large, Duration::from_millis(200)).expect_err("nothing reads it");
        assert!((200..2000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
        drop(client);
    }

    fn request(address: std::net::SocketAddr) -> String {
        let mut client = TcpStream::connect(address).expect("a connection");
        // A client for which there is no room may get the answer before it has sent its request.
        let _ = client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        let mut octets = Vec::new();
        let _ = client.read_to_end(&mut octets);
        String::from_utf8(octets).expect("UTF-8")
    }

    #[test]
    fn slow_clients_do_not_stop_others_and_are_limited_in_number() {
        let exporter = Exporter::bind(0).expect("a port");
        let address = exporter.address().expect("a port");
        exporter.serve(|| Ok(METRICS.to_owned())).expect("a thread");
        let slow: Vec<_> = (0..MAX_CLIENTS - 1)
            .map(|_| TcpStream::connect(address).expect("a connection"))
            .collect();
        assert!(request(address).ends_with(METRICS));
        let last = TcpStream::connect(address).expect("a connection");
        // All places are taken, as soon as the last one is accepted and the one before it is free.
        let is_busy = || (0..100).any(|_| request(address).starts_with("HTTP/1.1 503 "));
        assert!(is_busy());
        drop((slow, last));
        let is_free = || {
            thread::sleep(Duration::from_millis(10));
            request(address).ends_with(METRICS)
        };
        assert!((0..200).any(|_| is_free()));
    }
}
