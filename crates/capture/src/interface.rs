//! Interfaces of a capture, and packets that several of them show.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _};

use foldhash::fast::{FixedState, RandomState};
use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::packet::{Packet, Transport};
use crate::reader::Frame;

/// Link types whose frames show the interface, or the direction, of each packet.
const COOKED: u32 = 113;
const COOKED_2: u32 = 276;

/// Maximum number of interfaces that are counted, and of those that show one datagram. Frames of further ones are
/// not listed, and further copies count as datagrams of their own.
const MAX_INTERFACES: usize = 256;

/// Maximum number of datagrams remembered to recognise copies.
const MAX_SIGHTINGS: usize = 4096;

/// Time within which a host passes a datagram from one interface to another.
const MAX_HOST_DELAY: Duration = Duration::from_millis(50);

/// Interface on which a frame was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interface<'a> {
    /// Number of the interface in the capture; 0 if the capture has only one.
    pub number: u32,
    /// Name of the interface, if the capture has it.
    pub name: Option<&'a str>,
}

impl Frame<'_> {
    /// Returns a number for the point of capture. A capture on all interfaces of a Linux host has it in its
    /// frames: the index of the interface, or in older ones the direction.
    pub(crate) fn point(&self) -> u32 {
        match (self.link.number(), self.data) {
            (COOKED_2, &[_, _, _, _, a, b, c, d, ..]) => u32::from_be_bytes([a, b, c, d]),
            (COOKED, &[a, b, ..]) => u32::from(u16::from_be_bytes([a, b])),
            _ => self.interface.number,
        }
    }
}

/// Frames of one interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InterfaceTotals {
    /// Name of the interface, or its number if the capture has no name.
    pub name: String,
    /// Frames.
    pub frames: u64,
    /// Octets of the frames on the network.
    pub bytes: u64,
    /// Packets that another interface had shown before.
    pub copies: u64,
}

/// Counters of the interfaces of a capture.
#[derive(Debug, Default)]
pub(crate) struct InterfaceCounters {
    interfaces: Vec<(u32, InterfaceTotals)>,
    /// Place of the interface of the last frame.
    last: usize,
    /// Point of the last frame.
    point: Option<u32>,
    are_several: bool,
}

impl InterfaceCounters {
    /// Counts a frame.
    pub(crate) fn frame(&mut self, frame: &Frame<'_>) {
        let point = match frame.link.number() {
            // This header shows no interface.
            COOKED => frame.interface.number,
            _ => frame.point(),
        };
        let differs = self.point.replace(frame.point()).is_some_and(|last| last != frame.point());
        self.are_several |= differs;
        if self.interfaces.get(self.last).is_none_or(|(number, _)| *number != point) {
            match self.interfaces.iter().position(|(number, _)| *number == point) {
                Some(place) => self.last = place,
                None if self.interfaces.len() == MAX_INTERFACES => return,
                None => self.begin(point, frame),
            }
        }
        let (_, totals) = &mut self.interfaces[self.last];
        totals.frames += 1;
        totals.bytes += u64::from(frame.length);
    }

    fn begin(&mut self, point: u32, frame: &Frame<'_>) {
        let name = match frame.interface.name {
            Some(name) if point == frame.interface.number => name.to_owned(),
            _ => format!("interface {point}"),
        };
        self.last = self.interfaces.len();
        self.interfaces.push((point, InterfaceTotals { name, frames: 0, bytes: 0, copies: 0 }));
    }

    /// Counts a packet on interface `point` that another interface had shown before.
    pub(crate) fn copy(&mut self, point: u32) {
        if let Some((_, totals)) = self.interfaces.iter_mut().find(|(number, _)| *number == point) {
            totals.copies += 1;
        }
    }

    /// Returns whether frames of several points have come.
    pub(crate) fn are_several(&self) -> bool {
        self.are_several
    }

    /// Returns the totals of each interface, in the order of their first frames.
    pub(crate) fn summary(&self) -> Vec<InterfaceTotals> {
        self.interfaces.iter().map(|(_, totals)| totals.clone()).collect()
    }
}

/// Detector of datagrams that several interfaces show.
///
/// Two packets are the same if all fields that identify one are equal. The capture of one interface shows a
/// packet once, so a packet that the same interface shows again is another one.
#[derive(Debug, Default)]
pub(crate) struct DatagramCopies {
    sightings: HashMap<u64, VecDeque<Sighting>, RandomState>,
    /// Digests in the order of their sightings.
    order: VecDeque<u64>,
}

#[derive(Clone, Debug)]
struct Sighting {
    at: Instant,
    points: Vec<u32>,
}

impl DatagramCopies {
    /// Returns whether another interface has shown the packet before, and records it.
    pub(crate) fn has(&mut self, packet: &Packet) -> bool {
        let digest = digest(packet);
        let sightings = self.sightings.entry(digest).or_default();
        let same = sightings.iter_mut().find(|sighting| {
            sighting.points.len() < MAX_INTERFACES
                && packet.at.since(sighting.at) < MAX_HOST_DELAY
                && !sighting.points.contains(&packet.interface)
        });
        if let Some(sighting) = same {
            sighting.points.push(packet.interface);
            return true;
        }
        sightings.push_back(Sighting { at: packet.at, points: vec![packet.interface] });
        self.order.push_back(digest);
        if self.order.len() > MAX_SIGHTINGS {
            self.drop_oldest();
        }
        false
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.order.pop_front() else { return };
        if let Some(sightings) = self.sightings.get_mut(&oldest) {
            sightings.pop_front();
            if sightings.is_empty() {
                self.sightings.remove(&oldest);
            }
        }
    }
}

/// Returns a digest of what identifies a packet without TCP.
fn digest(packet: &Packet) -> u64 {
    let mut digest = FixedState::with_seed(0).build_hasher();
    for end in [packet.from, packet.to] {
        digest.write_u128(match end.ip() {
            std::net::IpAddr::V4(v4) => v4.to_bits().into(),
            std::net::IpAddr::V6(v6) => v6.to_bits(),
        });
        digest.write_u16(end.port());
    }
    digest.write_u16(packet.id.unwrap_or(0));
    digest.write_u32(packet.length);
    match &packet.transport {
        Transport::Udp(datagram) => {
            digest.write(&datagram.head[..usize::from(datagram.captured)]);
        }
        Transport::Esp(esp) => {
            digest.write_u32(esp.spi);
            digest.write_u32(esp.seq);
        }
        Transport::Gre(gre) => {
            digest.write_u32(gre.key);
            digest.write_u32(gre.seq);
        }
        Transport::Tcp(_) => {}
    }
    digest.finish()
}
