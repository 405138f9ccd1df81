//! The receiver of a connection. It reassembles the stream and reports in acknowledgements what
//! arrived: cumulatively (RFC 9293), selectively (RFC 2018) and twice (RFC 2883).

mod arrived;
mod moderation;
mod packets;
#[cfg(test)]
mod tests;
mod window;

use unruffled_units::{Duration, Instant};

use crate::Config;
use crate::config::ReceiverConfig;
use crate::observer::{Event, Ignored, Observer};
use crate::segment::{Packet, SackBlock};
use arrived::{Arrived, Room};
use moderation::Moderation;
use packets::Packets;
pub(crate) use window::ReceiveWindow;

/// The receiver. Positions are stream offsets. The fields that every arriving segment needs come
/// first and are adjacent.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Whether an acknowledgement must be sent at once.
    ack_due: bool,
    /// Whether the segment to acknowledge was a retransmission. Only the simulator sets this.
    rtx: bool,
    /// Whether the application has read since the window was last adjusted.
    read: bool,
    /// Number of segments since the last acknowledgement.
    unanswered: u32,
    /// Deadline of a delayed acknowledgement; the maximum if none is delayed.
    ack_deadline: Instant,
    /// Number acknowledged last (Last.ACK.sent of RFC 7323).
    last_acknowledged: u64,
    window: ReceiveWindow,
    /// End of the stream, once the FIN has arrived; the maximum before.
    end: u64,
    arrived: Arrived,
    /// Maximum delay of an acknowledgement; the maximum if none is delayed.
    delay: Duration,
    /// What differs from the RFCs, if anything does.
    special: Option<Box<Special>>,
    /// Present if the window grows with what is read.
    moderation: Option<Box<Moderation>>,
}

/// The rules of a receiver that differs from the RFCs, and what they need.
#[derive(Debug)]
struct Special {
    rules: ReceiverConfig,
    /// Packet numbers that have arrived, if packets are numbered.
    packets: Option<Box<Packets>>,
    /// Octets that the application reads once the acknowledgement has left that is due.
    reads: u64,
}

impl Special {
    fn of(config: &Config) -> Option<Box<Self>> {
        let rules = *config.receiver.as_deref()?;
        Some(Box::new(Self { rules, packets: Packets::of(rules).map(Box::new), reads: 0 }))
    }

    /// Returns whether a packet counts as one in order, and how many of those an acknowledgement covers.
    /// `in_order`: its data was in order.
    fn answers(&self, in_order: bool) -> (bool, u32) {
        let by_number = self.packets.as_deref().filter(|packets| packets.reports());
        (by_number.map_or(in_order, Packets::in_order), self.rules.ack_every)
    }
}

impl Receiver {
    /// Returns the receiver of a connection with this configuration.
    pub(crate) fn of(config: &Config) -> Self {
        Self {
            window: ReceiveWindow::of(config),
            moderation: config
                .initial_receive_buffer
                .map(|_| Box::new(Moderation::new(config.mss))),
            special: Special::of(config),
            ..Self::new(config.receive_buffer, config.mss, config.delayed_ack)
        }
    }

    /// Returns a receiver with room for `buffer` octets, for a peer whose segments have up to
    /// `mss`.
    pub(crate) fn new(buffer: u64, mss: u32, delay: Option<Duration>) -> Self {
        Self {
            arrived: Arrived::new(buffer, mss),
            end: u64::MAX,
            window: ReceiveWindow::new(buffer, mss),
            moderation: None,
            delay: delay.unwrap_or(Duration::MAX),
            special: None,
            last_acknowledged: 0,
            unanswered: 0,
            ack_due: false,
            ack_deadline: Instant::MAX,
            rtx: false,
            read: false,
        }
    }

    /// Reads from each cache line that a connection with nothing in flight needs.
    pub(crate) fn touch(&self) -> u64 {
        u64::from(self.ack_due) ^ self.window.edge() ^ self.next()
    }

    /// Returns whether something is missing below the highest octet, or FIN, that has arrived.
    pub(crate) fn has_hole(&self) -> bool {
        self.arrived.has_hole()
    }

    /// Returns RCV.NXT. It includes the FIN once everything before the FIN has arrived.
    pub(crate) fn next(&self) -> u64 {
        self.arrived.next()
    }

    /// Returns the end of the stream, once the FIN has arrived.
    #[inline(always)]
    fn end(&self) -> Option<u64> {
        (self.end != u64::MAX).then_some(self.end)
    }

