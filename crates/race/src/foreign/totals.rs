//! What a foreign stack counts, as numbers of a row.

use serde::Deserialize;
use unruffled_lab::record::RunRow;
use unruffled_measure::StackCounts;
use unruffled_net::Counts;

/// Counts at the end of a transfer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) struct Totals {
    /// Octets that the receiving application has read.
    #[serde(default)]
    pub(crate) received: u64,
    /// Packets of the client.
    #[serde(default)]
    pub(crate) sent: u64,
    /// Packets of the client that the stack declared lost, or segments that it retransmitted.
    #[serde(default)]
    pub(crate) lost: u64,
    /// Of these, the ones of which the stack learnt that they had arrived.
    #[serde(default)]
    pub(crate) spurious: Option<u64>,
    /// Packets that the server's stack dropped as duplicates or as too old although it had not had them.
    #[serde(default)]
    pub(crate) discarded: Option<u64>,
    /// Octets read in each half second, of a receiver in real time.
    #[serde(default)]
    pub(crate) slices: Vec<u64>,
    #[serde(default)]
    pub(super) error: Option<String>,
}

impl Totals {
    /// Returns the counts.
    ///
    /// # Errors
    /// What the driver names, such as octets that arrived and were not sent.
    pub(super) fn checked(self) -> std::io::Result<Self> {
        match self.error {
            Some(error) => Err(std::io::Error::other(error)),
            None => Ok(self),
        }
    }

    /// Sets the row's numbers of a stack whose packets met this path.
    ///
    /// If the stack does not count spurious losses, they are its losses that the path did not cause.
    pub(crate) fn fill(&self, row: &mut RunRow, path: &Counts) {
        row.flow.sending.sent_segments = self.sent;
        row.flow.sending.retransmits = self.lost;
        row.flow.means.cwnd_mean = None;
        row.flow.stack = Some(StackCounts {
            spurious_retransmits: self.spurious.unwrap_or(self.lost.saturating_sub(missing(path))),
            discarded: self.discarded,
        });
    }
}

/// Returns the number of packets that the path dropped or lost.
pub(crate) fn missing(path: &Counts) -> u64 {
    path.dropped + path.lost + path.replay_drops + path.range_drops + path.fragment_drops
}

#[cfg(test)]
mod tests {
    use unruffled_measure::FlowRecord;

    use super::*;

    #[test]
    fn losses_that_the_path_did_not_cause_are_spurious() {
        let path = Counts { offered: 100, dropped: 3, lost: 2, delivered: 95, ..Counts::default() };
        let totals = Totals { sent: 100, lost: 12, ..Totals::default() };
        let mut row = RunRow::of("path", "quinn", 1, FlowRecord::default());
        totals.fill(&mut row, &path);
        assert_eq!(row.flow.sending.retransmits, 12);
        let stack = row.flow.stack.expect("is a foreign stack's");
        assert_eq!((stack.spurious_retransmits, stack.discarded), (7, None));
        // The stack's own count takes precedence.
        let totals = Totals { spurious: Some(6), discarded: Some(1), ..totals };
        totals.fill(&mut row, &path);
        let expected = StackCounts { spurious_retransmits: 6, discarded: Some(1) };
        assert_eq!(row.flow.stack, Some(expected));
    }
}
