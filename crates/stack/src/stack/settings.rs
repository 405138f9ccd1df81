//! Properties of connections and listeners that applications read and set.

use unruffled_tcp::Connection;
use unruffled_units::Instant;

use super::Stack;
use crate::address::FourTuple;
use crate::buffer::power_of_two;
use crate::error::StackError;
use crate::ids::{ConnectionId, ListenerId};
use crate::info::Info;
use crate::listener::Listener;
use crate::options::{BufferSizes, Options};
use crate::socket::Socket;

impl Stack {
    /// Returns the two ends of a connection.
    ///
    /// # Errors
    /// [`StackError::Closed`] when the connection no longer exists.
    pub fn ends(&self, id: ConnectionId) -> Result<FourTuple, StackError> {
        self.connections.existing(id, self.condition.missing()).map(Socket::ends)
    }

    /// Returns the engine's view of a connection; `None` when the connection no longer exists.
    pub fn connection(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(id).map(Socket::connection)
    }

    /// Returns the state of the connection and the counts of its events.
    ///
    /// # Errors
    /// Same as [`Stack::ends`].
    pub fn info(&self, id: ConnectionId) -> Result<Info, StackError> {
        self.connections.existing(id, self.condition.missing()).map(Socket::info)
    }

    /// Returns the connection's settings.
    ///
    /// # Errors
    /// Same as [`Stack::ends`].
    pub fn options(&self, id: ConnectionId) -> Result<Options, StackError> {
        self.connections.existing(id, self.condition.missing()).map(Socket::options)
    }

    /// Changes the connection's settings, with immediate effect.
    ///
    /// # Errors
    /// Same as [`Stack::ends`].
    pub fn set_options(
        &mut self,
        id: ConnectionId,
        now: Instant,
        change: impl FnOnce(&mut Options),
    ) -> Result<(), StackError> {
        let missing = self.condition.missing();
        let socket = self.connections.get_mut(id).ok_or(missing)?;
        let mut options = socket.options();
        change(&mut options);
        socket.apply(options.bounded(&self.config), now);
        // Segments may be sent now, writers may write, and timers have changed.
        self.after(id);
        Ok(())
    }

    /// Returns the sizes of the connection's buffers.
    ///
    /// # Errors
    /// Same as [`Stack::ends`].
    pub fn buffer_sizes(&self, id: ConnectionId) -> Result<BufferSizes, StackError> {
        self.connections.existing(id, self.condition.missing()).map(Socket::buffer_sizes)
    }

    /// Returns the settings that the listener's connections start with.
    ///
    /// # Errors
    /// [`StackError::Closed`] when the listener no longer exists.
    pub fn listener_options(&self, id: ListenerId) -> Result<Options, StackError> {
        self.listeners.get(id).map(Listener::options).ok_or_else(|| self.condition.missing())
    }

    /// Changes the settings that the listener's connections start with. Connections whose handshake
    /// has ended keep theirs.
    ///
    /// # Errors
    /// Same as [`Stack::listener_options`].
    pub fn set_listener_options(
        &mut self,
        id: ListenerId,
        change: impl FnOnce(&mut Options),
    ) -> Result<(), StackError> {
        let missing = self.condition.missing();
        let listener = self.listeners.get_mut(id).ok_or(missing)?;
        let mut options = listener.options();
        change(&mut options);
        listener.set_options(options.bounded(&self.config));
        Ok(())
    }

    /// Returns the sizes of the buffers that the listener's connections start with.
    ///
    /// # Errors
    /// Same as [`Stack::listener_options`].
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
