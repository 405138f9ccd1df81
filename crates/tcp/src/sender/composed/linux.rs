//! The course of recovery in Linux (`net/ipv4/tcp_input.c`, `tcp_fastretrans_alert` and what it calls):
//! when a reduction is undone, when nothing is resent although a hole is open, and which deliveries grow
//! the window.

use unruffled_units::Instant;

use super::context::{AckContext, Step};
use super::{Composed, Phase};
use crate::observer::{Event, Observer};
use crate::parts::control::CongestionControl;
use crate::parts::respond::linux::LastReduction;
use crate::sender::reductions::{Evidence, ReductionId};
use crate::sender::stream::{Reading, Stream};

/// The threshold of duplicates without reordering, in segments (`tcp_reordering`).
const MIN_REORDERING: u16 = 3;
/// The maximum degree of reordering, in segments (`tcp_max_reordering`).
const MAX_REORDERING: u16 = 300;

/// The state of Linux's recovery.
#[derive(Debug)]
pub(super) struct Linux {
    pub(super) last: LastReduction,
    /// The largest distance, in segments, by which a segment was late (`tcp_sock.reordering`).
    reordering: u16,
    /// Whether a segment was ever late (`reord_seen`).
    reordering_seen: bool,
    /// The last reduction in the ledger.
    watched: Option<ReductionId>,
    /// If F-RTO watches the last timeout, the time up to which data was sent whose arrival refutes it;
    /// otherwise zero.
    timed_out: Instant,
    /// Whether only new data may be sent before the next acknowledgement.
    pub(super) holds: bool,
    /// Retransmissions that no DSACK has reported. A DSACK counts for no more than these.
    unreported: u16,
    /// Segments that the DSACK of this acknowledgement reports.
    reported: u16,
}

impl Linux {
    pub(super) fn new() -> Self {
        Self {
            last: LastReduction::none(),
            reordering: MIN_REORDERING,
            reordering_seen: false,
            watched: None,
            timed_out: Instant::ZERO,
            holds: false,
            unreported: 0,
            reported: 0,
        }
    }

    /// Called when a segment is retransmitted.
    pub(super) fn on_retransmit(&mut self, now: Instant) {
        self.last.on_retransmit(now);
        self.unreported = self.unreported.saturating_add(1);
    }

    /// Records the reduction that is the last in the ledger.
    pub(super) fn watch(&mut self, reduction: ReductionId) {
        self.watched = Some(reduction);
    }

    /// Called when the retransmission timer expires in `phase`, with `sacked` segments SACKed.
    pub(super) fn on_timeout(&mut self, phase: Phase, sacked: u32, now: Instant) {
        let watches = !matches!(phase, Phase::Recovery { .. });
        self.timed_out = if watches { now } else { Instant::ZERO };
        self.holds = false;
        if phase == Phase::Open && sacked >= u32::from(MIN_REORDERING) {
            self.reordering = MIN_REORDERING;
        }
    }

    fn on_late(&mut self, distance: u64) {
        let distance = distance.min(MAX_REORDERING.into()) as u16;
        self.reordering = self.reordering.max(distance);
        self.reordering_seen = true;
    }
}

impl<O: Observer> AckContext<'_, '_, O> {
    /// Processes an acknowledgement up to the detection of losses, which
    /// [`detect_losses`](Self::detect_losses) does.
    pub(super) fn advance_as_linux(&mut self) {
        self.count_as_linux();
        let una = self.stream.una();
        let by_original = self.original_proves_as_linux();
        let Some(linux) = self.sender.responses.linux.as_deref_mut() else { return };
        linux.holds = false;
        let by_duplicates = linux.last.duplicates_prove();
        match self.sender.recovery.phase {
            Phase::Recovery { point, .. } if una >= point => {
                let spurious = by_duplicates || by_original;
                self.leave_as_linux(spurious, false);
            }
            Phase::Recovery { .. } if by_original => {
                let resent = self.stream.retransmissions.uncovered();
                let first = self.stream.board.first() - u64::from(self.read.delivery.passed);
                let highest = self.stream.board.highest_delivered().unwrap_or(first);
                linux.on_late(highest.saturating_sub(first) + 1);
                if resent > 0 {
                    linux.holds = true;
                } else {
                    self.leave_as_linux(true, true);
                }
            }
            Phase::Recovery { .. } if by_duplicates => self.leave_as_linux(true, false),
            Phase::Recovery { .. } => {}
            Phase::Loss { point, too_big } => {
                self.advance_after_timeout(point, by_duplicates || by_original, too_big);
            }
            Phase::Open if by_duplicates => self.step().undo_as_linux(),
            Phase::Open => {}
        }
    }

    /// Returns whether the acknowledgement shows by its timestamp that an original arrived.
    fn original_proves_as_linux(&self) -> bool {
        let linux = self.sender.responses.linux.as_deref();
        self.read.advanced && linux.is_some_and(|linux| linux.last.original_proves(self.ack.echo))
    }

    /// Returns whether the timestamp shows that the first hole was late, and whether a DSACK counts for the
    /// reordering window: only once reordering was seen.
    pub(super) fn late_or_duplicate_as_linux(&self) -> (bool, bool) {
        let dsack = self.ack.dsack.is_some();
        let Some(linux) = self.sender.responses.linux.as_deref() else { return (false, dsack) };
        let una = self.stream.una();
        let partial =
            matches!(self.sender.recovery.phase, Phase::Recovery { point, .. } if una < point);
        (partial && self.original_proves_as_linux(), dsack && linux.reordering_seen)
    }

