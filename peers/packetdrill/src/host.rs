//! The machine that packetdrill talks to: a stack, descriptors, a link and a clock.

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::raw::c_int;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use unruffled_stack::codec::Checksums;
use unruffled_stack::{ConnectionId, Options, Stack, StackConfig, StackError};
use unruffled_tcp::Variant;
use unruffled_units::Instant;

use crate::descriptor::{Descriptor, Kind};
use crate::packet;
use crate::settings::Settings;
use crate::tcp_info::Tally;

/// Where the virtual clock begins, in µs since 1970.
pub(crate) const START: i64 = 1_000_000_000_000;

/// A value of `errno`.
pub(crate) type Errno = c_int;

/// The machine.
#[derive(Debug)]
pub(crate) struct Host {
    /// The virtual clock, in µs.
    pub(crate) now: i64,
    pub(crate) settings: Settings,
    stack: Option<Stack>,
    pub(crate) descriptors: BTreeMap<c_int, Descriptor>,
    /// What has left, and when.
    pub(crate) left: VecDeque<(i64, Vec<u8>)>,
    tallies: Arc<Mutex<BTreeMap<ConnectionId, Tally>>>,
    /// A call blocks; one at most, for packetdrill has one thread for that.
    pub(crate) blocked: bool,
    /// The call that blocks should look again.
    pub(crate) look: bool,
    /// When the call that blocks gives up.
    pub(crate) deadline: Option<i64>,
    /// The thread whose call is through: the clock stands still until it has read it.
    pub(crate) through: Option<ThreadId>,
}

