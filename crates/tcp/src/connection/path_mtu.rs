//! Path MTU discovery by ICMP (RFC 1191, RFC 8201), and the payload that fits into a segment (RFC
//! 6691).

use unruffled_units::Instant;

use super::{Connection, ignore};
use crate::observer::{Event, Ignored, Observer};
use crate::segment::SackBlocks;
use crate::{IpVersion, SeqNr};

/// Octets of the TCP header without options.
const TCP_HEADER: u32 = 20;
/// Octets of the timestamps option with its padding.
pub(super) const TIMESTAMPS: u32 = 12;
/// Lower bound on the segment size in octets, even if a peer or a path requires less (Linux's
/// TCP_MIN_SND_MSS). Segments need room for 40 octets of options, and a peer that requests segments
/// of one octet must not make the scoreboard hold one entry for each octet in flight.
pub(super) const MIN_MSS: u32 = 48;
/// The minimum MTU of a link that carries IPv6 (RFC 8200, section 5).
const MIN_IPV6_MTU: u32 = 1280;
/// Plateau MTUs (RFC 1191, section 7.1), for routers that do not report theirs.
const PLATEAUS: [u32; 10] = [32_000, 17_914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68];

/// Returns the octets of a SACK option with `blocks` blocks and its padding.
fn sack_option(blocks: usize) -> u32 {
    if blocks == 0 { 0 } else { 4 + 8 * blocks as u32 }
}

/// Room for options and payload in a segment.
pub(super) struct SegmentRoom {
    /// Largest segment that the peer and the path allow.
    max_segment: u32,
    /// Whether options reduce the payload.
    count_options: bool,
    /// Whether segments carry timestamps.
    timestamps: bool,
}

impl SegmentRoom {
    /// Returns the largest payload that fits beside `blocks` SACK blocks.
    pub(super) fn payload(&self, blocks: usize) -> u32 {
        if !self.count_options {
            return self.max_segment;
        }
        let timestamps = if self.timestamps { TIMESTAMPS } else { 0 };
        self.max_segment.max(MIN_MSS) - timestamps - sack_option(blocks)
    }

    /// Returns how many SACK blocks fit beside the other options.
    pub(super) fn max_blocks(&self) -> usize {
        if self.timestamps { 3 } else { SackBlocks::CAPACITY }
    }

    /// Returns how many SACK blocks fit beside `len` octets of payload.
    pub(super) fn blocks_beside(&self, len: u32) -> usize {
        let max = self.max_blocks();
        if !self.count_options {
            return max;
        }
        (1..=max).rev().find(|&blocks| len <= self.payload(blocks)).unwrap_or(0)
    }
}

impl Connection {
    pub(super) fn room(&self) -> SegmentRoom {
        SegmentRoom {
            max_segment: self.max_segment,
            count_options: self.config.segments.count_options,
            timestamps: self.clock.on(),
        }
    }

    /// Processes an ICMP message that a packet was too big for a link whose MTU is `mtu`, or 0 if
    /// the message does not report it. `quoted` is the sequence number in the quoted part of the
    /// packet. A message about a packet that is not in flight is forged or late, and is ignored.
    pub fn handle_packet_too_big(
        &mut self,
        mtu: u32,
        quoted: SeqNr,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let headers = self.config.segments.ip.header() + TCP_HEADER;
        let una = self.sender.stream.una();
        let nxt = self.sender.stream.nxt();
        let outstanding = quoted
            .unwrap(self.numbers.ours.add(1), una)
            .is_some_and(|offset| una <= offset && offset < nxt);
        let named = match mtu {
            0 => {
                let current = self.max_segment + headers;
                PLATEAUS.into_iter().find(|&plateau| plateau < current).unwrap_or(0)
            }
            named => named,
        };
        if self.config.segments.ip == IpVersion::V6 && mtu < MIN_IPV6_MTU {
            // "It must discard it" (RFC 8201, section 4).
            ignore(Ignored::StaleMtu, now, observer);
            return;
        }
        let max_segment =
            named.saturating_sub(headers).max(self.config.segments.min_mss).max(MIN_MSS);
        if !self.state.is_synchronised() || !outstanding || max_segment >= self.max_segment {
            ignore(Ignored::StaleMtu, now, observer);
            return;
        }
        self.sender.stream.set_mss(self.room().payload(0));
        self.max_segment = max_segment;
        self.sender.lower_mss(self.room().payload(0), now);
        observer.on_event(now, &Event::PathMtu { mtu: max_segment + headers });
    }
}
