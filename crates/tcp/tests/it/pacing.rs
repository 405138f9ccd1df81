//! Senders that pace are never faster than their pacing rate by more than a quantum, over random paths with
//! loss and lateness.
//!
//! As in Linux (`tcp_update_skb_after_send`), each transmission takes the time of its octets at the rate that
//! the congestion control has set by then. At most a quantum leaves at a time, and the next one no earlier than
//! what was sent before it takes, from any transmission on. A sender that is polled late, or had nothing to
//! send, makes up for half the time of a quantum.
//!
//! As in Linux, the first ten segments are exempt, and everything before the first rate. The first
//! retransmission of a timeout and tail loss probes leave whatever the rate is, but those after them wait for
//! them as well. Window probes, SYN, FIN and acknowledgements without data do not count.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use unruffled_tcp::{Cause, Config, Connection, Event, Segment, Variant};
use unruffled_units::{Duration, Instant};

/// Payload of a full segment, in octets.
const MSS: u32 = 1448;

/// Segments of a connection that leave before it paces.
const UNPACED_SEGMENTS: usize = 10;

#[derive(Clone, Debug)]
struct Path {
    /// Octets per second of the bottleneck.
    rate: f64,
    /// Round-trip time without the queue.
    rtt: Duration,
    /// Maximum wait in the queue of the bottleneck.
    queue: Duration,
    /// Share of the data that is lost, share that is late, and by how much at most.
    loss: f64,
    late: f64,
    lateness: Duration,
    /// Maximum time by which the driver calls a timer late.
    slack: Duration,
    seed: u64,
}

/// A transmission of data.
#[derive(Clone, Copy, Debug)]
struct Departure {
    at: Instant,
    octets: f64,
    /// Pacing rate in force, in octets per second.
    rate: f64,
    /// Whether it may leave whatever the rate is.
    at_once: bool,
}

/// Returns how many octets leave at a time at this pacing rate, as in Linux: those of 1/1024 s, but at least
/// two segments, or one below 1.2 Mb/s (`bbr_min_tso_rate`), and at most 44, which fill 64 KiB.
fn quantum(rate: f64) -> f64 {
    let minimum = if rate < 1.2e6 / 8.0 { 1.0 } else { 2.0 };
    (rate / f64::from(MSS) / 1024.0).floor().clamp(minimum, 44.0) * f64::from(MSS)
}

struct World {
    path: Path,
    random: u64,
    now: Instant,
    ends: [Connection; 2],
    wire: BTreeMap<(Instant, u64), (usize, Segment)>,
    packets: u64,
    /// When the bottleneck has sent everything that it has accepted.
    busy_until: Instant,
    /// Offsets of the segments in flight.
    in_flight: BTreeSet<u64>,
    /// Pacing rate in octets per second; zero before there is one.
    rate: f64,
    segments: usize,
    departures: Vec<Departure>,
    /// Whether the next transmission is the first of a timeout, or a tail loss probe.
    at_once: bool,
}

impl World {
    fn new(path: &Path, sender: &Config, variant: &str) -> Self {
        let variant = Variant::parse(variant).expect("a variant");
        let receiver = Config { pacing: false, ..sender.clone() };
        let ends =
            [Connection::connect(sender.clone(), &variant), Connection::listen(receiver, &variant)];
        Self {
            random: path.seed,
            path: path.clone(),
            now: Instant::from_millis(1000),
            ends,
            wire: BTreeMap::new(),
            packets: 0,
            busy_until: Instant::ZERO,
            in_flight: BTreeSet::new(),
            rate: 0.0,
            segments: 0,
            departures: Vec::new(),
            at_once: false,
        }
    }

