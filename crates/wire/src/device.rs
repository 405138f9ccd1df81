//! Where packets come from and go to: a TUN interface, or anything else that has a descriptor.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice, VIRTIO_NET_HDR_LEN, VirtioNetHdr};

use crate::codec::Checksums;
use crate::stack::Offload;

/// Takes and gives whole packets without waiting. The driver waits on its descriptor. Implement it to
/// run a stack over something else than a TUN device.
pub trait Link: AsFd + Send + 'static {
    /// Octets that [`Link::receive`] may need.
    fn largest(&self) -> usize;

    /// Whether it takes packets that are to be cut and summed up behind it.
    fn offloads(&self) -> bool {
        false
    }

    /// The next packet that has arrived: where it lies in the buffer, and who answers for its
    /// checksum.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is none; any other ends the driver.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)>;

    /// Sends a packet; `offload` is given only where [`Link::offloads`].
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when it must be tried again; after any other the packet counts
    /// as lost.
    fn send(&mut self, packet: &[u8], offload: Option<Offload>) -> io::Result<()>;
}

/// A TUN interface: the kernel of the network namespace in which it was made is at its other end.
///
/// Without offload each packet is one segment, as on any wire. With it up to 64 KiB of segments pass
/// as one packet both ways, and nobody sums them up: many times as fast, and not for those who want
/// to see, delay or lose single packets. Each packet then has a `virtio_net_hdr` before it, which must
/// be right in each: promising checksums and leaving it empty makes connects fail without a word.
pub struct Tun {
    device: SyncDevice,
    mtu: u16,
    offload: bool,
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
        Self::wrap(Self::builder(name, mtu, kernel).build_sync()?, mtu)
    }

    /// As [`Tun::create`], with offload of segmentation and checksums.
    ///
    /// # Errors
    /// As [`Tun::create`].
    pub fn create_with_offload(name: &str, mtu: u16, kernel: &[(IpAddr, u8)]) -> io::Result<Self> {
        let device = Self::builder(name, mtu, kernel).offload(true).build_sync()?;
        Ok(Self { offload: true, ..Self::wrap(device, mtu)? })
    }

    fn builder(name: &str, mtu: u16, kernel: &[(IpAddr, u8)]) -> DeviceBuilder {
        let builder = DeviceBuilder::new().name(name).mtu(mtu).tx_queue_len(QUEUE);
        kernel.iter().fold(builder, |builder, &(address, prefix)| match address {
            IpAddr::V4(v4) => builder.ipv4(v4, prefix, None),
            IpAddr::V6(v6) => builder.ipv6(v6, prefix),
        })
    }

    /// Takes over a TUN device made elsewhere, without packet information and without offload.
    ///
    /// # Errors
    /// When it cannot be set not to block.
    pub fn wrap(device: SyncDevice, mtu: u16) -> io::Result<Self> {
        device.set_nonblocking(true)?;
        Ok(Self { device, mtu, offload: false })
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// Flags of a `virtio_net_hdr`: the checksum is yet to be filled in; it has been checked.
const NEEDS_CHECKSUM: u8 = 1;
const CHECKED: u8 = 2;
/// Its kind of segmentation: none.
const ONE_SEGMENT: u8 = 0;

impl Link for Tun {
    fn largest(&self) -> usize {
        if self.offload { VIRTIO_NET_HDR_LEN + 65_535 } else { usize::from(self.mtu) }
    }

    fn offloads(&self) -> bool {
        self.offload
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)> {
        let len = rustix::io::read(&self.device, &mut *buffer)?;
        if !self.offload {
            return Ok((0..len, Checksums::Verify));
        }
        let header = VirtioNetHdr::decode(&buffer[..len])?;
        // What the kernel itself sends has no checksum yet, and has crossed nothing.
        let trusted = header.flags & (NEEDS_CHECKSUM | CHECKED) != 0;
        let checksums = if trusted { Checksums::Trust } else { Checksums::Verify };
        Ok((VIRTIO_NET_HDR_LEN..len, checksums))
    }

    fn send(&mut self, packet: &[u8], offload: Option<Offload>) -> io::Result<()> {
        if !self.offload {
            return Ok(rustix::io::write(&self.device, packet).map(drop)?);
        }
        let mut header = [0; VIRTIO_NET_HDR_LEN];
        if let Some(offload) = offload {
            let kind = match (offload.segment, offload.v6) {
                (None, _) => ONE_SEGMENT,
                (Some(_), false) => tun_rs::VIRTIO_NET_HDR_GSO_TCPV4,
                (Some(_), true) => tun_rs::VIRTIO_NET_HDR_GSO_TCPV6,
            };
            VirtioNetHdr {
                flags: NEEDS_CHECKSUM,
                gso_type: kind,
                hdr_len: offload.headers,
                gso_size: offload.segment.unwrap_or(0),
                csum_start: offload.transport,
                // The checksum's place in the TCP header.
                csum_offset: 16,
            }
            .encode(&mut header)?;
        }
        let parts = [IoSlice::new(&header), IoSlice::new(packet)];
        Ok(rustix::io::writev(&self.device, &parts).map(drop)?)
    }
}
