//! Types of the headers before TCP, UDP and ESP, and the step from each of them to the next.

use super::octets::Octets;
use super::{ethernet, gre, link, mpls, ppp, wireless};
use crate::link::Link;
use crate::packet::SkipReason;

/// Type of the next header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Header {
    /// The first header of a link.
    Link(Link),
    /// Ethernet: two addresses, then an EtherType or a length.
    Ethernet,
    /// What the EtherType says.
    EtherType(u16),
    /// Logical link control (IEEE 802.2).
    Llc,
    /// The organization and the protocol that follow an LLC header of SNAP.
    Snap,
    /// A stack of MPLS labels.
    Mpls,
    /// PPP, with or without address and control, and with a protocol of one or two octets.
    Ppp,
    /// Cisco's HDLC.
    CiscoHdlc,
    /// Frame relay.
    FrameRelay,
    /// GRE, of version 0, or of version 1 for PPTP.
    Gre,
    /// Network service header.
    Nsh,
    /// IEEE 802.11. A padded header is a multiple of four octets long.
    Wireless {
        /// Whether the header is padded.
        padded: bool,
    },
    /// Several frames in one of IEEE 802.11, each with a header like that of Ethernet.
    Aggregate,
    /// An IP header of either version.
    Ip,
}

/// Reads one header. Returns the type of the next one, and the octets from that on.
///
/// [`Header::Ip`] and [`Header::Aggregate`] are the decoder's own.
#[inline]
pub(super) fn step(header: Header, octets: Octets<'_>) -> Result<(Header, Octets<'_>), SkipReason> {
    match header {
        Header::Link(link) => link::first(link, octets),
        Header::Ethernet => ethernet::ethernet(octets),
        Header::EtherType(kind) => ethernet::ether_type(kind, octets),
        Header::Llc => ethernet::llc(octets),
        Header::Snap => ethernet::snap(octets),
        Header::Mpls => mpls::labels(octets),
        Header::Ppp => ppp::ppp(octets),
        Header::CiscoHdlc => ppp::cisco_hdlc(octets),
        Header::FrameRelay => ppp::frame_relay(octets),
        Header::Gre => gre::gre(octets),
        Header::Nsh => ethernet::nsh(octets),
        Header::Wireless { padded } => wireless::wireless(octets, padded),
        Header::Aggregate | Header::Ip => Ok((header, octets)),
    }
}
