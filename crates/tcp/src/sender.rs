//! The sending half of a connection: a stream, and the machine that decides what to send of it.
//!
//! Every sender has a [`Stream`]. The machine responds to acknowledgements and timers. It is either
//! composed of [parts](crate::parts), or TCP-PR, which replaces all of them.

mod composed;
mod growth;
mod machine;
mod marks;
mod numbers;
pub(crate) mod quic;
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
use crate::segment::SackBlock;
use machine::Machine;
use round_trips::Estimates;
use stream::{Stream, WindowProbe};

/// An acknowledgement, in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack<'a> {
    /// Cumulative acknowledgement: the first octet that is still expected.
    pub(crate) una: u64,
    /// SACK blocks above `una`.
    pub(crate) blocks: &'a [(u64, u64)],
    /// The octets that a DSACK reports as received twice.
    pub(crate) dsack: Option<(u64, u64)>,
    /// Whether it repeats the last acknowledgement and carries nothing else.
    pub(crate) repeated: bool,
    /// Whether it is `repeated` and data is outstanding (RFC 5681, section 2).
    pub(crate) duplicate: bool,
    /// Whether a retransmission triggered it. Only the simulator sets this.
    pub(crate) rtx: bool,
    /// Whether it carries ECE, and this end sends ECN-capable segments.
    pub(crate) ece: bool,
    /// The latest time at which the segment that triggered it can have been sent, by the echoed
    /// timestamp.
    pub(crate) echo: Option<Instant>,
    /// Ranges of packet numbers, in acknowledgements of a stack that numbers its packets.
    pub(crate) packets: &'a [SackBlock],
    /// For how long the receiver held back the acknowledgement of the newest packet.
    pub(crate) ack_delay: Duration,
}

impl Ack<'_> {
    /// Returns an acknowledgement of new data in order, which reports nothing else.
    pub(crate) const fn of_new_data(una: u64) -> Self {
        Self {
            una,
            blocks: &[],
            dsack: None,
            repeated: false,
            duplicate: false,
            rtx: false,
            ece: false,
            echo: None,
            packets: &[],
            ack_delay: Duration::ZERO,
        }
    }
}

/// The description from which senders are made.
#[derive(Clone, Debug)]
pub(crate) enum Recipe {
    /// A sender composed of parts.
    Composed(Composition),
    /// TCP-PR, which takes no parts.
    TcpPr(tcp_pr::Settings),
    /// A QUIC stack.
    Quic(quic::Composition),
}

impl Recipe {
    /// Returns a description of each part.
    pub(crate) fn about(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Composed(parts) => parts.about(),
            Self::TcpPr(settings) => settings.about(),
            Self::Quic(parts) => parts.about(),
        }
    }
}

/// Maximum memory that an outstanding segment takes in the tables, in octets, without samples of the path.
const SEGMENT_OCTETS: usize = Stream::SEGMENT_OCTETS + composed::SUSPICION_OCTETS;

/// The sending half.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Sender {
    pub(crate) stream: Stream,
    /// Whether, after the last acknowledgement, nothing was outstanding and the machine was not waiting
    /// for anything.
    settled: bool,
    /// Whether pacing has to permit each segment.
    paces: bool,
    machine: Machine,
}

impl Sender {
    pub(crate) fn new(config: &Config, recipe: &Recipe) -> Self {
        let mut stream = match recipe {
            Recipe::Composed(parts) => {
                let selective = parts.acks == Acks::Sack;
                Stream::new(config, selective, parts.lengths, (parts.timer)(config))
            }
            Recipe::TcpPr(settings) => {
                let timer = AnyTimer::Rfc6298(Rfc6298);
                Stream::new(config, settings.selective, Lengths::Mean, timer)
            }
            Recipe::Quic(_) => Stream::new(config, true, Lengths::Mean, AnyTimer::Rfc6298(Rfc6298)),
        };
        let machine = Machine::new(config, recipe);
        if machine.samples_path() {
            stream.board.log_losses();
        }
        Self { settled: machine.settled(&stream), paces: machine.paces(), stream, machine }
    }

    /// Returns the maximum memory that an outstanding segment takes in the tables, in octets.
    pub(crate) fn segment_octets(&self) -> usize {
        SEGMENT_OCTETS + self.machine.sample_octets()
    }

