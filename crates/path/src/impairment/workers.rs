//! Workers that share a link's packets: queues of a network card, threads of a tunnel, cores.

use std::collections::VecDeque;

use rand_xoshiro::Xoshiro256PlusPlus;
use unruffled_units::{Duration, Instant};

use super::Crossing;
use crate::{ConfigError, Distribution, Sampler};

/// Most workers of a link.
const MAX_WORKERS: usize = 4096;

/// Workers that handle the packets of a link beside each other, in batches. Each keeps the order of its own
/// packets; those of another may overtake them.
///
/// By default packets are spread without regard to their flow. Workers [by flow](WorkerChoice::Flow) reorder no
/// flow; they delay flows by different times.
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
    /// Choice of the worker.
    pub by: WorkerChoice,
    /// Whether receive offload (GRO) in front of the workers merges the packets of a flow that arrive within
    /// the same interrupt, up to 64 KiB. Merged packets have the same worker and count as one in a batch. It
    /// requires `coalesce`.
    pub gro: bool,
}

/// Choice of the worker of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorkerChoice {
    /// The next worker in turn, for each batch.
    #[default]
    Packet,
    /// One worker for all packets of a flow, by a hash of the flow.
    Flow,
}

/// Size of the largest merged packet, in octets (Linux `GRO_LEGACY_MAX_SIZE`).
const MAX_MERGED: u32 = 65_536;

/// Number of merged packets that receive offload keeps at a time (Linux `GRO_HASH_BUCKETS` times
/// `MAX_GRO_SKBS`).
const MAX_MERGING: usize = 64;

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
    by: WorkerChoice,
    gro: bool,
    workers: Vec<Worker>,
    /// Index of the worker that received the last batch.
    current: usize,
    /// End of the present interrupt, if there has been one.
    interrupt: Option<Instant>,
    /// Merged packets of the present interrupt, the oldest first.
    merging: VecDeque<Merged>,
}

#[derive(Clone, Debug)]
struct Worker {
    delay: Duration,
    /// Time at which it hands on its last packet.
    last: Instant,
    /// Packets of its present batch so far, merged ones counted once.
    taken: u32,
    /// Extra time of its present batch.
    extra: Duration,
    /// End of the interrupt in which its present batch began, if there are interrupts.
    interrupt: Option<Instant>,
}

/// Packets of a flow that are handled as one.
#[derive(Clone, Copy, Debug)]
struct Merged {
    flow: u32,
    octets: u32,
    /// Time at which a worker hands them on.
    left: Instant,
}

impl Pool {
    /// Creates workers after checking their settings.
    pub(super) fn new(config: &Workers) -> Result<Self, ConfigError> {
        let &Workers { ref delays, batch, coalesce, ref jitter, by, gro } = config;
        if delays.is_empty() || delays.len() > MAX_WORKERS {
            return Err(ConfigError::new("delays", "1 to 4096 times", delays.len()));
        }
        if batch == 0 {
            return Err(ConfigError::new("batch", "at least 1", batch));
        }
        if gro && coalesce == Duration::ZERO {
            return Err(ConfigError::new("coalesce", "more than 0 s with gro", coalesce));
        }
        let jitter = jitter.as_ref().map(|law| law.sampler().map_err(|e| e.within("jitter")));
        let worker = |&delay: &Duration| Worker {
            delay,
            last: Instant::ZERO,
            taken: batch,
            extra: Duration::ZERO,
            interrupt: None,
        };
        Ok(Self {
            batch,
            coalesce,
            jitter: jitter.transpose()?,
            by,
            gro,
            // The first batch of all is the first worker's.
            current: delays.len() - 1,
            workers: delays.iter().map(worker).collect(),
            interrupt: None,
            merging: VecDeque::new(),
        })
    }

    /// Returns whether the delays depend on the flows of packets.
    pub(super) fn reads_flows(&self) -> bool {
        self.gro || self.by == WorkerChoice::Flow
    }

    /// Returns the delay of a packet that reaches the workers at the end of its transmission.
    pub(super) fn delay(&mut self, packet: &Crossing, rng: &mut Xoshiro256PlusPlus) -> Duration {
        let arrived = packet.departed;
        let handed_on = self.interrupt_of(arrived);
        if let Some(left) = self.merge(packet) {
            return left.since(arrived);
        }
        let worker = self.assign(packet.flow, rng);
        let left = worker.last.max(handed_on + worker.delay + worker.extra);
        worker.last = left;
        if self.gro {
            if self.merging.len() == MAX_MERGING {
                self.merging.pop_front();
            }
            self.merging.push_back(Merged { flow: packet.flow, octets: packet.bytes, left });
        }
        left.since(arrived)
    }

    /// Returns the end of the interrupt of a packet that arrives at `arrived`, or `arrived` if there are no
    /// interrupts.
    fn interrupt_of(&mut self, arrived: Instant) -> Instant {
        if self.coalesce == Duration::ZERO {
            return arrived;
        }
        if let Some(end) = self.interrupt.filter(|end| arrived <= *end) {
            return end;
        }
        let end = arrived + self.coalesce;
        self.interrupt = Some(end);
        self.merging.clear();
        end
    }

