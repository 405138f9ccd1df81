//! The two directions of a stream, each with an owner.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use super::TcpStream;
use crate::common::halves;

/// The half that reads; made by [`TcpStream::into_split`]. Use it in a thread of its own.
#[derive(Debug)]
pub struct OwnedReadHalf(TcpStream);

/// The half that writes; made by [`TcpStream::into_split`]. Dropping it ends this end's stream. Use
/// it in a thread of its own.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: TcpStream,
    /// Dropping it ends the stream.
    ends: bool,
}

halves!(TcpStream);

impl TcpStream {
    /// Parts the stream's two directions, for a thread each. The connection lasts as long as one of
    /// them is held, or another clone of the stream.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        (OwnedReadHalf(self.clone()), OwnedWriteHalf { stream: self, ends: true })
    }
}

impl OwnedReadHalf {
    /// How long a read may wait; none waits for ever.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.0.set_read_timeout(timeout);
    }

    /// The stream that this half and `other` were.
    ///
    /// # Errors
    /// When they are not of one stream: gives both back.
    pub fn reunite(self, mut other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        if !Arc::ptr_eq(&self.0.held, &other.stream.held) {
            return Err(ReuniteError(self, other));
        }
        other.ends = false;
        let write_timeout = other.stream.write_timeout;
        Ok(TcpStream { write_timeout, ..self.0 })
    }
}

impl OwnedWriteHalf {
    /// How long a write may wait; none waits for ever.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.set_write_timeout(timeout);
    }

    /// Waits until the peer has acknowledged all that was written.
    ///
    /// # Errors
    /// Why it never will.
    pub fn wait_acknowledged(&self) -> io::Result<()> {
        self.stream.wait_acknowledged()
    }
}

impl Read for OwnedReadHalf {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out)
    }
}

impl Write for OwnedWriteHalf {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.stream.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.ends {
            self.stream.finish();
        }
    }
}
