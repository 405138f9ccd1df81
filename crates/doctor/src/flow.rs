//! What a watch shows of one direction of a connection.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::Serialize;

use crate::verdict::Verdict;
use crate::watch::{History, Step};
use crate::{Watch, verdict};

/// Part of this end in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// This end sends the data.
    Sender,
    /// This end receives the data.
    Receiver,
}

/// One direction of a connection, over the time of a watch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flow {
    /// Inode of the network namespace.
    pub namespace: u64,
    /// Local address.
    pub local: SocketAddr,
    /// Address of the other end.
    pub peer: SocketAddr,
    /// Part of this end.
    pub role: Role,
    /// Congestion control of this end.
    pub congestion_control: String,
    /// Number of the cgroup in which the socket was created.
    #[serde(skip)]
    pub cgroup: Option<u64>,
    /// Inode of the socket.
    #[serde(skip)]
    pub inode: u32,
    /// Time over which the connection was seen.
    #[serde(rename = "time_s", serialize_with = "seconds")]
    pub time: Duration,
    /// Octets delivered per second, in bits.
    pub rate_bps: f64,
    /// Segments with data, retransmissions and duplicates included.
    pub segments: u64,
    /// Segments that were retransmitted; 0 for a receiver, which does not see it.
    pub retransmitted: u64,
    /// Segments that arrived although they were retransmitted. Of a receiver it is an estimate, since the kernel
    /// counts duplicates per network namespace.
    pub spurious: u64,
    /// Packets that arrived after packets that were sent later. Of a receiver it is packets that did not follow
    /// the one before, because of a loss or of reordering.
    pub reordered: u64,
    /// Retransmission timeouts; `None` for a receiver, and before Linux 6.7.
    pub timeouts: Option<u32>,
    /// Mean smoothed round-trip time.
    #[serde(rename = "rtt_s", serialize_with = "seconds")]
    pub rtt: Duration,
    /// Ratio of the greatest smoothed round-trip time to the least, which grows where a queue fills.
    pub rtt_ratio: f64,
    /// Segments delivered per round trip.
    pub window: f64,
    /// Share of the time in which data waited to be sent, or, at a receiver, in which data arrived.
    pub active: f64,
    /// Ratio of the median rate to the second-highest. It is close to 1 where a link is the limit.
    pub steadiness: f64,
    /// Share of the time in which the receive window was the limit.
    pub receive_window_limited: f64,
    /// Share of the time in which the send buffer was the limit.
    pub send_buffer_limited: f64,
    /// Number of times between two snapshots.
    #[serde(skip)]
    pub steps: usize,
    /// The judgement.
    pub verdict: Verdict,
}

/// Serialises a time as seconds.
pub(crate) fn seconds<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

/// Segments that a direction must carry within the watch to be judged.
const MIN_SEGMENTS: u32 = 30;

/// Packets out of order from which duplicates that arrive are attributed to a connection.
const MIN_OUT_OF_ORDER: u32 = 3;

/// Number of connections by what was done with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Connections that were seen.
    pub connections: usize,
    /// Connections within a network namespace, which were left out.
    pub local: usize,
    /// Connections that carried too little data to be judged.
    pub quiet: usize,
}

/// Returns the flows of all connections that carried data, and the number of those that did not. Connections
/// within a namespace are included only if there are no others.
pub fn flows(watch: &Watch) -> (Vec<Flow>, Tally) {
    let mut tally = Tally::default();
    let (local, remote): (Vec<&History>, Vec<&History>) =
        watch.histories().partition(|history| history.socket.is_local());
    tally.connections = local.len() + remote.len();
    let is_active = |history: &&History| data_out(history).max(data_in(history)) >= MIN_SEGMENTS;
    let chosen = if remote.iter().any(is_active) || !local.iter().any(is_active) {
        tally.local = local.len();
        remote
    } else {
        local.into_iter().chain(remote).collect()
    };
    let mut flows = Vec::new();
    for history in &chosen {
        let sent = data_out(history) >= MIN_SEGMENTS;
        let received = data_in(history) >= MIN_SEGMENTS;
        flows.extend(sent.then(|| sender(history)));
        flows.extend(received.then(|| receiver(history)));
        tally.quiet += usize::from(!sent && !received);
    }
    for (namespace, counts) in watch.counts() {
        attribute_duplicates(&chosen, &mut flows, namespace, counts.duplicates_in);
    }
    for flow in &mut flows {
        flow.verdict = verdict::judge(flow);
    }
    (flows, tally)
}

