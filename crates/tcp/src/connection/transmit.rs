//! Segments to send: which one is next, and its header.

use unruffled_units::Instant;

use super::{Connection, State};
use crate::observer::{Event, Observer};
use crate::segment::{Flags, SackBlocks, Segment};
use crate::sender::Transmission;

impl Connection {
    /// Returns the next segment to send, if any.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Segment> {
        if !self.only_data_or_ack() {
            return self.next_segment(now, observer);
        }
        let outgoing = match self.sender.poll(now) {
            Some(transmission) => self.send(transmission, now, observer),
            None if self.sender.stream.blocked_by_window() => {
                return self.next_segment(now, observer);
            }
            None if !self.receiver.ack_due() => return None,
            None => self.acknowledgement(),
        };
        Some(self.segment(&outgoing, now))
    }

    /// Returns whether only data or an acknowledgement can be sent: the connection is established,
    /// nothing else is due, and no timer has to be set or stopped.
    #[inline(always)]
    fn only_data_or_ack(&self) -> bool {
        self.state == State::Established
            && self.reset.is_none()
            && !self.receiver.was_read()
            && !self.idle.is_probe_due()
            && self.timers.next().is_none()
            && (!self.config.segments.count_options || self.sender.idle())
    }

    #[inline(never)]
    fn next_segment(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Segment> {
        if self.reset.is_some() || !self.state.is_synchronised() {
            return self.reset_or_handshake(now);
        }
        self.receiver.moderate(now);
        let outgoing = match self.state {
            State::TimeWait => None,
            _ => self.data(now, observer),
        };
        let outgoing = match outgoing {
            None if !self.receiver.ack_due() => return None,
            None => self.acknowledgement(),
            Some(data) => data,
        };
        Some(self.segment(&outgoing, now))
    }

    /// Returns a reset, or a segment of the handshake.
    #[inline(never)]
    fn reset_or_handshake(&mut self, now: Instant) -> Option<Segment> {
        if let Some(reset) = self.reset.take() {
            return Some(self.stamped(*reset, now));
        }
        self.receiver.moderate(now);
        match self.state {
            State::SynSent | State::SynReceived if self.handshake.take_due() => Some(self.syn(now)),
            State::SynReceived if self.receiver.ack_due() => {
                Some(self.segment(&self.acknowledgement(), now))
            }
            _ => None,
        }
    }

    /// Returns an acknowledgement without data.
    fn acknowledgement(&self) -> Outgoing {
        let offset = self.sender.stream.nxt();
        let rtx = self.receiver.answers_rtx();
        Outgoing { offset, rtx, ..Outgoing::default() }
    }

    /// Returns data, or a probe.
    #[inline]
    fn data(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Outgoing> {
        if !self.sender.idle() && self.config.segments.count_options {
            let blocks = if self.sack { self.receiver.block_count() } else { 0 };
            self.sender.stream.set_mss(self.payload(blocks.min(self.max_sack_blocks())));
        }
        if let Some(transmission) = self.sender.poll(now) {
            return Some(self.send(transmission, now, observer));
        }
        if self.idle.is_probe_due() {
            return self.probe(now, observer);
        }
        self.watch_window(now);
        self.stop_expecting();
        None
    }

    /// Returns the window probe or keep-alive that is due.
    #[inline(never)]
    fn probe(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Outgoing> {
        if std::mem::take(&mut self.idle.window_probe_due)
            && let Some(transmission) = self.sender.probe_window(now)
        {
            observer.on_event(now, &Event::WindowProbe);
            let registered = self.sender.stream.outstanding();
            self.watch_window(now);
            if registered {
                return Some(self.send(transmission, now, observer));
            }
            let Transmission { offset, len, .. } = transmission;
            return Some(Outgoing { offset, len, ..Outgoing::default() });
        }
        self.watch_window(now);
        self.stop_expecting();
        std::mem::take(&mut self.idle.keep_alive_due).then(|| {
            observer.on_event(now, &Event::KeepAlive);
            // SND.NXT − 1 is never an acceptable sequence number, so the peer must answer.
            let offset = self.sender.stream.nxt().wrapping_sub(1);
            Outgoing { offset, ..Outgoing::default() }
        })
    }

    #[inline(always)]
    fn send(
        &mut self,
        transmission: Transmission,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Outgoing {
        let Transmission { offset, len, fin, cause } = transmission;
        observer.on_event(now, &Event::Sent { offset, len, cause });
        self.expect_answer(now);
        // The segment ends with the last octet written so far.
        let psh = len > 0 && offset + u64::from(len) == self.sender.stream.written();
        let rtx = self.sender.stream.marks_retransmissions() && cause.is_some();
        Outgoing { offset, len, fin, psh, rtx }
    }

    /// Builds the segment, which acknowledges everything that has arrived.
    #[inline(always)]
    fn segment(&mut self, outgoing: &Outgoing, now: Instant) -> Segment {
        let &Outgoing { offset, len, fin, psh, rtx } = outgoing;
        let mut sack = SackBlocks::default();
        let mut whole = true;
        if self.sack && self.receiver.block_count() > 0 {
            let origin = self.numbers.theirs.add(1);
            let limit = self.sack_blocks_that_fit(len);
            whole = limit > 0;
            self.receiver.blocks(limit, |l, r| sack.push(origin.at(l), origin.at(r)));
        }
        let segment = Segment {
            seq: self.numbers.ours.add(1).at(offset),
            ack: self.numbers.theirs.add(1).at(self.receiver.next()),
            len,
            flags: Flags { ack: true, fin, psh, ..Flags::default() },
            window: self.receiver.advertise(),
            sack,
            timestamps: self.clock.option(now),
            rtx,
            ..Segment::default()
        };
        self.receiver.acknowledged(whole);
        segment
    }
}

/// The part of the stream that a segment carries.
#[derive(Clone, Copy, Debug, Default)]
struct Outgoing {
    offset: u64,
    len: u32,
    fin: bool,
    psh: bool,
    /// Value of [`Segment::rtx`], which only the simulator uses.
    rtx: bool,
}
