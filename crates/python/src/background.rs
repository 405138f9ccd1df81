//! Work on a separate thread without the GIL, while Python handles its signals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use unruffled_lab::cancel::CancellationToken;

/// Interval at which signals and the progress bar are handled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time in which stopped work must end before Python continues without it.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// State that the working and the waiting thread share.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    /// Whether the work must stop.
    pub(crate) stop: CancellationToken,
    /// Number of finished pieces.
    pub(crate) done: AtomicU64,
    /// Python exception that was raised in the work.
    raised: std::sync::Mutex<Option<PyErr>>,
}

impl Ticket {
    /// Counts a finished piece.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Stops the work with this exception. The first one is kept.
    pub(crate) fn raise(&self, error: PyErr) {
        let mut raised = self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        raised.get_or_insert(error);
        self.stop.cancel();
    }

    /// Checks that no exception was raised in the work.
    ///
    /// # Errors
    /// The exception.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.raised().map_or(Ok(()), Err)
    }

    fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

/// Runs `work` on another thread. `progress` is called with the number of finished pieces. An exception of
/// it, or of a signal's handler such as that of Ctrl-C, stops the work.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    ticket: &Arc<Ticket>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (give, mut take) = channel();
    let worker = thread::spawn(move || {
        // Fails if the caller has stopped waiting.
        let _ = give.send(work());
    });
    let mut shown = 0;
    let mut update = |py: Python<'_>| -> PyResult<()> {
        py.check_signals()?;
        let done = ticket.done.load(Ordering::Relaxed);
        match progress {
            Some(progress) if done != shown => {
                shown = done;
                progress.call1((done,)).map(drop)
            }
            _ => Ok(()),
        }
    };
    loop {
        let taken;
        (take, taken) = wait(py, take, POLL_INTERVAL);
        match taken {
            Ok(result) => {
                ticket.check()?;
                update(py)?;
                return Ok(result);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let _ = worker.join();
                return Err(PyRuntimeError::new_err("unruffled: a thread has panicked: a bug"));
            }
        }
        if let Err(error) = update(py) {
            ticket.stop.cancel();
            let _ = wait(py, take, STOP_TIMEOUT);
            return Err(error);
        }
    }
}

/// Waits without the GIL. The receiver is moved, since it cannot be borrowed by another thread.
fn wait<T: Send>(
    py: Python<'_>,
    take: Receiver<T>,
    time: Duration,
) -> (Receiver<T>, Result<T, RecvTimeoutError>) {
    py.detach(move || {
        let taken = take.recv_timeout(time);
        (take, taken)
    })
}
