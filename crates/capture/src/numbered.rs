//! Flows whose packets carry a number in clear: how many of them come late, by how much, and how many
//! are missing, without a look into them.
//!
//! The packets of a tunnel do not show which TCP they carry, but most show a number that its sender
//! counts up. [`NumberedFlows`] follows such flows in bounded memory: a packet costs the look-up of its
//! flow and a constant amount of work.

mod evidence;
mod protocol;
mod stream;
mod verdict;

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;

use serde::Serialize;
use unruffled_units::{Duration, Instant};

use crate::packet::Packet;
use crate::reordering::Reordering;
use evidence::{Evidence, Sample};
pub(crate) use protocol::Numbered;
pub use protocol::NumberedProtocol;
use stream::Stream;
pub use verdict::{NumberedCause, NumberedVerdict};

/// Maximum number of flows that are followed.
const MAX_FLOWS: usize = 512;

/// Maximum number of flows of which it is not known whether their packets are numbered.
const MAX_CANDIDATES: usize = 1024;

/// Flow of packets that carry a number in clear, in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberedFlow {
    /// The protocol.
    pub protocol: NumberedProtocol,
    /// Source address and port; 0 where there are no ports.
    pub from: SocketAddr,
    /// Destination address and port; 0 where there are no ports.
    pub to: SocketAddr,
    /// Name of the key or the stream: the receiver index of WireGuard, the SPI of ESP, the SSRC of RTP, the
    /// epoch of DTLS, the peer and the key of OpenVPN, or the key of GRE. The last one if it changed.
    pub context: u32,
    /// Time of the first packet, in seconds since the beginning of the capture.
    pub start_s: f64,
    /// Time from the first packet to the last, in seconds.
    pub duration_s: f64,
    /// Packets, copies included.
    pub packets: u64,
    /// Octets that they carry.
    pub payload_bytes: u64,
    /// Packets whose number had arrived already: replays, or copies that the network or a capture on several
    /// interfaces made.
    pub duplicates: u64,
    /// Numbers that never arrived: packets that were lost before the capture point, or dropped before they
    /// got there. Those that may still have been on their way at the end of the capture do not count.
    pub lost: u64,
    /// Share of the lost packets in all that were sent, from 0 to 1.
    pub lost_ratio: f64,
    /// Packets whose number is far from the others.
    pub strange: u64,
    /// Reordering before the capture point, and what replay windows behind it would drop.
    pub reordering: Reordering,
    /// The verdict: what the end of the tunnel makes of it, and the setting to change.
    pub verdict: NumberedVerdict,
}

/// Flows of numbered packets.
#[derive(Debug, Default)]
pub(crate) struct NumberedFlows {
    flows: HashMap<FlowKey, Flow>,
    candidates: HashMap<FlowKey, Candidate>,
    /// The candidates in the order in which they began, and ones that no longer are.
    ages: VecDeque<(FlowKey, u64)>,
    /// Number of candidates that have begun.
    begun: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct FlowKey {
    protocol: NumberedProtocol,
    from: SocketAddr,
    to: SocketAddr,
    /// SPI, SSRC or GRE's key; 0 where keys follow each other in one flow.
    context: u32,
}

#[derive(Debug)]
struct Flow {
    first: Instant,
    last: Instant,
    stream: Stream,
}

#[derive(Debug)]
struct Candidate {
    evidence: Evidence,
    /// Number of the candidate.
    number: u64,
}

impl NumberedFlows {
    /// Records a packet, if it may be numbered.
    pub(crate) fn packet(&mut self, packet: &Packet, clock_step: Duration) {
        for numbered in Numbered::candidates(packet) {
            self.record(numbered, [packet.from, packet.to], packet.at, clock_step);
        }
    }

    /// Records a packet between two ends that carries that number.
    pub(crate) fn record(
        &mut self,
        numbered: Numbered,
        [from, to]: [SocketAddr; 2],
        at: Instant,
        clock_step: Duration,
    ) {
        let Numbered { protocol, context, number, len, tag } = numbered;
        let of_flow = if protocol.changes_keys() { 0 } else { context };
        let key = FlowKey { protocol, from, to, context: of_flow };
        let sample = Sample { number, context, len, tag, at };
        if let Some(flow) = self.flows.get_mut(&key) {
            flow.last = flow.last.max(at);
            flow.stream.record(&sample, clock_step);
            return;
        }
        if !self.candidates.contains_key(&key) {
            self.begin(key);
        }
        let Some(candidate) = self.candidates.get_mut(&key) else { return };
        let Some(samples) = candidate.evidence.record(sample) else { return };
        self.candidates.remove(&key);
        if self.flows.len() < MAX_FLOWS
            && let Some(stream) = Stream::new(protocol, &samples, clock_step)
        {
            let first = samples.first().map_or(at, |sample| sample.at);
            self.flows.insert(key, Flow { first, last: at, stream });
        }
    }

    /// Begins a candidate, and drops the oldest one where there are too many.
    fn begin(&mut self, key: FlowKey) {
        let number = self.begun;
        self.begun += 1;
        self.ages.push_back((key, number));
        self.candidates.insert(key, Candidate { evidence: Evidence::default(), number });
        while self.ages.len() > MAX_CANDIDATES {
            let Some((oldest, number)) = self.ages.pop_front() else { break };
            if self.candidates.get(&oldest).is_some_and(|candidate| candidate.number == number) {
                self.candidates.remove(&oldest);
            }
        }
    }

    /// Returns the flows of a capture that begins at `start`, those with the most packets first.
    pub(crate) fn summary(&self, start: Instant) -> Vec<NumberedFlow> {
        let mut flows: Vec<_> = self.flows.iter().collect();
        flows.sort_by_key(|(key, flow)| (std::cmp::Reverse(flow.stream.packets), **key));
        flows.into_iter().map(|(key, flow)| flow.summary(key, start)).collect()
    }
}

impl Flow {
    fn summary(&self, key: &FlowKey, start: Instant) -> NumberedFlow {
        let stream = &self.stream;
        let reordering = stream.reordering();
        let lost = stream.lost();
        let sent = reordering.packets + lost;
        let lost_ratio = if sent == 0 { 0.0 } else { lost as f64 / sent as f64 };
        NumberedFlow {
            protocol: key.protocol,
            from: key.from,
            to: key.to,
            context: stream.context(),
            start_s: self.first.since(start).as_secs_f64(),
            duration_s: self.last.since(self.first).as_secs_f64(),
            packets: stream.packets,
            payload_bytes: stream.payload,
            duplicates: stream.duplicates,
            lost,
            lost_ratio,
            strange: stream.strange,
            verdict: verdict::judge(key.protocol, &reordering, lost, lost_ratio),
            reordering,
        }
    }
}
