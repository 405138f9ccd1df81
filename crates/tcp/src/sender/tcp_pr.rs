//! TCP-PR (Bohacek, Hespanha, Lee, Lim, Obraczka): each packet has its own timer, and is deemed
//! lost if it has not been acknowledged `mxrtt` after its transmission. The order of
//! acknowledgements is ignored.
//!
//! TCP-PR takes no parts. Its [`tables`] replace loss detection, the response to losses, the timer,
//! limited transmit and the congestion control. This module passes acknowledgements and timers to
//! the tables, and their drops to the scoreboard.

mod settings;
mod tables;

use unruffled_units::{Duration, Instant};

pub(crate) use settings::{BASIC, EXTREME, SACK, Settings, Version};

use super::marks::Marks;
use super::reductions::{Basis, Evidence, Ledger, Saved, Undo};
use super::round_trips::{Estimates, RoundTrips};
use super::stream::{Reading, Renumbered, Retransmission, SegNo, Stream, Transmission};
use super::{Ack, Phase};
use crate::Config;
use crate::config::Growth;
use crate::observer::{Cause, Event, Observer};
use crate::parts::Variable;
use crate::parts::control::Window;
use tables::{Dropped, Tables};

/// The machine of TCP-PR.
#[derive(Debug)]
pub(crate) struct TcpPr {
    tables: Tables,
    /// The phase, on which only observers and the causes of retransmissions depend.
    phase: Phase,
    /// Time of the next check for drops.
    next_check: Option<Instant>,
    growth: Growth,
    /// RW, if the window is reduced to it after an idle period (RFC 5681, section 4.1).
    restart_window: Option<u32>,
    /// Reductions of the window, for observers.
    ledger: Ledger<()>,
    /// The last reduction of the window, for marks of the path.
    marks: Marks,
}

impl TcpPr {
    pub(super) fn new(config: &Config, settings: &Settings) -> Self {
        Self {
            tables: Tables::new(config, settings),
            phase: Phase::Open,
            next_check: None,
            growth: config.ns2.growth,
            restart_window: config.window.restart.then_some(config.window.initial),
            ledger: Ledger::default(),
            marks: Marks::default(),
        }
    }

    /// Returns whether the new data that is sent now carries CWR.
    pub(super) fn take_cwr(&mut self) -> bool {
        self.marks.take_cwr()
    }

    pub(super) fn disable_sack(&mut self, _stream: &Stream, _now: Instant) {}

    pub(super) fn on_handshake(&mut self, rtt: Duration) {
        self.tables.on_handshake(rtt);
    }

    pub(super) fn after_lost_syn(&mut self) {
        self.tables.after_lost_syn();
    }

    pub(super) fn table_octets(&self) -> usize {
        self.tables.octets()
    }

    pub(super) fn shrink(&mut self) {
        self.tables.shrink();
    }

