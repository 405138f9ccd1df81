//! The two directions of a stream, each with an owner.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use super::TcpStream;

/// The half that reads, for a thread of its own; made by [`TcpStream::into_split`].
#[derive(Debug)]
pub struct OwnedReadHalf(TcpStream);

/// The half that writes, for a thread of its own; made by [`TcpStream::into_split`]. Dropping it
/// ends this end's stream.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: TcpStream,
    /// Whether dropping the half ends the stream.
    ends_stream: bool,
}

/// The error for halves that are not of the same stream; it returns both.
#[derive(Debug, thiserror::Error)]
#[error("the halves are not of one stream")]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl TcpStream {
    /// Splits the stream into its two directions, for a thread each. The connection lasts as long
    /// as one of the halves or another clone of the stream.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        (OwnedReadHalf(self.clone()), OwnedWriteHalf { stream: self, ends_stream: true })
    }
}

impl OwnedReadHalf {
    /// Sets how long a read may wait; `None` waits without limit.
    pub fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.0.set_read_timeout(timeout);
    }

    /// Returns the stream that this half and `other` were made from.
    ///
    /// # Errors
    /// When they are not of the same stream; the error returns both.
    pub fn reunite(self, mut other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        if !Arc::ptr_eq(&self.0.held, &other.stream.held) {
            return Err(ReuniteError(self, other));
        }
        other.ends_stream = false;
        let write_timeout = other.stream.write_timeout;
        Ok(TcpStream { write_timeout, ..self.0 })
    }
}

impl OwnedWriteHalf {
    /// Sets how long a write may wait; `None` waits without limit.
    pub fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.stream.set_write_timeout(timeout);
    }

    /// Waits until the peer has acknowledged everything that was written.
    ///
    /// # Errors
    /// The reason why it never will.
    pub fn wait_acknowledged(&self) -> io::Result<()> {
        self.stream.wait_acknowledged()
    }
}

/// Access to addresses, options and the state of the connection.
impl AsRef<TcpStream> for OwnedReadHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.0
    }
}

/// Access to addresses, options and the state of the connection.
impl AsRef<TcpStream> for OwnedWriteHalf {
    fn as_ref(&self) -> &TcpStream {
        &self.stream
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
        if self.ends_stream {
            self.stream.held.finish();
        }
    }
}