    /// Returns a random number from 0 to 1.
    fn draw(&mut self) -> f64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1442695041);
        (self.random >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Reads the pacing rate of a sender that models the path.
    fn read_rate(&mut self) {
        if let Some(rate) = self.ends[0].variable("pacing_rate", self.now) {
            self.rate = rate * f64::from(MSS);
        }
    }

    /// Sets the pacing rate of a sender with a window: twice the window in a round trip in the first half of
    /// slow start, 1.2 times the window later (`tcp_update_pacing_rate`).
    fn read_rate_of_window(&mut self, cwnd: f64, ssthresh: f64, srtt: Duration) {
        let ratio = if cwnd < ssthresh / 2.0 { 2.0 } else { 1.2 };
        let segments = cwnd.max(self.in_flight.len() as f64);
        self.rate = ratio * segments / srtt.as_secs_f64() * f64::from(MSS);
    }

    fn observe(&mut self, events: Vec<Event>) {
        for event in events {
            match event {
                Event::Acknowledged { una, cwnd, ssthresh, srtt: Some(srtt), .. } => {
                    self.in_flight = self.in_flight.split_off(&una);
                    self.read_rate_of_window(cwnd, ssthresh, srtt);
                    self.read_rate();
                }
                Event::Timeout { .. } | Event::LossProbe => self.at_once = true,
                _ => {}
            }
        }
    }

    fn record(&mut self, offset: u64, len: u32, cause: Option<Cause>, is_window_probe: bool) {
        if len == 0 {
            return;
        }
        // A sender that models the path may set the rate before it sends after an idle period.
        self.read_rate();
        self.segments += 1;
        if cause.is_none() {
            self.in_flight.insert(offset);
        }
        if is_window_probe {
            return;
        }
        let at_once = std::mem::take(&mut self.at_once);
        if self.rate > 0.0 && self.segments > UNPACED_SEGMENTS {
            self.departures.push(Departure {
                at: self.now,
                octets: f64::from(len),
                rate: self.rate,
                at_once,
            });
        }
    }

    fn pump(&mut self, end: usize) {
        loop {
            let mut is_window_probe = false;
            let mut events = Vec::new();
            let mut observer = |_: Instant, event: &Event| events.push(*event);
            let Some(segment) = self.ends[end].poll_transmit(self.now, &mut observer) else {
                break;
            };
            for event in events {
                match event {
                    Event::WindowProbe => is_window_probe = true,
                    Event::Sent { offset, len, cause } if end == 0 => {
                        self.record(offset, len, cause, is_window_probe);
                    }
                    _ => {}
                }
            }
            self.carry(end, segment);
        }
    }

    fn carry(&mut self, from: usize, segment: Segment) {
        let Path { rate, rtt, queue, loss, late, lateness, .. } = self.path;
        let mut at = self.now + rtt / 2;
        if from == 0 {
            let begins = self.busy_until.max(self.now);
            if begins.since(self.now) > queue || (segment.len > 0 && self.draw() < loss) {
                return;
            }
            let service = Duration::from_secs_f64(f64::from(segment.len + 40) / rate);
            self.busy_until = begins + service;
            at = self.busy_until + rtt / 2;
            if self.draw() < late {
                at += lateness.mul_f64(self.draw());
            }
        }
        self.packets += 1;
        self.wire.insert((at, self.packets), (1 - from, segment));
    }

    /// Lets events happen until `until`.
    fn run(&mut self, until: Instant) {
        loop {
            let arrival = self.wire.first_key_value().map(|(&(at, _), _)| at);
            let timers = [0, 1].map(|end| self.ends[end].poll_timeout());
            let next = [arrival, timers[0], timers[1]].into_iter().flatten().min();
            let Some(next) = next.filter(|&next| next <= until) else { break };
            let is_timer = arrival != Some(next);
            let wait = if is_timer { self.path.slack.mul_f64(self.draw()) } else { Duration::ZERO };
            self.now = next.max(self.now) + wait;
            let end = if is_timer {
                let end = usize::from(timers[0] != Some(next));
                let mut events = Vec::new();
                let mut observer = |_: Instant, event: &Event| events.push(*event);
                self.ends[end].handle_timeout(self.now, &mut observer);
                if end == 0 {
                    self.observe(events);
                }
                end
            } else {
                let Some((_, (to, segment))) = self.wire.pop_first() else { break };
                let mut events = Vec::new();
                let mut observer = |_: Instant, event: &Event| events.push(*event);
                self.ends[to].handle_segment(&segment, self.now, &mut observer);
                self.ends[to].read(self.ends[to].readable());
                if to == 0 {
                    self.observe(events);
                }
                to
            };
            self.pump(end);
        }
        self.now = self.now.max(until);
    }
}

