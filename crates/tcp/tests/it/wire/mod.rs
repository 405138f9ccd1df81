//! Connection traces: one end of a connection, and a peer made of segments.
//!
//! ```ignore
//! let mut t = End::listen(config());
//! t.gets("S 0").sends("S. 0 a1").is(State::SynReceived);
//! t.at(10).gets(". 1 a1").sends("").is(State::Established);
//! t.gets("P. 1:101 a1 w5000").sends(". 1 a101");
//! ```
//!
//! A segment is written as its flags (`S`, `F`, `R`, `P`, `E` for ECE, `W` for CWR, and `.` for an
//! acknowledgement; `-` for none), its sequence number or the range of its payload, and, where they matter, `a` the
//! acknowledgement, `w` the window field, and options: `mss1000`, `ws3`, `sackok`, `sack5-9`,
//! `ts100:7`, and the ECN field of the IP header: `ect0`, `ect1` or `ce`. Sequence numbers count from the SYN of the segment's sender, which is 0. The window
//! and the options of segments sent are compared only if the expectation names them. A trace must
//! check everything that is sent.

use unruffled_tcp::{
    Config, Connection, Ecn, Error, Event, Flags, Ignored, SackBlocks, Segment, SeqNr, State,
    Timestamps, Unreachable, Variant,
};
use unruffled_units::{Duration, Instant};

/// Initial sequence numbers, which wrap early.
pub(crate) const OURS: SeqNr = SeqNr(u32::MAX - 50);
pub(crate) const THEIRS: SeqNr = SeqNr(u32::MAX - 150);

/// The ECN fields of the IP header, as traces name them. They are always compared.
const FIELDS: [(&str, Ecn); 3] = [("ect0", Ecn::ECT_0), ("ect1", Ecn::ECT_1), ("ce", Ecn::CE)];

/// Returns a configuration with segments of 1000 octets and an unscaled window.
pub(crate) fn config() -> Config {
    Config { mss: 1000, receive_buffer: 10_000, isn: OURS.0, ..Config::simulated() }
}

/// One end of a connection.
pub(crate) struct End {
    pub(crate) connection: Connection,
    now: Instant,
    sent: Vec<Segment>,
    ignored: Vec<Ignored>,
    pub(crate) events: Vec<Event>,
}

impl End {
    fn new(connection: Connection) -> Self {
        let sent = Vec::new();
        let ignored = Vec::new();
        let events = Vec::new();
        Self { connection, now: Instant::from_millis(1_000_000), sent, ignored, events }
    }

    pub(crate) fn listen(config: Config) -> Self {
        Self::new(Connection::listen(config, &variant()))
    }

    /// Connects; the SYN is still to be checked.
    pub(crate) fn connect(config: Config) -> Self {
        let mut end = Self::new(Connection::connect(config, &variant()));
        end.pump();
        end
    }

    /// Returns a client whose server answered with `syn_ack`.
    pub(crate) fn connected(config: Config, syn_ack: &str) -> Self {
        Self::connected_as("sack", config, syn_ack)
    }

    /// Returns a client with the sender called `name`, whose server answered with `syn_ack`.
    pub(crate) fn connected_as(name: &str, config: Config, syn_ack: &str) -> Self {
        let variant = Variant::named(name).expect("a variant of this name");
        let mut end = Self::new(Connection::connect(config, &variant));
        end.pump();
        end.sends("S 0").gets(syn_ack).sends(". 1 a1").is(State::Established);
        end
    }

    /// Returns a client of a server with a window of 10 segments.
    pub(crate) fn established(config: Config) -> Self {
        Self::connected(config, "S. 0 a1 w10000 mss1000 sackok")
    }

    #[track_caller]
    fn assert_all_checked(&mut self) {
        let left: Vec<String> = self.sent.iter().map(|s| show(s, "")).collect();
        assert!(left.is_empty(), "sent, and not in the trace: {}", left.join(", "));
        self.ignored.clear();
        self.events.clear();
    }

