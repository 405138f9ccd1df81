//! An interrupt ends the reading of a capture, not the command: what was read is still to be told.

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

/// Ctrl-C interrupts all programs of a pipeline: the one that captures then writes what it holds
/// back, for which an interrupted reader waits no longer than this.
const GRACE: Duration = Duration::from_secs(1);

/// Whether SIGINT or SIGTERM has come. The first sets a flag; the next ends the process, with 128 and
/// its number.
#[derive(Clone, Default)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Takes both signals from now on; what can be read from the result wakes who waits.
    fn watch() -> io::Result<(Self, UnixStream)> {
        let (wake, waker) = UnixStream::pair()?;
        let came = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds the flag unset.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&came))?;
            flag::register(signal, Arc::clone(&came))?;
            low_level::pipe::register(signal, waker.try_clone()?)?;
        }
        Ok((Self(came), wake))
    }

    /// A token that is cancelled when one comes.
    pub(crate) fn token(&self) -> CancellationToken {
        Arc::clone(&self.0).into()
    }

    /// Whether one has come.
    pub(crate) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The capture at `path`, standard input for `-`, which ends where an interrupt comes.
///
/// # Errors
/// When it cannot be opened or read, or holds nothing.
pub(crate) fn open(path: &Path) -> Result<(Source, Interrupt), Error> {
    let stdin = path.as_os_str() == "-";
    let input = match stdin {
        // What `Stdin` holds in its buffer, no poll knows of.
        true => io::stdin().as_fd().try_clone_to_owned().map(File::from),
        false => File::open(path),
    };
    let input = input?;
    let about = input.metadata()?;
    if about.is_dir() {
        let error = io::Error::new(io::ErrorKind::IsADirectory, "a folder: expected a file");
        return Err(error.into());
    }
    // Not before: a FIFO without a writer waits in `open`, and there is nothing to tell yet.
    let (interrupt, wake) = Interrupt::watch()?;
    let grace = if about.is_file() { Duration::ZERO } else { GRACE };
    let length = (about.is_file() && !stdin).then_some(about.len());
    let input = Interruptible { input, interrupt: interrupt.clone(), wake, grace, until: None };
    match Source::new(Box::new(input), length) {
        Err(Error::Empty) if interrupt.came() => {
            Err(io::Error::other("interrupted before its first packet").into())
        }
        source => source.map(|source| (source, interrupt)),
    }
}

/// An input that ends where an interrupt comes, or, if it is a pipe, where its writer then ends.
struct Interruptible {
    input: File,
    interrupt: Interrupt,
    wake: UnixStream,
    /// How long is read on after an interrupt.
    grace: Duration,
    /// Until when, after one.
    until: Option<Instant>,
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.interrupt.came() && self.until.is_none() {
                self.until = Some(Instant::now() + self.grace);
            }
            let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(0);
            }
            let timeout = left.and_then(|left| Timespec::try_from(left).ok());
            let mut polled =
                [PollFd::new(&self.input, PollFlags::IN), PollFd::new(&self.wake, PollFlags::IN)];
            // An interrupt wakes once.
            let watched = if self.until.is_none() { &mut polled[..] } else { &mut polled[..1] };
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
