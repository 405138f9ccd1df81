//! The system calls that rustix lacks.
#![expect(unsafe_code, reason = "rustix has neither recvmmsg nor this option of netlink sockets")]

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};

/// Maximum number of datagrams that one call receives.
pub(crate) const MAX_DATAGRAMS: usize = 64;

/// Octets of a buffer for one datagram.
pub(crate) const DATAGRAM_OCTETS: usize = 1024;

/// Buffers for datagrams.
pub(crate) struct Datagrams {
    buffers: Box<[[u8; DATAGRAM_OCTETS]; MAX_DATAGRAMS]>,
    lengths: [usize; MAX_DATAGRAMS],
    received: usize,
}

impl Datagrams {
    pub(crate) fn new() -> Self {
        Self {
            buffers: Box::new([[0; DATAGRAM_OCTETS]; MAX_DATAGRAMS]),
            lengths: [0; MAX_DATAGRAMS],
            received: 0,
        }
    }

    /// Receives what has arrived, without waiting, and returns the number of datagrams. What does not fit
    /// into a buffer is cut off.
    ///
    /// # Errors
    /// If nothing has arrived (`WouldBlock`), or if the call fails otherwise.
    pub(crate) fn receive(&mut self, socket: impl AsFd) -> io::Result<usize> {
        self.received = 0;
        // SAFETY: All fields of both types are integers and pointers, for which zero is a value.
        let mut parts: [libc::iovec; MAX_DATAGRAMS] = unsafe { zeroed() };
        // SAFETY: As above.
        let mut headers: [libc::mmsghdr; MAX_DATAGRAMS] = unsafe { zeroed() };
        for ((buffer, part), header) in self.buffers.iter_mut().zip(&mut parts).zip(&mut headers) {
            part.iov_base = buffer.as_mut_ptr().cast();
            part.iov_len = DATAGRAM_OCTETS;
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
        }
        // SAFETY: Each header names one part, and each part a buffer of its own with its true length. All
        // live until the call returns.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                headers.as_mut_ptr(),
                MAX_DATAGRAMS as libc::c_uint,
                libc::MSG_DONTWAIT as _,
                std::ptr::null_mut(),
            )
        };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        self.received = (received as usize).min(MAX_DATAGRAMS);
        for (length, header) in self.lengths.iter_mut().zip(&headers) {
            *length = (header.msg_len as usize).min(DATAGRAM_OCTETS);
        }
        Ok(self.received)
    }

    /// Returns the datagrams of the last call.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let buffers = self.buffers.iter().zip(self.lengths).take(self.received);
        buffers.map(|(buffer, length)| &buffer[..length])
    }
}

/// Sets `NETLINK_NO_ENOBUFS`: after an overrun, the socket receives new messages as soon as it has room for
/// one, and `recv` does not fail.
pub(crate) fn set_no_enobufs(socket: impl AsFd) -> io::Result<()> {
    let enabled: libc::c_int = 1;
    // SAFETY: The pointer and the length are those of a variable that lives until the call returns.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_NETLINK,
            libc::NETLINK_NO_ENOBUFS,
            (&raw const enabled).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