impl Host {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            now: START,
            settings,
            stack: None,
            descriptors: BTreeMap::new(),
            left: VecDeque::new(),
            tallies: Arc::default(),
            blocked: false,
            look: false,
            deadline: None,
            through: None,
        }
    }

    pub(crate) fn instant(&self) -> Instant {
        Instant::from_nanos(self.now as u64 * 1000)
    }

    /// Whether the settings can no longer change.
    pub(crate) fn is_made(&self) -> bool {
        self.stack.is_some()
    }

    /// The stack, made when it is first needed: until then socket options change its settings.
    pub(crate) fn stack(&mut self) -> &mut Stack {
        let (settings, tallies) = (&self.settings, &self.tallies);
        self.stack.get_or_insert_with(|| {
            let variant = Variant::named(&settings.variant).expect("settings hold a sender");
            let config = StackConfig::new(settings.local.clone(), variant);
            let mut config = config.expect("the system has randomness");
            config.mtu = settings.mtu;
            config.connection = settings.connection.clone();
            config.send_buffer = settings.send_buffer;
            config.key = key();
            let mut stack = Stack::new(config);
            let tallies = Arc::clone(tallies);
            stack.watch(Some(Box::new(move |id, now, event| {
                let mut tallies = tallies.lock().expect("no panic while it was locked");
                tallies.entry(id).or_default().on_event(now, event);
            })));
            stack
        })
    }

    /// What was counted of a connection.
    pub(crate) fn tally(&self, id: ConnectionId) -> Tally {
        self.tallies
            .lock()
            .expect("no panic while it was locked")
            .get(&id)
            .copied()
            .unwrap_or_default()
    }

    /// The MSS that we announce (RFC 6691).
    pub(crate) fn mss(&self) -> u32 {
        u32::from(self.settings.mtu - self.settings.headers())
    }

    /// The stack listens where it is to listen.
    ///
    /// # Errors
    /// Why it cannot.
    pub(crate) fn listen(&mut self) -> Result<(), Errno> {
        let waiting: Vec<_> = self
            .descriptors
            .iter()
            .filter_map(|(&fd, descriptor)| match descriptor.kind {
                Kind::Waiting(at, backlog) => Some((fd, at, backlog)),
                _ => None,
            })
            .collect();
        for (fd, at, backlog) in waiting {
            let id = self.stack().listen(at, backlog).map_err(errno)?;
            if let Some(descriptor) = self.descriptors.get_mut(&fd) {
                descriptor.kind = Kind::Listener(id);
            }
            self.grant(fd)?;
        }
        Ok(())
    }

    /// What has been set of a socket holds from now on, if the stack knows it already.
    ///
    /// # Errors
    /// When there is no such socket any more.
    pub(crate) fn grant(&mut self, fd: c_int) -> Result<(), Errno> {
        let (kind, wishes, now) = {
            let descriptor = self.descriptor(fd)?;
            (descriptor.kind, descriptor.wishes, self.instant())
        };
        let wish = |options: &mut Options| wishes.apply(options);
        match kind {
            Kind::Fresh | Kind::Waiting(..) => Ok(()),
            Kind::Listener(id) => self.stack().set_listener_options(id, wish).map_err(errno),
            Kind::Connection(id) => self.stack().set_options(id, now, wish).map_err(errno),
        }
    }

    /// The options of a socket as they are now.
    pub(crate) fn options(&mut self, fd: c_int) -> Result<Options, Errno> {
        let (kind, wishes) = {
            let descriptor = self.descriptor(fd)?;
            (descriptor.kind, descriptor.wishes)
        };
        let known = match kind {
            Kind::Fresh | Kind::Waiting(..) => None,
            Kind::Listener(id) => self.stack().listener_options(id).ok(),
            Kind::Connection(id) => self.stack().options(id).ok(),
        };
        Ok(known.unwrap_or_else(|| {
            let mut options = self.settings.options();
            wishes.apply(&mut options);
            options
        }))
    }

    /// A packet arrives.
    pub(crate) fn receive(&mut self, packet: &[u8]) {
        if let Err(error) = self.listen() {
            eprintln!("unruffled: listen() fails with errno {error}");
        }
        let now = self.instant();
        // Everything leaves before the next packet.
        let _ = self.stack().receive(packet, Checksums::Verify, now);
        self.transmit();
    }

    /// Sends all segments that are due.
    pub(crate) fn transmit(&mut self) {
        let now = self.instant();
        let Some(stack) = &mut self.stack else { return };
        let mut packet = Vec::new();
        while stack.poll_transmit(now, &mut packet).is_some() {
            let mut leaving = std::mem::take(&mut packet);
            packet::rewrite(&mut leaving, self.settings.linux_options, self.settings.without_push);
            self.left.push_back((self.now, leaving));
        }
    }

    /// When something happens by itself.
    pub(crate) fn next(&mut self) -> Option<i64> {
        let due = self.stack.as_mut().and_then(Stack::poll_timeout);
        let due = due.map(|due| due.as_nanos().div_ceil(1000) as i64);
        [due, self.deadline].into_iter().flatten().min()
    }

    /// Timers may be due.
    pub(crate) fn expire(&mut self) {
        let now = self.instant();
        if let Some(stack) = &mut self.stack {
            stack.handle_timeout(now);
        }
        self.transmit();
    }

    /// Makes a descriptor.
    pub(crate) fn install(&mut self, kind: Kind, v6: bool) -> Result<c_int, Errno> {
        let number = File::open("/dev/null").map_err(|_| libc::EMFILE)?;
        let fd = number.as_raw_fd();
        self.descriptors.insert(fd, Descriptor::new(number, kind, v6));
        Ok(fd)
    }

    pub(crate) fn descriptor(&mut self, fd: c_int) -> Result<&mut Descriptor, Errno> {
        self.descriptors.get_mut(&fd).ok_or(libc::EBADF)
    }

    /// The connection behind a descriptor, if there is one.
    pub(crate) fn connection(&self, fd: c_int) -> Option<ConnectionId> {
        match self.descriptors.get(&fd)?.kind {
            Kind::Connection(id) => Some(id),
            _ => None,
        }
    }
}

/// The stack's secret: the same in every run.
fn key<T: From<[u8; 16]>>() -> T {
    T::from([7; 16])
}

/// The `errno` of what the stack refuses.
pub(crate) fn errno(error: StackError) -> Errno {
    match io::Error::from(error).kind() {
        ErrorKind::ConnectionReset => libc::ECONNRESET,
        ErrorKind::ConnectionRefused => libc::ECONNREFUSED,
        ErrorKind::ConnectionAborted => libc::ECONNABORTED,
        ErrorKind::TimedOut => libc::ETIMEDOUT,
        ErrorKind::AddrInUse => libc::EADDRINUSE,
        ErrorKind::AddrNotAvailable => libc::EADDRNOTAVAIL,
        ErrorKind::BrokenPipe => libc::EPIPE,
        ErrorKind::NotConnected => libc::ENOTCONN,
        ErrorKind::OutOfMemory => libc::ENOMEM,
        _ => libc::EIO,
    }
}
