//! Totals over the connections of a registration, open and ended.

use serde::Serialize;

use crate::Growth;
use crate::dump::Ended;
use crate::record::Record;

/// Number of counters.
const COUNTERS: usize = 7;

/// Octets of the totals in the format of `totals.h`.
#[cfg(bpf)]
pub(crate) const TOTALS_OCTETS: usize = 8 * COUNTERS;

/// Totals over all connections since a congestion control was registered, also over those that have ended. They
/// never decrease while the registration exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// The kernel's number of the registration, which no later one gets.
    pub registration: u32,
    /// Growth of the window.
    pub growth: Growth,
    /// Number of connections that came under the congestion control.
    pub connections: u64,
    /// Number of loss events.
    pub events: u64,
    /// Number of loss events that proved spurious.
    pub spurious: u64,
    /// Number of times that a window was restored.
    pub restored: u64,
    /// Number of times that a retransmission timer expired.
    pub timeouts: u64,
    /// Number of retransmissions.
    pub retransmissions: u64,
    /// Octets acknowledged.
    pub acked: u64,
}

impl Totals {
    /// Adds the open connections to those that have ended.
    ///
    /// A connection that ends between the two readings is in neither sum, and is counted the next time. So that
    /// the totals do not decrease meanwhile, none is lower than the one that was reported last.
    pub(crate) fn new(ended: &Ended, open: &[Record]) -> Self {
        let open = open.iter().filter(|record| record.began.is_some()).map(counters);
        let sum = open.fold(parse(&ended.octets), |sum, one| {
            std::array::from_fn(|n| sum[n].wrapping_add(one[n]))
        });
        let reported = parse(&ended.reported);
        let counters = std::array::from_fn(|n| sum[n].max(reported[n]));
        let [connections, events, spurious, restored, timeouts, retransmissions, acked] = counters;
        Self {
            registration: ended.map,
            growth: ended.growth,
            connections,
            events,
            spurious,
            restored,
            timeouts,
            retransmissions,
            acked,
        }
    }

    /// Returns the totals in the format of `totals.h`.
    pub(crate) fn octets(&self) -> Vec<u8> {
        let &Self { connections, events, spurious, restored, timeouts, .. } = self;
        let &Self { retransmissions, acked, .. } = self;
        [connections, events, spurious, restored, timeouts, retransmissions, acked]
            .into_iter()
            .flat_map(u64::to_ne_bytes)
            .collect()
    }
}

/// Returns the counters of an open connection, in the order of `totals.h`.
fn counters(record: &Record) -> [u64; COUNTERS] {
    [
        1,
        record.events.into(),
        record.spurious.into(),
        record.restored.into(),
        record.timeouts.into(),
        record.resent.wrapping_sub(record.resent_before).into(),
        record.acked.wrapping_sub(record.acked_before),
    ]
}

/// Parses counters. Those that are missing are 0.
fn parse(octets: &[u8]) -> [u64; COUNTERS] {
    let counter = |n: usize| octets.get(8 * n..8 * n + 8)?.try_into().ok().map(u64::from_ne_bytes);
    std::array::from_fn(|n| counter(n).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn octets(counters: [u64; COUNTERS]) -> Vec<u8> {
        counters.into_iter().flat_map(u64::to_ne_bytes).collect()
    }

    fn ended(counters: [u64; COUNTERS], reported: [u64; COUNTERS]) -> Ended {
        let (octets, reported) = (octets(counters), octets(reported));
        Ended { map: 7, growth: Growth::Bbr, octets, reported }
    }

    /// Returns the record of a connection with 4 retransmissions and 1000 octets since it came under the
    /// congestion control.
    fn open() -> Record {
        let mut record = Record::example(1);
        (record.events, record.spurious, record.restored, record.timeouts) = (3, 2, 1, 5);
        (record.resent_before, record.resent) = (6, 10);
        (record.acked_before, record.acked) = (500, 1500);
        record.began = Some(Duration::from_secs(1));
        record
    }

    #[test]
    fn open_connections_are_added_to_ended_ones() {
        let mut handshake = open();
        handshake.began = None;
        let totals = Totals::new(&ended([10; 7], [0; 7]), &[open(), open(), handshake]);
        let expected = Totals {
            registration: 7,
            growth: Growth::Bbr,
            connections: 12,
            events: 16,
            spurious: 14,
            restored: 12,
            timeouts: 20,
            retransmissions: 18,
            acked: 2010,
        };
        assert_eq!(totals, expected);
        assert_eq!(totals.octets(), octets([12, 16, 14, 12, 20, 18, 2010]));
    }

    /// The connection ended after the totals of ended ones were read, and before the open ones were listed.
    #[test]
    fn totals_do_not_decrease_while_a_connection_ends() {
        let before = Totals::new(&ended([10; 7], [0; 7]), &[open()]);
        let reported = parse(&before.octets());
        assert_eq!(Totals::new(&ended([10; 7], reported), &[]), before);
        // The next time it has ended.
        let after = Totals::new(&ended([11, 13, 12, 11, 15, 14, 1010], reported), &[]);
        assert_eq!(after, before);
        let later = Totals::new(&ended([12, 13, 12, 11, 15, 14, 1011], reported), &[]);
        assert_eq!((later.connections, later.acked), (12, 1011));
    }
}
