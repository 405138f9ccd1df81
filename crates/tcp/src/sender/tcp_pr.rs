//! TCP-PR (Bohacek, Hespanha, Lee, Lim, Obraczka): every packet is timed, and what has not been
//! acknowledged `mxrtt` after it left is lost; the order of acknowledgements says nothing.
//!
//! It takes no parts: it replaces loss detection, the response to losses, the timer, limited transmit
//! and the congestion control by one machine, [`tables`]. Acknowledgements and timers go to that, its
//! drops to the scoreboard, and nothing else decides on losses, the window or what to send.

mod settings;
mod tables;

use unruffled_units::{Duration, Instant};

pub(crate) use settings::{BASIC, EXTREME, SACK, Settings, Version};

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

/// A sender that lives by TCP-PR.
#[derive(Debug)]
pub(crate) struct TcpPr {
    tables: Tables,
    /// What is being recovered from: only observers and the causes of retransmissions depend on it.
    phase: Phase,
    /// When to look for drops again.
    look: Option<Instant>,
    growth: Growth,
    /// RW, if a window is not trusted after a pause (RFC 5681, section 4.1).
    restart_window: Option<u32>,
    /// Reductions of the window, for observers.
    ledger: Ledger<()>,
}

impl TcpPr {
    pub(super) fn new(config: &Config, settings: &Settings) -> Self {
        Self {
            tables: Tables::new(config, settings),
            phase: Phase::Open,
            look: None,
            growth: config.ns2.growth,
            restart_window: config.window.restart.then_some(config.window.initial),
            ledger: Ledger::default(),
        }
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

    /// TCP-PR's own round-trip time, without a variation, and its wait.
    pub(super) fn estimates(&self, stream: &Stream) -> Estimates {
        let rto = self.wait(&stream.round_trips);
        Estimates { srtt: self.tables.srtt(), rttvar: None, rto }
    }

    pub(super) fn handshake_timeout(&mut self, round_trips: &mut RoundTrips) -> Duration {
        self.wait(round_trips)
    }

    /// `mxrtt`, or the handshake's timeout until a round trip was timed.
    fn wait(&self, round_trips: &RoundTrips) -> Duration {
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
        // A copy may be faster than all before it, but not twice as fast (BSD's bad retransmits too
        // are what is acknowledged within half a round trip).
        let soon = now - stream.min_rtt().unwrap_or_default() / 2;
        let read = stream.acknowledge(&ack, now, |arrival| {
            tables.on_covered(arrival.number, arrival.original, soon);
            None
        });
        // One that waited behind a hole took longer, and is no minimum.
        if let Some(sent) = read.delivery.original_sent {
            stream.min_rtt.sample(now.since(sent), now);
        }
        tables.forget_below(stream.board.first());
        tables.on_ack(now, self.growth.max_cwnd(stream));
        stream.measure_reordering(&ack, &read, now, observer);
        self.report_spurious(stream, &ack, &read, now, observer);
        stream.expire_retransmissions(now, |stream| {
            self.wait(&stream.round_trips).max(stream.round_trips.base_rto()) * 2
        });
        if let Phase::Recovery { point, .. } | Phase::Loss { point, .. } = self.phase
            && stream.una() >= point
        {
            self.phase = Phase::Open;
            observer.on_event(now, &Event::Recovered);
        }
        self.await_drop(stream, now);
        let Window { cwnd, ssthresh } = self.tables.window();
        let (una, srtt, patience) = (stream.una(), self.tables.srtt(), Some(self.tables.mxrtt()));
        let event = Event::Acknowledged { una, cwnd, ssthresh, dupthresh: None, patience, srtt };
        observer.on_event(now, &event);
    }

    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.look
    }

    /// The machine wanted to look again. One drop at a time: line 13 flushes after each.
    pub(super) fn on_timers(
        &mut self,
        stream: &mut Stream,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        if self.look.take_if(|at| *at <= now).is_none() {
            return;
        }
        let before = self.tables.window();
        if let Some((number, dropped)) = self.tables.on_time(now) {
            // Line 6.
            stream.board.mark_lost(number);
            match dropped {
                Dropped::New => {
                    observer.on_event(now, &Event::FastRetransmit);
                    self.begin(Cause::FastRetransmit, before, now);
                    self.phase = Phase::Recovery { point: stream.nxt(), partial: false };
                }
                Dropped::Extreme => {
                    observer.on_event(now, &Event::Timeout { cwnd: self.tables.window().cwnd });
                    self.begin(Cause::Timeout, before, now);
                    self.phase = Phase::Loss { point: stream.nxt(), too_big: false };
                }
                Dropped::Burst => {}
            }
        } else if nothing_but_sacks(stream) && stream.board.reneged() {
            if let Some(numbers) = stream.discard_sacks() {
                self.renumber(stream, &numbers);
            }
            stream.board.mark_all_lost();
        }
        self.await_drop(stream, now);
    }

