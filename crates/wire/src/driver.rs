//! The loop between a device and a stack: one thread that reads, fires timers, writes and waits.
//!
//! The loop stamps packets with the time as it reads them, and passes a batch through the stack
//! under one lock. It writes the answers after it has released the lock. While the device accepts
//! no packet, the loop takes none from the stack. Applications call the stack from their own
//! threads, and wake the loop if it sleeps.

mod outbox;
mod shared;
mod turn;

use std::io;
use std::thread::JoinHandle;
use std::time::Duration;

use unruffled_stack::{Counters, Stack, StackError};

pub use shared::Handle;

use crate::device::Link;
use turn::Loop;

/// A running loop. Streams and listeners are made with its [`Handle`]s. Dropping it resets the
/// connections that are still open.
#[derive(Debug)]
pub struct Driver {
    handle: Handle,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Driver {
    /// Starts the loop in a thread of its own.
    ///
    /// # Errors
    /// When the system can make no thread or no descriptor.
    pub fn spawn(link: impl Link, stack: Stack) -> io::Result<Self> {
        Self::spawn_with(link, stack, || ())
    }

    /// Starts the loop as [`Driver::spawn`] does; its thread first calls `prepare`, which may set
    /// its priority.
    ///
    /// # Errors
    /// Same as [`Driver::spawn`].
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

    /// Returns a handle to connect and to listen with.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Waits up to `grace` until all connections have ended, resets the others, and stops the loop.
    ///
    /// # Errors
    /// The device's error, if it failed, and [`StackError::Failed`] after a panic.
    pub fn close(mut self, grace: Duration) -> io::Result<Counters> {
        self.handle.stop(grace);
        self.join()?;
        Ok(*self.handle.lock().counters())
    }

    fn join(&mut self) -> io::Result<()> {
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(StackError::Failed.into()),
        }
    }
}

/// Fails the stack when the thread that holds this panics, so that all who wait receive an error.
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
            // A drop cannot return the error.
            let _ = self.join();
        }
    }
}
