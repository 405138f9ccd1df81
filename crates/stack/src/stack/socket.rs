//! One connection of the stack: the engine's, its two buffers, and who waits for it.

use std::net::SocketAddr;
use std::task::Waker;

use unruffled_tcp::{Connection, Event, Observer, SackBlocks, Segment, State};
use unruffled_units::Instant;

use super::budget::{self, Allowance};
use super::info::Tally;
use super::options::Options;
use super::orphan::Orphan;
use super::slab::Key;
use crate::buffer::{ReceiveBuffer, SendBuffer};

/// The two ends of a connection. Use it to tell connections apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FourTuple {
    /// This end.
    pub local: SocketAddr,
    /// The peer.
    pub remote: SocketAddr,
}

/// Who it is for, before an application has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A listener: it waits to be accepted.
    Queue(Key),
    /// An application.
    Application,
    /// Nobody any more: what still arrives is discarded.
    Nobody,
}

/// What every segment needs stands in one piece here, and in another one in the [`Connection`]: in as few
/// lines of memory as can be.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Socket {
    /// What has happened in it.
    pub(super) tally: Tally,
    pub(super) options: Options,
    waiting: Waiting,
    pub(super) tuple: FourTuple,
    pub(super) owner: Owner,
    /// It stands in the queue of those that may have something to send.
    pub(super) queued: bool,
    /// It stands in the queue of those whose buffers are looked at.
    pub(super) watched: bool,
    /// The application writes no more.
    pub(super) finished: bool,
    /// Octets of memory that it has been charged for.
    pub(super) charged: usize,
    /// When it last had something to do.
    pub(super) used: Instant,
    /// The due time that counts among those in the stack's heap.
    pub(super) armed: Option<Instant>,
    /// No application holds it any more.
    pub(super) orphan: Option<Orphan>,
    send: SendBuffer,
    /// Octets set aside for the engine's tables when the send buffer got the storage it has.
    tables: usize,
    receive: ReceiveBuffer,
    pub(super) connection: Connection,
}

/// Who waits for something of a connection.
#[derive(Debug, Default)]
#[repr(C)]
struct Waiting {
    readers: Vec<Waker>,
    writers: Vec<Waker>,
    /// Those who wait for all to be acknowledged.
    flushers: Vec<Waker>,
    /// A writer waits, for which there was no memory.
    starved: bool,
    /// A writer waits for the end of the handshake.
    opening: bool,
    /// There may be somebody.
    any: bool,
}

impl Socket {
    pub(super) fn new(
        tuple: FourTuple,
        connection: Connection,
        send_buffer: usize,
        options: Options,
        owner: Owner,
    ) -> Self {
        Self {
            receive: ReceiveBuffer::new(connection.receive_room() as usize),
            connection,
            tuple,
            owner,
            send: SendBuffer::new(send_buffer),
            tables: 0,
            queued: false,
            options,
            tally: Tally::default(),
            armed: None,
            orphan: None,
            charged: 0,
            used: Instant::ZERO,
            watched: false,
            waiting: Waiting::default(),
            finished: false,
        }
    }

    /// Reads something of each line of memory that a segment needs if nothing is on its way.
    pub(super) fn touch(&self) -> u64 {
        let own = u64::from(self.options.receive_buffer.is_some())
            ^ u64::from(self.tuple.local.port() ^ self.tuple.remote.port())
            ^ u64::from(self.waiting.any)
            ^ u64::from(self.armed.is_some() ^ self.orphan.is_some())
            ^ self.send.end()
            ^ self.receive.start();
        own ^ self.connection.touch()
    }

