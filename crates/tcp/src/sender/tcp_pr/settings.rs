//! The versions of TCP-PR and their parameters.

use crate::parameter::{Parameter, Settings as _, Unit, choice, settings};

const ALPHA: Parameter = Parameter {
    name: "alpha",
    unit: Unit::Number,
    default: 0.995,
    range: (0.001, 0.999_999),
    about: "what a round trip leaves of the largest round-trip time",
    source: "TCP-PR, section 5",
};
const BETA: Parameter = Parameter {
    name: "beta",
    unit: Unit::Number,
    default: 3.0,
    range: (1.0, 1e3),
    about: "how many of the largest round-trip times a packet may take",
    source: "TCP-PR, section 5",
};
/// With an acknowledgement for each packet, almost all drops of a burst are losses, as section 3.2
/// presumes. The default is therefore the version that the section proposes.
const FORM: Parameter = Parameter::choice(
    "form",
    Form::NAMES,
    "with the rules for extreme losses (table 3) or without (table 1)",
    "TCP-PR, section 3.2",
);

/// By line 24 as printed, a window of 3.5 permits four packets. TCP-SACK in ns-2, with which the
/// paper compares TCP-PR, uses whole windows and sends three.
const WHOLE: Parameter = Parameter::choice(
    "whole",
    Whole::NAMES,
    "whether a fraction of a packet in the window lets none leave, in place of one more",
    "TCP-PR, line 24 of tables 1 and 3, which leave it open; ns-2's other senders do",
);

choice! {
    /// How many packets a window that is not a whole number permits.
    Whole {
        /// The number rounded up.
        Never = "false",
        /// The number rounded down, at least one.
        Always = "true",
    }
}
choice! {
    /// Which of the paper's two tables applies.
    Form {
        /// Table 3: after extreme losses the sender pauses and begins again with a window of one.
        /// `mxrtt` doubles while the window is one. The window does not grow during a burst.
        Extreme = "extreme",
        /// Table 1.
        Basic = "basic",
    }
}

settings! {
    /// Tunable parameters of `tcp-pr` and `tcp-pr-extreme`.
    "tcp-pr" Cumulative { alpha: f64 = ALPHA, beta: f64 = BETA, whole: Whole = WHOLE }
}
settings! {
    /// Tunable parameters of `tcp-pr-sack`.
    "tcp-pr" Selective { alpha: f64 = ALPHA, beta: f64 = BETA, form: Form = FORM, whole: Whole = WHOLE }
}

/// A version of TCP-PR with the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) form: Form,
    /// Whether SACKed packets count as acknowledged.
    pub(crate) selective: bool,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) whole: Whole,
}

impl Settings {
    /// Returns a description of what takes the place of each part.
    pub(crate) fn about(&self) -> Vec<(&'static str, String)> {
        let acks = match self.selective {
            true => "selective, with DSACK",
            false => "cumulative, duplicates say nothing",
        };
        let parts = [
            ("acknowledgements", acks),
            ("loss detection", "no acknowledgement within mxrtt of its sending"),
            ("spurious response", "none"),
            ("retransmission timer", "none: every packet has its own"),
            ("limited transmit", "none"),
            ("window reduction", "to half the window of the time when the lost packet was sent"),
            ("congestion control", "TCP-PR's own"),
        ];
        parts.into_iter().map(|(part, what)| (part, what.to_owned())).collect()
    }
}

/// A version of TCP-PR, as rows of the table of senders refer to it.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    /// Tunable parameters.
    pub(crate) parameters: &'static [Parameter],
    /// Whether SACKed packets count as acknowledged.
    pub(crate) selective: bool,
    /// Reads the values of these parameters.
    pub(crate) read: fn(&[f64]) -> Settings,
}

/// Table 1, with cumulative acknowledgements.
pub(crate) const BASIC: Version = Version {
    parameters: Cumulative::PARAMETERS,
    selective: false,
    read: |values| cumulative(Form::Basic, values),
};
/// Table 3, with cumulative acknowledgements.
pub(crate) const EXTREME: Version = Version {
    parameters: Cumulative::PARAMETERS,
    selective: false,
    read: |values| cumulative(Form::Extreme, values),
};
/// Table 1 or 3, with selective acknowledgements.
pub(crate) const SACK: Version = Version {
    parameters: Selective::PARAMETERS,
    selective: true,
    read: |values| {
        let Selective { alpha, beta, form, whole } = Selective::read(values);
        Settings { form, selective: true, alpha, beta, whole }
    },
};

fn cumulative(form: Form, values: &[f64]) -> Settings {
    let Cumulative { alpha, beta, whole } = Cumulative::read(values);
    Settings { form, selective: false, alpha, beta, whole }
}
