//! A competitor at the start: the sockets and stacks of its transfer.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, ipproto, socket, sockopt};
use unruffled_lab::Scenario;
use unruffled_net::{Namespace, Pair, Statistics};
use unruffled_tcp::Variant;
use unruffled_wire::driver::Driver;
use unruffled_wire::stream;

use crate::guest::Role;
use crate::length::Length;
use crate::outcome::{Account, Transferred, Watch};
use crate::transfer::{PATIENCE, Received, receive, send};
use crate::{Competitor, Error, guest};

/// The port of the first receiver.
const PORT: u16 = 5001;

/// How long a connection may take to come about, if the transfer is not over before.
const HANDSHAKE: Duration = Duration::from_secs(30);

/// What every entrant of a heat is to do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// The path, and settings of our senders.
    pub(crate) scenario: &'a Scenario,
    /// How much is sent.
    pub(crate) length: Length,
    /// Our stack receives, in place of a kernel.
    pub(crate) reverse: bool,
    /// Settings of a kernel that sends.
    pub(crate) sysctls: &'a [(String, String)],
}

/// A competitor whose transfer is about to begin.
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

/// The network that a kernel sends from: that of the end, or one behind it.
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
    Kernel(TcpListener),
    /// The listener ends before the driver that runs it.
    Ours {
        listener: stream::TcpListener,
        _driver: Driver,
    },
}

impl<'a> Entrant<'a> {
    /// The `n`th of those who run at once. The kernel counts network by network, so a second kernel
    /// gets a network of its own.
    pub(crate) fn new(
        task: Task<'a>,
        competitor: &'a Competitor,
        pair: &'a Pair,
        n: u8,
    ) -> Result<Self, Error> {
        let scenario = task.scenario;
        let sender = match competitor {
            Competitor::Kernel(control) => {
                let guest = (n > 0)
                    .then(|| guest::network(&pair.left, n, guest::mtu(scenario)))
                    .transpose()?;
                let network = guest.map_or(Network::End(&pair.left.namespace), Network::Guest);
                if competitor.is_loaded() {
                    // As `attach --default` does in a network, unless the caller has it otherwise.
                    network.namespace().sysctl("net.ipv4.tcp_timestamps", "0")?;
                }
                for (key, value) in task.sysctls {
                    network.namespace().sysctl(key, value)?;
                }
                Sender::Kernel { network, control }
            }
            Competitor::Ours(variant) => {
                Sender::Ours(guest::stack(&pair.left, n, scenario, variant, Role::Sender)?.0)
            }
        };
        let port = PORT + u16::from(n);
        let (receiver, to) = if task.reverse {
            let sack = Variant::named("sack").expect("the table has it");
            let (driver, own) = guest::stack(&pair.right, n, scenario, &sack, Role::Receiver)?;
            let to = SocketAddr::new(IpAddr::V4(own), port);
            let listener = stream::TcpListener::bind(&driver.handle(), to, 1);
            let mut listener = listener.map_err(Error::system("a listener of our own"))?;
            listener.set_accept_timeout(Some(PATIENCE));
            (Receiver::Ours { listener, _driver: driver }, to)
        } else {
            let to = SocketAddr::new(IpAddr::V4(pair.right.v4), port);
            let listener = pair
                .right
                .namespace
                .run(|| listen(to).map_err(Error::system("a listener of the kernel")))?;
            (Receiver::Kernel(listener), to)
        };
        Ok(Self { task, competitor, sender, receiver, to })
    }

    /// The transfer. It fails if no connection comes about, or if one breaks.
    pub(crate) fn run(self, seed: u64) -> io::Result<Transferred> {
        let Task { scenario, length, .. } = self.task;
        let start = Instant::now();
        let (received, account) = match &self.sender {
            Sender::Kernel { network, control } => {
                let network = network.namespace();
                let stream = network.run(|| {
                    connect(self.to, control, self.patience()).map_err(Error::system("connecting"))
                });
                let stream = stream.map_err(io::Error::other)?;
                let received = self.transfer(stream, seed, start)?;
                (received, Account::Kernel(Statistics::of(network)?))
            }
            Sender::Ours(driver) => {
                let handle = driver.handle();
                let expected = length.expected(scenario);
                let watch = Watch::new(handle.now(), expected, scenario.sender.mss);
                let watcher = Arc::clone(&watch);
                handle.with(|stack| {
                    stack.watch(Some(Box::new(move |_, now, event| {
                        let watch: &Mutex<Watch> = &watcher;
                        watch.lock().unwrap_or_else(PoisonError::into_inner).event(now, event);
                    })));
                });
                let patience = Some(self.patience());
                let stream = stream::TcpStream::connect_from(&handle, None, self.to, patience);
                let mut stream = match stream {
                    Err(error) if error.kind() == ErrorKind::WouldBlock => None,
                    stream => Some(stream?),
                };
                if let Some(stream) = &mut stream {
                    stream.set_write_timeout(Some(PATIENCE));
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

    /// How long to wait for a connection.
    fn patience(&self) -> Duration {
        match self.task.length {
            Length::Time(time) => time.min(HANDSHAKE),
            Length::Bytes(_) => HANDSHAKE,
        }
    }

    /// Sends from `stream`, if there is one in time, to the receiver until that has enough.
    fn transfer(
        &self,
        stream: Option<impl io::Write + Send>,
        seed: u64,
        start: Instant,
    ) -> io::Result<Received> {
        let (length, stop) = (self.task.length, AtomicBool::new(false));
        let Some(stream) = stream else {
            return match length {
                Length::Time(time) if time <= HANDSHAKE => Ok(Received::nothing()),
                _ => Err(io::Error::other(format!("no connection within {HANDSHAKE:?}"))),
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
                // A receiver that had enough may have closed before the sender heard of it.
                (Ok(received), _) if received.complete => Ok(received),
                // Why nothing comes any more the sender knows best.
                (_, Err(error)) | (Err(error), Ok(())) => Err(error),
                (Ok(_), Ok(())) => Err(ErrorKind::UnexpectedEof.into()),
            }
        })
    }

    fn receive(&self, start: Instant) -> io::Result<Received> {
        let length = self.task.length;
        match &self.receiver {
            Receiver::Kernel(listener) => {
                let accept = || {
                    let (stream, _) = listener.accept()?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    Ok(stream)
                };
                receive(accept, length, start)
            }
            Receiver::Ours { listener, .. } => {
                let accept = || {
                    let mut stream = listener.accept()?;
                    stream.set_read_timeout(Some(PATIENCE));
                    Ok(stream)
                };
                receive(accept, length, start)
            }
        }
    }
}

/// A kernel's listener, which waits for a connection no longer than an end does for octets.
fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(at)?;
    sockopt::set_socket_timeout(&listener, sockopt::Timeout::Recv, Some(PATIENCE))?;
    Ok(listener)
}

/// A kernel's connection under a congestion control; none if there is none within `patience`. Only the
/// first network may have another than an unrestricted one as its default, so the socket has to be
/// told.
fn connect(to: SocketAddr, control: &str, patience: Duration) -> io::Result<Option<TcpStream>> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, Some(ipproto::TCP))?;
    sockopt::set_tcp_congestion(&socket, control)?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(patience))?;
    match rustix::net::connect(&socket, &to) {
        Err(Errno::INPROGRESS) => return Ok(None),
        connected => connected?,
    }
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Send, Some(PATIENCE))?;
    Ok(Some(TcpStream::from(socket)))
}