    /// A segment arrived. Says whether its answer must leave before anything else is read, because
    /// a later one would hide it: it was out of order, filled part of a hole, or said more than "next in
    /// line".
    pub(super) fn handle(
        &mut self,
        mut segment: Segment,
        payload: &[u8],
        now: Instant,
        observer: &mut impl Observer,
    ) -> bool {
        if segment.flags.syn {
            // Text may come with a SYN, but comes again: nobody does it without TCP Fast Open.
            segment.len = 0;
        }
        let offset = self.connection.receive_offset(segment.seq);
        let before = self.connection.received();
        let had_hole = self.connection.has_hole();
        let awaits_ack = self.connection.in_flight() > 0;
        if segment.flags.fin && self.owner == Owner::Nobody {
            // Text that nobody will read resets the connection: first it, then the FIN behind it, which
            // may lead to TIME-WAIT, where the engine sends no reset.
            let more = offset.is_some_and(|at| at + u64::from(segment.len) > before);
            segment.flags.fin = !more;
        }
        let half = segment.len / 2;
        // A reset is judged by the number that was sent (RFC 5961, section 3.2), so it stays whole.
        let joined = half > 0 && segment.len > self.connection.max_arriving_payload();
        if joined && !segment.flags.rst {
            // Several segments that offload has joined: to be acknowledged as such, at once.
            let (first, second) = payload.split_at((half as usize).min(payload.len()));
            let mut head = Segment { len: half, ..segment };
            head.flags.fin = false;
            segment.seq = segment.seq.add(half);
            segment.len -= half;
            if offset.is_some_and(|at| at + u64::from(half) > before) {
                // Only segments of the same options are joined, and what they report is heard once:
                // with the first that is not all old.
                segment.sack = SackBlocks::default();
            }
            let urgent = self.handle(head, first, now, observer);
            return self.handle(segment, second, now, observer) || urgent;
        }
        let (receive, tally) = (&mut self.receive, &mut self.tally);
        let mut store = |at: Instant, event: &Event| {
            if let Event::Fresh { offset: at, len } = *event
                && let Some(offset) = offset
            {
                let from = at.saturating_sub(offset) as usize;
                if let Some(arrived) = payload.get(from..from + len as usize) {
                    debug_assert!(at + u64::from(len) <= receive.limit(), "taken without room");
                    receive.write(at, arrived);
                }
            }
            tally.on_event(at, event);
            observer.on_event(at, event);
        };
        self.connection.handle_segment(&segment, now, &mut store);
        if self.owner == Owner::Nobody {
            self.discard();
        }
        self.send.release(self.connection.unacknowledged_from());
        if awaits_ack && self.connection.in_flight() == 0 {
            self.tally.rest();
        }
        let advance = self.connection.received().wrapping_sub(before);
        let Segment { flags, len, .. } = segment;
        flags.syn || flags.fin || flags.rst || had_hole || advance != u64::from(len)
    }

    /// Whether there is memory for what `segment` carries: within this connection's share, or
    /// promised to its peer before memory ran short.
    pub(super) fn has_memory_for(&self, segment: &Segment, allowance: Allowance) -> bool {
        if segment.len == 0 {
            return true;
        }
        // It may begin before the stream does, or end behind the window.
        let first = self.connection.receive_offset(segment.seq);
        let last = self.connection.receive_offset(segment.seq.add(segment.len - 1));
        let end = first.map(|first| first + u64::from(segment.len)).or(last.map(|last| last + 1));
        let Some(end) = end else { return true };
        let wanted = self.receive.storage_until(end);
        wanted <= self.receive.storage().max(self.receive_most(allowance))
            || wanted - self.receive.storage() <= allowance.promised
    }

    /// Whether `segment` says something without its text: if not, it would be taken for a duplicate
    /// acknowledgement without that.
    pub(super) fn is_told_more_by(&self, segment: &Segment) -> bool {
        let connection = &self.connection;
        segment.flags.rst
            || !connection.state().is_synchronised()
            || !segment.sack.is_empty()
            || connection.send_offset(segment.ack) > connection.acknowledged()
    }

    /// Whether this end has sent its FIN and has the peer's. What has been left unread is no reason for
    /// an abort then: its own FIN is to arrive, and is sent once more if it was lost.
    pub(super) fn both_finished(&self) -> bool {
        let connection = &self.connection;
        connection.peer_finished()
            && connection.acknowledged() + connection.in_flight() > self.send.end()
    }

    /// Nobody reads any more: says whether there was something to read.
    pub(super) fn forget_unread(&mut self) -> bool {
        let readable = self.connection.readable();
        if readable > 0 {
            self.receive.skip(readable);
            self.connection.read(readable);
        }
        readable > 0
    }

    fn discard(&mut self) {
        if self.forget_unread() {
            // Nobody will ever read it: the peer must know (RFC 9293, section 3.6.1; RFC 2525,
            // section 2.17).
            self.connection.abort();
        }
    }

