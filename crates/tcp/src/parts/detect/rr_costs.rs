//! RR-TCP's three costs, in packets not sent (RR-TCP, section 4.3).

use unruffled_units::Duration;

/// Returns the cost of a timeout, genuine or spurious: `W·(T/R + log2 W − k − 2) + 1`, with the
/// window `w` in segments, the timeout `t`, the smoothed round-trip time `r`, and limited transmit
/// up to `k` windows.
pub(crate) fn timeout(w: f64, t: Duration, r: Duration, k: f64) -> f64 {
    w * (t.ratio(r) + libm::log2(w) - k - 2.0) + 1.0
}

/// Returns the cost of a spurious fast retransmit that was discovered after `d`. It is interpolated
/// linearly between `k(W − k + 1)/2` for `k = ⌊D/R⌋` and for `k = ⌈D/R⌉`; `k` is at most `W/2`.
pub(crate) fn spurious_fast_retransmit(w: f64, d: Duration, r: Duration) -> f64 {
    let rounds = d.ratio(r).min(w / 2.0);
    let cost = |k: f64| k * (w - k + 1.0) / 2.0;
    let low = rounds.floor();
    let high = rounds.ceil().min(w / 2.0);
    if high <= low {
        return cost(low);
    }
    let between = (rounds - low) / (high - low);
    cost(low) + (cost(high) - cost(low)) * between
}

/// Returns the cost of an idle period of length `i` after limited transmit ran out, in which
/// `dupacks` more duplicate acknowledgements arrived: `(I/R)·W − d`.
pub(crate) fn limited_transmit(w: f64, i: Duration, r: Duration, dupacks: u32) -> f64 {
    i.ratio(r) * w - f64::from(dupacks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const R: Duration = Duration::from_millis(100);

    #[test]
    fn a_timeout_costs_the_idle_time_and_slow_start() {
        // W = 32, T = 1 s, R = 100 ms, k = 1: 32·(10 + 5 − 1 − 2) + 1 = 385.
        assert_eq!(timeout(32.0, Duration::from_secs(1), R, 1.0), 385.0);
    }

    #[test]
    fn a_spurious_fast_retransmit_costs_half_a_window_per_round_less_the_growth_since() {
        // W = 50: one round 1·(50 − 1 + 1)/2 = 25; two rounds 2·(50 − 2 + 1)/2 = 49.
        assert_eq!(spurious_fast_retransmit(50.0, R, R), 25.0);
        assert_eq!(spurious_fast_retransmit(50.0, R * 2, R), 49.0);
        // 1.5 rounds: halfway between them.
        assert_eq!(spurious_fast_retransmit(50.0, Duration::from_millis(150), R), 37.0);
        // Beyond W/2 = 25 rounds it is capped: 25·(50 − 25 + 1)/2 = 325.
        assert_eq!(spurious_fast_retransmit(50.0, R * 400, R), 325.0);
        // Half of an odd window is between two rounds: 2.5·(5 − 2.5 + 1)/2 = 4.375.
        assert_eq!(spurious_fast_retransmit(5.0, R * 400, R), 4.375);
    }

    #[test]
    fn an_idle_period_costs_its_packets_less_those_still_in_the_pipe() {
        // I = 50 ms, R = 100 ms, W = 40, d = 3: 0.5·40 − 3 = 17.
        assert_eq!(limited_transmit(40.0, Duration::from_millis(50), R, 3), 17.0);
    }
}
