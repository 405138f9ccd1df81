//! Slow start and congestion avoidance (RFC 5681, section 3.1).

use super::{CongestionControl, Window};

/// The standard's additive increase and multiplicative decrease.
#[derive(Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    fn on_ack(&mut self, window: &mut Window, acked: u32) {
        // Per acknowledgement, not per segment acknowledged: what a filled hole releases all at
        // once grows the window by one step (RFC 5681, equations 2 and 3).
        let _ = acked;
        window.cwnd += if window.slow_start() { 1.0 } else { 1.0 / window.cwnd };
    }

    fn on_loss(&mut self, _window: &Window, flight: f64) -> f64 {
        (flight / 2.0).max(2.0)
    }
}
