//! What becomes of a reduction of the window that proves spurious, and how that is found out: by
//! DSACKs, by timestamps (Eifel), or by what answers new data after a timeout (F-RTO).

pub(crate) mod dsack;
pub(crate) mod eifel;
pub(crate) mod f_rto;

use unruffled_units::Duration;

use crate::parts::control::{Snapshot, Window};

/// What stood before a reduction besides the window (RFC 4015, step 0).
#[derive(Clone, Debug)]
pub(crate) struct Before {
    /// The congestion control's variables, where that made the reduction.
    pub(crate) control: Snapshot,
    pub(crate) pipe_prev: f64,
    /// SRTT_prev and RTTVAR_prev, if a round-trip time had been measured.
    pub(crate) rtt: Option<(Duration, Duration)>,
    /// SND.NXT.
    pub(crate) point: u64,
}

impl Before {
    /// RFC 4015, step 9: the window after the response, with `flight` outstanding. Step 8 is the
    /// sender's. What limited transmit sent beyond the old window is in flight as well; it must not
    /// make the window larger than it was.
    pub(crate) fn respond(&self, flight: f64, saved: Window) -> Window {
        Window { cwnd: flight.min(saved.cwnd).max(1.0), ssthresh: self.pipe_prev }
    }
}
