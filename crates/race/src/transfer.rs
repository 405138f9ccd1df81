//! The two ends of a transfer, over whatever reads and writes like a socket with timeouts.

use std::io::{Error, ErrorKind, Read, Result, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::length::Length;
use crate::payload::{Digest, Payload};

/// How long a read or write may wait before the end looks around.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// How long a transfer of a number of octets may bring nothing before it is given up. A timed one ends by
/// its time.
const STALLED: Duration = Duration::from_secs(120);

/// The width of a slice of the goodput over time.
pub(crate) const SLICE: Duration = Duration::from_millis(500);

/// What reached the receiving application.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received {
    pub(crate) octets: u64,
    pub(crate) digest: Digest,
    /// When the last octet came, since the start.
    pub(crate) last: Duration,
    /// Octets in each [`SLICE`] since the start.
    pub(crate) slices: Vec<u64>,
    /// The receiver has all that it waited for, or its time is up.
    pub(crate) complete: bool,
}

impl Received {
    /// What there is when the time is up before there is a connection.
    pub(crate) fn nothing() -> Self {
        Self { complete: true, ..Self::default() }
    }
}

/// Writes octets until there are enough of them, then waits; either way until `stop` is set.
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
            std::thread::sleep(PATIENCE);
            continue;
        }
        let some = payload.peek();
        let some = &some[..some.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        match stream.write(some) {
            Ok(n) => {
                payload.advance(n);
                left -= n as u64;
            }
            Err(error) if waits(error.kind()) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads octets, from the stream that `accept` gives once there is one, until there are enough of
/// them, or the time that counts from `start` is up.
///
/// # Errors
/// Those of the stream, or why there is none; that the transfer is given up.
pub(crate) fn receive<S: Read>(
    accept: impl FnMut() -> Result<S>,
    length: Length,
    start: Instant,
) -> Result<Received> {
    receive_within(STALLED, accept, length, start)
}

/// As [`receive`], given up after `stalled`.
fn receive_within<S: Read>(
    stalled: Duration,
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
        if matches!(length, Length::Bytes(_)) && now.saturating_sub(received.last) > stalled {
            return Err(Error::other(format!("nothing has arrived for {stalled:?}")));
        }
        let Some(stream) = &mut accepted else {
            match accept() {
                Ok(stream) => accepted = Some(stream),
                Err(error) if waits(error.kind()) => {}
                Err(error) => return Err(error),
            }
            continue;
        };
        let n = match stream.read(&mut buffer) {
            Ok(0) => return Ok(received),
            Ok(n) => n,
            Err(error) if waits(error.kind()) => continue,
            Err(error) => return Err(error),
        };
        let now = start.elapsed();
        if matches!(length, Length::Time(time) if now >= time) {
            continue;
        }
        let slice = (now.as_nanos() / SLICE.as_nanos()) as usize;
        if received.slices.len() <= slice {
            received.slices.resize(slice + 1, 0);
        }
        received.slices[slice] += n as u64;
        received.octets += n as u64;
        received.digest.add(&buffer[..n]);
        received.last = now;
    }
}

/// Nothing is wrong, only not ready.
fn waits(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives an octet, and nothing more.
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
    fn a_stall_ends_a_transfer_of_octets_with_its_reason_and_one_of_a_time_with_what_came() {
        let stalled = Duration::from_millis(20);
        let receive =
            |length| receive_within(stalled, || Ok(Silent(false)), length, Instant::now());
        let error = receive(Length::Bytes(2)).expect_err("one of two octets");
        assert_eq!(error.to_string(), "nothing has arrived for 20ms");
        let received = receive(Length::Time(Duration::from_millis(60))).expect("the time is up");
        assert_eq!((received.octets, received.complete), (1, true));
    }
}
