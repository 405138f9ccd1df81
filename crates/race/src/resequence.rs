//! A resequencer before the receiver.

use std::time::Duration;

use unruffled_net::Pair;
use unruffled_nfqueue::{Hook, Learnt, Report, Settings, Unguarded};

use crate::Error;

/// Length of the transfer before a measured one, from which a resequencer learns how late packets are.
pub(crate) const WARM_UP: Duration = Duration::from_secs(10);

/// Resequencers of a race: each kernel also sends to a receiver whose packets are put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resequence {
    /// Where the resequencer runs.
    pub place: ResequencerPlace,
    /// Whether another transfer over the same path comes before each measured one. The measured connection
    /// is then not the first that the resequencer serves. Its sender knows nothing of the first one.
    pub warm: bool,
}

/// Place of a resequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResequencerPlace {
    /// On the receiver.
    Receiver,
    /// On a gateway at the end of the path, which forwards to the receiver. All receivers of the race are
    /// behind such a gateway.
    Gateway,
}

/// Starts a resequencer at the right end. `learnt` has what an earlier one has learnt of the same path.
pub(crate) fn start(
    place: ResequencerPlace,
    pair: &Pair,
    learnt: Learnt,
) -> Result<Unguarded, Error> {
    let hook = match place {
        ResequencerPlace::Receiver => Hook::Input,
        ResequencerPlace::Gateway => Hook::Forward,
    };
    let settings = Settings { hook, ..Settings::default() };
    pair.right.namespace.run(|| Ok(Unguarded::start(&settings, learnt)?))
}

/// Returns the counts of the resequencers of a competitor's heats in one line.
pub(crate) fn summary(name: &str, report: &Report) -> String {
    let mean = if report.held > 0 { 1e3 * report.held_time_s / report.held as f64 } else { 0.0 };
    format!(
        "{name}: {} packets, {} late, {} held for {mean:.0} ms on average, {} after the wait for them",
        report.packets, report.late, report.held, report.too_late
    )
}
