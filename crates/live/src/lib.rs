//! Packets of a Linux interface, as they pass: [`Live`] receives them by a packet socket.
//!
//! The socket copies packets. It changes neither the packets, nor the interface, nor the machine; with
//! `promiscuous`, the interface receives packets to other machines until the socket is closed. A process
//! that is killed closes its sockets, so it leaves nothing behind.
//!
//! Packets are received from the header of the network layer on. The link headers of interfaces differ, and
//! the kernel has already read them. Each packet gets the header of a cooked capture, which shows the
//! interface. An interface in monitor mode is the exception: its frames are received whole.
#![cfg(target_os = "linux")]

mod error;
mod system;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with, sockopt};
use unruffled_capture::{Frame, Interface, Link};
use unruffled_units::{Instant, hint};

pub use error::Error;
use system::{Packets, ReceivedPacket};

/// Name that stands for all interfaces.
const ANY: &str = "any";

/// Octets that the kernel keeps of packets that were not received yet.
const BUFFER_OCTETS: usize = 32 << 20;

/// Octets of a cooked header, version 2.
const COOKED_OCTETS: usize = 20;

/// LINKTYPE_LINUX_SLL2.
const COOKED_LINK: u32 = 276;

/// Types of interfaces in monitor mode, and the types of their links: IEEE 802.11, also with Prism's or
/// radiotap's header.
const MONITOR_LINKS: [(u16, u32); 3] = [(801, 105), (802, 119), (803, 127)];

/// A capture of an interface, or of all.
pub struct Live {
    socket: OwnedFd,
    packets: Packets,
    /// Index of the interface, 0 for all.
    index: u32,
    /// Link type of an interface whose frames are received whole.
    whole: Option<Link>,
    names: HashMap<u32, String>,
    frame: Vec<u8>,
    drops: u64,
    latest: Instant,
    /// Whether the interface has gone down, after which it may have been removed.
    down: bool,
}

impl Live {
    /// Begins to capture `interface`, or all for `any`. With `promiscuous`, the interface receives packets
    /// to other machines as well.
    ///
    /// # Errors
    /// If the process lacks the privileges, or if there is no such interface, or if it is down.
    pub fn open(interface: &str, promiscuous: bool) -> Result<Self, Error> {
        let socket = packet_socket(SocketType::DGRAM)?;
        let index = match interface {
            ANY => 0,
            name => index(&socket, name)?,
        };
        let (socket, whole) = bound(socket, index, interface)?;
        if promiscuous && index > 0 {
            system::receive_all(&socket, index)
                .map_err(|reason| Error::kernel("promiscuous mode", reason))?;
        }
        Ok(Self {
            socket,
            packets: Packets::new(),
            index,
            whole,
            // It has none any more when its last packets are received after its removal.
            names: HashMap::from([(index, interface.to_owned())]),
            frame: Vec::new(),
            drops: 0,
            latest: Instant::ZERO,
            down: false,
        })
    }

    /// Receives packets that have come, without waiting, and passes each to `each`. Returns their number,
    /// which is 0 if none has come.
    ///
    /// # Errors
    /// If the interface was removed and its packets have been received, or if the kernel fails. An interface
    /// that goes down is no error.
    pub fn receive(&mut self, mut each: impl FnMut(&Frame<'_>)) -> Result<usize, Error> {
        let mut received = self.packets.receive(&self.socket);
        // It is reported before the packets that have not been received yet.
        if received.as_ref().is_err_and(is_down) {
            self.down = true;
            received = self.packets.receive(&self.socket);
        }
        if let Err(error) = received {
            return self.failed(error);
        }
        let mut number = 0;
        for packet in self.packets.iter() {
            let address = packet.address;
            // The loopback interface shows each packet twice: as it leaves, and as it arrives.
            let leaves = address.sll_pkttype == libc::PACKET_OUTGOING;
            if leaves && address.sll_hatype == libc::ARPHRD_LOOPBACK {
                continue;
            }
            number += 1;
            let interface = address.sll_ifindex as u32;
            let name = self.names.entry(interface).or_insert_with(|| {
                let name = netdevice::index_to_name(&self.socket, interface);
                name.unwrap_or_else(|_| format!("interface {interface}"))
            });
            let at = match packet.at {
                Some((seconds, nanoseconds)) => {
                    let seconds = u64::try_from(seconds).unwrap_or(0);
                    Instant::from_nanos(
                        seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds as u64),
                    )
                }
                None => self.latest,
            };
            self.latest = at;
            let header = if self.whole.is_some() { 0 } else { COOKED_OCTETS };
            self.frame.clear();
            if self.whole.is_none() {
                self.frame.extend(cooked_header(&packet));
            }
            self.frame.extend(packet.data);
            each(&Frame {
                at,
                link: self.whole.unwrap_or(Link::from_number(COOKED_LINK)),
                interface: Interface { number: interface, name: Some(name) },
                length: (packet.length + header) as u32,
                data: &self.frame,
            });
        }
        Ok(number)
    }

