//! Reno as gVisor 20260905 has it (`pkg/tcpip/transport/tcp/reno.go`, `snd.go`), for the row `gvisor`.
//!
//! In congestion avoidance it counts acknowledged packets, adds one to the window once they are as many as the
//! window, and keeps the remainder of the count by the *new* window (`updateCongestionAvoidance`). A count of
//! 14 in a window of 14 makes the window 15, and 14 remain: each further packet adds one. So the window grows
//! as in slow start after the first step. A loss does not reset the count.

use std::borrow::Cow;

use super::{AnyControl, CongestionControl, Flow, Window};
use crate::parts::{Kind, maker};

/// Reno of gVisor.
pub(crate) const GVISOR_RENO: Kind<AnyControl> = Kind::new::<()>("gvisor-reno", |values| {
    maker(values, |(), _| AnyControl::Own(Box::new(GvisorReno::default())))
});

/// Packets by which the window exceeds ssthresh in fast recovery (`enterRecovery`).
const INFLATION: f64 = 3.0;

/// Reno of gVisor. Windows are whole packets.
#[derive(Debug, Default)]
struct GvisorReno {
    /// SndCAAckCount: acknowledged packets that have not grown the window.
    count: u32,
}

impl GvisorReno {
    /// Grows the window in slow start. Returns the packets that are left for congestion avoidance.
    fn slow_start(&mut self, window: &mut Window, acked: u32) -> u32 {
        let before = window.cwnd;
        window.cwnd += f64::from(acked);
        if window.cwnd >= window.ssthresh {
            window.cwnd = window.ssthresh;
            self.count = 0;
        }
        acked - (window.cwnd - before) as u32
    }

    fn avoid_congestion(&mut self, window: &mut Window, acked: u32) {
        self.count += acked;
        let cwnd = window.cwnd as u32;
        if self.count >= cwnd {
            let grown = cwnd + self.count / cwnd;
            window.cwnd = f64::from(grown);
            self.count %= grown;
        }
    }
}

impl CongestionControl for GvisorReno {
    fn about(&self) -> Cow<'static, str> {
        "Reno, gVisor's".into()
    }

    fn grow(&mut self, window: &mut Window, _acked: u32, counted: u32, _flow: &Flow) {
        let left = if window.slow_start() { self.slow_start(window, counted) } else { counted };
        if left > 0 {
            self.avoid_congestion(window, left);
        }
    }

    fn on_loss(&mut self, _window: &Window, _timeout: bool, flow: &Flow) -> f64 {
        (flow.flight / 2.0).floor().max(2.0)
    }

    fn inflation(&self) -> f64 {
        INFLATION
    }
}

#[cfg(test)]
mod tests {
    use unruffled_units::Instant;

    use super::*;

    const FLOW: Flow = Flow { now: Instant::ZERO, flight: 25.0, srtt: None, min_rtt: None };

    /// As traced: 14 packets in a window of 14, and then one for each packet.
    #[test]
    fn after_a_window_of_packets_each_packet_adds_one() {
        let mut reno = GvisorReno { count: 11 };
        let mut window = Window { cwnd: 14.0, ssthresh: 12.0 };
        let windows = [0; 6].map(|_| {
            reno.grow(&mut window, 1, 1, &FLOW);
            window.cwnd
        });
        assert_eq!(windows, [14.0, 14.0, 15.0, 16.0, 17.0, 18.0]);
    }

    #[test]
    fn a_count_of_the_window_before_a_loss_adds_at_once() {
        let mut reno = GvisorReno { count: 24 };
        let mut window = Window { cwnd: 12.0, ssthresh: 12.0 };
        // 25 / 12 = 2, and 25 mod 14 = 11 remain.
        reno.grow(&mut window, 1, 1, &FLOW);
        assert_eq!((window.cwnd, reno.count), (14.0, 11));
    }

    #[test]
    fn slow_start_ends_at_ssthresh_and_half_the_flight_is_rounded_down() {
        let mut reno = GvisorReno { count: 5 };
        let mut window = Window { cwnd: 10.0, ssthresh: 12.0 };
        reno.grow(&mut window, 3, 3, &FLOW);
        assert_eq!((window.cwnd, reno.count), (12.0, 1), "one is left");
        assert_eq!(reno.on_loss(&window, false, &FLOW), 12.0);
    }
}
