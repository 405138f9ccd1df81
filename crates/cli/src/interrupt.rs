//! Interrupts while a capture is read. They end only the reading; the command then shows its results.

use std::fs::File;
use std::io::ErrorKind::{Interrupted, WouldBlock};
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use unruffled_capture::{Error, Source};
use unruffled_lab::cancel::CancellationToken;

/// Time for which an interrupted reader continues. Ctrl-C interrupts all programs of a pipeline, and the one
/// that captures then writes its buffered packets.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Flag for SIGINT and SIGTERM. The first signal sets it; the next one ends the process with status 128 plus
/// its number.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Starts handling both signals. The returned stream becomes readable when one arrives.
    pub(crate) fn watch() -> io::Result<(Self, UnixStream)> {
        let (wake, waker) = UnixStream::pair()?;
        let has_arrived = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the shutdown must see the flag as it was before this signal.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&has_arrived))?;
            flag::register(signal, Arc::clone(&has_arrived))?;
            low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        Ok((Self(has_arrived), wake))
    }

    /// Returns a token that is cancelled when a signal arrives.
    pub(crate) fn token(&self) -> CancellationToken {
        Arc::clone(&self.0).into()
    }

    /// Returns whether a signal has arrived.
    pub(crate) fn has_arrived(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Opens the capture at `path`, or standard input for `-`. An interrupt ends it.
///
/// # Errors
/// If the capture cannot be opened or read, or if it is empty.
pub(crate) fn open(path: &Path) -> Result<(Source, Interrupt), Error> {
    let stdin = path.as_os_str() == "-";
    let input = match stdin {
        // `Stdin` has a buffer, which `poll` does not see.
        true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(path),
    };
    let input = input?;
    let about = input.metadata()?;
    if about.is_dir() {
        let error = io::Error::new(io::ErrorKind::IsADirectory, "a folder: expected a file");
        return Err(error.into());
    }
    // Signals are handled only from here on: `open` blocks on a FIFO without a writer, and an interrupt
    // should then end the command.
    let (interrupt, wake) = Interrupt::watch()?;
    let drain = if about.is_file() { Duration::ZERO } else { DRAIN_TIMEOUT };
    let length = (about.is_file() && !stdin).then_some(about.len());
    let input = Interruptible { input, interrupt: interrupt.clone(), wake, drain, deadline: None };
    match Source::new(Box::new(input), length) {
        Err(Error::Empty) if interrupt.has_arrived() => {
            Err(io::Error::other("interrupted before its first packet").into())
        }
        source => source.map(|source| (source, interrupt)),
    }
}

/// An input that ends at an interrupt. A pipe ends when its writer closes it, at the latest after
/// [`DRAIN_TIMEOUT`].
struct Interruptible {
    input: File,
    interrupt: Interrupt,
    wake: UnixStream,
    /// Time for which reading continues after an interrupt.
    drain: Duration,
    /// End of that time, after an interrupt.
    deadline: Option<Instant>,
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.interrupt.has_arrived() && self.deadline.is_none() {
                self.deadline = Some(Instant::now() + self.drain);
            }
            let left =
                self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(0);
            }
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            let mut polled =
                [PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
            // The stream stays readable after an interrupt, so it is polled only before.
            let watched = if self.deadline.is_none() { &mut polled[..] } else { &mut polled[..1] };
            match poll(watched, timeout.as_ref()) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if polled[0].revents().is_empty() {
                continue;
            }
            match self.input.read(buffer) {
                Err(error) if matches!(error.kind(), Interrupted | WouldBlock) => {}
                read => return read,
            }
        }
    }
}
