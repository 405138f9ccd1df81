//! The receiving half of a connection: puts the stream together and says what arrived, cumulatively
//! (RFC 9293), selectively (RFC 2018) and twice (RFC 2883).

mod arrived;
mod moderation;
#[cfg(test)]
mod tests;
mod window;

use unruffled_units::{Duration, Instant};

use crate::Config;
use crate::observer::{Event, Observer};
use arrived::{Arrived, Room};
use moderation::Moderation;
pub(crate) use window::ReceiveWindow;

/// The receiving half. Positions are stream offsets. What every segment that arrives needs comes
/// first, in one piece.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// An acknowledgement is to leave at once.
    ack_due: bool,
    /// The segment to be answered was a retransmission (in simulation).
    rtx: bool,
    /// The application has read something since the window was last looked at.
    read: bool,
    /// Segments that no acknowledgement has answered.
    unanswered: u32,
    /// Until when a delayed one may wait.
    ack_deadline: Option<Instant>,
    /// What the last acknowledgement said (Last.ACK.sent of RFC 7323).
    last_acknowledged: u64,
    window: ReceiveWindow,
    /// Where the stream ends, once a FIN has told.
    end: Option<u64>,
    arrived: Arrived,
    delay: Option<Duration>,
    /// Where the window grows with what is read.
    moderation: Option<Box<Moderation>>,
}

