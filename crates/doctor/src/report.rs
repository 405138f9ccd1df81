//! The findings of a watch: groups of connections, the overall verdict, what to do, and how sure it is.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use crate::surroundings::{Surroundings, Tunnel};
use crate::{Counters, Flow, Role, Tally, Verdict, Watch};

/// The overall verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Overall {
    /// Reordering slows no connection that could be judged.
    Healthy,
    /// Reordering slows connections.
    Suffers,
    /// No connection could be judged.
    Unknown,
}

/// Strength of the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sureness {
    /// A hint: watch longer.
    Low,
    /// Likely.
    Medium,
    /// Many events show the same.
    High,
}

/// Connections of a network namespace with the same role and with peers in the same network.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Inode of the network namespace.
    pub namespace: u64,
    /// Part of this end.
    pub role: Role,
    /// Network of the peers: its address.
    pub network: IpAddr,
    /// Network of the peers: length of its prefix.
    pub prefix: u8,
    /// Number of connections that carried data.
    pub connections: usize,
    /// Number of connections that reordering slows.
    pub slowed_by_reordering: usize,
    /// Number of connections that losses slow, beside overtaken packets.
    pub slowed_by_late_losses: usize,
    /// Number of connections that losses slow.
    pub slowed_by_losses: usize,
    /// Number of connections whose application or buffers are the limit.
    pub limited_otherwise: usize,
    /// Number of connections that were seen for too short a time.
    pub too_short: usize,
    /// Sum of the rates.
    pub rate_bps: f64,
    /// Segments.
    pub segments: u64,
    /// Retransmitted segments.
    pub retransmitted: u64,
    /// Spurious retransmissions.
    pub spurious: u64,
    /// Overtaken packets; of receivers, packets out of order.
    pub reordered: u64,
    /// Programs of the connections that reordering slows, as far as they are known.
    pub programs: Vec<String>,
}

/// A remedy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Remedy {
    /// Load the congestion control that distinguishes late packets from lost ones.
    Attach {
        /// Inode of the network namespace.
        namespace: u64,
        /// Path of the only cgroup whose connections are slowed. `None`: the whole namespace.
        cgroup: Option<String>,
        /// Whether the connections use BBR, so that the window should grow by BBR.
        bbr: bool,
    },
    /// Put arriving packets in order.
    Resequence {
        /// Inode of the network namespace.
        namespace: u64,
    },
    /// Enlarge the replay window of a tunnel, or put its packets in order before it ends.
    RaiseReplayWindow {
        /// Inode of the network namespace.
        namespace: u64,
        /// The tunnel through which the packets leave; `None` if no tunnel is seen here.
        tunnel: Option<Tunnel>,
    },
    /// The connections have the congestion control already.
    InspectStatus {
        /// Inode of the network namespace.
        namespace: u64,
    },
}

/// What the watch cannot show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum Doubt {
    /// No connection carried enough data.
    NothingSeen,
    /// Connections that carried too little data.
    Quiet {
        /// Their number.
        connections: usize,
    },
    /// Connections that were seen for too short a time.
    Short {
        /// Their number.
        connections: usize,
    },
    /// Retransmissions of connections that began and ended between two looks.
    Unseen {
        /// Retransmitted segments.
        retransmitted: u64,
        /// Those that were spurious.
        spurious: u64,
    },
    /// Packets were overtaken and retransmitted, and the receiver reported no duplicates.
    NoDuplicatesReported {
        /// Number of connections.
        connections: usize,
    },
    /// Only this network namespace was visible, since the process is not root.
    OwnNamespaceOnly,
    /// Network namespaces that could not be entered.
    ClosedNamespaces {
        /// Their number.
        namespaces: usize,
    },
    /// The machine was too busy to look at its connections in time.
    Stalled,
}

/// The findings of a watch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The overall verdict.
    pub verdict: Overall,
    /// Strength of the evidence for it.
    pub sureness: Sureness,
    /// Time of the watch.
    #[serde(rename = "time_s", serialize_with = "crate::flow::seconds")]
    pub time: Duration,
    /// Number of connections that carried data. One with both ends on this machine counts once.
    pub connections: usize,
    /// Number of these that reordering slows.
    pub suffering: usize,
    /// Number of connections by what was done with them.
    pub tally: Tally,
    /// What to do; nothing if it is empty.
    pub plan: Vec<Remedy>,
    /// What the watch cannot show.
    pub doubts: Vec<Doubt>,
    /// The connections by destination and direction, those that suffer first.
    pub groups: Vec<Group>,
    /// The directions of all connections that carried data.
    pub flows: Vec<Flow>,
}

/// Number of spurious retransmissions that make a verdict sure.
const MANY_EVENTS: u64 = 20;

/// Retransmissions of unseen connections that are worth a doubt.
const MIN_UNSEEN: u64 = 10;

