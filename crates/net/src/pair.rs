//! Two namespaces that can only talk to each other, over a path that is emulated between them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;
use std::sync::Arc;

use crate::device::{DEVICE, Device};
use crate::namespace::has_ipv6;
use crate::{Emulator, Error, Namespace, SeededLink, Tap};

/// Packets that a device keeps until the emulator reads them. Far more than come in any time that
/// the emulator may be busy with others, since only the emulated queue is to drop any.
const DEVICE_QUEUE: u32 = 10_000;

/// The minimum MTU with which a device has IPv6.
const IPV6_MIN_MTU: u16 = 1280;

/// One end of the path.
#[derive(Debug)]
pub struct Side {
    /// Where its applications run.
    pub namespace: Namespace,
    /// Its IPv4 address.
    pub v4: Ipv4Addr,
    /// Its IPv6 address, where the kernel and the MTU allow one.
    pub v6: Option<Ipv6Addr>,
    device: Arc<Device>,
}

/// Two ends, left and right. Nothing carries packets between them until [`emulate`](Self::emulate).
#[derive(Debug)]
pub struct Pair {
    /// The end that data comes from.
    pub left: Side,
    /// The end that acknowledges it.
    pub right: Side,
}

impl Pair {
    /// Makes both ends, with devices that take IP packets of up to `mtu` octets.
    ///
    /// # Errors
    /// The process may not, the kernel cannot, or iproute2 is missing.
    pub fn new(mtu: u16) -> Result<Self, Error> {
        let v6 = mtu >= IPV6_MIN_MTU && has_ipv6().unwrap_or(false);
        let address = |n: u16| {
            let v6 = v6.then(|| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n));
            (Ipv4Addr::new(10, 0, 0, n as u8), v6)
        };
        let (left, right) = (address(1), address(2));
        Ok(Self {
            left: Side::new("unruffled-left", left, right, mtu)?,
            right: Side::new("unruffled-right", right, left, mtu)?,
        })
    }

    /// Carries packets between the two ends over `hops`, which are listed from left to right. The
    /// times of a scenario count from here. What passes either end, and what passes
    /// behind the first link, is shown to `tap`, if any.
    ///
    /// # Errors
    /// A link's configuration that makes no sense, or no threads are to be had.
    pub fn emulate(&self, hops: &[SeededLink], tap: Option<&Tap>) -> Result<Emulator, Error> {
        Emulator::start(&self.left.device, &self.right.device, hops, tap)
    }

    /// `sh -c line`, with the addresses of both ends in its environment: `UNRUFFLED_LEFT`,
    /// `UNRUFFLED_RIGHT`, and the same with `_V6` where there is IPv6.
    pub fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        for (name, side) in [("LEFT", &self.left), ("RIGHT", &self.right)] {
            command.env(format!("UNRUFFLED_{name}"), side.v4.to_string());
            if let Some(v6) = side.v6 {
                command.env(format!("UNRUFFLED_{name}_V6"), v6.to_string());
            }
        }
        command
    }
}

type Addresses = (Ipv4Addr, Option<Ipv6Addr>);

impl Side {
    fn new(name: &str, own: Addresses, peer: Addresses, mtu: u16) -> Result<Self, Error> {
        let namespace = Namespace::new(name)?;
        let device = namespace.run(Device::new)?;
        if own.1.is_some() {
            // New namespaces may begin without (`ipv6.disable_ipv6` when the kernel starts).
            namespace.sysctl(&format!("net.ipv6.conf.{DEVICE}.disable_ipv6"), "0")?;
        }
        // No link-local address: nothing but what applications send is to cross the path. Where the
        // device has no IPv6, there is none, and the kernel refuses the word.
        let no_link_local = if own.1.is_some() { "addrgenmode none " } else { "" };
        let mut batch = format!(
            "link set dev {DEVICE} {no_link_local}mtu {mtu} txqueuelen {DEVICE_QUEUE}\n\
             link set dev {DEVICE} up\n\
             address add {} peer {} dev {DEVICE}\n\
             route add default dev {DEVICE}\n",
            own.0, peer.0
        );
        if let (Some(own), Some(peer)) = (own.1, peer.1) {
            batch += &format!(
                "address add {own} peer {peer} dev {DEVICE} nodad\n\
                 route add ::/0 dev {DEVICE}\n"
            );
        }
        namespace.ip(&batch)?;
        Ok(Self { namespace, v4: own.0, v6: own.1, device: Arc::new(device) })
    }

    /// All its addresses.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        [Some(IpAddr::V4(self.v4)), self.v6.map(IpAddr::V6)].into_iter().flatten()
    }
}
