//! The minimum recent round-trip time (RACK.min_RTT): the minimum over a sliding window of time, in
//! constant space. It is computed from the three best samples (K. Nichols' windowed filter).

use unruffled_units::{Duration, Instant};

/// Length of the window of time. As in Linux, it is long compared with the life of a route.
const WINDOW: Duration = Duration::from_secs(300);

/// The windowed minimum filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinRtt {
    /// The best, second best and third best sample with their times, each no earlier than the one
    /// before.
    best: Option<[(Instant, Duration); 3]>,
}

impl MinRtt {
    /// Returns the minimum over the window.
    pub(crate) fn get(&self) -> Option<Duration> {
        self.best.map(|[(_, rtt), ..]| rtt)
    }

    /// Takes a round-trip time, measured at `now`.
    #[inline]
    pub(crate) fn sample(&mut self, rtt: Duration, now: Instant) {
        let new = (now, rtt);
        let Some(best) = &mut self.best else {
            self.best = Some([new; 3]);
            return;
        };
        if rtt <= best[0].1 || now.since(best[2].0) > WINDOW {
            *best = [new; 3];
        } else if rtt <= best[1].1 {
            best[1] = new;
            best[2] = new;
        } else if rtt <= best[2].1 {
            best[2] = new;
        }
        if now.since(best[0].0) > WINDOW {
            *best = [best[1], best[2], new];
            // The second best may be too old as well. The third is not, or all would have been
            // replaced.
            if now.since(best[0].0) > WINDOW {
                *best = [best[1], new, new];
            }
        } else if best[1].0 == best[0].0 && now.since(best[0].0) > WINDOW / 4 {
            best[1] = new;
            best[2] = new;
        } else if best[2].0 == best[1].0 && now.since(best[1].0) > WINDOW / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_expires_at_the_end_of_its_window() {
        let mut m = MinRtt::default();
        let at = |s: u64| Instant::ZERO + Duration::from_secs(s);
        m.sample(Duration::from_millis(50), at(0));
        for s in 1..=299 {
            m.sample(Duration::from_millis(100), at(s));
        }
        assert_eq!(m.get(), Some(Duration::from_millis(50)));
        for s in 300..=310 {
            m.sample(Duration::from_millis(100), at(s));
        }
        assert_eq!(m.get(), Some(Duration::from_millis(100)));
        m.sample(Duration::from_millis(60), at(311));
        assert_eq!(m.get(), Some(Duration::from_millis(60)));
    }

    #[test]
    fn rare_samples_leave_no_minimum_older_than_the_window() {
        let mut m = MinRtt::default();
        let ms = Duration::from_millis;
        for (at, rtt) in [(0, 10), (80, 20), (240, 30), (500, 40)] {
            m.sample(ms(rtt), Instant::ZERO + Duration::from_secs(at));
        }
        // The sample taken at 80 s is 420 s old.
        assert_eq!(m.get(), Some(ms(30)));
    }
}
