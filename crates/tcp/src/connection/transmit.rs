//! Segments to send: which one is next, and its header.

use unruffled_units::Instant;

use super::{Connection, State};
use crate::SeqNr;
use crate::observer::{Event, Observer};
use crate::segment::{Flags, Packet, SackBlocks, Segment, Timestamps};
use crate::sender::Transmission;

/// A poll for the next segment of a connection.
pub(super) struct Departure<'a, O> {
    pub(super) connection: &'a mut Connection,
    pub(super) now: Instant,
    pub(super) observer: &'a mut O,
}

impl Connection {
    /// Returns the next segment to send, if any.
    #[inline(always)]
    pub fn poll_transmit(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Segment> {
        Departure { connection: self, now, observer }.poll()
    }
}

impl<O: Observer> Departure<'_, O> {
    /// Borrows the parts again, for a call outside the fast path, which keeps its own copy in registers.
    #[inline(always)]
    fn reborrow(&mut self) -> Departure<'_, O> {
        Departure { connection: self.connection, now: self.now, observer: self.observer }
    }

    #[inline(always)]
    fn poll(&mut self) -> Option<Segment> {
        if !self.only_data_or_ack() {
            return self.reborrow().next_segment();
        }
        let outgoing = match self.connection.sender.poll(self.now) {
            Some(transmission) => self.send(transmission),
            None if self.connection.sender.stream.blocked_by_window() => {
                return self.reborrow().next_segment();
            }
            None if !self.connection.receiver.ack_due() => return None,
            None => self.acknowledgement(),
        };
        Some(self.segment(&outgoing))
    }

    /// Returns whether only data or an acknowledgement can be sent: the connection is established,
    /// nothing else is due, and no timer has to be set or stopped.
    #[inline(always)]
    fn only_data_or_ack(&self) -> bool {
        self.connection.state == State::Established
            && self.connection.reset.is_none()
            && !self.connection.receiver.was_read()
            && !self.connection.idle.is_probe_due()
            && self.connection.timers.are_stopped()
            && (!self.connection.config.segments.count_options || self.connection.sender.idle())
    }

    #[inline(never)]
    fn next_segment(mut self) -> Option<Segment> {
        if self.connection.reset.is_some() || !self.connection.state.is_synchronised() {
            return self.reset_or_handshake();
        }
        self.connection.receiver.moderate(self.now);
        let outgoing = match self.connection.state {
            State::TimeWait => None,
            _ => self.data(),
        };
        let outgoing = match outgoing {
            None if !self.connection.receiver.ack_due() => return None,
            None => self.acknowledgement(),
            Some(data) => data,
        };
        Some(self.segment(&outgoing))
    }

    /// Returns a reset, or a segment of the handshake.
    #[inline(never)]
    fn reset_or_handshake(&mut self) -> Option<Segment> {
        if let Some(reset) = self.connection.reset.take() {
            return Some(self.stamped(*reset));
        }
        self.connection.receiver.moderate(self.now);
        match self.connection.state {
            State::SynSent | State::SynReceived if self.connection.handshake.take_due() => {
                Some(self.syn())
            }
            State::SynReceived if self.connection.receiver.ack_due() => {
                Some(self.segment(&self.acknowledgement()))
            }
            _ => None,
        }
    }

    /// Returns an acknowledgement without data.
    #[inline]
    fn acknowledgement(&self) -> Outgoing {
        let offset = self.connection.sender.stream.nxt();
        let rtx = self.connection.receiver.answers_rtx();
        Outgoing { offset, rtx, ..Outgoing::default() }
    }

    /// Returns data, or a probe.
    #[inline]
    fn data(&mut self) -> Option<Outgoing> {
        if !self.connection.sender.idle() && self.connection.config.segments.count_options {
            let blocks =
                if self.connection.sack { self.connection.receiver.block_count() } else { 0 };
            let room = self.connection.room();
            let payload = room.payload(blocks.min(room.max_blocks()));
            self.connection.sender.stream.set_mss(payload);
        }
        if let Some(transmission) = self.connection.sender.poll(self.now) {
            return Some(self.send(transmission));
        }
        if self.connection.idle.is_probe_due() {
            return self.probe();
        }
        self.watch_window();
        self.stop_expecting();
        None
    }

    /// Returns the window probe or keep-alive that is due.
    #[inline(never)]
    fn probe(&mut self) -> Option<Outgoing> {
        if std::mem::take(&mut self.connection.idle.window_probe_due)
            && let Some(transmission) = self.connection.sender.probe_window(self.now)
        {
            self.observer.on_event(self.now, &Event::WindowProbe);
            let registered = self.connection.sender.stream.outstanding();
            self.watch_window();
            if registered {
                return Some(Outgoing { first: false, ..self.send(transmission) });
            }
            let Transmission { offset, len, .. } = transmission;
            return Some(Outgoing { offset, len, ..Outgoing::default() });
        }
        self.watch_window();
        self.stop_expecting();
        std::mem::take(&mut self.connection.idle.keep_alive_due).then(|| {
            self.observer.on_event(self.now, &Event::KeepAlive);
            // The number before the next one is never acceptable, so the peer must answer.
            let offset = self.connection.sender.stream.nxt().wrapping_sub(1);
            Outgoing { offset, ..Outgoing::default() }
        })
    }

    #[inline(always)]
    fn send(&mut self, transmission: Transmission) -> Outgoing {
        let Transmission { offset, len, fin, cause } = transmission;
        self.observer.on_event(self.now, &Event::Sent { offset, len, cause });
        let give_up = self.connection.config.timeouts.give_up;
        self.connection.timers.expect_answer(give_up, self.now);
        // The segment ends with the last octet written so far.
        let psh = len > 0 && offset + u64::from(len) == self.connection.sender.stream.written();
        let rtx = self.connection.sender.stream.marks_retransmissions() && cause.is_some();
        let packet = self.connection.sender.stream.last_packet();
        Outgoing { offset, len, fin, psh, rtx, first: cause.is_none(), packet }
    }

    /// Builds the segment, which acknowledges everything that has arrived.
    #[inline(always)]
    fn segment(&mut self, outgoing: &Outgoing) -> Segment {
        let &Outgoing { offset, len, fin, psh, rtx, first, packet } = outgoing;
        let mut sack = SackBlocks::default();
        let mut whole = true;
        let mut numbered = Packet::NONE;
        if self.connection.numbered {
            (numbered, whole) = self.reborrow().number(packet, len > 0 || fin, &mut sack);
        }
        if self.connection.sack
            && !self.connection.numbered
            && self.connection.receiver.block_count() > 0
        {
            let origin = self.connection.numbers.theirs.add(1);
            let limit = self.connection.room().blocks_beside(len);
            whole = limit > 0;
            self.connection.receiver.blocks(limit, |l, r| sack.push(origin.at(l), origin.at(r)));
        }
        let mut segment = Segment {
            seq: self.connection.numbers.ours.add(1).at(offset),
            ack: self.connection.numbers.theirs.add(1).at(self.connection.receiver.next()),
            len,
            flags: Flags { ack: true, fin, psh, ..Flags::default() },
            window: self.connection.receiver.advertise(),
            sack,
            timestamps: self.connection.clock.option(self.now),
            rtx,
            packet: numbered,
            ..Segment::default()
        };
        self.connection.receiver.acknowledged(whole);
        if self.connection.ecn.is_active() {
            segment.ecn = self.reborrow().ecn(first && len > 0);
        }
        segment
    }

    /// Returns the packet of a segment, and whether its acknowledgement reports everything. `number` is
    /// that of the transmission, or 0 for a segment that the sender did not send.
    #[inline(never)]
    fn number(self, number: u32, data: bool, sack: &mut SackBlocks) -> (Packet, bool) {
        let number = match number {
            0 => self.connection.sender.stream.next_packet(),
            number => number,
        };
        let receiver = &mut self.connection.receiver;
        let whole = if receiver.reports_packets() {
            receiver.report_packets(SackBlocks::CAPACITY, |l, r| sack.push(SeqNr(l), SeqNr(r)))
        } else {
            let limit = if self.connection.sack { SackBlocks::CAPACITY } else { 0 };
            let origin = self.connection.numbers.theirs.add(1);
            receiver.blocks(limit, |l, r| sack.push(origin.at(l), origin.at(r)));
            true
        };
        (self.connection.receiver.complete(Packet::new(number), data, self.now), whole)
    }

    /// Adds timestamps to a reset, if they were negotiated. A reset without an acknowledgement
    /// echoes nothing (RFC 7323, section 3.2).
    pub(super) fn stamped(&self, reset: Segment) -> Segment {
        let negotiated = !matches!(self.connection.state, State::Listen | State::SynSent);
        let stamps = self.connection.clock.option(self.now).filter(|_| negotiated);
        Segment { timestamps: stamps.map(|stamps| Timestamps { echo: 0, ..stamps }), ..reset }
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
    /// Whether it is the first transmission of its part of the stream, and no window probe.
    first: bool,
    /// Number of the transmission, or 0.
    packet: u32,
}
