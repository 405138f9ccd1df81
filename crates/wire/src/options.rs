//! The settings of sockets as methods, the same for both kinds of streams and of listeners.

use std::time;

use unruffled_units::Duration;

/// The engine's kind of span; more than 584 years are as many.
pub(crate) fn span(of: time::Duration) -> Duration {
    Duration::from_nanos(u64::try_from(of.as_nanos()).unwrap_or(u64::MAX))
}

/// The standard library's kind.
pub(crate) fn standard(of: Duration) -> time::Duration {
    time::Duration::from_nanos(of.as_nanos())
}

/// Gives `$socket`, which holds a connection or a listener as `held`, its settings.
macro_rules! socket_options {
    ($socket:ty) => {
        /// Settings. A listener's are what its connections begin with; a connection's hold at once.
        /// Each fails only when there is no such connection or listener any more, because the stack
        /// has failed.
        impl $socket {
            /// Whether small segments leave at once (`TCP_NODELAY`).
            pub fn nodelay(&self) -> std::io::Result<bool> {
                Ok(self.held.options()?.nodelay)
            }

            /// Whether small segments leave at once, or wait while anything is unacknowledged
            /// (Nagle's algorithm; RFC 9293, section 3.7.4).
            pub fn set_nodelay(&self, nodelay: bool) -> std::io::Result<()> {
                self.held.set_options(|options| options.nodelay = nodelay)
            }

            /// When a silent peer is asked whether it is there, if at all (`SO_KEEPALIVE`).
            pub fn keepalive(&self) -> std::io::Result<Option<unruffled_tcp::KeepAlive>> {
                Ok(self.held.options()?.keepalive)
            }

            /// When to ask a silent peer whether it is there (RFC 9293, section 3.8.4), once a second
            /// at the most, and how often before the connection ends with
            /// [`std::io::ErrorKind::TimedOut`].
            pub fn set_keepalive(
                &self,
                keepalive: Option<unruffled_tcp::KeepAlive>,
            ) -> std::io::Result<()> {
                self.held.set_options(|options| options.keepalive = keepalive)
            }

            /// How long what was sent may stay unacknowledged (`TCP_USER_TIMEOUT`).
            pub fn user_timeout(&self) -> std::io::Result<Option<std::time::Duration>> {
                Ok(self.held.options()?.user_timeout.map(crate::options::standard))
            }

            /// How long what was sent, or a probe of a closed window, may stay without an answer
            /// before the connection ends with [`std::io::ErrorKind::TimedOut`] (RFC 9293, section
            /// 3.8.3; RFC 5482); none for ever, zero for as long as without this setting.
            pub fn set_user_timeout(
                &self,
                timeout: Option<std::time::Duration>,
            ) -> std::io::Result<()> {
                let timeout = timeout.map(crate::options::span);
                self.held.set_options(|options| options.user_timeout = timeout)
            }

            /// Octets that may be written ahead of acknowledgements at the most (`SO_SNDBUF`).
            pub fn send_buffer_size(&self) -> std::io::Result<usize> {
                Ok(self.held.buffer_sizes()?.send)
            }

            /// Octets that may be written ahead of acknowledgements. Without, the buffer grows as it
            /// is used; a size is there at once, or as much of it as the stack's memory leaves.
            pub fn set_send_buffer_size(&self, octets: usize) -> std::io::Result<()> {
                self.held.set_options(|options| options.send_buffer = Some(octets))
            }

            /// Octets that may arrive ahead of the reader (`SO_RCVBUF`): the receive window.
            pub fn recv_buffer_size(&self) -> std::io::Result<usize> {
                Ok(self.held.buffer_sizes()?.receive)
            }

            /// Octets that may arrive ahead of the reader. Without, the window grows with what is
            /// read; a size is promised at once, or as much of it as the stack's memory leaves, in
            /// units of the window's scale and within it. What was promised may still come.
            pub fn set_recv_buffer_size(&self, octets: usize) -> std::io::Result<()> {
                self.held.set_options(|options| options.receive_buffer = Some(octets))
            }

            /// How long what was written has to be acknowledged once the stream is dropped
            /// (`SO_LINGER`).
            pub fn linger(&self) -> std::io::Result<Option<std::time::Duration>> {
                Ok(self.held.options()?.linger.map(crate::options::standard))
            }

            /// How long what was written has to be acknowledged once the stream is dropped, before
            /// the connection is reset: zero resets it at once, none leaves it to the stack's bounds.
            /// Dropping a blocking stream waits meanwhile, dropping an asynchronous one never does.
            pub fn set_linger(&self, linger: Option<std::time::Duration>) -> std::io::Result<()> {
                let linger = linger.map(crate::options::span);
                self.held.set_options(|options| options.linger = linger)
            }
        }
    };
}

pub(crate) use socket_options;
