//! What the owned halves of both kinds of streams have in common.

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

pub(crate) use halves;
