//! A sender that lives by TCP-PR: acknowledgements and timers go to the machine, its drops to the
//! scoreboard, and nothing else decides on losses, the window or what to send.

use unruffled_units::{Duration, Instant};

use super::Drop;
use crate::observer::{Event, Observer};
use crate::sender::retransmissions::Cause;
use crate::sender::{Ack, Phase, Sender, Transmission};
use crate::timers::Timer;

impl Sender {
    /// An acknowledgement arrived.
    pub(in crate::sender) fn on_ack_by_tcp_pr(
        &mut self,
        ack: &Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let highest_before = self.board.highest_delivered();
        let delivery = self.read_into_scoreboard(ack, now);
        self.una = ack.una;
        self.window_end = self.window_end.max(ack.window_end);
        let first = self.board.end() - u64::from(self.board.outstanding());
        if let Some(pr) = &mut self.tcp_pr {
            pr.forget_below(first);
            pr.on_ack(now);
            self.window = pr.window();
        }
        self.measure_reordering(ack, &delivery, highest_before, now, observer);
        if self.board.highest_delivered() > highest_before {
            self.highest_at = now;
        }
        if let Some((left, right)) = ack.dsack {
            self.on_dsack(left, right, ack.rtx, highest_before, now, observer);
        }
        self.retransmissions.expire(now, self.rto().max(self.rto.base()) * 2);
        if let Phase::Recovery { point, .. } | Phase::Loss { point } = self.phase
            && self.una >= point
        {
            self.phase = Phase::Open;
            observer.on_event(now, &Event::Recovered);
        }
        self.await_drop(now);
        let patience = self.tcp_pr.as_ref().map(|pr| pr.mxrtt());
        self.tell_state(None, patience, now, observer);
    }

    /// The machine wanted to look again. One drop at a time: line 13 flushes after each.
    pub(in crate::sender) fn on_drop_timer(&mut self, now: Instant, observer: &mut impl Observer) {
        if !self.timers.expired(Timer::Detect, now) {
            return;
        }
        let Some(pr) = &mut self.tcp_pr else { return };
        let before = pr.window();
        if let Some((number, drop)) = pr.on_time(now) {
            self.window = pr.window();
            // Line 6.
            self.board.mark_lost(number);
            match drop {
                Drop::New => {
                    observer.on_event(now, &Event::FastRetransmit);
                    self.retransmissions.begin(Cause::FastRetransmit, before, now);
                    self.phase = Phase::Recovery { point: self.nxt, partial: false };
                }
                Drop::Extreme => {
                    observer.on_event(now, &Event::Timeout);
                    self.retransmissions.begin(Cause::Timeout, before, now);
                    self.phase = Phase::Loss { point: self.nxt };
                }
                Drop::Burst => {}
            }
        } else if self.nothing_but_sacks() && self.board.reneged() {
            self.forget_sacks();
            self.board.mark_all_lost();
        }
        self.await_drop(now);
    }

    /// flush-cwnd, one packet at a time.
    pub(in crate::sender) fn flush_cwnd(&mut self, now: Instant) -> Option<Transmission> {
        let may_send = self.tcp_pr.as_ref().is_some_and(|pr| pr.may_send(now));
        // Line 25: the smallest number first, and what was dropped is older than what is new.
        let (number, transmission) = match self.board.next_lost().filter(|_| may_send) {
            Some(number) => {
                let cause = match self.phase {
                    Phase::Loss { .. } => Cause::Timeout,
                    _ => Cause::FastRetransmit,
                };
                (number, Some(self.retransmit(number, cause, now)))
            }
            None if may_send => (self.board.end(), self.new_data(now)),
            None => (0, None),
        };
        let pr = self.tcp_pr.as_mut()?;
        match transmission {
            Some(_) => pr.on_sent(number, now),
            None => pr.on_flushed(may_send),
        }
        self.await_drop(now);
        transmission
    }

    fn await_drop(&mut self, now: Instant) {
        let Some(pr) = &mut self.tcp_pr else { return };
        let wait = pr.mxrtt();
        match pr.next_look(now) {
            Some(at) => self.timers.set(Timer::Detect, at),
            None if self.nothing_but_sacks() => {
                if self.timers.get(Timer::Detect).is_none_or(|at| at <= now) {
                    self.timers.set(Timer::Detect, now + wait);
                }
            }
            None => self.timers.stop(Timer::Detect),
        }
    }

    /// All that is outstanding has been SACKed, and yet not acknowledged.
    fn nothing_but_sacks(&self) -> bool {
        self.board.outstanding() > 0 && self.board.outstanding() == self.board.sacked()
    }

    /// The wait in force, once round trips have been timed.
    pub(in crate::sender) fn tcp_pr_wait(&self) -> Option<Duration> {
        self.tcp_pr.as_ref().filter(|pr| pr.srtt().is_some()).map(|pr| pr.mxrtt())
    }
}
