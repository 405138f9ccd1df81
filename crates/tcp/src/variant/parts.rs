//! The table of parts that can be added to a sender.

use super::Control;
use crate::control::{cubic, westwood};
use crate::parameter::Parameter;

/// A part that can be added to a sender by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// As it stands behind the `+`.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// What it changes.
    pub(super) change: Change,
    /// What can be set of it.
    pub parameters: &'static [Parameter],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Change {
    Control(Control),
    Eifel,
    FRto,
}

/// The parts that any sender can take, where they make sense.
pub const PARTS: &[Part] = &[
    Part {
        name: "cubic",
        about: "the window grows with the cube of the time since the last reduction",
        source: "RFC 9438",
        change: Change::Control(Control::Cubic),
        parameters: cubic::PARAMETERS,
    },
    Part {
        name: "westwood",
        about: "after a loss the window is what the rate of acknowledgements says the path holds",
        source: "Casetti et al., TCP Westwood, Wireless Networks 8 (2002)",
        change: Change::Control(Control::Westwood),
        parameters: westwood::PARAMETERS,
    },
    Part {
        name: "eifel",
        about: "timestamps tell needless retransmissions; the window comes back",
        source: "RFC 3522, RFC 4015",
        change: Change::Eifel,
        parameters: &[],
    },
    Part {
        name: "f-rto",
        about: "new data after a timeout tells a needless one; the window comes back",
        source: "RFC 5682, RFC 4015",
        change: Change::FRto,
        parameters: &[],
    },
];
