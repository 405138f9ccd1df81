//! ECN of one end (RFC 3168): its negotiation, the echo of marks, and the ECN fields of what is sent.

use super::arrival::Arrival;
use super::transmit::Departure;
use crate::EcnMode;
use crate::segment::{Ecn, Segment};

/// What has been sent and received of the negotiation (section 6.1.1), as bits.
const SENT_SETUP: u8 = 1;
const RECEIVED_SETUP: u8 = 2;
const SENT_PLAIN: u8 = 4;
const RECEIVED_PLAIN: u8 = 8;

/// State of ECN.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    negotiation: u8,
    /// Whether this end sends ECN-capable segments or echoes marks.
    active: bool,
}

/// Marks that have arrived, and the peer's answers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Echo {
    /// Stream offset behind the first octet of the furthest segment that arrived with CE.
    marked: u64,
    /// Stream offset of the furthest segment that arrived with CWR.
    reduced: u64,
}

impl EcnState {
    /// Returns whether this end sends ECN-capable segments or echoes marks.
    #[inline(always)]
    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    /// Returns whether this end may send ECN-capable segments: "it has sent at least one ECN-setup SYN or
    /// ECN-setup SYN-ACK packet, and has received at least one (…), and has sent no non-ECN-setup SYN or
    /// non-ECN-setup SYN-ACK packet", nor received one.
    pub(super) fn is_capable(&self) -> bool {
        self.negotiation == SENT_SETUP | RECEIVED_SETUP
    }

    /// Returns whether this end processes CE: it "has sent at least one ECN-setup SYN or ECN-setup SYN-ACK
    /// packet, and has received no non-ECN-setup SYN or non-ECN-setup SYN-ACK packet".
    fn echoes_marks(&self) -> bool {
        self.negotiation & (SENT_SETUP | RECEIVED_PLAIN) == SENT_SETUP
    }

    fn record(&mut self, step: u8) {
        self.negotiation |= step;
        self.active = self.is_capable() || self.echoes_marks();
    }

    /// Records the peer's SYN or SYN-ACK.
    pub(super) fn on_syn(&mut self, syn: &Segment) {
        self.record(if is_setup(syn) { RECEIVED_SETUP } else { RECEIVED_PLAIN });
    }

    /// Returns the ECN fields of a SYN of this end, and records it. `resent`: it is a retransmission,
    /// which does not request ECN, because a node on the path may drop SYNs that do (section 6.1.1.1).
    pub(super) fn send_syn(&mut self, mode: EcnMode, resent: bool) -> Ecn {
        let requests = mode == EcnMode::Request && !resent;
        self.record(if requests { SENT_SETUP } else { SENT_PLAIN });
        if requests { Ecn::ECE | Ecn::CWR } else { Ecn::NONE }
    }

    /// Returns the ECN fields of a SYN-ACK of this end, and records it. It accepts what every SYN of the
    /// peer has requested, unless a SYN of this end has not requested it.
    pub(super) fn send_syn_ack(&mut self, mode: EcnMode) -> Ecn {
        let requested = self.negotiation & !SENT_SETUP == RECEIVED_SETUP;
        let accepts = mode != EcnMode::Off && requested;
        self.record(if accepts { SENT_SETUP } else { SENT_PLAIN });
        if accepts { Ecn::ECE } else { Ecn::NONE }
    }
}

impl Echo {
    /// Processes the ECN fields of a data segment at `offset` (section 6.1.3).
    ///
    /// CWR answers the marks of segments sent before it. ECN-capable segments are sent once, in the order
    /// of the stream, so a mark below the furthest CWR is answered even if it arrives late, and a late CWR
    /// answers no mark above it.
    fn on_data(&mut self, ecn: Ecn, offset: u64) {
        if ecn.has_cwr() {
            self.reduced = self.reduced.max(offset);
        }
        if ecn.is_ce() {
            self.marked = self.marked.max(offset + 1);
        }
    }

    /// Returns whether acknowledgements carry ECE.
    fn is_due(&self) -> bool {
        self.marked > self.reduced
    }
}

/// Returns whether this is an ECN-setup SYN, with ECE and CWR, or an ECN-setup SYN-ACK, with ECE alone. A
/// SYN-ACK with both comes from a peer that mirrors reserved bits (section 6.1.1.2).
fn is_setup(syn: &Segment) -> bool {
    syn.ecn.has_ece() && syn.ecn.has_cwr() != syn.flags.ack
}

/// Returns the ECN fields of the SYN-ACK that answers `syn` without a connection.
pub(super) fn answer_to(syn: &Segment, mode: EcnMode) -> Ecn {
    let mut state = EcnState::default();
    state.on_syn(syn);
    state.send_syn_ack(mode)
}

impl<O> Arrival<'_, O> {
    /// Returns whether the segment reports a mark of a segment of this end.
    #[inline]
    pub(super) fn reports_mark(&self) -> bool {
        self.segment.ecn.has_ece() && self.connection.ecn.is_capable()
    }

    /// Processes CE and CWR of an acceptable segment, if it has data.
    #[inline(never)]
    pub(super) fn on_report(self, offset: u64) {
        if self.segment.len > 0 && self.connection.ecn.echoes_marks() {
            self.connection.echo.get_or_insert_default().on_data(self.segment.ecn, offset);
        }
    }
}

impl<O> Departure<'_, O> {
    /// Returns the ECN fields of a segment, if ECN is in use. `new`: it carries data for the first time
    /// and is no window probe. No other segment is ECN-capable (sections 6.1.4 to 6.1.6).
    #[inline(never)]
    pub(super) fn ecn(self, new: bool) -> Ecn {
        let due = self.connection.echo.as_ref().is_some_and(|echo| echo.is_due());
        let echo = if due { Ecn::ECE } else { Ecn::NONE };
        if !new || !self.connection.ecn.is_capable() {
            return echo;
        }
        let cwr = if self.connection.sender.take_cwr() { Ecn::CWR } else { Ecn::NONE };
        echo | cwr | Ecn::ECT_0
    }
}
