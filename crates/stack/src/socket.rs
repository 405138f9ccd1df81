//! One connection of the stack: the engine's connection, its two buffers, and the wakers of waiting
//! tasks.

mod arrive;
mod memory;

use std::task::Waker;

use unruffled_tcp::{Connection, Error, Event, Observer, Segment, State};
use unruffled_units::{Duration, Instant};

use crate::address::FourTuple;
use crate::budget::{Allowance, Limits};
use crate::buffer::{ReceiveBuffer, SendBuffer};
use crate::ids::ListenerId;
use crate::info::{Congestion, Info, OctetCounts, RoundTrips, Windows};
use crate::options::{BufferSizes, Options};
use crate::orphan::Orphan;
use crate::schedule::Schedule;
use crate::tally::Tally;
use crate::wakers::Waiting;

/// The holder of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The queue of a listener, until the connection is accepted.
    Queue(ListenerId),
    /// An application.
    Application,
    /// No holder, because the application has released the connection. Arriving data is discarded.
    Released,
}

/// A connection with its buffers.
///
/// The fields that every segment needs are adjacent here, and so are those of the [`Connection`],
/// so that a segment touches few cache lines. The order is part of that: [`Socket::touch`] reads
/// one field of each line. The benchmark `hostile -- --only idle` measures the effect.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Socket {
    tally: Tally,
    options: Options,
    waiting: Waiting,
    ends: FourTuple,
    owner: Owner,
    flags: Flags,
    account: Account,
    schedule: Schedule,
    send: SendBuffer,
    /// Octets charged for the engine's tables when the send buffer got its present storage.
    tables: usize,
    receive: ReceiveBuffer,
    connection: Connection,
}

/// Flags of a connection, in as many octets as fit next to [`Owner`] without padding.
#[derive(Debug, Default)]
struct Flags {
    /// Whether the application has finished its stream.
    finished: bool,
    /// Whether the connection is in the queue of those that may have something to send.
    queued: bool,
    /// Whether an inspection of the connection's buffers is queued.
    inspected: bool,
}

/// The memory that a connection is charged for.
#[derive(Debug, Default)]
#[repr(C)]
struct Account {
    charged: usize,
    /// Time of the last activity.
    used: Instant,
}

impl Socket {
    pub(crate) fn new(
        ends: FourTuple,
        connection: Connection,
        send_buffer: usize,
        options: Options,
        owner: Owner,
    ) -> Self {
        Self {
            tally: Tally::default(),
            options,
            waiting: Waiting::default(),
            ends,
            owner,
            flags: Flags::default(),
            account: Account::default(),
            schedule: Schedule::default(),
            send: SendBuffer::new(send_buffer),
            tables: 0,
            receive: ReceiveBuffer::new(connection.receive_room() as usize),
            connection,
        }
    }

    /// Reads a field of each cache line that a segment needs, so that the processor loads them.
    pub(crate) fn touch(&self) -> u64 {
        let own = u64::from(self.options.receive_buffer.is_some())
            ^ u64::from(self.ends.local.port() ^ self.ends.remote.port())
            ^ u64::from(self.waiting.any())
            ^ self.schedule.touch()
            ^ self.send.end()
            ^ self.receive.start();
        own ^ self.connection.touch()
    }

    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    pub(crate) fn state(&self) -> State {
        self.connection.state()
    }

    pub(crate) fn ends(&self) -> FourTuple {
        self.ends
    }

    pub(crate) fn options(&self) -> Options {
        self.options
    }

