//! The two ends of a transfer, over any stream that reads and writes with timeouts.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::length::Length;
use crate::payload::{Digest, Payload};

/// Timeout of each read and write, after which an end checks whether the transfer is over.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time without data after which a transfer of a number of octets fails. A timed transfer ends at its
/// time.
const STALL_TIMEOUT: Duration = Duration::from_secs(120);

/// Width of a slice of the goodput over time.
pub(crate) const SLICE: Duration = Duration::from_millis(500);

/// Data that reached the receiving application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) octets: u64,
    pub(crate) digest: Digest,
    /// Arrival time of the last octet, from the start.
    pub(crate) last: Duration,
    /// Octets in each [`SLICE`] from the start.
    pub(crate) slices: Vec<u64>,
    /// Whether the receiver has all octets, or its time is up.
    pub(crate) complete: bool,
}

impl Received {
    /// Returns the result of a timed transfer whose time ends before a connection is established.
    pub(crate) fn unconnected() -> Self {
        Self { complete: true, ..Self::default() }
    }

    /// Adds octets that arrived at `now`, from the start.
    pub(crate) fn add(&mut self, now: Duration, octets: u64) {
        let slice = (now.as_nanos() / SLICE.as_nanos()) as usize;
        if self.slices.len() <= slice {
            self.slices.resize(slice + 1, 0);
        }
        self.slices[slice] += octets;
        self.octets += octets;
        self.last = now;
    }
}

/// Writes the octets of the transfer, then waits. Returns when `stop` is set.
///
/// # Errors
/// Those of the stream.
pub(crate) fn send(
    mut stream: impl Write,
    seed: u64,
    length: Length,
    stop: &AtomicBool,
) -> Result<()> {
    let mut payload = Payload::new(seed);
    let mut left = match length {
        Length::Bytes(octets) => octets,
        Length::Time(_) => u64::MAX,
    };
    while !stop.load(Ordering::Relaxed) {
        if left == 0 {
            std::thread::sleep(POLL_INTERVAL);
            continue;
        }
        let some = payload.peek();
        let some = &some[..some.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        match stream.write(some) {
            Ok(n) => {
                payload.advance(n);
                left -= n as u64;
            }
            Err(error) if is_retryable(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads from the first stream that `accept` returns until the transfer is complete: all octets have
/// arrived, or the time from `start` is up.
///
/// # Errors
/// Those of `accept` and of the stream, and that no data arrived for [`STALL_TIMEOUT`].
pub(crate) fn receive<S: Read>(
    accept: impl FnMut() -> Result<S>,
    length: Length,
    start: Instant,
) -> Result<Received> {
    receive_within(STALL_TIMEOUT, accept, length, start)
}

/// [`receive`] with `timeout` instead of [`STALL_TIMEOUT`].
fn receive_within<S: Read>(
    timeout: Duration,
    mut accept: impl FnMut() -> Result<S>,
    length: Length,
    start: Instant,
) -> Result<Received> {
    let mut received = Received::default();
    let mut accepted = None;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let now = start.elapsed();
        received.complete = match length {
            Length::Time(time) => now >= time,
            Length::Bytes(octets) => received.octets >= octets,
        };
        if received.complete {
            return Ok(received);
        }
        if matches!(length, Length::Bytes(_)) && now.saturating_sub(received.last) > timeout {
            return Err(Error::other(format!("nothing has arrived for {timeout:?}")));
        }
        let Some(stream) = &mut accepted else {
            match accept() {
                Ok(stream) => accepted = Some(stream),
                Err(error) if is_retryable(error.kind()) => {}
                Err(error) => return Err(error),
            }
            continue;
        };
        let n = match stream.read(&mut buffer) {
            Ok(0) => return Ok(received),
            Ok(n) => n,
            Err(error) if is_retryable(error.kind()) => continue,
            Err(error) => return Err(error),
        };
        let now = start.elapsed();
        if matches!(length, Length::Time(time) if now >= time) {
            continue;
        }
        received.add(now, n as u64);
        received.digest.add(&buffer[..n]);
    }
}

/// Returns whether a read or write may be repeated.
fn is_retryable(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with one octet, which then stays silent.
    struct Silent(bool);

    impl Read for Silent {
        fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                std::thread::sleep(Duration::from_millis(5));
                return Err(ErrorKind::WouldBlock.into());
            }
            buffer[0] = 1;
            Ok(1)
        }
    }

    #[test]
    fn a_stall_fails_a_transfer_of_octets_and_not_a_timed_one() {
        let timeout = Duration::from_millis(20);
        let receive =
            |length| receive_within(timeout, || Ok(Silent(false)), length, Instant::now());
        let error = receive(Length::Bytes(2)).expect_err("one of two octets");
        assert_eq!(error.to_string(), "nothing has arrived for 20ms");
        let received = receive(Length::Time(Duration::from_millis(60))).expect("the time is up");
        assert_eq!((received.octets, received.complete), (1, true));
    }
}
