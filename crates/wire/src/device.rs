//! Devices that carry packets: a TUN interface, or any type with a descriptor.

use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use tun_rs::{DeviceBuilder, SyncDevice, VIRTIO_NET_HDR_LEN, VirtioNetHdr};
use unruffled_stack::Offload;
use unruffled_stack::codec::Checksums;

/// A device that receives and sends whole packets without waiting.
///
/// The driver waits on its descriptor. Implement it to run a stack over something other than a TUN
/// device.
pub trait Link: AsFd + Send + 'static {
    /// Returns the size of the buffer that [`Link::receive`] needs, in octets.
    fn largest(&self) -> usize;

    /// Returns whether the device cuts packets into segments and completes their checksums.
    fn offloads(&self) -> bool {
        false
    }

    /// Receives the next packet into `buffer`; returns its place in the buffer, and whether its
    /// checksum must be verified.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when there is no packet. Any other error ends the driver.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<(Range<usize>, Checksums)>;

    /// Sends a packet. `offload` is `None` unless [`Link::offloads`] returns true.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when the packet must be sent again later. After any other
    /// error the packet counts as lost.
    fn send(&mut self, packet: &[u8], offload: Option<Offload>) -> io::Result<()>;
}

/// A TUN interface. At its other end is the kernel, in the network namespace where the interface
/// was made.
///
/// Without offload, each packet is one segment, as on any wire. With offload, up to 64 KiB of
/// segments cross as one packet in either direction, without checksums. This is many times as fast,
/// but unsuited to a path that observes, delays or loses single packets.
///
/// With offload, each packet has a `virtio_net_hdr` in front, which must be correct for each
/// packet: if it promises a checksum and leaves the fields empty, connections fail without an
/// error.
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

/// Packets that the kernel queues for this end; further ones are lost. The default of 500 is less
/// than a window.
const QUEUE_PACKETS: u32 = 10_000;

impl Tun {
    /// Makes the interface `name` and sets it up. The kernel's end has the addresses `kernel`, each
    /// with the length of its prefix.
    ///
    /// # Errors
    /// The kernel's error, most often that the process lacks `CAP_NET_ADMIN`.
    pub fn create(name: &str, mtu: u16, kernel: &[(IpAddr, u8)]) -> io::Result<Self> {
        Self::wrap(Self::builder(name, mtu, kernel).build_sync()?, mtu)
    }

    /// Makes an interface as [`Tun::create`] does, with offload of segmentation and checksums.
    ///
    /// # Errors
    /// Same as [`Tun::create`].
    pub fn create_with_offload(name: &str, mtu: u16, kernel: &[(IpAddr, u8)]) -> io::Result<Self> {
        let device = Self::builder(name, mtu, kernel).offload(true).build_sync()?;
        Ok(Self { offload: true, ..Self::wrap(device, mtu)? })
    }

    fn builder(name: &str, mtu: u16, kernel: &[(IpAddr, u8)]) -> DeviceBuilder {
        let builder = DeviceBuilder::new().name(name).mtu(mtu).tx_queue_len(QUEUE_PACKETS);
        kernel.iter().fold(builder, |builder, &(address, prefix)| match address {
            IpAddr::V4(v4) => builder.ipv4(v4, prefix, None),
            IpAddr::V6(v6) => builder.ipv6(v6, prefix),
        })
    }

    /// Wraps a TUN device without packet information and without offload.
    ///
    /// # Errors
    /// When it cannot be made non-blocking.
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

/// Flag of a `virtio_net_hdr`: the checksum must be completed.
const NEEDS_CHECKSUM: u8 = 1;
/// Flag of a `virtio_net_hdr`: the checksum has been verified.
const CHECKED: u8 = 2;
/// Segmentation type of a `virtio_net_hdr`: none.
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
        // Packets of the kernel itself have no checksum yet, and have crossed no link.
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
                // Offset of the checksum in the TCP header.
                csum_offset: 16,
            }
            .encode(&mut header)?;
        }
        let parts = [IoSlice::new(&header), IoSlice::new(packet)];
        Ok(rustix::io::writev(&self.device, &parts).map(drop)?)
    }
}