    /// flush-cwnd, one packet at a time.
    pub(super) fn poll(&mut self, stream: &mut Stream, now: Instant) -> Option<Transmission> {
        if let Some(most) =
            self.restart_window.filter(|_| stream.restarts(|| self.wait(&stream.round_trips), now))
        {
            self.tables.restart_after_idle(most);
        }
        let may_send = self.tables.may_send(now);
        // Line 25: the smallest number first, and what was dropped is older than what is new.
        let sent = if may_send { self.next(stream, now) } else { None };
        match sent {
            Some((number, _)) => self.tables.on_sent(number, now),
            None => self.tables.on_flushed(may_send),
        }
        self.await_drop(stream, now);
        sent.map(|(_, transmission)| transmission)
    }

    fn next(&mut self, stream: &mut Stream, now: Instant) -> Option<(SegNo, Transmission)> {
        if let Some(number) = stream.board.next_lost() {
            let cause = match self.phase {
                Phase::Loss { .. } => Cause::Timeout,
                _ => Cause::FastRetransmit,
            };
            let why = Retransmission { under: self.ledger.current(), suspected: false };
            return Some((number, stream.retransmit(number, cause, why, &mut self.ledger, now)));
        }
        let number = stream.board.end();
        let len = stream.next_new()?;
        Some((number, stream.push_new(len, now)))
    }

    /// The next `len` octets leave, whatever the window. TCP-PR times every packet, those that its
    /// flush did not send too.
    pub(super) fn send_new(&mut self, stream: &mut Stream, len: u64, now: Instant) -> Transmission {
        let transmission = stream.push_new(len, now);
        self.time_last(stream, now);
        transmission
    }

    /// The peer has taken a window probe's octet, which was sent at `sent` last, and is timed from then.
    pub(super) fn on_window_probe_accepted(&mut self, stream: &Stream, sent: Instant) {
        self.time_last(stream, sent);
    }

    /// The last segment was sent at `sent`, and not by a flush.
    fn time_last(&mut self, stream: &Stream, sent: Instant) {
        self.tables.on_sent(stream.board.end() - 1, sent);
        self.look = Some(sent);
    }

    /// `ratio` packets fit into one of before: the windows stay, in octets.
    pub(super) fn on_smaller_segments(&mut self, ratio: f64) {
        self.tables.on_smaller_packets(ratio);
    }

    /// What was too big for the path is sent again, in pieces: that says nothing of congestion, but
    /// the window is filled again by slow start.
    pub(super) fn on_split(&mut self, stream: &mut Stream, numbers: &Renumbered, now: Instant) {
        self.renumber(stream, numbers);
        self.tables.restart();
        self.phase = Phase::Loss { point: stream.nxt(), too_big: true };
        self.look = Some(now);
    }

    fn renumber(&mut self, stream: &Stream, numbers: &Renumbered) {
        self.tables.on_split(numbers, |number| stream.board.entry(number).is_lost());
    }

    /// The window was `before`, and is reduced now.
    fn begin(&mut self, cause: Cause, before: Window, now: Instant) {
        let saved = Saved { window: before, rest: () };
        self.ledger.begin(cause, Basis::Verdict, saved, now);
    }

    /// Observers learn of DSACKs, which change nothing.
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

    fn await_drop(&mut self, stream: &Stream, now: Instant) {
        self.look = match self.tables.next_look(now) {
            Some(at) => Some(at),
            None if nothing_but_sacks(stream) => {
                let later = self.look.filter(|&at| at > now);
                later.or_else(|| Some(now + self.tables.mxrtt()))
            }
            None => None,
        };
    }
}

/// All that is outstanding has been SACKed, and yet not acknowledged.
fn nothing_but_sacks(stream: &Stream) -> bool {
    stream.outstanding() && stream.board.outstanding() == stream.board.sacked()
}
