//! The two directions of a stream, each with an owner.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::TcpStream;
use crate::common::halves;

/// The half that reads; made by [`TcpStream::into_split`]. Use it in a task of its own.
#[derive(Debug)]
pub struct OwnedReadHalf(Arc<TcpStream>);

/// The half that writes; made by [`TcpStream::into_split`]. Dropping it ends this end's stream. Use
/// it in a task of its own.
#[derive(Debug)]
pub struct OwnedWriteHalf {
    stream: Arc<TcpStream>,
    /// Dropping it ends the stream.
    ends: bool,
}

halves!(TcpStream);

impl TcpStream {
    /// Parts the stream's two directions, for a task each, without the lock of `tokio::io::split`.
    /// The connection lasts as long as one of them is held.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        let stream = Arc::new(self);
        (OwnedReadHalf(stream.clone()), OwnedWriteHalf { stream, ends: true })
    }
}

impl OwnedReadHalf {
    /// The stream that this half and `other` were.
    ///
    /// # Errors
    /// When they are not of one stream: gives both back.
    pub fn reunite(self, mut other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        if !Arc::ptr_eq(&self.0, &other.stream) {
            return Err(ReuniteError(self, other));
        }
        other.ends = false;
        drop(other);
        // There were two, and this is the other.
        Ok(Arc::into_inner(self.0).expect("nobody else holds the stream"))
    }
}

impl OwnedWriteHalf {
    /// Waits until the peer has acknowledged all that was written.
    ///
    /// # Errors
    /// Why it never will.
    pub async fn wait_acknowledged(&mut self) -> io::Result<()> {
        self.stream.acknowledged().await
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
        self.stream.finish();
        Poll::Ready(Ok(()))
    }
}

impl Drop for OwnedWriteHalf {
    fn drop(&mut self) {
        if self.ends {
            self.stream.finish();
        }
    }
}
