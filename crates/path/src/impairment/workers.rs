//! Workers that share a link's packets: queues of a network card, threads of a tunnel, cores.

use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use crate::{ConfigError, Distribution, Sampler};

/// Most workers of a link.
const MAX_WORKERS: usize = 4096;

/// Workers that handle the packets of a link beside each other, in batches. Each keeps the order of its own
/// packets; those of another may overtake them.
///
/// Packets are spread without regard to their flow. A device that hashes flows to workers reorders no flow,
/// so it needs none of this.
#[derive(Clone, Debug, PartialEq)]
pub struct Workers {
    /// Time that each worker takes for a packet; as many workers as times.
    pub delays: Vec<Duration>,
    /// Packets in a row that one worker receives, before the next worker does.
    pub batch: u32,
    /// Time for which the first packet of an interrupt waits for others; they are handed on together when it
    /// is over. Each interrupt begins a batch.
    pub coalesce: Duration,
    /// Extra time of all packets of a batch, such as that of a worker that the scheduler wakes.
    pub jitter: Option<Distribution>,
}

impl Workers {
    /// Returns whether no packet is ever delayed.
    pub(super) fn are_idle(&self) -> bool {
        self.coalesce == Duration::ZERO
            && self.delays.iter().all(|delay| *delay == Duration::ZERO)
            && self.jitter.as_ref().is_none_or(Distribution::is_zero)
    }
}

/// Workers at work.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    batch: u32,
    coalesce: Duration,
    jitter: Option<Sampler>,
    workers: Vec<Worker>,
    /// Index of the worker that receives the present batch.
    current: usize,
    /// Packets of the present batch so far.
    taken: u32,
    /// Extra time of the present batch.
    extra: Duration,
    /// End of the present interrupt, if there has been one.
    interrupt: Option<Instant>,
}

#[derive(Clone, Debug)]
struct Worker {
    delay: Duration,
    /// Time at which it hands on its last packet.
    last: Instant,
}

impl Pool {
    /// Creates workers after checking their settings.
    pub(super) fn new(config: &Workers) -> Result<Self, ConfigError> {
        let &Workers { ref delays, batch, coalesce, ref jitter } = config;
        if delays.is_empty() || delays.len() > MAX_WORKERS {
            return Err(ConfigError::new("delays", "1 to 4096 times", delays.len()));
        }
        if batch == 0 {
            return Err(ConfigError::new("batch", "at least 1", batch));
        }
        let jitter = jitter.as_ref().map(|law| law.sampler().map_err(|e| e.within("jitter")));
        let worker = |&delay: &Duration| Worker { delay, last: Instant::ZERO };
        Ok(Self {
            batch,
            coalesce,
            jitter: jitter.transpose()?,
            workers: delays.iter().map(worker).collect(),
            current: 0,
            taken: batch,
            extra: Duration::ZERO,
            interrupt: None,
        })
    }

    /// Returns the delay of a packet that reaches the workers at `arrived`.
    pub(super) fn delay(&mut self, arrived: Instant, rng: &mut Xoshiro256PlusPlus) -> Duration {
        let mut begins = self.taken >= self.batch;
        let mut handed_on = arrived;
        if self.coalesce > Duration::ZERO {
            let ended = self.interrupt.is_none_or(|end| arrived > end);
            let end = self.interrupt.filter(|_| !ended).unwrap_or(arrived + self.coalesce);
            self.interrupt = Some(end);
            handed_on = end;
            begins |= ended;
        }
        if begins {
            self.next_batch(rng);
        }
        self.taken += 1;
        let worker = &mut self.workers[self.current];
        worker.last = worker.last.max(handed_on + worker.delay + self.extra);
        worker.last.since(arrived)
    }

    /// Begins a batch at the next worker. The first batch of all is the first worker's.
    fn next_batch(&mut self, rng: &mut Xoshiro256PlusPlus) {
        let is_first = self.workers.iter().all(|worker| worker.last == Instant::ZERO);
        if !is_first {
            self.current = (self.current + 1) % self.workers.len();
        }
        self.taken = 0;
        self.extra = self.jitter.as_ref().map_or(Duration::ZERO, |law| law.draw(rng));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// Returns the times in microseconds at which packets that arrive at `arrivals` are handed on.
    fn handed_on(config: &Workers, arrivals: &[u64]) -> Vec<u64> {
        let mut pool = Pool::new(config).expect("is valid");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut delay = |at: u64| pool.delay(Instant::ZERO + us(at), &mut rng).as_nanos() / 1000;
        arrivals.iter().map(|&at| at + delay(at)).collect()
    }

    fn workers(delays: &[u64], batch: u32, coalesce: u64) -> Workers {
        let delays = delays.iter().map(|&delay| us(delay)).collect();
        Workers { delays, batch, coalesce: us(coalesce), jitter: None }
    }

    #[test]
    fn batches_of_a_slow_worker_are_overtaken_whole() {
        let out = handed_on(&workers(&[10, 100], 2, 0), &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(out, [10, 11, 102, 103, 14, 15, 106, 107]);
    }

    /// Packets at 1 and at 30 us fall into the first interrupt, which ends at 60; 61 begins the next one.
    #[test]
    fn coalesced_packets_leave_together_and_each_interrupt_has_the_next_worker() {
        let out = handed_on(&workers(&[0, 5], 100, 60), &[0, 1, 30, 61, 70, 200]);
        assert_eq!(out, [60, 60, 60, 126, 126, 260]);
    }

    /// A batch that is full within an interrupt leaves the rest to the next worker.
    #[test]
    fn an_interrupt_has_several_batches() {
        assert_eq!(handed_on(&workers(&[0, 5], 2, 60), &[0, 1, 2, 3, 4]), [60, 60, 65, 65, 60]);
    }

    #[test]
    fn invalid_workers_are_rejected() {
        let error = |config: &Workers| Pool::new(config).expect_err("is invalid").to_string();
        assert_eq!(error(&workers(&[], 1, 0)), "delays must be 1 to 4096 times, not 0");
        assert_eq!(error(&workers(&[1], 0, 0)), "batch must be at least 1, not 0");
    }

    proptest! {
        /// Packet number n belongs to batch n / batch, whose worker is batch modulo workers.
        #[test]
        fn each_worker_keeps_order_and_delays_by_its_time_at_least(
            delays in prop::collection::vec(0_u64..500, 1..6),
            batch in 1_u32..9,
            high in 0_u64..300,
            gaps in prop::collection::vec(0_u64..100, 1..200),
        ) {
            let jitter = Distribution::Uniform { low: Duration::ZERO, high: us(high) };
            let config = Workers { jitter: Some(jitter), ..workers(&delays, batch, 0) };
            let arrivals: Vec<u64> =
                gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            let out = handed_on(&config, &arrivals);
            let mut last = vec![0; delays.len()];
            for (n, (&arrived, &left)) in arrivals.iter().zip(&out).enumerate() {
                let worker = n / batch as usize % delays.len();
                prop_assert!(left >= last[worker] && left >= arrived + delays[worker]);
                let longest = (arrived + delays[worker] + high).max(last[worker]);
                prop_assert!(left <= longest, "{left} after {longest}");
                last[worker] = left;
            }
        }
    }
}
