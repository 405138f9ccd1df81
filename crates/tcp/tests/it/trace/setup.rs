//! Setup of a trace.

use unruffled_tcp::{
    Config, Connection, Duplicates, Ecn, EcnMode, FastRecovery, Flags, Growth, Pipe, Segment,
    SeqNr, Timestamps, Variant,
};
use unruffled_units::Duration;

use super::{ISN, PEER, SEGMENT, START, Trace};

/// Settings of a trace before its handshake.
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

    /// Sets the initial window, in segments.
    pub(crate) fn window(mut self, segments: u32) -> Self {
        self.config.window.initial = segments;
        self
    }

    /// Sets the initial window, and makes it the largest one.
    pub(crate) fn fixed_window(mut self, segments: u32) -> Self {
        self.config.window.max = Some(segments);
        self.window(segments)
    }

    /// Sets the peer's window, in segments. By default it is larger than anything sent.
    pub(crate) fn peer_window(mut self, segments: u64) -> Self {
        self.peer_window = Some(segments);
        self
    }

    /// Sets the round-trip time of the handshake, in milliseconds.
    pub(crate) fn rtt(mut self, ms: u64) -> Self {
        self.rtt = Duration::from_millis(ms);
        self
    }

    /// Restarts from the initial window after an idle period.
    pub(crate) fn restarts(mut self) -> Self {
        self.config.window.restart = true;
        self
    }

    /// Sets the minimum retransmission timeout, in milliseconds.
    pub(crate) fn min_rto(mut self, ms: u64) -> Self {
        self.config.rto.min = Duration::from_millis(ms);
        self
    }

    /// Sets the smallest maximum segment size that a path can impose.
    pub(crate) fn min_mss(mut self, octets: u32) -> Self {
        self.config.segments.min_mss = octets;
        self
    }

    /// Limits the segments that count for one acknowledgement (RFC 3465, L).
    pub(crate) fn byte_counting(mut self, l: u32) -> Self {
        self.config.window.byte_counting = l;
        self
    }

    /// Lets every new acknowledgement grow the window, as in ns-2.
    pub(crate) fn always_grows(mut self) -> Self {
        self.config.ns2.growth = Growth::Always;
        self
    }

    /// Sets how many segments the application writes at first. By default it writes without end.
    pub(crate) fn writes(mut self, segments: u64) -> Self {
        self.segments = segments;
        self
    }

    /// Offers timestamps.
    pub(crate) fn timestamps(mut self) -> Self {
        self.config.timestamps.offer = true;
        self
    }

    /// Counts duplicates and the pipe as in ns-2's Sack1.
    pub(crate) fn ns2_counting(mut self) -> Self {
        self.config.ns2.duplicates = Duplicates::Run;
        self.config.ns2.pipe = Pipe::Counted;
        self
    }

    /// Uses ns-2's fast recovery for Reno.
    pub(crate) fn ns2_fast_recovery(mut self) -> Self {
        self.config.ns2.fast_recovery = FastRecovery::Ns2;
        self
    }

    /// Uses ECN, to which the peer agrees.
    pub(crate) fn ecn(mut self) -> Self {
        self.config.ecn = EcnMode::Request;
        self
    }

    /// Makes the peer offer no SACK.
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
        // Unscaled in the SYN, and scaled by eight afterwards.
        let window = self.peer_window.map_or(u16::MAX, |segments| (segments * SEGMENT / 8) as u16);
        let window_scale = Some(if self.peer_window.is_some() { 3 } else { 14 });
        let answer = Segment {
            seq: PEER,
            ack: SeqNr(ISN).add(1),
            flags: Flags { syn: true, ack: true, ..Flags::default() },
            window: self.peer_window.map_or(u16::MAX, |segments| (segments * SEGMENT) as u16),
            window_scale,
            ecn: if syn.ecn.has_ece() { Ecn::ECE } else { Ecn::NONE },
            sack_permitted: self.sack,
            timestamps: syn.timestamps.map(|t| Timestamps { value: 1, echo: t.value }),
            ..Segment::default()
        };
        connection.handle_segment(&answer, START, &mut ());
        let mut trace = Trace {
            connection,
            now: START,
            out: Vec::new(),
            reported: Vec::new(),
            echo: 0,
            window,
            cwr: Vec::new(),
            packets: Vec::new(),
        };
        trace.echo = trace.ticks(0);
        trace.pump();
        trace
    }
}