    pub(crate) fn set_owner(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// Returns whether the application has released the connection.
    pub(crate) fn is_released(&self) -> bool {
        self.owner == Owner::Released
    }

    /// Returns why the connection ended early, if it did.
    pub(crate) fn error(&self) -> Option<Error> {
        self.connection.error()
    }
}

/// Segments that leave.
impl Socket {
    /// Returns the next segment to send.
    pub(crate) fn transmit(
        &mut self,
        allowance: Allowance,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Option<Segment> {
        let max = self.max_receive_storage(allowance);
        self.connection.bound_receive_window(max as u64);
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

    /// Returns what must still leave of `segment`, which was held back: without the octets that
    /// have been acknowledged meanwhile, but with its acknowledgement, which no other segment
    /// carries.
    pub(crate) fn still_to_send(&self, segment: Segment) -> Segment {
        let start = self.connection.send_offset(segment.seq);
        let done = self.connection.unacknowledged_from().saturating_sub(start);
        let done = done.min(u64::from(segment.len)) as u32;
        let mut rest = Segment { seq: segment.seq.add(done), len: segment.len - done, ..segment };
        if rest.len == 0 {
            rest.ecn = rest.ecn.without_data();
        }
        if done > 0 && rest.len == 0 && !rest.flags.fin {
            // Like every acknowledgement without data: <SEQ=SND.NXT> (RFC 9293, section 3.10.7.4).
            rest.seq = segment.seq.at(self.connection.sent() - start);
            rest.flags.psh = false;
        }
        rest
    }

    /// Returns the octets that `segment` carries, in two pieces.
    pub(crate) fn payload(&self, segment: &Segment) -> (&[u8], &[u8]) {
        if segment.len == 0 {
            return (&[], &[]);
        }
        self.send.slices(self.connection.send_offset(segment.seq), segment.len)
    }

    /// Runs the connection's timer if it is due, and returns whether it was.
    pub(crate) fn handle_timeout(&mut self, now: Instant, observer: &mut impl Observer) -> bool {
        if self.connection.poll_timeout().is_none_or(|due| due > now) {
            return false;
        }
        let tally = &mut self.tally;
        let mut count = |at: Instant, event: &Event| {
            tally.on_event(at, event);
            observer.on_event(at, event);
        };
        self.connection.handle_timeout(now, &mut count);
        true
    }
}

/// The application's side.
impl Socket {
    pub(crate) fn write(&mut self, data: &[u8], allowance: Allowance) -> usize {
        let had = self.send.storage();
        let written = self.send.write_within(data, self.max_send_storage(allowance));
        if self.send.storage() != had {
            self.charge_tables();
        }
        self.waiting.set_starved(written == 0 && self.send.is_empty() && !data.is_empty());
        self.connection.write(written as u64);
        written
    }

    pub(crate) fn read(&mut self, out: &mut [u8]) -> usize {
        let end = self.receive.start() + self.connection.readable();
        let read = self.receive.read(end, out);
        self.connection.read(read as u64);
        read
    }

    /// Finishes the stream; returns false if it was finished before.
    pub(crate) fn finish(&mut self) -> bool {
        let first = !self.flags.finished;
        if first {
            self.flags.finished = true;
            self.connection.finish();
        }
        first
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.flags.finished
    }

    /// Ends the connection with a reset.
    pub(crate) fn abort(&mut self) {
        self.flags.finished = true;
        self.connection.abort();
    }

    /// Releases the connection, which then ends in its own time; returns whether it must be reset.
    pub(crate) fn release(&mut self) -> bool {
        self.owner = Owner::Released;
        // After this end's FIN and the peer's, unread data is no reason for a reset: the FIN must
        // arrive, and is sent again if it was lost.
        let unread = self.discard_unread() && !self.both_finished();
        let unanswered = matches!(self.state(), State::Listen | State::SynSent);
        unread || unanswered || self.options.linger == Some(Duration::ZERO)
    }

    /// Returns whether this end has sent its FIN and has received the peer's.
    fn both_finished(&self) -> bool {
        let connection = &self.connection;
        connection.peer_finished()
            && connection.acknowledged() + connection.in_flight() > self.send.end()
    }

    /// Returns whether everything written has been acknowledged.
    pub(crate) fn is_acknowledged(&self) -> bool {
        self.send.is_empty()
    }

    /// Returns whether the handshake is still in progress.
    pub(crate) fn is_opening(&self) -> bool {
        matches!(self.state(), State::Listen | State::SynSent | State::SynReceived)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state() == State::Closed
    }

    /// Puts `options` into effect.
    pub(crate) fn apply(&mut self, mut options: Options, now: Instant) {
        let before = self.options;
        options.send_buffer = options.send_buffer.or(before.send_buffer);
        options.receive_buffer = options.receive_buffer.or(before.receive_buffer);
        self.options = options;
        let connection = &mut self.connection;
        if options.nodelay != before.nodelay {
            connection.set_nagle(!options.nodelay);
        }
        if options.keepalive != before.keepalive {
            connection.set_keep_alive(options.keepalive, now);
        }
        if options.user_timeout != before.user_timeout {
            connection.set_give_up(options.user_timeout, now);
        }
        if options.receive_buffer != before.receive_buffer
            && let Some(octets) = options.receive_buffer
        {
            connection.set_receive_buffer(octets as u64);
            self.receive.allow(connection.receive_room() as usize);
        }
        if options.send_buffer != before.send_buffer
            && let Some(octets) = options.send_buffer
        {
            self.send.limit_to(octets);
        }
    }

    pub(crate) fn buffer_sizes(&self) -> BufferSizes {
        let receive = self.connection.receive_buffer() as usize;
        BufferSizes { send: self.send.capacity(), receive }
    }

    pub(crate) fn info(&self) -> Info {
        let connection = &self.connection;
        let window = connection.window();
        Info {
            state: connection.state(),
            round_trips: RoundTrips {
                srtt: connection.srtt(),
                rttvar: connection.rttvar(),
                rto: connection.rto(),
            },
            congestion: Congestion {
                recovering: connection.recovering(),
                cwnd: window.cwnd,
                ssthresh: Some(window.ssthresh).filter(|ssthresh| ssthresh.is_finite()),
                dupthresh: connection.dupthresh(),
                ecn: connection.is_ecn_capable(),
                flight: connection.in_flight(),
                pipe: connection.pipe(),
                delivery_rate: self.tally.delivery_rate(),
            },
            octets: OctetCounts {
                sent: self.send.end().saturating_sub(connection.unsent()),
                acknowledged: connection.unacknowledged_from(),
                received: self.receive.start() + connection.readable(),
                unsent: connection.unsent(),
                unread: connection.readable(),
            },
            repairs: self.tally.repairs(),
            windows: Windows {
                send_scale: connection.send_scale(),
                receive_scale: connection.receive_scale(),
                send: connection.send_window(),
                receive: connection.receive_buffer(),
            },
            mss: connection.max_payload(),
            peer_mss: connection.peer_mss(),
        }
    }
}

/// Queues, timers and wakers.
impl Socket {
    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn schedule_mut(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    pub(crate) fn waiting_mut(&mut self) -> &mut Waiting {
        &mut self.waiting
    }

    /// Marks the connection as queued to send; returns false if it already was.
    pub(crate) fn enqueue(&mut self) -> bool {
        !std::mem::replace(&mut self.flags.queued, true)
    }

    pub(crate) fn dequeue(&mut self) {
        self.flags.queued = false;
    }

    /// Returns the due time of the connection's timer if it is earlier than the current entry, and
    /// notes it as the current entry.
    pub(crate) fn arm(&mut self) -> Option<Instant> {
        let due = self.connection.poll_timeout()?;
        self.schedule.arm(due).then_some(due)
    }

    /// Makes the connection an orphan, and returns the time of its first check.
    pub(crate) fn start_orphan(&mut self, limits: &Limits, now: Instant) -> Instant {
        // Where everything is acknowledged already, there is nothing to linger for.
        let linger = self.options.linger.filter(|_| !self.is_acknowledged());
        let orphan = Orphan::new(&self.connection, linger, limits, now);
        self.schedule.set_orphan(orphan);
        orphan.due()
    }

    /// Checks an orphan's progress; returns the time of the next check, or `None` when it must end.
    pub(crate) fn check_orphan(&mut self, timeout: Duration, now: Instant) -> Option<Instant> {
        self.schedule.orphan_mut()?.check(&self.connection, timeout, now)
    }

    /// Returns the time of an orphan's next check if that has changed with the connection's state.
    pub(crate) fn follow_orphan(&mut self, timeout: Duration, now: Instant) -> Option<Instant> {
        self.schedule.orphan_mut()?.on_state(self.connection.state(), timeout, now)
    }

    /// Returns whether a writer that is woken finds room for more than a segment or two.
    fn is_worth_writing(&self, allowance: Allowance) -> bool {
        let max = self.max_send_storage(allowance);
        let room = self.send.room_within(max);
        let free = self.send.free_within(max);
        free > 0 && free >= room / 4 && !self.is_opening()
    }

    /// Moves to `wakers` those whose condition is met.
    pub(crate) fn wake(&mut self, allowance: Allowance, wakers: &mut Vec<Waker>) {
        if !self.waiting.any() {
            return;
        }
        let closed = self.is_closed();
        if closed || self.connection.readable() > 0 || self.connection.peer_finished() {
            self.waiting.wake_readers(wakers);
        }
        if !self.is_opening() {
            self.waiting.wake_openers(wakers);
        }
        if self.waiting.has_writer() && (closed || self.is_worth_writing(allowance)) {
            self.waiting.wake_writers(wakers);
        }
        if closed || self.is_acknowledged() {
            self.waiting.wake_flushers(wakers);
        }
        self.waiting.tidy();
    }
}
