//! The engine driven by hand: two [`Connection`]s, a clock that is a variable, and a path of 10 ms
//! that loses every fiftieth segment. It needs no sockets, threads or privileges.
//!
//! ```sh
//! cargo run -p unruffled-wire --example by_hand
//! ```

use std::collections::BTreeMap;

use unruffled_tcp::{Config, Connection, Event, IpVersion, Segment, State, Variant};
use unruffled_units::{Duration, Instant};

const DELAY: Duration = Duration::from_millis(10);

/// One end: the engine counts octets, and its caller stores them.
struct End {
    connection: Connection,
    /// All that the application wrote. A real program drops the octets below
    /// [`Connection::unacknowledged_from`].
    written: Vec<u8>,
    /// The octets that arrived, each at its place in the stream.
    stored: Vec<u8>,
    read: Vec<u8>,
}

impl End {
    fn new(connection: Connection) -> Self {
        Self { connection, written: Vec::new(), stored: Vec::new(), read: Vec::new() }
    }

    fn write(&mut self, data: &[u8]) {
        self.written.extend_from_slice(data);
        self.connection.write(data.len() as u64);
    }

    /// Handles a segment that arrives.
    fn handle(&mut self, segment: &Segment, payload: &[u8], now: Instant) {
        // The segment's place in the stream, which the next call may change.
        let offset = self.connection.receive_offset(segment.seq);
        let stored = &mut self.stored;
        let mut observer = |_: Instant, event: &Event| {
            // Only these octets may be stored.
            if let (Event::Fresh { offset: at, len }, Some(offset)) = (*event, offset) {
                let (at, len, from) = (at as usize, len as usize, (at - offset) as usize);
                stored.resize(stored.len().max(at + len), 0);
                stored[at..at + len].copy_from_slice(&payload[from..from + len]);
            }
        };
        self.connection.handle_segment(segment, now, &mut observer);
    }

    /// Reads everything that has arrived in order.
    fn read(&mut self) {
        let (from, octets) = (self.read.len(), self.connection.readable());
        self.read.extend_from_slice(&self.stored[from..from + octets as usize]);
        self.connection.read(octets);
    }

    /// Returns the next segment to send, and the octets that it carries.
    fn transmit(&mut self, now: Instant) -> Option<(Segment, Vec<u8>)> {
        let segment = self.connection.poll_transmit(now, &mut ())?;
        let from = self.connection.send_offset(segment.seq) as usize;
        let payload = match segment.len as usize {
            0 => Vec::new(),
            len => self.written[from..from + len].to_vec(),
        };
        Some((segment, payload))
    }
}

pub(crate) fn main() {
    let variant = Variant::named("sack").expect("a sender of the table");
    let config = |isn| Config { isn, ..Config::wire(IpVersion::V4) };
    let mut ends = [
        End::new(Connection::connect(config(1000), &variant)),
        End::new(Connection::listen(config(2000), &variant)),
    ];
    let text: Vec<u8> = (0..1_000_000_u32).map(|n| (n % 251) as u8).collect();
    ends[0].write(&text);
    ends[0].connection.finish();

    let begin = Instant::from_millis(1000);
    let mut now = begin;
    let mut sent = 0_u64;
    let mut lost = 0;
    let mut path = BTreeMap::new();
    loop {
        // Each end sends all that it can.
        for (from, end) in ends.iter_mut().enumerate() {
            while let Some((segment, payload)) = end.transmit(now) {
                sent += 1;
                if sent.is_multiple_of(50) {
                    lost += 1;
                } else {
                    path.insert((now + DELAY, sent), (1 - from, segment, payload));
                }
            }
        }
        // The clock moves to the next event: an arrival or a timer.
        let arrival = path.first_key_value().map(|(&(at, _), _)| at);
        let timers = ends.each_ref().map(|end| end.connection.poll_timeout());
        let Some(next) = [arrival, timers[0], timers[1]].into_iter().flatten().min() else { break };
        now = now.max(next);
        for end in &mut ends {
            if end.connection.poll_timeout().is_some_and(|due| due <= now) {
                end.connection.handle_timeout(now, &mut ());
            }
        }
        if arrival == Some(next)
            && let Some((_, (to, segment, payload))) = path.pop_first()
        {
            ends[to].handle(&segment, &payload, now);
            ends[to].read();
            if ends[to].connection.peer_finished() {
                ends[to].connection.finish();
            }
        }
    }
    assert!(ends[1].read == text, "what was read is what was written");
    assert!(ends.iter().all(|end| end.connection.state() == State::Closed));
    println!(
        "{} octets in {sent} segments, of which {lost} were lost; TIME-WAIT was over after {:.1} s",
        text.len(),
        now.since(begin).as_secs_f64()
    );
}
