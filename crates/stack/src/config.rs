//! The settings of a stack.

use std::io;
use std::net::IpAddr;
use std::ops::RangeInclusive;

use unruffled_tcp::{Config, IpVersion, Variant, timestamp_offset};

use crate::address::FourTuple;
use crate::budget::Limits;
use crate::secret::Secret;

/// The settings of a stack. [`StackConfig::new`] fills in the defaults; change fields before you
/// make the [`Stack`](crate::Stack).
#[derive(Clone, Debug)]
pub struct StackConfig {
    /// Largest packet that the link carries, in octets, IP header included.
    pub mtu: u16,
    /// Addresses of this end. Connections start from the first address of the peer's family;
    /// packets for other addresses are dropped.
    pub addresses: Vec<IpAddr>,
    /// The sender of every connection.
    pub variant: Variant,
    /// Settings that all connections share. The stack itself sets what differs between connections:
    /// MSS, initial sequence number, start of the timestamp clock, version of IP.
    ///
    /// The receive window starts at 64 KiB. It grows with what the application reads, up to
    /// [`Config::receive_buffer`] (6 MiB) or what [`Limits::octets`] leaves.
    pub connection: Config,
    /// Octets that an application may write ahead of the peer's acknowledgements: 4 MiB.
    pub send_buffer: usize,
    /// Ports for connections that name none (RFC 6335, section 6): 49152 to 65535.
    pub ports: RangeInclusive<u16>,
    /// Secret behind initial sequence numbers (RFC 6528), SYN cookies and ports.
    pub key: Secret,
    /// Bounds on memory and on what takes memory.
    pub limits: Limits,
}

impl StackConfig {
    /// Returns the standards' defaults for these addresses, with a secret from the system.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) for a sender that only the simulator can run
    /// ([`Variant::is_for_simulation_only`]), or the system's error when it has no random numbers.
    pub fn new(addresses: Vec<IpAddr>, variant: Variant) -> io::Result<Self> {
        if variant.is_for_simulation_only() {
            let error = format!("{}: for simulation only: expected another sender", variant.name());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, error));
        }
        let mut key = [0; 16];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
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

    pub(crate) fn owns(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address)
    }

    /// Returns the address from which to connect to `remote`.
    pub(crate) fn source_for(&self, remote: IpAddr) -> Option<IpAddr> {
        self.addresses.iter().copied().find(|own| own.is_ipv4() == remote.is_ipv4())
    }

    /// Returns the settings of the connection between `ends`.
    pub(crate) fn connection_to(&self, ends: FourTuple, isn: u32) -> Config {
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
