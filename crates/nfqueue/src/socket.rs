//! A netlink socket for one queue.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, bind, netlink, send, socket_with, sockopt,
};

use crate::Error;
use crate::message::{self, Message};
use crate::queues::last_id;
use crate::system::{Datagrams, set_no_enobufs};
use crate::verdicts::Verdicts;

/// Maximum number of packets in a queue; the kernel's own limit (`NFQNL_HASH_SIZE`).
pub(crate) const QUEUE_LENGTH: u32 = 65_536;

/// Size of the receive buffer in octets: 40 000 unread packets, 130 ms at 300 000 packets per second.
const RECEIVE_BUFFER: usize = 32 << 20;

/// Time within which the kernel answers a request.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// A netlink socket. Processes that share it share its queue.
#[derive(Debug)]
pub(crate) struct Socket(OwnedFd);

impl Socket {
    /// Opens a socket in the network namespace of the calling thread.
    pub(crate) fn open() -> Result<Self, Error> {
        let flags = SocketFlags::CLOEXEC;
        let protocol = Some(netlink::NETFILTER);
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol);
        let socket = socket.map_err(|errno| match errno {
            Errno::PROTONOSUPPORT | Errno::AFNOSUPPORT => Error::NoQueue(errno.into()),
            _ => Error::kernel("a netlink socket", errno),
        })?;
        let bound = bind(&socket, &SocketAddrNetlink::new(0, 0));
        bound.map_err(|errno| Error::kernel("a netlink socket", errno))?;
        // The larger buffer is for root only. Without it a burst passes out of order, and is counted.
        let _ = sockopt::set_socket_recv_buffer_size_force(&socket, RECEIVE_BUFFER);
        set_no_enobufs(&socket)
            .map_err(|reason| Error::kernel("a netlink socket without ENOBUFS", reason))?;
        Ok(Self(socket))
    }

    /// Returns the socket of a descriptor that another process has opened.
    pub(crate) fn from_shared(socket: OwnedFd) -> Self {
        Self(socket)
    }

    /// Binds and configures `queue`, and returns `false` if another socket has it.
    pub(crate) fn bind(&self, queue: u16) -> Result<bool, Error> {
        match self.request(queue, &message::bind(queue, QUEUE_LENGTH, 1), 1)? {
            0 => Ok(true),
            libc::EBUSY => Ok(false),
            // It has another owner, or this process lacks the rights for any.
            libc::EPERM if last_id(queue).is_some() => Ok(false),
            // The subsystem does not exist.
            errno @ (libc::EINVAL | libc::EOPNOTSUPP | libc::ENOENT) => {
                Err(Error::NoQueue(io::Error::from_raw_os_error(errno)))
            }
            errno => {
                let reason = io::Error::from_raw_os_error(errno);
                Err(Error::kernel(format!("binding queue {queue}"), reason))
            }
        }
    }

    /// Sends a request, and returns the number of the error in the answer. Packets that arrive before the
    /// answer pass.
    fn request(&self, queue: u16, request: &[u8], sequence: u32) -> Result<i32, Error> {
        let failed = |reason: io::Error| Error::kernel(format!("queue {queue}"), reason);
        self.send(request).map_err(failed)?;
        let mut datagrams = Datagrams::new();
        let mut verdicts = Verdicts::new(queue);
        let deadline = Instant::now() + ANSWER_TIMEOUT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(failed(io::ErrorKind::TimedOut.into()));
            }
            self.wait(left).map_err(failed)?;
            match datagrams.receive(&self.0) {
                Ok(_) => {}
                Err(error) if is_transient(&error) => continue,
                Err(error) => return Err(failed(error)),
            }
            let mut answer = None;
            for message in datagrams.iter().flat_map(message::decode) {
                match message {
                    Message::Packet(packet) => {
                        verdicts.push(packet.id, self).map_err(failed)?;
                    }
                    Message::Result { sequence: found, errno } if found == sequence => {
                        answer = Some(errno);
                    }
                    Message::Result { .. } => {}
                }
            }
            verdicts.send(self).map_err(failed)?;
            if let Some(errno) = answer {
                return Ok(errno);
            }
        }
    }

    /// Sets the maximum number of packets in `queue`. At 0 all new packets pass, in order among themselves.
    pub(crate) fn set_length(&self, queue: u16, length: u32) -> io::Result<()> {
        self.send(&message::set_length(queue, length))
    }

    /// Lets all packets pass: those held, in the order of their arrival, and then new ones at once. `last` is
    /// the id of the packet that entered the queue last.
    ///
    /// New packets pass only after those held, since a sender takes for lost what others have overtaken. What
    /// enters the queue meanwhile passes with the second verdict.
    pub(crate) fn release_all(&self, queue: u16, last: u32) -> io::Result<()> {
        // Also those that have entered the queue since. Ids wrap, and are compared with a sign.
        let release = message::batch_verdict(queue, last.wrapping_add(1 << 30));
        self.send(&[&release[..], &message::set_length(queue, 0), &release].concat())
    }

    /// Sends messages. The kernel has carried them out when this returns.
    pub(crate) fn send(&self, messages: &[u8]) -> io::Result<()> {
        loop {
            match send(&self.0, messages, SendFlags::empty()) {
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Waits until the socket is readable, at most for `timeout`. A signal may end the wait early.
    pub(crate) fn wait(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec::try_from(timeout).ok();
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads and drops all messages that wait. Their packets have had their verdicts.
    pub(crate) fn discard_messages(&self) {
        let mut datagrams = Datagrams::new();
        while datagrams.receive(&self.0).is_ok_and(|received| received > 0) {}
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns whether a failed `recv` may be repeated.
pub(crate) fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
        || error.raw_os_error() == Some(libc::ENOBUFS)
}
