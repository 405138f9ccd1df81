//! The ends of a transfer.

use serde::Serialize;

/// The end of a transfer that a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The host that sends the data.
    Sender,
    /// The host that receives the data.
    Receiver,
}
