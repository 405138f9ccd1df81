//! The turns of the loop.

#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use unruffled_units::Instant;

use super::batch::Outbox;
use super::shared::Handle;
use crate::codec::{self, Checksums, Malformed, Packet};
use crate::device::Link;
use crate::stack::{Stack, StackError};

/// Packets read in one turn, unless they are large. What they bring is acknowledged at the end of it,
/// and each acknowledgement that is written costs as much as several packets that are read.
const READ: usize = 256;

/// Octets read, and taken from the stack, in one turn where packets are large.
const OCTETS: usize = 512 << 10;

/// Packets taken through the stack before applications may have it.
const HOLD: usize = 32;

/// Packets taken from the stack in one turn: enough that a receiver whom the first one wakes finds more
/// behind it, and few enough that what arrives meanwhile is seen soon.
const WRITE: usize = 256;

/// A packet, or why it is none, and when it was read.
type Decoded<'a> = (Result<Packet<'a>, Malformed>, Instant);

/// A packet that was read.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    /// Where it lies in its buffer.
    from: usize,
    to: usize,
    checksums: Checksums,
    at: Instant,
}

#[derive(Debug)]
pub(super) struct Loop<L> {
    link: L,
    handle: Handle,
    inbox: Vec<u8>,
    stamps: Vec<Stamp>,
    outbox: Outbox,
    /// The link takes no more for now.
    blocked: bool,
    wakers: Vec<Waker>,
}

impl<L: Link> Loop<L> {
    pub(super) fn new(link: L, handle: Handle) -> Self {
        Self {
            inbox: vec![0; READ.min(OCTETS / link.largest()) * link.largest()],
            stamps: Vec::with_capacity(READ),
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

    /// Turns until it is told to stop.
    pub(super) fn run(&mut self) -> io::Result<()> {
        loop {
            let stop_by = self.handle.stop_by();
            if stop_by.is_some_and(|by| by <= time::Instant::now()) {
                return Ok(());
            }
            self.read()?;
            let blocked = self.blocked;
            let next = self.through_the_stack(stop_by.is_some());
            self.answer();
            match next {
                Next::Again => {}
                // The link takes packets again, and the stack may have kept some back.
                Next::Sleep(_) if blocked && !self.blocked => {}
                Next::Sleep(due) => self.sleep(due, stop_by)?,
                Next::Stop => return Ok(()),
                Next::Fail => return Err(StackError::Failed.into()),
            }
        }
    }

    /// First what the peer waits for, then who waits here; but where much is to be written, they have
    /// the stack meanwhile, and the loop does not wait for them afterwards.
    fn answer(&mut self) {
        if self.outbox.len() > HOLD {
            self.wake();
        }
        self.write();
        self.wake();
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Reads what has arrived, and stamps it.
    fn read(&mut self) -> io::Result<()> {
        self.stamps.clear();
        for buffer in self.inbox.chunks_exact_mut(self.link.largest()) {
            let received = loop {
                match self.link.receive(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    received => break received,
                }
            };
            // Stamps and buffers belong together, so none is left out in between.
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

    /// Takes what has arrived through the stack, and from it what is to leave.
    fn through_the_stack(&mut self, stopping: bool) -> Next {
        let offload = self.link.offloads();
        let packets = decoded(&self.inbox, self.link.largest(), &self.stamps);
        let mut stack = self.handle.lock_for_loop();
        for (n, packets) in packets.chunks(HOLD).enumerate() {
            if n > 0 {
                drop(stack);
                stack = self.handle.lock_for_loop();
            }
            stack.look_ahead(packets.iter().map(|(packet, _)| packet));
            for &(packet, at) in packets {
                if stack.receive_decoded(packet, at).is_immediate() {
                    take(&mut stack, &mut self.outbox, offload, at, WRITE);
                }
            }
        }
        let now = self.handle.now();
        if stack.poll_timeout().is_some_and(|due| due <= now) {
            stack.handle_timeout(now);
        }
        if !self.blocked {
            take(&mut stack, &mut self.outbox, offload, now, WRITE);
        }
        stack.take_wakers(&mut self.wakers);
        if stack.has_failed() {
            return Next::Fail;
        }
        if stopping && stack.quiet() && self.outbox.is_empty() {
            return Next::Stop;
        }
        if self.stamps.is_empty() && (self.outbox.is_empty() || self.blocked) {
            // Whoever works on the stack from here on rings the bell.
            self.handle.0.sleeping.store(true, Ordering::SeqCst);
            return Next::Sleep(stack.poll_timeout());
        }
        Next::Again
    }

    /// Writes what is to leave, until the link takes no more.
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
                // An interface that is down, say: the packet is lost, as packets are.
                Ok(()) | Err(_) => self.outbox.pop(),
            }
        }
    }

    /// Waits for a packet, for room, for the bell or for the time.
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
        let bell = self.handle.0.bell.as_fd();
        let mut fds = [
            PollFd::from_borrowed_fd(self.link.as_fd(), interest),
            PollFd::new(&bell, PollFlags::IN),
        ];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let rung = !fds[1].revents().is_empty();
        self.handle.0.sleeping.store(false, Ordering::SeqCst);
        if rung {
            // Empty already is as good as emptied.
            let _ = rustix::io::read(bell, &mut [0; 8]);
        }
        Ok(())
    }

    /// Resets what is still open, and tells everybody who waits.
    pub(super) fn end(&mut self) {
        let offload = self.link.offloads();
        self.handle.lock().shut_down();
        loop {
            let now = self.handle.now();
            let mut stack = self.handle.lock();
            let more = take(&mut stack, &mut self.outbox, offload, now, WRITE);
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

/// What was read into buffers of `size` octets, as packets: done before the stack is taken.
fn decoded<'a>(inbox: &'a [u8], size: usize, stamps: &[Stamp]) -> Vec<Decoded<'a>> {
    let buffers = inbox.chunks_exact(size).zip(stamps);
    buffers
        .map(|(buffer, stamp)| {
            (codec::decode(&buffer[stamp.from..stamp.to], stamp.checksums), stamp.at)
        })
        .collect()
}

enum Next {
    Again,
    Sleep(Option<Instant>),
    Stop,
    Fail,
}

/// Fills the outbox up to `most` packets; says whether anything came.
fn take(stack: &mut Stack, outbox: &mut Outbox, offload: bool, now: Instant, most: usize) -> bool {
    let before = outbox.len();
    while outbox.len() < most
        && (outbox.is_empty() || outbox.octets() < OCTETS)
        && outbox.push(|bytes| stack.poll_unsummed(offload, now, bytes))
    {}
    outbox.len() > before
}
