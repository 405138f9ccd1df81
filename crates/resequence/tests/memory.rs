//! Memory of many flows. The tests are alone in their process, whose memory they count, and take turns.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard};

use peak_alloc::PeakAlloc;
use unruffled_resequence::{Config, Flow, Packet, Protocol, Resequencer, Role};
use unruffled_units::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

static TURN: Mutex<()> = Mutex::new(());

/// Upper bound on the memory of 10 000 flows, in octets.
const MAX_OCTETS: usize = 64 << 20;

/// A resequencer whose memory is counted.
struct Counted {
    resequencer: Resequencer<u64>,
    before: usize,
    now: Instant,
    _turn: MutexGuard<'static, ()>,
}

impl Counted {
    fn new(config: Config) -> Self {
        let turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let now = Instant::from_millis(1_000_000);
        Self { resequencer: Resequencer::new(config), before, now, _turn: turn }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.resequencer.handle_timeout(self.now);
        while self.resequencer.poll_release().is_some() {}
    }

    fn packet(&mut self, n: u32, role: Role) {
        let source = IpAddr::V4(Ipv4Addr::from(0x0a00_0000 + n));
        let destination = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
        let protocol = Protocol::Tcp;
        let ports = (443, 50_000);
        let flow = Flow { protocol, interface: 1, source, destination, ports, context: 0 };
        self.resequencer.handle(&Packet { flow, role, octets: 3000 }, 0, self.now);
        while self.resequencer.poll_release().is_some() {}
    }

    fn data(&mut self, n: u32, number: u64, sent: u32) {
        self.packet(n, Role::Data { number, span: 1000, timestamp: Some(sent) });
    }

    /// Returns the most octets that were allocated at any time.
    fn peak(&self) -> usize {
        MEMORY.peak_usage() - self.before
    }
}

/// Returns a configuration that holds packets for every sender.
fn holding() -> Config {
    Config { always_hold: true, ..Config::default() }
}

#[test]
fn ten_thousand_flows_that_hold_packets_take_less_than_64_mib() {
    let mut counted = Counted::new(holding());
    let flows = 0..10_000_u32;
    for n in flows.clone() {
        counted.packet(n, Role::Open { next: 0 });
    }
    counted.pass(Duration::from_millis(100));
    for n in flows.clone() {
        counted.packet(n, Role::Acknowledgement);
    }
    // Ten rounds in which three packets are held in front of three gaps, which are not filled.
    for round in 0..10_u64 {
        for n in flows.clone() {
            for packet in [1, 3, 5] {
                counted.data(n, 6000 * round + 1000 * packet, round as u32);
            }
        }
        if round == 0 {
            assert_eq!(counted.resequencer.load().packets, 30_000);
        }
        counted.pass(Duration::from_millis(210));
    }
    assert_eq!(counted.resequencer.load().flows, 10_000);
    assert!(counted.resequencer.counters().given_up >= 30_000);
    let peak = counted.peak();
    assert!(peak < MAX_OCTETS, "{peak} octets");
}

/// At the limit of all gaps, the flows that were idle for longest are forgotten.
#[test]
fn ten_thousand_flows_full_of_gaps_take_less_than_64_mib() {
    let config = Config { max_flows: 10_000, ..holding() };
    let mut counted = Counted::new(config);
    for n in 0..10_000 {
        for packet in 0..1000_u64 {
            counted.data(n, 2000 * packet, packet as u32);
        }
    }
    assert!(counted.resequencer.counters().flows_evicted > 9000);
    let peak = counted.peak();
    assert!(peak < MAX_OCTETS, "{peak} octets");
}

/// A part of a gap is sent again, and the part before it never arrives.
#[test]
fn a_flow_with_a_hole_before_a_retransmission_forgets_its_gaps() {
    let mut counted = Counted::new(holding());
    counted.packet(1, Role::Open { next: 0 });
    counted.pass(Duration::from_millis(100));
    counted.packet(1, Role::Acknowledgement);
    counted.data(1, 0, 100);
    counted.data(1, 5000, 110);
    counted.data(1, 2000, 200);
    for n in 0..200_000_u64 {
        counted.pass(Duration::from_millis(10));
        counted.data(1, (10_000 + 2000 * n) & 0xffff_ffff, 300 + n as u32);
    }
    let peak = counted.peak();
    assert!(peak < 1 << 20, "{peak} octets");
}
