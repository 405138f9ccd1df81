//! The turns of the loop.

#[cfg(test)]
mod tests;

use std::io;
use std::task::Waker;
use std::time;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use unruffled_stack::codec::{self, Checksums, Malformed, Packet};
use unruffled_stack::{Instant, Stack, StackError};

use super::outbox::Outbox;
use super::shared::Handle;
use crate::device::Link;

/// Maximum number of packets read in one turn. They are acknowledged at the end of the turn, and to write an
/// acknowledgement costs as much as to read several packets.
const MAX_READ_PACKETS: usize = 256;

/// Maximum number of octets read, and of octets taken from the stack, in one turn.
const MAX_OCTETS: usize = 512 << 10;

/// Maximum number of packets passed through the stack under one lock.
const PACKETS_PER_LOCK: usize = 32;

/// Maximum number of packets taken from the stack in one turn. They are many enough that a receiver which the
/// first packet wakes finds more behind it, and few enough that arriving packets are read soon.
const MAX_WRITE_PACKETS: usize = 256;

/// A packet, or the reason to drop it, and the time when it was read.
type Decoded<'a> = (Result<Packet<'a>, Malformed>, Instant);

/// The place of a packet in its buffer, and the time when it was read.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    from: usize,
    to: usize,
    checksums: Checksums,
    at: Instant,
}

/// The loop's state between turns.
#[derive(Debug)]
pub(super) struct Loop<L> {
    link: L,
    handle: Handle,
    inbox: Vec<u8>,
    stamps: Vec<Stamp>,
    outbox: Outbox,
    /// Whether the link accepts no packet at this moment.
    blocked: bool,
    wakers: Vec<Waker>,
}

