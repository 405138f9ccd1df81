//! Pacing and the samples of the path that a congestion control receives which models it.
//!
//! What is only late must not count as lost. A one-stage detector's verdict counts at once. With a two-stage
//! detector, a suspicion counts when it is confirmed, and no longer when it is refuted after that.

use unruffled_units::Instant;

use super::pacing::{Pacer, WindowUsage};
use super::rate_samples::RateSampler;
use super::{Composed, Phase};
use crate::parts::control::pacing::rate_of_window;
use crate::parts::control::{CongestionControl, Flow, LossState, PathSample, Window};
use crate::sender::numbers::{Renumbered, SegNo};
use crate::sender::stream::{LOGGED_OCTETS, Reading, Stream, Transmission};

/// The pacing of a sender, and its samples of the path.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    pacer: Pacer,
    usage: WindowUsage,
    /// Samples, for a congestion control that takes them.
    sampler: Option<RateSampler>,
    /// Segments in flight before the present acknowledgement, late ones excluded.
    in_flight_before: u32,
    /// Whether as much was in flight then as the window permits.
    window_full: bool,
    /// When pacing permits what it holds back.
    due: Option<Instant>,
}

impl Pacing {
    pub(super) fn new(samples_path: bool) -> Self {
        Self { sampler: samples_path.then(RateSampler::default), ..Self::default() }
    }

    /// Returns when pacing permits what it holds back, if it holds anything back.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Stops the timer if it is due. The poll that follows sends what pacing held back.
    pub(super) fn expire(&mut self, now: Instant) {
        self.due = self.due.filter(|&due| due > now);
    }

    pub(super) fn table_octets(&self) -> usize {
        self.sampler.as_ref().map_or(0, RateSampler::table_octets)
    }

    /// Returns the maximum memory that an outstanding segment takes in the tables and in the log of losses,
    /// in octets.
    pub(super) fn segment_octets(&self) -> usize {
        let octets = RateSampler::SEGMENT_OCTETS + LOGGED_OCTETS;
        self.sampler.as_ref().map_or(0, |_| octets)
    }

    pub(super) fn shrink(&mut self) {
        if let Some(sampler) = &mut self.sampler {
            sampler.shrink();
        }
    }

    pub(super) fn renumber(&mut self, numbers: &Renumbered) {
        if let Some(sampler) = &mut self.sampler {
            sampler.renumber(numbers);
        }
    }

    /// Prepares for an acknowledgement: `in_flight` segments are not late, and the pipe may hold `room`. If
    /// all data was sent and the window has room, the application limits the sender.
    fn begin_ack(&mut self, stream: &Stream, in_flight: u32, room: u32) {
        self.in_flight_before = in_flight;
        self.window_full = stream.pipe() >= room;
        if let Some(sampler) = &mut self.sampler
            && !stream.has_new()
            && stream.board.lost() == 0
            && !self.window_full
        {
            sampler.mark_app_limited(stream.pipe());
        }
    }

    pub(super) fn on_delivered(&mut self, segment: SegNo) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_delivered(segment);
        }
    }

    pub(super) fn on_suspected(&mut self, segment: SegNo) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_suspected(segment);
        }
    }

    pub(super) fn on_refuted(&mut self) {
        if let Some(sampler) = &mut self.sampler {
            sampler.on_refuted();
        }
    }

    /// Lets the retransmission of a timeout leave at once, as in Linux.
    pub(super) fn on_timeout(&mut self, now: Instant) {
        self.pacer.release(now);
    }

    /// Returns whether the window is what limits the sender, so that it may grow.
    pub(super) fn window_is_limit(&self, window: &Window) -> bool {
        self.usage.is_limit(window)
    }
}

impl Composed {
    pub(in crate::sender) fn samples_path(&self) -> bool {
        self.control.samples_path()
    }

    /// Prepares a sender that paces for an acknowledgement.
    #[inline(never)]
    pub(super) fn begin_paced_ack(&mut self, stream: &Stream) {
        let room = self.room();
        let in_flight = self.without_late(stream.pipe());
        if let Some(pacing) = &mut self.pacing {
            pacing.begin_ack(stream, in_flight, room);
        }
    }

    /// Returns the next segment of a sender that paces. Only a probe leaves while pacing holds back the
    /// rest; a timer then runs until that may leave.
    #[inline(never)]
    pub(super) fn next_paced(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        let blocked = self.pacing.as_ref().and_then(|pacing| pacing.pacer.blocked_until(now));
        if let Some(until) = blocked.filter(|_| !self.probe.is_due()) {
            if let Some(pacing) = &mut self.pacing {
                pacing.due = Some(until);
            }
            return None;
        }
        self.policy.paces = false;
        let transmission = self.next_transmission(stream, now);
        self.policy.paces = true;
        let transmission = transmission?;
        if transmission.cause.is_none() {
            self.on_paced_sent(stream, stream.board.end() - 1, now);
        }
        Some(transmission)
    }

