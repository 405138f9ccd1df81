//! State that the loop and the applications share.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_stack::{Instant, Stack, StackError};

use crate::waiting::Thread;

/// Longest time that the loop waits for an application that is about to lock the stack.
const MAX_YIELD: time::Duration = time::Duration::from_micros(30);

#[derive(Debug)]
struct Shared {
    stack: Mutex<Stack>,
    origin: time::Instant,
    /// An eventfd that is written to when the loop sleeps and has work.
    bell: OwnedFd,
    /// Whether the loop sleeps or is about to.
    sleeping: AtomicBool,
    /// Number of applications that wait for the stack or hold it.
    waiting: AtomicUsize,
    /// Number of times that applications have held the stack.
    served: AtomicUsize,
    /// Latest time at which the loop stops.
    stop_by: Mutex<Option<time::Instant>>,
    /// Whether `stop_by` is set.
    stopping: AtomicBool,
}

/// Access to the stack that a driver runs, from any thread. Streams and listeners are made with it.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Shared>);

impl Handle {
    pub(super) fn new(stack: Stack) -> io::Result<Self> {
        Ok(Self(Arc::new(Shared {
            stack: Mutex::new(stack),
            origin: time::Instant::now(),
            bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            sleeping: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            stop_by: Mutex::new(None),
            stopping: AtomicBool::new(false),
        })))
    }

    /// Returns the time on the stack's clock.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.0.origin.elapsed().as_nanos() as u64)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Stack> {
        self.0.stack.lock().unwrap_or_else(|poisoned| {
            // The panic may have left the stack in the middle of its work.
            let mut stack = poisoned.into_inner();
            stack.fail();
            self.0.stack.clear_poison();
            stack
        })
    }

    /// Locks the stack for the loop, after an application that waits.
    ///
    /// A mutex goes to the first thread that comes. The running loop would always come before
    /// threads that must first be woken, so it lets one of them go first.
    pub(super) fn lock_for_loop(&self) -> MutexGuard<'_, Stack> {
        let served = self.0.served.load(Ordering::Relaxed);
        let mut since = None;
        while self.0.waiting.load(Ordering::Relaxed) > 0
            && self.0.served.load(Ordering::Relaxed) == served
            && since.get_or_insert_with(time::Instant::now).elapsed() < MAX_YIELD
        {
            std::thread::yield_now();
        }
        self.lock()
    }

    /// Fails the stack, since its loop has ended: all who wait receive an error.
    pub(super) fn fail(&self) {
        self.with(Stack::fail);
    }

    /// Calls `work` with the stack locked. Then wakes those who can proceed, and the loop if it
    /// sleeps.
    pub fn with<T>(&self, work: impl FnOnce(&mut Stack) -> T) -> T {
        let mut wakers = Vec::new();
        self.0.waiting.fetch_add(1, Ordering::Relaxed);
        // If `work` panics, the loop finds the poisoned lock and fails the stack.
        let bell = RingOnDrop(self);
        let mut stack = self.lock();
        let result = work(&mut stack);
        stack.take_wakers(&mut wakers);
        drop(stack);
        self.0.served.fetch_add(1, Ordering::Relaxed);
        drop(bell);
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    /// Waits until `poll` is ready, for at most `timeout`.
    ///
    /// # Errors
    /// Those of `poll`, and [`io::ErrorKind::WouldBlock`] at the timeout, as with sockets.
    pub(crate) fn wait<T>(
        &self,
        timeout: Option<time::Duration>,
        mut poll: impl FnMut(&mut Stack, &Waker) -> Poll<Result<T, StackError>>,
    ) -> io::Result<T> {
        let deadline = timeout.map(after);
        let thread = Thread::current();
        loop {
            if let Poll::Ready(result) = self.with(|stack| poll(stack, thread.waker())) {
                return Ok(result?);
            }
            if !thread.sleep(deadline) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
        }
    }

    /// Returns the descriptor that becomes readable when the loop must wake.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.0.bell.as_fd()
    }

    /// Records that the loop is about to sleep. A caller that takes the stack from then on rings the
    /// bell.
    pub(super) fn announce_sleep(&self) {
        self.0.sleeping.store(true, Ordering::SeqCst);
    }

    /// Records that the loop is awake, and resets the bell if it has rung.
    pub(super) fn wake_up(&self, has_rung: bool) {
        self.0.sleeping.store(false, Ordering::SeqCst);
        if has_rung {
            // The read fails only when the counter is zero already.
            let _ = rustix::io::read(&self.0.bell, &mut [0; 8]);
        }
    }

    /// Wakes the loop if it sleeps.
    fn ring(&self) {
        if self.0.sleeping.swap(false, Ordering::SeqCst) {
            // The write fails only when the counter is full, and then the bell rings already.
            let _ = rustix::io::write(&self.0.bell, &1_u64.to_ne_bytes());
        }
    }

    /// Stops the loop once all connections have ended, after `grace` at the latest.
    pub(super) fn stop(&self, grace: time::Duration) {
        *self.0.stop_by.lock().unwrap_or_else(PoisonError::into_inner) = Some(after(grace));
        self.0.stopping.store(true, Ordering::SeqCst);
        self.0.sleeping.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// Returns the latest time at which the loop stops, once [`Handle::stop`] has been called.
    pub(super) fn stop_by(&self) -> Option<time::Instant> {
        if !self.0.stopping.load(Ordering::SeqCst) {
            return None;
        }
        *self.0.stop_by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the loop sleeps or is about to.
    #[cfg(test)]
    pub(super) fn is_asleep(&self) -> bool {
        self.0.sleeping.load(Ordering::SeqCst)
    }
}

/// Returns the time after `wait`; after a century if the clock cannot count so far.
fn after(wait: time::Duration) -> time::Instant {
    const CENTURY: time::Duration = time::Duration::from_secs(100 * 365 * 24 * 3600);
    let now = time::Instant::now();
    now.checked_add(wait).unwrap_or_else(|| now + CENTURY)
}

/// Ends an application's turn with the stack and wakes the loop, also when the application panics.
struct RingOnDrop<'a>(&'a Handle);

impl Drop for RingOnDrop<'_> {
    fn drop(&mut self) {
        self.0.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.ring();
    }
}
