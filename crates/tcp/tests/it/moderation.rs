//! Receive window moderation over a path with a rate and a delay: the window grows with what the
//! application reads.

use std::collections::BTreeMap;

use unruffled_tcp::{Config, Connection, IpVersion, Segment, Variant};
use unruffled_units::{Duration, Instant};

/// 100 Mbit/s and a round trip of 40 ms: 500 kB are in flight at full rate.
const NANOS_PER_OCTET: u64 = 80;
const DELAY: Duration = Duration::from_millis(20);
const BDP: u64 = 500_000;

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Reading pattern of the application.
#[derive(Clone, Copy)]
enum Reader {
    /// Reads everything at once.
    Eager,
    /// Reads at most this many octets in each period.
    Paced(u64, Duration),
}

/// A sender with unlimited data, a path, and a receiver.
struct Run {
    ends: [Connection; 2],
    now: Instant,
    begin: Instant,
    wire: BTreeMap<(Instant, u64), (usize, Segment)>,
    sent: u64,
    free_at: Instant,
    reader: Reader,
    next_read: Instant,
    read: u64,
    /// Right edge of the window that the sender has received, and the scale.
    edge: u32,
    scale: u8,
}

impl Run {
    fn new(receiver: Config, reader: Reader) -> Self {
        let variant = Variant::sack();
        // As much as the path and an equally long queue hold.
        let cwnd = (2 * BDP / 1448) as u32;
        let sender = Config::wire(IpVersion::V4).with(|c| c.window.max = Some(cwnd));
        let mut sender = Connection::connect(sender, &variant);
        sender.write(1 << 40);
        let receiver = Connection::listen(receiver, &variant);
        let begin = Instant::from_millis(1_000_000);
        Self {
            ends: [sender, receiver],
            now: begin,
            begin,
            wire: BTreeMap::new(),
            sent: 0,
            free_at: begin,
            reader,
            next_read: begin,
            read: 0,
            edge: 0,
            scale: 0,
        }
    }

    fn receiver(&self) -> &Connection {
        &self.ends[1]
    }

    fn pump(&mut self) {
        for end in 0..2 {
            while let Some(segment) = self.ends[end].poll_transmit(self.now, &mut ()) {
                if end == 1 {
                    self.check_edge(&segment);
                }
                let octets = u64::from(segment.len) + 52;
                self.sent += 1;
                let mut at = self.now;
                if end == 0 {
                    self.free_at =
                        self.free_at.max(at) + Duration::from_nanos(octets * NANOS_PER_OCTET);
                    at = self.free_at;
                }
                self.wire.insert((at + DELAY, self.sent), (1 - end, segment));
            }
        }
    }

    /// Checks that the receiver does not shrink the window (RFC 9293, section 3.8.6).
    fn check_edge(&mut self, segment: &Segment) {
        let scale = if segment.flags.syn { 0 } else { self.scale };
        let edge = segment.ack.0.wrapping_add(u32::from(segment.window) << scale);
        if segment.flags.syn {
            self.edge = edge;
            self.scale = segment.window_scale.expect("a scale");
        }
        assert!(edge.wrapping_sub(self.edge) as i32 >= 0, "{} ms", self.millis());
        self.edge = edge;
    }

    fn millis(&self) -> f64 {
        self.now.since(self.begin).as_millis_f64()
    }

    fn reads(&mut self) {
        let octets = match self.reader {
            Reader::Eager => u64::MAX,
            Reader::Paced(octets, every) if self.now >= self.next_read => {
                self.next_read = self.now + every;
                octets
            }
            Reader::Paced(..) => 0,
        };
        let octets = octets.min(self.ends[1].readable());
        self.ends[1].read(octets);
        self.read += octets;
    }

