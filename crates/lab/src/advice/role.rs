//! The parts of hosts in a transfer.

use serde::Serialize;

/// The part of a host in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The host that sends the data.
    Sender,
    /// The host that receives the data.
    Receiver,
    /// The host between the ends at which the capture was made. Its address is unknown.
    Gateway,
}