    /// Returns the memory of the tables that grow with the number of outstanding segments, in
    /// octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.stream.table_octets() + self.machine.table_octets()
    }

    /// Frees unused memory of these tables.
    pub(crate) fn shrink(&mut self) {
        self.stream.shrink();
        self.machine.shrink();
    }

    /// Stops using SACK, because the peer does not support it.
    pub(crate) fn disable_sack(&mut self, now: Instant) {
        self.machine.disable_sack(&self.stream, now);
        self.stream.disable_sack();
    }

    /// Takes the round-trip time of the handshake.
    pub(crate) fn sample_rtt(&mut self, rtt: Duration, now: Instant) {
        self.stream.min_rtt.sample(rtt, now);
        self.stream.round_trips.on_handshake(rtt);
        self.machine.on_handshake(rtt);
    }

    /// Sets window and timeout after a SYN or a SYN-ACK was retransmitted: "the initial window (…)
    /// MUST be one segment" (RFC 5681, section 3.1), and the timeout "MUST be re-initialized to 3
    /// seconds" (RFC 6298, 5.7).
    pub(crate) fn after_lost_syn(&mut self) {
        self.stream.round_trips.after_lost_syn();
        self.machine.after_lost_syn();
    }

    /// Backs off the timeout, because the handshake's timer expired.
    pub(crate) fn back_off(&mut self) {
        self.stream.round_trips.back_off();
    }

    /// Ends the backoff of the handshake's timer after a failed attempt to connect.
    pub(crate) fn reset_backoff(&mut self) {
        self.stream.round_trips.forget_backoff();
    }

    pub(crate) fn window(&self) -> Window {
        self.machine.window()
    }

    /// Returns whether the sender is recovering from a loss or a timeout.
    pub(crate) fn recovering(&self) -> bool {
        self.machine.phase() != Phase::Open
    }

    /// Returns the round-trip times and the timeout in force.
    pub(crate) fn estimates(&self) -> Estimates {
        self.machine.estimates(&self.stream)
    }

    /// Returns the timeout of a handshake's timer that starts now.
    pub(crate) fn handshake_timeout(&mut self) -> Duration {
        self.machine.handshake_timeout(&mut self.stream.round_trips)
    }

    pub(crate) fn dupthresh(&self) -> Option<u32> {
        self.machine.dupthresh()
    }

    /// Passes each variable of the algorithms to `show`.
    pub(crate) fn variables(&self, now: Instant, show: &mut dyn FnMut(Variable)) {
        self.machine.variables(&self.stream, now, show);
    }

    /// Returns whether a cumulative acknowledgement up to `una`, without SACK blocks and ECE, is
    /// predicted: nothing but growth and timers depends on it. TCP-PR predicts none.
    #[inline]
    pub(crate) fn predicts(&self, una: u64) -> bool {
        self.machine.predicts(&self.stream, una)
    }

    /// Processes an acknowledgement that is [predicted](Self::predicts), with the result of
    /// [`Self::on_ack`].
    #[inline]
    pub(crate) fn on_predicted_ack(
        &mut self,
        una: u64,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.machine.on_predicted_ack(&mut self.stream, una, now, observer);
        self.settled = !self.stream.outstanding() && self.machine.settled(&self.stream);
    }

    /// Processes an acceptable acknowledgement: neither below SND.UNA nor beyond what was sent.
    pub(crate) fn on_ack(&mut self, ack: Ack<'_>, now: Instant, observer: &mut impl Observer) {
        self.machine.on_ack(&mut self.stream, ack, now, observer);
        self.settled = !self.stream.outstanding() && self.machine.settled(&self.stream);
    }

    /// Returns whether the new data that is sent now carries CWR, because the window was reduced since the
    /// last new data (RFC 3168, section 6.1.2).
    pub(crate) fn take_cwr(&mut self) -> bool {
        self.machine.take_cwr()
    }

    /// Returns whether nothing is outstanding and nothing remains undecided. An acknowledgement
    /// without SACK blocks then carries no information, and no timer runs.
    #[inline]
    pub(crate) fn settled(&self) -> bool {
        self.settled && !self.stream.outstanding()
    }

    /// Returns whether the sender is [settled](Self::settled) and has no new data that may be sent.
    #[inline]
    pub(crate) fn idle(&self) -> bool {
        self.settled() && !self.stream.has_new()
    }

    /// Reads from each cache line that a connection with nothing outstanding uses.
    pub(crate) fn touch(&self) -> u64 {
        self.stream.touch() ^ u64::from(self.settled)
    }

    /// Returns the next segment that may be sent at `now`, if any.
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Instant) -> Option<Transmission> {
        if self.idle() {
            return None;
        }
        self.machine.poll(&mut self.stream, now)
    }

    /// Returns the latest time for the next call of [`Sender::on_timers`]; the maximum if no timer
    /// runs.
    #[inline]
    pub(crate) fn next_timer(&self) -> Instant {
        if self.paces {
            return self.next_paced_timer();
        }
        if self.settled() { Instant::MAX } else { self.machine.next_timer() }
    }

    /// [`Self::next_timer`] of a sender that paces. Pacing may hold back new data while nothing is
    /// outstanding.
    #[inline(never)]
    fn next_paced_timer(&self) -> Instant {
        if self.idle() {
            return Instant::MAX;
        }
        self.machine.next_timer().min(self.machine.paced_until())
    }

    /// Handles the timers that are due at `now`.
    pub(crate) fn on_timers(&mut self, now: Instant, observer: &mut impl Observer) {
        self.machine.on_timers(&mut self.stream, now, observer);
    }

    /// Sends a window probe, if the peer's window holds back all data.
    pub(crate) fn probe_window(&mut self, now: Instant) -> Option<Transmission> {
        match self.stream.probe_window(now)? {
            WindowProbe::Within(len) => Some(self.machine.send_new(&mut self.stream, len, now)),
            WindowProbe::Beyond(octet) => Some(octet),
        }
    }

    /// Checks whether `acked` covers the octet of a window probe. The peer has then accepted it.
    #[inline(always)]
    pub(crate) fn check_window_probe(&mut self, acked: u64) {
        if let Some(sent) = self.stream.check_window_probe(acked) {
            self.machine.on_window_probe_accepted(&self.stream, sent);
        }
    }

    /// Limits segments to `mss` octets from now on. The loss of larger ones is no sign of
    /// congestion: the window keeps its size in octets, but slow start fills it again.
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
