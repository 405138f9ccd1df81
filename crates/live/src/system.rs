//! The system calls that rustix lacks.
#![expect(unsafe_code, reason = "rustix has neither addresses nor options of packet sockets")]

use std::io;
use std::mem::{MaybeUninit, size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd};

/// Maximum number of packets that one call receives.
const MAX_PACKETS: usize = 64;

/// Octets kept of a packet. All headers of a packet fit, those of tunnels included.
const SNAP_OCTETS: usize = 512;

/// Room for the time of a packet among the control messages, in words.
const CONTROL_WORDS: usize = 16;

/// Buffers for packets.
pub(crate) struct Packets {
    buffers: Box<[[u8; SNAP_OCTETS]; MAX_PACKETS]>,
    addresses: Box<[libc::sockaddr_ll; MAX_PACKETS]>,
    controls: Box<[[usize; CONTROL_WORDS]; MAX_PACKETS]>,
    received: Vec<Received>,
}

/// Facts of a received packet.
#[derive(Clone, Copy, Debug)]
struct Received {
    length: usize,
    /// Seconds and nanoseconds since 1970.
    at: Option<(i64, i64)>,
}

/// A packet, from the header of the network layer on.
#[derive(Clone, Copy)]
pub(crate) struct ReceivedPacket<'a> {
    /// The first octets.
    pub(crate) data: &'a [u8],
    /// Octets in all.
    pub(crate) length: usize,
    /// Seconds and nanoseconds since 1970, if the kernel has stamped the packet.
    pub(crate) at: Option<(i64, i64)>,
    pub(crate) address: &'a libc::sockaddr_ll,
}

impl Packets {
    pub(crate) fn new() -> Self {
        // SAFETY: All fields of the type are integers, for which zero is a value.
        let addresses = unsafe { zeroed::<[libc::sockaddr_ll; MAX_PACKETS]>() };
        Self {
            buffers: Box::new([[0; SNAP_OCTETS]; MAX_PACKETS]),
            addresses: Box::new(addresses),
            controls: Box::new([[0; CONTROL_WORDS]; MAX_PACKETS]),
            received: Vec::with_capacity(MAX_PACKETS),
        }
    }

    /// Receives packets that have come, without waiting, and returns their number.
    ///
    /// # Errors
    /// If no packet has come (`WouldBlock`), or if the call fails otherwise.
    pub(crate) fn receive(&mut self, socket: impl AsFd) -> io::Result<usize> {
        self.received.clear();
        // SAFETY: All fields of both types are integers and pointers, for which zero is a value.
        let mut parts: [libc::iovec; MAX_PACKETS] = unsafe { zeroed() };
        // SAFETY: As above.
        let mut headers: [libc::mmsghdr; MAX_PACKETS] = unsafe { zeroed() };
        for (i, (part, header)) in parts.iter_mut().zip(&mut headers).enumerate() {
            part.iov_base = self.buffers[i].as_mut_ptr().cast();
            part.iov_len = SNAP_OCTETS;
            header.msg_hdr.msg_iov = part;
            header.msg_hdr.msg_iovlen = 1;
            header.msg_hdr.msg_name = (&raw mut self.addresses[i]).cast();
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            header.msg_hdr.msg_control = self.controls[i].as_mut_ptr().cast();
            header.msg_hdr.msg_controllen = size_of::<[usize; CONTROL_WORDS]>() as _;
        }
        // SAFETY: Each header names one part, one address and one control buffer of its own, each with its
        // true length. All live until the call returns.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_fd().as_raw_fd(),
                headers.as_mut_ptr(),
                MAX_PACKETS as libc::c_uint,
                // The length of a packet is then the whole one, also beyond the buffer.
                (libc::MSG_DONTWAIT | libc::MSG_TRUNC) as _,
                std::ptr::null_mut(),
            )
        };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        for header in &headers[..(received as usize).min(MAX_PACKETS)] {
            let at = time(&header.msg_hdr);
            self.received.push(Received { length: header.msg_len as usize, at });
        }
        Ok(self.received.len())
    }

    /// Returns the packets of the last call.
    pub(crate) fn iter(&self) -> impl Iterator<Item = ReceivedPacket<'_>> {
        self.received.iter().enumerate().map(|(i, received)| ReceivedPacket {
            data: &self.buffers[i][..received.length.min(SNAP_OCTETS)],
            length: received.length,
            at: received.at,
            address: &self.addresses[i],
        })
    }
}

