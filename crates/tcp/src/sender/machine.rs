//! The three kinds of machine. This is the only module that distinguishes between them.

use unruffled_units::{Duration, Instant};

use super::composed::{Composed, Step};
use super::quic::Quic;
use super::round_trips::{Estimates, RoundTrips};
use super::stream::{Renumbered, Stream, Transmission};
use super::tcp_pr::TcpPr;
use super::{Ack, Phase, Recipe};
use crate::Config;
use crate::observer::Observer;
use crate::parts::Variable;
use crate::parts::control::Window;

/// The half of a sender that detects losses, sets the window and chooses what to send.
#[derive(Debug)]
pub(super) enum Machine {
    /// A machine composed of parts.
    Composed(Composed),
    /// TCP-PR, which does the work of all parts.
    TcpPr(TcpPr),
    /// A QUIC stack, which numbers its packets.
    Quic(Box<Quic>),
}

impl Machine {
    pub(super) fn new(config: &Config, recipe: &Recipe) -> Self {
        match recipe {
            Recipe::Composed(parts) => Self::Composed(Composed::new(config, parts)),
            Recipe::TcpPr(settings) => Self::TcpPr(TcpPr::new(config, settings)),
            Recipe::Quic(parts) => Self::Quic(Box::new(Quic::new(config, parts))),
        }
    }

    /// Returns whether the congestion control takes samples of the path.
    pub(super) fn samples_path(&self) -> bool {
        match self {
            Self::Composed(machine) => machine.samples_path(),
            Self::TcpPr(_) => false,
            Self::Quic(_) => false,
        }
    }

    /// Returns whether pacing has to permit each segment.
    pub(super) fn paces(&self) -> bool {
        match self {
            Self::Composed(machine) => machine.paces(),
            Self::TcpPr(_) => false,
            Self::Quic(machine) => machine.paces(),
        }
    }

    /// Returns when pacing permits what it holds back; the maximum if it holds nothing back.
    pub(super) fn paced_until(&self) -> Instant {
        match self {
            Self::Composed(machine) => machine.paced_until(),
            Self::TcpPr(_) => Instant::MAX,
            Self::Quic(machine) => machine.paced_until(),
        }
    }