    fn failed(&self, error: io::Error) -> Result<usize, Error> {
        match Errno::from_io_error(&error) {
            Some(Errno::AGAIN | Errno::INTR | Errno::NETDOWN) => match self.is_removed() {
                true => Err(Error::Removed),
                false => Ok(0),
            },
            _ => Err(Error::kernel("receiving packets", error)),
        }
    }

    /// Returns whether the interface was removed. It goes down before, and the socket receives again when it
    /// comes up again.
    fn is_removed(&self) -> bool {
        self.down && netdevice::index_to_name(&self.socket, self.index).is_err()
    }

    /// Returns the packets that the kernel has dropped so far, because they came faster than they were
    /// received.
    ///
    /// # Errors
    /// If the kernel does not return its statistics.
    pub fn drops(&mut self) -> Result<u64, Error> {
        let more = system::drops(&self.socket);
        self.drops += more.map_err(|reason| Error::kernel("counting drops", reason))?;
        Ok(self.drops)
    }
}

impl AsFd for Live {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn is_down(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::NETDOWN)
}

/// Opens a socket that receives nothing before it is bound.
fn packet_socket(kind: SocketType) -> Result<OwnedFd, Error> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::PACKET, kind, flags, None)
        .map_err(|reason| Error::kernel("a packet socket", reason))
}

fn index(socket: &OwnedFd, name: &str) -> Result<u32, Error> {
    netdevice::name_to_index(socket, name).map_err(|_| {
        // /proc/net has the interfaces of the calling process.
        let devices = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
        let names = devices.lines().filter_map(|line| Some(line.split_once(':')?.0.trim()));
        Error::NoInterface { name: name.to_owned(), hint: hint(name, names.chain([ANY])) }
    })
}

/// Binds a socket, and returns it with the type of the link if frames are received whole.
fn bound(socket: OwnedFd, index: u32, name: &str) -> Result<(OwnedFd, Option<Link>), Error> {
    prepare(&socket, index, name)?;
    let hardware = system::hardware_type(&socket)
        .map_err(|reason| Error::kernel("the type of the interface", reason))?;
    let monitor = MONITOR_LINKS.iter().find(|&&(kind, _)| index > 0 && kind == hardware);
    let Some(&(_, link)) = monitor else { return Ok((socket, None)) };
    let socket = packet_socket(SocketType::RAW)?;
    prepare(&socket, index, name)?;
    Ok((socket, Some(Link::from_number(link))))
}

fn prepare(socket: &OwnedFd, index: u32, name: &str) -> Result<(), Error> {
    // Without CAP_NET_ADMIN the buffer is smaller, up to net.core.rmem_max.
    if sockopt::set_socket_recv_buffer_size_force(socket, BUFFER_OCTETS).is_err() {
        let _ = sockopt::set_socket_recv_buffer_size(socket, BUFFER_OCTETS);
    }
    system::stamp_packets(socket).map_err(|reason| Error::kernel("times of packets", reason))?;
    system::bind(socket, index)
        .map_err(|reason| Error::kernel("binding a packet socket", reason))?;
    match sockopt::socket_error(socket) {
        Ok(Err(Errno::NETDOWN)) => Err(Error::Down(name.to_owned())),
        _ => Ok(()),
    }
}

/// Returns the header of a cooked capture, version 2.
fn cooked_header(packet: &ReceivedPacket<'_>) -> [u8; COOKED_OCTETS] {
    let address = packet.address;
    let mut header = [0; COOKED_OCTETS];
    // The protocol is in network order already.
    header[..2].copy_from_slice(&address.sll_protocol.to_ne_bytes());
    header[4..8].copy_from_slice(&(address.sll_ifindex as u32).to_be_bytes());
    header[8..10].copy_from_slice(&address.sll_hatype.to_be_bytes());
    header[10] = address.sll_pkttype;
    header[11] = address.sll_halen.min(8);
    header[12..].copy_from_slice(&address.sll_addr);
    header
}
