//! A lock for each network namespace: at most one resequencer runs there, and changes its rules.
//!
//! The lock is on the namespace's own file in `/proc`, so nothing is left behind. The worker shares the
//! guardian's descriptor: the lock ends when both have ended.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::Error;

/// Time for which a lock is awaited. A worker whose guardian was killed needs a part of it to remove the rules.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Interval between two attempts.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Takes the lock of the calling thread's network namespace.
pub(crate) fn take() -> Result<OwnedFd, Error> {
    let failed = |reason: std::io::Error| Error::kernel("the lock of a network namespace", reason);
    let file = File::open("/proc/thread-self/ns/net").map_err(failed)?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file.into()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(errno) => return Err(failed(errno.into())),
        }
        // One that runs as it should does not end soon.
        if let Some(running) = crate::status() {
            return Err(Error::Running(Some(running.pid)));
        }
        if Instant::now() >= deadline {
            return Err(Error::Running(None));
        }
        thread::sleep(POLL_INTERVAL);
    }
}
