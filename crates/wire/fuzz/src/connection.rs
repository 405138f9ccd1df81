//! The engine's state machine: one end of a connection, in any state, with any segments and calls.
//! `monitor` checks it after each step. At the end it must serve an honest peer.

mod monitor;
pub(crate) mod setup;

use std::fmt;

use unruffled_tcp::{Connection, Event, Flags, Segment, SeqNr, State, Timestamps};
use unruffled_units::{Duration, Instant};

use crate::input::Input;
use crate::numbers::Numbers;
use crate::ranges::Ranges;
use monitor::Monitor;
use setup::LOCAL_ISN;

/// The end of the clock, which keeps sums of times far from saturating.
const END_OF_TIME: Instant = Instant::from_nanos(1 << 61);

/// One end, with its clock and its checks.
struct End {
    connection: Connection,
    now: Instant,
    monitor: Monitor,
    /// Segments that may leave before the next step, as if a device would block.
    room: usize,
    /// The states that the connection was in.
    seen: Vec<State>,
    /// Whether each step is printed to standard error.
    verbose: bool,
}

/// Plays `bytes`; returns the states that the connection was in.
pub fn run(bytes: &[u8]) -> Vec<State> {
    let mut input = Input::new(bytes);
    let variant = setup::variant(&mut input);
    let config = setup::config(&mut input);
    let active = input.byte() % 2 == 1;
    let connection = match active {
        true => Connection::connect(config.clone(), &variant),
        false => Connection::listen(config.clone(), &variant),
    };
    let mut end = End {
        connection,
        now: Instant::from_millis(1_000_000),
        monitor: Monitor::new(config.clone(), active, &variant),
        room: usize::MAX,
        seen: Vec::new(),
        verbose: std::env::var_os("UNRUFFLED_TRACE").is_some(),
    };
    end.trace("begins", (variant.name(), config));
    setup::open(&mut end, active, &mut input);
    while !input.is_empty() && !end.has_grown() {
        end.step(&mut input);
    }
    end.settle();
    end.serve_an_honest_peer();
    end.seen
}

impl End {
    fn connection(&self) -> &Connection {
        &self.connection
    }

    fn trace(&self, what: &str, detail: impl fmt::Debug) {
        if self.verbose {
            let (ms, state) = (self.now.as_nanos() as f64 / 1e6, self.connection.state());
            eprintln!("{ms} {state:?}: {what} {detail:?}");
        }
    }

    /// Plays one step.
    fn step(&mut self, input: &mut Input<'_>) {
        let kind = input.byte();
        let n = kind >> 4;
        match kind & 15 {
            0..=5 => {
                let segment = self.numbers().segment(input);
                self.receive(segment);
            }
            6 => self.next_timer(),
            7 => self.wait(u64::from(input.byte()) << n),
            8 => self.write(u64::from(input.byte()) << n),
            9 => self.write(u64::from(n) * u64::from(self.numbers().mss)),
            10 => self.read(if n == 15 { u64::MAX } else { u64::from(input.byte()) << n }),
            11 => self.read(u64::MAX),
            12 if n == 0 => self.finish(),
            12 if n == 1 => self.abort(),
            12 if n == 2 => self.write(u64::MAX),
            12 if n == 3 => self.starve(),
            13 => {
                let numbers = self.numbers();
                let quoted = numbers.near(numbers.una, numbers.nxt, input);
                let (now, mtu) = (self.now, u32::from(input.u16()));
                self.trace("too big", (mtu, quoted));
                let monitor = &mut self.monitor;
                self.connection.handle_packet_too_big(mtu, quoted, now, &mut |_, e: &Event| {
                    monitor.on_event(e)
                });
            }
            14 => {
                // The next step happens before all segments have left.
                self.room = usize::from(n);
                return self.pump();
            }
            _ => {
                // Time passes, and timers that are due are late.
                self.pass(u64::from(input.byte()) << n);
                return self.pump();
            }
        }
        self.settle();
    }

    fn receive(&mut self, segment: Segment) {
        self.trace("receives", segment);
        self.monitor.before_receive(&segment, &self.connection);
        let (connection, now, monitor) = (&mut self.connection, self.now, &mut self.monitor);
        connection.handle_segment(&segment, now, &mut |_, e: &Event| monitor.on_event(e));
        self.monitor.after_receive(&segment, &self.connection);
    }

    /// Receives an honest segment with these flags.
    fn receive_flags(&mut self, flags: Flags) {
        let honest = self.honest();
        self.receive(Segment { flags, ..honest });
    }

    fn honest(&self) -> Segment {
        self.numbers().honest()
    }

    fn write(&mut self, octets: u64) {
        self.trace("writes", octets);
        let before = self.connection.state();
        self.connection.write(octets);
        self.monitor.wrote(octets, before);
    }

    fn read(&mut self, octets: u64) {
        self.trace("reads", octets);
        self.monitor.application.read += octets.min(self.connection.readable());
        self.connection.read(octets);
    }

    fn finish(&mut self) {
        self.trace("finishes", ());
        self.monitor.application.finished |= self.connection.state() != State::Closed;
        self.connection.finish();
    }

    fn abort(&mut self) {
        self.trace("aborts", ());
        self.connection.abort();
    }

    fn pass(&mut self, ms: u64) {
        self.now = (self.now + Duration::from_millis(ms)).min(END_OF_TIME);
    }

    fn wait(&mut self, ms: u64) {
        self.pass(ms);
        self.timeout();
    }

    fn next_timer(&mut self) {
        if let Some(due) = self.connection.poll_timeout() {
            self.now = self.now.max(due).min(END_OF_TIME);
            self.timeout();
        }
    }

