//! State and rates of the connections under the congestion control.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::record::{self, Record};
use crate::{Error, Growth, Totals, dump, requirements};

/// A connection under the congestion control, in any network namespace. Counts start when the connection
/// came under the congestion control.
#[derive(Clone, Debug, Serialize)]
pub struct Connection {
    /// Address of the receiver.
    pub peer: SocketAddr,
    /// Local address.
    pub local: SocketAddr,
    /// Inode of the network namespace, as in the name `net:[4026531840]` of `/proc/PID/ns/net`.
    pub namespace: u64,
    /// Bits acknowledged per second of the [interval](Status::interval).
    pub rate_bps: f64,
    /// Growth of the window.
    pub growth: Growth,
    /// Congestion window, in segments.
    pub cwnd: u32,
    /// Smoothed round-trip time (RFC 6298). `None` before the first sample.
    #[serde(rename = "rtt_s", serialize_with = "seconds_if_any")]
    pub rtt: Option<Duration>,
    /// Maximum lateness of packets in the last 8 to 16 s in which ACKs arrived.
    #[serde(rename = "late_s", serialize_with = "seconds")]
    pub late: Duration,
    /// Lateness beyond the usual at which a packet is sent again.
    #[serde(rename = "hold_s", serialize_with = "seconds")]
    pub hold: Duration,
    /// Number of segments that the kernel deems lost and that are held back.
    pub held: u32,
    /// Number of loss events.
    pub events: u32,
    /// Number of loss events that proved spurious.
    pub spurious: u32,
    /// Number of times that the window was restored.
    pub restored: u32,
    /// Number of times that the retransmission timer expired.
    pub timeouts: u32,
    /// Number of retransmissions.
    pub retransmissions: u32,
    /// Octets acknowledged.
    pub acked: u64,
    /// Inode of the socket, by which the program that has it open is found. `None` if none has: the program has
    /// closed the connection, or not accepted it yet.
    pub inode: Option<u64>,
    /// Whether it is a subflow of MPTCP.
    #[serde(rename = "mptcp")]
    pub is_mptcp: bool,
    /// Time under the congestion control. `None` during the handshake.
    #[serde(rename = "age_s", serialize_with = "seconds_if_any")]
    pub age: Option<Duration>,
}

fn seconds<S: serde::Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

fn seconds_if_any<S: serde::Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(to)
}

/// State of the connections in all network namespaces.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The connections, those with the highest rate first.
    pub connections: Vec<Connection>,
    /// Totals since the congestion controls were registered, one for each registration.
    pub totals: Vec<Totals>,
    /// Number of connections under the congestion control of another version, about which nothing else is
    /// known.
    pub others: usize,
    /// Number of connections that ended within the interval, or left the congestion control.
    pub ended: usize,
    /// Measured time that the rates cover.
    pub interval: Duration,
}

/// A sample of all connections. Two samples give a [`Status`].
#[derive(Clone, Debug)]
pub struct Sample {
    records: Vec<Record>,
    totals: Vec<Totals>,
    others: usize,
    /// Time before the first record, by `CLOCK_MONOTONIC`.
    at: Duration,
}

impl Sample {
    /// Samples all connections in all network namespaces.
    ///
    /// # Errors
    /// If the process lacks the required privileges, or the build has no BPF programs.
    pub fn take() -> Result<Self, Error> {
        requirements::check()?;
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        let at = Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default());
        let dump = dump::dump()?;
        let mut sample = Self { records: Vec::new(), totals: Vec::new(), others: dump.others, at };
        for part in dump.parts {
            let records = record::parse(&part.records);
            if let Some(ended) = part.totals {
                let totals = Totals::new(&ended, &records);
                dump::store_reported(totals.registration, &totals.octets());
                sample.totals.push(totals);
            }
            sample.records.extend(records);
        }
        Ok(sample)
    }

    /// Drops the connections of other network namespaces than the one with this inode. Those of another
    /// version and the totals, whose namespaces are not known, are dropped, too.
    pub fn retain_namespace(&mut self, inode: u64) {
        self.records.retain(|record| record.namespace == inode);
        self.totals.clear();
        self.others = 0;
    }

    /// Returns whether there is no connection.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty() && self.others == 0
    }

    /// Returns the state of the connections with their rates since `earlier`.
    pub fn since(&self, earlier: &Self) -> Status {
        let identity = |record: &Record| (record.socket, record.began);
        let mut former: BTreeMap<_, _> = earlier.records.iter().map(|r| (identity(r), r)).collect();
        let connections = self.records.iter().map(|record| {
            let rate = match former.remove(&identity(record)) {
                Some(former) => rate(record, former.acked, former.now),
                // A new connection: everything was acknowledged since then.
                None => {
                    let began = record.began.unwrap_or(earlier.at);
                    rate(record, record.acked_before, began.min(earlier.at))
                }
            };
            shown(record, rate)
        });
        let mut connections: Vec<_> = connections.collect();
        connections.sort_by(|a, b| b.rate_bps.total_cmp(&a.rate_bps).then(a.peer.cmp(&b.peer)));
        let interval = self.at.saturating_sub(earlier.at);
        let totals = self.totals.clone();
        Status { connections, totals, others: self.others, ended: former.len(), interval }
    }
}