    /// The next segment to send.
    pub(super) fn transmit(
        &mut self,
        allowance: Allowance,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Segment> {
        let most = self.receive_most(allowance);
        self.connection.bound_receive_window(most as u64);
        let tally = &mut self.tally;
        let mut count = |at: Instant, event: &Event| {
            tally.on_event(at, event);
            observer.on_event(at, event);
        };
        let mut segment = self.connection.poll_transmit(now, &mut count)?;
        if segment.len > 0 {
            let end = self.connection.send_offset(segment.seq) + u64::from(segment.len);
            segment.flags.psh = end == self.send.end();
        }
        Some(segment)
    }

    /// What of `segment`, which was held back, must leave: what has been acknowledged meanwhile need
    /// not, but what it acknowledges itself nothing else has told the peer.
    pub(super) fn still_to_send(&self, segment: Segment) -> Segment {
        let start = self.connection.send_offset(segment.seq);
        let done = self.connection.unacknowledged_from().saturating_sub(start);
        let done = done.min(u64::from(segment.len)) as u32;
        let mut rest = Segment { seq: segment.seq.add(done), len: segment.len - done, ..segment };
        if done > 0 && rest.len == 0 && !rest.flags.fin {
            // As all acknowledgements without data: <SEQ=SND.NXT> (RFC 9293, section 3.10.7.4).
            rest.seq = segment.seq.at(self.connection.sent() - start);
            rest.flags.psh = false;
        }
        rest
    }

    /// A timer of the connection's is due.
    pub(super) fn handle_timeout(&mut self, now: Instant, observer: &mut impl Observer) {
        let tally = &mut self.tally;
        let mut count = |at: Instant, event: &Event| {
            tally.on_event(at, event);
            observer.on_event(at, event);
        };
        self.connection.handle_timeout(now, &mut count);
    }

    /// The octets that `segment` carries.
    pub(super) fn payload(&self, segment: &Segment) -> (&[u8], &[u8]) {
        if segment.len == 0 {
            return (&[], &[]);
        }
        self.send.slices(self.connection.send_offset(segment.seq), segment.len)
    }

    pub(super) fn write(&mut self, data: &[u8], allowance: Allowance) -> usize {
        let had = self.send.storage();
        let written = self.send.write_within(data, self.send_most(allowance));
        if self.send.storage() != had {
            self.set_tables_aside();
        }
        self.waiting.starved = written == 0 && self.send.is_empty() && !data.is_empty();
        self.connection.write(written as u64);
        written
    }

    pub(super) fn read(&mut self, out: &mut [u8]) -> usize {
        let end = self.receive.start() + self.connection.readable();
        let read = self.receive.read(end, out);
        self.connection.read(read as u64);
        read
    }

    /// Whether all that was written has been acknowledged.
    pub(super) fn acknowledged(&self) -> bool {
        self.send.is_empty()
    }

    /// Whether the handshake has not come to its end yet.
    pub(super) fn opening(&self) -> bool {
        matches!(self.connection.state(), State::Listen | State::SynSent | State::SynReceived)
    }

    /// Whether a timer of it is due then.
    pub(super) fn waits_for(&self, due: Instant) -> bool {
        self.armed == Some(due) || self.orphan.is_some_and(|orphan| orphan.due == due)
    }

    pub(super) fn closed(&self) -> bool {
        self.connection.state() == State::Closed
    }

    pub(super) fn wait_to_read(&mut self, waker: &Waker) {
        self.waiting.any = true;
        remember(&mut self.waiting.readers, waker);
    }

    pub(super) fn wait_to_write(&mut self, waker: &Waker) {
        self.waiting.any = true;
        remember(&mut self.waiting.writers, waker);
    }

    /// Who writes, or only connects, waits for the end of the handshake.
    pub(super) fn wait_for_handshake(&mut self, waker: &Waker) {
        self.waiting.opening = true;
        self.wait_to_write(waker);
    }

    pub(super) fn wait_for_acknowledgement(&mut self, waker: &Waker) {
        self.waiting.any = true;
        remember(&mut self.waiting.flushers, waker);
    }

    /// What the send buffer's storage may grow to.
    fn send_most(&self, allowance: Allowance) -> usize {
        let cwnd = self.connection.window().cwnd * f64::from(self.connection.max_payload());
        let window = self.connection.in_flight().max(cwnd as u64);
        let allowance = allowance.with_tables(self.connection.max_payload());
        allowance.for_size(self.options.send_buffer).to_send(window)
    }

    /// What the receive buffer's storage may grow to.
    fn receive_most(&self, allowance: Allowance) -> usize {
        allowance.for_size(self.options.receive_buffer).to_receive(self.receive.start())
    }

    /// Most octets that the send buffer takes.
    pub(super) fn send_capacity(&self) -> usize {
        self.send.capacity()
    }

    /// The send buffer takes up to `octets` from now on.
    pub(super) fn limit_send(&mut self, octets: usize) {
        self.send.limit_to(octets);
    }

    /// The receive window has changed: there is room for all that it may promise.
    pub(super) fn follow_window(&mut self) {
        self.receive.allow(self.connection.receive_room() as usize);
    }

    /// Octets that have been written.
    pub(super) fn written(&self) -> u64 {
        self.send.end()
    }

    /// Octets that have arrived in order.
    pub(super) fn received(&self) -> u64 {
        self.receive.start() + self.connection.readable()
    }

    /// Octets of memory that it is charged beyond what every connection is: its buffers, and what the
    /// engine's tables may grow to with what is written.
    pub(super) fn octets(&self) -> usize {
        self.send.storage() + self.tables + self.receive.storage()
    }

    /// Whether anything can be given back, or a writer waits for memory.
    pub(super) fn is_to_be_watched(&self) -> bool {
        self.octets() > 0 || self.connection.table_octets() > 0 || self.waits_for_memory()
    }

    /// Sets aside what the tables may come to take for the send buffer as it is now.
    fn set_tables_aside(&mut self) {
        self.tables = budget::tables(self.send.storage(), self.connection.max_payload());
    }

    /// Frees the buffers that hold nothing and are larger than they may grow now.
    pub(super) fn free_empty(&mut self, allowance: Allowance) {
        let holds = self.send.storage();
        if holds > 0 && self.send.is_empty() && holds > self.send_most(allowance) {
            self.send.shrink();
            self.set_tables_aside();
        }
        let holds = self.receive.storage();
        if holds > 0 && self.receive.is_empty() && holds > self.receive_most(allowance) {
            self.receive.shrink();
        }
    }

    /// Frees what the buffers and the tables do not need for what they hold.
    pub(super) fn shrink(&mut self) {
        self.connection.shrink();
        self.send.shrink();
        self.set_tables_aside();
        self.receive.shrink();
    }

    /// Whether a writer waits for memory, and nothing but time will wake it.
    pub(super) fn waits_for_memory(&self) -> bool {
        self.waiting.starved && !self.waiting.writers.is_empty()
    }

    pub(super) fn wake_all(&mut self, wakers: &mut Vec<Waker>) {
        let Waiting { readers, writers, flushers, .. } = &mut self.waiting;
        for some in [readers, writers, flushers] {
            wakers.append(some);
        }
    }

    pub(super) fn wake_writers(&mut self, wakers: &mut Vec<Waker>) {
        wakers.append(&mut self.waiting.writers);
    }

    /// Whether a writer that is woken finds room for more than a segment or two.
    fn worth_writing(&self, allowance: Allowance) -> bool {
        let most = self.send_most(allowance);
        let (room, free) = (self.send.room_within(most), self.send.free_within(most));
        free > 0 && free >= room / 4 && !self.opening()
    }

    /// Moves to `wakers` those whose time has come.
    pub(super) fn wake(&mut self, allowance: Allowance, wakers: &mut Vec<Waker>) {
        if !self.waiting.any {
            return;
        }
        let over = self.closed();
        let connection = &self.connection;
        if !self.waiting.readers.is_empty()
            && (over || connection.readable() > 0 || connection.peer_finished())
        {
            wakers.append(&mut self.waiting.readers);
        }
        // Who connects is told so though there be no memory to write into.
        let opened = !self.opening() && std::mem::take(&mut self.waiting.opening);
        if !self.waiting.writers.is_empty() && (over || opened || self.worth_writing(allowance)) {
            wakers.append(&mut self.waiting.writers);
        }
        if !self.waiting.flushers.is_empty() && (over || self.acknowledged()) {
            wakers.append(&mut self.waiting.flushers);
        }
        let Waiting { readers, writers, flushers, .. } = &self.waiting;
        self.waiting.any = [readers, writers, flushers].iter().any(|some| !some.is_empty());
    }
}

/// Adds `waker` to those who wait, once.
pub(super) fn remember(wakers: &mut Vec<Waker>, waker: &Waker) {
    if !wakers.iter().any(|known| known.will_wake(waker)) {
        wakers.push(waker.clone());
    }
}
