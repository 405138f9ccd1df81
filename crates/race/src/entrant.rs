//! A competitor in a heat: the sockets and stacks of its transfer.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, ipproto, socket, sockopt};
use unruffled_kernel::Growth;
use unruffled_lab::Scenario;
use unruffled_net::{Namespace, Pair, Statistics};
use unruffled_tcp::{EcnMode, Variant};
use unruffled_wire::driver::Driver;
use unruffled_wire::stream;

use crate::error::Refusal;
use crate::guest::Role;
use crate::length::Length;
use crate::outcome::{Account, Transferred, Watch};
use crate::transfer::{POLL_INTERVAL, Received, receive, send};
use crate::{Competitor, Error, guest};

/// Port of the first receiver.
const FIRST_PORT: u16 = 5001;

/// Returns the port of the receiver of entrant `n`.
pub(crate) fn port(n: u8) -> u16 {
    FIRST_PORT + u16::from(n)
}

/// Time in which a connection must be established, unless the transfer ends earlier.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// The transfer that every entrant of a heat makes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// The path and the settings of our senders.
    pub(crate) scenario: &'a Scenario,
    /// Length of the transfer.
    pub(crate) length: Length,
    /// Whether our stack receives instead of the kernel.
    pub(crate) reverse: bool,
    /// Settings of a sending kernel.
    pub(crate) sysctls: &'a [(String, String)],
    /// Whether the receiver is behind the right end, which forwards.
    pub(crate) gateway: bool,
}

/// A competitor that is ready to start its transfer.
pub(crate) struct Entrant<'a> {
    task: Task<'a>,
    competitor: &'a Competitor,
    sender: Sender<'a>,
    receiver: Receiver,
    to: SocketAddr,
}

enum Sender<'a> {
    Kernel { network: Network<'a>, control: &'a str },
    Ours(Driver),
}

/// The network from which a kernel sends: that of the end, or a guest's behind it.
enum Network<'a> {
    End(&'a Namespace),
    Guest(Namespace),
}

impl Network<'_> {
    fn namespace(&self) -> &Namespace {
        match self {
            Self::End(namespace) => namespace,
            Self::Guest(namespace) => namespace,
        }
    }
}

enum Receiver {
    /// The listener, and its network if that is behind the right end.
    Kernel { listener: TcpListener, _network: Option<Namespace> },
    /// The listener is dropped before the driver that runs it.
    Ours { listener: stream::TcpListener, _driver: Driver },
}

impl<'a> Entrant<'a> {
    /// Creates entrant `n` of a heat. The kernel keeps its counters per network, so each further kernel
    /// gets its own network.
    pub(crate) fn new(
        task: Task<'a>,
        competitor: &'a Competitor,
        pair: &'a Pair,
        n: u8,
    ) -> Result<Self, Error> {
        let scenario = task.scenario;
        let sender = match competitor {
            Competitor::Kernel(control) | Competitor::Resequenced(control) => {
                let guest = (n > 0)
                    .then(|| guest::network(&pair.left, n, guest::mtu(scenario)))
                    .transpose()?;
                let network = match guest {
                    None => Network::End(&pair.left.namespace),
                    Some((guest, _)) => Network::Guest(guest),
                };
                if competitor.is_loaded() {
                    // `attach --default` does the same. `task.sysctls` may override it.
                    network.namespace().sysctl("net.ipv4.tcp_timestamps", "0")?;
                }
                if scenario.sender.ecn == EcnMode::Request {
                    network.namespace().sysctl("net.ipv4.tcp_ecn", "1")?;
                }
                for (key, value) in task.sysctls {
                    network.namespace().sysctl(key, value)?;
                }
                // The name in flags and results differs from that in the kernel.
                let loaded = competitor.growth().map(Growth::control);
                let control = loaded.unwrap_or(control);
                Sender::Kernel { network, control }
            }
            Competitor::Ours(variant) => {
                Sender::Ours(guest::stack(&pair.left, n, scenario, variant, Role::Sender)?.0)
            }
            Competitor::Foreign(_) => return Err(Refusal::StackWith("real packets").into()),
        };
        let port = port(n);
        let (receiver, to) = if task.reverse {
            let sack = Variant::named("sack").expect("the table has it");
            let (driver, own) = guest::stack(&pair.right, n, scenario, &sack, Role::Receiver)?;
            let to = SocketAddr::new(IpAddr::V4(own), port);
            let listener = stream::TcpListener::bind(&driver.handle(), to, 1);
            let mut listener = listener.map_err(Error::system("a listener of our own"))?;
            listener.set_accept_timeout(Some(POLL_INTERVAL));
            (Receiver::Ours { listener, _driver: driver }, to)
        } else {
            let guest = task
                .gateway
                .then(|| guest::network(&pair.right, n, guest::mtu(scenario)))
                .transpose()?;
            let (network, address) = match guest {
                None => (None, pair.right.v4),
                Some((guest, own)) => (Some(guest), own),
            };
            let to = SocketAddr::new(IpAddr::V4(address), port);
            let listener = network
                .as_ref()
                .unwrap_or(&pair.right.namespace)
                .run(|| listen(to).map_err(Error::system("a listener of the kernel")))?;
            (Receiver::Kernel { listener, _network: network }, to)
        };
        Ok(Self { task, competitor, sender, receiver, to })
    }