/// Returns the time among the control messages of a received packet.
fn time(header: &libc::msghdr) -> Option<(i64, i64)> {
    // SAFETY: The kernel has filled the header and the control buffer that it names, which lives in the
    // caller's `Packets`.
    let mut message = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !message.is_null() {
        // SAFETY: The macros return headers within the buffer only.
        let head = unsafe { message.read_unaligned() };
        if head.cmsg_level == libc::SOL_SOCKET && head.cmsg_type == libc::SO_TIMESTAMPNS {
            // SAFETY: The data of this message is a `timespec`.
            let at = unsafe { libc::CMSG_DATA(message).cast::<libc::timespec>().read_unaligned() };
            return Some((at.tv_sec as i64, at.tv_nsec as i64));
        }
        // SAFETY: As for the first.
        message = unsafe { libc::CMSG_NXTHDR(header, message) };
    }
    None
}

/// Binds a packet socket to the interface of that index, or to all for 0. It receives all protocols.
pub(crate) fn bind(socket: impl AsFd, index: u32) -> io::Result<()> {
    // SAFETY: All fields of the type are integers, for which zero is a value.
    let mut address: libc::sockaddr_ll = unsafe { zeroed() };
    address.sll_family = libc::AF_PACKET as _;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = index as _;
    // SAFETY: The pointer and the length are those of a variable that lives until the call returns.
    let result = unsafe {
        libc::bind(
            socket.as_fd().as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the ARPHRD_ type of the interface to which a packet socket is bound.
pub(crate) fn hardware_type(socket: impl AsFd) -> io::Result<u16> {
    let mut address = MaybeUninit::<libc::sockaddr_ll>::zeroed();
    let mut length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: The pointers are those of variables that live until the call returns, and the length is that
    // of the address.
    let result = unsafe {
        libc::getsockname(socket.as_fd().as_raw_fd(), address.as_mut_ptr().cast(), &raw mut length)
    };
    // SAFETY: Zero is a value of each field, and the kernel writes valid ones.
    let address = unsafe { address.assume_init() };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(address.sll_hatype) }
}

/// Makes the kernel stamp each packet with its time.
pub(crate) fn stamp_packets(socket: impl AsFd) -> io::Result<()> {
    let enabled: libc::c_int = 1;
    set_option(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, &enabled)
}

/// Makes the interface of that index receive packets to other machines until the socket is closed.
pub(crate) fn receive_all(socket: impl AsFd, index: u32) -> io::Result<()> {
    // SAFETY: All fields of the type are integers, for which zero is a value.
    let mut request: libc::packet_mreq = unsafe { zeroed() };
    request.mr_ifindex = index as _;
    request.mr_type = libc::PACKET_MR_PROMISC as _;
    set_option(socket, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

fn set_option<T>(
    socket: impl AsFd,
    level: libc::c_int,
    name: libc::c_int,
    value: &T,
) -> io::Result<()> {
    // SAFETY: The pointer and the length are those of a value that lives until the call returns.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            name,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Returns the packets that the kernel has dropped since the last call, because the socket had no room.
pub(crate) fn drops(socket: impl AsFd) -> io::Result<u64> {
    let mut statistics = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
    // SAFETY: The pointers are those of variables that live until the call returns, and the length is that
    // of the statistics.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_PACKET,
            libc::PACKET_STATISTICS,
            (&raw mut statistics).cast(),
            &raw mut length,
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(statistics.tp_drops.into()) }
}
