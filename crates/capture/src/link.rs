//! What stands before the IP header: Ethernet with tags or labels, Linux's cooked frames, BSD's loopback.

use crate::packet::Unread;

/// A kind of link, as capture files number them (LINKTYPE_ values, tcpdump.org/linktypes.html).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// BSD's loopback: a protocol family in the host's own order (0), or in network order (108).
    Null,
    /// Ethernet (1), also with VLAN tags, MPLS labels or PPPoE.
    Ethernet,
    /// The IP packet itself (12, 14, 101, 228, 229).
    Raw,
    /// Linux's cooked capture (113).
    Cooked,
    /// Linux's cooked capture, version 2 (276).
    Cooked2,
    /// Anything else.
    Other(u32),
}

/// VLAN tags, PPPoE and the like that may stand one within another.
const NESTED: usize = 8;

impl Link {
    /// The link of that number.
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

    /// The IP packet within a frame.
    pub(crate) fn payload(self, frame: &[u8]) -> Result<&[u8], Unread> {
        let short = Unread::Short;
        match self {
            Self::Raw => Ok(frame),
            Self::Ethernet => {
                let (head, rest) = frame.split_at_checked(14).ok_or(short)?;
                typed(u16::from_be_bytes([head[12], head[13]]), rest)
            }
            Self::Cooked => {
                let (head, rest) = frame.split_at_checked(16).ok_or(short)?;
                typed(u16::from_be_bytes([head[14], head[15]]), rest)
            }
            Self::Cooked2 => {
                let (head, rest) = frame.split_at_checked(20).ok_or(short)?;
                typed(u16::from_be_bytes([head[0], head[1]]), rest)
            }
            Self::Null => {
                let (head, rest) = frame.split_at_checked(4).ok_or(short)?;
                // 2 is IPv4 everywhere; IPv6 has a number of its own in each system.
                let family = [head[0], head[1], head[2], head[3]];
                match u32::from_le_bytes(family).min(u32::from_be_bytes(family)) {
                    2 | 10 | 24 | 28 | 30 => Ok(rest),
                    _ => Err(Unread::NotIp),
                }
            }
            Self::Other(_) => Err(Unread::UnknownLink),
        }
    }
}

/// What follows an EtherType.
fn typed(mut kind: u16, mut rest: &[u8]) -> Result<&[u8], Unread> {
    for _ in 0..NESTED {
        match kind {
            0x0800 | 0x86dd => return Ok(rest),
            // 802.1Q, 802.1ad and their elder: two octets of tag, then the type of what follows.
            0x8100 | 0x88a8 | 0x9100 => {
                let (tag, inner) = rest.split_at_checked(4).ok_or(Unread::Short)?;
                (kind, rest) = (u16::from_be_bytes([tag[2], tag[3]]), inner);
            }
            // MPLS (RFC 3032): labels of four octets, the last of them marked. What follows says by itself
            // which IP it is; of Ethernet within, nothing is known.
            0x8847 | 0x8848 => return unlabelled(rest),
            // A PPPoE session (RFC 2516, section 4): six octets, then PPP's protocol.
            0x8864 => {
                let (head, inner) = rest.split_at_checked(8).ok_or(Unread::Short)?;
                return match [head[6], head[7]] {
                    [0x00, 0x21] | [0x00, 0x57] => Ok(inner),
                    _ => Err(Unread::NotIp),
                };
            }
            _ => return Err(Unread::NotIp),
        }
    }
    Err(Unread::NotIp)
}

/// What follows a stack of MPLS labels.
fn unlabelled(mut rest: &[u8]) -> Result<&[u8], Unread> {
    for _ in 0..NESTED {
        let (label, inner) = rest.split_at_checked(4).ok_or(Unread::Short)?;
        if label[2] & 1 != 0 {
            return match inner.first().ok_or(Unread::Short)? >> 4 {
                4 | 6 => Ok(inner),
                _ => Err(Unread::NotIp),
            };
        }
        rest = inner;
    }
    Err(Unread::NotIp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packet_is_found_behind_each_link() {
        let ip = [0x45, 1, 2, 3];
        let framed = |head: &[u8]| [head, &ip].concat();
        let mut ethernet = vec![0; 12];
        ethernet.extend([0x08, 0x00]);
        let mut tagged = vec![0; 12];
        tagged.extend([0x88, 0xa8, 0, 1, 0x81, 0x00, 0, 2, 0x86, 0xdd]);
        let mut pppoe = vec![0; 12];
        pppoe.extend([0x88, 0x64, 0x11, 0, 0, 1, 0, 6, 0x00, 0x21]);
        let mut labelled = vec![0; 12];
        labelled.extend([0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]);
        let mut cooked = vec![0; 14];
        cooked.extend([0x08, 0x00]);
        let mut cooked2 = vec![0x86, 0xdd];
        cooked2.extend([0; 18]);
        for (number, head) in [
            (101, &[][..]),
            (1, &ethernet),
            (1, &tagged),
            (1, &pppoe),
            (1, &labelled),
            (113, &cooked),
            (276, &cooked2),
            (0, &[2, 0, 0, 0]),
            (0, &[30, 0, 0, 0]),
            (108, &[0, 0, 0, 28]),
        ] {
            let frame = framed(head);
            assert_eq!(Link::from_number(number).payload(&frame), Ok(&ip[..]), "{number}");
            for cut in 0..head.len() {
                assert_eq!(Link::from_number(number).payload(&frame[..cut]), Err(Unread::Short));
            }
        }
    }

    #[test]
    fn what_is_no_ip_is_told() {
        let mut arp = vec![0; 12];
        arp.extend([0x08, 0x06, 0, 0]);
        assert_eq!(Link::Ethernet.payload(&arp), Err(Unread::NotIp));
        let mut within = vec![0; 12];
        within.extend([0x88, 0x47, 0, 1, 1, 64, 0, 0, 0, 0]);
        assert_eq!(Link::Ethernet.payload(&within), Err(Unread::NotIp));
        let forever = [0x81, 0x00].repeat(40);
        assert_eq!(Link::Ethernet.payload(&forever), Err(Unread::NotIp));
        assert_eq!(Link::from_number(105).payload(&[0; 40]), Err(Unread::UnknownLink));
    }
}
