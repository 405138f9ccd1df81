//! Records of a run: numbers per flow and per link, and time series.

use serde::{Deserialize, Serialize};

/// Record of a run, with one scenario, one variant and one seed. Field names are stable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Records of the sources of traffic, in the order of the scenario.
    pub flows: Vec<FlowRecord>,
    /// Records of each direction of each link.
    pub links: Vec<LinkRecord>,
    /// Time series that the scenario requests.
    pub series: Vec<Series>,
}

/// Record of one source of traffic over the measured time.
///
/// A source that opens one connection after the other (web) has one record for all of them.
/// [`sum`](Self::sum) combines the records of a group:
///
/// ```
/// use unruffled_measure::FlowRecord;
///
/// let flow = |transfers| FlowRecord { transfers, ..FlowRecord::default() };
/// assert_eq!(FlowRecord::sum(&[&flow(2), &flow(3)]).transfers, 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// Name of its `[[traffic]]`.
    pub group: String,
    /// Full name of the sender's variant, or `udp`.
    pub sender: String,
    /// Start, in seconds.
    pub start_s: f64,
    /// Measured time in seconds: from the end of the warm-up or the start, whichever is later.
    pub duration_s: f64,
    /// Octets delivered in order to the receiving application, each counted once.
    pub delivered_bytes: u64,
    /// Segments delivered in order. An incomplete last segment counts as one.
    pub delivered_segments: u64,
    /// Payload delivered in order over the measured time, in bits per second.
    pub goodput_bps: f64,
    /// Counts of the sender.
    #[serde(flatten)]
    pub sending: SenderCounts,
    /// Counts of the path.
    #[serde(flatten)]
    pub path: PathCounts,
    /// Means of the sender's state.
    #[serde(flatten)]
    pub means: SenderMeans,
    /// Counts of ECN, if its sender requests ECN.
    #[serde(flatten)]
    pub ecn: Option<EcnCounts>,
    /// Counts of the far ends of links, if one may drop packets.
    #[serde(flatten)]
    pub exits: Option<ExitCounts>,
    /// Counts of a foreign stack, if one sends.
    #[serde(flatten)]
    pub stack: Option<StackCounts>,
    /// Connections opened, those before the measured time included.
    pub connections: u64,
    /// Completed transfers, for sources whose transfers end. Overlapping requests count as one.
    pub transfers: u64,
    /// Mean time from the request of a transfer to the delivery of its last octet, in seconds.
    pub transfer_mean_s: Option<f64>,
    /// Mean time from the first transmission of a segment to its first arrival, in seconds, over segments
    /// that were sent once. Only if the scenario requests deliveries.
    pub delivery_mean_s: Option<f64>,
    /// Mean time from the first transmission of a segment to its first arrival, in seconds, over segments
    /// that were retransmitted.
    pub resent_delivery_mean_s: Option<f64>,
}

/// Counts of the sender of a flow; in JSON and CSV these are fields of the [`FlowRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderCounts {
    /// Data segments sent, retransmissions included.
    pub sent_segments: u64,
    /// Retransmissions of any cause.
    pub retransmits: u64,
    /// Number of times that loss detection began a recovery, timeouts excluded.
    pub fast_retransmits: u64,
    /// Recoveries that loss detection began and whose retransmissions all proved spurious.
    pub false_fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Retransmission timeouts whose retransmissions all proved spurious.
    pub false_timeouts: u64,
    /// Tail loss probes sent.
    pub loss_probes: u64,
    /// Reordering events that the sender measured: holes that a late arrival closed.
    pub reordering_events: u64,
    /// Duplicate segments that the receiver reported by DSACK.
    pub dsacks: u64,
}

/// Counts of the data segments of a flow on the path; in JSON and CSV these are fields of the
/// [`FlowRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathCounts {
    /// Data segments that the path dropped.
    pub dropped_segments: u64,
    /// Data segments that arrived.
    pub arrived_segments: u64,
    /// Data segments that arrived after a later one.
    pub out_of_order_segments: u64,
}

/// Counts of ECN; in JSON and CSV these are fields of the [`FlowRecord`] of a sender that requests ECN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EcnCounts {
    /// Data segments that the path marked with CE, counted once for each queue that marked them.
    pub marked_segments: u64,
    /// Reductions of the window because of marks; `None` for a kernel, which does not count them.
    pub ecn_reductions: Option<u64>,
}

