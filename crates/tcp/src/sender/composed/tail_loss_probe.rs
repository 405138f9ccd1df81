//! Tail loss probes (RFC 8985, section 7).

use std::num::NonZeroU64;

use unruffled_units::{Duration, Instant};

use super::context::Step;
use super::timers::{SenderTimer, SenderTimers};
use super::{Composed, Phase};
use crate::observer::{Cause, Event, Observer};
use crate::parts::control::{CongestionControl, Flow};
use crate::sender::Ack;
use crate::sender::stream::{Stream, Transmission};

/// TLP.max_ack_delay: the maximum delay of the acknowledgement of a single segment. It is Linux's minimum
/// timeout, which bounds its delayed acknowledgements.
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);
/// The probe timeout without a round-trip time (section 7.2).
const PTO_WITHOUT_RTT: Duration = Duration::from_secs(1);

/// The state of section 5.3.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TailLossProbe {
    /// TLP.end_seq: SND.NXT when the outstanding probe was sent.
    end: Option<NonZeroU64>,
    /// TLP.is_retrans.
    retransmission: bool,
    /// Whether a round-trip time was measured since the last probe.
    rtt_since: bool,
    /// Whether the timer has expired and a probe is to be sent.
    due: bool,
}

impl TailLossProbe {
    /// Returns whether a probe is to be sent.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Returns whether no probe is due or outstanding.
    pub(super) fn is_over(&self) -> bool {
        self.end.is_none() && !self.due
    }

    pub(super) fn on_rtt_sample(&mut self) {
        self.rtt_since = true;
    }

    /// Ends the probe when recovery begins, because its outcome no longer matters (TLP_init).
    pub(super) fn end(&mut self, timers: &mut SenderTimers) {
        self.end = None;
        self.due = false;
        timers.stop(SenderTimer::Probe);
    }
}

impl<O: Observer> Step<'_, O> {
    /// Checks TLP_send_probe's conditions (section 7.3). The next poll sends the probe. If no probe may
    /// be sent, the retransmission timer is not restarted, as in Linux, because new data would postpone
    /// it again and again.
    pub(super) fn on_probe_timer(&mut self) {
        let open = self.sender.recovery.phase == Phase::Open;
        if !self.stream.outstanding() || !(open || self.sender.two_stage_active()) {
            return;
        }
        let probe = &mut self.sender.probe;
        if probe.end.is_none() && probe.rtt_since {
            probe.due = true;
            self.observer.on_event(self.now, &Event::LossProbe);
            let cwnd = self.sender.window.cwnd;
            self.sender.timers.restart_retransmission(self.stream, cwnd, self.now);
        }
    }
}

impl Composed {
    /// Starts the probe timer by TLP_calc_PTO if the conditions of section 7.2 hold; otherwise stops it.
    pub(super) fn schedule_probe(&mut self, stream: &Stream, now: Instant) {
        let mut flight = stream.board.outstanding();
        if self.holes_are_usual(stream) {
            // Without further deliveries, no rule decides whether the holes are losses.
            flight -= stream.board.sacked();
        } else if self.recovery.phase != Phase::Open || stream.board.sacked() > 0 {
            flight = 0;
        }
        if flight == 0 || matches!(self.recovery.phase, Phase::Loss { .. }) {
            self.timers.stop(SenderTimer::Probe);
            return;
        }
        let mut pto = stream.round_trips.srtt().map_or(PTO_WITHOUT_RTT, |srtt| srtt * 2);
        if flight == 1 && stream.round_trips.srtt().is_some() {
            pto += MAX_ACK_DELAY;
        }
        let due = now + pto;
        let rto = self.timers.get(SenderTimer::Retransmit).unwrap_or(Instant::MAX);
        self.timers.set(SenderTimer::Probe, due.min(rto));
    }

    /// Sends the probe that is due: new data if there is any and the peer has room, otherwise the last
    /// segment sent.
    pub(super) fn poll_probe(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        if !std::mem::take(&mut self.probe.due) {
            return None;
        }
        let new = self.new_data(stream, now);
        let retransmission = new.is_none();
        let probe = match new {
            Some(new) => new,
            None => {
                let (number, _) = stream.board.last_unsacked()?;
                self.retransmit(stream, number, Cause::Probe, now)
            }
        };
        self.timers.stop(SenderTimer::Probe);
        self.probe = TailLossProbe {
            end: NonZeroU64::new(stream.nxt()),
            retransmission,
            rtt_since: false,
            due: false,
        };
        Some(probe)
    }

    /// Implements TLP_process_ack (section 7.4.2).
    pub(super) fn on_ack_of_probe(&mut self, stream: &Stream, ack: Ack<'_>, now: Instant) {
        if self.two_stage_active() {
            // A probe that is a retransmission is recorded as a suspicion, and confirmed or refuted as one.
            self.probe.end = None;
            return;
        }
        let Some(end) = self.probe.end.map(NonZeroU64::get).filter(|&end| ack.una >= end) else {
            return;
        };
        let dsack_of_probe = ack.dsack.is_some_and(|(_, right)| right == end);
        if !self.probe.retransmission || dsack_of_probe {
            self.probe.end = None;
        } else if ack.una > end {
            // The probe repaired a loss, which reduces the window like any other. What was in flight with
            // it has arrived, so the reduction starts from the window and not from the flight, as in Linux.
            self.probe.end = None;
            let flow = Flow { flight: self.window.cwnd, ..self.flow(stream, now) };
            self.window.ssthresh = self.control.on_loss(&self.window, false, &flow);
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            self.marks.on_loss(stream.una(), stream.nxt());
        } else if ack.repeated && ack.blocks.is_empty() {
            self.probe.end = None;
        }
    }
}
