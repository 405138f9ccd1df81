//! The settings of streams and listeners as methods.

use std::io;
use std::time;

use unruffled_stack::{BufferSizes, Duration, KeepAlive, Options};

/// Converts a time span of the standard library; a span above 584 years becomes 584 years.
pub(crate) fn from_std(span: time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// Converts a time span into the standard library's type.
pub(crate) fn to_std(span: Duration) -> time::Duration {
    time::Duration::from_nanos(span.as_nanos())
}

/// The settings of a stream or a listener, like those of `std::net`'s types and of `socket2`.
///
/// A listener's connections start with the listener's settings. A connection's settings take effect
/// at once. Each method fails only when the connection or listener no longer exists because the
/// stack has failed.
pub trait SocketOptions {
    /// Returns all settings.
    ///
    /// # Errors
    /// When the connection or listener no longer exists.
    fn options(&self) -> io::Result<Options>;

    /// Changes settings.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_options(&self, change: impl FnOnce(&mut Options)) -> io::Result<()>;

    /// Returns the sizes of the buffers.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn buffer_sizes(&self) -> io::Result<BufferSizes>;

    /// Returns whether small segments are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn nodelay(&self) -> io::Result<bool> {
        Ok(self.options()?.nodelay)
    }

    /// Sets whether small segments are sent at once. If not, they wait while anything is
    /// unacknowledged (Nagle's algorithm; RFC 9293, section 3.7.4).
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.set_options(|options| options.nodelay = nodelay)
    }

    /// Returns when a silent peer is probed (`SO_KEEPALIVE`); `None` for never.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn keepalive(&self) -> io::Result<Option<KeepAlive>> {
        Ok(self.options()?.keepalive)
    }

    /// Sets when a silent peer is probed (RFC 9293, section 3.8.4), at most once a second, and
    /// after how many probes the connection ends with [`io::ErrorKind::TimedOut`].
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_keepalive(&self, keepalive: Option<KeepAlive>) -> io::Result<()> {
        self.set_options(|options| options.keepalive = keepalive)
    }

    /// Returns the longest time that sent data may stay unacknowledged (`TCP_USER_TIMEOUT`); `None`
    /// waits without limit.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn user_timeout(&self) -> io::Result<Option<time::Duration>> {
        Ok(self.options()?.user_timeout.map(to_std))
    }

    /// Sets the longest time that sent data, or a probe of a closed window, may stay unanswered
    /// before the connection ends with [`io::ErrorKind::TimedOut`] (RFC 9293, section 3.8.3; RFC
    /// 5482).
    ///
    /// `None` waits without limit; zero restores the stack's default.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_user_timeout(&self, timeout: Option<time::Duration>) -> io::Result<()> {
        self.set_options(|options| options.user_timeout = timeout.map(from_std))
    }

    /// Returns the most octets that may be written ahead of acknowledgements (`SO_SNDBUF`).
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn send_buffer_size(&self) -> io::Result<usize> {
        Ok(self.buffer_sizes()?.send)
    }

    /// Sets the octets that may be written ahead of acknowledgements.
    ///
    /// Without a call, the buffer grows as it is used. A size takes effect at once, as far as the
    /// stack's memory allows.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_send_buffer_size(&self, octets: usize) -> io::Result<()> {
        self.set_options(|options| options.send_buffer = Some(octets))
    }

    /// Returns the most octets that may arrive ahead of the reader (`SO_RCVBUF`): the receive
    /// window.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn recv_buffer_size(&self) -> io::Result<usize> {
        Ok(self.buffer_sizes()?.receive)
    }

    /// Sets the octets that may arrive ahead of the reader.
    ///
    /// Without a call, the window grows with what is read. A size takes effect at once, as far as
    /// the stack's memory allows, in units of the window scale and within it. What the window
    /// already promised may still arrive.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_recv_buffer_size(&self, octets: usize) -> io::Result<()> {
        self.set_options(|options| options.receive_buffer = Some(octets))
    }

    /// Returns the time that unacknowledged data has once the stream is dropped (`SO_LINGER`).
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn linger(&self) -> io::Result<Option<time::Duration>> {
        Ok(self.options()?.linger.map(to_std))
    }

    /// Sets the time that unacknowledged data has once the stream is dropped, before the connection
    /// is reset.
    ///
    /// Zero resets the connection at once; `None` leaves the time to the stack's limits. Dropping a
    /// blocking stream waits meanwhile; dropping an asynchronous one never waits.
    ///
    /// # Errors
    /// Same as [`SocketOptions::options`].
    fn set_linger(&self, linger: Option<time::Duration>) -> io::Result<()> {
        self.set_options(|options| options.linger = linger.map(from_std))
    }
}
