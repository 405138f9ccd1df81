//! Settings of one connection, which may change while it lasts. A listener has some too, and the
//! connections that it gives begin with them.

use unruffled_tcp::KeepAlive;
use unruffled_units::{Duration, Instant};

use super::socket::Socket;
use super::{ConnectionId, ListenerId, Stack, StackConfig, StackError};
use crate::buffer::power_of_two;

/// Settings of a connection. The stack's [`StackConfig`] says what they begin with. Use it for what
/// one connection has otherwise than the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Small segments do not wait for acknowledgements (Nagle's algorithm is off; RFC 9293, section
    /// 3.7.4).
    pub nodelay: bool,
    /// When to ask a silent peer whether it is there (RFC 9293, section 3.8.4), if at all; once a
    /// second at the most.
    pub keepalive: Option<KeepAlive>,
    /// How long what was sent, or a probe of a closed window, may stay without an answer before the
    /// connection is given up (the user timeout of RFC 9293, section 3.8.3, and the local part of RFC
    /// 5482); none waits for ever, and zero is the stack's own ([`StackConfig::connection`]), as
    /// Linux's `TCP_USER_TIMEOUT` has it. A peer that answers, though its window stays closed, is not
    /// given up (RFC 9293, section 3.8.6.1), and probes of an idle one have their own bound.
    pub user_timeout: Option<Duration>,
    /// Octets that may be written ahead of acknowledgements. None lets the buffer grow with what
    /// goes through it, to [`StackConfig::send_buffer`]; a size is there at once, or as much of it as
    /// memory leaves, and stays until there is another.
    pub send_buffer: Option<usize>,
    /// Octets that may arrive ahead of the reader. None lets the window grow with what is read; a
    /// size is promised at once, or as much of it as memory leaves, in whole units of the window
    /// scale, and up to what that can tell ([`Config::receive_buffer`] chooses the scale). What has
    /// been promised already may still come.
    ///
    /// [`Config::receive_buffer`]: unruffled_tcp::Config::receive_buffer
    pub receive_buffer: Option<usize>,
    /// What becomes of octets that are not acknowledged when the connection is let go: none gives
    /// them the time that orphans have ([`Limits`](super::Limits)); zero resets the connection at
    /// once; else it is reset if the peer has not acknowledged them all by then.
    pub linger: Option<Duration>,
}

impl Options {
    pub(super) fn of(config: &StackConfig) -> Self {
        Self {
            nodelay: !config.connection.nagle,
            keepalive: config.connection.patience.keep_alive,
            user_timeout: config.connection.patience.give_up,
            send_buffer: None,
            receive_buffer: None,
            linger: None,
        }
    }

    /// No buffer is larger than all memory, or holds nothing, and no user timeout is over at once.
    fn bounded(self, config: &StackConfig) -> Self {
        let octets = config.limits.octets;
        let user_timeout = match self.user_timeout {
            Some(Duration::ZERO) => config.connection.patience.give_up,
            other => other,
        };
        let bound = |size: Option<usize>| size.map(|size| size.clamp(1, octets.max(1)));
        let (send_buffer, receive_buffer) = (bound(self.send_buffer), bound(self.receive_buffer));
        Self { user_timeout, send_buffer, receive_buffer, ..self }
    }
}

/// Octets of the send buffer and of the receive buffer, as they are now. Ask for it to see how far
/// they have grown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferSizes {
    /// Most that may be written ahead of acknowledgements.
    pub send: usize,
    /// Most that may arrive ahead of the reader; without a size given, this grows.
    pub receive: usize,
}

impl Stack {
    /// The connection's settings.
    ///
    /// # Errors
    /// [`StackError::Closed`] when there is no such connection any more.
    pub fn options(&self, id: ConnectionId) -> Result<Options, StackError> {
        self.sockets.get(id.0).map(|socket| socket.options).ok_or_else(|| self.gone())
    }

    /// Changes the connection's settings, which holds from now on.
    ///
    /// # Errors
    /// As [`Stack::options`].
    pub fn set_options(
        &mut self,
        id: ConnectionId,
        now: Instant,
        change: impl FnOnce(&mut Options),
    ) -> Result<(), StackError> {
        let gone = self.gone();
        let socket = self.sockets.get_mut(id.0).ok_or(gone)?;
        let mut options = socket.options;
        change(&mut options);
        socket.apply(options.bounded(&self.config), now);
        // What waited may leave, who waited may write, and timers have changed.
        self.after(id);
        Ok(())
    }

    /// The sizes of the connection's buffers.
    ///
    /// # Errors
    /// As [`Stack::options`].
    pub fn buffer_sizes(&self, id: ConnectionId) -> Result<BufferSizes, StackError> {
        let socket = self.sockets.get(id.0).ok_or_else(|| self.gone())?;
        let receive = socket.connection.receive_buffer() as usize;
        Ok(BufferSizes { send: socket.send_capacity(), receive })
    }

    /// What the listener's connections begin with.
    ///
    /// # Errors
    /// [`StackError::Closed`] when there is no such listener any more.
    pub fn listener_options(&self, id: ListenerId) -> Result<Options, StackError> {
        self.listeners.get(id.0).map(|listener| listener.options).ok_or_else(|| self.gone())
    }

    /// Changes what the listener's connections begin with, those not counted whose handshake is
    /// done.
    ///
    /// # Errors
    /// As [`Stack::listener_options`].
    pub fn set_listener_options(
        &mut self,
        id: ListenerId,
        change: impl FnOnce(&mut Options),
    ) -> Result<(), StackError> {
        let gone = self.gone();
        let listener = self.listeners.get_mut(id.0).ok_or(gone)?;
        change(&mut listener.options);
        listener.options = listener.options.bounded(&self.config);
        Ok(())
    }

    /// The sizes of buffers that the listener's connections begin with.
    ///
    /// # Errors
    /// As [`Stack::listener_options`].
    pub fn listener_buffer_sizes(&self, id: ListenerId) -> Result<BufferSizes, StackError> {
        let options = self.listener_options(id)?;
        let config = &self.config.connection;
        let first = config.initial_receive_buffer.unwrap_or(config.receive_buffer);
        Ok(BufferSizes {
            send: options.send_buffer.unwrap_or(power_of_two(self.config.send_buffer)),
            receive: options.receive_buffer.unwrap_or(first as usize),
        })
    }
}

impl Socket {
    /// These settings hold from now on.
    pub(super) fn apply(&mut self, mut options: Options, now: Instant) {
        let before = self.options;
        options.send_buffer = options.send_buffer.or(before.send_buffer);
        options.receive_buffer = options.receive_buffer.or(before.receive_buffer);
        self.options = options;
        let connection = &mut self.connection;
        if options.nodelay != before.nodelay {
            connection.set_nagle(!options.nodelay);
        }
        if options.keepalive != before.keepalive {
            connection.set_keep_alive(options.keepalive, now);
        }
        if options.user_timeout != before.user_timeout {
            connection.set_give_up(options.user_timeout, now);
        }
        if options.receive_buffer != before.receive_buffer
            && let Some(octets) = options.receive_buffer
        {
            connection.set_receive_buffer(octets as u64);
            self.follow_window();
        }
        if options.send_buffer != before.send_buffer
            && let Some(octets) = options.send_buffer
        {
            self.limit_send(octets);
        }
    }
}