    fn until(&mut self, end: Instant, mut done: impl FnMut(&Self) -> bool) {
        while self.now < end && !done(self) {
            self.pump();
            let timers = self.ends.each_ref().map(Connection::poll_timeout);
            let read = matches!(self.reader, Reader::Paced(..)).then_some(self.next_read);
            let arrival = self.wire.first_key_value().map(|(&(at, _), _)| at);
            let next = [timers[0], timers[1], read, arrival].into_iter().flatten().min();
            self.now = next.unwrap_or(end).clamp(self.now, end);
            for connection in &mut self.ends {
                connection.handle_timeout(self.now, &mut ());
            }
            while let Some(first) = self.wire.first_entry().filter(|e| e.key().0 <= self.now) {
                let (to, segment) = first.remove();
                self.ends[to].handle_segment(&segment, self.now, &mut ());
            }
            self.reads();
        }
    }

    fn run(&mut self, span: Duration) -> &mut Self {
        self.until(self.now + span, |_| false);
        self
    }
}

fn moderated() -> Config {
    Config::wire(IpVersion::V4)
}

#[test]
fn a_fast_reader_has_twice_the_bandwidth_delay_product_within_a_few_round_trips() {
    let mut run = Run::new(moderated(), Reader::Eager);
    run.run(ms(60));
    assert_eq!(run.receiver().receive_buffer(), 64 << 10, "after the handshake");
    // 14, 29, 58, 116, 232, 464 kB: six round trips fill the path.
    run.run(ms(7 * 40));
    let window = run.receiver().receive_buffer();
    println!("{window} octets after 8 round trips");
    assert!(window >= 2 * BDP, "{window}");
    let before = run.read;
    run.run(ms(1000));
    let rate = (run.read - before) as f64 * 8.0 / 1e6;
    // 1448 of 1500 octets are payload.
    assert!(rate > 96.0, "{rate} Mbit/s");
}

#[test]
fn a_slow_reader_keeps_the_window_small() {
    // 100 kB/s, of a path that carries 12.5 MB/s.
    for (octets, every) in [(1000, 10), (10_000, 100), (30_000, 300)] {
        let mut run = Run::new(moderated(), Reader::Paced(octets, ms(every)));
        run.run(ms(10_000));
        let window = run.receiver().receive_buffer();
        assert_eq!(window, 64 << 10, "{octets} octets each {every} ms");
        assert!(run.read >= 980_000, "{}", run.read);
    }
}

#[test]
fn an_application_that_reads_in_bursts_has_room_for_them_and_loses_no_time() {
    let took = |config: Config| {
        let mut run = Run::new(config, Reader::Paced(200_000, ms(50)));
        let end = run.now + ms(60_000);
        run.until(end, |run| run.read >= 10_000_000);
        assert!(run.read >= 10_000_000);
        (run.millis(), run.receiver().receive_buffer())
    };
    let (fixed, _) = took(Config { initial_receive_buffer: None, ..moderated() });
    let (grown, window) = took(moderated());
    assert!(grown <= 1.1 * fixed, "{grown} ms, and {fixed} ms with a fixed window");
    assert!((400_000..4 << 20).contains(&window), "{window}");
}

#[test]
fn a_growing_window_costs_no_time() {
    let took = |config: Config| {
        let mut run = Run::new(config, Reader::Eager);
        let end = run.now + ms(60_000);
        run.until(end, |run| run.read >= 20_000_000);
        run.millis()
    };
    let fixed = took(Config { initial_receive_buffer: None, ..moderated() });
    let grown = took(moderated());
    println!("20 MB in {grown} ms, and in {fixed} ms with a fixed window");
    assert!(grown <= 1.01 * fixed, "{grown} ms, and {fixed} ms with a fixed window");
}

#[test]
fn the_window_grows_without_timestamps_as_well() {
    let config = moderated().with(|c| c.timestamps.offer = false);
    let mut run = Run::new(config, Reader::Eager);
    run.run(ms(400));
    let window = run.receiver().receive_buffer();
    assert!(window >= 2 * BDP, "{window}");
}

#[test]
fn the_window_never_grows_beyond_its_maximum() {
    let config = Config { receive_buffer: 200_000, ..moderated() };
    let mut run = Run::new(config, Reader::Eager);
    run.run(ms(3000));
    assert_eq!(run.receiver().receive_buffer(), 200_000);
    assert_eq!(run.receiver().receive_room(), 225_000);
}