    pub(super) fn disable_sack(&mut self, stream: &Stream, now: Instant) {
        match self {
            Self::Composed(machine) => machine.disable_sack(stream, now),
            Self::TcpPr(machine) => machine.disable_sack(stream, now),
            Self::Quic(_) => {}
        }
    }

    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        match self {
            Self::Composed(machine) => machine.on_handshake(rtt),
            Self::TcpPr(machine) => machine.on_handshake(rtt),
            Self::Quic(_) => {}
        }
    }

    pub(super) fn after_lost_syn(&mut self) {
        match self {
            Self::Composed(machine) => machine.after_lost_syn(),
            Self::TcpPr(machine) => machine.after_lost_syn(),
            Self::Quic(machine) => machine.after_lost_syn(),
        }
    }

    pub(super) fn table_octets(&self) -> usize {
        match self {
            Self::Composed(machine) => machine.table_octets(),
            Self::TcpPr(machine) => machine.table_octets(),
            Self::Quic(machine) => machine.table_octets(),
        }
    }

    /// Returns the maximum memory that samples of the path take for an outstanding segment, in octets.
    pub(super) fn sample_octets(&self) -> usize {
        match self {
            Self::Composed(machine) => machine.sample_octets(),
            Self::TcpPr(_) => 0,
            Self::Quic(_) => Quic::SEGMENT_OCTETS,
        }
    }

    pub(super) fn shrink(&mut self) {
        match self {
            Self::Composed(machine) => machine.shrink(),
            Self::TcpPr(machine) => machine.shrink(),
            Self::Quic(machine) => machine.shrink(),
        }
    }

    pub(super) fn window(&self) -> Window {
        match self {
            Self::Composed(machine) => machine.window(),
            Self::TcpPr(machine) => machine.window(),
            Self::Quic(machine) => machine.window(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        match self {
            Self::Composed(machine) => machine.phase(),
            Self::TcpPr(machine) => machine.phase(),
            Self::Quic(machine) => machine.phase(),
        }
    }

    /// Returns the round-trip times and the timeout in force.
    pub(super) fn estimates(&self, stream: &Stream) -> Estimates {
        match self {
            Self::Composed(_) | Self::Quic(_) => stream.round_trips.estimates(),
            Self::TcpPr(machine) => machine.estimates(stream),
        }
    }

    pub(super) fn handshake_timeout(&mut self, round_trips: &mut RoundTrips) -> Duration {
        match self {
            Self::Composed(machine) => machine.handshake_timeout(round_trips),
            Self::TcpPr(machine) => machine.handshake_timeout(round_trips),
            Self::Quic(machine) => machine.handshake_timeout(round_trips),
        }
    }

    pub(super) fn dupthresh(&self) -> Option<u32> {
        match self {
            Self::Composed(machine) => machine.dupthresh(),
            Self::TcpPr(machine) => machine.dupthresh(),
            Self::Quic(machine) => machine.dupthresh(),
        }
    }

    pub(super) fn variables(&self, stream: &Stream, now: Instant, show: &mut dyn FnMut(Variable)) {
        match self {
            Self::Composed(machine) => machine.variables(stream, now, show),
            Self::TcpPr(machine) => machine.variables(stream, now, show),
            Self::Quic(machine) => machine.variables(stream, now, show),
        }
    }

    /// Returns whether an acknowledgement is [predicted](Composed::predicts).
    #[inline]
    pub(super) fn predicts(&self, stream: &Stream, una: u64) -> bool {
        match self {
            Self::Composed(machine) => machine.predicts(stream, una),
            Self::TcpPr(_) => false,
            Self::Quic(_) => false,
        }
    }

    /// Processes an acknowledgement that is [predicted](Self::predicts).
    #[inline]
    pub(super) fn on_predicted_ack(
        &mut self,
        stream: &mut Stream,
        una: u64,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if let Self::Composed(machine) = self {
            machine.on_predicted_ack(stream, una, now, observer);
        }
    }

    #[inline]
    pub(super) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        match self {
            Self::Composed(machine) => machine.on_ack(stream, ack, now, observer),
            Self::TcpPr(machine) => machine.on_ack(stream, ack, now, observer),
            Self::Quic(machine) => machine.on_ack(stream, ack, now, observer),
        }
    }

    /// Returns whether the new data that is sent now carries CWR.
    pub(super) fn take_cwr(&mut self) -> bool {
        match self {
            Self::Composed(machine) => machine.take_cwr(),
            Self::TcpPr(machine) => machine.take_cwr(),
            Self::Quic(machine) => machine.take_cwr(),
        }
    }

    /// Returns whether the machine has nothing to wait for while nothing is outstanding. For TCP-PR
    /// this is always false, because its tables do not show it.
    pub(super) fn settled(&self, stream: &Stream) -> bool {
        match self {
            Self::Composed(machine) => machine.settled(stream),
            Self::TcpPr(_) => false,
            Self::Quic(machine) => machine.settled(),
        }
    }

    #[inline(always)]
    pub(super) fn poll(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        match self {
            Self::Composed(machine) => machine.poll(stream, now),
            Self::TcpPr(machine) => machine.poll(stream, now),
            Self::Quic(machine) => machine.poll(stream, now),
        }
    }

    /// Sends the next `len` octets, whatever the window.
    pub(super) fn send_new(&mut self, stream: &mut Stream, len: u64, now: Instant) -> Transmission {
        match self {
            Self::Composed(machine) => machine.send_new(stream, len, now),
            Self::TcpPr(machine) => machine.send_new(stream, len, now),
            Self::Quic(machine) => machine.send_new(stream, len, now),
        }
    }

    /// Records that the peer accepted the octet of a window probe. It was sent at `sent` and is now
    /// the last segment on the scoreboard.
    pub(super) fn on_window_probe_accepted(&mut self, stream: &Stream, sent: Instant) {
        match self {
            Self::Composed(_) => {}
            Self::TcpPr(machine) => machine.on_window_probe_accepted(stream, sent),
            Self::Quic(machine) => machine.on_window_probe_accepted(stream, sent),
        }
    }

    /// Returns when the next timer is due, that of pacing excluded; the maximum if none runs.
    #[inline]
    pub(super) fn next_timer(&self) -> Instant {
        match self {
            Self::Composed(machine) => machine.next_timer(),
            Self::TcpPr(machine) => machine.next_timer(),
            Self::Quic(machine) => machine.next_timer(),
        }
    }

    #[inline]
    pub(super) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        match self {
            Self::Composed(sender) => Step { sender, stream, now, observer }.on_timers(),
            Self::TcpPr(machine) => machine.on_timers(stream, now, observer),
            Self::Quic(machine) => machine.on_timers(stream, now, observer),
        }
    }

    /// Adapts the state when segments become smaller by the factor `ratio`. The window keeps its
    /// size in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        match self {
            Self::Composed(machine) => machine.on_smaller_segments(ratio),
            Self::TcpPr(machine) => machine.on_smaller_segments(ratio),
            Self::Quic(machine) => machine.on_smaller_segments(ratio),
        }
    }

    /// Handles the splitting of segments that were too big for the path. Their pieces are sent
    /// again.
    pub(super) fn on_split(&mut self, stream: &mut Stream, numbers: &Renumbered, now: Instant) {
        match self {
            Self::Composed(machine) => machine.on_split(stream, numbers, now),
            Self::TcpPr(machine) => machine.on_split(stream, numbers, now),
            Self::Quic(machine) => machine.on_split(stream, numbers, now),
        }
    }

    #[cfg(test)]
    pub(super) fn composed(&mut self) -> &mut Composed {
        match self {
            Self::Composed(machine) => machine,
            Self::TcpPr(_) | Self::Quic(_) => panic!("composed of parts"),
        }
    }
}
