//! What limits the undisturbed path.

use serde::{Deserialize, Serialize};

/// What sets the goodput of the undisturbed path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The rates of the links.
    Links,
    /// The receiver's window: the path holds more than it allows.
    Window,
    /// The transfer is over before the path is full, so that delays decide.
    Length,
    /// The application: it pauses.
    Application,
}

impl Limit {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Links => "links",
            Self::Window => "window",
            Self::Length => "length",
            Self::Application => "application",
        }
    }

    /// What it is, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Links => "link rates",
            Self::Window => "receiver's window",
            Self::Length => "length of the transfer",
            Self::Application => "application",
        }
    }
}
