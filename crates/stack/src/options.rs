//! The settings of one connection, which may change while it lasts. A listener has settings too;
//! its connections start with them.

use unruffled_tcp::KeepAlive;
use unruffled_units::Duration;

use crate::config::StackConfig;

/// The settings of a connection. They start as [`StackConfig`] has them; set them with
/// [`Stack::set_options`](crate::Stack::set_options) where one connection differs from the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Whether small segments are sent at once, without Nagle's algorithm (RFC 9293, section
    /// 3.7.4).
    pub nodelay: bool,
    /// Probes of a silent peer (RFC 9293, section 3.8.4), at most one per second; `None` for no
    /// probes.
    pub keepalive: Option<KeepAlive>,
    /// Longest time that sent data, or a probe of a closed window, may stay unanswered before the
    /// connection ends (the user timeout of RFC 9293, section 3.8.3; the local part of RFC 5482).
    ///
    /// `None` waits without limit. Zero restores the stack's default ([`StackConfig::connection`]),
    /// as Linux's `TCP_USER_TIMEOUT` does. A peer that answers keeps the connection alive even
    /// while its window stays closed (RFC 9293, section 3.8.6.1). Keep-alive probes have their own
    /// limit.
    pub user_timeout: Option<Duration>,
    /// Octets that may be written ahead of acknowledgements.
    ///
    /// With `None` the buffer grows with the data that passes it, up to [`StackConfig::send_buffer`]. A
    /// size takes effect at once, as far as memory allows.
    pub send_buffer: Option<usize>,
    /// Octets that may arrive ahead of the reader.
    ///
    /// `None` lets the window grow with what is read. A size takes effect at once, as far as memory
    /// allows, in whole units of the window scale and within what the scale can express
    /// ([`Config::receive_buffer`] selects the scale). Data within a window that was advertised
    /// earlier may still arrive.
    ///
    /// [`Config::receive_buffer`]: unruffled_tcp::Config::receive_buffer
    pub receive_buffer: Option<usize>,
    /// Time that unacknowledged data has once the application has released the connection.
    ///
    /// `None` allows what [`Limits`](crate::Limits) allows to every released connection. Zero
    /// resets the connection at once. Any other time resets it if data is still unacknowledged by
    /// then.
    pub linger: Option<Duration>,
}

impl Options {
    /// Returns what connections start with.
    pub(crate) fn of(config: &StackConfig) -> Self {
        Self {
            nodelay: !config.connection.nagle,
            keepalive: config.connection.timeouts.keep_alive,
            user_timeout: config.connection.timeouts.give_up,
            send_buffer: None,
            receive_buffer: None,
            linger: None,
        }
    }

    /// Returns the options with buffers of at least one octet and at most all memory, and with the
    /// default instead of a user timeout of zero.
    pub(crate) fn bounded(self, config: &StackConfig) -> Self {
        let octets = config.limits.octets.max(1);
        let bound = |size: Option<usize>| size.map(|size| size.clamp(1, octets));
        let user_timeout = match self.user_timeout {
            Some(Duration::ZERO) => config.connection.timeouts.give_up,
            other => other,
        };
        Self {
            user_timeout,
            send_buffer: bound(self.send_buffer),
            receive_buffer: bound(self.receive_buffer),
            ..self
        }
    }
}

/// The sizes of a connection's buffers at this moment. They show how far the buffers have grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSizes {
    /// Most octets that may be written ahead of acknowledgements.
    pub send: usize,
    /// Most octets that may arrive ahead of the reader; this grows unless a size was set.
    pub receive: usize,
}
