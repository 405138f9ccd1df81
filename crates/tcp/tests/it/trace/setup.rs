//! What a trace starts with.

use unruffled_tcp::{
    Config, Connection, Duplicates, FastRecovery, Flags, Growth, Pipe, Segment, SeqNr, Timestamps,
    Variant,
};
use unruffled_units::Duration;

use super::{ISN, PEER, SEGMENT, START, Trace};

/// What a trace starts with.
pub(crate) struct Setup {
    pub(super) variant: Variant,
    pub(super) config: Config,
    pub(super) rtt: Duration,
    pub(super) segments: u64,
    pub(super) sack: bool,
    pub(super) peer_window: Option<u64>,
}

impl Setup {
    /// Sets a parameter of the sender.
    pub(crate) fn set(mut self, parameter: &str, value: &str) -> Self {
        self.variant.set(parameter, value).expect("a parameter and a value of it");
        self
    }

    /// Initial window, in segments.
    pub(crate) fn window(mut self, segments: u32) -> Self {
        self.config.window.initial = segments;
        self
    }

    /// Initial window, beyond which it never grows.
    pub(crate) fn fixed_window(mut self, segments: u32) -> Self {
        self.config.window.max = Some(segments);
        self.window(segments)
    }

    /// The peer's window, in segments; without this it is larger than anything sent.
    pub(crate) fn peer_window(mut self, segments: u64) -> Self {
        self.peer_window = Some(segments);
        self
    }

    /// Round-trip time of the handshake, in milliseconds.
    pub(crate) fn rtt(mut self, ms: u64) -> Self {
        self.rtt = Duration::from_millis(ms);
        self
    }

    /// After a pause the window is the initial one.
    pub(crate) fn restarts(mut self) -> Self {
        self.config.window.restart = true;
        self
    }

    /// Minimum retransmission timeout, in milliseconds.
    pub(crate) fn min_rto(mut self, ms: u64) -> Self {
        self.config.rto.min = Duration::from_millis(ms);
        self
    }

    /// The smallest maximum segment size that a path may ask for.
    pub(crate) fn min_mss(mut self, octets: u32) -> Self {
        self.config.segments.min_mss = octets;
        self
    }

    /// So many segments count at most for one acknowledgement (RFC 3465, L).
    pub(crate) fn byte_counting(mut self, l: u32) -> Self {
        self.config.window.byte_counting = l;
        self
    }

    /// Every new acknowledgement lets the window grow, as in ns-2.
    pub(crate) fn always_grows(mut self) -> Self {
        self.config.ns2.growth = Growth::Always;
        self
    }

    /// The application has this much to send at first, in segments; without this, no end of it.
    pub(crate) fn writes(mut self, segments: u64) -> Self {
        self.segments = segments;
        self
    }

    /// Timestamps are used.
    pub(crate) fn timestamps(mut self) -> Self {
        self.config.timestamps.offer = true;
        self
    }

    /// Duplicates and the pipe are counted as in ns-2's Sack1.
    pub(crate) fn ns2_counting(mut self) -> Self {
        self.config.ns2.duplicates = Duplicates::Run;
        self.config.ns2.pipe = Pipe::Counted;
        self
    }

    /// Reno's fast recovery is ns-2's.
    pub(crate) fn ns2_fast_recovery(mut self) -> Self {
        self.config.ns2.fast_recovery = FastRecovery::Ns2;
        self
    }

    /// The peer does not know SACK.
    pub(crate) fn without_sack(mut self) -> Self {
        self.sack = false;
        self
    }

    /// Plays the handshake.
    pub(crate) fn start(self) -> Trace {
        let mut connection = Connection::connect(self.config, &self.variant);
        connection.write(self.segments * SEGMENT);
        let begin = START - self.rtt;
        let syn = connection.poll_transmit(begin, &mut ()).expect("a SYN");
        assert!(syn.flags.syn && syn.seq == SeqNr(ISN));
        // An unscaled SYN's window, and scaled by eight afterwards.
        let window = self.peer_window.map_or(u16::MAX, |segments| (segments * SEGMENT / 8) as u16);
        let window_scale = Some(if self.peer_window.is_some() { 3 } else { 14 });
        let answer = Segment {
            seq: PEER,
            ack: SeqNr(ISN).add(1),
            flags: Flags { syn: true, ack: true, ..Flags::default() },
            window: self.peer_window.map_or(u16::MAX, |segments| (segments * SEGMENT) as u16),
            window_scale,
            sack_permitted: self.sack,
            timestamps: syn.timestamps.map(|t| Timestamps { value: 1, echo: t.value }),
            ..Segment::default()
        };
        connection.handle_segment(&answer, START, &mut ());
        let mut trace =
            Trace { connection, now: START, out: Vec::new(), seen: Vec::new(), echo: 0, window };
        trace.echo = trace.ticks(0);
        trace.pump();
        trace
    }
}
