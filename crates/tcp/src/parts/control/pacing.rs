//! How fast segments may leave, and how many at a time (Linux: `tcp_update_pacing_rate` and
//! `tcp_tso_autosize`).

use super::{Flow, Window};

/// Maximum number of segments that leave at a time: what 64 KiB hold.
const MAX_QUANTUM: f64 = 44.0;

/// Below this rate, in segments per second, segments leave one by one: 1.2 Mb/s in segments of 1448
/// octets (`bbr_min_tso_rate`).
const SINGLE_SEGMENT_RATE: f64 = 1_200_000.0 / 8.0 / 1448.0;

/// Returns how many segments leave at a time at `rate` segments per second: those of 1/1024 s, at least
/// two.
pub(crate) fn send_quantum(rate: f64) -> f64 {
    let minimum = if rate < SINGLE_SEGMENT_RATE { 1.0 } else { 2.0 };
    (rate / 1024.0).floor().clamp(minimum, MAX_QUANTUM)
}

/// Returns the pacing rate of a congestion control that sets none, in segments per second: twice the window
/// in a round trip in the first half of slow start, 1.2 times the window later
/// (`tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`). There is none before the first round-trip time.
pub(crate) fn rate_of_window(window: Window, outstanding: u32, flow: &Flow) -> Option<f64> {
    let srtt = flow.srtt.filter(|srtt| srtt.as_nanos() > 0)?.as_secs_f64();
    let ratio = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.2 };
    Some(ratio * window.cwnd.max(f64::from(outstanding)) / srtt)
}

#[cfg(test)]
mod tests {
    use unruffled_units::{Duration, Instant};

    use super::*;

    #[test]
    fn a_quantum_is_a_millisecond_of_segments_and_at_least_two() {
        assert_eq!(send_quantum(100.0), 1.0, "below 1.2 Mb/s");
        assert_eq!(send_quantum(104.0), 2.0);
        assert_eq!(send_quantum(3071.0), 2.0);
        assert_eq!(send_quantum(3072.0), 3.0);
        assert_eq!(send_quantum(1e9), 44.0);
    }

    #[test]
    fn a_window_leaves_in_half_a_round_trip_of_slow_start_and_in_five_sixths_later() {
        let flow = |srtt| Flow {
            now: Instant::ZERO,
            flight: 0.0,
            srtt: Some(Duration::from_millis(srtt)),
            min_rtt: None,
        };
        let window = |cwnd, ssthresh| Window { cwnd, ssthresh };
        assert_eq!(rate_of_window(window(10.0, f64::INFINITY), 0, &flow(100)), Some(200.0));
        assert_eq!(rate_of_window(window(10.0, 20.0), 0, &flow(100)), Some(120.0));
        assert_eq!(rate_of_window(window(10.0, 20.0), 15, &flow(100)), Some(180.0));
        let unmeasured = Flow { srtt: None, ..flow(1) };
        assert_eq!(rate_of_window(window(10.0, 20.0), 15, &unmeasured), None);
    }
}
