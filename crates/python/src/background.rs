//! Work that goes on while Python looks after its signals: on a thread of its own, without the GIL.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use unruffled_lab::cancel::CancellationToken;

/// How long a key press or the progress bar may wait.
const LOOK: Duration = Duration::from_millis(50);

/// How long work that has been told to stop may take to do so before Python goes on without it.
const GRACE: Duration = Duration::from_secs(2);

/// What those who work and those who wait tell each other.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    /// Whoever works should stop.
    pub(crate) stop: CancellationToken,
    /// How many pieces are done.
    pub(crate) done: AtomicU64,
    /// An exception of Python's that came up in the work.
    raised: std::sync::Mutex<Option<PyErr>>,
}

impl Ticket {
    /// One more piece is done.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the work with this exception, the first of several.
    pub(crate) fn raise(&self, error: PyErr) {
        let mut raised = self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        raised.get_or_insert(error);
        self.stop.cancel();
    }

    /// Whether Python's code has raised something.
    ///
    /// # Errors
    /// What it raised.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.raised().map_or(Ok(()), Err)
    }

    fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
    }
}

/// Does `work` on another thread. `progress` is called with the number of pieces done; what it
/// raises, or a signal's handler, such as that of Ctrl-C, ends the work.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    ticket: &Arc<Ticket>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (give, mut take) = channel();
    let worker = thread::spawn(move || {
        // Nobody waits for it any more if this fails.
        let _ = give.send(work());
    });
    let mut told = 0;
    let mut tell = |py: Python<'_>| -> PyResult<()> {
        py.check_signals()?;
        let done = ticket.done.load(Ordering::Relaxed);
        match progress {
            Some(progress) if done != told => {
                told = done;
                progress.call1((done,)).map(drop)
            }
            _ => Ok(()),
        }
    };
    loop {
        let taken;
        (take, taken) = wait(py, take, LOOK);
        match taken {
            Ok(result) => {
                ticket.check()?;
                tell(py)?;
                return Ok(result);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let _ = worker.join();
                return Err(PyRuntimeError::new_err("unruffled: a thread has panicked: a bug"));
            }
        }
        if let Err(error) = tell(py) {
            ticket.stop.cancel();
            let _ = wait(py, take, GRACE);
            return Err(error);
        }
    }
}

/// Waits without the GIL. A receiver may be moved to another thread, not lent to one.
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
