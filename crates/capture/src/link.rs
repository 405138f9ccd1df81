//! Headers before the IP header: Ethernet with tags or labels, Linux's cooked frames, BSD's loopback.

use crate::packet::SkipReason;

/// Link type of a capture. The numbers are the LINKTYPE_ values of tcpdump.org/linktypes.html.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// BSD's loopback: a protocol family in the byte order of the host (0) or of the network (108).
    Null,
    /// Ethernet (1), also with VLAN tags, MPLS labels or PPPoE.
    Ethernet,
    /// The IP packet without a link header (12, 14, 101, 228, 229).
    Raw,
    /// Linux's cooked capture (113).
    Cooked,
    /// Linux's cooked capture, version 2 (276).
    Cooked2,
    /// Any other link, which is not supported.
    Other(u32),
}

/// Maximum number of VLAN tags, or of MPLS labels, in one frame.
const MAX_NESTED_HEADERS: usize = 8;

impl Link {
    /// Returns the link type with LINKTYPE_ value `number`.
    pub fn from_number(number: u32) -> Self {
        match number {
            0 | 108 => Self::Null,
            1 => Self::Ethernet,
            12 | 14 | 101 | 228 | 229 => Self::Raw,
            113 => Self::Cooked,
            276 => Self::Cooked2,
            other => Self::Other(other),
        }
    }

    /// Returns the IP packet within a frame.
    pub(crate) fn payload(self, frame: &[u8]) -> Result<&[u8], SkipReason> {
        let short = SkipReason::Short;
        match self {
            Self::Raw => Ok(frame),
            Self::Ethernet => {
                let (head, rest) = frame.split_at_checked(14).ok_or(short)?;
                after_ethertype(u16::from_be_bytes([head[12], head[13]]), rest)
            }
            Self::Cooked => {
                let (head, rest) = frame.split_at_checked(16).ok_or(short)?;
                after_ethertype(u16::from_be_bytes([head[14], head[15]]), rest)
            }
            Self::Cooked2 => {
                let (head, rest) = frame.split_at_checked(20).ok_or(short)?;
                after_ethertype(u16::from_be_bytes([head[0], head[1]]), rest)
            }
            Self::Null => {
                let (head, rest) = frame.split_at_checked(4).ok_or(short)?;
                // 2 is IPv4 on every system; the number of IPv6 differs between systems.
                let family = [head[0], head[1], head[2], head[3]];
                match u32::from_le_bytes(family).min(u32::from_be_bytes(family)) {
                    2 | 10 | 24 | 28 | 30 => Ok(rest),
                    _ => Err(SkipReason::NotIp),
                }
            }
            Self::Other(_) => Err(SkipReason::UnknownLink),
        }
    }
}

/// Returns the IP packet that follows an EtherType.
fn after_ethertype(mut kind: u16, mut rest: &[u8]) -> Result<&[u8], SkipReason> {
    for _ in 0..MAX_NESTED_HEADERS {
        match kind {
            0x0800 | 0x86dd => return Ok(rest),
            // 802.1Q, 802.1ad and 0x9100, which predates 802.1ad: two octets of tag, then an EtherType.
            0x8100 | 0x88a8 | 0x9100 => {
                let (tag, inner) = rest.split_at_checked(4).ok_or(SkipReason::Short)?;
                kind = u16::from_be_bytes([tag[2], tag[3]]);
                rest = inner;
            }
            // MPLS (RFC 3032): labels of four octets, with a flag in the last of them. The version in
            // the IP header distinguishes IPv4 from IPv6. Ethernet within MPLS is not supported.
            0x8847 | 0x8848 => return after_mpls_labels(rest),
            // A PPPoE session (RFC 2516, section 4): six octets, then PPP's protocol.
            0x8864 => {
                let (head, inner) = rest.split_at_checked(8).ok_or(SkipReason::Short)?;
                return match [head[6], head[7]] {
                    [0x00, 0x21] | [0x00, 0x57] => Ok(inner),
                    _ => Err(SkipReason::NotIp),
                };
            }
            _ => return Err(SkipReason::NotIp),
        }
    }
    Err(SkipReason::NotIp)
}

/// Returns the IP packet that follows a stack of MPLS labels.
fn after_mpls_labels(mut rest: &[u8]) -> Result<&[u8], SkipReason> {
    for _ in 0..MAX_NESTED_HEADERS {
        let (label, inner) = rest.split_at_checked(4).ok_or(SkipReason::Short)?;
        if label[2] & 1 != 0 {
            return match inner.first().ok_or(SkipReason::Short)? >> 4 {
                4 | 6 => Ok(inner),
                _ => Err(SkipReason::NotIp),
            };
        }
        rest = inner;
    }
    Err(SkipReason::NotIp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ip_packet_is_found_after_each_link_header() {
        let ip = [0x45, 1, 2, 3];
        let framed = |head: &[u8]| [head, &ip].concat();
        let mut ethernet = vec![0; 12];
        ethernet.extend([0x08, 0x00]);
        let mut tagged = vec![0; 12];
        tagged.extend([0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x86, 0xdd]);
        let mut pppoe = vec![0; 12];
        pppoe.extend([0x88, 0x64, 0x11, 0, 0, 1, 0, 6, 0x00, 0x21]);
        let mut mpls = vec![0; 12];
        mpls.extend([0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]);
        let mut cooked = vec![0; 14];
        cooked.extend([0x08, 0x00]);
        let mut cooked2 = vec![0x86, 0xdd];
        cooked2.extend([0; 18]);
        for (number, head) in [
            (101, &[][..]),
            (1, &ethernet),
            (1, &tagged),
            (1, &pppoe),
            (1, &mpls),
            (113, &cooked),
            (276, &cooked2),
            (0, &[2, 0, 0, 0]),
            (0, &[30, 0, 0, 0]),
            (108, &[0, 0, 0, 28]),
        ] {
            let frame = framed(head);
            assert_eq!(Link::from_number(number).payload(&frame), Ok(&ip[..]), "{number}");
            for cut in 0..head.len() {
                assert_eq!(
                    Link::from_number(number).payload(&frame[..cut]),
                    Err(SkipReason::Short)
                );
            }
        }
    }

    #[test]
    fn frames_without_ip_are_rejected_with_the_reason() {
        let mut arp = vec![0; 12];
        arp.extend([0x08, 0x06, 0, 0]);
        assert_eq!(Link::Ethernet.payload(&arp), Err(SkipReason::NotIp));
        let mut ethernet_in_mpls = vec![0; 12];
        ethernet_in_mpls.extend([0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0]);
        assert_eq!(Link::Ethernet.payload(&ethernet_in_mpls), Err(SkipReason::NotIp));
        let endless_tags = [0x81, 0x00].repeat(40);
        assert_eq!(Link::Ethernet.payload(&endless_tags), Err(SkipReason::NotIp));
        assert_eq!(Link::from_number(105).payload(&[0; 40]), Err(SkipReason::UnknownLink));
    }
}
