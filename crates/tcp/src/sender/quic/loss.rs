//! Which packets are deemed lost, and the reductions of the window for them (RFC 9002, sections 6.1 and 7.3).

use unruffled_units::{Duration, Instant};

use super::growth::Prr;
use super::sent::Sent;
use super::{MIN_WINDOW, Quic, Room};
use crate::observer::{Event, Observer};
use crate::parts::control::{CongestionControl, Window};
use crate::parts::detect::{LossDetector, Rule};
use crate::parts::respond::packets::Undo;
use crate::sender::Phase;
use crate::sender::stream::Stream;

/// kPersistentCongestionThreshold (section 7.6.1).
const PERSISTENT: u64 = 3;

impl Quic {
    /// Deems packets lost (section 6.1), and reduces the window for those that were sent after it was last
    /// reduced. `flight` is what was in flight before.
    pub(super) fn detect(
        &mut self,
        stream: &mut Stream,
        flight: f64,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        self.loss_time = Instant::MAX;
        let rule = self.detector.rule(&self.view(stream, now));
        let limit = self.memory_limit(&rule);
        let mut run: Option<(Sent, Sent)> = None;
        let mut persistent = false;
        let lost = self.cuts.lost();
        let period = Self::probe_timeout(stream) * PERSISTENT;
        while let Some(packet) = self.sent.first_in_flight() {
            if packet.number > self.largest {
                break;
            }
            let due = rule.overdue.map_or(Instant::MAX, |overdue| packet.sent + overdue.wait);
            let behind = self.largest - packet.number;
            if due > now && rule.distance.is_none_or(|distance| behind < distance) {
                self.loss_time = due;
                break;
            }
            if !self.cuts.covers(packet.number) {
                self.reduce(stream, flight, lost, now, observer);
            }
            self.cuts.count(packet.number);
            self.sent.lose(packet.number, self.cuts.id(), limit, now);
            self.lose_segment(stream, &packet);
            run = match run {
                Some((first, last)) if last.number + 1 == packet.number => Some((first, packet)),
                _ => Some((packet, packet)),
            };
            let span = run.map_or(Duration::ZERO, |(first, last)| last.sent.since(first.sent));
            persistent |= span > period;
        }
        if persistent && self.rules.persistent_congestion {
            self.window.cwnd = MIN_WINDOW;
            self.cuts.end();
        }
    }

    /// Returns how many lost packets are remembered. ngtcp2 remembers as many as its packet threshold.
    pub(super) fn memory_limit(&self, rule: &Rule) -> u32 {
        let limit = self.restoration.remembered_packets;
        match self.restoration.undo {
            Undo::NoneLost => rule.distance.map_or(limit, |distance| limit.min(distance)),
            _ => limit,
        }
    }

    /// Plans to send the octets of a lost packet again. A stack that cancels does so through the scoreboard,
    /// unless another packet delivered them.
    pub(super) fn lose_segment(&mut self, stream: &mut Stream, packet: &Sent) {
        let &Sent { segment, start, len, .. } = packet;
        if !self.rules.cancels {
            self.again.add(start, len, matches!(self.rules.room, Room::Cut { .. }));
        } else if !stream.board.is_delivered(segment) && !stream.board.entry(segment).is_lost() {
            stream.board.mark_lost(segment);
        }
    }

    /// Reduces the window once for the packets sent so far.
    pub(super) fn reduce(
        &mut self,
        stream: &Stream,
        flight: f64,
        lost: u32,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        observer.on_event(now, &Event::FastRetransmit);
        let (window, control) = (self.window, self.control.snapshot());
        self.cuts.begin(&self.restoration, stream.last_packet(), lost, window, control, now);
        self.shrink_window(stream, flight, now);
        self.marks.on_loss(stream.una(), stream.nxt());
        self.phase = Phase::Recovery { point: stream.nxt(), partial: false };
    }

    pub(super) fn shrink_window(&mut self, stream: &Stream, flight: f64, now: Instant) {
        let flow = self.flow(stream, now);
        let ssthresh = self.control.on_loss(&self.window, false, &flow).max(MIN_WINDOW);
        self.window = Window { cwnd: ssthresh, ssthresh };
        self.prr = Prr { flight, ..Prr::default() };
    }

    /// Responds to ECE as to a loss, once for each window of data (section 7.1).
    pub(super) fn on_echo(&mut self, stream: &Stream, now: Instant, observer: &mut impl Observer) {
        if self.marks.are_answered(stream.una()) {
            return;
        }
        self.shrink_window(stream, self.flight(stream), now);
        self.marks.on_mark(stream.nxt());
        let cwnd = self.window.cwnd;
        observer.on_event(now, &Event::EcnReduction { cwnd });
    }
}
