//! Packets as they cross the network, the same at both captures.
//!
//! A sender's card cuts large segments up after they were captured, and a receiver's joins segments before
//! they are captured. Both are cut here into the segments that cross the network.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use unruffled_units::{Duration, Instant};

use super::trace::{FIN, Flow, RST, Record, SYN, USUAL_SEGMENT};

/// Longest time for which a packet stays within a host that captures it on several interfaces.
const MAX_HOST_DELAY: Duration = Duration::from_secs(1);

/// Distance up to which a sequence number is plausible, in octets (RFC 7323, section 2.3).
const MAX_WINDOW_OCTETS: u32 = 1 << 30;

/// Smallest number of octets into which packets are cut (RFC 9293, section 3.7.1).
const MIN_SEGMENT: u32 = 536;

/// Octets of the timestamps option, with its padding.
const STAMPS_OCTETS: u32 = 12;

/// A packet as it crosses the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub(super) at: Instant,
    /// Digest of what identifies the packet at both captures.
    pub(super) digest: u64,
    /// First octet in the stream, extended to 64 bits.
    pub(super) start: u64,
    /// The octet after the last.
    pub(super) end: u64,
    /// Octets of payload.
    pub(super) len: u32,
    /// Identification of the IP header, 0 without one.
    pub(super) id: u16,
    pub(super) ttl: u8,
}

/// Extends sequence numbers to 64 bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Positions(u64);

impl Positions {
    /// Creates positions near sequence number `seq`.
    pub(super) fn near(seq: u32) -> Self {
        Self((1 << 40) + u64::from(seq))
    }

    /// Returns the current position.
    pub(super) fn get(self) -> u64 {
        self.0
    }

    pub(super) fn extend(&mut self, seq: u32) -> u64 {
        let distance = seq.wrapping_sub(self.0 as u32) as i32;
        let position = self.0.wrapping_add_signed(i64::from(distance));
        if distance.unsigned_abs() < MAX_WINDOW_OCTETS {
            self.0 = position;
        }
        position
    }
}

/// Returns the octets in a full segment of a flow that two captures have.
pub(super) fn full_segment(flows: [&Flow; 2], reverse: [Option<&Flow>; 2]) -> u32 {
    let stamped = flows.iter().flat_map(|flow| &flow.records).any(|record| record.stamps != (0, 0));
    // The receiver's SYN limits the segments of the sender, and the path those of both.
    let both = flows.into_iter().chain(reverse.into_iter().flatten());
    let mss = both.filter_map(|flow| flow.mss).min().map(u32::from);
    let limit = mss.unwrap_or(USUAL_SEGMENT);
    let mut counts: HashMap<u32, u64, RandomState> = HashMap::default();
    for record in flows.iter().flat_map(|flow| &flow.records) {
        if (limit / 2..=limit).contains(&record.len) {
            *counts.entry(record.len).or_default() += 1;
        }
    }
    let usual = counts.into_iter().max_by_key(|&(len, count)| (count, len)).map(|(len, _)| len);
    // Linux and others subtract the options from what the receiver permits.
    let options = if stamped { STAMPS_OCTETS } else { 0 };
    usual.unwrap_or_else(|| limit.saturating_sub(options)).max(MIN_SEGMENT)
}

/// Returns the packets of `flow` with full segments of `full` octets.
pub(super) fn units(
    flow: &Flow,
    full: u32,
    with_stamps: bool,
    positions: &mut Positions,
) -> Vec<Unit> {
    let is_tcp = flow.key.is_tcp;
    let mut units = Vec::with_capacity(flow.records.len());
    let mut copies = Copies::new(flow);
    for record in &flow.records {
        if copies.has(record, record.digest(is_tcp, with_stamps)) {
            continue;
        }
        if !is_tcp {
            units.push(unit(record, 0, record.digest(is_tcp, with_stamps)));
            continue;
        }
        let start = match record.flags & RST {
            0 => positions.extend(record.seq),
            _ => positions.clone().extend(record.seq),
        };
        let mut offset = 0;
        loop {
            let len = full.min(record.len - offset);
            let is_last = offset + len == record.len;
            let piece = Record {
                seq: record.seq.wrapping_add(offset),
                len,
                flags: if is_last { record.flags } else { record.flags & !(SYN | FIN) },
                ..*record
            };
            units.push(unit(&piece, start + u64::from(offset), piece.digest(true, with_stamps)));
            offset += len;
            if is_last {
                break;
            }
        }
    }
    units
}

fn unit(record: &Record, start: u64, digest: u64) -> Unit {
    let flags = u64::from(record.flags & (SYN | FIN) != 0);
    Unit {
        at: record.at,
        digest,
        start,
        end: start + u64::from(record.len) + flags,
        len: record.len,
        id: record.id,
        ttl: record.ttl,
    }
}

/// Packets that one capture has several times, because it was made on several interfaces.
struct Copies {
    /// The last sighting of each packet. `None` if all packets were captured at the same point.
    last: Option<HashMap<u64, Sighting, RandomState>>,
}

#[derive(Clone, Copy)]
struct Sighting {
    at: Instant,
    /// Interface and time to live of each sighting, up to four.
    points: [Option<(u32, u8)>; 4],
    id: u16,
}

impl Copies {
    fn new(flow: &Flow) -> Self {
        let point = |record: &Record| (record.interface, record.ttl);
        let first = flow.records.first().map(point);
        let differ = flow.records.iter().any(|record| Some(point(record)) != first);
        Self { last: differ.then(HashMap::default) }
    }

    /// Returns whether the packet was captured before at another point, and records it.
    fn has(&mut self, record: &Record, digest: u64) -> bool {
        let Some(last) = &mut self.last else { return false };
        let point = (record.interface, record.ttl);
        let is_recent = |sighting: &Sighting| {
            sighting.id == record.id && record.at.since(sighting.at) < MAX_HOST_DELAY
        };
        if let Some(sighting) = last.get_mut(&digest)
            && is_recent(sighting)
            && !sighting.points.contains(&Some(point))
        {
            if let Some(free) = sighting.points.iter_mut().find(|point| point.is_none()) {
                *free = Some(point);
            }
            return true;
        }
        let sighting =
            Sighting { at: record.at, points: [Some(point), None, None, None], id: record.id };
        last.insert(digest, sighting);
        false
    }
}
