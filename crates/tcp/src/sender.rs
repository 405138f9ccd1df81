//! The sending half of a connection: a stream, and the machine that decides what to send of it.
//!
//! [`Stream`] is what every sender has. What it makes of acknowledgements and timers is the matter of
//! a machine: the one composed of [parts](crate::parts), or TCP-PR's, which replaces them all.

mod composed;
mod growth;
mod machine;
mod numbers;
mod reductions;
mod round_trips;
mod stream;
pub(crate) mod tcp_pr;

use unruffled_units::{Duration, Instant};

pub(crate) use composed::{Acks, Composition, Phase, Reduction};
pub(crate) use stream::{Lengths, Transmission};

use crate::Config;
use crate::observer::Observer;
use crate::parts::Variable;
use crate::parts::control::Window;
use crate::parts::timer::AnyTimer;
use crate::parts::timer::rfc6298::Rfc6298;
use machine::Machine;
use round_trips::Estimates;
use stream::{Stream, WindowProbe};

/// An acknowledgement, in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    /// Cumulative: the first octet that is still expected.
    pub(crate) una: u64,
    /// SACK blocks above it.
    pub(crate) blocks: &'a [(u64, u64)],
    /// What was received twice.
    pub(crate) dsack: Option<(u64, u64)>,
    /// It repeats the last acknowledgement and carries nothing else.
    pub(crate) repeated: bool,
    /// It does so while data is outstanding (RFC 5681, section 2).
    pub(crate) duplicate: bool,
    /// A retransmission triggered it (in simulation).
    pub(crate) rtx: bool,
    /// No segment sent after this instant can have triggered it, by its timestamp's echo.
    pub(crate) echo: Option<Instant>,
}

/// What a sender is made of.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// Parts.
    Composed(Composition),
    /// TCP-PR, which takes no parts.
    TcpPr(tcp_pr::Settings),
}

impl Recipe {
    /// The parts in words, in the order of the questions they answer.
    pub(crate) fn about(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Composed(parts) => parts.about(),
            Self::TcpPr(settings) => settings.about(),
        }
    }
}

/// What a segment takes in the tables at the most while it is outstanding, in octets.
pub(crate) const SEGMENT_OCTETS: usize = Stream::SEGMENT_OCTETS + composed::SUSPICION_OCTETS;

/// The sending half.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    pub(crate) stream: Stream,
    /// When the last acknowledgement had been read, nothing was left for the machine to wait for.
    settled: bool,
    machine: Machine,
}

impl Sender {
    pub(crate) fn new(config: &Config, recipe: &Recipe) -> Self {
        let stream = match recipe {
            Recipe::Composed(parts) => {
                let selective = parts.acks == Acks::Sack;
                Stream::new(config, selective, parts.lengths, (parts.timer)(config))
            }
            Recipe::TcpPr(settings) => {
                let timer = AnyTimer::Rfc6298(Rfc6298);
                Stream::new(config, settings.selective, Lengths::Mean, timer)
            }
        };
        let machine = Machine::new(config, recipe);
        Self { settled: machine.settled(&stream), stream, machine }
    }

