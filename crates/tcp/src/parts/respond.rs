//! Responses to reductions of the window that prove spurious, and how those are found: by DSACKs,
//! by timestamps (Eifel), or by the acknowledgements of new data after a timeout (F-RTO).

pub(crate) mod dsack;
pub(crate) mod eifel;
pub(crate) mod f_rto;
pub(crate) mod linux;
pub(crate) mod packets;

use unruffled_units::Duration;

use crate::parts::control::{Snapshot, Window};

/// State before a reduction, besides the window (RFC 4015, step 0).
#[derive(Clone, Debug)]
pub(crate) struct Before {
    /// Variables of the congestion control, if it made the reduction.
    pub(crate) control: Snapshot,
    pub(crate) pipe_prev: f64,
    /// SRTT_prev and RTTVAR_prev, if a round-trip time had been measured.
    pub(crate) rtt: Option<(Duration, Duration)>,
    /// SND.NXT.
    pub(crate) point: u64,
}

impl Before {
    /// Returns the window after the response, with `flight` outstanding (RFC 4015, step 9). The
    /// sender does step 8. The flight includes what limited transmit sent beyond the old window,
    /// which must not make the window larger than it was.
    pub(crate) fn respond(&self, flight: f64, saved: Window) -> Window {
        Window { cwnd: flight.min(saved.cwnd).max(1.0), ssthresh: self.pipe_prev }
    }
}
