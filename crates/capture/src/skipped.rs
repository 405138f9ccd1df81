//! Frames that are skipped, and packets whose contents are encrypted: how many of what.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::packet::SkipReason;
use crate::tunnel::Tunnel;

/// Maximum number of reasons that are counted apart. The others are counted together.
const MAX_REASONS: usize = 1000;

/// Numbers of frames that were skipped, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The link type is not supported.
    pub unknown_link: u64,
    /// The frame carries a protocol other than IP, or is encrypted.
    pub not_ip: u64,
    /// The capture does not hold all of the headers.
    pub short: u64,
    /// The packet is a fragment, and the capture does not hold all of the others.
    pub fragments: u64,
    /// The packet carries neither TCP nor UDP.
    pub other_protocols: u64,
    /// The headers contradict each other.
    pub malformed: u64,
    /// What these packets are, and the encrypted ones of UDP, the most frequent first.
    pub kinds: Vec<SkippedKind>,
}

/// Packets of one kind whose contents were not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedKind {
    /// Name of the protocol, or the reason.
    pub what: Cow<'static, str>,
    /// Number of packets.
    pub packets: u64,
}

/// Counters of what is skipped.
#[derive(Debug, Default)]
pub(crate) struct SkipCounters {
    reasons: BTreeMap<SkipReason, u64>,
    /// Packets with other reasons than those.
    others: u64,
    quic: u64,
    tunnels: BTreeMap<&'static str, u64>,
}

impl SkipCounters {
    /// Counts a frame that is skipped.
    pub(crate) fn skip(&mut self, reason: SkipReason) {
        self.skip_many(reason, 1);
    }

    /// Counts frames that are skipped.
    pub(crate) fn skip_many(&mut self, reason: SkipReason, packets: u64) {
        if packets == 0 {
            return;
        }
        if self.reasons.len() >= MAX_REASONS && !self.reasons.contains_key(&reason) {
            self.others += packets;
            return;
        }
        *self.reasons.entry(reason).or_default() += packets;
    }

    /// Counts datagrams of QUIC.
    pub(crate) fn quic(&mut self, packets: u64) {
        self.quic += packets;
    }

    /// Counts datagrams of an encrypted tunnel.
    pub(crate) fn tunnel(&mut self, tunnel: Tunnel, packets: u64) {
        *self.tunnels.entry(tunnel.name()).or_default() += packets;
    }

    /// Returns the numbers, the most frequent kinds first.
    pub(crate) fn summary(&self) -> Skipped {
        let mut skipped = Skipped::default();
        let mut kinds: BTreeMap<Cow<'static, str>, u64> = BTreeMap::new();
        for (&reason, &packets) in &self.reasons {
            *kinds.entry(what(reason)).or_default() += packets;
            *match reason {
                SkipReason::UnknownLink(_) | SkipReason::Record(_) => &mut skipped.unknown_link,
                SkipReason::EtherType(_) | SkipReason::NotIp | SkipReason::Encrypted => {
                    &mut skipped.not_ip
                }
                SkipReason::Short => &mut skipped.short,
                SkipReason::Fragment => &mut skipped.fragments,
                SkipReason::Protocol(_) => &mut skipped.other_protocols,
                SkipReason::Malformed | SkipReason::Nested => &mut skipped.malformed,
            } += packets;
        }
        skipped.not_ip += self.others;
        let encrypted = self.tunnels.iter().map(|(&name, &packets)| (Cow::Borrowed(name), packets));
        let rest = [(Cow::Borrowed("QUIC"), self.quic), (Cow::Borrowed("others"), self.others)];
        for (name, packets) in encrypted.chain(rest) {
            *kinds.entry(name).or_default() += packets;
        }
        kinds.retain(|_, packets| *packets > 0);
        skipped.kinds =
            kinds.into_iter().map(|(what, packets)| SkippedKind { what, packets }).collect();
        skipped.kinds.sort_by_key(|kind| std::cmp::Reverse(kind.packets));
        skipped
    }
}

/// Names what a frame holds that is skipped for that reason.
fn what(reason: SkipReason) -> Cow<'static, str> {
    let name = match reason {
        SkipReason::UnknownLink(number) => return format!("unsupported link type {number}").into(),
        SkipReason::Record(kind) => return format!("unsupported ERF type {kind}").into(),
        SkipReason::EtherType(kind) => match ether_type(kind) {
            Some(name) => name,
            None => return format!("EtherType {kind:#06x}").into(),
        },
        SkipReason::NotIp => "frames without IP",
        SkipReason::Encrypted => "encrypted frames",
        SkipReason::Short => "truncated",
        SkipReason::Fragment => "incomplete fragments",
        SkipReason::Protocol(number) => match protocol(number) {
            Some(name) => name,
            None => return format!("IP protocol {number}").into(),
        },
        SkipReason::Malformed => "malformed",
        SkipReason::Nested => "nested too deeply",
    };
    name.into()
}

/// Returns the name of an EtherType that is not read.
fn ether_type(kind: u16) -> Option<&'static str> {
    Some(match kind {
        0x0806 => "ARP",
        0x0842 => "Wake-on-LAN",
        0x2000 => "CDP",
        0x4305 => "B.A.T.M.A.N.",
        0x8035 => "RARP",
        0x8137 => "IPX",
        0x8863 => "PPPoE discovery",
        0x886c | 0x887b => "HomePlug",
        0x888e => "EAPOL",
        0x8892 => "PROFINET",
        0x88a4 => "EtherCAT",
        0x88cc => "LLDP",
        0x8809 => "LACP",
        0x88e5 => "MACsec",
        0x88f7 => "PTP",
        0x8902 => "CFM",
        0x8906 | 0x8914 => "FCoE",
        0x9000 => "loopback tests",
        _ => return None,
    })
}

/// Returns the name of a protocol of IP that is not read.
fn protocol(number: u8) -> Option<&'static str> {
    Some(match number {
        1 => "ICMP",
        2 => "IGMP",
        33 => "DCCP",
        46 => "RSVP",
        // The name is that of ESP within UDP.
        50 => Tunnel::Esp.name(),
        58 => "ICMPv6",
        88 => "EIGRP",
        89 => "OSPF",
        103 => "PIM",
        108 => "IPComp",
        112 => "VRRP",
        115 => "L2TPv3",
        132 => "SCTP",
        136 => "UDP-Lite",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_named_and_sorted_by_their_number() {
        let mut counters = SkipCounters::default();
        counters.skip(SkipReason::EtherType(0x0806));
        counters.skip_many(SkipReason::EtherType(0x1234), 3);
        counters.skip(SkipReason::UnknownLink(147));
        counters.skip(SkipReason::Protocol(50));
        counters.tunnel(Tunnel::Esp, 4);
        counters.quic(2);
        let skipped = counters.summary();
        let kinds: Vec<_> =
            skipped.kinds.iter().map(|kind| (kind.what.as_ref(), kind.packets)).collect();
        assert_eq!(
            kinds,
            [
                ("ESP", 5),
                ("EtherType 0x1234", 3),
                ("QUIC", 2),
                ("ARP", 1),
                ("unsupported link type 147", 1)
            ]
        );
        assert_eq!((skipped.not_ip, skipped.unknown_link, skipped.other_protocols), (4, 1, 1));
    }

    #[test]
    fn the_number_of_reasons_is_bounded() {
        let mut counters = SkipCounters::default();
        for number in 0..5000 {
            counters.skip(SkipReason::UnknownLink(number));
        }
        assert_eq!(counters.reasons.len(), MAX_REASONS);
        assert_eq!(counters.summary().kinds[0].packets, 4000);
    }
}