    /// Adds a packet to a merged one of its flow, and returns the time at which that one is handed on.
    fn merge(&mut self, packet: &Crossing) -> Option<Instant> {
        let merged = self.merging.iter_mut().rev().find(|merged| merged.flow == packet.flow)?;
        if merged.octets + packet.bytes > MAX_MERGED {
            return None;
        }
        merged.octets += packet.bytes;
        Some(merged.left)
    }

    /// Assigns a packet to a worker and returns it. A batch of that worker begins if the one before is over.
    fn assign(&mut self, flow: u32, rng: &mut Xoshiro256PlusPlus) -> &mut Worker {
        let (interrupt, batch) = (self.interrupt, self.batch);
        let is_over = |worker: &Worker| worker.taken >= batch || worker.interrupt != interrupt;
        let current = match self.by {
            WorkerChoice::Packet => self.current,
            WorkerChoice::Flow => (hash(flow) % self.workers.len() as u64) as usize,
        };
        let begins = is_over(&self.workers[current]);
        let index = match self.by {
            WorkerChoice::Packet if begins => (current + 1) % self.workers.len(),
            _ => current,
        };
        self.current = index;
        let worker = &mut self.workers[index];
        if begins {
            worker.taken = 0;
            worker.interrupt = interrupt;
            worker.extra = self.jitter.as_ref().map_or(Duration::ZERO, |law| law.draw(rng));
        }
        worker.taken += 1;
        worker
    }
}

/// Returns a hash of a flow, as a network card computes one (the finalizer of SplitMix64).
fn hash(flow: u32) -> u64 {
    let mut bits = u64::from(flow).wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;
    use crate::Direction;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    /// Returns the times in microseconds at which packets that arrive at `arrivals` are handed on.
    fn handed_on(config: &Workers, arrivals: &[u64]) -> Vec<u64> {
        let packets: Vec<_> = arrivals.iter().map(|&at| (at, 0)).collect();
        flows_handed_on(config, 1000, &packets)
    }

    /// [`handed_on`] for packets of this size, given by their arrivals and their flows.
    fn flows_handed_on(config: &Workers, bytes: u32, packets: &[(u64, u32)]) -> Vec<u64> {
        let mut pool = Pool::new(config).expect("is valid");
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut delay = |at: u64, flow: u32| {
            let departed = Instant::ZERO + us(at);
            let direction = Direction::Forward;
            let packet =
                Crossing { direction, flow, bytes, ready: departed, begun: departed, departed };
            pool.delay(&packet, &mut rng).as_nanos() / 1000
        };
        packets.iter().map(|&(at, flow)| at + delay(at, flow)).collect()
    }

    fn workers(delays: &[u64], batch: u32, coalesce: u64) -> Workers {
        let delays = delays.iter().map(|&delay| us(delay)).collect();
        let (by, gro) = (WorkerChoice::Packet, false);
        Workers { delays, batch, coalesce: us(coalesce), jitter: None, by, gro }
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

    /// A flow whose hash selects the worker with this index among two.
    fn flow_of(worker: u64) -> u32 {
        (0..).find(|&flow| hash(flow) % 2 == worker).expect("half of all flows")
    }

    #[test]
    fn workers_by_flow_keep_the_order_of_each_flow() {
        let config = Workers { by: WorkerChoice::Flow, ..workers(&[0, 50], 1, 0) };
        let (fast, slow) = (flow_of(0), flow_of(1));
        let packets = [(0, fast), (1, slow), (2, fast), (3, slow), (4, fast)];
        assert_eq!(flows_handed_on(&config, 1000, &packets), [0, 51, 2, 53, 4]);
    }

    /// Two flows alternate on two workers of 0 and 5 us. Without offload, each packet is a batch; with it, the
    /// packets of each flow are one.
    #[test]
    fn receive_offload_keeps_the_packets_of_a_flow_within_an_interrupt_together() {
        let packets = [(0, 7), (1, 7), (2, 8), (3, 7), (4, 8), (70, 7), (71, 8)];
        let without = workers(&[0, 5], 1, 60);
        assert_eq!(flows_handed_on(&without, 1000, &packets), [60, 65, 60, 65, 60, 135, 130]);
        let with = Workers { gro: true, ..without };
        assert_eq!(flows_handed_on(&with, 1000, &packets), [60, 60, 65, 60, 65, 130, 135]);
    }

    /// 43 packets of 1500 octets fit into 64 KiB.
    #[test]
    fn a_merged_packet_has_64_kib_at_most() {
        let config = Workers { gro: true, ..workers(&[0, 5], 1, 60) };
        let out = flows_handed_on(&config, 1500, &[(0, 1); 90]);
        let expected = [vec![60; 43], vec![65; 43], vec![60; 4]].concat();
        assert_eq!(out, expected);
    }

    #[test]
    fn invalid_workers_are_rejected() {
        let error = |config: &Workers| Pool::new(config).expect_err("is invalid").to_string();
        assert_eq!(error(&workers(&[], 1, 0)), "delays must be 1 to 4096 times, not 0");
        assert_eq!(error(&workers(&[1], 0, 0)), "batch must be at least 1, not 0");
        let gro = Workers { gro: true, ..workers(&[1], 1, 0) };
        assert_eq!(error(&gro), "coalesce must be more than 0 s with gro, not 0 s");
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
