//! Counts of a connection's events.

use unruffled_tcp::{Event, Observer};
use unruffled_units::{Duration, Instant, Rate};

use crate::info::Repairs;

/// Counts of a connection's events, from which its [`Info`](crate::Info) is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    repairs: Repairs,
    delivery_rate: Option<Rate>,
    /// Start of the round trip in progress, and the offset acknowledged then.
    round: Option<(Instant, u64)>,
}

impl Observer for Tally {
    fn on_event(&mut self, now: Instant, event: &Event) {
        match *event {
            Event::Sent { len, cause: Some(_), .. } => {
                self.repairs.retransmissions += 1;
                self.repairs.retransmitted += u64::from(len);
            }
            // The first segment after a pause starts a round trip.
            Event::Sent { offset, .. } => {
                self.round.get_or_insert((now, offset));
            }
            Event::SpuriousRetransmission { .. } => self.repairs.spurious += 1,
            Event::Timeout { .. } => self.repairs.timeouts += 1,
            Event::EcnReduction { .. } => self.repairs.ecn_reductions += 1,
            Event::FastRetransmit => self.repairs.fast_retransmits += 1,
            Event::Reordered { length, .. } => {
                self.repairs.reordered += 1;
                self.repairs.reordering_length = self.repairs.reordering_length.max(length);
            }
            Event::Acknowledged { una, srtt, .. } => self.on_acknowledged(una, srtt, now),
            _ => {}
        }
    }
}

impl Tally {
    pub(crate) fn repairs(&self) -> Repairs {
        self.repairs
    }

    pub(crate) fn delivery_rate(&self) -> Option<Rate> {
        self.delivery_rate
    }

    fn on_acknowledged(&mut self, una: u64, srtt: Option<Duration>, now: Instant) {
        let (Some((since, from)), Some(srtt)) = (self.round, srtt) else { return };
        let span = now.since(since);
        // An acknowledgement clearly earlier than SRTT does not end the round trip.
        if una > from && span >= srtt * 7 / 8 {
            let bits = (una - from) as f64 * 8.0;
            self.delivery_rate = Rate::from_bps(bits / span.as_secs_f64());
            self.round = Some((now, una));
        }
    }

    /// Ends the round trip, since nothing is in flight: the time until the next segment is not the
    /// path's.
    pub(crate) fn on_idle(&mut self) {
        self.round = None;
    }
}
