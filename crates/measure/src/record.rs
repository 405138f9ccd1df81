//! What a run leaves behind: numbers per flow and per link, and time series that were asked for.

use serde::{Deserialize, Serialize};

/// One run: one scenario, one variant, one seed; what stores keep and claims are judged by. Field
/// names are stable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// One for each source of traffic, in the order of the scenario.
    pub flows: Vec<FlowRecord>,
    /// One for each direction of each link.
    pub links: Vec<LinkRecord>,
    /// Time series, where the scenario asks for them.
    pub series: Vec<Series>,
}

/// What was counted of one source of traffic over the measured time. A source that opens one
/// connection after the other (web) has one record for all of them.
///
/// [`sum`](Self::sum) adds up those of a group:
///
/// ```
/// use unruffled_measure::FlowRecord;
///
/// let flow = |transfers| FlowRecord { transfers, ..FlowRecord::default() };
/// assert_eq!(FlowRecord::sum(&[&flow(2), &flow(3)]).transfers, 5);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowRecord {
    /// The name of its `[[traffic]]`.
    pub group: String,
    /// Who sends: a variant's full name, or `udp`.
    pub sender: String,
    /// When it started, in seconds.
    pub start_s: f64,
    /// Measured time: from the end of the warm-up, or from its start if that is later, in seconds.
    pub duration_s: f64,
    /// Octets that reached the receiving application in order, once each.
    pub delivered_bytes: u64,
    /// The same in segments; a last part of one counts as one.
    pub delivered_segments: u64,
    /// Payload delivered in order over the measured time, in bits per second.
    pub goodput_bps: f64,
    /// What its sender did.
    #[serde(flatten)]
    pub sending: SenderCounts,
    /// What became of its segments on the path.
    #[serde(flatten)]
    pub path: PathCounts,
    /// How its sender stood, on average.
    #[serde(flatten)]
    pub means: SenderMeans,
    /// Connections opened, those before the measured time included.
    pub connections: u64,
    /// Transfers completed, for sources whose transfers end; requests that overlap are one.
    pub transfers: u64,
    /// Their mean time from when they were asked for to the last octet's delivery, in seconds.
    pub transfer_mean_s: Option<f64>,
    /// Mean time from a segment's first transmission to its first arrival, in seconds, of segments
    /// sent once. Only where the scenario asks for deliveries.
    pub delivery_mean_s: Option<f64>,
    /// The same of segments that were sent again.
    pub resent_delivery_mean_s: Option<f64>,
}

/// What the sender of a flow did; in JSON and CSV these are fields of the [`FlowRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderCounts {
    /// Data segments sent, retransmissions included.
    pub sent_segments: u64,
    /// Retransmissions of any cause.
    pub retransmits: u64,
    /// Times that loss detection entered recovery (not timeouts).
    pub fast_retransmits: u64,
    /// Those of which every retransmission proved spurious.
    pub false_fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Those of which every retransmission proved spurious.
    pub false_timeouts: u64,
    /// Tail loss probes sent.
    pub loss_probes: u64,
    /// Holes that closed by late arrival, as the sender measured them.
    pub reordering_events: u64,
    /// Segments that the receiver reported by DSACK as having come before.
    pub dsacks: u64,
}

/// What became of the data segments of a flow on the path; in JSON and CSV these are fields of the
/// [`FlowRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathCounts {
    /// Data segments that the path dropped.
    pub dropped_segments: u64,
    /// Data segments that arrived.
    pub arrived_segments: u64,
    /// Those that arrived behind a later one.
    pub out_of_order_segments: u64,
}

/// How the sender of a flow stood, on average; in JSON and CSV these are fields of the
/// [`FlowRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SenderMeans {
    /// Mean over time of the congestion window, in segments.
    pub cwnd_mean: Option<f64>,
    /// Mean over time of the duplicate threshold; none for senders that work in time alone.
    pub dupthresh_mean: Option<f64>,
    /// The FA ratio at the end of the run (RR-TCP only).
    pub fa_ratio: Option<f64>,
    /// Mean of SRTT over acknowledgements, in seconds.
    pub srtt_mean_s: Option<f64>,
}

/// What was counted of one direction of a link over the measured time; [`RunRecord::link`] finds it
/// by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    /// Its name, with `-reverse` behind it for the direction of acknowledgements.
    pub name: String,
    /// Packets that came to it.
    pub offered_packets: u64,
    /// Those that its queue dropped.
    pub dropped_packets: u64,
    /// Those that were lost on it.
    pub lost_packets: u64,
    /// Octets that it sent, each packet's when its last bit left.
    pub sent_bytes: u64,
    /// Packets dropped by the queue, as a share of those offered.
    pub drop_rate: f64,
    /// The share of the time in which it sent; none if it is infinitely fast.
    pub utilisation: Option<f64>,
    /// Mean over time of the packets that wait, without the one in service.
    pub queue_mean: f64,
}

/// What a time series shows; scenarios ask for it by [`name`](Self::name).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Of a link: packets there when each interval's first one comes, that one and the one in
    /// service included.
    Queue,
    /// Of a flow: payload delivered in order in each interval, in bits per second.
    Goodput,
    /// Of a flow: smoothed round-trip time, in seconds.
    Srtt,
    /// Of a flow: congestion window, in segments.
    Cwnd,
    /// Of a flow: number of the segment that is sent, retransmissions included.
    Sequence,
    /// Of a flow: time from first transmission to first arrival of a segment, in seconds.
    Delivery,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Queue, Self::Goodput, Self::Srtt, Self::Cwnd, Self::Sequence, Self::Delivery];

    /// The name in scenario files.
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

/// A quantity over time, from the run's start to its end; [`RunRecord::series`] has those that the
/// scenario asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The link's name, or the traffic's name with the number of the source: `bulk-3`.
    pub subject: String,
    /// What is shown.
    pub quantity: Quantity,
    /// `(time in seconds since the start of the run, value)`.
    pub points: Vec<(f64, f64)>,
}

impl FlowRecord {
    /// What these flows did together: counts are sums, goodput is what all delivered over the longest
    /// of their measured times, and means are means over the flows that have one.
    pub fn sum(flows: &[&Self]) -> Self {
        let count = |field: fn(&Self) -> u64| flows.iter().map(|flow| field(flow)).sum();
        let mean = |field: fn(&Self) -> Option<f64>| {
            let values: Vec<f64> = flows.iter().filter_map(|flow| field(flow)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let Some(first) = flows.first() else { return Self::default() };
        // The sum of their goodputs would be more than a link carries if some begin later.
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
            connections: count(|flow| flow.connections),
            transfers: count(|flow| flow.transfers),
            transfer_mean_s: mean(|flow| flow.transfer_mean_s),
            delivery_mean_s: mean(|flow| flow.delivery_mean_s),
            resent_delivery_mean_s: mean(|flow| flow.resent_delivery_mean_s),
        }
    }
}

impl RunRecord {
    /// The sources of one `[[traffic]]`.
    pub fn group<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a FlowRecord> {
        self.flows.iter().filter(move |flow| flow.group == name)
    }

    /// What the sources of one `[[traffic]]` deliver together, in bits per second.
    pub fn goodput_bps(&self, name: &str) -> f64 {
        FlowRecord::sum(&self.group(name).collect::<Vec<_>>()).goodput_bps
    }

    /// The direction of a link with that name.
    pub fn link(&self, name: &str) -> Option<&LinkRecord> {
        self.links.iter().find(|link| link.name == name)
    }
}
