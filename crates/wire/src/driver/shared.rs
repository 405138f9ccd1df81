//! What the loop and the applications share.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time;

use rustix::event::{EventfdFlags, eventfd};
use unruffled_units::Instant;

use crate::stack::{Stack, StackError};
use crate::waiting::Thread;

#[derive(Debug)]
pub(super) struct Shared {
    stack: Mutex<Stack>,
    origin: time::Instant,
    /// Written to when the loop sleeps and has work.
    pub(super) bell: OwnedFd,
    pub(super) sleeping: AtomicBool,
    /// When the loop is to stop at the latest.
    pub(super) stop: Mutex<Option<time::Instant>>,
    pub(super) stopping: AtomicBool,
}

/// A way to the stack that a driver runs, from any thread.
#[derive(Clone, Debug)]
pub struct Handle(pub(super) Arc<Shared>);

impl Handle {
    pub(super) fn new(stack: Stack) -> io::Result<Self> {
        Ok(Self(Arc::new(Shared {
            stack: Mutex::new(stack),
            origin: time::Instant::now(),
            bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            sleeping: AtomicBool::new(false),
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

    /// Nobody runs the stack any more: whoever waits is told.
    pub(super) fn fail(&self) {
        self.with(Stack::fail);
    }

    /// Does something to the stack, and wakes whom that concerns: the loop, and those who wait.
    pub fn with<T>(&self, work: impl FnOnce(&mut Stack) -> T) -> T {
        let mut wakers = Vec::new();
        // If `work` panics, the loop finds it and tells the others.
        let bell = RingWhenDropped(self);
        let mut stack = self.lock();
        let result = work(&mut stack);
        stack.take_wakers(&mut wakers);
        drop(stack);
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
        let deadline = timeout.map(|timeout| time::Instant::now() + timeout);
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
        *self.0.stop.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(time::Instant::now() + grace);
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

struct RingWhenDropped<'a>(&'a Handle);

impl Drop for RingWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.ring();
    }
}