    /// Returns whether everything up to the FIN has arrived.
    pub(crate) fn at_end(&self) -> bool {
        self.end().is_some_and(|end| end < self.arrived.next())
    }

    /// Returns the end of the text that has arrived in order, without the FIN.
    fn data_end(&self) -> u64 {
        self.arrived.next().min(self.end().unwrap_or(u64::MAX))
    }

    /// Returns the last cumulative acknowledgement sent.
    pub(crate) fn last_acknowledged(&self) -> u64 {
        self.last_acknowledged
    }

    /// Returns the receive window.
    pub(crate) fn window(&self) -> &ReceiveWindow {
        &self.window
    }

    /// Limits future window advertisements to `octets` unread octets, for which the driver has
    /// memory.
    pub(crate) fn bound_window(&mut self, octets: u64) {
        if octets == self.window.bound() {
            return;
        }
        let more = octets > self.window.bound();
        self.window.set_bound(octets);
        // Windows already advertised stay valid.
        let advertised = self.window.edge().saturating_sub(self.window.taken());
        self.arrived.bound(octets.max(advertised));
        // What was read while the window was closed has not been advertised yet.
        if more && self.end().is_none() && self.window.should_update(self.arrived.next()) {
            self.ack_due = true;
        }
    }

    /// Sets the size of the window. `connected`: the peer can receive an update now.
    pub(crate) fn fix_window(&mut self, octets: u64, connected: bool) {
        self.moderation = None;
        self.window.fix(octets);
        if !connected {
            self.window.advertise_in_syn();
        }
        if connected && self.end().is_none() && self.window.should_update(self.arrived.next()) {
            self.ack_due = true;
        }
    }

    /// Returns the window field of an acknowledgement sent now.
    #[inline(always)]
    pub(crate) fn advertise(&mut self) -> u16 {
        self.window.advertise(self.next())
    }

    /// Disables window scaling, which the peer does not offer.
    pub(crate) fn without_scale(&mut self) {
        self.window.without_scale();
    }

    /// Returns to the state before a peer: no acknowledgement is due, and window scaling is offered
    /// again. Nothing must have arrived from the previous peer.
    pub(crate) fn reset_peer(&mut self) {
        self.acknowledged(true);
        self.window.offer_scale();
    }

    /// Returns the octets allocated for the table of ranges.
    pub(crate) fn table_octets(&self) -> usize {
        self.arrived.table_octets() + self.packets().map_or(0, Packets::table_octets)
    }

    /// Frees the unused part of the table.
    pub(crate) fn shrink(&mut self) {
        self.arrived.shrink();
        if let Some(packets) = self.packets_mut() {
            packets.shrink();
        }
    }

    /// Returns how many octets in order the application has not read.
    pub(crate) fn readable(&self) -> u64 {
        let reads = self.special.as_ref().map_or(0, |special| special.reads);
        self.data_end() - self.window.taken() - reads
    }

    /// Records that the application read `octets`. A window update is due if that opens the window
    /// enough.
    pub(crate) fn read(&mut self, octets: u64) {
        let octets = octets.min(self.readable());
        if self.ack_due
            && let Some(special) = &mut self.special
            && special.rules.acknowledges_unread
        {
            special.reads += octets;
            return;
        }
        self.window.take(octets);
        let left = self.readable();
        if let Some(moderation) = &mut self.moderation {
            moderation.on_read(self.window.taken(), left);
            self.read = true;
        }
        if self.end().is_none() && self.window.should_update(self.arrived.next()) {
            self.ack_due = true;
        }
    }

    /// Enlarges the window if the application reads fast enough.
    #[inline]
    pub(crate) fn moderate(&mut self, now: Instant) {
        if std::mem::take(&mut self.read) {
            self.moderate_now(now);
        }
    }

    #[inline(never)]
    fn moderate_now(&mut self, now: Instant) {
        if let Some(octets) =
            self.moderation.as_mut().and_then(|moderation| moderation.next_size(now))
        {
            self.window.grow(octets);
            if self.end().is_none() && self.window.should_update(self.arrived.next()) {
                self.ack_due = true;
            }
        }
    }

    /// Returns whether the application has read, so that [`Self::moderate`] may enlarge the window.
    pub(crate) fn was_read(&self) -> bool {
        self.read
    }

