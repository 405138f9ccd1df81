//! Counts, load and paths, as a table or JSON shows them.

use rustix::net::netdevice::index_to_name;
use rustix::net::{AddressFamily, SocketType, socket};
use serde::{Deserialize, Serialize};
use unruffled_resequence::{Counters, Load, PathState};

/// Maximum number of paths in a report.
const MAX_PATHS: usize = 100;

/// Counts since the start, the load at one moment, and the paths with the longest holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Time of the counts, in seconds since the start of the machine.
    #[serde(default)]
    pub at_s: f64,
    /// Packets that were queued.
    pub packets: u64,
    /// Octets of the queued packets, with their IP headers.
    pub octets: u64,
    /// Packets with a place in the order of a flow: data.
    pub data: u64,
    /// Packets that were held.
    pub held: u64,
    /// Packets that others had overtaken.
    pub late: u64,
    /// Late packets that arrived after the wait for them had ended.
    pub too_late: u64,
    /// Gaps in the numbers for which the wait ended before they were filled.
    pub given_up: u64,
    /// Packets that went on early because the budget was used up.
    pub over_budget: u64,
    /// Packets that passed without a decision, because the worker did not read them in time.
    pub unread: u64,
    /// Flows that were evicted at the limit of flows.
    pub flows_evicted: u64,
    /// Sum of the times for which packets were held, in seconds.
    pub held_time_s: f64,
    /// Times at which the guardian released all that was held, because the worker had ended or stood still.
    pub takeovers: u64,
    /// Current number of flows.
    pub flows: u64,
    /// Current number of packets held.
    pub held_packets: u64,
    /// Current memory of the packets held, in octets.
    pub held_octets: u64,
    /// Current number of paths.
    pub path_count: u64,
    /// Up to 100 paths, those with the longest hold first.
    pub paths: Vec<PathReport>,
}

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathReport {
    /// Index of the interface.
    pub interface: u32,
    /// Name of the interface, if it exists.
    pub interface_name: Option<String>,
    /// Network of the sources, such as `192.0.2.0/24`.
    pub network: String,
    /// Current bound on the time for which a packet is held, in seconds.
    pub hold_s: f64,
    /// Share of the recent packets that were late, 0 to 1.
    pub late: f64,
    /// Longest recent lateness, in seconds.
    pub longest_s: f64,
    /// Round-trip time of the handshakes in seconds, if one was observed.
    pub round_trip_s: Option<f64>,
}

impl Report {
    pub(crate) fn new(counters: Counters, load: Load, paths: &[PathState]) -> Self {
        Self {
            at_s: 0.0,
            packets: counters.packets,
            octets: 0,
            data: counters.data,
            held: counters.held,
            late: counters.late,
            too_late: counters.too_late,
            given_up: counters.given_up,
            over_budget: counters.over_budget,
            unread: 0,
            flows_evicted: counters.flows_evicted,
            held_time_s: counters.held_time.as_secs_f64(),
            takeovers: 0,
            flows: load.flows as u64,
            held_packets: load.packets as u64,
            held_octets: load.octets,
            path_count: load.paths as u64,
            paths: paths.iter().take(MAX_PATHS).map(PathReport::new).collect(),
        }
    }

    /// Adds the report of another queue at the same time. Each queue has its own state of a path; the one
    /// with the longer hold remains.
    pub(crate) fn add(&mut self, other: &Self) {
        self.add_counts(other);
        self.at_s = self.at_s.max(other.at_s);
        self.flows += other.flows;
        self.held_packets += other.held_packets;
        self.held_octets += other.held_octets;
        self.path_count += other.path_count;
        for path in &other.paths {
            let is_same = |own: &&mut PathReport| {
                own.network == path.network && own.interface == path.interface
            };
            match self.paths.iter_mut().find(is_same) {
                Some(own) if own.hold_s < path.hold_s => *own = path.clone(),
                Some(_) => {}
                None => self.paths.push(path.clone()),
            }
        }
        self.paths.sort_by(|a, b| b.hold_s.total_cmp(&a.hold_s));
        self.paths.truncate(MAX_PATHS);
    }

    /// Looks up the names of the interfaces, in the network namespace of the calling thread.
    pub(crate) fn name_interfaces(&mut self) {
        let socket = socket(AddressFamily::UNIX, SocketType::DGRAM, None);
        let Ok(socket) = socket else { return };
        for path in &mut self.paths {
            path.interface_name = index_to_name(&socket, path.interface).ok();
        }
    }

    /// Adds the counts of an earlier resequencer, whose load and paths are gone.
    pub fn add_counts(&mut self, earlier: &Self) {
        self.change_counts(earlier, |count, other| count + other);
        self.held_time_s += earlier.held_time_s;
    }

    /// Subtracts the counts at an earlier time.
    pub(crate) fn subtract_counts(&mut self, earlier: &Self) {
        self.change_counts(earlier, u64::saturating_sub);
        self.held_time_s -= earlier.held_time_s;
    }

    fn change_counts(&mut self, other: &Self, change: impl Fn(u64, u64) -> u64) {
        let counts = [
            (&mut self.packets, other.packets),
            (&mut self.octets, other.octets),
            (&mut self.data, other.data),
            (&mut self.held, other.held),
            (&mut self.late, other.late),
            (&mut self.too_late, other.too_late),
            (&mut self.given_up, other.given_up),
            (&mut self.over_budget, other.over_budget),
            (&mut self.unread, other.unread),
            (&mut self.flows_evicted, other.flows_evicted),
            (&mut self.takeovers, other.takeovers),
        ];
        for (count, other) in counts {
            *count = change(*count, other);
        }
    }
}

impl PathReport {
    fn new(state: &PathState) -> Self {
        Self {
            interface: state.path.interface,
            interface_name: None,
            network: state.path.to_string(),
            hold_s: state.hold.as_secs_f64(),
            late: state.late,
            longest_s: state.longest.as_secs_f64(),
            round_trip_s: state.round_trip.map(|time| time.as_secs_f64()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(network: &str, hold_s: f64) -> PathReport {
        PathReport {
            interface: 2,
            interface_name: None,
            network: network.into(),
            hold_s,
            late: 0.5,
            longest_s: hold_s,
            round_trip_s: None,
        }
    }

    #[test]
    fn queues_add_up_and_a_path_has_the_longer_hold_of_both() {
        let mut sum = Report {
            late: 3,
            flows: 1,
            paths: vec![path("a", 0.1), path("b", 0.05)],
            ..Report::default()
        };
        let other = Report {
            late: 4,
            flows: 2,
            at_s: 9.0,
            paths: vec![path("b", 0.2), path("c", 0.01)],
            ..Report::default()
        };
        sum.add(&other);
        assert_eq!((sum.late, sum.flows, sum.at_s), (7, 3, 9.0));
        assert_eq!(sum.paths, [path("b", 0.2), path("a", 0.1), path("c", 0.01)]);
    }

    #[test]
    fn an_earlier_worker_leaves_its_counts_and_not_its_load() {
        let earlier = Report { late: 4, flows: 2, held_time_s: 1.5, ..Report::default() };
        let mut sum = Report { late: 1, flows: 1, held_time_s: 0.5, ..Report::default() };
        sum.add_counts(&earlier);
        assert_eq!((sum.late, sum.flows, sum.held_time_s), (5, 1, 2.0));
        sum.subtract_counts(&earlier);
        assert_eq!((sum.late, sum.flows, sum.held_time_s), (1, 1, 0.5));
    }
}