impl EcnCounts {
    /// Returns the sum of the counts of the flows that have any.
    fn sum(flows: &[&FlowRecord]) -> Option<Self> {
        let counts = flows.iter().filter_map(|flow| flow.ecn);
        counts.reduce(|sum, counts| Self {
            marked_segments: sum.marked_segments + counts.marked_segments,
            ecn_reductions: match (sum.ecn_reductions, counts.ecn_reductions) {
                (Some(sum), Some(count)) => Some(sum + count),
                _ => None,
            },
        })
    }
}

/// Counts of the far ends of links; in JSON and CSV these are fields of the [`FlowRecord`] where a link has
/// an anti-replay window, a limit on ranges or fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExitCounts {
    /// Data segments that an anti-replay window dropped. They count as dropped by the path, too.
    pub replay_drops: u64,
    /// Data segments that a limit on ranges dropped. They count as dropped by the path, too.
    pub range_drops: u64,
    /// Data segments whose fragments were too far apart. They count as dropped by the path, too.
    #[serde(default)]
    pub fragment_drops: u64,
}

impl ExitCounts {
    /// Returns the sum of the counts of the flows that have any.
    fn sum(flows: &[&FlowRecord]) -> Option<Self> {
        flows.iter().filter_map(|flow| flow.exits).reduce(|sum, counts| Self {
            replay_drops: sum.replay_drops + counts.replay_drops,
            range_drops: sum.range_drops + counts.range_drops,
            fragment_drops: sum.fragment_drops + counts.fragment_drops,
        })
    }
}

/// Counts of a foreign stack, at both ends; in JSON and CSV these are fields of the [`FlowRecord`] of such a
/// stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackCounts {
    /// Packets that the stack declared lost, or segments that it sent again, although they arrived.
    pub spurious_retransmits: u64,
    /// Packets that arrived and that the receiving stack dropped as duplicates or as too old, although it had
    /// not had them; `None` if it does not count them.
    pub discarded: Option<u64>,
}

impl StackCounts {
    /// Returns the sum of the counts of the flows that have any.
    fn sum(flows: &[&FlowRecord]) -> Option<Self> {
        flows.iter().filter_map(|flow| flow.stack).reduce(|sum, counts| Self {
            spurious_retransmits: sum.spurious_retransmits + counts.spurious_retransmits,
            discarded: match (sum.discarded, counts.discarded) {
                (Some(sum), Some(count)) => Some(sum + count),
                _ => None,
            },
        })
    }
}

/// Means of the state of a flow's sender; in JSON and CSV these are fields of the [`FlowRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderMeans {
    /// Mean over time of the congestion window, in segments.
    pub cwnd_mean: Option<f64>,
    /// Mean over time of the duplicate threshold; `None` for senders that detect losses by time alone.
    pub dupthresh_mean: Option<f64>,
    /// FA ratio at the end of the run (RR-TCP only).
    pub fa_ratio: Option<f64>,
    /// Mean over acknowledgements of the smoothed round-trip time, in seconds.
    pub srtt_mean_s: Option<f64>,
}

/// Record of one direction of a link over the measured time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// Name of the link, followed by `-reverse` for the direction of acknowledgements.
    pub name: String,
    /// Packets offered to the link.
    pub offered_packets: u64,
    /// Packets that the queue dropped.
    pub dropped_packets: u64,
    /// Packets lost on the link.
    pub lost_packets: u64,
    /// Packets that the queue marked with CE. JSON lacks it if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marked_packets: u64,
    /// Packets that the anti-replay window at the far end dropped. JSON lacks it if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replay_drops: u64,
    /// Packets that the limit on ranges at the far end dropped. JSON lacks it if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub range_drops: u64,
    /// Packets whose fragments were too far apart. JSON lacks it if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fragment_drops: u64,
    /// Octets sent. Those of a packet count when its last bit has left.
    pub sent_bytes: u64,
    /// Share of the packets offered that the queue dropped, from 0 to 1.
    pub drop_rate: f64,
    /// Share of the time in which the link sent, from 0 to 1; `None` if its rate is unlimited.
    pub utilisation: Option<f64>,
    /// Mean over time of the number of packets in the queue, without the one in service.
    pub queue_mean: f64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Quantity that a time series shows. Scenarios request it by [`name`](Self::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Quantity {
    /// Packets at a link at the first arrival of each interval, including that one and the one in service.
    Queue,
    /// Payload of a flow delivered in order in each interval, in bits per second.
    Goodput,
    /// Smoothed round-trip time of a flow, in seconds.
    Srtt,
    /// Congestion window of a flow, in segments.
    Cwnd,
    /// Number of the segment that a flow sends, retransmissions included.
    Sequence,
    /// Time from the first transmission of a flow's segment to its first arrival, in seconds.
    Delivery,
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Self; 6] =
        [Self::Queue, Self::Goodput, Self::Srtt, Self::Cwnd, Self::Sequence, Self::Delivery];

    /// Returns the name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Goodput => "goodput",
            Self::Srtt => "srtt",
            Self::Cwnd => "cwnd",
            Self::Sequence => "sequence",
            Self::Delivery => "delivery",
        }
    }
}