    /// Moves to `ms` after the beginning. No timer may be due before.
    #[track_caller]
    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.assert_all_checked();
        let now = Instant::from_millis(1_000_000 + ms);
        assert!(now >= self.now, "back in time, to {ms} ms");
        if let Some(due) = self.connection.poll_timeout() {
            assert!(due >= now, "a timer is due at {} ms", self.ms(due));
        }
        self.now = now;
        self
    }

    fn ms(&self, at: Instant) -> f64 {
        at.since(Instant::from_millis(1_000_000)).as_millis_f64()
    }

    /// Moves to the next timer, and expires it.
    #[track_caller]
    pub(crate) fn timer(&mut self) -> &mut Self {
        self.assert_all_checked();
        let due = self.connection.poll_timeout().expect("a timer");
        self.now = self.now.max(due);
        let now = self.now;
        let events = &mut self.events;
        self.connection.handle_timeout(now, &mut |_, e: &Event| events.push(*e));
        self.pump();
        self
    }

    /// Checks that the next timer is due at `ms`.
    #[track_caller]
    pub(crate) fn timer_at(&mut self, ms: u64) -> &mut Self {
        let due = self.connection.poll_timeout().map(|due| self.ms(due));
        assert_eq!(due, Some(ms as f64), "the next timer");
        self
    }

    #[track_caller]
    pub(crate) fn no_timer(&mut self) -> &mut Self {
        assert_eq!(self.connection.poll_timeout().map(|due| self.ms(due)), None);
        self
    }

    /// Delivers a segment.
    #[track_caller]
    pub(crate) fn gets(&mut self, segment: &str) -> &mut Self {
        self.assert_all_checked();
        let segment = parse(segment, THEIRS, OURS);
        let now = self.now;
        let events = &mut self.events;
        self.connection.handle_segment(&segment, now, &mut |_, e: &Event| events.push(*e));
        self.record_ignored();
        self.pump();
        self
    }

    #[track_caller]
    pub(crate) fn writes(&mut self, octets: u64) -> &mut Self {
        self.assert_all_checked();
        self.connection.write(octets);
        self.pump();
        self
    }

    #[track_caller]
    pub(crate) fn reads(&mut self, octets: u64) -> &mut Self {
        self.assert_all_checked();
        self.connection.read(octets);
        self.pump();
        self
    }

    #[track_caller]
    pub(crate) fn finishes(&mut self) -> &mut Self {
        self.assert_all_checked();
        self.connection.finish();
        self.pump();
        self
    }

    #[track_caller]
    pub(crate) fn aborts(&mut self) -> &mut Self {
        self.assert_all_checked();
        self.connection.abort();
        self.pump();
        self
    }

    /// Delivers an ICMP message that the packet at `quoted` was too big.
    #[track_caller]
    pub(crate) fn too_big(&mut self, mtu: u32, quoted: u32) -> &mut Self {
        self.assert_all_checked();
        let now = self.now;
        let events = &mut self.events;
        let quoted = OURS.add(quoted);
        self.connection
            .handle_packet_too_big(mtu, quoted, now, &mut |_, e: &Event| events.push(*e));
        self.record_ignored();
        self.pump();
        self
    }

    /// Delivers an ICMP message that the packet at `quoted` did not reach `what`.
    #[track_caller]
    pub(crate) fn cannot_reach(&mut self, what: Unreachable, quoted: u32) -> &mut Self {
        self.assert_all_checked();
        let now = self.now;
        let events = &mut self.events;
        let quoted = OURS.add(quoted);
        self.connection.handle_unreachable(what, quoted, now, &mut |_, e: &Event| events.push(*e));
        self.record_ignored();
        self.pump();
        self
    }

    fn record_ignored(&mut self) {
        let reasons = self.events.iter().filter_map(|event| match event {
            Event::Ignored { reason } => Some(*reason),
            _ => None,
        });
        self.ignored.extend(reasons);
    }

    fn pump(&mut self) {
        let now = self.now;
        let events = &mut self.events;
        while let Some(segment) =
            self.connection.poll_transmit(now, &mut |_, e: &Event| events.push(*e))
        {
            self.sent.push(segment);
        }
    }

    /// Checks the segments sent, separated by commas.
    #[track_caller]
    pub(crate) fn sends(&mut self, expected: &str) -> &mut Self {
        let expected: Vec<&str> = expected.split(", ").filter(|e| !e.is_empty()).collect();
        let sent: Vec<String> = self
            .sent
            .iter()
            .enumerate()
            .map(|(i, segment)| show(segment, expected.get(i).copied().unwrap_or_default()))
            .collect();
        assert_eq!(sent.join(", "), expected.join(", "), "what was sent");
        self.sent.clear();
        self
    }

    #[track_caller]
    pub(crate) fn is(&mut self, state: State) -> &mut Self {
        assert_eq!(self.connection.state(), state);
        self
    }

    /// Checks that the connection has ended with this error.
    #[track_caller]
    pub(crate) fn failed(&mut self, error: Error) -> &mut Self {
        self.is(State::Closed).no_timer();
        assert_eq!(self.connection.error(), Some(error));
        self
    }

    /// Checks that the last segment was dropped for this reason.
    #[track_caller]
    pub(crate) fn ignores(&mut self, reason: Ignored) -> &mut Self {
        assert_eq!(self.ignored, [reason], "what was ignored");
        self
    }

    #[track_caller]
    pub(crate) fn accepts(&mut self) -> &mut Self {
        assert_eq!(self.ignored, [], "what was ignored");
        self
    }
}