impl Report {
    /// Makes the report of a watch from its flows.
    pub fn new(watch: &Watch, flows: Vec<Flow>, tally: Tally, around: &Surroundings) -> Self {
        let mirrored = mirrored(&flows);
        // A connection with both ends on this machine counts as its sender.
        let counted = |flow: &&Flow| !mirrored.contains(&identity_of(flow));
        let is_slowed = |flow: &&Flow| slowed(flow, around);
        let suffering: Vec<&Flow> = flows.iter().filter(counted).filter(is_slowed).collect();
        let is_sender = |identity: &Identity| {
            let sender = (identity.0, identity.1, identity.2, Role::Sender);
            flows.iter().any(|flow| identity_of(flow) == sender)
        };
        let ends = tally.connections - tally.local - tally.quiet;
        let other_ends = mirrored.iter().filter(|identity| !is_sender(identity)).count();
        let connections = ends.saturating_sub(other_ends);
        let judged = flows.iter().filter(|flow| flow.verdict != Verdict::TooShort).count();
        let verdict = match (suffering.is_empty(), judged) {
            (false, _) => Overall::Suffers,
            (true, 0) => Overall::Unknown,
            (true, _) => Overall::Healthy,
        };
        let doubts = doubts(watch, &flows, tally, around);
        let sureness = sureness(verdict, &suffering, &flows, &doubts);
        let plan = plan(&suffering, &flows, watch, around);
        Self {
            verdict,
            sureness,
            time: watch.time(),
            connections,
            suffering: suffering.len(),
            tally,
            plan,
            doubts,
            groups: groups(&flows, around),
            flows,
        }
    }
}

/// Returns whether reordering slows the flow, here or by the replay window of a tunnel.
fn slowed(flow: &Flow, around: &Surroundings) -> bool {
    match flow.verdict {
        Verdict::SlowedByReordering => true,
        Verdict::SlowedByLateLosses => around.tunnel(flow).is_some(),
        _ => false,
    }
}

type Identity = (u64, std::net::SocketAddr, std::net::SocketAddr, Role);

/// Returns the receivers whose sender is a flow of another network namespace of this machine.
fn mirrored(flows: &[Flow]) -> BTreeSet<Identity> {
    let senders = flows.iter().filter(|flow| flow.role == Role::Sender);
    let senders: BTreeMap<_, _> =
        senders.map(|flow| ((flow.peer, flow.local), flow.namespace)).collect();
    let is_mirrored = |flow: &&Flow| {
        let sender = senders.get(&(flow.local, flow.peer));
        flow.role == Role::Receiver && sender.is_some_and(|sender| *sender != flow.namespace)
    };
    flows.iter().filter(is_mirrored).map(identity_of).collect()
}

fn identity_of(flow: &Flow) -> Identity {
    (flow.namespace, flow.local, flow.peer, flow.role)
}

fn groups(flows: &[Flow], around: &Surroundings) -> Vec<Group> {
    let mut groups: BTreeMap<_, Group> = BTreeMap::new();
    for flow in flows {
        let (network, prefix) = flow.peer_network();
        let key = (flow.namespace, flow.role, network);
        let group = groups.entry(key).or_insert_with(|| Group {
            namespace: flow.namespace,
            role: flow.role,
            network,
            prefix,
            connections: 0,
            slowed_by_reordering: 0,
            slowed_by_late_losses: 0,
            slowed_by_losses: 0,
            limited_otherwise: 0,
            too_short: 0,
            rate_bps: 0.0,
            segments: 0,
            retransmitted: 0,
            spurious: 0,
            reordered: 0,
            programs: Vec::new(),
        });
        group.connections += 1;
        match flow.verdict {
            Verdict::SlowedByReordering => group.slowed_by_reordering += 1,
            Verdict::SlowedByLateLosses => group.slowed_by_late_losses += 1,
            Verdict::SlowedByLosses => group.slowed_by_losses += 1,
            Verdict::ApplicationLimited | Verdict::BufferLimited => group.limited_otherwise += 1,
            Verdict::TooShort => group.too_short += 1,
            Verdict::Healthy | Verdict::Copes => {}
        }
        group.rate_bps += flow.rate_bps;
        group.segments += flow.segments;
        group.retransmitted += flow.retransmitted;
        group.spurious += flow.spurious;
        group.reordered += flow.reordered;
        let program = around.program(flow).filter(|_| flow.verdict.suffers());
        if let Some(program) = program
            && !group.programs.iter().any(|known| known == program)
        {
            group.programs.push(program.to_owned());
        }
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| {
        std::cmp::Reverse((group.slowed_by_reordering, group.slowed_by_late_losses, group.segments))
    });
    groups
}