impl<L: Link> Loop<L> {
    pub(super) fn new(link: L, handle: Handle) -> Self {
        let packets = MAX_READ_PACKETS.min(MAX_OCTETS / link.largest());
        Self {
            inbox: vec![0; packets * link.largest()],
            stamps: Vec::with_capacity(MAX_READ_PACKETS),
            outbox: Outbox::default(),
            blocked: false,
            wakers: Vec::new(),
            link,
            handle,
        }
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Runs turns until the handle stops the loop.
    pub(super) fn run(&mut self) -> io::Result<()> {
        loop {
            let stop_by = self.handle.stop_by();
            if stop_by.is_some_and(|by| by <= time::Instant::now()) {
                return Ok(());
            }
            self.read()?;
            let was_blocked = self.blocked;
            let next = self.pass_through_stack(stop_by.is_some());
            self.answer();
            match next {
                Next::Again => {}
                // The link accepts packets again, and the stack may have kept some back.
                Next::Sleep(_) if was_blocked && !self.blocked => {}
                Next::Sleep(due) => self.sleep(due, stop_by)?,
                Next::Stop => return Ok(()),
                Next::Fail => return Err(StackError::Failed.into()),
            }
        }
    }

    /// Writes packets and wakes applications.
    ///
    /// A few packets are written first, since the peer waits for them. Before many packets are
    /// written, the applications are woken, so that they use the stack meanwhile and the loop does
    /// not wait for them afterwards.
    fn answer(&mut self) {
        if self.outbox.len() > PACKETS_PER_LOCK {
            self.wake();
        }
        self.write();
        self.wake();
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Reads the packets that have arrived, and stamps them with the time.
    fn read(&mut self) -> io::Result<()> {
        self.stamps.clear();
        for buffer in self.inbox.chunks_exact_mut(self.link.largest()) {
            let received = loop {
                match self.link.receive(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    received => break received,
                }
            };
            // Stamps and buffers correspond, so no buffer may be left out in between.
            match received {
                Ok((at, checksums)) => self.stamps.push(Stamp {
                    from: at.start,
                    to: at.end,
                    checksums,
                    at: self.handle.now(),
                }),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Passes the packets that were read to the stack, fires its timers, and takes packets to
    /// write.
    fn pass_through_stack(&mut self, stopping: bool) -> Next {
        let offload = self.link.offloads();
        let packets = decoded(&self.inbox, self.link.largest(), &self.stamps);
        let mut stack = self.handle.lock_for_loop();
        for (n, packets) in packets.chunks(PACKETS_PER_LOCK).enumerate() {
            if n > 0 {
                drop(stack);
                stack = self.handle.lock_for_loop();
            }
            stack.look_ahead(packets.iter().map(|(packet, _)| packet));
            for &(packet, at) in packets {
                if stack.receive_decoded(packet, at).is_immediate() {
                    take(&mut stack, &mut self.outbox, offload, at, MAX_WRITE_PACKETS);
                }
            }
        }
        let now = self.handle.now();
        if stack.poll_timeout().is_some_and(|due| due <= now) {
            stack.handle_timeout(now);
        }
        if !self.blocked {
            take(&mut stack, &mut self.outbox, offload, now, MAX_WRITE_PACKETS);
        }
        stack.take_wakers(&mut self.wakers);
        if stack.has_failed() {
            return Next::Fail;
        }
        if stopping && stack.quiet() && self.outbox.is_empty() {
            return Next::Stop;
        }
        if self.stamps.is_empty() && (self.outbox.is_empty() || self.blocked) {
            self.handle.announce_sleep();
            return Next::Sleep(stack.poll_timeout());
        }
        Next::Again
    }

    /// Writes packets until the link accepts no more.
    fn write(&mut self) {
        self.blocked = false;
        let offloads = self.link.offloads();
        loop {
            if !offloads {
                self.outbox.sum_first();
            }
            let Some((packet, offload)) = self.outbox.first() else { return };
            match self.link.send(packet, offload) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.blocked = true;
                    return;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // After an error, for instance of an interface that is down, the packet is lost.
                Ok(()) | Err(_) => self.outbox.pop(),
            }
        }
    }

    /// Waits for a packet, for the link to accept packets, for the bell, or until `due` or
    /// `stop_by`.
    fn sleep(&self, due: Option<Instant>, stop_by: Option<time::Instant>) -> io::Result<()> {
        let until_due = due.map(|due| due.since(self.handle.now()).as_nanos());
        let until_stop =
            stop_by.map(|by| by.saturating_duration_since(time::Instant::now()).as_nanos() as u64);
        let timeout = until_due.into_iter().chain(until_stop).min().map(|nanos| Timespec {
            tv_sec: (nanos / 1_000_000_000) as i64,
            tv_nsec: (nanos % 1_000_000_000) as i64,
        });
        let mut interest = PollFlags::IN;
        if self.blocked {
            interest |= PollFlags::OUT;
        }
        let bell = self.handle.bell();
        let mut fds = [
            PollFd::from_borrowed_fd(self.link.as_fd(), interest),
            PollFd::new(&bell, PollFlags::IN),
        ];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.handle.wake_up(!fds[1].revents().is_empty());
        Ok(())
    }

    /// Resets the connections that are still open, and wakes all who wait.
    pub(super) fn end(&mut self) {
        let offload = self.link.offloads();
        self.handle.lock().shut_down();
        loop {
            let now = self.handle.now();
            let mut stack = self.handle.lock();
            let more = take(&mut stack, &mut self.outbox, offload, now, MAX_WRITE_PACKETS);
            stack.take_wakers(&mut self.wakers);
            drop(stack);
            self.wake();
            self.write();
            if !more || self.blocked {
                return;
            }
        }
    }
}

/// Decodes the packets in buffers of `size` octets. This happens before the stack is locked.
fn decoded<'a>(inbox: &'a [u8], size: usize, stamps: &[Stamp]) -> Vec<Decoded<'a>> {
    let buffers = inbox.chunks_exact(size).zip(stamps);
    buffers
        .map(|(buffer, stamp)| {
            (codec::decode(&buffer[stamp.from..stamp.to], stamp.checksums), stamp.at)
        })
        .collect()
}

/// Next action after a turn.
enum Next {
    Again,
    Sleep(Option<Instant>),
    Stop,
    Fail,
}

/// Fills the outbox with up to `max` packets of the stack; returns whether it added any.
fn take(stack: &mut Stack, outbox: &mut Outbox, offload: bool, now: Instant, max: usize) -> bool {
    let before = outbox.len();
    while outbox.len() < max
        && (outbox.is_empty() || outbox.octets() < MAX_OCTETS)
        && outbox.push(|bytes| stack.poll_unsummed(offload, now, bytes))
    {}
    outbox.len() > before
}
