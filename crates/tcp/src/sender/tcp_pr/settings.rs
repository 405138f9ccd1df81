//! What TCP-PR's senders differ in, and their parameters.

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
/// With each packet acknowledged by itself the drops of a burst are losses, or nearly, as section 3.2
/// has it; so the version that it proposes is the default.
const FORM: Parameter = Parameter::choice(
    "form",
    Form::NAMES,
    "with the rules for extreme losses (table 3) or without (table 1)",
    "TCP-PR, section 3.2",
);

/// A window of 3.5 lets four packets out by the letter of line 24. TCP-SACK in ns-2, beside which the
/// paper runs TCP-PR, has three: it takes its window as a whole number.
const WHOLE: Parameter = Parameter::choice(
    "whole",
    Whole::NAMES,
    "whether a fraction of a packet in the window lets none leave, in place of one more",
    "TCP-PR, line 24 of tables 1 and 3, which leave it open; ns-2's other senders do",
);

choice! {
    /// What a window with a fraction lets out.
    Whole {
        /// So many packets, and one for the fraction.
        Never = "false",
        /// So many packets, at least one.
        Always = "true",
    }
}
choice! {
    /// Which of the paper's two tables.
    Form {
        /// Table 3: extreme losses start from a window of one after a pause, the wait doubles while
        /// the window is one, and nothing grows while a burst lasts.
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

/// Which of TCP-PR's senders it is, with its parameters read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    pub(crate) form: Form,
    /// SACKed packets count as acknowledged.
    pub(crate) selective: bool,
    pub(crate) alpha: f64,
    pub(crate) beta: f64,
    pub(crate) whole: Whole,
}

impl Settings {
    /// What stands in the place of each part, in words.
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

/// One of TCP-PR's senders, as the table of senders names it.
#[derive(Clone, Copy)]
pub(crate) struct Version {
    /// Tunable parameters.
    pub(crate) parameters: &'static [Parameter],
    /// SACKed packets count as acknowledged.
    pub(crate) selective: bool,
    /// Reads their values.
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
/// Either, with selective ones.
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
