//! What the loop and the applications share.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_units::Instant;

use crate::stack::{Stack, StackError};
use crate::waiting::Thread;

/// How long the loop waits at the most for an application that is about to take the stack.
const COURTESY: time::Duration = time::Duration::from_micros(30);

#[derive(Debug)]
pub(super) struct Shared {
    stack: Mutex<Stack>,
    origin: time::Instant,
    /// Written to when the loop sleeps and has work.
    pub(super) bell: OwnedFd,
    pub(super) sleeping: AtomicBool,
    /// Applications that want the stack or have it, and how many have had it.
    wanting: AtomicUsize,
    served: AtomicUsize,
    /// When the loop is to stop at the latest.
    pub(super) stop: Mutex<Option<time::Instant>>,
    pub(super) stopping: AtomicBool,
}

/// A way to the stack that a driver runs, from any thread. Use it to connect and to listen.
#[derive(Clone, Debug)]
pub struct Handle(pub(super) Arc<Shared>);

impl Handle {
    pub(super) fn new(stack: Stack) -> io::Result<Self> {
        Ok(Self(Arc::new(Shared {
            stack: Mutex::new(stack),
            origin: time::Instant::now(),
            bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            sleeping: AtomicBool::new(false),
            wanting: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            stop: Mutex::new(None),
            stopping: AtomicBool::new(false),
        })))
    }

    /// The stack's clock.
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.0.origin.elapsed().as_nanos() as u64)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Stack> {
        self.0.stack.lock().unwrap_or_else(|poisoned| {
            // Who panicked may have done so amid the stack's work.
            let mut stack = poisoned.into_inner();
            stack.fail();
            self.0.stack.clear_poison();
            stack
        })
    }

    /// The loop takes the stack again. A mutex goes to whoever comes first, and the loop, which runs,
    /// comes before those who have to be woken: so it lets one of them go first, if any waits.
    pub(super) fn lock_for_loop(&self) -> MutexGuard<'_, Stack> {
        let served = self.0.served.load(Ordering::Relaxed);
        let mut since = None;
        while self.0.wanting.load(Ordering::Relaxed) > 0
            && self.0.served.load(Ordering::Relaxed) == served
            && since.get_or_insert_with(time::Instant::now).elapsed() < COURTESY
        {
            std::thread::yield_now();
        }
        self.lock()
    }

    /// Nobody runs the stack any more: whoever waits is told.
    pub(super) fn fail(&self) {
        self.with(Stack::fail);
    }

    /// Does something to the stack, and wakes whom that concerns: the loop, and those who wait.
    pub fn with<T>(&self, work: impl FnOnce(&mut Stack) -> T) -> T {
        let mut wakers = Vec::new();
        // If `work` panics, the loop finds it and tells the others.
        self.0.wanting.fetch_add(1, Ordering::Relaxed);
        let bell = RingWhenDropped(self);
        let mut stack = self.lock();
        let result = work(&mut stack);
        stack.take_wakers(&mut wakers);
        drop(stack);
        self.0.served.fetch_add(1, Ordering::Relaxed);
        drop(bell);
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    /// Waits until `poll` is ready, or until `timeout` has passed.
    ///
    /// # Errors
    /// Those of `poll`, and [`io::ErrorKind::WouldBlock`] at the timeout, as sockets do.
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

    /// Wakes the loop if it sleeps.
    fn ring(&self) {
        if self.0.sleeping.swap(false, Ordering::SeqCst) {
            // It fails only when the counter is full, and then the bell rings already.
            let _ = rustix::io::write(&self.0.bell, &1_u64.to_ne_bytes());
        }
    }

    pub(super) fn stop(&self, grace: time::Duration) {
        *self.0.stop.lock().unwrap_or_else(PoisonError::into_inner) = Some(after(grace));
        self.0.stopping.store(true, Ordering::SeqCst);
        self.0.sleeping.store(true, Ordering::SeqCst);
        self.ring();
    }

    /// When to stop at the latest, once somebody has said so.
    pub(super) fn stop_by(&self) -> Option<time::Instant> {
        if !self.0.stopping.load(Ordering::SeqCst) {
            return None;
        }
        *self.0.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So long from now; a century, where that is beyond what the clock counts.
fn after(wait: time::Duration) -> time::Instant {
    const CENTURY: time::Duration = time::Duration::from_secs(100 * 365 * 24 * 3600);
    let now = time::Instant::now();
    now.checked_add(wait).unwrap_or_else(|| now + CENTURY)
}

struct RingWhenDropped<'a>(&'a Handle);

impl Drop for RingWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.0.wanting.fetch_sub(1, Ordering::Relaxed);
        self.0.ring();
    }
}