    fn timeout(&mut self) {
        self.trace("timeout, cwnd", self.connection.window());
        let (now, monitor) = (self.now, &mut self.monitor);
        self.connection.handle_timeout(now, &mut |_, e: &Event| monitor.on_event(e));
    }

    /// Runs some hundred timers without an arrival, which must span a long time.
    fn starve(&mut self) {
        self.settle();
        let start = self.now;
        for _ in 0..300 + 4 * self.connection.pipe() {
            if self.connection.poll_timeout().is_none() || self.now == END_OF_TIME {
                return;
            }
            self.next_timer();
            self.settle();
        }
        assert!(self.now.since(start) > Duration::from_millis(10), "its timers do not wait");
    }

    /// Returns whether the window is too large to play on: a peer that acknowledges all doubles it in each step.
    fn has_grown(&self) -> bool {
        self.connection.window().cwnd > 50_000.0
    }

    /// Sends segments, as many as there is room for.
    fn pump(&mut self) {
        let state = self.connection.state();
        if !self.seen.contains(&state) {
            self.seen.push(state);
        }
        for count in 0..self.room {
            assert!(count < 200_000, "the connection never stops sending");
            let monitor = &mut self.monitor;
            monitor.before_transmit();
            let observer = &mut |_: Instant, e: &Event| monitor.on_event(e);
            let Some(segment) = self.connection.poll_transmit(self.now, observer) else { break };
            self.trace("sends", segment);
            self.monitor.on_sent(&segment, &self.connection);
        }
        self.monitor.check(&self.connection);
    }

    /// Sends all segments, and runs all timers that are due.
    fn settle(&mut self) {
        self.pump();
        if self.room < usize::MAX {
            self.room = usize::MAX;
            return;
        }
        let mut rounds = 0;
        while self.now < END_OF_TIME
            && self.connection.poll_timeout().is_some_and(|due| due <= self.now)
        {
            self.timeout();
            self.pump();
            rounds += 1;
            assert!(rounds < 10_000, "its timers are always due");
        }
        if self.now < END_OF_TIME {
            self.monitor.settled(&self.connection);
        }
    }

    fn numbers(&self) -> Numbers {
        let connection = &self.connection;
        let first = LOCAL_ISN.add(1);
        let expected = self.monitor.peer.initial.add(1).at(connection.received());
        Numbers {
            expected,
            edge: self.monitor.peer.edge.unwrap_or(expected),
            una: first.at(connection.acknowledged()),
            nxt: first.at(connection.acknowledged() + connection.in_flight()),
            mss: connection.max_payload(),
            timestamps: self.stamp(),
        }
    }

    fn stamp(&self) -> Timestamps {
        let ms = (self.now.as_nanos() / 1_000_000) as u32;
        let (recent, echo) = (self.monitor.stamps.echoed, self.monitor.stamps.sent);
        let value = if (ms.wrapping_sub(recent) as i32) < 0 { recent } else { ms };
        Timestamps { value, echo }
    }

    /// Checks that a peer that now accepts everything, with an open window, receives more data.
    fn serve_an_honest_peer(&mut self) {
        if !self.connection.state().is_synchronised() {
            return;
        }
        // The answer to an old segment shows the timestamp that must not be older.
        let numbers = self.numbers();
        let old = Segment { seq: numbers.expected.add(u32::MAX), len: 1, ..numbers.honest() };
        self.receive(old);
        self.settle();
        self.accept_the_next_octet();
        // The ranges that the peer has reported.
        let mut has = Ranges::default();
        let connection = &self.connection;
        let nxt = connection.acknowledged() + connection.in_flight();
        has.add(0, connection.acknowledged());
        for &(left, right) in &self.monitor.peer.claimed {
            has.add(left, right.min(nxt));
        }
        let mut una = self.connection.acknowledged();
        let mut useless = 0;
        let mut served = 0;
        // After long round trips a sender may wait for long.
        for _ in 0..300 {
            let over = served == 8 || self.now == END_OF_TIME || self.has_grown();
            if over || !self.monitor.unfinished(&self.connection) {
                return;
            }
            let sent = std::mem::take(&mut self.monitor.sent);
            useless += u32::from(!sent.is_empty());
            assert!(useless < 60, "it does not send what the peer lacks");
            for (left, right) in sent {
                has.add(left, right);
            }
            let ack = LOCAL_ISN.add(1).at(has.prefix());
            let seq = self.monitor.latest_number(&self.connection);
            self.receive(Segment { seq, ack, ..self.honest() });
            self.settle();
            if self.connection.acknowledged() > una {
                una = self.connection.acknowledged();
                useless = 0;
                served += 1;
            } else if self.monitor.sent.is_empty() {
                self.next_timer();
                self.settle();
            }
        }
    }

    /// Checks that there is room for an octet once the application has read everything.
    fn accept_the_next_octet(&mut self) {
        use State::{Established, FinWait1, FinWait2};
        self.read(u64::MAX);
        self.settle();
        let received = self.connection.received();
        if !matches!(self.connection.state(), Established | FinWait1 | FinWait2) {
            return;
        }
        self.receive(Segment { len: 1, ..self.honest() });
        self.settle();
        assert!(self.connection.received() > received, "the next octet is not accepted");
    }
}

/// Returns the 64-bit place of `number`, counted from `first`, that is nearest to `near`.
fn place(number: SeqNr, first: SeqNr, near: u64) -> i64 {
    near as i64 + i64::from(number.distance(first.at(near)))
}
