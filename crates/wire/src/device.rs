//! Where packets come from and go to: a TUN interface, or anything else that has a descriptor.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice};

use crate::codec::Checksums;

/// Takes and gives whole packets without waiting. The driver waits on its descriptor.
pub trait Link: AsFd + Send + 'static {
    /// The largest packet that it gives.
    fn largest(&self) -> usize;

    /// The next packet that has arrived, and who answers for its checksum.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is none; any other ends the driver.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, Checksums)>;

    /// Sends a packet.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when it must be tried again; after any other the packet counts
    /// as lost.
    fn send(&mut self, packet: &[u8]) -> io::Result<()>;
}

/// A TUN interface: the kernel of the network namespace in which it was made is at its other end.
///
/// No offload is asked for, so no packet has a `virtio_net_hdr` before it, and the kernel fills and
/// checks all checksums. Whoever adds offload must fill that header in each packet: promising
/// checksums and then leaving it empty makes connects fail without a word.
pub struct Tun {
    device: SyncDevice,
    mtu: u16,
}

impl std::fmt::Debug for Tun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tun").field("mtu", &self.mtu).finish_non_exhaustive()
    }
}

/// Packets that the kernel keeps for us; more are lost. The default of 500 is less than a window.
const QUEUE: u32 = 10_000;

impl Tun {
    /// Makes the interface `name` with these addresses of the kernel, each with the length of its
    /// prefix, and sets it up.
    ///
    /// # Errors
    /// What the kernel says: most often that the right to do this (`CAP_NET_ADMIN`) is missing.
    pub fn create(name: &str, mtu: u16, kernel: &[(IpAddr, u8)]) -> io::Result<Self> {
        let mut builder = DeviceBuilder::new().name(name).mtu(mtu).tx_queue_len(QUEUE);
        for &(address, prefix) in kernel {
            builder = match address {
                IpAddr::V4(v4) => builder.ipv4(v4, prefix, None),
                IpAddr::V6(v6) => builder.ipv6(v6, prefix),
            };
        }
        Self::wrap(builder.build_sync()?, mtu)
    }

    /// Takes over a TUN device made elsewhere, without packet information and without offload.
    ///
    /// # Errors
    /// When it cannot be set not to block.
    pub fn wrap(device: SyncDevice, mtu: u16) -> io::Result<Self> {
        device.set_nonblocking(true)?;
        Ok(Self { device, mtu })
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl Link for Tun {
    fn largest(&self) -> usize {
        usize::from(self.mtu)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(usize, Checksums)> {
        Ok((self.device.recv(buffer)?, Checksums::Verify))
    }

    fn send(&mut self, packet: &[u8]) -> io::Result<()> {
        self.device.send(packet).map(drop)
    }
}
