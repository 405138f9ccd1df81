//! What both kinds of streams, of their halves and of listeners have in common, as methods.

/// The error of halves that do not belong together, and the stream behind each half.
macro_rules! halves {
    ($stream:ty) => {
        /// The halves of two streams, which do not make one.
        #[derive(Debug, thiserror::Error)]
        #[error("the halves are not of one stream")]
        pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

        /// For what both halves can do: addresses, options, how the connection stands.
        impl AsRef<$stream> for OwnedReadHalf {
            fn as_ref(&self) -> &$stream {
                &self.0
            }
        }

        /// For what both halves can do: addresses, options, how the connection stands.
        impl AsRef<$stream> for OwnedWriteHalf {
            fn as_ref(&self) -> &$stream {
                &self.stream
            }
        }
    };
}

/// Gives `$stream`, which holds a connection as `held`, the methods that do not wait.
macro_rules! stream {
    ($stream:ty) => {
        impl $stream {
            /// This end's address.
            pub fn local_addr(&self) -> std::net::SocketAddr {
                self.held.ends.local
            }

            /// The peer's address.
            pub fn peer_addr(&self) -> std::net::SocketAddr {
                self.held.ends.remote
            }

            /// How the connection stands and what has happened in it, as Linux's `TCP_INFO` tells it.
            ///
            /// # Errors
            /// When the stack has failed.
            pub fn info(&self) -> std::io::Result<crate::stack::Info> {
                self.held.with(|stack, id| stack.info(id)).map_err(std::io::Error::from)
            }

            /// The connection's name in the stack, to look at it there.
            pub fn id(&self) -> crate::stack::ConnectionId {
                self.held.id
            }

            /// Ends the connection at once; the peer is told by a reset.
            pub fn abort(&self) {
                self.held.with(|stack, id| stack.abort(id));
            }

            /// Ends this end's stream.
            fn finish(&self) {
                self.held.with(|stack, id| stack.finish(id));
            }
        }

        crate::options::socket_options!($stream);
    };
}

/// The same for `$listener`, which holds a listener.
macro_rules! listener {
    ($listener:ty) => {
        impl $listener {
            /// Listens at `address` (an unspecified IP for all, port 0 for any), where up to
            /// `backlog` connections may wait.
            ///
            /// # Errors
            /// When the address is in use, or not ours.
            pub fn bind(
                handle: &crate::driver::Handle,
                address: std::net::SocketAddr,
                backlog: usize,
            ) -> std::io::Result<Self> {
                HeldListener::bind(handle, address, backlog).map(Self::over)
            }

            /// Where it listens.
            pub fn local_addr(&self) -> std::net::SocketAddr {
                self.held.address
            }
        }

        crate::options::socket_options!($listener);
    };
}

pub(crate) use {halves, listener, stream};