/// Checks every interval from one transmission to another.
fn check(departures: &[Departure]) -> Result<(), TestCaseError> {
    for (i, first) in departures.iter().enumerate() {
        // Octets that leave with `last`, up to it, and the quantum at the highest rate meanwhile.
        let mut together = 0.0;
        let mut most = 0.0_f64;
        // What left before `last`, and what left with it, in seconds.
        let mut before = 0.0;
        let mut now = 0.0;
        let mut at = first.at;
        for last in &departures[i..] {
            if last.at > at {
                before += now;
                now = 0.0;
                together = 0.0;
                most = 0.0;
                at = last.at;
            }
            now += last.octets / last.rate;
            if last.at_once {
                continue;
            }
            together += last.octets;
            most = most.max(quantum(last.rate));
            prop_assert!(together <= most, "{together} octets at {at}, in a quantum of {most}");
            let elapsed = last.at.since(first.at).as_secs_f64();
            let credit = quantum(first.rate) / first.rate / 2.0;
            // Each time is rounded to nanoseconds.
            let rounding = 1e-9 * departures.len() as f64;
            prop_assert!(
                before <= elapsed + credit + rounding,
                "{before} s of octets in {elapsed} s, and {credit} s for lateness, from {} to {}",
                first.at,
                last.at
            );
        }
    }
    Ok(())
}

/// Returns the departures of a sender that writes as many octets as `writes` has, each after a pause.
fn departures(
    path: &Path,
    config: &Config,
    variant: &str,
    writes: &[(Duration, u64)],
) -> Vec<Departure> {
    let mut world = World::new(path, config, variant);
    world.pump(0);
    for &(pause, octets) in writes {
        world.run(world.now + pause);
        world.ends[0].write(octets);
        world.pump(0);
    }
    world.run(world.now + Duration::from_secs(10));
    world.departures
}

fn ms(range: core::ops::Range<u64>) -> impl Strategy<Value = Duration> {
    range.prop_map(Duration::from_millis)
}

fn path() -> impl Strategy<Value = Path> {
    let rate = (4.0..7.2).prop_map(|log: f64| 10_f64.powf(log));
    let loss = prop_oneof![Just(0.0), 0.0..0.1];
    let late = prop_oneof![Just(0.0), 0.0..0.6];
    let slack = prop_oneof![Just(Duration::ZERO), ms(0..5)];
    (rate, ms(1..200), ms(1..300), loss, late, ms(0..300), slack, any::<u64>()).prop_map(
        |(rate, rtt, queue, loss, late, lateness, slack, seed)| Path {
            rate,
            rtt,
            queue,
            loss,
            late,
            lateness,
            slack,
            seed,
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    (1..20_u32, ms(5..1000), 20_000..4_000_000_u64).prop_map(|(initial, min_rto, buffer)| {
        Config::simulated().with(|c| {
            c.mss = MSS;
            c.window.initial = initial;
            c.rto.min = min_rto;
            c.receive_buffer = buffer;
            c.pacing = true;
        })
    })
}

const SENDERS: [&str; 9] = [
    "rack+bbr",
    "rack+bbr3",
    "unruffled+bbr",
    "unruffled+bbr3",
    "rack+cubic",
    "unruffled",
    "sack",
    "newreno",
    "reno",
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_sender_is_faster_than_its_pacing_rate_by_more_than_a_quantum(
        path in path(),
        config in config(),
        variant in prop::sample::select(SENDERS.to_vec()),
        writes in prop::collection::vec((ms(0..2000), 1..600_000_u64), 1..6),
    ) {
        check(&departures(&path, &config, variant, &writes))?;
    }
}
