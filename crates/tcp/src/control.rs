//! Congestion control: how much may be in flight.

mod reno;

pub(crate) use reno::Reno;

/// The congestion window and the slow-start threshold, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// cwnd.
    pub cwnd: f64,
    /// ssthresh; infinite until the first reduction.
    pub ssthresh: f64,
}

impl Window {
    /// Whether the window is in slow start (RFC 5681, section 3.1).
    pub fn slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// How the window grows and shrinks. Loss recovery decides *when*; this decides *how much*.
pub(crate) trait CongestionControl: core::fmt::Debug + Send {
    /// `acked` segments were newly acknowledged cumulatively while the window was full.
    fn on_ack(&mut self, window: &mut Window, acked: u32);

    /// A loss was detected with `flight` segments (at most cwnd) in flight: the new ssthresh.
    fn on_loss(&mut self, window: &Window, flight: f64) -> f64;
}