    /// Handles new data that is sent while nothing is in flight.
    #[inline(never)]
    pub(super) fn restart_pacing(&mut self, flow: &Flow) {
        self.control.on_restart(&mut self.window, flow);
        if let Some(pacing) = &mut self.pacing
            && let Some(rate) = self.control.pacing_rate()
        {
            pacing.pacer.set_rate(Some(rate));
        }
    }

    /// Records that `segment` was sent.
    #[inline(never)]
    pub(super) fn on_paced_sent(&mut self, stream: &Stream, segment: SegNo, now: Instant) {
        let in_flight = self.without_late(stream.pipe());
        let Some(pacing) = &mut self.pacing else { return };
        pacing.pacer.on_sent(now);
        let outstanding = stream.board.outstanding();
        pacing.usage.on_sent(outstanding, self.window.cwnd as u32, stream.una(), stream.nxt());
        if let Some(sampler) = &mut pacing.sampler {
            sampler.on_sent(segment, outstanding == 1, in_flight, now);
        }
    }

    /// Counts a suspected transmission of `segment` as lost.
    pub(super) fn on_confirmed_loss(&mut self, stream: &Stream, segment: SegNo, now: Instant) {
        let Some(sampler) = self.pacing.as_mut().and_then(|pacing| pacing.sampler.as_mut()) else {
            return;
        };
        if let Some(lost) = sampler.on_confirmed(segment) {
            let flow = self.flow(stream, now);
            self.control.on_lost(&lost, &self.window, &flow);
        }
    }

    /// Counts the segments that were deemed lost since the last sample, unless they are only suspected.
    fn count_losses(&mut self, stream: &mut Stream, now: Instant) {
        let losses = stream.board.take_losses();
        if losses.is_empty() || self.two_stage_active() {
            return;
        }
        let flow = self.flow(stream, now);
        let Some(sampler) = self.pacing.as_mut().and_then(|pacing| pacing.sampler.as_mut()) else {
            return;
        };
        for segment in losses {
            if let Some(lost) = sampler.on_lost(segment) {
                self.control.on_lost(&lost, &self.window, &flow);
            }
        }
    }

    /// Frees the records of transmissions whose suspicions are decided. A one-stage detector decides at
    /// once.
    fn discard_decided(&mut self) {
        let pending = self.suspicions.as_mut().and_then(|suspicions| suspicions.first_pending());
        if let Some(sampler) = self.pacing.as_mut().and_then(|pacing| pacing.sampler.as_mut()) {
            sampler.discard_decided(pending.map(|(segment, sent, _)| (segment, sent)));
        }
    }

    /// Ends the processing of an acknowledgement: the congestion control receives a sample if it takes
    /// any, and the pacing rate is set.
    #[inline(never)]
    pub(super) fn sample_path(&mut self, stream: &mut Stream, read: &Reading, now: Instant) {
        self.count_losses(stream, now);
        self.discard_decided();
        let flow = self.flow(stream, now);
        let late = read.delivery.reordered && self.two_stage_active();
        let in_flight = self.without_late(stream.pipe());
        let max_cwnd = self.policy.max_cwnd;
        let Some(pacing) = &mut self.pacing else { return };
        if let Some(sampler) = &mut pacing.sampler {
            let (delivered, lost, rate) = sampler.sample(stream.board.first(), flow.min_rtt, now);
            let sample = PathSample {
                delivered,
                lost,
                delivered_total: sampler.delivered(),
                lost_total: sampler.lost(),
                in_flight,
                in_flight_before: pacing.in_flight_before,
                window_full: pacing.window_full,
                rtt: read.delivery.original_sent.filter(|_| !late).map(|sent| now.since(sent)),
                ack_may_be_delayed: read.flight_before == 1,
                rate,
                loss_state: match self.recovery.phase {
                    Phase::Open => LossState::Open,
                    Phase::Recovery { .. } => LossState::Recovery,
                    Phase::Loss { .. } => LossState::Timeout,
                },
                departs_in: pacing.pacer.departs_in(now),
            };
            self.control.on_sample(&sample, &mut self.window, &flow);
            self.window.cwnd = self.window.cwnd.min(max_cwnd);
            if self.control.holds_back() {
                sampler.mark_app_limited(stream.pipe());
            }
        }
        let outstanding = stream.board.outstanding();
        let rate = self.control.pacing_rate();
        pacing.pacer.set_rate(rate.or_else(|| rate_of_window(self.window, outstanding, &flow)));
    }
}