    /// Called with the duration of the handshake.
    pub(crate) fn on_handshake(&mut self, rtt: Duration) {
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_handshake(rtt);
        }
        if let Some(divisor) = self.special.as_ref().and_then(|special| special.rules.delay_divisor)
        {
            self.delay = self.delay.min(rtt / u64::from(divisor.max(1)));
        }
    }

    /// Called when a segment of `len` octets echoes a timestamp that was sent `ago`.
    pub(crate) fn on_echo(&mut self, echo: u32, ago: Duration, len: u32) {
        if let Some(moderation) = &mut self.moderation {
            moderation.rtt().on_echo(echo, ago, len);
        }
    }

    /// Processes a segment of `len` octets from `offset` on; `fin` ends the stream after it. Cuts
    /// off octets beyond the window or beyond the known end of the stream.
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
        let whole = !fin && self.end().is_none() && end <= self.window.edge();
        if whole && self.arrived.follows(offset, end) {
            self.on_expected(end, rtx, now, observer);
        } else if !(whole
            && self.special.is_none()
            && self.on_whole(offset, len, rtx, now, observer))
        {
            self.on_any_segment(offset, len, fin, rtx, now, observer);
        }
    }

    /// Handles a segment of which all is new while a hole is open or opens, with the result of
    /// [`Self::on_any_segment`] without special rules. Returns whether it did; [`Arrived::add_whole`] has the
    /// conditions.
    #[inline(never)]
    fn on_whole(
        &mut self,
        offset: u64,
        len: u32,
        rtx: bool,
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        let before = self.next();
        if !self.arrived.add_whole(offset, offset + u64::from(len)) {
            return false;
        }
        self.rtx = rtx;
        observer.on_event(now, &Event::Fresh { offset, len });
        observer.on_event(now, &Event::Arrived { offset, len, duplicate: false });
        let next = self.next();
        if next > before {
            observer.on_event(now, &Event::Delivered { len: next - before });
            if let Some(moderation) = &mut self.moderation {
                moderation.rtt().on_arrival(next, self.window.edge(), now);
            }
        }
        self.answer(false, now);
        true
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
        let islands = self.special.as_ref().and_then(|special| special.rules.islands);
        if islands.is_some_and(|islands| self.arrived.exceeds(islands, offset, end)) {
            observer.on_event(now, &Event::Ignored { reason: Ignored::NoIsland });
            return;
        }
        let had_hole = self.has_hole();
        let before = self.data_end();
        self.rtx = rtx;
        let discarded = match self.arrived.make_room(offset, end) {
            Room::Available => None,
            Room::AfterDropping(range) => range,
            Room::None => {
                self.arrived.clear_duplicate();
                self.ack_due = true;
                return;
            }
        };
        let stream_end = self.end().unwrap_or(u64::MAX);
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
        let next = self.data_end();
        if next > before {
            observer.on_event(now, &Event::Delivered { len: next - before });
            if let Some(moderation) = &mut self.moderation {
                moderation.rtt().on_arrival(next, self.window.edge(), now);
            }
        }
        let whole = !self.arrived.has_hole() && self.arrived.duplicate().is_none();
        if self.special.as_ref().is_some_and(|special| !special.rules.dsack) {
            self.arrived.clear_duplicate();
        }
        self.answer(fresh && !had_hole && whole && !fin, now);
    }

    /// Cuts off octets beyond the window or beyond the end of the stream. Returns where the segment
    /// ends, including its FIN, and the length of its data.
    fn trim(&mut self, offset: u64, len: u32, fin: bool) -> Option<(u64, u32)> {
        let end = offset + u64::from(len);
        let bound = self.end().map_or(self.window.edge(), |end| end.min(self.window.edge()));
        if end > bound {
            // Dropped, but answered (RFC 9293, section 3.10.7.4).
            self.ack_due = true;
            return (offset < bound).then(|| (bound, (bound - offset) as u32));
        }
        // The stream cannot end before octets that have arrived.
        if fin && self.end().is_none() && end >= self.arrived.highest() {
            self.end = end;
        }
        // The FIN has a number, so it is SACKed like text.
        Some((end + u64::from(fin && self.end == end), len))
    }

    /// Handles the next segment of a stream without holes, with the result of [`Self::on_segment`].
    #[inline(always)]
    fn on_expected(&mut self, end: u64, rtx: bool, now: Instant, observer: &mut impl Observer) {
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

    /// Schedules the acknowledgement of a segment. It is delayed if acknowledgements are delayed
    /// and the segment arrived in order.
    #[inline(always)]
    fn answer(&mut self, in_order: bool, now: Instant) {
        self.unanswered += 1;
        let (in_order, every) = match &self.special {
            None => (in_order, 2),
            Some(special) => special.answers(in_order),
        };
        if in_order && self.unanswered < every && self.delay != Duration::MAX {
            self.ack_deadline = self.ack_deadline.min(now + self.delay);
        } else {
            self.ack_due = true;
        }
    }

    /// Calls `push` for the SACK blocks of an acknowledgement, at most `limit`: first a DSACK if
    /// one is due, then ranges, the most recently changed first.
    pub(crate) fn blocks(&self, limit: usize, push: impl FnMut(u64, u64)) {
        let most = self.special.as_ref().and_then(|special| special.rules.reported_ranges);
        self.arrived.blocks(most.map_or(limit, |most| limit.min(most as usize)), push);
    }

    fn packets(&self) -> Option<&Packets> {
        self.special.as_ref()?.packets.as_deref()
    }

    fn packets_mut(&mut self) -> Option<&mut Packets> {
        self.special.as_mut()?.packets.as_deref_mut()
    }

    /// Takes the number of a packet, which must be acknowledged if `answered`. Returns false if the
    /// packet is discarded.
    pub(crate) fn accepts(&mut self, packet: Packet, answered: bool, now: Instant) -> bool {
        let Some(packets) = self.packets_mut() else { return true };
        let accepted = packets.arrive(packet.number(), answered || packet.is_ping(), now);
        if accepted && packet.is_ping() && !answered {
            self.answer(true, now);
        }
        accepted
    }

    /// Returns whether acknowledgements have ranges of packet numbers in place of SACK blocks.
    pub(crate) fn reports_packets(&self) -> bool {
        self.packets().is_some_and(Packets::reports)
    }

    /// Calls `push` for the ranges of packet numbers that an acknowledgement reports, at most `limit`, if
    /// there is anything new. Returns whether all fitted in.
    #[inline(never)]
    pub(crate) fn report_packets(&mut self, limit: usize, push: impl FnMut(u32, u32)) -> bool {
        let due = self.ack_due;
        match self.packets_mut() {
            Some(packets) if due || packets.has_report() => packets.report(limit, push),
            _ => true,
        }
    }

    /// Returns the packet with what the receiver adds to it: how long the acknowledgement was delayed, and
    /// for one without data whether it asks to be acknowledged.
    #[inline(never)]
    pub(crate) fn complete(&mut self, packet: Packet, data: bool, now: Instant) -> Packet {
        match self.packets_mut() {
            Some(packets) if packets.reports() => {
                let packet = packet.with_ack_delay(packets.ack_delay(now));
                if data {
                    packets.on_data_sent();
                    packet
                } else {
                    packets.acknowledgement(packet)
                }
            }
            _ => packet,
        }
    }

    /// Takes the ranges of packet numbers that the peer acknowledges.
    pub(crate) fn on_acknowledged_packets(&mut self, ranges: &[SackBlock]) {
        if let Some(packets) = self.packets_mut() {
            packets.on_acknowledged(ranges);
        }
    }

    /// Returns how many blocks there are to report.
    pub(crate) fn block_count(&self) -> usize {
        self.arrived.block_count()
    }

    /// Returns whether the segment to acknowledge was a retransmission. Only the simulator uses
    /// this.
    pub(crate) fn answers_rtx(&self) -> bool {
        self.rtx
    }

    /// Returns whether an acknowledgement must be sent now.
    pub(crate) fn ack_due(&self) -> bool {
        self.ack_due
    }

    /// Returns when a delayed acknowledgement must be sent; the maximum if none is delayed.
    pub(crate) fn ack_deadline(&self) -> Instant {
        self.ack_deadline
    }

    /// Processes the timers that are due at `now`.
    pub(crate) fn on_timers(&mut self, now: Instant) {
        if self.ack_deadline <= now {
            self.ack_due = true;
            self.ack_deadline = Instant::MAX;
        }
    }

    /// Requests an acknowledgement, whatever arrived.
    pub(crate) fn demand_ack(&mut self) {
        self.ack_due = true;
    }

    /// Called when an acknowledgement was sent, alone or with data. If it was not `whole`, because
    /// SACK blocks did not fit, an acknowledgement that was due remains due.
    pub(crate) fn acknowledged(&mut self, whole: bool) {
        self.last_acknowledged = self.next();
        self.ack_deadline = Instant::MAX;
        self.unanswered = 0;
        if whole {
            self.ack_due = false;
            self.arrived.clear_duplicate();
            let special = self.special.as_mut().filter(|special| special.reads > 0);
            if let Some(octets) = special.map(|special| std::mem::take(&mut special.reads)) {
                self.read(octets);
            }
        }
    }
}