    /// Runs the transfer.
    ///
    /// # Errors
    /// If no connection is established, or if it breaks.
    pub(crate) fn run(self, seed: u64) -> io::Result<Transferred> {
        let Task { scenario, length, .. } = self.task;
        let start = Instant::now();
        let (received, account) = match &self.sender {
            Sender::Kernel { network, control } => {
                let network = network.namespace();
                let stream = network.run(|| {
                    connect(self.to, control, self.connect_timeout())
                        .map_err(Error::system("connecting"))
                });
                let stream = stream.map_err(io::Error::other)?;
                let received = self.transfer(stream, seed, start)?;
                (received, Account::Kernel(Statistics::of(network)?))
            }
            Sender::Ours(driver) => {
                let handle = driver.handle();
                let expected = length.expected(scenario);
                let watch = Watch::new(handle.now(), expected, &scenario.sender);
                let watcher = Arc::clone(&watch);
                handle.with(|stack| {
                    stack.watch(Some(Box::new(move |_, now, event| {
                        let watch: &Mutex<Watch> = &watcher;
                        watch.lock().unwrap_or_else(PoisonError::into_inner).event(now, event);
                    })));
                });
                let timeout = Some(self.connect_timeout());
                let stream = stream::TcpStream::connect_from(&handle, None, self.to, timeout);
                let mut stream = match stream {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => None,
                    stream => Some(stream?),
                };
                if let Some(stream) = &mut stream {
                    stream.set_write_timeout(Some(POLL_INTERVAL));
                }
                let received = self.transfer(stream.clone(), seed, start)?;
                handle.with(|stack| stack.watch(None));
                if let Some(stream) = stream {
                    stream.abort();
                }
                (received, Account::Ours(watch))
            }
        };
        let seconds = match length {
            Length::Time(time) => time,
            Length::Bytes(_) => received.last,
        };
        let seconds = seconds.as_secs_f64();
        Ok(Transferred { received, account, name: self.competitor.name(), seed, seconds })
    }

    /// Returns how long to wait for a connection.
    fn connect_timeout(&self) -> Duration {
        match self.task.length {
            Length::Time(time) => time.min(HANDSHAKE_TIMEOUT),
            Length::Bytes(_) => HANDSHAKE_TIMEOUT,
        }
    }

    /// Sends on `stream` until the receiver is complete. Without a stream, no connection was established
    /// in time.
    fn transfer(
        &self,
        stream: Option<impl io::Write + Send>,
        seed: u64,
        start: Instant,
    ) -> io::Result<Received> {
        let length = self.task.length;
        let stop = AtomicBool::new(false);
        let Some(stream) = stream else {
            return match length {
                Length::Time(time) if time <= HANDSHAKE_TIMEOUT => Ok(Received::unconnected()),
                _ => Err(io::Error::other(format!("no connection within {HANDSHAKE_TIMEOUT:?}"))),
            };
        };
        thread::scope(|scope| {
            let sender = scope.spawn(|| send(stream, seed, length, &stop));
            let received = self.receive(start);
            stop.store(true, Ordering::Relaxed);
            let sent = match sender.join() {
                Ok(sent) => sent,
                Err(panic) => std::panic::resume_unwind(panic),
            };
            match (received, sent) {
                // A receiver that is complete may have closed while the sender was still sending.
                (Ok(received), _) if received.complete => Ok(received),
                // The sender's error has the cause if data stopped arriving.
                (_, Err(error)) | (Err(error), Ok(())) => Err(error),
                (Ok(_), Ok(())) => Err(ErrorKind::UnexpectedEof.into()),
            }
        })
    }

    fn receive(&self, start: Instant) -> io::Result<Received> {
        let length = self.task.length;
        match &self.receiver {
            Receiver::Kernel { listener, .. } => {
                let accept = || {
                    let (stream, _) = listener.accept()?;
                    stream.set_read_timeout(Some(POLL_INTERVAL))?;
                    Ok(stream)
                };
                receive(accept, length, start)
            }
            Receiver::Ours { listener, .. } => {
                let accept = || {
                    let mut stream = listener.accept()?;
                    stream.set_read_timeout(Some(POLL_INTERVAL));
                    Ok(stream)
                };
                receive(accept, length, start)
            }
        }
    }
}

/// Creates a listener of the kernel, whose `accept` waits at most [`POLL_INTERVAL`].
fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(at)?;
    sockopt::set_socket_timeout(&listener, sockopt::Timeout::Recv, Some(POLL_INTERVAL))?;
    Ok(listener)
}

/// Connects a socket of the kernel under a congestion control; returns `None` after `timeout`. The
/// congestion control is set on the socket, since outside the first network namespace only unrestricted
/// ones can be the default.
fn connect(to: SocketAddr, control: &str, timeout: Duration) -> io::Result<Option<TcpStream>> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP))?;
    sockopt::set_tcp_congestion(&socket, control)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(timeout))?;
    match rustix::net::connect(&socket, &to) {
        Err(Errno::INPROGRESS) => return Ok(None),
        connected => connected?,
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(POLL_INTERVAL))?;
    Ok(Some(TcpStream::from(socket)))
}