fn plan(suffering: &[&Flow], flows: &[Flow], watch: &Watch, around: &Surroundings) -> Vec<Remedy> {
    let mut plan = BTreeSet::new();
    let senders = || suffering.iter().filter(|flow| flow.role == Role::Sender);
    let namespaces: BTreeSet<u64> = suffering.iter().map(|flow| flow.namespace).collect();
    for &namespace in &namespaces {
        let here = || senders().filter(|flow| flow.namespace == namespace);
        let (under, others): (Vec<&&Flow>, Vec<&&Flow>) =
            here().partition(|flow| flow.congestion_control.starts_with("unruffled"));
        let reordered: Vec<&&Flow> =
            others.into_iter().filter(|flow| flow.verdict.suffers()).collect();
        if !reordered.is_empty() {
            let cgroups: BTreeSet<_> = reordered.iter().map(|flow| around.cgroup(flow)).collect();
            let only = cgroups.first().filter(|_| cgroups.len() == 1).copied().flatten();
            plan.insert(Remedy::Attach {
                namespace,
                cgroup: only.map(str::to_owned),
                bbr: reordered.iter().all(|flow| flow.congestion_control.starts_with("bbr")),
            });
        } else if !under.is_empty() {
            plan.insert(Remedy::InspectStatus { namespace });
        }
        if suffering.iter().any(|flow| flow.role == Role::Receiver && flow.namespace == namespace) {
            plan.insert(Remedy::Resequence { namespace });
        }
        for flow in here() {
            if let Some(tunnel) = around.tunnel(flow) {
                let tunnel = Some(tunnel.clone());
                plan.insert(Remedy::RaiseReplayWindow { namespace, tunnel });
            }
        }
    }
    for flow in flows.iter().filter(|flow| flow.verdict == Verdict::SlowedByLateLosses) {
        let tunnel = around.tunnel(flow).cloned();
        plan.insert(Remedy::RaiseReplayWindow { namespace: flow.namespace, tunnel });
    }
    for (namespace, counts) in watch.counts().filter(|(_, counts)| counts.replay_drops > 0) {
        let _ = counts;
        let tunnel = Some(Tunnel { device: "xfrm".to_owned(), kind: "esp".to_owned() });
        plan.insert(Remedy::RaiseReplayWindow { namespace, tunnel });
    }
    plan.into_iter().collect()
}

fn doubts(watch: &Watch, flows: &[Flow], tally: Tally, around: &Surroundings) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    if flows.is_empty() {
        doubts.push(Doubt::NothingSeen);
    }
    if tally.quiet > 0 {
        doubts.push(Doubt::Quiet { connections: tally.quiet });
    }
    let short = flows.iter().filter(|flow| flow.verdict == Verdict::TooShort).count();
    if short > 0 {
        doubts.push(Doubt::Short { connections: short });
    }
    let seen = |figure: fn(&Flow) -> u64| -> u64 {
        flows.iter().filter(|flow| flow.role == Role::Sender).map(figure).sum()
    };
    let unseen = |count: fn(&Counters) -> u64, figure: fn(&Flow) -> u64| {
        let all = watch.counts().map(|(_, counts)| count(&counts));
        all.fold(0, u64::saturating_add).saturating_sub(seen(figure))
    };
    let retransmitted = unseen(|counts| counts.retransmitted, |flow| flow.retransmitted);
    let spurious = unseen(|counts| counts.duplicates_reported, |flow| flow.spurious);
    if retransmitted >= MIN_UNSEEN {
        doubts.push(Doubt::Unseen { retransmitted, spurious });
    }
    let silent = |flow: &&Flow| flow.verdict == Verdict::SlowedByLateLosses && flow.spurious == 0;
    let connections = flows.iter().filter(silent).count();
    if connections > 0 {
        doubts.push(Doubt::NoDuplicatesReported { connections });
    }
    if !around.sees_all {
        doubts.push(Doubt::OwnNamespaceOnly);
    }
    if watch.closed() > 0 {
        doubts.push(Doubt::ClosedNamespaces { namespaces: watch.closed() });
    }
    if watch.is_stalled() {
        doubts.push(Doubt::Stalled);
    }
    doubts
}

fn sureness(verdict: Overall, suffering: &[&Flow], flows: &[Flow], doubts: &[Doubt]) -> Sureness {
    let best = match verdict {
        Overall::Unknown => Sureness::Low,
        Overall::Suffers => {
            let spurious: u64 = suffering.iter().map(|flow| flow.spurious).sum();
            let is_shown = suffering.iter().any(|flow| flow.verdict.suffers());
            match spurious {
                _ if !is_shown => Sureness::Low,
                MANY_EVENTS.. => Sureness::High,
                _ => Sureness::Medium,
            }
        }
        // An end that sends sees what its packets meet; an end that receives, or whose application is the
        // limit, does not.
        Overall::Healthy => {
            let shows = |flow: &Flow| {
                flow.role == Role::Sender
                    && !matches!(
                        flow.verdict,
                        Verdict::ApplicationLimited | Verdict::BufferLimited | Verdict::TooShort
                    )
            };
            if flows.iter().any(shows) { Sureness::High } else { Sureness::Medium }
        }
    };
    let unsure = doubts.iter().any(|doubt| {
        matches!(doubt, Doubt::Stalled | Doubt::Unseen { .. } | Doubt::NoDuplicatesReported { .. })
    });
    if unsure { best.min(Sureness::Medium) } else { best }
}
