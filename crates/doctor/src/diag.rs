//! The connections of a network namespace by sock_diag(7), as `ss` reads them. It needs no privileges.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload, Nla as _,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{
    ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags,
};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, send, socket_with,
    sockopt,
};

use crate::{Error, Socket, TcpInfo};

/// Number of the attribute with the cgroup (`INET_DIAG_CGROUP_ID` of `linux/inet_diag.h`, Linux 5.9).
const CGROUP_ID: u16 = 21;

/// Octets of the receive buffer. The kernel fills at most 32 KiB at a time.
const BUFFER_OCTETS: usize = 64 << 10;

/// Time within which the kernel answers.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the connections of this thread's network namespace, whose inode is `namespace`.
pub(crate) fn connections(namespace: u64) -> Result<Vec<Socket>, Error> {
    let failed = |reason: Errno| Error::Kernel { what: "sock_diag", reason: reason.into() };
    let socket = open().map_err(failed)?;
    let mut found = Vec::new();
    for family in [AF_INET, AF_INET6] {
        match dump(&socket, family, namespace, &mut found) {
            // A kernel without IPv6.
            Err(Error::Kernel { reason, .. })
                if family == AF_INET6 && reason.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(found)
}

fn open() -> Result<OwnedFd, Errno> {
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(SOCK_DIAG),
    )?;
    bind(&socket, &SocketAddrNetlink::new(0, 0))?;
    sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(ANSWER_TIMEOUT))?;
    Ok(socket)
}

/// Appends the connections of an address family.
fn dump(
    socket: &OwnedFd,
    family: u8,
    namespace: u64,
    found: &mut Vec<Socket>,
) -> Result<(), Error> {
    let failed = |reason: io::Error| Error::Kernel { what: "sock_diag", reason };
    let request = request(family);
    retried(|| send(socket, &request, SendFlags::empty())).map_err(|e| failed(e.into()))?;
    let mut buffer = vec![0; BUFFER_OCTETS];
    loop {
        let received = retried(|| recv(socket, &mut buffer[..], RecvFlags::empty()));
        let (length, _) = received.map_err(|e| failed(e.into()))?;
        match decode(&buffer[..length], namespace, found).map_err(failed)? {
            Progress::More => {}
            Progress::Done => return Ok(()),
        }
    }
}

fn retried<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Returns the request for all connections of an address family that can carry data.
fn request(family: u8) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO | ExtensionFlags::CONG | ExtensionFlags::SKMEMINFO,
        states: StateFlags::ESTABLISHED
            | StateFlags::FIN_WAIT1
            | StateFlags::FIN_WAIT2
            | StateFlags::CLOSE_WAIT
            | StateFlags::LAST_ACK
            | StateFlags::CLOSING,
        socket_id: SocketId::new_v4(),
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut octets = vec![0; message.buffer_len()];
    message.serialize(&mut octets);
    octets
}

/// State of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// More datagrams follow.
    More,
    /// This was the last one.
    Done,
}

/// Appends the connections of a datagram. Messages that cannot be parsed are skipped.
fn decode(mut datagram: &[u8], namespace: u64, found: &mut Vec<Socket>) -> io::Result<Progress> {
    while let Some(length) = datagram.get(..4) {
        let length = u32::from_ne_bytes([length[0], length[1], length[2], length[3]]) as usize;
        let Some(message) = datagram.get(..length).filter(|_| length >= 16) else { break };
        datagram = datagram.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        match NetlinkMessage::<SockDiagMessage>::deserialize(message).map(|m| m.payload) {
            Ok(NetlinkPayload::Done(_)) => return Ok(Progress::Done),
            Ok(NetlinkPayload::Error(error)) => return Err(error.to_io()),
            Ok(NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response))) => {
                found.extend(connection(*response, namespace));
            }
            _ => {}
        }
    }
    Ok(Progress::More)
}

/// Returns the connection of a message. `None` if the kernel does not count reordering.
fn connection(response: InetResponse, namespace: u64) -> Option<Socket> {
    let header = response.header;
    let id = header.socket_id;
    let address = |ip: IpAddr, port| SocketAddr::new(ip.to_canonical(), port);
    let mut info = None;
    let mut control = String::new();
    let mut cgroup = None;
    let mut queued = 0;
    let mut send_buffer = 0;
    for attribute in response.nlas {
        match attribute {
            Nla::TcpInfo(octets) => info = TcpInfo::parse(&octets),
            Nla::MemInfo(memory) => {
                queued = memory.send_queue;
                send_buffer = memory.send_queue_max;
            }
            Nla::Congestion(name) => control = name,
            Nla::Other(other) if other.kind() == CGROUP_ID => {
                let mut value = vec![0; other.value_len()];
                other.emit_value(&mut value);
                cgroup = value.try_into().ok().map(u64::from_ne_bytes);
            }
            _ => {}
        }
    }
    Some(Socket {
        namespace,
        cookie: u64::from_ne_bytes(id.cookie),
        local: address(id.source_address, id.source_port),
        peer: address(id.destination_address, id.destination_port),
        inode: header.inode,
        cgroup,
        control,
        queued,
        send_buffer,
        info: info?,
    })
}