/// Time series of a quantity, from the start of the run to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Name of the link, or name of the traffic and number of the source: `bulk-3`.
    pub subject: String,
    /// Quantity shown.
    pub quantity: Quantity,
    /// Points: time in seconds since the start of the run, and value.
    pub points: Vec<(f64, f64)>,
}

impl FlowRecord {
    /// Combines the records of several flows.
    ///
    /// Counts are sums. The goodput is the payload of all flows over the longest of their measured times.
    /// Means are means over the flows that have one.
    pub fn sum(flows: &[&Self]) -> Self {
        let count = |field: fn(&Self) -> u64| flows.iter().map(|flow| field(flow)).sum();
        let mean = |field: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = flows.iter().filter_map(|flow| field(flow)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let Some(first) = flows.first() else { return Self::default() };
        // If some flows begin later, the sum of the goodputs could exceed the rate of the link.
        let seconds = flows.iter().map(|flow| flow.duration_s).fold(0.0, f64::max);
        let delivered_bytes: u64 = count(|flow| flow.delivered_bytes);
        let bits = delivered_bytes as f64 * 8.0;
        Self {
            group: first.group.clone(),
            sender: first.sender.clone(),
            start_s: flows.iter().map(|flow| flow.start_s).fold(f64::INFINITY, f64::min),
            duration_s: seconds,
            delivered_bytes,
            delivered_segments: count(|flow| flow.delivered_segments),
            goodput_bps: if seconds > 0.0 { bits / seconds } else { 0.0 },
            sending: SenderCounts {
                sent_segments: count(|flow| flow.sending.sent_segments),
                retransmits: count(|flow| flow.sending.retransmits),
                fast_retransmits: count(|flow| flow.sending.fast_retransmits),
                false_fast_retransmits: count(|flow| flow.sending.false_fast_retransmits),
                timeouts: count(|flow| flow.sending.timeouts),
                false_timeouts: count(|flow| flow.sending.false_timeouts),
                loss_probes: count(|flow| flow.sending.loss_probes),
                reordering_events: count(|flow| flow.sending.reordering_events),
                dsacks: count(|flow| flow.sending.dsacks),
            },
            path: PathCounts {
                dropped_segments: count(|flow| flow.path.dropped_segments),
                arrived_segments: count(|flow| flow.path.arrived_segments),
                out_of_order_segments: count(|flow| flow.path.out_of_order_segments),
            },
            means: SenderMeans {
                cwnd_mean: mean(|flow| flow.means.cwnd_mean),
                dupthresh_mean: mean(|flow| flow.means.dupthresh_mean),
                fa_ratio: mean(|flow| flow.means.fa_ratio),
                srtt_mean_s: mean(|flow| flow.means.srtt_mean_s),
            },
            ecn: EcnCounts::sum(flows),
            exits: ExitCounts::sum(flows),
            stack: StackCounts::sum(flows),
            connections: count(|flow| flow.connections),
            transfers: count(|flow| flow.transfers),
            transfer_mean_s: mean(|flow| flow.transfer_mean_s),
            delivery_mean_s: mean(|flow| flow.delivery_mean_s),
            resent_delivery_mean_s: mean(|flow| flow.resent_delivery_mean_s),
        }
    }
}

impl RunRecord {
    /// Returns the records of the sources of one `[[traffic]]`.
    pub fn group<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a FlowRecord> {
        self.flows.iter().filter(move |flow| flow.group == name)
    }

    /// Returns the goodput of all sources of one `[[traffic]]`, in bits per second.
    pub fn goodput_bps(&self, name: &str) -> f64 {
        FlowRecord::sum(&self.group(name).collect::<Vec<_>>()).goodput_bps
    }

    /// Returns the record of the direction of a link with that name.
    pub fn link(&self, name: &str) -> Option<&LinkRecord> {
        self.links.iter().find(|link| link.name == name)
    }
}
