//! Two namespaces whose only connection is an emulated path.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;
use std::sync::Arc;

use crate::device::{DEVICE, Device};
use crate::namespace::has_ipv6;
use crate::{Emulator, Error, Namespace, Paths, Tap};

/// Length of a device's queue, in packets. It is long enough for the longest time in which the emulator
/// is busy, so that only the emulated queue drops packets.
const DEVICE_QUEUE_PACKETS: u32 = 10_000;

/// Minimum MTU of a device with IPv6, in octets.
const IPV6_MIN_MTU: u16 = 1280;

/// One end of the path.
#[derive(Debug)]
pub struct Side {
    /// Namespace of its applications.
    pub namespace: Namespace,
    /// IPv4 address.
    pub v4: Ipv4Addr,
    /// IPv6 address, if the kernel and the MTU allow one.
    pub v6: Option<Ipv6Addr>,
    device: Arc<Device>,
}

/// Two ends, left and right. No packets pass between them until [`emulate`](Self::emulate).
#[derive(Debug)]
pub struct Pair {
    /// The end that sends data.
    pub left: Side,
    /// The end that acknowledges data.
    pub right: Side,
}

impl Pair {
    /// Creates both ends, with devices for IP packets of up to `mtu` octets.
    ///
    /// # Errors
    /// If the process lacks the required privileges, the kernel lacks namespaces or TUN, or iproute2 is
    /// missing.
    pub fn new(mtu: u16) -> Result<Self, Error> {
        let v6 = mtu >= IPV6_MIN_MTU && has_ipv6().unwrap_or(false);
        let address = |n: u16| {
            let v6 = v6.then(|| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, n));
            (Ipv4Addr::new(10, 0, 0, n as u8), v6)
        };
        let left = address(1);
        let right = address(2);
        Ok(Self {
            left: Side::new("unruffled-left", left, right, mtu)?,
            right: Side::new("unruffled-right", right, left, mtu)?,
        })
    }

    /// Starts carrying packets between the two ends over `paths`, such as the address of an array of links
    /// from left to right. Times of a scenario count from now. `tap` receives copies of the packets that pass
    /// each [`Place`].
    ///
    /// [`Place`]: crate::Place
    ///
    /// # Errors
    /// If the configuration of a link is invalid, or if no thread can be created.
    pub fn emulate(&self, paths: impl Into<Paths>, tap: Option<&Tap>) -> Result<Emulator, Error> {
        Emulator::start(&self.left.device, &self.right.device, &paths.into(), tap)
    }

    /// Returns the command `sh -c line` with the addresses of both ends in its environment:
    /// `UNRUFFLED_LEFT`, `UNRUFFLED_RIGHT`, and, with IPv6, `UNRUFFLED_LEFT_V6` and `UNRUFFLED_RIGHT_V6`.
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
            // The kernel's boot parameter `ipv6.disable_ipv6` disables it in new namespaces.
            namespace.sysctl(&format!("net.ipv6.conf.{DEVICE}.disable_ipv6"), "0")?;
        }
        // With a link-local address the kernel would send packets of its own. A device without IPv6 has no
        // such address, and the kernel rejects the option.
        let no_link_local = if own.1.is_some() { "addrgenmode none " } else { "" };
        let mut batch = format!(
            "link set dev {DEVICE} {no_link_local}mtu {mtu} txqueuelen {DEVICE_QUEUE_PACKETS}\n\
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

    /// Returns all addresses.
    pub fn addresses(&self) -> impl Iterator<Item = IpAddr> {
        [Some(IpAddr::V4(self.v4)), self.v6.map(IpAddr::V6)].into_iter().flatten()
    }
}
