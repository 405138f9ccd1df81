//! The two directions of a stream, each with an owner.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::TcpStream;

/// The half that reads, for a task of its own; made by [`TcpStream::into_split`].
#[derive(Debug)]
pub struct OwnedReadHalf(Arc<TcpStream>);

/// The half that writes, for a task of its own; made by [`TcpStream::into_split`]. Dropping it ends
/// this end's stream.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    /// Whether dropping the half ends the stream.
    ends_stream: bool,
}

/// The error for halves that are not of the same stream; it returns both.
#[derive(Debug, thiserror::Error)]
#[error("the halves are not of one stream")]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl TcpStream {
    /// Splits the stream into its two directions, for a task each, without the lock of
    /// `tokio::io::split`. The connection lasts as long as one of the halves.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        let stream = Arc::new(self);
        (OwnedReadHalf(stream.clone()), OwnedWriteHalf { stream, ends_stream: true })
    }
}

impl OwnedReadHalf {
    /// Returns the stream that this half and `other` were made from.
    ///
    /// # Errors
    /// When they are not of the same stream; the error returns both.
    pub fn reunite(self, mut other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        if !Arc::ptr_eq(&self.0, &other.stream) {
            return Err(ReuniteError(self, other));
        }
        other.ends_stream = false;
        drop(other);
        // Splitting makes two halves, and the other one is dropped.
        Ok(Arc::into_inner(self.0).expect("this half is the only owner"))
    }
}

impl OwnedWriteHalf {
    /// Waits until the peer has acknowledged everything that was written.
    ///
    /// # Errors
    /// The reason why it never will.
    pub async fn wait_acknowledged(&mut self) -> io::Result<()> {
        self.stream.acknowledged().await
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

impl AsyncRead for OwnedReadHalf {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.read(context, out)
    }
}

impl AsyncWrite for OwnedWriteHalf {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.write(context, data)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.held.finish();
        Poll::Ready(Ok(()))
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.ends_stream {
            self.stream.held.finish();
        }
    }
}
