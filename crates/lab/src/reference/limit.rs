//! The limiting factor of an undisturbed path.

use serde::{Deserialize, Serialize};

/// The limiting factor of the goodput over an undisturbed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The rates of the links.
    Links,
    /// The receiver's window, which is smaller than the path's capacity.
    Window,
    /// The length of the transfer. It ends before the path is full, so that delays dominate.
    Length,
    /// The application, which pauses.
    Application,
}

impl Limit {
    /// Returns the name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Window => "window",
            Self::Length => "length",
            Self::Application => "application",
        }
    }

    /// Returns a description for tables and reports.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Links => "link rates",
            Self::Window => "receiver's window",
            Self::Length => "length of the transfer",
            Self::Application => "application",
        }
    }
}