impl Receiver {
    /// The receiver of a connection with these settings.
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            window: ReceiveWindow::of(config),
            moderation: config
                .initial_receive_buffer
                .map(|_| Box::new(Moderation::new(config.mss))),
            ..Self::new(config.receive_buffer, config.mss, config.delayed_ack)
        }
    }

    /// A receiver with room for `buffer` octets, whose peer's segments have up to `mss`.
    pub(crate) fn new(buffer: u64, mss: u32, delay: Option<Duration>) -> Self {
        Self {
            arrived: Arrived::new(buffer, mss),
            end: None,
            window: ReceiveWindow::new(buffer, mss),
            moderation: None,
            delay,
            last_acknowledged: 0,
            unanswered: 0,
            ack_due: false,
            ack_deadline: None,
            rtx: false,
            read: false,
        }
    }

    /// Reads something of each line of memory that a connection with nothing on its way needs.
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.ack_due) ^ self.window.edge() ^ self.next()
    }

    /// Whether something is missing below the furthest that has arrived, which may be the FIN.
    pub(crate) fn has_hole(&self) -> bool {
        self.arrived.has_hole()
    }

    /// RCV.NXT, with the FIN counted once it has been reached.
    pub(crate) fn next(&self) -> u64 {
        self.arrived.next()
    }

    /// Everything up to the FIN has arrived.
    pub(crate) fn at_end(&self) -> bool {
        self.end.is_some_and(|end| end < self.arrived.next())
    }

    /// The end of what has arrived in order, the FIN left out.
    fn text_end(&self) -> u64 {
        self.arrived.next().min(self.end.unwrap_or(u64::MAX))
    }

    /// What the last acknowledgement acknowledged, cumulatively.
    pub(crate) fn last_acknowledged(&self) -> u64 {
        self.last_acknowledged
    }

    /// What the peer may send, and how it is told.
    pub(crate) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// The driver has memory for so many octets that are not read.
    pub(crate) fn bound_window(&mut self, octets: u64) {
        if octets == self.window.bound() {
            return;
        }
        let more = octets > self.window.bound();
        self.window.set_bound(octets);
        // What has been promised stays promised.
        let promised = self.window.edge().saturating_sub(self.window.taken());
        self.arrived.bound(octets.max(promised));
        // What was read while there was none could not be told.
        if more && self.end.is_none() && self.window.should_update(self.arrived.next()) {
            self.ack_due = true;
        }
    }

    /// The window is so large from now on, and the peer may be `told`.
    pub(crate) fn fix_window(&mut self, octets: u64, told: bool) {
        self.moderation = None;
        self.window.fix(octets);
        if !told {
            self.window.promise_in_syn();
        }
        if told && self.end.is_none() && self.window.should_update(self.arrived.next()) {
            self.ack_due = true;
        }
    }

    /// The window field of the acknowledgement that leaves now.
    #[inline(always)]
    pub(crate) fn advertise(&mut self) -> u16 {
        self.window.advertise(self.next())
    }

    /// The peer does not scale windows.
    pub(crate) fn without_scale(&mut self) {
        self.window.without_scale();
    }

    /// The next peer is another one, and of this one nothing has arrived: no answer to it is due, and
    /// what was agreed on is forgotten.
    pub(crate) fn forget_peer(&mut self) {
        self.acknowledged(true);
        self.window.offer_scale();
    }

    /// What the table of what has arrived takes, in octets.
    pub(crate) fn table_octets(&self) -> usize {
        self.arrived.table_octets()
    }

    /// Frees what that table does not use.
    pub(crate) fn shrink(&mut self) {
        self.arrived.shrink();
    }

    /// Octets in order that the application has not taken.
    pub(crate) fn readable(&self) -> u64 {
        self.text_end() - self.window.taken()
    }

    /// The application took `octets`; the peer is told when that opens the window enough.
    pub(crate) fn read(&mut self, octets: u64) {
        self.window.take(octets.min(self.readable()));
        let left = self.readable();
        if let Some(moderation) = &mut self.moderation {
            moderation.on_read(self.window.taken(), left);
            self.read = true;
        }
        if self.end.is_none() && self.window.should_update(self.arrived.next()) {
            self.ack_due = true;
        }
    }

    /// Lets the window grow, if what was read says so.
    #[inline]
    pub(crate) fn moderate(&mut self, now: Instant) {
        if std::mem::take(&mut self.read) {
            self.moderate_now(now);
        }
    }

    #[inline(never)]
    fn moderate_now(&mut self, now: Instant) {
        if let Some(octets) = self.moderation.as_mut().and_then(|it| it.verdict(now)) {
            self.window.grow(octets);
            if self.end.is_none() && self.window.should_update(self.arrived.next()) {
                self.ack_due = true;
            }
        }
    }

    /// The application has read something, so that the window may have to [grow](Self::moderate).
    pub(crate) fn was_read(&self) -> bool {
        self.read
    }

    /// The handshake took so long.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_handshake(rtt);
        }
    }

    /// A segment of `len` octets echoes a timestamp that left `ago`.
    pub(crate) fn on_echo(&mut self, echo: u32, ago: Duration, len: u32) {
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_echo(echo, ago, len);
        }
    }

    /// A segment of `len` octets from `offset` arrived; `fin` ends the stream behind it. What lies
    /// beyond the window, or beyond an end already told, is cut off.
    #[inline(always)]
    pub(crate) fn on_segment(
        &mut self,
        offset: u64,
        len: u32,
        fin: bool,
        rtx: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let end = offset + u64::from(len);
        let next = !fin && self.end.is_none() && self.arrived.follows(offset, end);
        if next && end <= self.window.edge() {
            self.on_next(end, rtx, now, observer);
        } else {
            self.on_any_segment(offset, len, fin, rtx, now, observer);
        }
    }

    #[inline(never)]
    fn on_any_segment(
        &mut self,
        offset: u64,
        len: u32,
        fin: bool,
        rtx: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) {
        let Some((end, len)) = self.trim(offset, len, fin) else { return };
        let (had_hole, before) = (self.has_hole(), self.text_end());
        self.rtx = rtx;
        let discarded = match self.arrived.make_room(offset, end) {
            Room::Enough => None,
            Room::Without(range) => range,
            Room::None => {
                self.arrived.forget_duplicate();
                self.ack_due = true;
                return;
            }
        };
        let stream_end = self.end.unwrap_or(u64::MAX);
        let text =
            |left, right: u64| right.min(stream_end).checked_sub(left).filter(|&len| len > 0);
        if let Some((left, right)) = discarded
            && let Some(len) = text(left, right)
        {
            observer.on_event(now, &Event::Discarded { offset: left, len });
        }
        let mut fresh = false;
        self.arrived.add(offset, end, |left, right| {
            if let Some(len) = text(left, right) {
                fresh = true;
                observer.on_event(now, &Event::Fresh { offset: left, len: len as u32 });
            }
        });
        if len > 0 {
            observer.on_event(now, &Event::Arrived { offset, len, duplicate: !fresh });
        }
        let next = self.text_end();
        if next > before {
            observer.on_event(now, &Event::Delivered { len: next - before });
            if let Some(moderation) = &mut self.moderation {
                moderation.rtt().on_arrival(next, self.window.edge(), now);
            }
        }
        let whole = !self.arrived.has_hole() && self.arrived.duplicate().is_none();
        self.answer(fresh && !had_hole && whole && !fin, now);
    }

    /// Cuts off what lies beyond the window, or beyond the end: gives where the segment ends, its FIN
    /// counted, and how much text it has.
    fn trim(&mut self, offset: u64, len: u32, fin: bool) -> Option<(u64, u32)> {
        let end = offset + u64::from(len);
        let bound = self.end.map_or(self.window.edge(), |end| end.min(self.window.edge()));
        if end > bound {
            // Not kept, but answered (RFC 9293, section 3.10.7.4).
            self.ack_due = true;
            return (offset < bound).then(|| (bound, (bound - offset) as u32));
        }
        // No stream ends before what has arrived of it.
        if fin && self.end.is_none() && end >= self.arrived.highest() {
            self.end = Some(end);
        }
        // The FIN has a number, and is SACKed by that as text is.
        Some((end + u64::from(fin && self.end == Some(end)), len))
    }

    /// What [`Self::on_segment`] does with what comes next of a stream without holes: half as much.
    #[inline(always)]
    fn on_next(&mut self, end: u64, rtx: bool, now: Instant, observer: &mut impl Observer) {
        self.rtx = rtx;
        let offset = self.arrived.advance(end);
        let len = (end - offset) as u32;
        observer.on_event(now, &Event::Fresh { offset, len });
        observer.on_event(now, &Event::Arrived { offset, len, duplicate: false });
        observer.on_event(now, &Event::Delivered { len: end - offset });
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_arrival(end, self.window.edge(), now);
        }
        self.answer(true, now);
    }

    /// One more segment is to be answered: not at once, if acknowledgements are delayed and it came in
    /// order.
    #[inline(always)]
    fn answer(&mut self, in_order: bool, now: Instant) {
        self.unanswered += 1;
        match self.delay {
            Some(delay) if in_order && self.unanswered < 2 => {
                self.ack_deadline.get_or_insert(now + delay);
            }
            _ => self.ack_due = true,
        }
    }

    /// The SACK blocks of an acknowledgement, at most `limit`: a DSACK if there is one to report,
    /// then ranges, the most recently changed first.
    pub(crate) fn blocks(&self, limit: usize, push: impl FnMut(u64, u64)) {
        self.arrived.blocks(limit, push);
    }

    /// How many blocks there are to tell of.
    pub(crate) fn block_count(&self) -> usize {
        self.arrived.block_count()
    }

    /// Whether a retransmission is being answered (in simulation).
    pub(crate) fn answers_rtx(&self) -> bool {
        self.rtx
    }

    /// An acknowledgement must leave now.
    pub(crate) fn ack_due(&self) -> bool {
        self.ack_due
    }

    /// When a delayed acknowledgement must leave.
    pub(crate) fn ack_deadline(&self) -> Option<Instant> {
        self.ack_deadline
    }

    /// Timers may be due.
    pub(crate) fn on_timers(&mut self, now: Instant) {
        if self.ack_deadline.is_some_and(|at| at <= now) {
            self.ack_due = true;
            self.ack_deadline = None;
        }
    }

    /// An acknowledgement is wanted whatever arrived.
    pub(crate) fn demand_ack(&mut self) {
        self.ack_due = true;
    }

    /// An acknowledgement has left, alone or with data. If it was not `whole`, for want of room for SACK
    /// blocks, an answer that was due still is.
    pub(crate) fn acknowledged(&mut self, whole: bool) {
        self.last_acknowledged = self.next();
        self.ack_deadline = None;
        self.unanswered = 0;
        if whole {
            self.ack_due = false;
            self.arrived.forget_duplicate();
        }
    }
}
