//! Slow start and congestion avoidance (RFC 5681, section 3.1).

use super::{CongestionControl, Flow, Window};

/// The standard's additive increase and multiplicative decrease.
#[derive(Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    fn grow(&mut self, window: &mut Window, _acked: u32, _flow: &Flow) {
        // Per acknowledgement, not per segment acknowledged: what a filled hole releases all at
        // once grows the window by one step (RFC 5681, equations 2 and 3).
        window.cwnd += if window.slow_start() { 1.0 } else { 1.0 / window.cwnd };
    }

    fn on_loss(&mut self, _window: &Window, _timeout: bool, flow: &Flow) -> f64 {
        (flow.flight / 2.0).max(2.0)
    }
}
