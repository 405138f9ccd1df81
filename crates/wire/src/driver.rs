//! The loop between a link and a stack: one thread that reads, fires timers, writes and waits.
//!
//! Packets are stamped as they are read, then go through the stack in one go, under one lock; what
//! the stack has to say is written when the lock is free again. A link that takes no more is waited
//! for, and until then the stack is asked for nothing more. Applications work on the stack
//! themselves, and wake the loop if it sleeps.

mod batch;
mod shared;
mod turn;

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

pub use shared::Handle;

use crate::device::Link;
use crate::stack::{Counters, Stack};
use turn::Loop;

/// Owns the thread; the [`Handle`]s of it are for everybody. Dropping it resets what is still open.
/// Use it as the program's one way from a device to streams.
#[derive(Debug)]
pub struct Driver {
    handle: Handle,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Driver {
    /// Starts the loop.
    ///
    /// # Errors
    /// When the system has no thread or descriptor left.
    pub fn spawn(link: impl Link, stack: Stack) -> io::Result<Self> {
        Self::spawn_with(link, stack, || ())
    }

    /// As [`Driver::spawn`]; the loop's thread begins with `prepare`, which may set its priority.
    ///
    /// # Errors
    /// As [`Driver::spawn`].
    pub fn spawn_with(
        link: impl Link,
        stack: Stack,
        prepare: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let handle = Handle::new(stack)?;
        let mut turns = Loop::new(link, handle.clone());
        let thread =
            std::thread::Builder::new().name("unruffled-wire".into()).spawn(move || {
                let guard = FailOnPanic(turns.handle());
                prepare();
                let result = turns.run();
                turns.end();
                drop(guard);
                result
            })?;
        Ok(Self { handle, thread: Some(thread) })
    }

    /// For those who want to connect or to listen.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits up to `grace` until all connections have ended, resets the others, and stops.
    ///
    /// # Errors
    /// What made the link fail, if it did.
    pub fn close(mut self, grace: Duration) -> io::Result<Counters> {
        self.handle.stop(grace);
        self.join()?;
        Ok(*self.handle.lock().counters())
    }

    fn join(&mut self) -> io::Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(io::Error::other("the driver's thread panicked")),
        }
    }
}

/// Tells all applications when the thread that holds it panics.
struct FailOnPanic(Handle);

impl Drop for FailOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.handle.stop(Duration::ZERO);
            // Nobody is left to be told.
            let _ = self.join();
        }
    }
}