    /// What the tables take that grow with what is outstanding, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.stream.table_octets() + self.machine.table_octets()
    }

    /// Frees what of them is not in use.
    pub(crate) fn shrink(&mut self) {
        self.stream.shrink();
        self.machine.shrink();
    }

    /// The peer turned out not to know SACK.
    pub(crate) fn without_sack(&mut self, now: Instant) {
        self.machine.without_sack(&self.stream, now);
        self.stream.without_sack();
    }

    /// A round trip was timed outside the stream (by the handshake).
    pub(crate) fn sample_rtt(&mut self, rtt: Duration, now: Instant) {
        self.stream.min_rtt.sample(rtt, now);
        self.stream.round_trips.on_handshake(rtt);
        self.machine.on_handshake(rtt);
    }

    /// A SYN, or the answer to one, was sent again before the connection stood: "the initial window
    /// (…) MUST be one segment" (RFC 5681, section 3.1), and the timeout "MUST be re-initialized to 3
    /// seconds" (RFC 6298, 5.7).
    pub(crate) fn after_lost_syn(&mut self) {
        self.stream.round_trips.after_lost_syn();
        self.machine.after_lost_syn();
    }

    /// The handshake's timer expired.
    pub(crate) fn back_off(&mut self) {
        self.stream.round_trips.back_off();
    }

    /// The attempt is over that it expired in.
    pub(crate) fn forget_back_off(&mut self) {
        self.stream.round_trips.forget_backoff();
    }

    pub(crate) fn window(&self) -> Window {
        self.machine.window()
    }

    /// Whether a loss or a timeout is being recovered from.
    pub(crate) fn recovering(&self) -> bool {
        self.machine.phase() != Phase::Open
    }

    /// Round-trip times and the timeout in force.
    pub(crate) fn estimates(&self) -> Estimates {
        self.machine.estimates(&self.stream)
    }

    /// The timeout of a handshake's timer that starts now.
    pub(crate) fn handshake_timeout(&mut self) -> Duration {
        self.machine.handshake_timeout(&mut self.stream.round_trips)
    }

    pub(crate) fn dupthresh(&self) -> Option<u32> {
        self.machine.dupthresh()
    }

    /// Shows the algorithms' variables.
    pub(crate) fn variables(&self, now: Instant, show: &mut dyn FnMut(Variable)) {
        self.machine.variables(&self.stream, now, show);
    }

    /// An acceptable acknowledgement arrived: none before una, none beyond what was sent.
    pub(crate) fn on_ack(&mut self, ack: Ack<'_>, now: Instant, observer: &mut impl Observer) {
        self.machine.on_ack(&mut self.stream, ack, now, observer);
        self.settled = !self.stream.outstanding() && self.machine.settled(&self.stream);
    }

    /// Nothing is on its way, and nothing that was is still to be judged: an acknowledgement without
    /// SACK blocks tells nothing, and no timer runs.
    #[inline]
    pub(crate) fn settled(&self) -> bool {
        self.settled && !self.stream.outstanding()
    }

    /// Nothing is to be sent, nor was anything that is still of concern.
    #[inline]
    pub(crate) fn idle(&self) -> bool {
        self.settled() && !self.stream.has_new()
    }

    /// Reads something of each line of memory that a connection with nothing on its way needs.
    pub(crate) fn touch(&self) -> u64 {
        self.stream.touch() ^ u64::from(self.settled)
    }

    /// The next segment that may leave at `now`, if any.
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Transmission> {
        if self.idle() {
            return None;
        }
        self.machine.poll(&mut self.stream, now)
    }

    /// When to call [`Sender::on_timers`] at the latest.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        if self.settled() { None } else { self.machine.next_timer() }
    }

    /// Timers may be due.
    pub(crate) fn on_timers(&mut self, now: Instant, observer: &mut impl Observer) {
        self.machine.on_timers(&mut self.stream, now, observer);
    }

    /// Asks for the peer's window, where that holds back what there is.
    pub(crate) fn probe_window(&mut self, now: Instant) -> Option<Transmission> {
        match self.stream.probe_window(now)? {
            WindowProbe::Within(len) => Some(self.machine.send_new(&mut self.stream, len, now)),
            WindowProbe::Beyond(octet) => Some(octet),
        }
    }

    /// `acked` is acknowledged: when that is a window probe's octet, the peer has taken it.
    #[inline(always)]
    pub(crate) fn settle_probe(&mut self, acked: u64) {
        if let Some(sent) = self.stream.settle_probe(acked) {
            self.machine.on_probe_taken(&self.stream, sent);
        }
    }

    /// From now on segments have at most `mss` octets. That the larger ones were dropped says
    /// nothing of congestion: the window stays, in octets, but is filled again by slow start.
    pub(crate) fn lower_mss(&mut self, mss: u32, now: Instant) {
        let ratio = self.stream.lower_mss(mss);
        self.machine.on_smaller_segments(ratio);
        if let Some(numbers) = self.stream.split() {
            self.machine.on_split(&mut self.stream, &numbers, now);
        }
    }

    #[cfg(test)]
    pub(crate) fn composed(&mut self) -> &mut composed::Composed {
        self.machine.composed()
    }

    #[cfg(test)]
    pub(crate) fn phase(&self) -> Phase {
        self.machine.phase()
    }
}