fn data_out(history: &History) -> u32 {
    history.socket.info.data_segments_out.wrapping_sub(history.base.data_segments_out)
}

fn data_in(history: &History) -> u32 {
    history.socket.info.data_segments_in.wrapping_sub(history.base.data_segments_in)
}

fn sender(history: &History) -> Flow {
    let now = &history.socket.info;
    let base = &history.base;
    let delta = |now: u32, base: u32| u64::from(now.wrapping_sub(base));
    let backlogged = time_of(&history.steps, |step| step.is_backlogged);
    let limited = |now: Duration, base: Duration| share(now.saturating_sub(base), history.time());
    Flow {
        role: Role::Sender,
        rate_bps: bits_per_second(now.bytes_acked.saturating_sub(base.bytes_acked), history.time()),
        segments: delta(now.data_segments_out, base.data_segments_out),
        retransmitted: delta(now.retransmitted, base.retransmitted),
        // Where the network duplicates packets, more duplicates are reported than were retransmitted.
        spurious: delta(now.duplicates_reported, base.duplicates_reported)
            .min(delta(now.retransmitted, base.retransmitted)),
        reordered: delta(now.reordered, base.reordered),
        timeouts: now.timeouts.map(|timeouts| timeouts.wrapping_sub(base.timeouts.unwrap_or(0))),
        rtt: mean(history.steps.iter().map(|step| step.rtt)),
        rtt_ratio: ratio(history.steps.iter().map(|step| step.rtt)),
        window: window(&history.steps, |step| step.delivered, |step| step.rtt),
        active: share(backlogged, history.time()),
        steadiness: steadiness(&history.steps, |step| step.delivered),
        receive_window_limited: limited(now.receive_window_limited, base.receive_window_limited),
        send_buffer_limited: limited(now.send_buffer_limited, base.send_buffer_limited),
        ..blank(history)
    }
}

fn receiver(history: &History) -> Flow {
    let now = &history.socket.info;
    let base = &history.base;
    let delta = |now: u32, base: u32| u64::from(now.wrapping_sub(base));
    let octets = now.bytes_received.saturating_sub(base.bytes_received);
    // Without timestamps or data of its own, an end has one of the two estimates.
    let rtt = |step: &Step| match step.receiver_rtt {
        Duration::ZERO => step.rtt,
        rtt => rtt,
    };
    let active = time_of(&history.steps, |step| step.arrived > 0);
    let segments = delta(now.data_segments_in, base.data_segments_in);
    Flow {
        role: Role::Receiver,
        rate_bps: bits_per_second(octets, history.time()),
        segments,
        reordered: delta(now.out_of_order_in, base.out_of_order_in),
        rtt: mean(history.steps.iter().map(rtt)),
        rtt_ratio: ratio(history.steps.iter().map(rtt)),
        window: window(&history.steps, |step| step.arrived, rtt),
        active: share(active, history.time()),
        steadiness: steadiness(&history.steps, |step| step.arrived),
        ..blank(history)
    }
}

fn blank(history: &History) -> Flow {
    let socket = &history.socket;
    Flow {
        namespace: socket.namespace,
        local: socket.local,
        peer: socket.peer,
        role: Role::Sender,
        congestion_control: socket.control.clone(),
        cgroup: socket.cgroup,
        inode: socket.inode,
        time: history.time(),
        rate_bps: 0.0,
        segments: 0,
        retransmitted: 0,
        spurious: 0,
        reordered: 0,
        timeouts: None,
        rtt: Duration::ZERO,
        rtt_ratio: 1.0,
        window: 0.0,
        active: 0.0,
        steadiness: 1.0,
        receive_window_limited: 0.0,
        send_buffer_limited: 0.0,
        steps: history.steps.len(),
        verdict: Verdict::Healthy,
    }
}

/// Attributes the duplicates that arrived in a network namespace to the connections there, by the octets that
/// each has received more than once.
fn attribute_duplicates(
    histories: &[&History],
    flows: &mut [Flow],
    namespace: u64,
    duplicates: u64,
) {
    let excess_of = |flow: &Flow| {
        let is_same = |history: &&&History| {
            history.socket.local == flow.local && history.socket.peer == flow.peer
        };
        let here = histories.iter().filter(|history| history.socket.namespace == namespace);
        here.clone().find(is_same).map_or(0, |history| excess(history))
    };
    let is_candidate = |flow: &Flow| {
        flow.namespace == namespace
            && flow.role == Role::Receiver
            && flow.reordered >= u64::from(MIN_OUT_OF_ORDER)
    };
    let all: u64 = flows.iter().filter(|flow| is_candidate(flow)).map(excess_of).sum();
    let candidates = flows.iter().filter(|flow| is_candidate(flow)).count();
    for flow in flows.iter_mut().filter(|flow| is_candidate(flow)) {
        let part = u128::from(duplicates) * u128::from(excess_of(flow));
        let duplicates = match part.checked_div(u128::from(all)) {
            _ if candidates == 1 => duplicates,
            part => part.unwrap_or(0) as u64,
        };
        flow.spurious = duplicates.min(flow.segments);
    }
}

