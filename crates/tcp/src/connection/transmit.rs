//! What leaves: which segment is next, and its header.

use unruffled_units::Instant;

use super::{Connection, State};
use crate::observer::{Event, Observer};
use crate::segment::{Flags, SackBlocks, Segment};
use crate::sender::Transmission;

impl Connection {
    /// The next segment to send, if any.
    pub fn poll_transmit(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Segment> {
        if let Some(reset) = self.reset.take() {
            return Some(self.stamped(*reset, now));
        }
        self.receiver.moderate(now);
        match self.state {
            State::Closed | State::Listen => return None,
            State::SynSent | State::SynReceived => {
                if self.handshake.take_due() {
                    return Some(self.syn(now));
                }
                if self.state == State::SynSent {
                    return None;
                }
            }
            State::TimeWait => {}
            _ => {
                if let Some(segment) = self.data(now, observer) {
                    return Some(segment);
                }
            }
        }
        let rtx = self.receiver.answers_rtx();
        self.receiver.ack_due().then(|| {
            let mut segment = self.header(self.sender.stream.nxt(), 0, now);
            segment.rtx = rtx;
            segment
        })
    }

    /// Data, or a probe that stands for it.
    fn data(&mut self, now: Instant, observer: &mut impl Observer) -> Option<Segment> {
        if !self.sender.idle() && self.config.segments.count_options {
            let blocks = if self.sack { self.receiver.block_count() } else { 0 };
            self.sender.stream.set_mss(self.payload(blocks.min(self.most_blocks())));
        }
        if let Some(transmission) = self.sender.poll(now) {
            return Some(self.segment(transmission, now, observer));
        }
        if std::mem::take(&mut self.idle.window_probe_due)
            && let Some(transmission) = self.sender.probe_window(now)
        {
            observer.on_event(now, &Event::WindowProbe);
            let registered = self.sender.stream.outstanding();
            self.watch_window(now);
            if registered {
                return Some(self.segment(transmission, now, observer));
            }
            let mut segment = self.header(transmission.offset, transmission.len, now);
            segment.len = transmission.len;
            return Some(segment);
        }
        self.watch_window(now);
        self.rest();
        if std::mem::take(&mut self.idle.keep_alive_due) {
            observer.on_event(now, &Event::KeepAlive);
            // The number before the next one is never acceptable, and so is answered.
            let mut segment = self.header(self.sender.stream.nxt(), 0, now);
            segment.seq = segment.seq.add(u32::MAX);
            return Some(segment);
        }
        None
    }

    fn segment(
        &mut self,
        transmission: Transmission,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Segment {
        let Transmission { offset, len, fin, cause } = transmission;
        observer.on_event(now, &Event::Sent { offset, len, cause });
        self.expect_answer(now);
        let mut segment = self.header(offset, len, now);
        segment.len = len;
        segment.flags.fin = fin;
        // The last of what has been written so far.
        segment.flags.psh = len > 0 && offset + u64::from(len) == self.sender.stream.written();
        segment.rtx = self.sender.stream.times_originals() && cause.is_some();
        segment
    }

    /// A segment from `offset` with room for `len` octets that acknowledges all that has arrived.
    fn header(&mut self, offset: u64, len: u32, now: Instant) -> Segment {
        let mut sack = SackBlocks::default();
        if self.sack && self.receiver.block_count() > 0 {
            let origin = self.numbers.theirs.add(1);
            let limit = self.blocks_beside(len);
            self.receiver.blocks(limit, |l, r| sack.push(origin.at(l), origin.at(r)));
        }
        let segment = Segment {
            seq: self.numbers.ours.add(1).at(offset),
            ack: self.numbers.theirs.add(1).at(self.receiver.next()),
            flags: Flags { ack: true, ..Flags::default() },
            window: self.receiver.advertise(),
            sack,
            timestamps: self.clock.option(now),
            ..Segment::default()
        };
        self.receiver.acknowledged();
        segment
    }
}