pub(crate) fn variant() -> Variant {
    Variant::named("sack").expect("a variant")
}

pub(crate) fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Parses a segment whose sequence number counts from `from`, and whose acknowledgement counts from
/// `to`.
pub(crate) fn parse(text: &str, from: SeqNr, to: SeqNr) -> Segment {
    let mut words = text.split_whitespace();
    let letters = words.next().expect("flags");
    let has = |letter| letters.contains(letter);
    let flags = Flags { syn: has('S'), ack: has('.'), fin: has('F'), rst: has('R'), psh: has('P') };
    let ece = if has('E') { Ecn::ECE } else { Ecn::NONE };
    let cwr = if has('W') { Ecn::CWR } else { Ecn::NONE };
    let number = |n: &str| n.parse::<i64>().unwrap_or_else(|_| panic!("{n} in {text:?}"));
    let at = |origin: SeqNr, n: &str| origin.add(number(n) as u32);
    let range = words.next().expect("a number");
    let (first, len) = match range.split_once(':') {
        Some((first, end)) => (first, (number(end) - number(first)) as u32),
        None => (range, 0),
    };
    let mut segment =
        Segment { seq: at(from, first), len, flags, window: 10_000, ..Segment::default() };
    segment.ecn = ece | cwr;
    let mut sack = SackBlocks::default();
    for word in words {
        if let Some((_, field)) = FIELDS.iter().find(|(name, _)| *name == word) {
            segment.ecn = segment.ecn | *field;
        } else if word == "sackok" {
            segment.sack_permitted = true;
        } else if let Some(block) = word.strip_prefix("sack") {
            let (left, right) = block.split_once('-').expect("a block");
            sack.push(at(to, left), at(to, right));
        } else if let Some(mss) = word.strip_prefix("mss") {
            segment.mss = Some(number(mss) as u16);
        } else if let Some(scale) = word.strip_prefix("ws") {
            segment.window_scale = Some(number(scale) as u8);
        } else if let Some(window) = word.strip_prefix('w') {
            segment.window = number(window) as u16;
        } else if let Some(ts) = word.strip_prefix("ts") {
            let (value, echo) = ts.split_once(':').expect("two timestamps");
            segment.timestamps =
                Some(Timestamps { value: number(value) as u32, echo: number(echo) as u32 });
        } else if let Some(ack) = word.strip_prefix('a') {
            segment.ack = at(to, ack);
        } else {
            panic!("{word} in {text:?}");
        }
    }
    segment.sack = sack;
    segment
}

/// Formats a segment of this end with the fields that `expected` names.
fn show(segment: &Segment, expected: &str) -> String {
    let flags = segment.flags;
    let letters: String = [(flags.syn, 'S'), (flags.fin, 'F'), (flags.rst, 'R'), (flags.psh, 'P')]
        .into_iter()
        .chain([(segment.ecn.has_ece(), 'E'), (segment.ecn.has_cwr(), 'W'), (flags.ack, '.')])
        .filter_map(|(set, letter)| set.then_some(letter))
        .collect();
    let seq = i64::from(segment.seq.distance(OURS));
    let mut text = format!("{letters} {seq}");
    if segment.len > 0 {
        text += &format!(":{}", seq + i64::from(segment.len));
    }
    if flags.ack {
        text += &format!(" a{}", segment.ack.distance(THEIRS));
    }
    for word in expected.split_whitespace().skip(1) {
        if word == "sackok" {
            text += if segment.sack_permitted { " sackok" } else { " nosack" };
        } else if word.starts_with("sack") && !text.contains(" sack") {
            for block in segment.sack.as_slice() {
                let left = block.left.distance(THEIRS);
                let right = block.right.distance(THEIRS);
                text += &format!(" sack{left}-{right}");
            }
        } else if word.starts_with("mss") {
            text += &segment.mss.map_or(" nomss".to_owned(), |mss| format!(" mss{mss}"));
        } else if word.starts_with("ws") || word == "nows" {
            text += &segment.window_scale.map_or(" nows".to_owned(), |ws| format!(" ws{ws}"));
        } else if word.starts_with('w') {
            text += &format!(" w{}", segment.window);
        } else if word.starts_with("ts") || word == "nots" {
            let shown = |t: Timestamps| format!(" ts{}:{}", t.value, t.echo);
            text += &segment.timestamps.map_or(" nots".to_owned(), shown);
        }
    }
    let field = Ecn::from_ip(segment.ecn.ip_field());
    if let Some((name, _)) = FIELDS.iter().find(|(_, known)| *known == field) {
        text += &format!(" {name}");
    }
    text
}
