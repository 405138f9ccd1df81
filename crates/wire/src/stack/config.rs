//! Settings of a stack, and what it refuses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::ops::RangeInclusive;

use unruffled_tcp::{Config, Error, IpVersion, Variant, timestamp_offset};

use super::FourTuple;
use super::budget::Limits;
use super::secret::Secret;

/// Settings of a stack. What connections have in common stands in `connection`; the stack itself
/// sets of that what differs between them: MSS, initial sequence number, start of the timestamp
/// clock, version of IP. Use it to make a stack.
#[derive(Clone, Debug)]
pub struct StackConfig {
    /// Largest packet of the link.
    pub mtu: u16,
    /// Our addresses. Connections start from the first of the peer's family; packets for others are
    /// not ours.
    pub addresses: Vec<IpAddr>,
    /// Who sends.
    pub variant: Variant,
    /// Settings of each connection. The receive window begins with 64 KiB and grows with what the
    /// application reads to [`Config::receive_buffer`], 6 MiB, or to what [`Limits::octets`] leave.
    pub connection: Config,
    /// Octets that an application may write ahead of the peer's acknowledgements.
    pub send_buffer: usize,
    /// Ports that connections start from when they name none (RFC 6335, section 6).
    pub ports: RangeInclusive<u16>,
    /// Secret of the initial sequence numbers (RFC 6528), SYN cookies and ports.
    pub key: Secret,
    /// Bounds of memory, and of what takes some.
    pub limits: Limits,
}

impl StackConfig {
    /// The standards' defaults at these addresses, with a secret from the system.
    ///
    /// # Errors
    /// When the system has no randomness to give.
    pub fn new(addresses: Vec<IpAddr>, variant: Variant) -> std::io::Result<Self> {
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        Ok(Self {
            mtu: 1500,
            addresses,
            variant,
            connection: Config::wire(IpVersion::V4),
            send_buffer: 4 << 20,
            ports: 49152..=65535,
            key: key.into(),
            limits: Limits::default(),
        })
    }

    pub(super) fn owns(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address)
    }

    /// The address from which to connect to `remote`.
    pub(super) fn source_for(&self, remote: IpAddr) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|own| own.is_ipv4() == remote.is_ipv4())
    }

    pub(super) fn connection_to(&self, ends: FourTuple, isn: u32) -> Config {
        let (local, remote) = (ends.local.ip(), ends.remote.ip());
        let ip = if remote.is_ipv4() { IpVersion::V4 } else { IpVersion::V6 };
        let mss = u32::from(self.mtu).saturating_sub(ip.header() + 20).max(1);
        let min_mss = self.connection.segments.min_mss.min(mss);
        let peer_mss = Some(ip.default_mss());
        let timestamp_offset = timestamp_offset(&self.key.key_for("timestamps"), local, remote);
        self.connection.clone().with(|c| {
            c.segments.ip = ip;
            c.mss = mss;
            c.segments.min_mss = min_mss;
            c.segments.peer_mss = peer_mss;
            c.isn = isn;
            c.timestamps.offset = timestamp_offset;
        })
    }
}

/// The address and port, without scope and flow label, which stand in no packet.
pub(super) fn bare(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

/// The unspecified address of the same family and port.
pub(super) fn unspecified(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    SocketAddr::new(ip, address.port())
}

/// Why something cannot be done. Match on it where a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StackError {
    /// The connection ended before its time.
    #[error(transparent)]
    Connection(#[from] Error),
    /// The address is in use, by a listener or a connection between the same two ends.
    #[error("address in use")]
    InUse,
    /// No address or port of ours goes with the peer's.
    #[error("no address to connect from")]
    NoAddress,
    /// Nobody can be there: the address is no host's, or the port is 0.
    #[error("expected a host's address and a port to connect to")]
    NoHost,
    /// Written to after the end.
    #[error("the stream has been finished")]
    Finished,
    /// There is no such connection or listener any more.
    #[error("closed")]
    Closed,
    /// The driver's thread, or who worked on the stack, has panicked.
    #[error("the stack has failed")]
    Failed,
    /// As many connections as the limits allow.
    #[error("too many connections")]
    NoRoom,
}

impl From<StackError> for std::io::Error {
    fn from(error: StackError) -> Self {
        use std::io::ErrorKind;
        let kind = match error {
            StackError::Connection(Error::Reset) => ErrorKind::ConnectionReset,
            StackError::Connection(Error::Refused) => ErrorKind::ConnectionRefused,
            StackError::Connection(Error::Unreachable) => ErrorKind::HostUnreachable,
            StackError::Connection(Error::TimedOut) => ErrorKind::TimedOut,
            StackError::Connection(Error::Aborted) => ErrorKind::ConnectionAborted,
            StackError::Connection(_) => ErrorKind::Other,
            StackError::InUse => ErrorKind::AddrInUse,
            StackError::NoAddress => ErrorKind::AddrNotAvailable,
            StackError::NoHost => ErrorKind::InvalidInput,
            StackError::Finished => ErrorKind::BrokenPipe,
            StackError::Closed => ErrorKind::NotConnected,
            StackError::NoRoom => ErrorKind::OutOfMemory,
            StackError::Failed => ErrorKind::BrokenPipe,
        };
        Self::new(kind, error)
    }
}
