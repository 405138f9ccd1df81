//! Views and facts for tests of detectors. By default, a sender has a window of 50 segments and a
//! round trip of 100 ms, and is in congestion avoidance.

use unruffled_units::{Duration, Instant};

use super::{AckFacts, LossDetector, Reordering, SpuriousFastRetransmit, View};
use crate::variant::Variant;

/// Returns the detector of the sender called `name`, as published.
pub(crate) fn detector(name: &str) -> Box<dyn LossDetector> {
    Variant::named(name).expect("a sender").detector()
}

pub(crate) const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Returns the sender's state `at` milliseconds after the start.
pub(crate) fn view(at: u64) -> View {
    View {
        now: Instant::from_millis(at),
        cwnd: 50.0,
        slow_start: false,
        flight: 50,
        sacked: 0,
        srtt: Some(ms(100)),
        latest_rtt: Some(ms(100)),
        min_rtt: Some(ms(100)),
        rto: ms(1000),
        recovering: false,
        una: 0,
        nxt: 50_000,
    }
}

/// Returns a duplicate acknowledgement, which SACKs one more segment.
pub(crate) fn duplicate() -> AckFacts {
    AckFacts { delivered: 1, sacked: 1, ..AckFacts::default() }
}

/// Returns an acknowledgement that advances the cumulative acknowledgement and SACKs nothing.
pub(crate) fn advance() -> AckFacts {
    AckFacts { delivered: 1, advanced: true, ..AckFacts::default() }
}

/// Returns a hole that closed, with this reordering length.
pub(crate) fn late(length: u32) -> Reordering {
    Reordering { length, delay: ms(20), by_dsack: false }
}

/// Returns a spurious fast retransmit at a window of 50, whose segment had this reordering length.
pub(crate) fn found_spurious(length: u32) -> SpuriousFastRetransmit {
    SpuriousFastRetransmit { lasted: ms(100), window: 50.0, length: Some(length) }
}