/// Returns the bits acknowledged per second since `then`, when the counter was at `acked`.
fn rate(record: &Record, acked: u64, then: Duration) -> f64 {
    // The counter of a socket that is connected again starts from 0.
    let octets = record.acked.checked_sub(acked).unwrap_or(record.acked);
    let time = record.now.saturating_sub(then);
    if time.is_zero() { 0.0 } else { 8.0 * octets as f64 / time.as_secs_f64() }
}

fn shown(record: &Record, rate_bps: f64) -> Connection {
    let &Record { peer, local, namespace, growth, cwnd, rtt, late, hold, held, .. } = record;
    let &Record { events, spurious, restored, timeouts, .. } = record;
    Connection {
        peer,
        local,
        namespace,
        rate_bps,
        growth,
        cwnd,
        rtt,
        late,
        hold,
        held,
        events,
        spurious,
        restored,
        timeouts,
        inode: (record.inode != 0).then_some(record.inode),
        is_mptcp: record.is_mptcp,
        retransmissions: record.resent.saturating_sub(record.resent_before),
        acked: record.acked.saturating_sub(record.acked_before),
        age: record.began.map(|began| record.now.saturating_sub(began)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Returns the record of a connection that began at 1 s, when 1000 octets had been acknowledged.
    fn record(socket: u64, acked: u64, now_ms: u64) -> Record {
        Record { acked, now: Duration::from_millis(now_ms), ..Record::example(socket) }
    }

    fn sample(at_ms: u64, records: Vec<Record>) -> Sample {
        Sample { records, totals: Vec::new(), others: 0, at: Duration::from_millis(at_ms) }
    }

    fn rates(status: &Status) -> Vec<(u16, f64)> {
        status.connections.iter().map(|c| (c.peer.port(), c.rate_bps)).collect()
    }

    #[test]
    fn a_rate_is_what_was_acknowledged_between_two_samples() {
        let earlier = sample(10_000, vec![record(1, 5_000, 10_000), record(2, 8_000, 10_001)]);
        let now = sample(12_000, vec![record(1, 5_000, 12_003), record(2, 508_000, 12_001)]);
        let status = now.since(&earlier);
        // 500,000 octets in 2 s. The other connection is idle.
        assert_eq!(rates(&status), [(2, 2e6), (1, 0.0)]);
        assert_eq!((status.interval, status.ended), (2 * SECOND, 0));
        let first = &status.connections[0];
        assert_eq!((first.acked, first.retransmissions), (507_000, 2));
        assert_eq!(first.age, Some(Duration::from_millis(11_001)));
    }

    #[test]
    fn the_connections_of_one_namespace_are_kept() {
        let mut other = record(2, 8_000, 10_001);
        other.namespace = 7;
        let mut sample = sample(10_000, vec![record(1, 5_000, 10_000), other]);
        sample.others = 3;
        sample.retain_namespace(7);
        let status = sample.since(&sample);
        assert_eq!(rates(&status), [(2, 0.0)]);
        assert_eq!((status.connections[0].namespace, status.others), (7, 0));
    }

    /// A burst of 100,000 octets shortly before the second sample counts over the whole interval.
    #[test]
    fn the_rate_of_a_new_connection_covers_the_whole_interval() {
        let mut new = record(1, 101_000, 11_000);
        new.began = Some(Duration::from_millis(10_999));
        let status = sample(11_000, vec![new]).since(&sample(10_000, vec![]));
        assert_eq!(rates(&status), [(1, 800_000.0)]);
        // The first sample missed a connection that is older than the interval.
        let missed = record(1, 101_000, 11_000);
        let status = sample(11_000, vec![missed]).since(&sample(10_000, vec![]));
        assert_eq!(rates(&status), [(1, 80_000.0)]);
    }

    #[test]
    fn another_connection_in_the_place_of_one_that_ended_is_new() {
        let earlier = sample(10_000, vec![record(1, 900_000, 10_000), record(2, 1_000, 10_000)]);
        let mut other = record(1, 2_000, 11_000);
        other.began = Some(Duration::from_millis(10_500));
        let status = sample(11_000, vec![other]).since(&earlier);
        assert_eq!(rates(&status), [(1, 8_000.0)]);
        assert_eq!(status.ended, 2);
    }

    /// A socket that is disconnected and connected again has such a counter.
    #[test]
    fn a_counter_that_restarts_counts_from_zero() {
        let earlier = sample(10_000, vec![record(1, 900_000, 10_000)]);
        let status = sample(11_000, vec![record(1, 500, 11_000)]).since(&earlier);
        assert_eq!(rates(&status), [(1, 4_000.0)]);
        assert_eq!(status.connections[0].acked, 0);
    }

    /// The time for which a connection is under the congestion control, in ms, and bursts of acknowledged
    /// octets within it.
    #[derive(Clone, Debug)]
    struct Tenure {
        socket: u64,
        began: u64,
        length: u64,
        before: u64,
        bursts: Vec<(u64, u32)>,
    }

    impl Tenure {
        fn is_at(&self, at: u64) -> bool {
            (self.began..self.began + self.length).contains(&at)
        }

        /// Returns the octets acknowledged after `from`, up to `to`.
        fn acked(&self, from: u64, to: u64) -> u64 {
            let within = |at: u64| (from + 1..=to).contains(&(self.began + at));
            let bursts = self.bursts.iter().filter(|(at, _)| *at > 0 && within(*at));
            bursts.map(|(_, octets)| u64::from(*octets)).sum()
        }

        fn record(&self, now: u64) -> Record {
            let mut record = record(self.socket, self.before + self.acked(self.began, now), now);
            record.began = Some(Duration::from_millis(self.began));
            record.acked_before = self.before;
            record
        }
    }

    fn tenure() -> impl Strategy<Value = Tenure> {
        let bursts = prop::collection::vec((1..5000_u64, 1..100_000_000_u32), 0..20);
        (0..3_u64, 1..5000_u64, 1..5000_u64, 0..1_u64 << 40, bursts).prop_map(
            |(socket, began, length, before, bursts)| Tenure {
                socket,
                began,
                length,
                before,
                bursts,
            },
        )
    }

    proptest! {
        /// Bursts at any time, in connections that begin, end, leave and return, in reused sockets.
        #[test]
        fn a_rate_is_the_traffic_of_its_interval(
            tenures in prop::collection::vec(tenure(), 0..12),
            interval in 100..3000_u64,
            offset in 0..1000_u64,
        ) {
            // One socket has one tenure at a time.
            let mut disjoint: Vec<Tenure> = Vec::new();
            for tenure in tenures {
                let overlaps = |other: &Tenure| {
                    other.socket == tenure.socket
                        && other.began <= tenure.began + tenure.length
                        && tenure.began <= other.began + other.length
                };
                if !disjoint.iter().any(overlaps) {
                    disjoint.push(tenure);
                }
            }
            let present = |at: u64| disjoint.iter().filter(move |tenure| tenure.is_at(at));
            let look = |at: u64| sample(at, present(at).map(|tenure| tenure.record(at)).collect());
            for n in 0..10 {
                let from = offset + n * interval;
                let to = from + interval;
                let status = look(to).since(&look(from));
                let bits = |tenure: &Tenure| 8 * tenure.acked(from.max(tenure.began), to);
                let mut expected: Vec<_> = present(to)
                    .map(|t| (t.socket as u16, (1000 * bits(t)) as f64 / interval as f64))
                    .collect();
                expected.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                let ended = present(from).filter(|tenure| !tenure.is_at(to)).count();
                prop_assert_eq!(status.ended, ended);
                let found = rates(&status);
                prop_assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert_eq!(found.0, expected.0);
                    prop_assert!((found.1 - expected.1).abs() <= 1e-9 * expected.1);
                }
            }
        }
    }

    #[test]
    fn over_no_time_the_rate_is_zero() {
        let earlier = sample(10_000, vec![record(1, 1_000, 10_000)]);
        let status = sample(10_000, vec![record(1, 900_000, 10_000)]).since(&earlier);
        assert_eq!(rates(&status), [(1, 0.0)]);
    }
}
