//! A sender with numbered packets, in virtual time: Reno and the detector, over 10 Mb/s and a round trip of 50 ms.
//!
//! `cargo run -p unruffled-detector --example sender` prints its goodput where every second packet is 100 ms
//! late, and where none is.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use unruffled_detector::{Detector, Duration, Instant, Path, Settings, Verdict};

const PACKET: u32 = 1250;
const SECONDS: u64 = 30;
/// Retransmission timeout. A real transport computes it from its round trips.
const TIMEOUT: Duration = Duration::from_millis(300);

/// A bottleneck of one packet per millisecond with a queue of 50 packets, and the way behind it. Every packet that
/// arrives is acknowledged.
struct Network {
    free_at: Instant,
    packets: u64,
    late: Duration,
}

impl Network {
    /// Sends a packet. Returns when its acknowledgement arrives, or `None` if the queue is full.
    fn send(&mut self, now: Instant) -> Option<Instant> {
        let queued = self.free_at.since(now);
        if queued > Duration::from_millis(50) {
            return None;
        }
        self.free_at = now + queued + Duration::from_millis(1);
        self.packets += 1;
        let late = if self.packets.is_multiple_of(2) { self.late } else { Duration::ZERO };
        Some(self.free_at + Duration::from_millis(50) + late)
    }
}

/// The state of Reno, which is all that a detector saves and returns.
#[derive(Clone, Copy)]
struct Reno {
    window: f64,
    threshold: f64,
}

struct Sender {
    detector: Detector<Reno>,
    reno: Reno,
    next: u64,
    /// The data that each packet in flight carries.
    in_flight: BTreeMap<u64, u64>,
    to_resend: VecDeque<u64>,
    next_data: u64,
    delivered: BTreeSet<u64>,
}

impl Sender {
    fn path(&self) -> Path {
        Path {
            min_rtt: Duration::from_millis(51),
            smoothed_rtt: Duration::from_millis(75),
            timeout: TIMEOUT,
            window: (self.reno.window * f64::from(PACKET)) as u64,
            packet: PACKET,
            slow_start: self.reno.window < self.reno.threshold,
        }
    }

    /// Returns the data of the next packet, if the window and the room for what is late permit one.
    fn next_data(&mut self) -> Option<u64> {
        let window = self.path().window;
        let room = window + self.detector.room(window);
        if (self.in_flight.len() as u64 + 1) * u64::from(PACKET) > room {
            return None;
        }
        Some(self.to_resend.pop_front().unwrap_or_else(|| {
            self.next_data += 1;
            self.next_data
        }))
    }

    /// Handles the acknowledgement of a packet. `data` is what the packet carried, as the receiver knows.
    fn on_ack(&mut self, number: u64, data: u64, now: Instant) {
        self.detector.on_ack([number..=number], now);
        self.delivered.insert(data);
        if self.in_flight.remove(&number).is_some() && self.detector.may_grow(&self.path()) {
            let reno = &mut self.reno;
            let slow_start = reno.window < reno.threshold;
            reno.window += if slow_start { 1.0 } else { 1.0 / reno.window };
        }
    }

    /// Does what the detector asks for.
    fn obey(&mut self, now: Instant) {
        while let Some(verdict) = self.detector.poll(&self.path(), now, || self.reno) {
            match verdict {
                Verdict::Resend(packet) => {
                    self.to_resend.extend(self.in_flight.remove(&packet.number))
                }
                Verdict::Reduce(reduction) => {
                    let window = reduction.window as f64 / f64::from(PACKET);
                    self.reno.threshold = (window / 2.0).max(2.0);
                    self.reno.window = self.reno.threshold;
                }
                Verdict::Restore(saved) if saved.window > self.reno.window => self.reno = saved,
                Verdict::Restore(_) | Verdict::Lost(_) => {}
            }
        }
    }

    fn obey_timeout(&mut self, now: Instant) {
        self.detector.on_timeout(&self.path(), now);
        self.to_resend.extend(self.in_flight.pop_first().map(|(_, data)| data));
    }
}

fn main() {
    for late in [Duration::ZERO, Duration::from_millis(100)] {
        let (megabits, sender) = run(late);
        let counts = sender.detector.counts();
        let waits = sender.detector.waits();
        println!("every second packet {late} late: {megabits:.2} of 10 Mb/s");
        println!("    {counts:?}\n    {waits:?}");
        assert!(megabits > 8.0, "late packets must not cost the window");
    }
}

/// Runs a transfer. Returns its goodput, and the sender as it is at the end.
fn run(late: Duration) -> (f64, Sender) {
    let mut network = Network { free_at: Instant::ZERO, packets: 0, late };
    let mut sender = Sender {
        detector: Detector::new(Settings::default()),
        reno: Reno { window: 10.0, threshold: f64::INFINITY },
        next: 0,
        in_flight: BTreeMap::new(),
        to_resend: VecDeque::new(),
        next_data: 0,
        delivered: BTreeSet::new(),
    };
    // Acknowledgements under way: when each arrives, the number of its packet, and what that carried.
    let mut acknowledgements: BinaryHeap<Reverse<(Instant, u64, u64)>> = BinaryHeap::new();
    let mut now = Instant::ZERO;
    let mut last_ack = now;
    while now < Instant::ZERO + Duration::from_secs(SECONDS) {
        while let Some(data) = sender.next_data() {
            sender.detector.on_sent(sender.next, PACKET, now);
            sender.in_flight.insert(sender.next, data);
            if let Some(at) = network.send(now) {
                acknowledgements.push(Reverse((at, sender.next, data)));
            }
            sender.next += 1;
        }
        let ack = acknowledgements.peek().map(|&Reverse((at, ..))| at);
        let timeout = last_ack + TIMEOUT;
        now = [ack, sender.detector.timeout(), Some(timeout)]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(timeout);
        if ack == Some(now)
            && let Some(Reverse((_, number, data))) = acknowledgements.pop()
        {
            last_ack = now;
            sender.on_ack(number, data, now);
        } else if timeout == now {
            last_ack = now;
            sender.obey_timeout(now);
        }
        sender.obey(now);
    }
    let bits = sender.delivered.len() as f64 * f64::from(PACKET) * 8.0;
    (bits / SECONDS as f64 / 1e6, sender)
}