/// Returns the number of segments that arrived beyond those that the octets received in order fill. It
/// includes segments that wait for a missing one.
fn excess(history: &History) -> u64 {
    let info = &history.socket.info;
    let octets = info.bytes_received.saturating_sub(history.base.bytes_received);
    let filled = octets / u64::from(info.received_mss.max(1));
    u64::from(data_in(history)).saturating_sub(filled)
}

/// Returns the sum of the times of the steps that `counts`.
fn time_of(steps: &[Step], counts: impl Fn(&Step) -> bool) -> Duration {
    steps.iter().filter(|step| counts(step)).map(|step| step.time).sum()
}

fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 0.0 } else { (part.as_secs_f64() / whole.as_secs_f64()).min(1.0) }
}

fn bits_per_second(octets: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { 8.0 * octets as f64 / time.as_secs_f64() }
}

/// Returns the mean of the round-trip times that are known.
fn mean(times: impl Iterator<Item = Duration>) -> Duration {
    let known: Vec<Duration> = times.filter(|time| !time.is_zero()).collect();
    let count = u32::try_from(known.len()).unwrap_or(u32::MAX);
    known.iter().sum::<Duration>().checked_div(count).unwrap_or_default()
}

/// Returns the ratio of the greatest of the round-trip times that are known to the least.
fn ratio(times: impl Iterator<Item = Duration>) -> f64 {
    let known: Vec<Duration> = times.filter(|time| !time.is_zero()).collect();
    match (known.iter().min(), known.iter().max()) {
        (Some(least), Some(greatest)) => greatest.as_secs_f64() / least.as_secs_f64(),
        _ => 1.0,
    }
}

/// Returns the segments per round trip.
fn window(steps: &[Step], segments: impl Fn(&Step) -> u32, rtt: impl Fn(&Step) -> Duration) -> f64 {
    let time: Duration = steps.iter().map(|step| step.time).sum();
    let all: u64 = steps.iter().map(|step| u64::from(segments(step))).sum();
    let rtt = mean(steps.iter().map(rtt)).as_secs_f64();
    if time.is_zero() { 0.0 } else { all as f64 / time.as_secs_f64() * rtt }
}

/// Returns the ratio of the lower median rate of the steps to the second-highest, which one burst does not set; 0 for
/// fewer than [`MIN_STEPS`] steps. Steps of less than half the usual length are left out.
fn steadiness(steps: &[Step], segments: impl Fn(&Step) -> u32) -> f64 {
    let mut times: Vec<Duration> = steps.iter().map(|step| step.time).collect();
    times.sort_unstable();
    let Some(&usual) = times.get(times.len() / 2) else { return 0.0 };
    let usable = steps.iter().filter(|step| 2 * step.time >= usual && !step.time.is_zero());
    let rate = |step: &Step| f64::from(segments(step)) / step.time.as_secs_f64();
    let mut rates: Vec<f64> = usable.map(rate).collect();
    if rates.len() < MIN_STEPS {
        return 0.0;
    }
    rates.sort_unstable_by(f64::total_cmp);
    let high = rates[rates.len() - 2];
    if high > 0.0 { rates[(rates.len() - 1) / 2] / high } else { 0.0 }
}

/// Least number of steps that show whether a rate is steady.
pub(crate) const MIN_STEPS: usize = 6;

impl Flow {
    /// Returns the address of the other end without the part that hosts of a network share: its `/24`, or its
    /// `/64` with IPv6.
    pub fn peer_network(&self) -> (IpAddr, u8) {
        network(self.peer.ip())
    }
}

fn network(address: IpAddr) -> (IpAddr, u8) {
    match address {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            (IpAddr::from([a, b, c, 0]), 24)
        }
        IpAddr::V6(address) => {
            let mut octets = address.octets();
            octets[8..].fill(0);
            (IpAddr::from(octets), 64)
        }
    }
}
