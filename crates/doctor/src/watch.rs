//! What snapshots show of each connection, without I/O.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Counters, Snapshot, Socket, TcpInfo};

/// Ratio of the longest time between two snapshots to the mean of the others from which the machine was too busy.
const STALL_RATIO: u32 = 4;

/// Least such time.
const MIN_STALL: Duration = Duration::from_millis(1500);

/// Connections over a time, from snapshots in the order of their time.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    histories: BTreeMap<(u64, u64), History>,
    first: BTreeMap<u64, Counters>,
    last: BTreeMap<u64, Counters>,
    began: Option<Duration>,
    at: Duration,
    closed: usize,
    longest: Duration,
    total: u32,
}

/// A connection over a time.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The connection as it was last seen.
    pub(crate) socket: Socket,
    /// Counters when the watch began, or zeros for a connection that is younger.
    pub(crate) base: TcpInfo,
    /// Time of the base.
    pub(crate) from: Duration,
    /// Time at which the connection was last seen.
    pub(crate) to: Duration,
    /// The times between two snapshots.
    pub(crate) steps: Vec<Step>,
}

/// What happened from one snapshot to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Length.
    pub(crate) time: Duration,
    /// Segments that arrived at the other end.
    pub(crate) delivered: u32,
    /// Segments that arrived here, duplicates included.
    pub(crate) arrived: u32,
    /// Whether the application had more to send at the end than the connection takes.
    pub(crate) is_backlogged: bool,
    /// Smoothed round-trip time at the end.
    pub(crate) rtt: Duration,
    /// Round-trip time as the receiver estimates it, at the end.
    pub(crate) receiver_rtt: Duration,
}

impl Watch {
    /// Adds the next snapshot.
    pub fn add(&mut self, snapshot: &Snapshot) {
        let is_first = self.began.is_none();
        let former = self.at;
        self.began.get_or_insert(snapshot.at);
        self.at = snapshot.at;
        if !is_first {
            self.longest = self.longest.max(self.at.saturating_sub(former));
            self.total += 1;
        }
        self.closed = self.closed.max(snapshot.closed);
        for (&inode, counters) in &snapshot.namespaces {
            // A namespace that is new has counted from zero.
            let base = if is_first { *counters } else { Counters::default() };
            self.first.entry(inode).or_insert(base);
            self.last.insert(inode, *counters);
        }
        for socket in &snapshot.sockets {
            match self.histories.get_mut(&(socket.namespace, socket.cookie)) {
                Some(history) => history.add(socket, snapshot.at),
                None => {
                    let history = History::new(socket, is_first, former, snapshot.at);
                    self.histories.insert((socket.namespace, socket.cookie), history);
                }
            }
        }
    }

    /// Returns the connections that were seen.
    pub(crate) fn histories(&self) -> impl Iterator<Item = &History> {
        self.histories.values()
    }

    /// Returns the counts of the network namespaces in the time of the watch, by their inodes.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u64, Counters)> {
        let since = |(inode, last): (&u64, &Counters)| {
            (*inode, last.since(&self.first.get(inode).copied().unwrap_or_default()))
        };
        self.last.iter().map(since)
    }

    /// Returns the time between the first and the last snapshot.
    pub fn time(&self) -> Duration {
        self.at.saturating_sub(self.began.unwrap_or(self.at))
    }

    /// Returns whether a time between two snapshots was much longer than the others: the machine was too busy.
    pub(crate) fn is_stalled(&self) -> bool {
        let others = self.time().saturating_sub(self.longest);
        let usual = others.checked_div(self.total.saturating_sub(1)).unwrap_or_default();
        self.longest > MIN_STALL && self.longest > STALL_RATIO * usual
    }

    /// Returns the number of network namespaces that could not be entered.
    pub(crate) fn closed(&self) -> usize {
        self.closed
    }
}

impl History {
    fn new(socket: &Socket, is_first: bool, former: Duration, at: Duration) -> Self {
        let mut history =
            Self { socket: socket.clone(), base: socket.info, from: at, to: at, steps: Vec::new() };
        if !is_first {
            history.base = TcpInfo::default();
            history.from = former;
            history.to = former;
            history.socket.info = TcpInfo::default();
            history.add(socket, at);
        }
        history
    }

    fn add(&mut self, socket: &Socket, at: Duration) {
        let before = &self.socket.info;
        let info = &socket.info;
        self.steps.push(Step {
            time: at.saturating_sub(self.to),
            delivered: info.delivered.wrapping_sub(before.delivered),
            arrived: info.data_segments_in.wrapping_sub(before.data_segments_in),
            is_backlogged: is_backlogged(socket),
            rtt: info.rtt,
            receiver_rtt: info.receiver_rtt,
        });
        self.to = at;
        self.socket = socket.clone();
    }

    /// Returns the time over which the connection was seen.
    pub(crate) fn time(&self) -> Duration {
        self.to.saturating_sub(self.from)
    }
}

/// Returns whether the application has more to send than the connection takes: it has filled the send buffer to
/// two thirds, above which Linux does not wake it, or more octets wait to be sent than are under way.
fn is_backlogged(socket: &Socket) -> bool {
    let info = &socket.info;
    let is_full = 3 * u64::from(socket.queued) >= 2 * u64::from(socket.send_buffer);
    let under_way = u64::from(info.unacked.max(1)) * u64::from(info.mss);
    info.unsent > 0 && (is_full || u64::from(info.unsent) > under_way)
}
