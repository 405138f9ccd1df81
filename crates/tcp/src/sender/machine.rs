//! The two machines, and the one place that tells them apart.

use unruffled_units::{Duration, Instant};

use super::composed::Composed;
use super::stream::{Renumbered, Stream, Transmission};
use super::tcp_pr::TcpPr;
use super::{Ack, Phase, Recipe};
use crate::Config;
use crate::observer::Observer;
use crate::parts::Variable;
use crate::parts::control::Window;

/// Who decides on losses, on the window and on what to send.
#[derive(Debug)]
pub(super) enum Machine {
    /// The parts that the sender is composed of.
    Composed(Composed),
    /// TCP-PR, which is all of them in one.
    TcpPr(TcpPr),
}

macro_rules! either {
    ($self:expr, $machine:ident => $do:expr) => {
        match $self {
            Self::Composed($machine) => $do,
            Self::TcpPr($machine) => $do,
        }
    };
}

impl Machine {
    pub(super) fn new(config: &Config, recipe: &Recipe) -> Self {
        match recipe {
            Recipe::Composed(parts) => Self::Composed(Composed::new(config, parts)),
            Recipe::TcpPr(settings) => Self::TcpPr(TcpPr::new(config, settings)),
        }
    }

    pub(super) fn without_sack(&mut self, stream: &Stream, now: Instant) {
        either!(self, machine => machine.without_sack(stream, now));
    }

    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        either!(self, machine => machine.on_handshake(rtt));
    }

    pub(super) fn after_lost_syn(&mut self) {
        either!(self, machine => machine.after_lost_syn());
    }

    pub(super) fn back_off(&mut self) {
        either!(self, machine => machine.back_off());
    }

    pub(super) fn forget_back_off(&mut self) {
        either!(self, machine => machine.forget_back_off());
    }

    pub(super) fn table_octets(&self) -> usize {
        either!(self, machine => machine.table_octets())
    }

    pub(super) fn shrink(&mut self) {
        either!(self, machine => machine.shrink());
    }

    pub(super) fn window(&self) -> Window {
        either!(self, machine => machine.window())
    }

    pub(super) fn phase(&self) -> Phase {
        either!(self, machine => machine.phase())
    }

    pub(super) fn srtt(&self) -> Option<Duration> {
        either!(self, machine => machine.srtt())
    }

    pub(super) fn rttvar(&self) -> Option<Duration> {
        either!(self, machine => machine.rttvar())
    }

    pub(super) fn handshake_timeout(&mut self) -> Duration {
        either!(self, machine => machine.handshake_timeout())
    }

    pub(super) fn rto(&self) -> Duration {
        either!(self, machine => machine.rto())
    }

    pub(super) fn dupthresh(&self) -> Option<u32> {
        either!(self, machine => machine.dupthresh())
    }

    pub(super) fn variables(&self, stream: &Stream, now: Instant, show: &mut dyn FnMut(Variable)) {
        either!(self, machine => machine.variables(stream, now, show));
    }

    #[inline]
    pub(super) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        either!(self, machine => machine.on_ack(stream, ack, now, observer));
    }

    /// Whether it waits for nothing when nothing is on its way. TCP-PR's tables say nothing of that.
    pub(super) fn settled(&self, stream: &Stream) -> bool {
        match self {
            Self::Composed(machine) => machine.settled(stream),
            Self::TcpPr(_) => false,
        }
    }

    #[inline(always)]
    pub(super) fn poll(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        either!(self, machine => machine.poll(stream, now))
    }

    /// The next `len` octets leave, whatever the window.
    pub(super) fn send_new(&mut self, stream: &mut Stream, len: u64, now: Instant) -> Transmission {
        either!(self, machine => machine.send_new(stream, len, now))
    }

    /// The peer has taken a window probe's octet, sent at `sent`: it is the last segment.
    pub(super) fn on_probe_taken(&mut self, stream: &Stream, sent: Instant) {
        either!(self, machine => machine.on_probe_taken(stream, sent));
    }

    #[inline]
    pub(super) fn next_timer(&self) -> Option<Instant> {
        either!(self, machine => machine.next_timer())
    }

    #[inline]
    pub(super) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        either!(self, machine => machine.on_timers(stream, now, observer));
    }

    /// `ratio` segments fit into one of before: the window stays, in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        either!(self, machine => machine.on_smaller_segments(ratio));
    }

    /// Segments that were too big for the path were split, to be sent again.
    pub(super) fn on_split(&mut self, stream: &mut Stream, numbers: &Renumbered, now: Instant) {
        either!(self, machine => machine.on_split(stream, numbers, now));
    }

    #[cfg(test)]
    pub(super) fn composed(&mut self) -> &mut Composed {
        match self {
            Self::Composed(machine) => machine,
            Self::TcpPr(_) => panic!("composed of parts"),
        }
    }
}
