//! Packets that leave.

/// Work that is left to the device: it must cut the packet into segments and fill in the checksums.
/// The fields are those of a `virtio_net_hdr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offload {
    /// Octets of payload in each segment but the last; `None` if the packet is a single segment.
    pub segment: Option<u16>,
    /// Octets of all headers.
    pub headers: u16,
    /// Offset of the TCP header in the packet.
    pub transport: u16,
    /// Whether the packet is IPv6.
    pub v6: bool,
}

/// A packet that leaves. Write it to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Octets of the packet, headers included.
    pub len: usize,
    /// Work that is left to the device; `None` if the packet is complete.
    pub offload: Option<Offload>,
}
