//! Link types of captures.

/// Link type of a capture, which determines the first header of its frames.
///
/// The number is a LINKTYPE_ value of <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Link(u32);

impl Link {
    /// Ethernet.
    pub const ETHERNET: Self = Self(1);
    /// Token ring (IEEE 802.5).
    pub(crate) const TOKEN_RING: Self = Self(6);
    /// PPP.
    pub(crate) const PPP: Self = Self(9);
    /// FDDI.
    pub(crate) const FDDI: Self = Self(10);
    /// The IP packet without a link header.
    pub const RAW: Self = Self(101);
    /// Cisco's HDLC.
    pub(crate) const CISCO_HDLC: Self = Self(104);
    /// Frame relay.
    pub(crate) const FRAME_RELAY: Self = Self(107);
    /// IP over Fibre Channel.
    pub(crate) const FIBRE_CHANNEL: Self = Self(122);
    /// ATM with the header of SunATM.
    pub(crate) const SUN_ATM: Self = Self(123);
    /// IPv4 packets without a link header.
    pub(crate) const IPV4: Self = Self(228);
    /// Records of Endace's ERF.
    pub(crate) const ERF: Self = Self(197);

    /// Returns the link type with LINKTYPE_ value `number`.
    pub fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// Returns the LINKTYPE_ value.
    pub fn number(self) -> u32 {
        self.0
    }
}