    /// Counts what DSACKs report, and the distance of late segments.
    fn count_as_linux(&mut self) {
        let una = self.stream.una();
        let mss = u64::from(self.stream.mss()).max(1);
        let Reading { delivery, highest_before, .. } = &self.read;
        let Some(linux) = self.sender.responses.linux.as_deref_mut() else { return };
        linux.reported = 0;
        if let Some((start, end)) = self.ack.dsack.filter(|&(_, end)| end <= una) {
            let segments = end.saturating_sub(start).div_ceil(mss);
            linux.reported = segments.min(linux.unreported.into()) as u16;
            linux.unreported -= linux.reported;
            linux.last.on_dsack(end, linux.reported.into());
        }
        if delivery.reordered
            && let Some(highest) = highest_before
        {
            linux.on_late(highest.saturating_sub(delivery.number) + 1);
        }
    }

    /// Processes an acknowledgement after a timeout (`tcp_process_loss`), whose recovery ends at `point`.
    fn advance_after_timeout(&mut self, point: u64, spurious: bool, too_big: bool) {
        let stream = &*self.stream;
        let (una, nxt) = (stream.una(), stream.nxt());
        let (advanced, recovered) = (self.read.advanced, una >= point);
        let delivery = &self.read.delivery;
        if advanced && spurious && !too_big {
            return self.leave_as_linux(true, true);
        }
        let can_send = stream.next_new().is_some();
        let Some(linux) = self.sender.responses.linux.as_deref_mut() else { return };
        if linux.timed_out != Instant::ZERO {
            // An original that was sent before the timer expired has arrived.
            if delivery.original_sent.is_some_and(|sent| sent <= linux.timed_out) {
                return self.leave_as_linux(true, true);
            }
            if nxt > point {
                if delivery.sacked > 0 || self.ack.duplicate {
                    linux.timed_out = Instant::ZERO;
                }
            } else if advanced && !recovered {
                self.sender.recovery.phase = Phase::Loss { point: nxt, too_big };
                if can_send {
                    linux.timed_out = self.now;
                    linux.holds = true;
                    return;
                }
                linux.timed_out = Instant::ZERO;
            }
        }
        if recovered {
            self.leave_as_linux(spurious, false);
        }
    }

    /// Ends recovery. If it was `spurious`, restores the window, and with `all`, treats everything that
    /// was deemed lost as in flight.
    fn leave_as_linux(&mut self, spurious: bool, all: bool) {
        if all {
            self.stream.board.unmark_lost();
        }
        if spurious {
            self.report_as_linux();
        }
        let mut step = self.step();
        step.close_recovery(spurious);
        if spurious {
            step.undo_as_linux();
        }
        if self.stream.retransmissions.uncovered() == 0
            && let Some(linux) = self.sender.responses.linux.as_deref_mut()
        {
            linux.last.settle();
        }
    }

    /// Reports the reductions that prove spurious with the last one.
    fn report_as_linux(&mut self) {
        let linux = self.sender.responses.linux.as_deref();
        let Some(watched) = linux.and_then(|linux| linux.watched) else { return };
        let ledger = &mut self.sender.ledger;
        while let Some(undo) = ledger.add(watched, Evidence::Original, self.now) {
            self.observer.on_event(self.now, &Event::SpuriousReduction { cause: undo.cause });
        }
    }

    /// Looks for losses unless the acknowledgement shows that the hole was late, and grows the window.
    pub(super) fn detect_and_grow_as_linux(&mut self) {
        let Some(&Linux { holds, reported, .. }) = self.sender.responses.linux.as_deref() else {
            return;
        };
        let in_recovery = matches!(self.sender.recovery.phase, Phase::Recovery { .. });
        let newly_lost = !(holds && in_recovery) && self.detect_losses();
        let delivered = self.read.delivery.segments + u32::from(reported);
        let advanced = self.read.advanced;
        if matches!(self.sender.recovery.phase, Phase::Recovery { .. }) {
            let safe = advanced && !newly_lost;
            self.sender.proportional_rate_reduction(self.stream, delivered, safe);
            return;
        }
        let sender = &mut *self.sender;
        let full = self.read.flight_before >= sender.window.cwnd as u32;
        let full = *sender.recovery.window_was_full.get_or_insert(full);
        let Some(linux) = sender.responses.linux.as_deref() else { return };
        let counts =
            advanced || (linux.reordering > MIN_REORDERING && self.read.delivery.sacked > 0);
        if self.ack.ece || !counts || delivered == 0 {
            return;
        }
        let half_full = 2 * self.read.flight_before > sender.window.cwnd as u32;
        if full || (sender.window.slow_start() && half_full) {
            sender.grow_as_linux(self.stream, delivered, self.now);
        } else {
            sender.limited(self.stream, self.now);
        }
    }
}

impl<O: Observer> Step<'_, O> {
    /// Restores the window from before the last reduction.
    fn undo_as_linux(&mut self) {
        let Some(linux) = self.sender.responses.linux.as_deref_mut() else { return };
        self.sender.window = linux.last.undo(self.sender.window);
    }
}

impl Composed {
    /// Grows the window by what was delivered, selectively or not.
    fn grow_as_linux(&mut self, stream: &Stream, delivered: u32, now: Instant) {
        let flow = self.flow(stream, now);
        self.control.grow(&mut self.window, delivered, delivered, &flow);
        self.window.cwnd = self.window.cwnd.min(self.policy.max_cwnd);
    }

    /// Records that a reduction begins from the present window.
    pub(super) fn record_as_linux(&mut self, stream: &Stream) {
        if let Some(linux) = self.responses.linux.as_deref_mut() {
            let resent = stream.retransmissions.uncovered();
            linux.last.begin(stream.una(), resent, self.window);
        }
    }
}