    pub(super) fn window(&self) -> Window {
        self.tables.window()
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns TCP-PR's srtt and timeout. It has no variation of the round-trip time.
    pub(super) fn estimates(&self, stream: &Stream) -> Estimates {
        let rto = self.timeout(&stream.round_trips);
        Estimates { srtt: self.tables.srtt(), rttvar: None, rto }
    }

    pub(super) fn handshake_timeout(&mut self, round_trips: &mut RoundTrips) -> Duration {
        self.timeout(round_trips)
    }

    /// Returns `mxrtt`, or the handshake's timeout until a round-trip time was measured.
    fn timeout(&self, round_trips: &RoundTrips) -> Duration {
        match self.tables.srtt() {
            Some(_) => self.tables.mxrtt(),
            None => round_trips.rto(),
        }
    }

    pub(super) fn dupthresh(&self) -> Option<u32> {
        None
    }

    pub(super) fn variables(
        &self,
        _stream: &Stream,
        _now: Instant,
        show: &mut dyn FnMut(Variable),
    ) {
        show(Variable::time("mxrtt", self.tables.mxrtt()));
    }

    pub(super) fn on_ack(
        &mut self,
        stream: &mut Stream,
        ack: Ack<'_>,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let tables = &mut self.tables;
        // A copy can be faster than all packets before it, but not twice as fast. BSD's
        // bad-retransmit check also uses half a round trip.
        let latest_answerable = now - stream.min_rtt().unwrap_or_default() / 2;
        let read = stream.acknowledge(&ack, now, |arrival| {
            tables.on_covered(arrival.number, arrival.original, latest_answerable);
            None
        });
        // A packet whose acknowledgement was delayed by a hole only gives a larger sample, which
        // does not change the minimum.
        if let Some(sent) = read.delivery.original_sent {
            stream.min_rtt.sample(now.since(sent), now);
        }
        tables.discard_below(stream.board.first());
        // An acknowledgement with ECE does not grow the window (RFC 3168, section 6.1.2).
        let max_cwnd = self.growth.max_cwnd(stream);
        let max_cwnd = if ack.ece { max_cwnd.min(tables.window().cwnd) } else { max_cwnd };
        tables.on_ack(now, max_cwnd);
        stream.measure_reordering(&ack, &read, now, observer);
        self.report_spurious(stream, &ack, &read, now, observer);
        stream.expire_retransmissions(now, |stream| {
            self.timeout(&stream.round_trips).max(stream.round_trips.base_rto()) * 2
        });
        if let Phase::Recovery { point, .. } | Phase::Loss { point, .. } = self.phase
            && stream.una() >= point
        {
            self.phase = Phase::Open;
            observer.on_event(now, &Event::Recovered);
        }
        if ack.ece {
            self.on_echo(stream, now, observer);
        }
        self.schedule_check(stream, now);
        let Window { cwnd, ssthresh } = self.tables.window();
        let event = Event::Acknowledged {
            una: stream.una(),
            cwnd,
            ssthresh,
            dupthresh: None,
            patience: Some(self.tables.mxrtt()),
            srtt: self.tables.srtt(),
        };
        observer.on_event(now, &event);
    }

    pub(super) fn next_timer(&self) -> Instant {
        self.next_check.unwrap_or(Instant::MAX)
    }

    /// Checks for drops, if that is due. Handles one drop at a time, because line 13 flushes after
    /// each.
    pub(super) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.next_check.take_if(|at| *at <= now).is_none() {
            return;
        }
        let before = self.tables.window();
        if let Some((number, dropped)) = self.tables.next_drop(now) {
            // Line 6.
            stream.board.mark_lost(number);
            match dropped {
                Dropped::New => {
                    observer.on_event(now, &Event::FastRetransmit);
                    self.record_reduction(stream, Cause::FastRetransmit, before, now);
                    self.phase = Phase::Recovery { point: stream.nxt(), partial: false };
                }
                Dropped::Extreme => {
                    observer.on_event(now, &Event::Timeout { cwnd: self.tables.window().cwnd });
                    self.record_reduction(stream, Cause::Timeout, before, now);
                    self.phase = Phase::Loss { point: stream.nxt(), too_big: false };
                }
                Dropped::Burst => {}
            }
        } else if all_sacked(stream) && stream.board.reneged() {
            if let Some(numbers) = stream.discard_sacks() {
                self.renumber(stream, &numbers);
            }
            stream.board.mark_all_lost();
        }
        self.schedule_check(stream, now);
    }

    /// Sends the next packet of flush-cwnd, if any.
    pub(super) fn poll(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        if let Some(window) = self.restart_window
            && stream.restarts(|| self.timeout(&stream.round_trips), now)
        {
            self.tables.restart_after_idle(window);
        }
        let may_send = self.tables.may_send(now);
        // Line 25: the smallest number first. Dropped packets have smaller numbers than new ones.
        let sent = if may_send { self.next_transmission(stream, now) } else { None };
        match sent {
            Some((number, _)) => self.tables.on_sent(number, now),
            None => self.tables.on_flushed(may_send),
        }
        self.schedule_check(stream, now);
        sent.map(|(_, transmission)| transmission)
    }

    fn next_transmission(
        &mut self,
        stream: &mut Stream,
        now: Instant,
    ) -> Option<(SegNo, Transmission)> {
        if let Some(number) = stream.board.next_lost() {
            let cause = match self.phase {
                Phase::Loss { .. } => Cause::Timeout,
                _ => Cause::FastRetransmit,
            };
            let retransmission = Retransmission { under: self.ledger.current(), suspected: false };
            let ledger = &mut self.ledger;
            return Some((number, stream.retransmit(number, cause, retransmission, ledger, now)));
        }
        let number = stream.board.end();
        let len = stream.next_new()?;
        Some((number, stream.push_new(len, now)))
    }

    /// Sends the next `len` octets, whatever the window. TCP-PR times every packet, including those
    /// that its flush did not send.
    pub(super) fn send_new(&mut self, stream: &mut Stream, len: u64, now: Instant) -> Transmission {
        let transmission = stream.push_new(len, now);
        self.time_last(stream, now);
        transmission
    }

    /// Records that the peer accepted the octet of a window probe, which is timed from its last
    /// transmission at `sent`.
    pub(super) fn on_window_probe_accepted(&mut self, stream: &Stream, sent: Instant) {
        self.time_last(stream, sent);
    }

    /// Times the last segment, which was sent at `sent`, but not by a flush.
    fn time_last(&mut self, stream: &Stream, sent: Instant) {
        self.tables.on_sent(stream.board.end() - 1, sent);
        self.next_check = Some(sent);
    }

    /// Adapts the windows when packets become smaller by the factor `ratio`. Windows keep their
    /// size in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        self.tables.on_smaller_packets(ratio);
    }

    /// Handles the splitting of packets that were too big for the path and are sent again. It is no
    /// sign of congestion, but slow start fills the window again.
    pub(super) fn on_split(&mut self, stream: &mut Stream, numbers: &Renumbered, now: Instant) {
        self.renumber(stream, numbers);
        self.tables.restart();
        self.phase = Phase::Loss { point: stream.nxt(), too_big: true };
        self.next_check = Some(now);
    }

    fn renumber(&mut self, stream: &Stream, numbers: &Renumbered) {
        self.tables.on_split(numbers, |number| stream.board.entry(number).is_lost());
    }

    /// Records a reduction of the window, which was `before`, in the ledger.
    fn record_reduction(&mut self, stream: &Stream, cause: Cause, before: Window, now: Instant) {
        let saved = Saved { window: before, rest: () };
        self.ledger.begin(cause, Basis::Verdict, saved, now);
        self.marks.on_loss(stream.una(), stream.nxt());
    }

    /// Responds to an acknowledgement with ECE as to the first drop of a burst, once for each window of
    /// data (RFC 3168, section 6.1.2). The paper does not mention ECN.
    fn on_echo(&mut self, stream: &Stream, now: Instant, observer: &mut impl Observer) {
        if self.marks.are_answered(stream.una()) {
            self.ledger.support_last_by_mark();
            return;
        }
        let saved = Saved { window: self.tables.window(), rest: () };
        self.ledger.begin(Cause::FastRetransmit, Basis::Mark, saved, now);
        self.tables.on_mark();
        self.marks.on_mark(stream.nxt());
        let cwnd = self.tables.window().cwnd;
        observer.on_event(now, &Event::EcnReduction { cwnd });
    }

    /// Reports to the observer what a DSACK proves spurious. TCP-PR itself ignores DSACKs.
    fn report_spurious(
        &mut self,
        stream: &mut Stream,
        ack: &Ack<'_>,
        read: &Reading,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let mut last = None;
        while let Some(spurious) = stream.next_spurious(last.as_ref(), ack, read, now, observer) {
            let undo = spurious.under.and_then(|id| self.ledger.add(id, Evidence::Duplicate, now));
            if let Some(Undo { cause, .. }) = undo {
                observer.on_event(now, &Event::SpuriousReduction { cause });
            }
            last = Some(spurious);
        }
    }

    /// Schedules the next check for drops, or for a receiver that reneged while everything is
    /// SACKed.
    fn schedule_check(&mut self, stream: &Stream, now: Instant) {
        self.next_check = match self.tables.next_check(now) {
            Some(at) => Some(at),
            None if all_sacked(stream) => {
                let later = self.next_check.filter(|&at| at > now);
                later.or_else(|| Some(now + self.tables.mxrtt()))
            }
            None => None,
        };
    }
}

/// Returns whether segments are outstanding and each of them has been SACKed.
fn all_sacked(stream: &Stream) -> bool {
    stream.outstanding() && stream.board.outstanding() == stream.board.sacked()
}
